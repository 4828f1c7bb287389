"""The audit: what is asked of it, what is found changed in it, what of it stands in the log (design §13)."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from clock import FakeClock
from endpoint import act, finish
from world import Bench, Running, scripted

from hermes_bot.admin import AdminClient, AdminError
from hermes_bot.config import Access
from hermes_bot.store import audit
from hermes_bot.store.audit import Entry

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

LISTS = Access(
    members=("world:T1:u1", "world:T1:u2"), channels=("world:T1:*",), tools={"member": ("echo", "now")}
)
DENIED = [act("send", word="the-very-word"), finish("I may not.")]


async def asked(folder: Path, op: str = "audit.list", **args: Any) -> Any:
    async with AdminClient(folder) as client:
        return await client.call(op, args)


async def refused(bot: Running, user: str = "u1") -> None:
    await bot.talk(user).say("send it", user=user)
    await bot.talk(user).heard()


async def test_a_refused_call_is_one_row_with_run_action_rule_and_no_contents(tmp_path: Path) -> None:
    async with scripted(tmp_path, DENIED, tools=Bench().tools(), access=LISTS) as bot:
        await refused(bot)
        (run,) = await bot.runs()
        found = await asked(tmp_path, verb="tool.*")
    (row,) = found["rows"]
    assert (row["actor"], row["verb"], row["object"]) == ("world:T1:u1", "tool.denied", "send")
    assert (row["outcome"], row["run"], row["rule"], row["taint"]) == ("refused", run.id, "denied", [])
    assert len(row["action"]) > 10
    assert "the-very-word" not in str(found)


async def test_rows_are_found_by_person_run_kind_and_time_newest_first(tmp_path: Path) -> None:
    clock = FakeClock()
    settings: dict[str, Any] = {"tools": Bench().tools(), "access": LISTS, "clock": clock}
    async with scripted(tmp_path, [*DENIED, *DENIED], **settings) as bot:
        await refused(bot, "u1")
        clock.advance(timedelta(hours=3).total_seconds())
        await refused(bot, "u2")
        first, second = await bot.runs()

        async def actors(**args: Any) -> list[str]:
            found = await asked(tmp_path, verb="tool.denied", **args)
            return [row["actor"].rpartition(":")[2] for row in found["rows"]]

        assert await actors() == ["u2", "u1"]
        assert await actors(limit=1) == ["u2"]
        assert await actors(actor="world:T1:u1") == ["u1"]
        assert await actors(actor="world:*") == ["u2", "u1"]
        assert await actors(run=second.id) == ["u2"]
        assert await actors(run=first.id[:6]) == ["u1"]
        assert await actors(since="1 hour ago") == ["u2"]
        assert await actors(until="1 hour ago") == ["u1"]
        with pytest.raises(AdminError, match="no time"):
            await actors(since="whenever")


async def test_a_changed_or_missing_row_breaks_the_chain_where_it_stands(tmp_path: Path) -> None:
    async with scripted(tmp_path, access=LISTS) as bot:

        def fill(db: sqlite3.Connection) -> None:
            for number in range(6):
                audit.note(db, Entry("a", "run.stop", f"r{number}", "done"), bot.clock.now())

        await bot.app.db.transact("test", fill)
        whole = await asked(tmp_path, "audit.verify")
        assert (whole["rows"], whole["broken_at"]) == (6, None)
        assert len(whole["last"]) == 64
        await bot.app.db.transact("test", lambda db: db.execute("DELETE FROM audit WHERE seq = 3").rowcount)
        assert (await asked(tmp_path, "audit.verify"))["broken_at"] == 4


async def test_each_row_is_a_line_of_the_log_too(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "hermes_bot.store.audit")
    async with scripted(tmp_path, DENIED, tools=Bench().tools(), access=LISTS) as bot:
        await refused(bot)
    said = [record for record in caplog.records if record.getMessage() == "audit.tool.denied"]
    assert [vars(record)["about"] for record in said] == ["send"]
