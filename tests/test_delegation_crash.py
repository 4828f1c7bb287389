"""A delegated run keeps its promises when something dies, ends or is stopped."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from endpoint import act, finish
from world import Bench, scripted

if TYPE_CHECKING:
    from pathlib import Path

    from world import Running

from children import children, minds


async def test_stop_ends_parent_and_children_with_one_post(tmp_path: Path) -> None:
    bench = Bench()
    bench.gate.clear()
    mind = minds(
        go=[act("delegate", tasks=["dig", "dog"])], dig=[act("send", word="d")], dog=[act("echo", word="g")]
    )
    async with scripted(tmp_path, mind, tools=bench.tools()) as bot:
        await bot.talk().say("go")
        await bot.until(lambda: len(bench.ran) == 2)
        await bot.pass_time(6, step=3)
        assert bot.world.statuses[-1] in ("delegated 1/2: send", "delegated 2/2: echo")
        await bot.talk().say("stop", is_command=True)
        post = await bot.talk().heard()
        await bot.quiet()
        assert "`send` was under way: whether it took effect is not known." in post.text
        assert len(bot.world.posts) == 1
        assert {one.status for one in await children(bot)} == {"cancelled"}
        assert (await bot.runs())[0].status == "cancelled"


async def test_whatever_dies_a_childs_result_is_kept_and_its_effects_happen_once(tmp_path: Path) -> None:
    """The process goes away before every single commit in turn; the story ends the same."""
    mind = minds(
        go=[act("delegate", tasks=["dig", "dog"]), finish("both (round 1)", evidence=["round 1"])],
        dig=[act("echo", word="d"), finish("dug", evidence=["echo"])],
        dog=[act("echo", word="g"), finish("barked", evidence=["echo"])],
    )
    for lets in range(1, 11):  # the eleventh commit is the last
        folder, bench = tmp_path / str(lets), Bench()
        async with scripted(folder, mind, tools=bench.tools()) as bot:
            dead = dies_at_commit(bot, lets)
            await bot.talk().say("go")
            await bot.until(dead.is_set)
        async with scripted(folder, mind, tools=bench.tools()) as bot:
            await bot.quiet()
            (parent,) = await bot.runs()
            assert (parent.status, lets) == ("finished", lets)
            assert [(one.status, one.rounds) for one in await children(bot)] == [("finished", 2)] * 2


def dies_at_commit(bot: Running, lets: int) -> asyncio.Event:
    """Let so many steps of runs be stored; no later one is, as if the process were gone."""
    real, count, dead = bot.app.db.transact, 0, asyncio.Event()

    async def transact(name: str, work: Any) -> Any:
        nonlocal count
        count += name.startswith("run.")
        if count > lets:
            dead.set()
            await asyncio.Event().wait()
        return await real(name, work)

    bot.app.db.transact = transact  # type: ignore[method-assign]
    return dead


async def test_a_child_that_is_over_is_not_run_again_after_a_crash(tmp_path: Path) -> None:
    bench = Bench()
    mind = minds(
        go=[act("delegate", tasks=["dig", "dog"]), finish("both", evidence=["delegate"])],
        dig=[act("send", word="d"), finish("dug", evidence=["send"])],
        dog=[act("echo", word="g"), finish("barked", evidence=["echo"])],
    )
    bench.lets = 1
    async with scripted(tmp_path, mind, tools=bench.tools()) as bot:
        await bot.talk().say("go")
        await bot.until(lambda: len(bench.ran) == 2)
        await bot.settle()
    bench.gate.set()
    async with scripted(tmp_path, mind, tools=bench.tools()) as bot:
        assert (await bot.talk().heard()).text == "both"
        assert bench.ran.count("d") == 1
        await bot.quiet()
        assert len(bot.world.posts) == 1


async def test_a_child_that_brings_the_process_down_is_given_up_and_its_parent_goes_on(
    tmp_path: Path,
) -> None:
    bench = Bench()
    bench.gate.clear()
    mind = minds(
        go=[act("delegate", task="dig"), finish("I could not dig.", confidence=0.9)],
        dig=[act("echo", word="poison")],
    )
    for _ in range(3):
        async with scripted(tmp_path, mind, tools=bench.tools()) as bot:
            if not bench.ran:
                await bot.talk().say("go")
            count = len(bench.ran)
            await bot.until(lambda seen=count: len(bench.ran) > seen)  # type: ignore[misc]
    async with scripted(tmp_path, mind, otherwise=finish("x"), tools=bench.tools()) as bot:
        await bot.talk().heard()
        (child,) = await children(bot)
        assert (child.status, child.reason) == ("failed", "crashes")
        assert (await bot.runs())[0].status == "finished"
    assert len(bench.ran) == 3


async def test_an_orderly_stop_leaves_children_for_later(tmp_path: Path) -> None:
    bench = Bench()
    bench.gate.clear()
    mind = minds(
        go=[act("delegate", task="dig"), finish("done", evidence=["delegate"])],
        dig=[act("echo", word="a"), finish("dug", evidence=["echo"])],
    )
    async with scripted(tmp_path, mind, tools=bench.tools()) as bot:
        await bot.talk().say("go")
        await bench.begun.wait()
        async with asyncio.TaskGroup() as group:
            drained = group.create_task(bot.app.drain())
            await bot.settle()
            bench.gate.set()
            await drained
        (child,) = await children(bot)
        assert (child.status, child.rounds) == ("running", 1)
    async with scripted(tmp_path, mind, tools=bench.tools()) as bot:
        assert (await bot.talk().heard()).text == "done"
        (child,) = await children(bot)
        assert (child.status, child.rounds, child.attempts) == ("finished", 2, 0)
    assert bench.ran == ["a"]
