"""Knows what is fetched before a run begins: what was said before we came, and people's files.

It waits for the platform, so it comes after the message was acknowledged; what cannot be had is said, and
holds nothing up.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from hermes_bot.errors import AdapterError
from hermes_bot.logs import fields
from hermes_bot.masking import masked_earlier
from hermes_bot.store import messages, threads
from hermes_bot.store.messages import Line

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from hermes_bot.messages import Earlier, Incoming, IncomingFile, ThreadKey
    from hermes_bot.ports import Adapter
    from hermes_bot.redaction import Vault
    from hermes_bot.store.database import Database

log = logging.getLogger(__name__)

HISTORY_SECONDS = 10.0
FETCH_SECONDS = 60.0
MAX_BYTES = 20_000_000  # the most that Telegram gives a bot, and enough for a log
FOLDER = "files"  # in the thread's workspace


def keep_earlier(db: sqlite3.Connection, thread: ThreadKey, said: Sequence[Earlier]) -> None:
    """Put what was said before into the transcript; what is there already is not doubled."""
    for one in said:
        line = Line(thread, one.user, one.user_name, one.text, one.sent_at, one.message_id, one.from_bot)
        line = replace(line, outside=not (one.user or one.from_bot))
        if one.text.strip() and not messages.has(db, thread, one.message_id):
            messages.add(db, line)


class Joiner:
    """Fetches; what it found stands in the transcript and in the thread's workspace."""

    def __init__(self, db: Database, adapters: Mapping[str, Adapter], vault: Vault) -> None:
        self._vault = vault
        self._db = db
        self._adapters = adapters

    async def join(self, thread: ThreadKey, said: Sequence[Incoming], workspace: Path) -> str:
        """Fetch what a run over these messages needs; return what to tell it of the files, in lines."""
        adapter = self._adapters.get(thread.platform)
        if adapter is None:
            return ""
        await self._catch_up(thread, adapter)
        notes = [await self._fetch(file, workspace, adapter) for message in said for file in message.files]
        return "\n".join(notes)

    async def _catch_up(self, thread: ThreadKey, adapter: Adapter) -> None:
        known = await self._db.read(lambda db: threads.get(db, thread))
        if known is None or known.joined:
            return
        try:
            async with asyncio.timeout(HISTORY_SECONDS):
                found = await adapter.earlier(thread, None)
        except (AdapterError, TimeoutError) as error:  # the next run in the thread asks again
            log.warning("thread.unjoined", extra=fields(thread=thread, error=str(error)))
            return

        def store(db: sqlite3.Connection) -> None:
            keep_earlier(db, thread, [masked_earlier(one, self._vault, str(thread)) for one in found])
            threads.joined(db, thread)

        await self._db.transact("thread.joined", store)

    async def _fetch(self, file: IncomingFile, workspace: Path, adapter: Adapter) -> str:
        name = f"{hashlib.sha256(file.ref.encode('utf-8', 'replace')).hexdigest()[:6]}-{_safe(file.name)}"
        target = workspace / FOLDER / name
        if target.exists():
            return _got(file, name, target)
        if file.size > MAX_BYTES:
            return f"(attached, but too big to read: {file.name}, {file.size:,} bytes)"
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        coming = target.with_name(f".{name}")  # a kill must not leave half of it under its name
        try:
            async with asyncio.timeout(FETCH_SECONDS):
                await adapter.fetch(file, coming)
            coming.replace(target)
        except (AdapterError, TimeoutError) as error:
            log.warning("file.unfetched", extra={"error": str(error)})
            return f"(attached, but it could not be read: {file.name}: {str(error) or 'it took too long'})"
        finally:
            coming.unlink(missing_ok=True)
        return _got(file, name, target)


def _got(file: IncomingFile, name: str, target: Path) -> str:
    kind = f", {file.kind}" if file.kind else ""
    return f"(attached: {FOLDER}/{name}{kind}, {target.stat().st_size:,} bytes)"


def _safe(name: str) -> str:
    """Return a file name of ours for a person's: what they wrote is data, not a path."""
    kept = re.sub(r"[^\w.-]+", "_", name.rsplit("/", 1)[-1]).strip("._")[-80:]
    return kept or "file"
