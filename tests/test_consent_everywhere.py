"""Consent is the same on a card, in the audit, for a delegated run and for a step of a skill."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from endpoint import act, finish
from world import scripted

from hermes_bot.config import Skills
from hermes_bot.store import audit

if TYPE_CHECKING:
    from pathlib import Path

from agreeing import NO, PEOPLE, YES, Ran, bot, card_of


async def test_a_card_shows_long_arguments_shortened_with_the_whole_beside_it(tmp_path: Path) -> None:
    ran = Ran()
    why = "a" * 4_000 + "MIDDLE" + "b" * 4_000
    async with bot(tmp_path, ran, act("restart", service="payments", why=why)) as it:
        talk = it.talk()
        await talk.say("restart payments")
        card, _ = await card_of(it, talk)
        assert "of 8,006 characters" in card.text
        assert "MIDDLE" not in card.text
        (whole,) = card.files
        assert why in whole.text


async def test_no_sign_on_a_card_closes_its_block_or_hides_or_turns_what_will_run(tmp_path: Path) -> None:
    ran = Ran()
    sly = "`a` *b* _c_ <d> ``` \u202etxt.exe\u2066\u200b\U000e0041 <@U2>"
    async with bot(tmp_path, ran, act("restart", service="payments", why=sly)) as it:
        talk = it.talk()
        await talk.say("restart payments")
        card, _ = await card_of(it, talk)
        assert 'why: "`a` *b* _c_ <d> ``` \\u{202e}txt.exe\\u{2066}\\u{200b}\\u{e0041} <@U2>"' in card.text
        assert "\n````\n" in card.text


async def test_each_step_of_a_consent_leaves_an_audit_row_without_contents(tmp_path: Path) -> None:
    ran = Ran()
    script = (act("restart", service="payments", why="WORDS"), finish("back", evidence=["restart"]))
    async with bot(tmp_path, ran, *script) as it:
        talk = it.talk()
        await talk.say("restart payments")
        _, asked = await card_of(it, talk)
        await talk.press(asked, YES, "op")
        await talk.heard()
        rows = (await it.app.db.read(lambda db: audit.list_rows(db, 10)))[::-1]
        said = [(row.entry.actor, row.entry.verb, row.entry.object, row.entry.outcome) for row in rows]
        assert said == [
            ("world:T1:u1", "approval.ask", "restart", "asked"),
            ("world:T1:op", "approval.approve", "restart", "done"),
            ("world:T1:u1", "tool.run", "restart", "done"),
        ]
        assert "rule=danger" in rows[0].entry.detail
        assert not any("WORDS" in row.entry.detail for row in rows)


def delegating(name: str, **args: Any) -> Any:
    """Return what a model says that hands a call to a child run, and the child then makes it."""

    def answer(request: dict[str, Any]) -> Any:
        text = str(request["messages"][-1]["content"])
        if "CHILD" not in text.split("[goal]", 1)[1].split("[round", 1)[0]:
            return finish("all done", evidence=[]) if "[round" in text else act("delegate", task="CHILD")
        return finish("child done", evidence=[]) if "[round" in text else act(name, **args)

    return answer


async def test_a_delegated_run_asks_in_its_parents_name_and_a_yes_is_for_its_call(tmp_path: Path) -> None:
    ran = Ran()
    mind = delegating("restart", service="payments")
    async with scripted(tmp_path, mind, access=PEOPLE, tools=ran.tools()) as it:
        talk = it.talk()
        await talk.say("restart it by a helper")
        card, asked = await card_of(it, talk)
        assert "payments" in card.text
        assert ran == []
        await talk.press(asked, YES, "op")
        assert "all done" in (await talk.heard()).text
        assert ran == ["payments"]


async def test_a_delegated_run_is_marked_by_what_its_parent_read(tmp_path: Path) -> None:
    ran = Ran()
    child = delegating("mail", to="all", text="prices doubled")

    def mind(request: dict[str, Any]) -> Any:
        text = str(request["messages"][-1]["content"])
        return (
            act("page", page="1") if "[round" not in text and "CHILD" not in text else _later(text, request)
        )

    def _later(text: str, request: dict[str, Any]) -> Any:
        if "CHILD" in text or "[round 2]" in text:
            return child(request)
        return act("delegate", task="CHILD")

    async with scripted(tmp_path, mind, access=PEOPLE, tools=ran.tools()) as it:
        talk = it.talk()
        await talk.say("summarise the page")
        await card_of(it, talk)
        assert ran == ["page 1"]


CHAIN = """
description: Restarts a service after a look at a page.
steps:
  - id: look
    tool: page
    args: {page: "7"}
  - id: again
    tool: restart
    args: {service: payments}
  - id: done
    say: "restarted"
"""


async def test_a_step_of_a_skill_waits_too_and_what_ran_before_it_runs_once(tmp_path: Path) -> None:
    ran = Ran()
    folder = tmp_path / "skills" / "bounce"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: bounce\ndescription: Restarts payments.\n---\n")
    (folder / "chain.yaml").write_text(CHAIN.split("\n", 2)[2])
    skills = Skills(folders=(tmp_path / "skills",))
    state = tmp_path / "state"
    async with bot(state, ran, skills=skills) as it:
        talk = it.talk()
        await talk.say("run bounce")
        _, asked = await card_of(it, talk)
        assert ran == ["page 7"]
        await talk.press(asked, YES, "op")
        assert "restarted" in (await talk.heard()).text
        assert ran == ["page 7", "payments"]


async def test_a_no_to_a_step_stops_the_skill_and_is_said(tmp_path: Path) -> None:
    ran = Ran()
    folder = tmp_path / "skills" / "bounce"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: bounce\ndescription: Restarts payments.\n---\n")
    (folder / "chain.yaml").write_text(CHAIN.split("\n", 2)[2])
    skills = Skills(folders=(tmp_path / "skills",))
    async with bot(tmp_path / "state", ran, finish("It was refused.", evidence=[]), skills=skills) as it:
        talk = it.talk()
        await talk.say("run bounce")
        _, asked = await card_of(it, talk)
        await talk.press(asked, NO, "op")
        await talk.heard()
        assert ran == ["page 7"]
        assert "op said no" in it.prompts[0]
