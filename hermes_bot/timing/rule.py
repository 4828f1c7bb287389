"""Knows what a rule in time is, and its canonical text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

RuleKind = Literal["cron", "every", "once"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule in time, canonical; ``str`` is the text that is stored.

    Attributes:
        expression: five cron fields; ``PT5400S@2026-12-01T09:00:00+00:00`` (a length and where it began);
            or a moment in ISO 8601 UTC.
    """

    kind: RuleKind
    expression: str

    def __str__(self) -> str:
        return f"{self.kind} {self.expression}"
