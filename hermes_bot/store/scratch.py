"""Knows how what is kept is asked for where there may be no store: then nothing outlives the asking."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from sqlite_utils import Database as Sqlite

from hermes_bot.store.schema import migrations

if TYPE_CHECKING:
    from collections.abc import Callable

    from hermes_bot.store.database import Database

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ledger:
    """The store, or an empty one for each question where skills are only tried."""

    db: Database | None = None

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run a work that reads."""
        return await self.db.read(work) if self.db else _on_nothing(work)

    async def transact(self, name: str, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run a work that writes; see ``Database.transact``."""
        return await self.db.transact(name, work) if self.db else _on_nothing(work)


def _on_nothing(work: Callable[[sqlite3.Connection], T]) -> T:
    with closing(sqlite3.connect(":memory:")) as db:
        migrations.apply(Sqlite(db))
        return work(db)
