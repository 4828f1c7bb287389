"""``post_message``: where it may post, what it says where it cannot, and that it never posts twice."""

from __future__ import annotations

import json
from collections import deque
from typing import TYPE_CHECKING, Any

import pytest
from endpoint import Answer, act, finish
from tools.toolroom import context, ready
from world import World, scripted

from hermes_bot.config import Access
from hermes_bot.errors import PlaceGone, RateLimited
from hermes_bot.store import audit, threads
from hermes_bot.tools.post import post_tools
from hermes_bot.tools.toolbox import CoreToolbox

if TYPE_CHECKING:
    from pathlib import Path

    from world import Running

    from hermes_bot.messages import Outgoing
    from hermes_bot.store.audit import AuditRow

DONE = finish("It is posted.", evidence=["round 1"])
GAVE_UP = finish("I could not post it.")  # refused once, then taken as unverified: nothing bears it out
LISTS = Access(channels=("world:T1:C1", "world:T1:C2", "world:T1:C404", "world:T2:C7", "plain:-1001"))


def telling(channel: str = "world:T1:C2", text: str = "checkout is back") -> Answer:
    return act("post_message", channel=channel, text=text)


def tops(bot: Running) -> list[tuple[str, str]]:
    """Return the channel and text of each post that opened a thread."""
    return [(post.thread.channel, post.text) for post in bot.world.posts if post.thread.is_new]


def observation(bot: Running, number: int = 1) -> str:
    """Return what the model was shown of a round."""
    return bot.prompts[number]


async def posts_in_audit(bot: Running) -> list[AuditRow]:
    rows = await bot.app.db.read(lambda db: audit.list_rows(db, 10))
    return [row for row in rows if row.entry.verb == "access.post"]


async def tell(bot: Running, **fields: Any) -> Outgoing:
    talk = bot.talk()
    await talk.say("tell the others", **fields)
    return await talk.heard()


async def test_a_message_is_posted_at_the_top_of_the_other_channel_once(tmp_path: Path) -> None:
    async with scripted(tmp_path, [telling(), DONE], access=LISTS) as bot:
        assert (await tell(bot)).text == "It is posted."
        assert tops(bot) == [("C2", "checkout is back")]
        assert "status ok" in observation(bot)
        assert "world:T1:C2" in observation(bot)
        rows = await posts_in_audit(bot)
        assert [(row.entry.actor, row.entry.object, row.entry.outcome) for row in rows] == [
            ("world:T1:u1", "world:T1:C2", "sent")
        ]


async def test_what_was_posted_opens_a_thread_that_knows_it(tmp_path: Path) -> None:
    async with scripted(tmp_path, [telling(), DONE, finish("Since nine.")], access=LISTS) as bot:
        await tell(bot)
        (posted,) = [post for post in bot.world.posts if post.thread.is_new]
        reply = bot.talk(f"id-{posted.key}", channel="C2")
        await reply.say("since when?")
        assert (await reply.heard()).text == "Since nine."
        assert "checkout is back" in bot.prompts[-1]


async def test_the_same_call_again_gets_the_stored_result_and_posts_nothing(tmp_path: Path) -> None:
    async with scripted(tmp_path, [telling(), telling(), telling(), DONE], access=LISTS) as bot:
        await tell(bot)
        assert tops(bot) == [("C2", "checkout is back")]


@pytest.mark.parametrize("channel", ["world:T1:C1", "C1", "world:C1", "world/T1/C1/1"])
async def test_its_own_channel_gets_the_answer_alone(tmp_path: Path, channel: str) -> None:
    script = [telling(channel, "done"), finish("done"), finish("done")]
    async with scripted(tmp_path, script, access=LISTS) as bot:
        await tell(bot)
        await bot.quiet()
        assert [post.text[-4:] for post in bot.world.posts] == ["done"]
        assert "own_thread" in observation(bot)


@pytest.mark.parametrize(
    ("channel", "code"),
    [
        ("world:T1:C9", "denied"),
        ("C9", "denied"),
        ("world:T9:C1", "denied"),
        ("other:T1:C1", "denied"),
        ("#general", "unknown_channel"),
        ("@somebody", "unknown_channel"),
        ("plain:-1001", "unknown_channel"),  # nothing was heard there yet: the bot's own id is not known
        ("", "unknown_channel"),
        ("a:b:c:d", "unknown_channel"),
        ("world::C2", "unknown_channel"),
    ],
)
async def test_a_channel_that_is_not_allowed_or_not_known_gets_nothing(
    tmp_path: Path, channel: str, code: str
) -> None:
    async with scripted(tmp_path, [telling(channel), GAVE_UP, GAVE_UP], access=LISTS) as bot:
        assert (await tell(bot)).text.endswith("I could not post it.")
        assert tops(bot) == []
        assert code in observation(bot)


async def test_a_bare_id_is_the_one_listed_channel_of_that_id(tmp_path: Path) -> None:
    async with scripted(tmp_path, [telling("C2"), telling("C7"), DONE], access=LISTS) as bot:
        await tell(bot)
        assert tops(bot) == [("C2", "checkout is back")]
        # somebody of T1 has no right in T2
        assert "denied" in observation(bot, 2)


async def test_a_bare_id_that_two_workspaces_have_is_not_guessed(tmp_path: Path) -> None:
    lists = Access(channels=("world:T1:*", "world:T1:C5", "world:T2:C5"))
    async with scripted(tmp_path, [telling("C5"), GAVE_UP, GAVE_UP], access=lists) as bot:
        await tell(bot)
        assert tops(bot) == []
        assert "unknown_channel" in observation(bot)


async def test_an_unreachable_channel_is_an_error_and_nothing_is_posted_elsewhere(tmp_path: Path) -> None:
    def refuses(message: Outgoing) -> Exception | None:
        return PlaceGone("channel_not_found") if message.thread.channel == "C404" else None

    script = [telling("world:T1:C404"), GAVE_UP, GAVE_UP]
    async with scripted(tmp_path, script, access=LISTS, world=World(refuses=refuses)) as bot:
        assert (await tell(bot)).text.endswith("I could not post it.")
        await bot.quiet()
        assert [post.thread for post in bot.world.posts] == [bot.talk().thread]
        assert "unreachable" in observation(bot)
        assert "channel_not_found" in observation(bot)


async def test_an_answer_that_claims_a_post_which_failed_is_not_taken_as_it_is(tmp_path: Path) -> None:
    world = World(refuses=lambda it: PlaceGone("channel_not_found") if it.thread.is_new else None)
    script = [telling(), finish("I posted it to C2.", evidence=["round 1"]), GAVE_UP]
    async with scripted(tmp_path, script, access=LISTS, world=world) as bot:
        assert (await tell(bot)).text.endswith("I could not post it.")


async def test_a_post_that_the_platform_puts_off_is_queued_and_shown_later(tmp_path: Path) -> None:
    world = World(faults=deque([RateLimited("slow down", 60)]))
    async with scripted(tmp_path, [telling(), DONE], access=LISTS, world=world) as bot:
        talk = bot.talk()
        await talk.say("tell the others")
        await bot.until(lambda: not world.faults)
        await bot.pass_time(20, step=5)
        assert (await talk.heard()).text == "It is posted."
        assert "queued; it will be shown in order" in observation(bot)
        assert "status partial" in observation(bot)
        assert tops(bot) == []
        await bot.pass_time(60, step=5)
        await bot.quiet()
        assert tops(bot) == [("C2", "checkout is back")]


async def test_a_queued_post_that_is_refused_later_is_told_where_its_run_is(tmp_path: Path) -> None:
    world = World(faults=deque([RateLimited("slow down", 60), PlaceGone("is_archived")]))
    async with scripted(tmp_path, [telling(), DONE], access=LISTS, world=world) as bot:
        talk = bot.talk()
        await talk.say("tell the others")
        await bot.until(lambda: len(world.faults) == 1)
        world.faults.appendleft(None)  # the answer passes
        await bot.pass_time(20, step=5)
        await talk.heard()
        await bot.pass_time(60, step=5)
        assert (await talk.heard()).text == "My post elsewhere was refused: is_archived"
        assert tops(bot) == []


@pytest.mark.parametrize("place", ["private", "direct"])
async def test_nothing_from_a_private_place_is_posted_elsewhere(tmp_path: Path, place: str) -> None:
    async with scripted(tmp_path, [telling(), GAVE_UP, GAVE_UP], access=LISTS) as bot:
        await tell(bot, place=place)
        assert tops(bot) == []
        assert "private" in observation(bot)
        known = await bot.app.db.read(lambda db: threads.get(db, bot.talk().thread))
        assert known
        assert known.place == place


async def test_a_thread_that_a_post_of_ours_opened_in_a_private_channel_is_private(tmp_path: Path) -> None:
    script = [telling(), DONE, telling("world:T1:C1", "what they said"), GAVE_UP, GAVE_UP]
    async with scripted(tmp_path, script, access=LISTS) as bot:
        await tell(bot)
        (posted,) = [post for post in bot.world.posts if post.thread.is_new]
        reply = bot.talk(f"id-{posted.key}", channel="C2")
        await reply.say("tell them too", place="private")
        await reply.heard()
        assert tops(bot) == [("C2", "checkout is back")]
        assert "private" in observation(bot, 3)


async def test_who_has_no_identity_has_nothing_posted(tmp_path: Path) -> None:
    async with scripted(tmp_path, [telling(), GAVE_UP, GAVE_UP], access=LISTS) as bot:
        await tell(bot, user="")
        assert tops(bot) == []
        assert "nobody_to_ask" in observation(bot)  # whose words they are is not known, so people must agree
        assert await posts_in_audit(bot) == []


async def test_a_platform_without_workspaces_is_reached_where_it_was_heard(tmp_path: Path) -> None:
    lists = Access(channels=("world:T1:C1", "world:-1001"))
    async with scripted(tmp_path, [telling("-1001"), DONE], access=lists) as bot:
        await tell(bot)
        (opened,) = [post.thread for post in bot.world.posts if post.thread.is_new]
        assert (opened.workspace, opened.channel) == ("T1", "-1001")


async def test_without_a_listed_channel_there_is_no_such_tool(tmp_path: Path) -> None:
    async with scripted(tmp_path, [finish("hello")], access=Access(members=("world:T1:u1",))) as bot:
        talk = bot.talk()
        await talk.say("hi", place="direct")
        await talk.heard()
        assert "post_message" not in json.dumps(bot.endpoint.requests)


async def test_a_post_without_a_word_is_none(tmp_path: Path) -> None:
    async with scripted(tmp_path, [telling(text=" \n"), GAVE_UP, GAVE_UP], access=LISTS) as bot:
        await tell(bot)
        assert tops(bot) == []
        assert "empty" in observation(bot)


async def test_after_a_crash_a_stored_post_is_sent_once_and_its_run_knows_it(tmp_path: Path) -> None:
    world = World(faults=deque([RateLimited("slow down", 60)]))
    async with scripted(tmp_path, [telling()], access=LISTS, world=world) as bot:
        await bot.talk().say("tell the others")
        await bot.until(lambda: not world.faults)
    async with scripted(tmp_path, [DONE], access=LISTS, world=world) as bot:
        assert (await bot.talk().heard()).text == "It is posted."
        assert "queued; it will be shown in order" in observation(bot, 0)
        await bot.pass_time(60, step=5)
        await bot.quiet()
        assert tops(bot) == [("C2", "checkout is back")]


async def test_after_a_crash_a_post_that_was_never_stored_is_told_as_not_done(tmp_path: Path) -> None:
    async with scripted(tmp_path, [telling(), GAVE_UP, GAVE_UP], access=LISTS) as bot:
        (tool,) = post_tools(bot.app.gate.policy, bot.app.outbox, bot.app.db)
        box = CoreToolbox([tool])
        prepared = ready(box, "post_message", {"channel": "C2", "text": "checkout is back"})
        came = await box.reconcile(prepared, context(tmp_path, key="k1"))
        assert came
        assert came.error
        assert (came.status, came.error.code) == ("error", "not_posted")
