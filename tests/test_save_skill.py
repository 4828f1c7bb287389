"""A finished run becomes a skill: drafted, shown, agreed to, and active without a restart."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import yaml
from clock import FakeClock
from endpoint import act, finish
from world import Running, scripted

from hermes_bot.config import Access, Skills
from hermes_bot.messages import Result
from hermes_bot.store import skillstates
from hermes_bot.tools.declare import Tool, tool

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from hermes_bot.messages import Outgoing

ACCESS = Access(channels=("world:T1:*",), operators=("world:T1:boss",))
YES, NO = 0, 1


class Desk(list[str]):
    """Tickets that are opened and told of."""

    def tools(self) -> tuple[Tool, ...]:
        @tool(example={"service": "a"})
        async def look(service: str) -> Result:
            """Look at a service."""
            if service == "nothing":
                return Result("error")
            return Result("ok", {"owner": f"team-{service}", "errors": 37})

        @tool(risk="write", example={"title": "a", "owner": "b"})
        async def open_ticket(title: str, owner: str, severity: str = "") -> Result:
            """Open a ticket."""
            self.append(f"{title} for {owner} {severity}".strip())
            return Result("ok", {"id": f"T-{100 + len(self)}"})

        @tool(risk="write", example={"text": "a"})
        async def tell(text: str) -> str:
            """Tell the people on duty."""
            self.append(text)
            return "told"

        return look, open_ticket, tell


SCRIPT = (
    act("look", service="nothing"),
    act("look", service="checkout"),
    act("request_info", question="How severe is it?", options=["high", "low"]),
    act("open_ticket", title="checkout is failing", owner="team-checkout", severity="high"),
    act("tell", text="See T-101 about {{ checkout }}"),
    act("look", service="checkout"),
    finish("# Ticket for checkout\nOpened T-101.", evidence=["open_ticket"]),
)


@asynccontextmanager
async def done(tmp_path: Path, desk: Desk, **settings: Any) -> AsyncIterator[Running]:
    """Run the bot, with one finished run in its thread."""
    given = {"access": ACCESS, "tools": desk.tools(), "otherwise": finish("x", evidence=["look"]), **settings}
    async with scripted(tmp_path, SCRIPT, **given) as bot:
        await bot.talk().say("Open a ticket for checkout")
        asked = await bot.talk().heard()
        await bot.talk().press(asked.buttons[0].press.question, 0)
        assert "Opened T-101" in (await bot.talk().heard()).text
        await bot.quiet()
        yield bot


async def asked_for(bot: Running, name: str = "ticket", run: str = "") -> Outgoing:
    await bot.talk().say(f"save-skill {name} {run}".strip(), is_command=True)
    return await bot.talk().heard()


async def test_a_run_is_drafted_shown_agreed_to_and_runs_again_without_a_restart(tmp_path: Path) -> None:
    desk = Desk()
    async with done(tmp_path, desk) as bot:
        (run,) = await bot.runs()
        asked = len(bot.prompts)
        card = await asked_for(bot)
        assert [button.label for button in card.buttons] == ["Approve", "Deny"]
        assert all(word in card.text for word in ("save_skill", "chain.yaml", "SKILL.md"))
        files = {file.name: file.text for file in card.files}
        chain = yaml.safe_load(files["chain.yaml"])
        assert {name: one["ask"] for name, one in chain["parameters"].items()} == {
            "service": "Which service?",
            "severity": "How severe is it?",
        }
        steps = [(step["id"], step["tool"], step["args"]) for step in chain["steps"]]
        assert steps == [
            ("look", "look", {"service": "{{ service }}"}),
            (
                "open_ticket",
                "open_ticket",
                {
                    "title": "{{ service }} is failing",
                    "owner": "{{ look.data.owner }}",
                    "severity": "{{ severity }}",
                },
            ),
            (
                "tell",
                "tell",
                {"text": "See {{ open_ticket.data.id }}{% raw %} about {{ {% endraw %}{{ service }} }}"},
            ),
            ("look_2", "look", {"service": "{{ service }}"}),
        ]
        assert not (tmp_path / "skills").exists()
        assert "ticket" not in [one.name for one in bot.app.registry.skills]
        listed = await bot.talk("2").say("skills", is_command=True)
        assert listed is not None
        assert f"ticket: a draft of run `{run.id}`" in listed.text

        await bot.talk().press(card.buttons[YES].press.question, YES, user="boss")
        said = (await bot.talk().heard()).text
        assert said.startswith("The skill **ticket** is saved and active: `run ticket`.")
        assert "`look` of round 1: it ended with error" in said
        assert "The example" not in said  # tried in the same place, by the same rights, it went well
        assert len(bot.prompts) == asked  # no model was asked
        listed = await bot.talk("2").say("skills", is_command=True)
        assert listed is not None
        assert f"_(saved from run `{run.id}`)_" in listed.text

        await bot.talk("3").say('run ticket service=payments severity="low"', is_command=True)
        report = await bot.talk("3").heard()
        assert desk[-2:] == ["payments is failing for team-payments low", "See T-103 about {{ payments }}"]
        assert "T-103" in report.text


async def test_a_draft_that_is_denied_or_that_nobody_answers_is_never_active(tmp_path: Path) -> None:
    async with done(tmp_path, Desk()) as bot:
        card = await asked_for(bot)
        refused = await bot.talk().press(card.buttons[YES].press.question, YES)
        assert refused is not None
        assert "Only operators" in refused.text
        await bot.talk().press(card.buttons[NO].press.question, NO, user="boss")
        assert (await bot.talk().heard()).text.startswith("The skill ticket was not saved: boss said no")
        await asked_for(bot, "other")
        await bot.quiet()
        await bot.pass_time(25 * 3_600, step=1_800)
        await bot.quiet()
        assert bot.world.posts[-1].text.startswith("**Stopped (unanswered).**")
        await bot.pass_time(3 * 86_400, step=3_600)
        assert await bot.app.db.read(skillstates.list_all) == []  # drafts are swept
        assert not (tmp_path / "skills").exists()


async def test_a_skill_that_is_there_is_never_overwritten(tmp_path: Path) -> None:
    own = tmp_path / "mine" / "ticket"
    own.mkdir(parents=True)
    (own / "SKILL.md").write_text("---\nname: ticket\ndescription: Mine.\n---\nMine.\n")
    left = tmp_path / "state" / "skills" / "left"
    left.mkdir(parents=True)
    (left / "notes.txt").write_text("mine")
    skills = Skills(folders=(tmp_path / "mine",))
    async with done(tmp_path / "state", Desk(), skills=skills) as bot:
        assert "There is a skill ticket already" in (await asked_for(bot)).text
        assert "There is a skill left already" in (await asked_for(bot, "left")).text
        assert "There is a skill save-skill already" in (await asked_for(bot, "save-skill")).text
        assert "is no skill name" in (await asked_for(bot, "No_Name")).text
    assert [one.name for one in left.iterdir()] == ["notes.txt"]
    assert (own / "SKILL.md").read_text().endswith("Mine.\n")


async def test_what_came_into_the_folder_after_the_yes_was_asked_for_stays(tmp_path: Path) -> None:
    async with done(tmp_path, Desk()) as bot:
        card = await asked_for(bot)
        mine = tmp_path / "skills" / "ticket"
        mine.mkdir(parents=True)
        (mine / "SKILL.md").write_text("mine")
        await bot.talk().press(card.buttons[YES].press.question, YES, user="boss")
        assert "There is a folder ticket among the saved skills already" in (await bot.talk().heard()).text
        assert (mine / "SKILL.md").read_text() == "mine"


async def test_a_saved_skill_is_there_after_a_restart(tmp_path: Path) -> None:
    desk = Desk()
    async with done(tmp_path, desk) as bot:
        card = await asked_for(bot)
        await bot.talk().press(card.buttons[YES].press.question, YES, user="boss")
        await bot.talk().heard()
    async with scripted(tmp_path, tools=desk.tools(), access=ACCESS, clock=FakeClock()) as bot:
        assert bot.app.registry.find("ticket").chain is not None


async def test_what_not_everybody_may_read_becomes_no_skill(tmp_path: Path) -> None:
    @tool(private=True, example={"name": "a"})
    async def ledger(name: str) -> str:
        """Read the team's ledger."""
        return f"{name} owes 7"

    script = [act("ledger", name="ada")]
    done = finish("Read it.", evidence=["ledger"])
    async with scripted(tmp_path, script, otherwise=done, access=ACCESS, tools=[ledger]) as bot:
        await bot.talk().say("What does ada owe?")
        await bot.talk().heard()
        await bot.quiet()
        assert "knows what not everybody may read" in (await asked_for(bot)).text
        assert await bot.app.db.read(skillstates.list_all) == []


async def test_a_crash_between_folder_and_row_saves_once(tmp_path: Path) -> None:
    desk = Desk()
    async with done(tmp_path, desk) as bot:
        card = await asked_for(bot)
        real = bot.app.db.transact
        dead = asyncio.Event()

        async def transact(name: str, work: Any) -> Any:
            if name == "skill.saved":
                dead.set()
                await asyncio.Event().wait()
            return await real(name, work)

        bot.app.db.transact = transact  # type: ignore[method-assign]
        await bot.talk().press(card.buttons[YES].press.question, YES, user="boss")
        await dead.wait()
    async with scripted(tmp_path, tools=desk.tools(), access=ACCESS) as bot:
        assert (await bot.talk().heard()).text.startswith("The skill **ticket** is saved and active")
        (saved,) = await bot.app.db.read(skillstates.list_all)
        assert saved.state == "saved"


async def test_without_a_run_that_can_become_one_it_says_so(tmp_path: Path) -> None:
    async with scripted(tmp_path, otherwise=finish("hello"), access=ACCESS) as bot:
        none = await bot.talk().say("save-skill ticket", is_command=True)
        assert none is not None
        assert none.text.startswith("There is no finished run here")
        await bot.talk().say("say hello")
        await bot.talk().heard()
        await bot.quiet()
        assert "called no tool that a chain could call again" in (await asked_for(bot)).text
        unnamed = await bot.talk().say("save-skill", is_command=True)
        assert unnamed is not None
        assert "save-skill NAME" in unnamed.text
