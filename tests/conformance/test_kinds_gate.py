"""One gate below every way to an action, and a consent that is exact: B-39 and B-40, on every platform.

The command line's way, ``ask`` with and without ``--answer``, is in ``tests/cli/test_cli_consent.py``.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from dangers import ADMIN, DONE, LEFT, RESTART, THREE, Ran, ballot, card, ended, entry_of
from endpoint import act, finish
from eyes import read
from kinds import Seam, goal_of, open_questions, presses
from places import CHAT, CONSOLE, with_people
from stages import stage

from hermes_bot.config import Access, Approval, Approvals, Skills

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from endpoint import Answer, Scripted
    from stages import Stage

each_chat = pytest.mark.parametrize("platform", CHAT)
each = pytest.mark.parametrize("platform", [*CHAT, CONSOLE])
NOBODY = Access(channels=THREE.channels, members=THREE.members)
SKILL = "---\nname: bounce\ndescription: Restarts payments.\n---\n"
CHAIN = """
steps:
  - {id: again, tool: restart, args: {service: payments}}
  - {id: told, say: "It is back."}
"""


def _by_child(request: dict[str, Any]) -> Answer:
    """Be the model of a run that hands the restart to a child run, and of that child."""
    is_begun = "[round" in str(request["messages"][-1]["content"])
    if "CHILD" in goal_of(request):
        return finish("The child is done.", evidence=[]) if is_begun else RESTART
    return finish("It is back.", evidence=[]) if is_begun else act("delegate", task="CHILD")


WAYS: dict[str, tuple[str, list[Scripted] | Callable[[dict[str, Any]], Answer]]] = {
    "chat": ("restart payments", [RESTART, DONE]),
    "skill": ("run bounce", []),
    "a model's skill": ("do it", [act("run_skill", name="bounce", params={}), finish("It is back.")]),
    "child": ("restart it by a helper", _by_child),
    "continue": ("go round", [act("now"), act("now"), act("now"), RESTART, DONE]),
}
each_way = pytest.mark.parametrize("way", WAYS)


def on_way(way: str, folder: Path, ran: Ran) -> dict[str, Any]:
    """Return the settings of a bot that is to restart something in one of these ways."""
    own = folder / "skills" / "bounce"
    own.mkdir(parents=True)
    (own / "SKILL.md").write_text(SKILL)
    (own / "chain.yaml").write_text(CHAIN)
    script = WAYS[way][1]
    more = {} if callable(script) else {"otherwise": LEFT}
    return {"script": script, "tools": ran.tools(), "skills": Skills(folders=(own.parent,)), **more}


async def begun(it: Stage, way: str) -> str:
    """Say what begins the work; return its thread once there is nothing left to do without people."""
    thread = await it.mention(WAYS[way][0])
    if way == "continue":
        await it.until(lambda: any("Continue" in post.buttons for post in it.now(thread)))
        await it.settle()
        await it.press(thread, "Continue")
        await it.until(lambda: len(it.endpoint.requests) > 3)
    return thread


@each
@each_way
async def test_on_every_way_the_action_waits_for_a_yes_and_then_runs_once(
    platform: str, way: str, tmp_path: Path
) -> None:
    ran = Ran()
    access: dict[str, Any] = {} if platform == CONSOLE else {"access": THREE}
    async with stage(platform, tmp_path / "state", **on_way(way, tmp_path, ran), **access) as it:
        thread = await begun(it, way)
        await it.until(lambda: any("Approve" in post.buttons for post in it.now(thread)))
        await it.settle()
        assert ran == []
        (asked,) = await open_questions(it)
        assert (await ballot(it, asked.question.id)).tool == "restart"
        await it.press(thread, "Approve", ADMIN)
        await ended(it, thread, "It is back.")
        assert ran == ["payments"]


@each_chat
@each_way
async def test_where_nobody_could_be_asked_nothing_runs_on_any_way(
    platform: str, way: str, tmp_path: Path
) -> None:
    ran = Ran()
    settings = on_way(way, tmp_path, ran)
    async with stage(platform, tmp_path / "state", **settings, access=NOBODY) as it:
        thread = await begun(it, way)
        await it.until(lambda: it.now(thread) and not it.now(thread)[-1].buttons)
        await it.settle()
        assert ran == []
        assert await open_questions(it) == []
        assert not any("Approve" in post.buttons for post in it.now(thread))
        said = " ".join([*it.prompts, *(post.text for post in it.now(thread))])
        assert "restart needs the consent of one operator or admin" in said


@each_chat
async def test_another_argument_needs_a_card_of_its_own(platform: str, tmp_path: Path) -> None:
    ran = Ran()
    script = [RESTART, act("restart", service="payments-db")]
    async with stage(platform, tmp_path, script, tools=ran.tools(), access=THREE, otherwise=LEFT) as it:
        thread, first = await card(it)
        await it.press(thread, "Approve", ADMIN)
        await it.until(lambda: len(it.now(thread)) == 2)
        await it.settle()
        (second,) = await open_questions(it)
        assert second.question.id != first
        assert 'service: "payments-db"' in read(entry_of(it, 1)).words
        assert ran == ["payments"]
        await it.press(thread, "Deny", ADMIN)
        await ended(it, thread, "I left it.")
        assert ran == ["payments"]


@each_chat
async def test_a_yes_is_used_up_by_its_call(platform: str, tmp_path: Path) -> None:
    ran = Ran()
    script = [RESTART, act("now"), RESTART]
    async with stage(platform, tmp_path, script, tools=ran.tools(), access=THREE, otherwise=LEFT) as it:
        thread, first = await card(it)
        await it.press(thread, "Approve", ADMIN)
        await it.until(lambda: len(it.now(thread)) == 2)
        await it.settle()
        assert ran == ["payments"]
        (second,) = await open_questions(it)
        assert second.question.id != first
        assert it.now(thread)[-1].buttons == ("Approve", "Deny")


@each_chat
@pytest.mark.parametrize(
    "now",
    [
        {"access": THREE.model_copy(update={"admins": (), "members": (*THREE.members, *THREE.admins)})},
        {"access": THREE, "approvals": Approvals(default=Approval(approvers=2))},
    ],
    ids=["role gone", "two needed"],
)
async def test_rights_and_terms_are_looked_at_again_when_the_call_would_run(
    platform: str, now: dict[str, Any], tmp_path: Path
) -> None:
    ran, cut = Ran(), asyncio.Event()

    async def forever() -> None:
        cut.set()
        await asyncio.Event().wait()

    seam = Seam("question.answer", after=forever)
    async with with_people(platform) as sim:
        usual: dict[str, Any] = {"sim": sim, "tools": ran.tools(), "otherwise": LEFT}
        async with stage(platform, tmp_path, [RESTART], open_store=seam.open, access=THREE, **usual) as it:
            thread, _ = await card(it)
            action, post = presses(it, thread)["Approve"], it.now(thread)[0].id
            async with asyncio.TaskGroup() as group:
                where = ("C1", post) if platform == "slack" else (-1001, int(post))
                who = it.people[ADMIN] if platform == "slack" else int(it.people[ADMIN])
                pressing = group.create_task(sim.press(who, *where, action))
                await cut.wait()
                pressing.cancel()
        async with stage(platform, tmp_path, **now, **usual) as it:
            await ended(it, thread, "I left it.")
            assert "consent_gone" in it.prompts[0]
            assert ran == []
