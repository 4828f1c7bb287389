"""What people write on Slack reaches the core once, as they meant it, before Slack is told that it did."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest
from slackdesk import Core, Memory, desk, key_of, slack_with_people

from hermes_bot.messages import Outgoing, Reply
from hermes_bot.simulator import Fault, FaultPlan


def event(**fields: Any) -> dict[str, Any]:
    """Return the body of a ``message`` event as Slack sends it."""
    inner = {
        "type": "message",
        "channel": "C1",
        "channel_type": "channel",
        "user": "U1",
        "ts": "1767225600.000100",
    }
    return {
        "type": "event_callback",
        "team_id": "T1",
        "event_id": "EvX",
        "authorizations": [{"team_id": "T1", "enterprise_id": None}],
        "event": inner | fields,
    }


async def test_a_mention_comes_with_its_thread_its_author_and_without_the_mark() -> None:
    async with desk() as it:
        ts = await it.sim.say("U1", "C1", "can you, <@UBOT>, list &lt;skills&gt;")
        message = await it.core.next()
        assert message.thread == key_of(ts)
        assert message.text == "can you, list <skills>"
        assert (message.user, message.message_id, message.addressed) == ("slack:T1:U1", ts, True)
        assert message.sent_at == datetime.fromtimestamp(int(ts.split(".")[0]), UTC).replace(
            microsecond=int(ts.split(".")[1])
        )
        assert not message.joins


@pytest.mark.parametrize("swaps", [False, True])
async def test_one_message_that_gives_two_events_has_one_id_and_is_addressed_in_both(
    swaps: bool,  # noqa: FBT001 - a case
) -> None:
    async with desk() as it:
        it.sim.swap_pairs = swaps
        await it.sim.say("U1", "C1", "<@UBOT> hi")
        one, two = await it.hear(2)
        assert one.event_id != two.event_id
        assert one.message_id == two.message_id
        assert one.thread == two.thread
        assert one.addressed
        assert two.addressed
        assert one.text == two.text == "hi"


async def test_a_reply_belongs_to_its_root_and_chatter_at_the_top_is_not_handed_over() -> None:
    async with desk() as it:
        root = await it.sim.say("U2", "C1", "lunch?")
        reply = await it.sim.say("U1", "C1", "yes", thread_ts=root)
        mention = await it.sim.say("U1", "C1", "<@UBOT> and you?", thread_ts=root)
        follow_up, addressed = (await it.hear_until())[:2]
        assert (follow_up.thread, follow_up.message_id, follow_up.addressed) == (key_of(root), reply, False)
        assert follow_up.joins
        assert (addressed.thread, addressed.message_id, addressed.addressed) == (key_of(root), mention, True)


async def test_a_direct_message_is_addressed_and_read_by_one_person_alone() -> None:
    async with desk() as it:
        ts = await it.sim.say("U1", "D1", "hello")
        message = await it.core.next()
        assert (message.thread, message.addressed, message.place) == (key_of(ts, "D1"), True, "direct")


async def test_a_private_channel_is_known_as_one_from_its_first_mention_on() -> None:
    async with desk() as it:
        await it.sim.say("U1", "G1", "<@UBOT> psst")
        assert [message.place for message in await it.hear(2)] == ["private", "private"]


async def test_what_kind_a_channel_is_outlives_a_restart() -> None:
    records = Memory()
    async with desk(records=records) as it:
        await it.sim.say("U1", "G1", "<@UBOT> psst")
        await it.hear(2)
        await it.until(lambda: records.texts.get(("place", "T1/G1")) == "private")
    faults = FaultPlan(Fault("users.conversations", "refuse", error="missing_scope"))
    async with desk(slack_with_people(faults), records=records) as it:
        await it.sim.say("U1", "G1", "<@UBOT> psst")
        assert [message.place for message in await it.hear(2)] == ["private", "private"]


async def test_a_message_is_acknowledged_only_once_it_is_stored() -> None:
    sim, core = slack_with_people(retry_seconds=(0, 0, 0)), Core(refusals=1)
    sim.windows.ack = 0.2
    async with desk(sim, core=core) as it:
        ts = await it.sim.say("U1", "D1", "hold this")
        message = await it.core.next()
        assert message.message_id == ts
        await it.until(lambda: not it.sim.unacked)


async def test_a_message_that_is_only_delivered_as_a_retry_is_heard() -> None:
    async with desk() as it:
        it.sim.redeliver_next(1)
        await it.sim.say("U1", "D1", "once")
        one, two = await it.hear(2)
        assert (one.event_id, one.message_id) == (two.event_id, two.message_id)


async def test_own_posts_and_their_edits_and_previews_start_nothing() -> None:
    async with desk() as it:
        ts = await it.sim.say("U1", "C1", "<@UBOT> hi")
        await it.hear(2)
        posted = await it.post("hello <@UBOT>", ts)
        await it.adapter.edit(posted, Outgoing("k1", key_of(ts), "hello again"))
        await it.sim.unfurl("C1", ts, "https://example.org/")
        assert await it.hear_until() == []


async def test_another_bot_starts_nothing_unless_it_is_allowed() -> None:
    async with desk() as it:
        await it.sim.post_as_bot("B2", "C1", "<@UBOT> thanks")
        assert await it.hear_until() == []
    async with desk(bots=("slack:T1:B2",)) as it:
        await it.sim.post_as_bot("B2", "C1", "<@UBOT> thanks")
        message = await it.core.next()
        assert (message.text, message.is_bot) == ("thanks", True)


async def test_an_edit_carries_the_new_text_under_the_old_id() -> None:
    async with desk() as it:
        ts = await it.sim.say("U1", "C1", "<@UBOT> report May")
        await it.hear(2)
        await it.sim.edit("U1", "C1", ts, "<@UBOT> report June")
        found = await it.hear_until()
        edits = [message for message in found if message.kind == "edit"]
        assert [(edit.text, edit.message_id, edit.thread) for edit in edits] == [
            ("report June", ts, key_of(ts))
        ]
        assert {message.message_id for message in found} == {ts}


async def test_an_edit_that_brings_the_mention_counts_as_a_message() -> None:
    async with desk() as it:
        ts = await it.sim.say("U1", "C1", "report May")
        await it.sim.edit("U1", "C1", ts, "<@UBOT> report May")
        found = await it.hear_until()
        (message,) = [message for message in found if message.kind == "message"]
        assert (message.text, message.message_id, message.addressed) == ("report May", ts, True)


async def test_an_edit_of_chatter_is_not_handed_over() -> None:
    async with desk() as it:
        ts = await it.sim.say("U2", "C1", "lunch?")
        await it.sim.edit("U2", "C1", ts, "dinner?")
        assert await it.hear_until() == []


async def test_a_deletion_names_the_message_also_where_a_tombstone_stays() -> None:
    async with desk() as it:
        lone = await it.sim.say("U1", "C1", "<@UBOT> one")
        root = await it.sim.say("U1", "C1", "<@UBOT> two")
        await it.sim.say("U2", "C1", "reply", thread_ts=root)
        await it.hear(5)
        await it.sim.delete("U1", "C1", lone)
        await it.sim.delete("U1", "C1", root)
        gone = [message for message in await it.hear_until() if message.kind == "delete"]
        assert [(one.message_id, one.thread, one.user) for one in gone] == [
            (lone, key_of(lone), "slack:T1:U1"),
            (root, key_of(root), "slack:T1:U1"),
        ]


async def test_files_come_with_what_they_are_and_where_to_fetch_them() -> None:
    async with desk() as it:
        await it.sim.say("U1", "D1", "", files=[("app.log", b"12345")])
        message = await it.core.next()
        (file,) = message.files
        assert (file.name, file.size) == ("app.log", 5)
        assert file.ref.startswith("T1/F")


async def test_the_text_of_a_monitoring_bots_attachment_counts() -> None:
    async with desk() as it:
        attachment = {
            "title": "Alert",
            "text": "disk 97 % on db-3",
            "fields": [{"title": "Zone", "value": "b"}],
        }
        root = await it.sim.post_as_bot("B2", "C1", "", attachments=[attachment])
        await it.sim.say("U1", "C1", "<@UBOT> which host?", thread_ts=root)
        await it.hear(2)
        first, *_ = await it.adapter.earlier(key_of(root), None)
        assert first.text == "Alert\ndisk 97 % on db-3\nZone: b"
        assert (first.user, first.from_bot) == ("", False)


@pytest.mark.parametrize(
    "body",
    [
        {"type": "app_rate_limited", "team_id": "T1", "minute_rate_limited": 1767225600},
        {
            "type": "event_callback",
            "team_id": "T1",
            "event": {"type": "invented_yesterday", "channel": {"id": 1}},
        },
        {
            "type": "event_callback",
            "team_id": "T1",
            "event": {"type": "message", "subtype": "invented", "ts": "1"},
        },
        {"type": "event_callback", "team_id": "T1", "event": {"type": "message", "ts": 5, "channel": "C1"}},
        {
            "type": "event_callback",
            "team_id": "T1",
            "event": {"type": "app_mention", "ts": "x", "user": "U1"},
        },
        {"type": "event_callback", "team_id": "T1", "event": None},
        {"type": "event_callback", "team_id": "T1", "event": "message"},
        {"type": "event_callback", "authorizations": 7, "event": {"type": "message"}},
        {
            "type": "event_callback",
            "team_id": "T404",
            "event": {"type": "message", "ts": "1.1", "user": "U1"},
        },
        {"type": "view_submission", "view": {}},
        {"type": "block_actions", "user": 5},
        {},
    ],
)
async def test_what_is_unknown_or_malformed_is_acknowledged_and_costs_itself_only(
    body: dict[str, Any],
) -> None:
    async with desk() as it:
        await it.sim.deliver(body)
        assert await it.hear_until() == []
        await it.until(lambda: not it.sim.unacked)


async def test_a_channel_that_gets_another_id_is_rewritten_wherever_it_is_stored() -> None:
    records = Memory()
    async with desk(records=records) as it:
        moved = {"type": "channel_id_changed", "old_channel_id": "C1", "new_channel_id": "C7"}
        await it.sim.deliver({"type": "event_callback", "team_id": "T1", "event_id": "Ev9", "event": moved})
        await it.until(lambda: records.moved == [("T1", "C1", "C7")])


async def test_people_of_another_company_are_not_of_our_workspace() -> None:
    async with desk() as it:
        await it.sim.deliver(event(text="<@UBOT> hi", user_team="T666", team="T666"))
        message = await it.core.next()
        assert message.user == "slack:T666:U1"
        assert message.thread.workspace == "T1"


async def test_equal_channels_of_two_workspaces_stay_apart_and_each_is_answered_with_its_own_token() -> None:
    sim = slack_with_people()
    other = sim.add_team("T2")
    sim.add_user("U1", name="ann", team="T2")
    sim.add_channel("C1", members=("U1", other.bot_user), team="T2")
    async with desk(sim, secrets={"bot_token": f"{sim.bot_token}, {other.bot_token}"}) as it:
        here = await sim.say("U1", "C1", "<@UBOT> hi")
        there = await sim.say("U1", "C1", f"<@{other.bot_user}> hi", team="T2")
        found = {message.thread for message in await it.hear(4)}
        assert found == {key_of(here), key_of(there, team="T2")}
        await it.adapter.post(Outgoing("k", key_of(there, team="T2"), "over here"))
        answer = await sim.ledger.wait_for(lambda entry: entry.from_bot)
        assert (answer.workspace, answer.thread, answer.author) == ("T2", there, other.bot_user)


async def test_a_reply_of_the_core_reaches_the_asker_alone_in_the_thread() -> None:
    core = Core(replies={"skills": Reply("You can run these.")})
    async with desk(core=core) as it:
        ts = await it.sim.say("U1", "C1", "<@UBOT> skills")
        told = await it.sim.ledger.wait_for(lambda entry: entry.only_for == "U1")
        assert (told.thread, told.text) == (ts, "You can run these.")


async def test_a_reply_that_the_asker_alone_cannot_be_shown_is_posted() -> None:
    faults = FaultPlan(Fault("chat.postEphemeral", "refuse", error="user_not_in_channel"))
    core = Core(replies={"skills": Reply("You can run these.")})
    async with desk(slack_with_people(faults), core=core) as it:
        ts = await it.sim.say("U1", "C1", "<@UBOT> skills")
        told = await it.sim.ledger.wait_for(lambda entry: entry.from_bot)
        assert (told.thread, told.text) == (ts, "You can run these.")


async def test_a_reply_waits_for_as_long_as_slack_asks() -> None:
    faults = FaultPlan(Fault("chat.postEphemeral", "rate_limited", times=2, retry_after=0))
    core = Core(replies={"skills": Reply("You can run these.")})
    async with desk(slack_with_people(faults), core=core) as it:
        await it.sim.say("U1", "C1", "<@UBOT> skills")
        await it.sim.ledger.wait_for(lambda entry: entry.only_for == "U1")


async def test_a_reply_in_a_direct_message_stays_there() -> None:
    core = Core(replies={"skills": Reply("You can run these.")})
    async with desk(core=core) as it:
        ts = await it.sim.say("U1", "D1", "skills")
        told = await it.sim.ledger.wait_for(lambda entry: entry.from_bot)
        assert (told.thread, told.only_for) == (ts, "")


async def test_people_and_channels_are_known_by_name_from_the_first_message_on() -> None:
    async with desk() as it:
        await it.sim.say("U1", "D1", "ask <@U2> in <#C2>")
        message = await it.core.next()
        assert (message.user_name, message.text) == ("ann", "ask @bob (U2) in #other (C2)")


async def test_a_name_that_was_not_told_at_the_start_is_learnt_beside_the_way() -> None:
    faults = FaultPlan(Fault("users.list", "rate_limited", retry_after=30))
    async with desk(slack_with_people(faults)) as it:
        await it.sim.say("U1", "D1", "first")
        assert (await it.core.next()).user_name == ""
        await it.until(lambda: it.calls("users.info"))
        await it.sim.say("U1", "D1", "ask <@U1>")
        second = await it.core.next()
        assert (second.user_name, second.text) == ("ann", "ask @ann (U1)")


async def test_forty_messages_of_one_thread_come_in_their_order() -> None:
    async with desk() as it:
        root = await it.sim.say("U1", "D1", "0")
        for number in range(1, 40):
            await it.sim.say("U1", "D1", str(number), thread_ts=root)
        assert [message.text for message in await it.hear(40)] == [str(number) for number in range(40)]


async def test_every_envelope_is_acknowledged_within_half_a_second() -> None:
    async with desk() as it:
        async with asyncio.TaskGroup() as group:
            for number in range(50):
                group.create_task(it.sim.say("U1", "D1", str(number)))
        await it.hear(50)
        await it.until(lambda: len(it.sim.acks) == 50)
        assert max(seconds for _, seconds in it.sim.acks) < 0.5
