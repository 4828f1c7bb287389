"""The process goes away at any moment; what it had begun goes on, and nothing happens twice."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from endpoint import Answer, act, finish, held
from world import Bench, World, scripted

from hermes_bot.fold import fold
from hermes_bot.messages import Result
from hermes_bot.runs.journal import RunJournal
from hermes_bot.store import journal, runs
from hermes_bot.tools.declare import tool

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from pathlib import Path


def rounds_then_finish(count: int) -> Callable[[dict[str, Any]], Answer]:
    """Call ``echo`` with a new word for so many rounds, then finish; decided by the prompt alone."""

    def mind(asked: dict[str, Any]) -> Answer:
        content = asked["messages"][-1]["content"]
        number = int(content.split("This is round ")[1].split(";")[0])
        if number > count:
            return finish("all done", evidence=["echo"])
        return act("echo", word=f"word {number} " + "abcdefgh"[number % 8] * 40)

    return mind


async def test_finished_rounds_are_neither_asked_nor_run_again(tmp_path: Path) -> None:
    bench = Bench(lets=2)
    async with scripted(tmp_path, rounds_then_finish(5), tools=bench.tools()) as bot:
        await bot.talk().say("go")
        await bot.until(lambda: len(bench.ran) == 3)  # dies inside the third round's tool
        asked = len(bot.prompts)
    bench.gate.set()
    async with scripted(tmp_path, rounds_then_finish(5), tools=bench.tools()) as bot:
        assert (await bot.talk().heard()).text == "all done"
        await bot.quiet()
        assert len(bot.world.posts) == 1
        assert asked + len(bot.prompts) == 6
    assert [word.split()[1] for word in bench.ran] == ["1", "2", "3", "3", "4", "5"]  # a read may run again


async def test_a_run_that_died_while_the_model_thought_asks_again_and_answers_once(tmp_path: Path) -> None:
    async with scripted(tmp_path, [held(finish("lost"), asyncio.Event())]) as bot:
        await bot.talk().say("go")
        await bot.until(lambda: len(bot.prompts) == 1)
    async with scripted(tmp_path, [finish("found")]) as bot:
        assert (await bot.talk().heard()).text == "found"
        await bot.quiet()
        assert len(bot.world.posts) == 1
        assert bot.world.status[bot.talk().thread][-1] == ""


async def test_an_effect_that_was_under_way_is_unknown_and_never_run_again(tmp_path: Path) -> None:
    bench = Bench()
    bench.gate.clear()
    async with scripted(tmp_path, [act("send", word="money")], tools=bench.tools()) as bot:
        await bot.talk().say("go")
        await bench.begun.wait()
    bench.gate.set()
    script = [act("send", word="money"), finish("I could not tell whether it went out.")]
    async with scripted(tmp_path, script, otherwise=script[-1], tools=bench.tools()) as bot:
        said = (await bot.talk().heard()).text
    assert bench.ran == ["money"]
    assert "whether it happened is not known" in bot.prompts[0]
    assert "status unknown" in bot.prompts[0]
    assert "_Not known: whether `send` took effect. Please check._" in said


async def test_an_effect_that_can_be_asked_about_is_reconciled(tmp_path: Path) -> None:
    done: list[str] = []
    never = asyncio.Event()

    async def was_put(args: Any, _: Any) -> Result | None:
        return Result("ok", "it is there") if args["word"] in done else None

    @tool(risk="write", example={"word": "a"}, reconcile=was_put)
    async def put(word: str) -> str:
        """Put a word where it can be looked up."""
        done.append(word)
        await never.wait()
        return "never said"

    async with scripted(tmp_path, [act("put", word="x")], tools=[put]) as bot:
        await bot.talk().say("go")
        await bot.until(lambda: bool(done))
    async with scripted(tmp_path, [finish("put", evidence=["put"])], tools=[put]) as bot:
        assert (await bot.talk().heard()).text == "put"
    assert done == ["x"]
    assert "it is there" in bot.prompts[0]


async def test_a_finished_run_answers_nothing_later(tmp_path: Path) -> None:
    async with scripted(tmp_path, otherwise=finish("the first")) as bot:
        await bot.talk().say("go")
        await bot.talk().heard()
        await bot.quiet()
    for _ in range(3):
        async with scripted(tmp_path) as bot:
            await bot.quiet()
            assert (bot.prompts, bot.world.posts) == ([], [])


async def test_an_answer_that_was_stored_and_not_sent_is_sent_once(tmp_path: Path) -> None:
    world = World()
    async with scripted(tmp_path, otherwise=finish("the answer"), world=world) as bot:
        bot.app.outbox.wake = lambda: None  # type: ignore[method-assign]  # nothing is sent before the death
        await bot.talk().say("go")
        await bot.until(lambda: bot.app.dispatcher.running == 0 and len(bot.prompts) == 1)
    assert world.posts == []
    async with scripted(tmp_path, world=world) as bot:
        await world.all_posts(1)
        await bot.quiet()
    assert [post.text for post in world.posts] == ["the answer"]


async def test_a_run_that_brings_the_process_down_is_given_up_after_three_starts_and_told(
    tmp_path: Path,
) -> None:
    bench = Bench()
    bench.gate.clear()
    for _ in range(4):
        async with scripted(tmp_path, otherwise=act("echo", word="poison"), tools=bench.tools()) as bot:
            if not bench.ran:
                await bot.talk().say("go")
            count = len(bench.ran)
            await bot.until(lambda seen=count: len(bench.ran) > seen)  # type: ignore[misc]
    async with scripted(tmp_path, otherwise=finish("next")) as bot:
        said = await bot.talk().heard()
        assert "it brought the program down 3 times" in said.text
        (run,) = await bot.runs()
        assert (run.status, run.reason) == ("failed", "crashes")
        await bot.talk().say("and now?")
        assert (await bot.talk().heard()).text == "next"


async def test_a_run_that_makes_progress_between_deaths_is_not_given_up(tmp_path: Path) -> None:
    bench = Bench()
    for number in range(6):
        bench.lets = len(bench.ran) + 1  # one call ends its round, and the process dies in the next
        bench.gate.set()
        async with scripted(tmp_path, rounds_then_finish(9), tools=bench.tools()) as bot:
            if number == 0:
                await bot.talk().say("go")
            await bot.until(lambda: len(bench.ran) == bench.lets + 1)
    bench.lets = 1_000
    bench.gate.set()
    async with scripted(tmp_path, rounds_then_finish(9), tools=bench.tools()) as bot:
        assert (await bot.talk().heard()).text == "all done"


async def test_a_stop_of_the_program_lets_the_round_in_hand_end_and_the_rest_goes_on_later(
    tmp_path: Path,
) -> None:
    bench = Bench()
    bench.gate.clear()
    async with scripted(tmp_path, rounds_then_finish(3), tools=bench.tools()) as bot:
        await bot.talk().say("go")
        await bench.begun.wait()
        async with asyncio.TaskGroup() as group:
            drained = group.create_task(bot.app.drain())
            await bot.settle()
            with pytest.raises(Exception, match="The bot is stopping"):
                await bot.talk("2").say("too late")
            bench.gate.set()
            await drained
        assert len(bench.ran) == 1
        (run,) = await bot.runs()
        assert (run.status, run.rounds) == ("running", 1)
    async with scripted(tmp_path, rounds_then_finish(3), tools=bench.tools()) as bot:
        assert (await bot.talk().heard()).text == "all done"
    assert len(bench.ran) == 3


async def test_what_is_not_done_within_the_deadline_is_interrupted_and_goes_on_later(tmp_path: Path) -> None:
    bench = Bench()
    bench.gate.clear()
    settings: dict[str, Any] = {"tools": bench.tools(), "bot": {"shutdown_seconds": 0.05}}
    async with scripted(tmp_path, rounds_then_finish(1), **settings) as bot:
        await bot.talk().say("go")
        await bench.begun.wait()
        await bot.app.drain()
        assert bot.app.dispatcher.running == 0
    bench.gate.set()
    async with scripted(tmp_path, rounds_then_finish(1), tools=bench.tools()) as bot:
        assert (await bot.talk().heard()).text == "all done"


async def test_being_interrupted_by_an_orderly_stop_is_not_held_against_a_run(tmp_path: Path) -> None:
    bench = Bench()
    bench.gate.clear()
    settings: dict[str, Any] = {"tools": bench.tools(), "bot": {"shutdown_seconds": 0.01}}
    for number in range(5):
        async with scripted(tmp_path, rounds_then_finish(1), **settings) as bot:
            if number == 0:
                await bot.talk().say("go")
            await bot.until(lambda seen=number: len(bench.ran) > seen)  # type: ignore[misc]
            await bot.app.drain()
    bench.gate.set()
    async with scripted(tmp_path, rounds_then_finish(1), tools=bench.tools()) as bot:
        assert (await bot.talk().heard()).text == "all done"


async def test_a_run_that_a_later_version_wrote_is_left_as_it_is_and_refused_clearly(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with scripted(tmp_path, [held(finish("x"), asyncio.Event())]) as bot:
        await bot.talk().say("go")
        await bot.until(lambda: len(bot.prompts) == 1)
        (run,) = await bot.runs()
        (first, *_) = await bot.rows(run.id)
        newer = replace(first, phase="observe", round=1, schema=2)
        await bot.app.db.transact("newer", lambda db: journal.append(db, [newer]))
    for _ in range(5):
        async with scripted(tmp_path, otherwise=finish("still here")) as bot:
            await bot.talk("2").say("hello")
            assert (await bot.talk("2").heard()).text == "still here"
            (left, *_) = await bot.runs()
            assert left.status == "running"
    assert any("this program reads up to 1" in str(record.__dict__.get("error")) for record in caplog.records)


async def test_after_every_commit_the_stored_rows_fold_to_the_state_in_hand(tmp_path: Path) -> None:
    seen = []

    def rows_of(run: str) -> Callable[[sqlite3.Connection], list[Any]]:
        return lambda db: journal.of_run(db, run)

    bench = Bench()
    ask = act("request_info", question="Which?", options=["a", "b"])
    script = [act("echo", word="\ud83d"), ask, act("send", word="é"), finish("I sent it.", evidence=["send"])]
    async with scripted(tmp_path, script, tools=bench.tools()) as bot:
        real = RunJournal.commit

        async def commit(self: RunJournal, state: Any, rows: Any, **fields: Any) -> Any:
            prior = await real(self, state, rows, **fields)
            stored = fold(await bot.app.db.read(rows_of(state.run)))
            seen.append(stored == state)
            return prior

        RunJournal.commit = commit  # type: ignore[method-assign]
        try:
            await bot.talk().say("go")
            await bot.talk().heard()
            await bot.talk().say("a")
            await bot.talk().heard()
            await bot.quiet()
        finally:
            RunJournal.commit = real  # type: ignore[method-assign]
        assert await bot.app.db.read(runs.unfinished) == []
    assert seen == [True] * len(seen)
    assert len(seen) >= 6
