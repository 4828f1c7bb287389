"""Time, tokens, money and the room of a prompt end a run too, and people are asked in time."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from endpoint import Answer, act, finish, held, say
from world import Bench, scripted

from hermes_bot.config import ModelSection, Price, Profile

if TYPE_CHECKING:
    from pathlib import Path

from guarded import ended, unlike, worker


async def test_working_time_stops_a_run_and_waiting_does_not(tmp_path: Path) -> None:
    ask = act("request_info", question="Which?", options=["a", "b"])
    bench = Bench()
    script = [ask, act("echo", word="slow"), finish("too late", evidence=["echo"])]
    profiles = {"task": Profile(seconds=60)}
    async with scripted(tmp_path, script, tools=bench.tools(), profiles=profiles) as bot:
        talk = bot.talk()
        await talk.say("go")
        await talk.heard()
        await bot.pass_time(2 * 3_600, step=600)
        bench.gate.clear()
        await talk.say("a")
        await bench.begun.wait()
        await bot.pass_time(61)
        bench.gate.set()
        await bot.quiet()
        (run,) = await bot.runs()
        assert (run.status, run.reason, run.rounds) == ("stopped", "time", 2)


async def test_a_model_that_never_answers_is_cut_off_at_the_working_time(tmp_path: Path) -> None:
    script = [held(finish("never"), asyncio.Event())]
    async with scripted(tmp_path, script, profiles={"task": Profile(seconds=1)}) as bot:
        run, post = await ended(bot)
    assert (run.status, run.reason) == ("stopped", "time")
    assert "I used the working time of this task." in post.text


def costly(number: int) -> Answer:
    decision = {"thought": "", "action": {"name": "echo", "args": {"word": unlike(number)}}}
    return say(decision, usage=(400, 50))


async def test_a_token_budget_is_told_at_four_fifths_and_asked_for_at_the_end(tmp_path: Path) -> None:
    script = [costly(number) for number in range(3)]
    profiles = {"task": Profile(tokens=1_000)}
    async with scripted(
        tmp_path,
        script,
        otherwise=finish("done", evidence=["echo"]),
        tools=Bench().tools(),
        profiles=profiles,
    ) as bot:
        talk = bot.talk()
        await talk.say("go")
        told, asked = await talk.heard(), await talk.heard()
        await bot.quiet()
        assert (told.kind, told.text) == ("notice", "This task has used 900 of its 1,000 tokens.")
        assert [button.label for button in asked.buttons] == ["Continue", "Stop"]
        assert asked.text.startswith("This task has used 1,350 of its 1,000 tokens. Go on")
        (run,) = await bot.runs()
        assert (run.status, run.reason, len(bot.prompts)) == ("waiting", "budget", 3)
        await talk.press(asked.buttons[0].press.question, 0)
        assert (await talk.heard()).text == "done"


@pytest.mark.parametrize("how", ["stop", "expiry"])
async def test_stop_or_expiry_at_the_budget_ends_the_run_with_its_report(tmp_path: Path, how: str) -> None:
    script = [costly(number) for number in range(3)]
    async with scripted(
        tmp_path, script, tools=Bench().tools(), profiles={"task": Profile(tokens=1_000)}
    ) as bot:
        talk = bot.talk()
        await talk.say("go")
        await talk.heard()
        asked = await talk.heard()
        await bot.quiet()
        if how == "stop":
            await talk.press(asked.buttons[1].press.question, 1)
        else:
            await bot.pass_time(73 * 3_600, step=3_600)
        await bot.quiet()
        (run,) = await bot.runs()
        assert (run.status, run.reason) == ("stopped", "budget")
        assert bot.world.posts[-1].text.startswith("**Stopped (budget).**")


async def test_money_stops_where_prices_are_configured(tmp_path: Path) -> None:
    script = [costly(number) for number in range(3)]
    settings: dict[str, Any] = {
        "tools": Bench().tools(),
        "profiles": {"task": Profile(money=0.001)},
        "prices": {"test-model": Price(tokens_in=1.0, tokens_out=2.0)},
    }
    async with scripted(tmp_path, script, **settings) as bot:
        run, post = await ended(bot)
    assert (run.reason, run.rounds) == ("budget", 2)  # 0.0005 a round
    assert run.cost == pytest.approx(0.001)
    assert "and 0.001 of 0.001 in money" in post.text


async def test_tools_and_instructions_over_the_context_are_one_clear_stop(tmp_path: Path) -> None:
    async with scripted(tmp_path) as bot:
        url = bot.endpoint.url
        model = ModelSection(base_url=url, name="test-model", context_tokens=2_000, max_output_tokens=1_900)
        async with scripted(tmp_path / "small", model=model) as small:
            run, post = await ended(small)
    assert (run.status, run.reason) == ("stopped", "context")
    assert "Raise [model] context_tokens or offer fewer tools" in post.text


async def test_markdown_and_calls_in_what_a_report_quotes_are_inert(tmp_path: Path) -> None:
    plan = [{"goal": "ping <!channel> and ![x](http://e.example/?d=1)", "status": "doing"}]

    def nowhere(number: int) -> Answer:
        args = {"n": number, "x": "**bold** <!here>\n# Title"}
        return say({"thought": "", "plan": plan, "action": {"name": "no`where", "args": args}})

    async with scripted(tmp_path, [nowhere(number) for number in range(5)]) as bot:
        _, post = await ended(bot)
    outside_code = "".join(post.text.split("`")[::2])
    assert post.text.count("`") % 2 == 0
    for mark in ("<!channel>", "<!here>", "![x]", "**bold**", "# Title"):
        assert mark not in outside_code


async def test_a_round_takes_the_same_room_in_the_journal_at_every_age(tmp_path: Path) -> None:
    async with scripted(
        tmp_path, worker, tools=Bench().tools(), profiles={"task": Profile(rounds=60)}
    ) as bot:
        run, _ = await ended(bot)
        sizes: dict[int, int] = {}
        for row in await bot.rows(run.id):
            sizes[row.round] = sizes.get(row.round, 0) + len(json.dumps(dict(row.data)))
    assert run.rounds == 60
    assert max(sizes[number] for number in range(50, 60)) <= 1.1 * max(
        sizes[number] for number in range(5, 15)
    )
