"""What a model may do with schedules: propose one, which the asker confirms, and list them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clock import FakeClock
from endpoint import act, finish
from scheduled import MONDAY, OWNER, draft, fired, stored
from world import scripted

from hermes_bot.config import Access, Approval, Approvals, Skills
from hermes_bot.messages import Result
from hermes_bot.tools.declare import tool

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from world import Running

YES, NO = 0, 1
ACCESS = Access(channels=("world:T1:*",), operators=("world:T1:boss",))


def team(folder: Path, *script: Any, **settings: Any) -> AbstractAsyncContextManager[Running]:
    given = {"clock": FakeClock(MONDAY), "access": ACCESS, "bot": {"timezone": "Europe/Berlin"}, **settings}
    return scripted(folder, script, otherwise=finish("done"), **given)


async def test_a_model_s_schedule_is_shown_to_the_asker_and_stored_after_a_yes(tmp_path: Path) -> None:
    propose = act("add_schedule", when="weekdays at 9", task="say hello", name="hello")
    ends = finish("I created it.", evidence=["add_schedule"])
    async with team(tmp_path, propose, ends) as bot:
        talk = bot.talk()
        await talk.say("I would like a hello in the mornings")
        card = await talk.heard()
        assert "**Shall I plan this?** As `hello`:" in card.text
        assert "- **When:** weekdays at 09:00 (Europe/Berlin)" in card.text
        assert "- **Next:** Mon 2 Nov 2026 09:00, Tue" in card.text
        assert await bot.app.schedules.all() == []
        await talk.press(card.buttons[YES].press.question, YES)
        assert (await talk.heard()).text == "I created it."
        one = await stored(bot, "hello")
        assert one is not None
        assert (one.owner, one.origin, one.targets) == (OWNER, "model", ("world/T1/C1",))


async def test_a_no_stores_nothing_and_the_model_learns_of_it(tmp_path: Path) -> None:
    propose = act("add_schedule", when="0 9 * * 1-5", skill="error-digest")
    async with team(tmp_path, propose, propose) as bot:
        talk = bot.talk()
        await talk.say("plan something for the mornings")
        card = await talk.heard()
        await talk.press(card.buttons[NO].press.question, NO)
        assert (await talk.heard()).text == "done"  # the same call again is refused without a card
        assert "said no to exactly this" in bot.prompts[-1]
        assert await bot.app.schedules.all() == []


async def test_what_cannot_be_is_told_to_the_model_and_nobody_is_asked(tmp_path: Path) -> None:
    script = (
        act("add_schedule", when="every blue moon", task="say hello"),
        act("add_schedule", when="0 9 * * 1-5", skill="error-digst"),
        act("add_schedule", when="in 10 minutes", task="say hello"),
        act("add_schedule", when="0 9 * * 1-5", task="say hello", options={"missed": "never"}),
    )
    async with team(tmp_path, *script) as bot:
        talk = bot.talk()
        await talk.say("plan something for the mornings")
        assert (await talk.heard()).text == "done"
        assert "Try one of `weekdays at 9`" in bot.prompts[1]
        assert "Did you mean error-digest?" in bot.prompts[2]
        assert "2026-11-02T07:10:00+00:00" in bot.prompts[3]
        assert "'skip', 'once' or 'all'" in bot.prompts[4]
        assert await bot.app.schedules.all() == []


async def test_after_outside_text_an_operator_must_agree_and_reads_what_it_means(tmp_path: Path) -> None:
    @tool(outside=True, example={"name": "a"})
    async def page(name: str) -> Result:
        """Read a page."""
        return Result("ok", f"{name}: plan a daily task", trust="untrusted")

    propose = act("add_schedule", when="0 9 * * *", task="say hello")
    async with team(tmp_path, act("page", name="p"), propose, tools=[page]) as bot:
        talk = bot.talk()
        await talk.say("read the page and do what it says")
        card = await talk.heard()
        assert [one.label for one in card.buttons] == ["Approve", "Deny"]
        assert "its effect stays, and the task has read text from outside" in card.text
        assert "- **When:** every day at 09:00 (Europe/Berlin)" in card.text
        refused = await talk.press(card.buttons[YES].press.question, YES)
        assert refused is not None
        assert "operators" in refused.text
        assert await bot.app.schedules.all() == []


async def test_a_scheduled_run_makes_no_schedule_and_neither_locks_nor_loops(tmp_path: Path) -> None:
    propose = act("add_schedule", when="* * * * *", task="say hello")
    clock = FakeClock(MONDAY)
    async with team(tmp_path, propose, clock=clock) as bot:
        made = await bot.app.schedules.add(draft("0 9 * * 1-5", text="say hello to everybody"))
        clock.advance(3_600)
        await bot.app.schedules.fire_due(clock.now())
        (post,) = await bot.world.all_posts(1)
        await bot.quiet()
        await bot.app.schedules.tend(clock.now())
        assert "begun by a schedule" in bot.prompts[1]
        assert post.buttons == ()
        assert [one.name for one in await bot.app.schedules.all()] == [made.name]
        (firing,) = await fired(bot, made.name)
        assert firing.state == "done"


async def test_a_part_that_a_scheduled_run_delegates_makes_none_either(tmp_path: Path) -> None:
    script = act("delegate", task="plan a hello"), act("add_schedule", when="* * * * *", task="say hello")
    clock = FakeClock(MONDAY)
    async with team(tmp_path, *script, clock=clock) as bot:
        made = await bot.app.schedules.add(draft("0 9 * * 1-5", text="say hello to everybody"))
        clock.advance(3_600)
        await bot.app.schedules.fire_due(clock.now())
        (post,) = await bot.world.all_posts(1)
        await bot.quiet()
        assert "begun by a schedule" in bot.prompts[2]
        assert post.buttons == ()
        assert [one.name for one in await bot.app.schedules.all()] == [made.name]


async def test_the_operator_s_file_says_who_confirms_or_that_nobody_need(tmp_path: Path) -> None:
    propose = act("add_schedule", when="0 9 * * 1-5", task="say hello", name="hello")
    terms = Approvals(tools={"add_schedule": Approval(role="operator")})
    async with team(tmp_path / "a", propose, approvals=terms) as bot:
        talk = bot.talk()
        await talk.say("plan something for the mornings")
        card = await talk.heard()
        assert "**Who may confirm:** one operator or admin, within 24 h." in card.text
        refused = await talk.press(card.buttons[YES].press.question, YES)
        assert refused is not None
        assert "operators" in refused.text
        await talk.press(card.buttons[YES].press.question, YES, "boss")
        await talk.heard()
        assert [one.owner for one in await bot.app.schedules.all()] == [OWNER]
    terms = Approvals(tools={"add_schedule": Approval(always=True)})
    async with team(tmp_path / "b", propose, approvals=terms) as bot:
        talk = bot.talk()
        await talk.say("plan something for the mornings")
        assert (await talk.heard()).buttons == ()
        assert [one.name for one in await bot.app.schedules.all()] == ["hello"]


async def test_the_words_of_a_schedule_s_task_plan_nothing_when_it_fires(tmp_path: Path) -> None:
    clock = FakeClock(MONDAY)
    async with team(tmp_path, clock=clock) as bot:
        await bot.app.schedules.add(draft("0 9 * * 1-5", text="every day at 9 post the error digest here"))
        clock.advance(3_600)
        await bot.app.schedules.fire_due(clock.now())
        posts = await bot.world.all_posts(1)
        await bot.quiet()
        assert "Shall I plan this?" not in posts[0].text
        assert [one.skill for one in await bot.runs()] == ["error-digest"]


async def test_a_list_holds_what_is_planned_for_this_channel(tmp_path: Path) -> None:
    async with team(tmp_path, act("list_schedules")) as bot:
        await bot.app.schedules.add(draft("0 9 * * 1-5", name="here"))
        await bot.app.schedules.add(draft("0 9 * * 1-5", name="elsewhere", thread="world/T1/G1/1"))
        talk = bot.talk()
        await talk.say("what do you have planned in this channel")
        await talk.heard()
        assert "weekdays at 09:00 (Europe/Berlin)" in bot.prompts[1]
        assert "elsewhere" not in bot.prompts[1]


async def test_a_chain_may_plan_something_and_the_asker_confirms_it(tmp_path: Path) -> None:
    home = tmp_path / "skills" / "plan-digest"
    home.mkdir(parents=True)
    (home / "SKILL.md").write_text("---\nname: plan-digest\ndescription: Plans the digest.\n---\n")
    (home / "chain.yaml").write_text(
        "steps:\n"
        "  - id: planned\n"
        "    tool: add_schedule\n"
        '    args: {when: "0 9 * * 1-5", skill: error-digest}\n'
        "  - id: told\n"
        '    say: "{{ planned.data.say }}"\n'
    )
    skills = Skills(folders=(tmp_path / "skills",))
    async with team(tmp_path / "state", skills=skills) as bot:
        talk = bot.talk()
        await talk.say("run plan-digest", is_command=True)
        card = await talk.heard()
        await talk.press(card.buttons[YES].press.question, YES)
        assert "Created: **error-digest**" in (await talk.heard()).text
        assert await stored(bot, "error-digest") is not None
