"""What was said before the bot came, and while it was away, is read from Slack: once, and only then."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from slackdesk import Core, Memory, desk, key_of, slack_with_people

from hermes_bot.errors import RateLimited, Transient
from hermes_bot.messages import Attachment, Outgoing
from hermes_bot.simulator import Fault, FaultPlan

LIFE = ("life", "heard")


def ago(seconds: float) -> str:
    return (datetime.now(UTC) - timedelta(seconds=seconds)).isoformat()


async def test_a_thread_is_read_with_who_said_what_oldest_first() -> None:
    async with desk() as it:
        root = await it.sim.say("U2", "C1", "db-3 is at 97 %")
        await it.sim.say("U3", "C1", "moved to <@U1>", thread_ts=root)
        await it.sim.post_as_bot("B2", "C1", "disk alert", thread_ts=root)
        await it.post("noted", root)
        said = await it.adapter.earlier(key_of(root), None)
        assert [(one.user, one.user_name, one.text, one.from_bot) for one in said] == [
            ("slack:T1:U2", "bob", "db-3 is at 97 %", False),
            ("slack:T1:U3", "cy", "moved to @ann (U1)", False),
            ("", "", "disk alert", False),
            ("", "hermes", "noted", True),
        ]
        assert said[0].message_id == root


async def test_only_what_was_said_since_is_read_again() -> None:
    async with desk() as it:
        root = await it.sim.say("U2", "C1", "one")
        await it.sim.say("U2", "C1", "two", thread_ts=root)
        first = await it.adapter.earlier(key_of(root), None)
        await it.sim.say("U2", "C1", "three", thread_ts=root)
        later = await it.adapter.earlier(key_of(root), first[-1].sent_at + timedelta(microseconds=1))
        assert [one.text for one in later if one.message_id != root] == ["three"]


async def test_a_thread_of_many_pages_is_read_whole_and_its_root_once() -> None:
    async with desk() as it:
        root = await it.sim.say("U2", "C1", "root")
        for number in range(450):
            await it.sim.say("U2", "C1", str(number), thread_ts=root)
        said = await it.adapter.earlier(key_of(root), None)
        assert [one.text for one in said] == ["root", *map(str, range(450))]


async def test_a_status_message_of_ours_is_nothing_that_was_said() -> None:
    async with desk() as it:
        root = await it.sim.say("U2", "C1", "root")
        await it.adapter.show_status(key_of(root), "reading", "r1")
        await it.sim.ledger.wait_for(lambda entry: entry.from_bot)
        assert [one.text for one in await it.adapter.earlier(key_of(root), None)] == ["root"]


async def test_captions_of_files_count_and_what_is_gone_says_nothing() -> None:
    async with desk() as it:
        root = await it.sim.say("U2", "C1", "root")
        file = Attachment("plot.png", text="x", about="Runs per week, rising")
        await it.adapter.post(Outgoing("f", key_of(root), "", files=(file,)))
        await it.sim.delete("U2", "C1", root)
        said = [one.text for one in await it.adapter.earlier(key_of(root), None)]
        assert any("Runs per week, rising" in text for text in said)
        assert "root" not in said


async def test_history_that_cannot_be_had_for_good_is_none_and_one_that_cannot_be_had_now_is_an_error() -> (
    None
):
    faults = FaultPlan(
        Fault("conversations.replies", "refuse", error="missing_scope"),
        Fault("conversations.replies", "refuse", error="thread_not_found"),
        Fault("conversations.replies", "rate_limited", retry_after=3),
        Fault("conversations.replies", "server_error"),
    )
    async with desk(slack_with_people(faults)) as it:
        root = await it.sim.say("U2", "C1", "root")
        assert await it.adapter.earlier(key_of(root), None) == ()
        assert await it.adapter.earlier(key_of(root), None) == ()
        with pytest.raises(RateLimited):
            await it.adapter.earlier(key_of(root), None)
        with pytest.raises(Transient):
            await it.adapter.earlier(key_of(root), None)


async def test_after_a_gap_open_threads_and_listed_channels_are_read_once() -> None:
    sim, records = slack_with_people(retry_seconds=()), Memory()
    records.texts[LIFE] = ago(600)
    async with sim:
        open_root = await sim.say("U1", "C1", "<@UBOT> go")
        missed = await sim.say("U1", "C1", "and last month?", thread_ts=open_root)
        mention = await sim.say("U2", "C2", "<@UBOT> hi")
        await sim.say("U3", "C2", "lunch?")
    records.threads = [(key_of(open_root), datetime.now(UTC))]
    core = Core()
    async with desk(
        sim, core=core, records=records, channels=("slack:T1:C2", "slack:T1:*", "telegram:7")
    ) as it:
        found = [await core.next() for _ in range(3)]
        assert [(one.message_id, one.addressed) for one in found] == [
            (open_root, True),
            (missed, False),
            (mention, True),
        ]
        assert await it.hear_until() == []
        assert len(it.calls("conversations.history")) == 1
        assert len(it.calls("conversations.replies")) == 1
        sim.drop_sockets()
        await it.until(lambda: sim.num_sockets == 0)
        await sim.wait_connected()
        assert await it.hear_until() == []


async def test_after_a_short_absence_nothing_is_read() -> None:
    records = Memory()
    records.texts[LIFE] = ago(200)
    records.threads = [(key_of("1767225600.000100"), datetime.now(UTC))]
    async with desk(records=records, channels=("slack:T1:C2",)) as it:
        assert await it.hear_until() == []
        assert it.calls("conversations.replies") == []


async def test_a_rate_limit_while_catching_up_is_waited_for() -> None:
    faults = FaultPlan(Fault("conversations.replies", "rate_limited", retry_after=0.05))
    sim, records, core = slack_with_people(faults, retry_seconds=()), Memory(), Core()
    records.texts[LIFE] = ago(600)
    async with sim:
        root = await sim.say("U1", "C1", "<@UBOT> go")
    records.threads = [(key_of(root), datetime.now(UTC))]
    async with desk(sim, core=core, records=records):
        assert (await core.next()).message_id == root


async def test_a_direct_message_that_was_missed_is_read_too() -> None:
    sim, records, core = slack_with_people(retry_seconds=()), Memory(), Core()
    records.texts[LIFE] = ago(600)
    async with sim:
        first = await sim.say("U1", "D1", "hello")
        second = await sim.say("U1", "D1", "another thing")
    records.threads = [(key_of(first, "D1"), datetime.now(UTC))]
    async with desk(sim, core=core, records=records):
        found = [await core.next() for _ in range(3)]
        assert {one.message_id for one in found} == {first, second}
        assert {one.place for one in found} == {"direct"}
        assert all(one.addressed for one in found)


async def test_the_last_sign_of_life_is_kept() -> None:
    records = Memory()
    async with desk(records=records) as it:
        await it.until(lambda: LIFE in records.texts)
        assert datetime.fromisoformat(records.texts[LIFE]) > datetime.now(UTC) - timedelta(seconds=10)
