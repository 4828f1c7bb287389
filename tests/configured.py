"""A configuration read from a text, or what it is refused with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hermes_bot.config import Config, read_config
from hermes_bot.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path


MODEL = '[model]\nbase_url = "http://127.0.0.1:8000/v1"\nname = "qwen3-32b"\n'


def read(folder: Path, text: str | None, **environ: str) -> Config:
    """Read ``hermes.toml`` with this text, or none, from a folder whose home is itself."""
    if text is not None:
        (folder / "hermes.toml").write_text(text)
    return read_config(None, {"HOME": str(folder / "home"), **environ}, cwd=folder)


def refusal(folder: Path, text: str | None, **environ: str) -> str:
    with pytest.raises(ConfigError) as caught:
        read(folder, text, **environ)
    return str(caught.value)
