"""Knows what may be asked of the audit over the admin socket: which rows, and whether the chain is whole."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Protocol

from hermes_bot.admin import AdminError
from hermes_bot.store import audit
from hermes_bot.store.audit import Wanted
from hermes_bot.timewords import parse_time

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from hermes_bot.config import Config
    from hermes_bot.ports import Clock, Emit, Op
    from hermes_bot.store.audit import AuditRow
    from hermes_bot.store.database import Database

_SIGN = re.compile(r"(\w+)=(\S+)")
_TAINTS = ("tainted", "private")


class Host(Protocol):
    """The program, as far as this goes."""

    config: Config
    db: Database
    clock: Clock


def audit_ops(host: Host) -> Mapping[str, Op]:
    """Return the operations by name."""

    async def find(args: Mapping[str, Any], emit: Emit) -> Mapping[str, Any]:
        del emit
        wanted = Wanted(
            _moment(host, str(args.get("since", ""))),
            _moment(host, str(args.get("until", ""))),
            str(args.get("actor", "")),
            str(args.get("verb", "")),
            str(args.get("run", "")),
            int(args.get("limit", 50)),
        )
        rows = await host.db.read(lambda db: audit.find(db, wanted))
        return {"rows": [_told(row) for row in rows]}

    async def verify(args: Mapping[str, Any], emit: Emit) -> Mapping[str, Any]:
        del args, emit
        chain = await host.db.read(audit.check)
        return {"rows": chain.rows, "last": chain.last, "broken_at": chain.broken_at}

    return {"audit.list": find, "audit.verify": verify}


def _moment(host: Host, words: str) -> datetime | None:
    if not words.strip():
        return None
    at = parse_time(words, host.clock.now(), host.config.zone)
    if at is None:
        raise AdminError(
            "bad_time", f"{words!r} is no time. Say 2026-03-01, 14:00, yesterday or 2 hours ago."
        )
    return at


def _told(row: AuditRow) -> Mapping[str, Any]:
    """Return a row as it is told: what its detail holds stands in fields too."""
    signs = dict(_SIGN.findall(row.entry.detail))
    return {
        "seq": row.seq,
        "at": row.at.isoformat(),
        "actor": row.entry.actor,
        "verb": row.entry.verb,
        "object": row.entry.object,
        "outcome": row.entry.outcome,
        "run": signs.get("run", ""),
        "action": signs.get("action", ""),
        "rule": signs.get("rule", ""),
        "taint": [one for one in _TAINTS if one in row.entry.detail.split()],
        "detail": row.entry.detail,
        "hash": row.hash,
    }
