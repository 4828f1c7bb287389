"""What people can read of a run afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from endpoint import Answer, act, finish, say
from world import Bench, running, scripted

from hermes_bot.config import Profile
from hermes_bot.store import messages

if TYPE_CHECKING:
    from pathlib import Path


async def test_why_tells_a_chains_parameters_and_steps(tmp_path: Path) -> None:
    async with running(tmp_path) as bot:
        talk = bot.talk()
        await talk.say("why is checkout failing?")
        question = await talk.heard()
        await talk.press(question.buttons[0].press.question, 0)
        await talk.heard()
        why = await talk.say("why")
    assert why
    assert "with service = checkout, since = 2026-11-03T07:15:00Z" in why.text
    assert why.text.index("logs (query_logs): ok") < why.text.index("findings (analyze_logs): ok")


async def test_why_tells_what_a_models_answer_rests_on(tmp_path: Path) -> None:
    script = [act("echo", word="a"), finish("A.", confidence=0.8, evidence=["round 1", "echo"])]
    async with scripted(tmp_path, script, tools=Bench().tools()) as bot:
        talk = bot.talk()
        await talk.say("which letter?")
        await talk.heard()
        why = await talk.say("why")
    assert why
    assert '1. I need echo. `echo {"word":"a"}` → ok' in why.text
    assert why.text.endswith("Evidence: round 1, echo; confidence 0.8")


async def test_why_tells_how_the_task_was_read_and_what_was_decided_beside_the_actions(
    tmp_path: Path,
) -> None:
    def looking(number: int, **beside: object) -> Answer:
        return say({**beside, "action": {"name": "echo", "args": {"word": f"{number}" * number * 9}}})

    look = {"verdict": "continue", "reason": "Round 3 brought the first good line."}
    script = [
        looking(1, goal={"objective": "Find the letter."}),
        *(looking(number) for number in range(2, 5)),
        looking(5, reflection=look),
        finish("A.", evidence=["echo"]),
        say('{"ok": true}'),
    ]
    profiles = {"task": Profile(verify=True)}
    async with scripted(tmp_path, script, tools=Bench().tools(), profiles=profiles) as bot:
        talk = bot.talk()
        await talk.say("which letter?")
        await talk.heard()
        why = await talk.say("why")
    assert why
    assert "- understood as: Find the letter." in why.text
    assert "- looked back: continue: Round 3 brought the first good line." in why.text
    assert "- checked: ok" in why.text


async def test_what_was_chosen_by_a_button_stands_in_the_transcript(tmp_path: Path) -> None:
    async with running(tmp_path) as bot:
        talk = bot.talk()
        await talk.say("why is checkout failing?")
        question = await talk.heard()
        await talk.press(question.buttons[0].press.question, 0, user="u2")
        await talk.heard()
        lines = await bot.app.db.read(lambda db: messages.recent(db, talk.thread, 100_000))
    assert [(line.name, line.text) for line in lines[:1]] == [("u1", "why is checkout failing?")]
    assert [(line.name, line.text) for line in lines[2:3]] == [("u2", "last hour")]
    assert [line.from_bot for line in lines] == [False, True, False, True]
