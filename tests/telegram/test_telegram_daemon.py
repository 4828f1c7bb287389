"""What people on Telegram see of the whole bot, where it differs from other platforms or goes wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from endpoint import act, finish
from places import telegram_with_people
from stages import OnTelegram, stage
from world import Bench

from hermes_bot.config import Access
from hermes_bot.simulator import Fault, FaultPlan
from hermes_bot.simulator.faults import ALWAYS

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_bot.simulator import Entry

TEAM, FORUM, GROUP = -1001, -1002, -55


def seen(it: OnTelegram, chat: int = TEAM) -> list[Entry]:
    """Return the bot's posts in a chat, empty ones left out."""
    return [one for one in it.sim.ledger.seen(str(chat)) if one.from_bot and one.text.strip("… ")]


async def told(it: OnTelegram, number: int, chat: int = TEAM) -> list[Entry]:
    """Wait until the bot said so many things in a chat."""
    await it.until(lambda: len(seen(it, chat)) >= number)
    return seen(it, chat)


@pytest.mark.parametrize("kind", ["lost_answer", "error_after", "server_error", "rate_limited", "garbage"])
@pytest.mark.parametrize("method", ["sendMessage", "editMessageText"])
async def test_a_call_that_fails_leaves_one_whole_answer(kind: Any, method: str, tmp_path: Path) -> None:
    faults = FaultPlan(Fault(method, kind, retry_after=1))
    async with stage("telegram", tmp_path, [finish("the whole answer")], faults=faults) as it:
        await it.sim.say(7, TEAM, "@my_bot go on")
        await told(it, 1)
        await it.settle()
        assert [one.text for one in seen(it)] == ["the whole answer"]


async def test_an_answer_whose_formatting_is_refused_comes_plain(tmp_path: Path) -> None:
    refused = Fault(
        "editMessageText",
        "refuse",
        times=ALWAYS,
        error="400",
        description="Bad Request: can't parse entities: unsupported start tag",
    )
    async with stage("telegram", tmp_path, [finish("**a** < b")]) as it:
        it.sim.faults.add(Fault(refused.method, refused.kind, 1, 0, 1, "", "400", refused.description))
        await it.sim.say(7, TEAM, "@my_bot go on")
        assert "a" in (await told(it, 1))[0].text
        assert "< b" in seen(it)[0].text


async def test_topics_do_not_share_state_and_each_is_answered_in_itself(tmp_path: Path) -> None:
    async with stage("telegram", tmp_path, [finish("AMBER noted"), finish("no idea")]) as it:
        await it.sim.say(7, FORUM, "@my_bot the code word is AMBER", topic=5)
        await told(it, 1, FORUM)
        await it.sim.say(7, FORUM, "@my_bot what is the code word?")
        first, second = await told(it, 2, FORUM)
        assert (first.thread, second.thread) == ("5", "")
        assert "AMBER" not in it.prompts[1]
        assert it.sim.complaints == []


async def test_a_topic_that_closes_while_the_bot_works_is_told_once_in_its_chat(tmp_path: Path) -> None:
    bench = Bench()
    bench.gate.clear()
    script = [act("echo", word="x"), finish("done", evidence=["echo"])]
    async with stage("telegram", tmp_path, script, tools=bench.tools()) as it:
        await it.sim.say(7, FORUM, "@my_bot dig", topic=5)
        await bench.begun.wait()
        it.sim.close_topic(FORUM, 5)
        bench.gate.set()
        await told(it, 1, FORUM)
        await it.settle()
        (entry,) = seen(it, FORUM)
        assert "closed or deleted" in entry.text
        assert entry.thread == ""


async def test_a_paste_that_was_cut_and_an_album_are_one_run_each(tmp_path: Path) -> None:
    bot = {"join_seconds": 0.3}
    async with stage("telegram", tmp_path, [finish("read it"), finish("saw both")], bot=bot) as it:
        paste = "x\U0001f600" * 1_365 + "x" + "y" * 500  # the cut is at 4,096 UTF-16 units
        await it.sim.say(7, 7, paste)
        await told(it, 1, 7)
        (run,) = await it.runs()
        assert paste in run.text
        photos = [("a.txt", b"1", "document"), ("b.txt", b"2", "document")]
        await it.sim.say(7, 7, caption="compare these", files=photos)
        await told(it, 2, 7)
        assert len(await it.runs()) == 2
        assert "compare these" in it.prompts[1]


async def test_an_edit_of_a_finished_command_starts_nothing_and_of_a_queued_one_counts(
    tmp_path: Path,
) -> None:
    bench = Bench()
    bench.gate.clear()
    script = [act("echo", word="x"), finish("first done", evidence=["echo"]), finish("June it is")]
    async with stage("telegram", tmp_path, script, tools=bench.tools()) as it:
        first = await it.sim.say(7, 7, "begin")
        await bench.begun.wait()
        second = await it.sim.say(7, 7, "report May")
        await it.sim.edit(7, 7, second, "report June")
        bench.gate.set()
        await told(it, 1, 7)
        await it.settle()
        runs = len(await it.runs())
        assert any("report June" in prompt for prompt in it.prompts)
        assert not any("report May" in prompt for prompt in it.prompts)
        await it.sim.edit(7, 7, first, "/run log-diagnosis service=checkout")
        await it.sim.say(7, 7, "/skills")
        await told(it, 2, 7)
        assert len(await it.runs()) == runs


async def test_an_open_question_is_answered_by_answering_it_and_its_box_is_for_the_asker(
    tmp_path: Path,
) -> None:
    script = [act("request_info", question="How many retries?"), finish("none then")]
    async with stage("telegram", tmp_path, script) as it:
        number = await it.sim.say(7, TEAM, "@my_bot set the retries")
        (asked,) = await told(it, 1)
        assert asked.reply_to == str(number)
        call = next(one for one in it.sim.calls if "force_reply" in str(one.args.get("reply_markup")))
        assert call.args["reply_markup"]["selective"] is True
        await it.sim.say(7, TEAM, "0", reply_to=int(asked.id))
        assert (await told(it, 2))[-1].text == "none then"
        assert len(await it.runs()) == 1


async def test_an_anonymous_administrator_has_no_right(tmp_path: Path) -> None:
    async with stage("telegram", tmp_path) as it:
        await it.sim.say(1_087_968_824, TEAM, "/run@my_bot log-diagnosis service=checkout")
        await told(it, 1)
        await it.settle()
        assert await it.runs() == []
        assert it.endpoint.requests == []


async def test_the_group_becomes_a_supergroup_while_the_bot_works(tmp_path: Path) -> None:
    bench = Bench()
    bench.gate.clear()
    script = [act("echo", word="x"), finish("dug up", evidence=["echo"]), finish("more")]
    sim = telegram_with_people()
    sim.add_chat(GROUP, kind="group", title="Small", members=(7, 8, 42))
    async with sim:
        access = Access(channels=("telegram:-55", "telegram:-1055"), members=("telegram:7",))
        async with stage("telegram", tmp_path, script, tools=bench.tools(), sim=sim, access=access) as it:
            await it.sim.say(7, GROUP, "@my_bot dig")
            await bench.begun.wait()
            it.sim.migrate(GROUP, -1055)
            bench.gate.set()
            (answer,) = await told(it, 1, -1055)
            assert answer.text == "dug up"
            await it.sim.say(7, -1055, "and more?", reply_to=int(answer.id))
            assert [one.text for one in await told(it, 2, -1055)] == ["dug up", "more"]


async def test_what_was_said_while_the_bot_was_down_is_answered_after_the_start(tmp_path: Path) -> None:
    async with telegram_with_people() as sim:
        async with stage("telegram", tmp_path, [finish("one")], sim=sim) as it:
            await sim.say(7, 7, "first")
            await told(it, 1, 7)
        await sim.say(7, 7, "second")
        await sim.say(8, 8, "third")
        async with stage("telegram", tmp_path, otherwise=finish("later"), sim=sim) as it:
            await told(it, 2, 7)
            await told(it, 1, 8)
            await it.settle()
            assert [one.text for one in seen(it, 7)] == ["one", "later"]
            assert len(await it.runs()) == 3


async def test_a_person_who_blocks_the_bot_costs_nobody_else_an_answer(tmp_path: Path) -> None:
    bench = Bench()
    bench.gate.clear()
    script = [act("echo", word="x"), finish("done", evidence=["echo"]), finish("for Bob")]
    async with stage("telegram", tmp_path, script, tools=bench.tools()) as it:
        await it.sim.say(7, 7, "dig")
        await bench.begun.wait()
        it.sim.block(7)
        bench.gate.set()
        await it.settle()
        await it.sim.say(8, 8, "hello")
        assert (await told(it, 1, 8))[0].text == "for Bob"
        assert seen(it, 7) == []
