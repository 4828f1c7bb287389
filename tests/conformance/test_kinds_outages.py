"""Platforms that refuse: B-97 to B-99, on Slack and on Telegram.

B-97: a wrong token, a 429 at the start. B-98: ten minutes of 503, a place that is gone. B-99: Slack's history
(Telegram shows none), refused.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from clock import JumpClock
from endpoint import held
from kinds import QUICKLY, both, echo, state, ticked, troubles
from places import CHAT, with_people
from stages import OnSlack, stage

from hermes_bot.config import Pacing
from hermes_bot.simulator import FaultPlan
from hermes_bot.simulator.faults import ALWAYS, Fault
from hermes_bot.standing import standing
from hermes_bot.store import audit

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from pathlib import Path

    from stages import Stage

    from hermes_bot.simulator import SlackSimulator, TelegramSimulator

    Spoil = Callable[[SlackSimulator, TelegramSimulator], None]

each_chat = pytest.mark.parametrize("platform", CHAT)


def calls(it: Stage, *methods: str) -> int:
    return len([call for call in it.sim.calls if not methods or call.method in methods])


async def connected(it: Stage) -> None:
    await (it.sim.wait_connected() if it.platform == "slack" else it.sim.wait_polling())


def wrong_bot_token(slack: SlackSimulator, _: TelegramSimulator) -> None:
    slack.site.tokens.clear()


def wrong_app_token(slack: SlackSimulator, _: TelegramSimulator) -> None:
    slack.site.app_token = "xapp-another"  # noqa: S105 - no secret


def wrong_telegram_token(_: SlackSimulator, telegram: TelegramSimulator) -> None:
    telegram.faults.add(Fault("*", "refuse", times=ALWAYS, error="401", description="Unauthorized"))


@pytest.mark.parametrize(
    ("spoil", "is_off", "variable"),
    [
        (wrong_bot_token, "slack", "HERMES_SLACK_BOT_TOKEN"),
        (wrong_app_token, "slack", "HERMES_SLACK_APP_TOKEN"),
        (wrong_telegram_token, "telegram", "HERMES_TELEGRAM_TOKEN"),
    ],
)
async def test_a_wrong_token_stops_its_platform_alone_names_the_variable_and_does_not_spin(
    spoil: Spoil, is_off: str, variable: str, tmp_path: Path
) -> None:
    clock = JumpClock()
    async with both(tmp_path, echo, clock=clock, spoil=spoil) as stages:
        broken, works = stages if is_off == "slack" else stages[::-1]
        await broken.until(lambda: state(broken) == "off")
        said = await troubles(broken)
        assert said.startswith(f"{is_off} is off since ")
        assert variable in said
        before = calls(broken)
        assert before <= 4
        await connected(works)
        thread = await works.mention("hello")
        assert [post.text for post in await works.heard(thread)] == ["done: hello"]
        for _ in range(3):
            clock.advance(3_600)
            await ticked(works)
        assert calls(broken) == before
        assert state(broken) == "off"


@pytest.mark.parametrize(("limited", "method"), [("slack", "auth.test"), ("telegram", "getMe")])
async def test_a_rate_limit_at_the_start_is_waited_for_while_the_other_platform_works(
    limited: str, method: str, tmp_path: Path
) -> None:
    clock = JumpClock()

    def spoil(slack: SlackSimulator, telegram: TelegramSimulator) -> None:
        sim = slack if limited == "slack" else telegram
        sim.faults.add(Fault(method, "rate_limited", retry_after=30_000))  # paces are divided by 1,000

    async with both(tmp_path, echo, clock=clock, spoil=spoil) as stages:
        late, works = stages if limited == "slack" else stages[::-1]
        await late.until(lambda: calls(late, method) == 1)
        await connected(works)
        thread = await works.mention("hello")
        assert [post.text for post in await works.heard(thread)] == ["done: hello"]
        clock.advance(25)
        await works.app.outbox.flush(1)
        assert (calls(late, method), state(late)) == (1, "degraded")
        assert f"{limited} is degraded since" in await troubles(late)
        await clock.pass_until(lambda: calls(late, method) == 2)
        await connected(late)
        thread = await late.mention("and here?")
        assert [post.text for post in await late.heard(thread)] == ["done: and here?"]


@pytest.mark.parametrize(
    ("platform", "method"),
    [("slack", "chat.postMessage"), ("slack", "*"), ("telegram", "sendMessage"), ("telegram", "*")],
)
async def test_ten_minutes_of_503_are_outlived_with_every_answer_once_and_in_order(
    platform: str, method: str, tmp_path: Path
) -> None:
    clock, faults = JumpClock(), FaultPlan()
    settings: dict[str, Any] = {"clock": clock, "faults": faults, "makers": QUICKLY}
    async with stage(platform, tmp_path, echo, **settings) as it:
        await connected(it)
        go = asyncio.Event()
        it.endpoint.otherwise = lambda request: held(echo(request), go)
        threads = [await it.mention(f"task {number}") for number in range(3)]
        await it.until(lambda: len(it.endpoint.requests) == 3)
        faults.add(Fault(method, "server_error", times=ALWAYS))
        go.set()
        begun = clock.monotonic()
        sends = ("chat.postMessage", "sendMessage")
        await clock.pass_until(lambda: clock.monotonic() - begun > 600, 5)
        assert it.everything() == []
        assert 3 <= calls(it, *sends) <= 40
        faults.clear()
        await clock.pass_until(lambda: all(it.now(thread) for thread in threads), 5)
        await it.settle()
        assert [[post.text for post in it.now(thread)] for thread in threads] == [
            [f"done: task {number}"] for number in range(3)
        ]
        ids = [float(entry.id) for entry in it.everything()]
        assert ids == sorted(ids)
        assert len(ids) == 3
        assert (await standing(it.app))["dead_posts"] == 0


def dead(db: sqlite3.Connection) -> list[str]:
    """Return what was given up, from the audit."""
    return [row.entry.object for row in audit.list_rows(db, 100) if row.entry.verb == "outbox.dead"]


async def test_a_channel_that_the_bot_left_gets_one_try_and_the_asker_one_word_in_private(
    tmp_path: Path,
) -> None:
    go = asyncio.Event()
    clock = JumpClock()
    async with stage("slack", tmp_path, lambda it: held(echo(it), go), clock=clock) as it:
        for number in range(3):
            await it.mention(f"task {number}")
        other = OnSlack(it.app, it.endpoint, "slack", it.people, it.sim, channel="C2")
        elsewhere = await other.mention("elsewhere")
        await it.until(lambda: len(it.endpoint.requests) == 4)
        await it.sim.remove("UBOT", "C1")
        go.set()
        assert [post.text for post in await other.heard(elsewhere)] == ["done: elsewhere"]
        await it.until(lambda: len(it.everything()) == 2)
        for _ in range(3):
            clock.advance(600)
            await ticked(it)
        (told,) = [entry for entry in it.everything() if entry.channel.startswith("D")]
        assert "not_in_channel" in told.text or "not in" in told.text
        posts = [call for call in it.sim.calls if call.method == "chat.postMessage"]
        assert [call.args["channel"] for call in posts].count("C1") == 3  # one for each answer
        assert len(await it.app.db.read(dead)) == 3
        assert [run.status for run in await it.runs()] == ["finished"] * 4


async def test_a_person_who_blocked_the_bot_is_not_tried_again(tmp_path: Path) -> None:
    go = asyncio.Event()
    clock = JumpClock()
    async with stage("telegram", tmp_path, lambda it: held(echo(it), go), clock=clock) as it:
        await it.sim.say(7, 7, "task in private")
        thread = await it.mention("task in the group", "other")
        await it.until(lambda: len(it.endpoint.requests) == 2)
        it.sim.block(7)
        go.set()
        assert [post.text for post in await it.heard(thread)] == ["done: task in the group"]
        await it.until(lambda: calls(it, "sendMessage") == 2)
        for _ in range(3):
            clock.advance(600)
            await ticked(it)
        refused = [call for call in it.sim.calls if call.method == "sendMessage" and call.status == 403]
        assert len(refused) == 1
        assert len(await it.app.db.read(dead)) == 1
        assert len(it.everything()) == 1
        it.sim.unblock(7)
        await it.sim.say(7, 7, "and now?")
        await it.until(lambda: len(it.everything()) == 2)
        assert it.everything()[-1].text == "done: and now?"


async def test_history_is_read_once_on_joining_and_a_refusal_of_more_costs_nothing(tmp_path: Path) -> None:
    faults = FaultPlan(Fault("conversations.replies", "rate_limited", times=ALWAYS, after=1, retry_after=60))
    async with with_people("slack", faults) as sim:
        root = await sim.say("U2", "C1", "disk 97 % on db-3")
        async with stage("slack", tmp_path, echo, sim=sim, pacing=Pacing(speed=1_000)) as it:
            await it.mention("which host?", thread=root)
            await it.heard(root)
            assert "db-3" in it.prompts[0]
            for number in range(10):
                await it.follow(root, f"question {number}")
                assert (await it.heard(root, 2 + number))[-1].text == f"done: question {number}"
                assert "db-3" in it.prompts[-1]
            assert "question 8" in it.prompts[-1]
            assert calls(it, "conversations.replies", "conversations.history") == 1


async def test_a_thread_that_cannot_be_read_on_joining_is_answered_all_the_same(tmp_path: Path) -> None:
    faults = FaultPlan(Fault("conversations.replies", "rate_limited", times=2, retry_after=60))
    async with with_people("slack", faults) as sim:
        root = await sim.say("U2", "C1", "disk 97 % on db-3")
        async with stage("slack", tmp_path, echo, sim=sim) as it:
            for number in range(4):
                await it.mention(f"question {number}", thread=root)
                assert (await it.heard(root, 1 + number))[-1].text == f"done: question {number}"
            assert "db-3" in it.prompts[-1]


async def test_where_no_history_is_shown_the_own_transcript_is_it(tmp_path: Path) -> None:
    async with stage("telegram", tmp_path, echo) as it:
        thread = await it.mention("the word is AMBER")
        await it.heard(thread)
        for number in range(10):
            await it.follow(thread, f"question {number}")
            assert (await it.heard(thread, 2 + number))[-1].text == f"done: question {number}"
        assert "AMBER" in it.prompts[-1]
        assert "question 8" in it.prompts[-1]
