"""The whole bot on Slack: one message is one run and one answer, whatever the way it came."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from endpoint import act, finish
from places import slack_with_people
from stages import OnSlack, stage

from hermes_bot.simulator import Fault, FaultPlan

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_bot.simulator import Entry


def told(it: OnSlack) -> list[Entry]:
    """Return all that only one person was shown."""
    return [entry for entry in it.sim.ledger.entries if entry.only_for]


@pytest.mark.parametrize("swaps", [False, True])
async def test_a_mention_that_gives_two_events_apart_is_one_run(
    swaps: bool,  # noqa: FBT001 - a case
    tmp_path: Path,
) -> None:
    async with stage("slack", tmp_path, [finish("AMBER")]) as it:
        it.sim.swap_pairs, it.sim.pair_delay = swaps, 0.3
        thread = await it.mention("hi")
        await it.heard(thread)
        await it.until(lambda: len(it.sim.acks) >= 2)
        await it.settle()
        assert [post.text for post in it.now(thread)] == ["AMBER"]
        assert len(await it.runs()) == 1


async def test_a_command_opens_a_thread_that_names_who_asked_and_is_answered_there(tmp_path: Path) -> None:
    async with stage("slack", tmp_path, [finish("42")]) as it:
        answer = await it.sim.slash("U1", "C1", "/hermes", "what is the answer?")
        assert answer.entry.only_for == "U1"
        root = await it.sim.ledger.wait_for(lambda entry: entry.from_bot and not entry.only_for)
        assert root.text == "<@U1> asked: what is the answer?"
        assert root.thread == ""
        posts = await it.heard(root.id, 2)
        assert posts[-1].text == "42"
        follow = await it.follow(root.id, "and yesterday?")
        assert follow
        await it.until(lambda: len(it.endpoint.requests) == 2)


async def test_a_command_where_the_bot_is_not_tells_the_asker_and_posts_nothing(tmp_path: Path) -> None:
    sim = slack_with_people()
    sim.add_channel("C8", name="elsewhere", members=("U1", "U2"))
    async with sim, stage("slack", tmp_path, [finish("42")], sim=sim) as it:
        await sim.slash("U1", "C8", "/hermes", "what is the answer?")
        await it.until(lambda: any("/invite" in entry.text for entry in told(it)))
        assert not [entry for entry in sim.ledger.entries if not entry.only_for]
        assert it.endpoint.requests == []


async def test_a_slip_in_a_command_is_answered_with_the_nearest_one(tmp_path: Path) -> None:
    async with stage("slack", tmp_path) as it:
        answer = await it.sim.slash("U1", "C1", "/hermes", "skils")
        assert "skills" in str(answer.text)
        assert it.endpoint.requests == []


async def test_a_lost_answer_of_slack_leaves_one_copy(tmp_path: Path) -> None:
    faults = FaultPlan(Fault("chat.postMessage", "lost_answer"))
    async with stage("slack", tmp_path, [finish("AMBER")], faults=faults) as it:
        thread = await it.mention("hi")
        await it.heard(thread)
        await it.settle()
        assert [post.text for post in it.now(thread)] == ["AMBER"]
        assert len([call for call in it.sim.calls if call.method == "chat.postMessage"]) == 1


async def test_a_refused_card_is_asked_as_plain_text_and_answered_by_number(tmp_path: Path) -> None:
    faults = FaultPlan(Fault("chat.postMessage", "refuse", error="invalid_blocks"))
    ask = act("request_info", question="Which one?", options=["checkout", "search"])
    async with stage("slack", tmp_path, [ask, finish("done")], faults=faults) as it:
        thread = await it.mention("go on")
        (asked,) = await it.heard(thread)
        assert asked.buttons == ()
        assert "2. search" in asked.text
        await it.follow(thread, "2")
        assert (await it.heard(thread, 2))[1].text == "done"
        assert "search" in it.prompts[-1]


async def test_a_direct_message_needs_no_mention(tmp_path: Path) -> None:
    sim = slack_with_people()
    sim.add_channel("D1", members=("U1", "UBOT"), kind="im")
    async with sim, stage("slack", tmp_path, [finish("AMBER")], sim=sim) as it:
        ts = await sim.say("U1", "D1", "hi")
        answer = await sim.ledger.wait_for(lambda entry: entry.from_bot)
        assert (answer.channel, answer.thread, answer.text) == ("D1", ts, "AMBER")
        assert it.platform == "slack"


async def test_ten_thanks_of_another_bot_start_nothing(tmp_path: Path) -> None:
    async with stage("slack", tmp_path, [finish("AMBER")]) as it:
        for _ in range(10):
            await it.sim.post_as_bot("B2", "C1", "<@UBOT> thanks")
        await it.until(lambda: len(it.sim.acks) >= 20)
        await it.settle()
        assert it.endpoint.requests == []


async def test_a_bot_joins_a_thread_with_what_a_monitor_said_there(tmp_path: Path) -> None:
    async with stage("slack", tmp_path, [finish("db-3")]) as it:
        alert = [{"title": "Alert", "text": "disk 97 % on db-3"}]
        root = await it.sim.post_as_bot("B2", "C1", "", attachments=alert)
        await it.mention("which host?", thread=root)
        await it.heard(root)
        assert "disk 97 % on db-3" in it.prompts[0]


async def test_no_status_is_left_when_the_work_is_done(tmp_path: Path) -> None:
    async with stage("slack", tmp_path, [finish("AMBER")]) as it:
        thread = await it.mention("hi")
        await it.heard(thread)
        await it.settle()
        await it.until(lambda: it.sim.statuses["C1", thread][-1:] in ([], [""]))
