"""Telegram's topics, General and reply chains: B-07. Slack has nothing like them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from endpoint import act, fail, finish
from onlookers import all_taken
from places import FORUM, TEAM, with_people
from stages import stage
from world import Bench

from hermes_bot.config import Access
from hermes_bot.simulator import Fault, FaultPlan

if TYPE_CHECKING:
    from pathlib import Path

    from endpoint import Answer
    from stages import OnTelegram

GROUP = -55
PLACED = ("sendMessage", "sendDocument", "sendPhoto")
GONE = Fault("sendMessage", "refuse", error="400", description="Bad Request: message thread not found")


def threads_sent(it: OnTelegram, chat: int = FORUM) -> set[str]:
    """Return the thread ids with which anything was sent to a chat; empty where none was named."""
    sent = [call.args for call in it.sim.calls if call.method in PLACED]
    return {str(args.get("message_thread_id", "")) for args in sent if str(args["chat_id"]) == str(chat)}


@pytest.mark.parametrize("what", ["answer", "question", "card", "parts", "file", "failure", "report", "help"])
async def test_whatever_is_posted_in_a_topic_carries_its_id(what: str, tmp_path: Path) -> None:
    long = "\n\n".join(f"paragraph {number} " + "word " * 150 for number in range(60))
    script: dict[str, list[Answer]] = {
        "answer": [finish("short")],
        "question": [act("request_info", question="Which month?")],
        "card": [act("request_info", question="Which month?", options=["May", "June"])],
        "parts": [finish(long[:7_000])],
        "file": [finish(long)],
        "report": [act("now"), act("now"), act("now")],
    }
    async with stage("telegram", tmp_path, script.get(what, ()), otherwise=fail(401)) as it:
        await it.sim.say(7, FORUM, "@my_bot help" if what == "help" else "@my_bot go on", topic=5)
        await it.until(it.everything)
        await all_taken(it)
        assert {post.thread for post in it.everything()} == {"5"}
        assert threads_sent(it) == {"5"}
        assert {action.topic for action in it.sim.actions} <= {5}
        assert it.sim.complaints == []
        if what == "file":
            assert [post for post in it.everything() if post.files]


async def test_general_gets_no_thread_id_and_its_messages_are_answered_as_replies(tmp_path: Path) -> None:
    async with stage("telegram", tmp_path, [finish("in General"), finish("again")]) as it:
        first = await it.sim.say(7, FORUM, "@my_bot go on")
        await it.until(it.everything)
        second = await it.sim.say(7, FORUM, "and then?", reply_to=int(it.everything()[0].id))
        await it.until(lambda: len(it.everything()) == 2)
        await all_taken(it)
        assert [(post.thread, post.reply_to) for post in it.everything()] == [
            ("", str(first)),
            ("", str(second)),
        ]
        assert threads_sent(it) == {""}
        assert it.sim.complaints == []
        assert len({run.thread for run in await it.runs()}) == 1


async def test_a_message_in_general_right_after_one_in_a_topic_is_a_thread_of_its_own(tmp_path: Path) -> None:
    bench = Bench()
    bench.gate.clear()

    def answer(request: dict[str, Any]) -> Answer:
        prompt = str(request["messages"][-1]["content"])
        if "[goal] (asked by Ann)\nin the topic" not in prompt:
            return finish("for General")
        return finish("for the topic", evidence=["echo"]) if "[round 1]" in prompt else act("echo", word="x")

    async with stage("telegram", tmp_path, answer, tools=bench.tools()) as it:
        await it.sim.say(7, FORUM, "@my_bot in the topic", topic=5)
        await bench.begun.wait()
        await it.sim.say(7, FORUM, "@my_bot in General")
        await it.until(it.everything)
        assert [(post.text, post.thread) for post in it.everything()] == [("for General", "")]
        bench.gate.set()
        await it.until(lambda: len(it.everything()) == 2)
        await all_taken(it)
        assert {(post.text, post.thread) for post in it.everything()} == {
            ("for General", ""),
            ("for the topic", "5"),
        }
        assert len({run.thread for run in await it.runs()}) == 2


@pytest.mark.parametrize(("kind", "chat"), [("supergroup", TEAM), ("group", GROUP)])
async def test_the_id_of_a_reply_chain_is_not_sent_back(kind: Any, chat: int, tmp_path: Path) -> None:
    access = Access(channels=(f"telegram:{chat}",), members=("telegram:7", "telegram:8"))
    async with with_people("telegram") as sim:
        if chat == GROUP:
            sim.add_chat(GROUP, kind=kind, title="Small", members=(7, 8, 42))
        async with stage("telegram", tmp_path, otherwise=finish("noted"), sim=sim, access=access) as it:
            await sim.say(7, chat, "@my_bot one")
            for number in range(1, 4):
                await it.until(lambda number=number: len(it.everything()) == number)
                await sim.say(8 - number % 2, chat, f"and {number}?", reply_to=int(it.everything()[-1].id))
            await it.until(lambda: len(it.everything()) == 4)
            await all_taken(it)
            assert threads_sent(it, chat) == {""}
            assert sim.complaints == []
            assert len({run.thread for run in await it.runs()}) == 1


@pytest.mark.parametrize("opened_by", [7, 42], ids=["a person", "the bot"])
async def test_the_implicit_reply_to_the_message_that_opened_a_topic_addresses_nobody(
    opened_by: int, tmp_path: Path
) -> None:
    async with (
        with_people("telegram", privacy=False) as sim,
        stage("telegram", tmp_path, otherwise=finish("noted"), sim=sim) as it,
    ):
        topic = sim.add_topic(FORUM, "Ideas", by=opened_by)
        await sim.say(7, FORUM, "what about lunch?", topic=topic)
        await sim.say(8, FORUM, "good idea", topic=topic)
        await all_taken(it)
        assert it.endpoint.requests == []
        assert it.everything() == []
        await sim.say(7, FORUM, "@my_bot and you?", topic=topic)
        await it.until(it.everything)
        assert [post.thread for post in it.everything()] == [str(topic)]


@pytest.mark.parametrize("end", ["refused once", "closed", "deleted"])
async def test_a_topic_that_is_gone_is_told_once_in_its_chat(end: str, tmp_path: Path) -> None:
    bench = Bench()
    bench.gate.clear()
    script = [act("echo", word="x"), finish("done", evidence=["echo"])]
    faults = FaultPlan(*([GONE] if end == "refused once" else []))
    async with stage("telegram", tmp_path, script, tools=bench.tools(), faults=faults) as it:
        await it.sim.say(7, FORUM, "@my_bot dig", topic=5)
        await bench.begun.wait()
        if end == "closed":
            it.sim.close_topic(FORUM, 5)
        elif end == "deleted":
            it.sim.delete_topic(FORUM, 5)
        bench.gate.set()
        await it.until(it.everything)
        await all_taken(it)
        (told,) = [post for post in it.everything() if post.channel == str(FORUM)]
        assert "topic" in told.text
        assert told.thread == ""
