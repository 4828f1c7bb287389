"""What runs share of a day's tokens and money is counted as they work: told at 80 %, asked for at 100 %."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from endpoint import Answer, act, finish, held, say
from world import Bench, scripted

from hermes_bot.config import Access, Budgets, Price, Profile, remarks
from hermes_bot.store import spend

if TYPE_CHECKING:
    from pathlib import Path

    from world import Running

ACCESS = Access(channels=("world:T1:*",), operators=("world:T1:boss",))
DONE = finish("done", evidence=["echo"])
PRICED = {"test-model": Price(tokens_in=1_000.0, tokens_out=2_000.0)}  # 0.5 for one of the calls below


def costly(word: str) -> Answer:
    """450 tokens for one call of a tool."""
    decision = {"thought": "", "action": {"name": "echo", "args": {"word": word}}}
    return say(decision, usage=(400, 50))


WORDS = ("alpha", "something else", "1 2 3 4 5 6 7", "and now")


def settings(**budgets: Any) -> dict[str, Any]:
    given = {"budgets": Budgets(**budgets), "access": ACCESS, "tools": Bench().tools(), "otherwise": DONE}
    return {**given, "prices": PRICED}


@pytest.mark.parametrize(
    ("budget", "whose", "told", "asked", "further"),
    [
        ({"user_tokens": 1_000}, "Your", "900 tokens of 1,000", "1,350 tokens of 1,000", "100 tokens"),
        (
            {"channel_tokens": 1_000},
            "This channel's",
            "900 tokens of 1,000",
            "1,350 tokens of 1,000",
            "100 tokens",
        ),
        (
            {"day_tokens": 1_000},
            "The whole team's",
            "900 tokens of 1,000",
            "1,350 tokens of 1,000",
            "100 tokens",
        ),
        ({"user_money": 1.2}, "Your", "1 in money of 1.2", "1.5 in money of 1.2", "0.12 in money"),
        (
            {"channel_money": 1.2},
            "This channel's",
            "1 in money of 1.2",
            "1.5 in money of 1.2",
            "0.12 in money",
        ),
        ({"day_money": 1.2}, "The whole team's", "1 in money of 1.2", "1.5 in money of 1.2", "0.12 in money"),
    ],
)
async def test_a_shared_budget_is_told_after_two_calls_and_asked_for_after_three(
    tmp_path: Path, budget: dict[str, Any], whose: str, told: str, asked: str, further: str
) -> None:
    async with scripted(tmp_path, [costly(word) for word in WORDS], **settings(**budget)) as bot:
        await bot.talk().say("go")
        note, question = await bot.talk().heard(), await bot.talk().heard()
        await bot.quiet()
        assert note.text == f"{whose} budget of today is nearly used up: {told}."
        assert question.text.startswith(f"{whose} budget of today is used up: {asked}.")
        assert f"Let this task use a further {further}?" in question.text
        assert [button.label for button in question.buttons] == ["Continue", "Stop"]
        (run,) = await bot.runs()
        assert (run.status, run.reason, len(bot.prompts)) == ("waiting", "budget", 3)


async def test_only_an_operator_lets_a_run_go_on_and_only_so_far(tmp_path: Path) -> None:
    script = [costly(word) for word in WORDS]
    async with scripted(tmp_path, script, **settings(channel_tokens=1_000)) as bot:
        await bot.talk().say("go")
        await bot.talk().heard()
        button = (await bot.talk().heard()).buttons[0].press.question
        refused = await bot.talk().press(button, 0)
        assert refused is not None
        assert refused.text == "Only operators and admins may let me go on beyond a budget. Ask one of them."
        assert (await bot.runs())[0].status == "waiting"
        await bot.talk().press(button, 0, user="boss")
        again = await bot.talk().heard()  # 1,450 were allowed, 1,800 are used
        assert again.text.startswith("This channel's budget of today is used up: 1,800 tokens of 1,000.")
        await bot.talk().press(again.buttons[0].press.question, 0, user="boss")
        assert (await bot.talk().heard()).text == "done"


@pytest.mark.parametrize("how", ["stop", "expiry"])
async def test_stop_or_expiry_ends_it_with_its_report(tmp_path: Path, how: str) -> None:
    async with scripted(tmp_path, [costly(word) for word in WORDS], **settings(day_tokens=1_000)) as bot:
        await bot.talk().say("go")
        await bot.talk().heard()
        asked = await bot.talk().heard()
        await bot.quiet()
        if how == "stop":
            await bot.talk().press(asked.buttons[1].press.question, 1, user="boss")
        else:
            await bot.pass_time(73 * 3_600, step=3_600)
        await bot.quiet()
        (run,) = await bot.runs()
        assert (run.status, run.reason) == ("stopped", "budget")
        report = bot.world.posts[-1].text
        assert report.startswith("**Stopped (budget).** The whole team's budget of today is used up.")
        assert "Done so far" in report


async def test_what_others_spend_meanwhile_counts(tmp_path: Path) -> None:
    gate = asyncio.Event()

    def mind(asked: dict[str, Any]) -> Answer:
        content = str(asked["messages"][-1]["content"])
        number = int(content.split("This is round ")[1].split(";", maxsplit=1)[0])
        if "second" in content:
            return held(costly("x"), gate) if number == 1 else DONE
        return costly(WORDS[number - 1]) if number < 3 else DONE

    async with scripted(tmp_path, mind, **settings(channel_tokens=1_000)) as bot:
        await bot.talk("2").say("second")
        await bot.until(lambda: len(bot.prompts) == 1)
        await bot.talk("1").say("first")
        assert (await bot.talk("1").heard()).text.startswith(
            "This channel's budget of today is nearly used up"
        )
        assert (await bot.talk("1").heard()).text == "done"  # 915 are used
        gate.set()
        question = await bot.talk("2").heard()
        assert question.text.startswith("This channel's budget of today is used up: 1,365 tokens")


async def test_a_task_on_a_day_that_is_used_up_asks_before_it_costs_anything(tmp_path: Path) -> None:
    async with scripted(tmp_path, **settings(day_tokens=1_000)) as bot:
        await spent(bot, 1_000)
        await bot.talk().say("go")
        asked = await bot.talk().heard()
        await bot.quiet()
        assert asked.text.startswith("The whole team's budget of today is used up: 1,000 tokens of 1,000.")
        assert bot.prompts == []
        await bot.talk().press(asked.buttons[0].press.question, 0, user="boss")
        assert (await bot.talk().heard()).text == "done"


async def test_an_operators_yes_counts_from_when_it_is_given(tmp_path: Path) -> None:
    async with scripted(tmp_path, [costly("alpha")], **settings(day_tokens=1_000)) as bot:
        await spent(bot, 1_000)
        await bot.talk().say("go")
        asked = await bot.talk().heard()
        await spent(bot, 5_000)
        await bot.talk().press(asked.buttons[0].press.question, 0, user="boss")
        again = await bot.talk().heard()
        assert again.text.startswith("The whole team's budget of today is used up: 6,450 tokens")
        assert again.buttons[0].press.question != asked.buttons[0].press.question
        await bot.talk().press(again.buttons[0].press.question, 0, user="boss")
        assert (await bot.talk().heard()).text == "done"


async def test_tomorrow_is_another_day(tmp_path: Path) -> None:
    async with scripted(tmp_path, **settings(day_tokens=1_000)) as bot:
        await spent(bot, 1_000)
        await bot.pass_time(86_400, step=3_600)
        await bot.talk().say("go")
        assert (await bot.talk().heard()).text == "done"


async def test_a_thread_is_told_of_a_budget_once_a_day(tmp_path: Path) -> None:
    def mind(asked: dict[str, Any]) -> Answer:
        return costly("a") if "This is round 1;" in asked["messages"][-1]["content"] else DONE

    async with scripted(tmp_path, mind, **settings(day_tokens=3_000)) as bot:
        await spent(bot, 2_000)
        for _ in range(2):
            await bot.talk().say("go")
            await bot.quiet()
        notes = [post.text for post in bot.world.posts if post.kind == "notice"]
        assert notes == ["The whole team's budget of today is nearly used up: 2,450 tokens of 3,000."]


async def test_a_child_stops_at_a_shared_budget_and_its_parent_asks(tmp_path: Path) -> None:
    def mind(asked: dict[str, Any]) -> Answer:
        content = str(asked["messages"][-1]["content"])
        if "[goal] (asked by u1)\ngo" in content:
            return act("delegate", task="dig") if "This is round 1;" in content else DONE
        return costly(WORDS[int(content.split("This is round ")[1].split(";", maxsplit=1)[0]) - 1])

    async with scripted(tmp_path, mind, **settings(day_tokens=800)) as bot:
        await bot.talk().say("go")
        await bot.until(lambda: any(post.kind == "question" for post in bot.world.posts))
        await bot.quiet()
        assert bot.world.posts[-1].text.startswith("The whole team's budget of today is used up: 915 tokens")
        (run,) = await bot.runs()
        assert (run.status, run.reason) == ("waiting", "budget")
        assert "The whole team's budget of today is used up." in str(
            (await bot.state(run.id)).recent[-1].text
        )


async def test_money_bounds_a_run_of_its_profile_without_a_shared_budget(tmp_path: Path) -> None:
    given = {**settings(), "profiles": {"task": Profile(money=1.0)}}
    async with scripted(tmp_path, [costly(word) for word in WORDS], **given) as bot:
        await bot.talk().say("go")
        asked = await bot.talk().heard()
        used = "900 of its 200,000 tokens and 1 of 1 in money"
        assert asked.text.startswith(f"This task has used {used}. Go on with a fresh allowance?")


async def test_the_command_tells_what_is_used_and_what_the_limits_are(tmp_path: Path) -> None:
    given = {**settings(user_tokens=1_000, channel_money=5.0), "prices": {}}
    async with scripted(tmp_path, [costly("a")], **given) as bot:
        await bot.talk().say("go")
        await bot.talk().heard()
        await bot.quiet()
        told = await bot.talk().say("budget", is_command=True)
        (run,) = await bot.runs()
        assert told is not None
        assert told.text.splitlines() == [
            f"- This thread's last task (`{run.id}`): 465 of its 200,000 tokens",
            "- You today: 465 tokens of 1,000, 0 in money",
            "- This channel today: 465 tokens, 0 in money of 5",
            "- All today: 465 tokens, 0 in money",
            "- No price is known of `test-model`: its calls count as 0 in money.",
        ]
        assert any("There is no [prices.test-model]" in one for one in remarks(bot.app.config))


async def spent(bot: Running, tokens: int) -> None:
    """Have somebody else in another channel have spent so many tokens today."""
    payer = spend.Payer("r0", "world:T1:u9", "world/T1/C9")
    day = bot.clock.now().date()
    await bot.app.db.transact("spend", lambda db: spend.book(db, day, payer, spend.Spent(tokens, 0)))
