"""A real database file in ``tmp_path``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hermes_bot.store.database import Database

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the database of this test lies."""
    return tmp_path / "state" / "hermes.db"


@pytest.fixture
async def database(path: Path) -> AsyncIterator[Database]:
    """An open, empty database."""
    database = await Database.open(path)
    yield database
    await database.close()
