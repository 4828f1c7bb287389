"""The tasks that the bot is judged by: none of them asks for anything later."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from hermes_bot.timing import find_rule

if TYPE_CHECKING:
    from collections.abc import Iterator

EVALS = Path(__file__).parents[2] / "data" / "evals"
NOW = datetime(2026, 11, 4, 8, 15, tzinfo=UTC)


def texts(node: object) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    elif isinstance(node, dict):
        for inner in node.values():
            yield from texts(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from texts(inner)


@pytest.mark.parametrize("path", sorted(EVALS.glob("*.yaml")), ids=lambda path: path.stem)
def test_no_task_of_the_evaluation_is_taken_for_a_schedule(path: Path) -> None:
    found = list(texts(yaml.safe_load(path.read_text(encoding="utf-8"))))
    assert found
    assert [text for text in found if find_rule(text, "Europe/Berlin", NOW) is not None] == []
