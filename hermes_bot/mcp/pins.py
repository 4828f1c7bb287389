"""Knows which tools of which server were accepted, to the letter, in the store.

A tool is accepted when it is first seen: the operator configured its server, and trusts it on first use. From
then on its name, description, schema and hints are pinned: what is offered under the same name with another
text is off until a person accepts it (CVE-2025-54136: an approved server that turns into another one).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_bot.store import audit, records
from hermes_bot.store.audit import Entry
from hermes_bot.store.records import CORE

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    from hermes_bot.mcp.definitions import Definition
    from hermes_bot.ports import Clock
    from hermes_bot.store.database import Database

MOST = 2_000  # of one server, so that one that makes up names for ever fills no disk


class Pins:
    """The accepted tools of all servers."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def settle(self, server: str, offered: Sequence[Definition]) -> Mapping[str, str]:
        """Return what is accepted of a server, by the tool's name, once what is new was accepted.

        The texts are ``Definition.text``.
        """
        kept = await self._db.read(lambda db: _pinned(db, server))
        new = [one for one in offered if one.name not in kept][: max(0, MOST - len(kept))]
        if not new:
            return kept
        await self._db.transact("mcp.pin", lambda db: self._keep(db, server, new, "mcp.first_seen", "system"))
        return {**kept, **{one.name: one.text for one in new}}

    async def accept(self, server: str, changed: Sequence[Definition], actor: str) -> None:
        """Accept what a server offers now in the place of what was accepted before."""
        await self._db.transact("mcp.accept", lambda db: self._keep(db, server, changed, "mcp.accept", actor))

    async def note_change(self, server: str, changed: Definition) -> None:
        """Have the audit say that a tool was switched off because its text changed."""
        entry = Entry("system", "mcp.changed", f"{server}.{changed.name}", "refused", changed.hash[:16])
        await self._db.transact("mcp.changed", lambda db: audit.note(db, entry, self._clock.now()))

    def _keep(
        self, db: sqlite3.Connection, server: str, tools: Sequence[Definition], verb: str, actor: str
    ) -> None:
        now = self._clock.now()
        for one in tools:
            records.put(db, (CORE, _kind(server), one.name), one.text, now)
            audit.note(db, Entry(actor, verb, f"{server}.{one.name}", "done", one.hash[:16]), now)


def _pinned(db: sqlite3.Connection, server: str) -> dict[str, str]:
    return records.of_kind(db, CORE, _kind(server))


def _kind(server: str) -> str:
    return f"mcp.{server}"
