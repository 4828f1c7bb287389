"""What is posted, and how often: B-08, B-16, B-17 and B-18, on Slack and on Telegram.

B-08: targets that cannot be reached. B-16: sends of which nobody knows whether they arrived. B-17: one answer
on two paths. B-18: one effect asked for again and again.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from clock import JumpClock
from endpoint import act, finish
from onlookers import all_taken
from places import CHAT, TEAM, with_people
from stages import stage

from hermes_bot.config import Access
from hermes_bot.simulator import Fault, FaultPlan

if TYPE_CHECKING:
    from pathlib import Path

    from stages import Stage

each_chat = pytest.mark.parametrize("platform", CHAT)
GONE = {"slack": "slack:T1:C404", "telegram": "telegram:-404"}
OTHER = {"slack": "slack:T1:C2", "telegram": "telegram:-1002"}
WIDE = Access(
    channels=("slack:T1:*", "telegram:-1001", "telegram:-404", "telegram:5"),
    members=("slack:T1:*", "telegram:7", "telegram:8"),
)


def let_all_read(it: Stage) -> None:
    """Let the group be one that everybody can join, so that what is said there is no secret."""
    if it.platform == "telegram":
        it.sim.state.chats[TEAM].username = "the_team"


def elsewhere(it: Stage, thread: str) -> list[str]:
    """Return what the bot posted anywhere but in a thread."""
    here = {post.id for post in it.now(thread)}
    return [post.text for post in it.everything() if post.id not in here]


@each_chat
@pytest.mark.parametrize("claim", ["I could not reach it.", "I posted it there."])
async def test_an_unreachable_target_is_an_error_and_nothing_is_posted_anywhere(
    platform: str, claim: str, tmp_path: Path
) -> None:
    script = [act("post_message", channel=GONE[platform], text="checkout is back")]
    async with stage(platform, tmp_path, script, otherwise=finish(claim), access=WIDE) as it:
        let_all_read(it)
        thread = await it.mention("tell the others")
        answer = (await it.heard(thread))[-1]
        await it.settle()
        assert "| status error |" in it.prompts[1]
        assert "\nunreachable: " in it.prompts[1]
        assert elsewhere(it, thread) == []
        assert not [post for post in it.everything() if "checkout is back" in post.text]
        assert "Unverified" in answer.text  # the run has nothing that would bear out what it says
        assert len(it.now(thread)) == 1


NOWHERE = {
    "slack": ["slack:T1:C1:5", "slack:T1:5", "#5", "telegram:-1001:5"],
    "telegram": ["telegram:-1001:5:9", "telegram:5", "5", "slack:T1:5"],
}


@pytest.mark.parametrize(("platform", "target"), [(name, one) for name in CHAT for one in NOWHERE[name]])
async def test_a_topic_or_a_number_is_no_channel_and_no_thread_of_another(
    platform: str, target: str, tmp_path: Path
) -> None:
    script = [act("post_message", channel=target, text="checkout is back")]
    async with stage(platform, tmp_path, script, otherwise=finish("I could not."), access=WIDE) as it:
        let_all_read(it)
        thread = await it.mention("tell the others")
        await it.heard(thread)
        await it.settle()
        assert [post.text.endswith("I could not.") for post in it.now(thread)] == [True]
        assert elsewhere(it, thread) == []


LOSES = ["lost_answer", "error_after", "server_error", "garbage", "rate_limited"]


@pytest.mark.parametrize("kind", LOSES)
@pytest.mark.parametrize("times", [1, 2])
async def test_a_send_on_slack_of_which_nobody_knows_leaves_one_copy(
    kind: Any, times: int, tmp_path: Path
) -> None:
    clock = JumpClock()
    faults = FaultPlan(Fault("chat.postMessage", kind, times=times))
    async with stage("slack", tmp_path, [finish("the answer")], faults=faults, clock=clock) as it:
        thread = await it.mention("go on")
        await until_shown(it, clock, thread)
        assert [post.text for post in it.everything()] == ["the answer"]
        sent = [call for call in it.sim.calls if call.method == "chat.postMessage"]
        if kind in ("lost_answer", "error_after"):
            assert len(sent) == 1  # and then it was looked for
            assert any(call.method == "conversations.replies" for call in it.sim.calls)
        else:
            assert len(sent) == times + 1


async def until_shown(it: Stage, clock: JumpClock, thread: str) -> None:
    """Let as much time pass as it takes until the outbox has nothing left to send."""

    async def is_left() -> bool:
        sql = "SELECT COUNT(*) FROM outbox WHERE state NOT IN ('sent', 'dead')"
        return bool((await it.app.db.read(lambda db: db.execute(sql).fetchone()))[0])

    async with asyncio.timeout(15):
        while not it.now(thread) or await is_left():
            clock.advance(1)
            await it.app.outbox.flush(0.05)
            await asyncio.sleep(0.01)
    await it.settle()


@pytest.mark.parametrize("kind", LOSES)
@pytest.mark.parametrize("method", ["sendMessage", "editMessageText"])
@pytest.mark.parametrize("times", [1, 2])
async def test_a_send_on_telegram_of_which_nobody_knows_leaves_one_answer(
    kind: Any, method: str, times: int, tmp_path: Path
) -> None:
    clock = JumpClock()
    faults = FaultPlan(Fault(method, kind, times=times))
    async with stage("telegram", tmp_path, [finish("the answer")], faults=faults, clock=clock) as it:
        thread = await it.mention("go on")
        await until_shown(it, clock, thread)
        assert [post.text for post in it.everything()] == ["the answer"]
        orphans = [one for one in it.sim.ledger.seen(str(TEAM)) if one.from_bot and one.text == "…"]
        was_sent = method == "sendMessage" and kind in ("lost_answer", "error_after")
        assert len(orphans) <= times * was_sent


@each_chat
async def test_a_send_that_was_cut_off_by_a_crash_leaves_one_copy(platform: str, tmp_path: Path) -> None:
    method = "chat.postMessage" if platform == "slack" else "editMessageText"
    async with with_people(platform, FaultPlan(Fault(method, "hang"))) as sim:
        async with stage(platform, tmp_path, [finish("the answer")], sim=sim) as it:
            thread = await it.mention("go on")
            await it.until(lambda: sim.faults.hits["hang"])
        async with stage(platform, tmp_path, sim=sim) as it:
            await it.heard(thread)
            await it.settle()
            assert [post.text for post in it.everything()] == ["the answer"]


@each_chat
@pytest.mark.parametrize("named", ["whole", "bare"])
async def test_an_answer_that_a_tool_posted_to_its_own_thread_is_seen_once(
    platform: str, named: str, tmp_path: Path
) -> None:
    own = {"slack": "slack:T1:C1", "telegram": "telegram:-1001"}[platform]
    channel = own if named == "whole" else own.rpartition(":")[2]
    script = [act("post_message", channel=channel, text="done")]
    async with stage(platform, tmp_path, script, otherwise=finish("done")) as it:
        let_all_read(it)
        thread = await it.mention("say done")
        await it.heard(thread)
        await all_taken(it)
        assert [post.text.splitlines()[-1] for post in it.everything()] == ["done"]


@pytest.mark.parametrize("times", [1, 3])
async def test_a_limit_on_the_edit_that_makes_the_placeholder_an_answer_leaves_no_stump(
    times: int, tmp_path: Path
) -> None:
    clock = JumpClock()
    faults = FaultPlan(Fault("editMessageText", "rate_limited", times=times, retry_after=3))
    async with stage("telegram", tmp_path, [finish("a whole answer")], faults=faults, clock=clock) as it:
        thread = await it.mention("go on")
        await until_shown(it, clock, thread)
        assert [one.text for one in it.sim.ledger.seen(str(TEAM)) if one.from_bot] == ["a whole answer"]
        assert len([call for call in it.sim.calls if call.method == "sendMessage"]) == 1


@each_chat
@pytest.mark.parametrize("forms", [1, 2])
async def test_one_and_the_same_post_asked_for_in_three_rounds_is_made_once(
    platform: str, forms: int, tmp_path: Path
) -> None:
    same = {"channel": OTHER[platform], "text": "checkout is back"}
    other = {"text": "checkout is back", "channel": OTHER[platform]} if forms == 2 else same
    script = [act("post_message", **args) for args in (same, other, same)]
    done = finish("told them", evidence=["post_message"])
    async with stage(platform, tmp_path, script, otherwise=done) as it:
        let_all_read(it)
        thread = await it.mention("tell the others")
        await it.heard(thread)
        await all_taken(it)
        assert elsewhere(it, thread) == ["checkout is back"]
        assert len(it.now(thread)) == 1


@each_chat
@pytest.mark.parametrize("kind", ["lost_answer", "error_after", "server_error"])
async def test_a_file_of_which_nobody_knows_comes_once_or_says_that_it_may_be_there_twice(
    platform: str, kind: Any, tmp_path: Path
) -> None:
    clock = JumpClock()
    method = "files.completeUploadExternal" if platform == "slack" else "sendDocument"
    faults = FaultPlan(Fault(method, kind))
    async with stage(platform, tmp_path, [finish("all of it " * 3_000)], faults=faults, clock=clock) as it:
        thread = await it.mention("go on")
        await until_shown(it, clock, thread)
        files = [post for post in it.everything() if post.files]
        texts = [post for post in it.everything() if not post.files]
        assert len(texts) == 1
        assert it.everything()[-1] is texts[0]
        assert files
        if len(files) > 1:
            assert len(files) == 2
            assert kind != "server_error"
            assert platform == "telegram"  # which cannot be asked
            assert "sent again" in files[1].text
