"""What people can see, what goes wrong on purpose, and how often something may be called."""

from __future__ import annotations

import asyncio
import json
import math
from typing import TYPE_CHECKING, Any

import pytest

from hermes_bot.simulator import Entry, Fault, FaultPlan, Ledger
from hermes_bot.simulator.faults import ALWAYS
from hermes_bot.simulator.limits import Limits, Rate

if TYPE_CHECKING:
    from pathlib import Path


def entry(number: str, text: str = "x", **more: Any) -> Entry:
    return Entry(at=0.0, platform="slack", channel="C1", id=number, author="U1", text=text, **more)


def test_what_is_seen_depends_on_place_viewer_and_workspace() -> None:
    ledger = Ledger()
    for made in (
        entry("1", workspace="T1"),
        entry("2", thread="1", workspace="T1"),
        entry("3", only_for="U2", workspace="T1"),
        entry("1", workspace="T2"),
    ):
        ledger.add(made)
    assert [e.id for e in ledger.seen("C1", workspace="T1")] == ["1", "2"]
    assert [e.id for e in ledger.seen("C1", "1", workspace="T1")] == ["1", "2"]
    assert [e.id for e in ledger.seen("C1", "", viewer="U2", workspace="T1")] == ["1", "3"]
    assert [e.workspace for e in ledger.seen("C1", "1")] == ["T1", "T2", "T1"]
    assert ledger.seen("C2") == []
    found = ledger.find("C1", "1", "T2")
    assert found is not None
    assert found.workspace == "T2"


def test_an_edit_keeps_the_text_before_and_a_deletion_takes_it_from_sight() -> None:
    ledger = Ledger()
    made = ledger.add(entry("1", "a"))
    ledger.edit(made, "b", key="k")
    assert (made.text, made.history, made.key) == ("b", ["a"], "k")
    ledger.delete(made)
    assert ledger.seen("C1") == []
    assert ledger.entries == [made]


async def test_a_watch_hears_every_change_until_it_is_closed() -> None:
    ledger = Ledger()
    with ledger.watch() as watch:
        made = ledger.add(entry("1"))
        ledger.edit(made, "y")
        ledger.tell("typing", {"channel": "C1"})
        ledger.delete(made)
    assert [change.kind async for change in watch] == ["new", "edit", "typing", "delete"]


async def test_a_wait_takes_what_is_there_what_comes_and_what_is_edited() -> None:
    ledger = Ledger()
    old = ledger.add(entry("1", "old"))
    assert await ledger.wait_for(lambda e: e.text == "old") is old
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(ledger.wait_for(lambda e: e.text == "edited"))
        await asyncio.sleep(0)
        ledger.edit(old, "edited")
    assert waiting.result() is old


async def test_a_wait_in_vain_says_what_was_there() -> None:
    ledger = Ledger()
    ledger.add(entry("1", "something else"))
    with pytest.raises(TimeoutError, match="something else"):
        await ledger.wait_for(lambda _entry: False, timeout=0.01)


def test_a_dump_holds_every_entry(tmp_path: Path) -> None:
    ledger = Ledger()
    ledger.add(entry("1", "ä", files=[{"name": "a"}]))
    ledger.dump(tmp_path / "ledger.json")
    (read,) = json.loads((tmp_path / "ledger.json").read_text(encoding="utf-8"))
    assert (read["text"], read["files"], read["deleted"]) == ("ä", [{"name": "a"}], False)


def test_faults_hit_their_method_and_place_in_turn_and_count_down() -> None:
    plan = FaultPlan(
        Fault("post", "hang", where="C2"),
        Fault("post", "refuse", after=1, times=2),
        Fault("*", "slow", times=ALWAYS),
    )
    kinds = [
        fault.kind if (fault := plan.take(method, channel)) else ""
        for method, channel in [
            ("post", "C1"),
            ("post", "C1"),
            ("post", "C2"),
            ("post", "C2"),
            ("edit", "C1"),
        ]
    ]
    assert kinds == ["slow", "refuse", "hang", "refuse", "slow"]
    assert plan.hits == {"slow": 2, "refuse": 2, "hang": 1}
    plan.clear()
    assert plan.take("post", "C1") is None


def test_seeded_faults_come_at_their_rate_and_again_from_their_seed() -> None:
    def row(seed: int) -> list[str]:
        plan = FaultPlan.seeded(seed, {"post"}, 0.1)
        return [fault.kind if (fault := plan.take("post", "C1")) else "" for _ in range(1000)]

    assert row(1) == row(1) != row(2)
    assert 60 < sum(bool(kind) for kind in row(1)) < 140
    assert set(row(1)) == {"", "rate_limited", "server_error", "lost_answer", "error_after"}
    assert FaultPlan.seeded(1, {"post"}, 1.0).take("edit", "C1") is None


def test_a_rate_lets_a_burst_through_and_then_one_as_each_leaves_the_window() -> None:
    now = 0.0
    limits = Limits(now=lambda: now)
    rate = Rate(2, 10)
    assert [limits.take(("a", rate)) for _ in range(3)] == [0, 0, 10]
    now = 4.0
    assert limits.take(("a", rate)) == 6
    assert limits.take(("b", rate)) == 0
    now = 10.0
    assert limits.take(("a", rate)) == 0


def test_what_one_rate_refuses_counts_against_no_other() -> None:
    limits = Limits(now=lambda: 0.0)
    narrow, wide = ("narrow", Rate(1, 10)), ("wide", Rate(2, 60))
    assert [limits.take(narrow, wide), limits.take(narrow, wide)] == [0, 10]
    assert [limits.take(wide), limits.take(wide)] == [0, 60]


def test_speed_shortens_the_window_and_waits_are_told_in_the_platforms_seconds() -> None:
    now = 0.0
    limits = Limits(speed=50, now=lambda: now)
    rate = Rate(1, 60)
    assert [limits.take(("a", rate)), limits.take(("a", rate))] == [0, 60]
    now = 1.2
    assert limits.take(("a", rate)) == 0
    assert [Limits(math.inf).take(("a", rate)) for _ in range(2)] == [0, 0]
