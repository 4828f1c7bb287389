"""What the command-line tests share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from cli.shell import Shell

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)
