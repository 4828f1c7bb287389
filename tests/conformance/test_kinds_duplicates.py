"""One message, one run: B-12, B-13, B-14 and B-15, on Slack and on Telegram.

B-12: a mention that comes as two events (Slack alone does that). B-13: events that come again. B-14: stored
first, then acknowledged, then worked on. B-15: the bot's own posts, previews, other bots.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from clock import JumpClock
from endpoint import act, finish, held
from onlookers import all_acknowledged, all_taken
from places import CHAT, TEAM, with_people
from stages import stage

from hermes_bot.config import Access
from hermes_bot.errors import StoreError
from hermes_bot.simulator import Fault, FaultPlan
from hermes_bot.simulator.slack import events
from hermes_bot.store.database import Database

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from pathlib import Path

    from stages import Stage

each_chat = pytest.mark.parametrize("platform", CHAT)


@pytest.mark.parametrize("swaps", [False, True], ids=["mention first", "message first"])
@pytest.mark.parametrize(("apart", "where"), [(0, "top"), (0, "thread"), (0.3, "thread"), (2, "top")])
async def test_a_mention_that_comes_as_two_events_is_one_run(
    apart: float,
    swaps: bool,  # noqa: FBT001 - a case of the test
    where: str,
    tmp_path: Path,
) -> None:
    async with stage("slack", tmp_path, otherwise=finish("May: 4711 EUR")) as it:
        it.sim.swap_pairs, it.sim.pair_delay = swaps, apart
        root = await it.say("numbers?", "other") if where == "thread" else ""
        thread = await it.mention("revenue in May?", thread=root)
        await it.heard(thread)
        await all_taken(it)
        assert [post.text for post in it.everything()] == ["May: 4711 EUR"]
        assert len(await it.runs()) == 1
        assert len(it.endpoint.requests) == 1


def event_of(it: Stage, thread: str, **fields: Any) -> dict[str, Any]:
    """Return the event of a message as it was delivered, or one like it."""
    if it.platform == "telegram":
        message = it.sim.state.chats[TEAM].messages[int(thread)]
        return {"message": message.to_json(), **fields}
    team = it.sim.site.teams["T1"]
    channel = team.channels["C1"]
    event = events.mentioned(channel, channel.message(thread))
    return events.callback(it.sim.site, team, event) | fields


async def bring(it: Stage, event: dict[str, Any]) -> None:
    """Bring an event to the bot, and wait until it was taken."""
    if it.platform == "slack":
        await it.sim.deliver(event)
        await asyncio.sleep(0)  # it is sent
        # this one alone: what a former bot did as it stopped, of which it heard no more, comes a minute later
        await it.until(lambda: all(one.payload is not event for one in it.sim.unacked))
        await it.settle()
    else:
        it.sim.push(event)
        await all_taken(it)


@each_chat
async def test_the_same_event_again_at_once_and_after_a_start_is_no_message(
    platform: str, tmp_path: Path
) -> None:
    async with with_people(platform) as sim:
        async with stage(platform, tmp_path, otherwise=finish("May: 4711 EUR"), sim=sim) as it:
            sim.redeliver_next(2)
            thread = await it.mention("revenue in May?")
            await it.heard(thread)
            await all_taken(it)
            again = event_of(it, thread)
            await bring(it, again)
            await bring(it, again)
            assert [post.text for post in it.everything()] == ["May: 4711 EUR"]
            assert len(it.endpoint.requests) == 1
        async with stage(platform, tmp_path, otherwise=finish("again?"), sim=sim) as it:
            await bring(it, again)
            await bring(it, event_of(it, thread))
            assert [post.text for post in it.everything()] == ["May: 4711 EUR"]
            assert len(await it.runs()) == 1
            assert it.endpoint.requests == []


@each_chat
async def test_an_event_that_comes_again_while_its_run_was_cut_off_is_no_second_one(
    platform: str, tmp_path: Path
) -> None:
    never = asyncio.Event()
    async with with_people(platform) as sim:
        async with stage(platform, tmp_path, otherwise=held(finish("lost"), never), sim=sim) as it:
            thread = await it.mention("revenue in May?")
            await it.until(lambda: it.endpoint.requests)
            await all_acknowledged(it)
            again = event_of(it, thread)
        async with stage(platform, tmp_path, otherwise=finish("May: 4711 EUR"), sim=sim) as it:
            await bring(it, again)
            await it.heard(thread)
            await it.settle()
            assert [post.text for post in it.everything()] == ["May: 4711 EUR"]
            assert len(await it.runs()) == 1


@each_chat
async def test_a_delivery_that_is_marked_as_a_retry_is_answered_where_the_first_was_lost(
    platform: str, tmp_path: Path
) -> None:
    lost = Fault("getUpdates", "lost_answer", after=1)
    faults = FaultPlan(*([lost] if platform == "telegram" else []))
    async with stage(platform, tmp_path, otherwise=finish("May: 4711 EUR"), faults=faults) as it:
        if platform == "slack":
            it.sim.lose_next(2)
        thread = await it.mention("revenue in May?")
        await it.heard(thread)
        await all_taken(it)
        assert [post.text for post in it.everything()] == ["May: 4711 EUR"]
        assert len(it.endpoint.requests) == 1


@each_chat
@pytest.mark.parametrize("words", ["status?", "and now?"])
async def test_the_same_words_later_are_a_new_message(platform: str, words: str, tmp_path: Path) -> None:
    clock = JumpClock()
    async with stage(platform, tmp_path, [finish("slow"), finish("fine")], clock=clock) as it:
        thread = await it.mention(words)
        await it.heard(thread)
        clock.advance(600)
        await it.mention(words, thread=thread)
        assert [post.text for post in await it.heard(thread, 2)] == ["slow", "fine"]
        assert [run.text for run in await it.runs()] == [words, words]


@each_chat
async def test_a_message_is_acknowledged_while_the_model_still_thinks(platform: str, tmp_path: Path) -> None:
    clock, thought = JumpClock(), asyncio.Event()
    async with stage(platform, tmp_path, otherwise=held(finish("May: 4711 EUR"), thought), clock=clock) as it:
        thread = await it.mention("revenue in May?")
        await it.until(lambda: it.endpoint.requests)
        await it.until(lambda: is_acknowledged(it))
        clock.advance(8)
        thought.set()
        await it.heard(thread)
        assert len(await it.runs()) == 1
        if platform == "slack":
            await it.until(lambda: not it.sim.unacked)  # its own posts come to it, too


def is_acknowledged(it: Stage) -> bool:
    if it.platform == "slack":
        return not it.sim.delivery.on_way
    return not len(it.sim.state.updates)


class Stumbling(Database):
    """A store that cannot store the first messages.

    Attributes:
        left: so many more are refused.
    """

    left = 1

    async def transact(self, name: str, work: Callable[[sqlite3.Connection], Any]) -> Any:
        if name == "inbox.store" and self.left:
            self.left -= 1
            raise StoreError("the disk is full")
        return await super().transact(name, work)


@pytest.mark.parametrize(("platform", "times"), [("slack", 1), ("slack", 3), ("telegram", 1)])
async def test_what_could_not_be_stored_is_not_acknowledged_and_worked_on_when_it_comes_again(
    platform: str, times: int, tmp_path: Path
) -> None:
    async def open_store(path: Path) -> Database:
        store = await Stumbling.open(path)
        store.left = times
        return store

    kinds: dict[str, Any] = {"retry_seconds": (0, 0.1, 0.1)} if platform == "slack" else {}
    async with with_people(platform, None, **kinds) as sim:
        if platform == "slack":
            sim.windows.ack = 0.5
        async with stage(
            platform, tmp_path, otherwise=finish("May: 4711 EUR"), sim=sim, open_store=open_store
        ) as it:
            thread = await it.mention("revenue in May?")
            await it.heard(thread)
            await all_taken(it)
            assert [post.text for post in it.everything()] == ["May: 4711 EUR"]
            assert len(await it.runs()) == 1
            assert len(it.endpoint.requests) == 1
            if platform == "slack":
                assert sim.unacked == []


async def test_own_posts_and_their_changes_and_previews_start_nothing(tmp_path: Path) -> None:
    script = [
        act("request_info", question="ask <@UBOT> again?", options=["yes", "no"]),
        finish("@hermes run"),
    ]
    async with stage("slack", tmp_path, script) as it:
        thread = await it.mention("look at https://a.example/x")
        (card,) = await it.heard(thread)
        await it.press(thread, "yes")  # the card is edited, and Slack tells of that
        await it.heard(thread, 2)
        await it.sim.unfurl("C1", thread, "https://a.example/x")
        own = {
            "type": "message",
            "channel": "C1",
            "channel_type": "channel",
            "user": "UBOT",
            "bot_id": "BBOT",
        }
        echo = own | {"text": "<@UBOT> run weekly", "ts": card.id, "thread_ts": thread, "event_ts": card.id}
        changed = {"type": "message", "subtype": "message_changed", "hidden": True, "channel": "C1"}
        changed |= {"channel_type": "channel", "ts": "1.1", "event_ts": "1.1"}
        changed |= {"message": echo | {"edited": {"user": "UBOT", "ts": "1.1"}}}
        changed |= {"previous_message": echo | {"text": "before"}}
        for number, event in enumerate((echo, changed, echo | {"type": "app_mention"})):
            payload = event_of(it, thread, event_id=f"EvOwn{number}", event=event)
            await bring(it, payload)
        assert len(await it.runs()) == 1
        assert len(it.endpoint.requests) == 2
        assert len(it.everything()) == 2


@pytest.mark.parametrize("is_allowed", [False, True], ids=["unknown", "allowed"])
@pytest.mark.parametrize(
    ("platform", "robot"), [("slack", "slack:T1:B2"), ("slack", "slack:T1:UB2"), ("telegram", "telegram:99")]
)
async def test_another_bot_starts_nothing_and_an_allowed_one_three_turns_without_a_person_between(
    platform: str,
    robot: str,
    is_allowed: bool,  # noqa: FBT001 - a case of the test
    tmp_path: Path,
) -> None:
    people = ("slack:T1:U1", "slack:T1:U2", "telegram:7", "telegram:8")
    channels = ("slack:T1:*", "telegram:-1001")
    access = Access(channels=channels, members=people, bots=(robot,) if is_allowed else ())
    async with stage(platform, tmp_path, otherwise=finish("you are welcome"), access=access) as it:
        if platform == "telegram":
            it.sim.state.hears_bots = True
            it.sim.add_user(99, "Robot", "robot", is_bot=True)
            it.sim.set_status(TEAM, 99, "member")
        thread = await it.mention("hello")
        await it.heard(thread)
        await thank(it, thread, 10)
        assert len(await it.runs()) == 1 + 3 * is_allowed
        await it.mention("hello again", thread=thread)
        await all_taken(it)
        assert len(await it.runs()) == 2 + 3 * is_allowed
        await thank(it, thread, 5)
        assert len(await it.runs()) == 2 + 6 * is_allowed
        assert len(it.endpoint.requests) == len(await it.runs())


async def thank(it: Stage, thread: str, times: int) -> None:
    """Let the other bot write so often."""
    for _ in range(times):
        if it.platform == "slack":
            await it.sim.post_as_bot("B2", "C1", "<@UBOT> thanks", thread_ts=thread)
        else:
            last = [post for post in it.everything() if post.channel == str(TEAM)][-1]
            await it.sim.say(99, TEAM, "@my_bot thanks", reply_to=int(last.id))
        await all_taken(it)
