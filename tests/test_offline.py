"""Without a model the bot picks skills by their words, hands on reports word for word, and is honest."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.decisions import CallTool, Finish, decide
from hermes_bot.errors import ModelError
from hermes_bot.messages import ThreadKey
from hermes_bot.offline import OfflineModel, SkillCard, match_skill
from hermes_bot.ports import Prompt
from hermes_bot.state import Goal, Limits, Round, RunState

LOGS = SkillCard(
    "log-diagnosis",
    "Finds out from a service's logs why it is failing, slow, broken or down.",
    (
        "why is checkout failing?",
        "diagnose the logs",
        "errors in the last 30 minutes?",
        "what is wrong with checkout?",
    ),
)
WEEK = SkillCard(
    "weekly-report", "Sums up the week: deploys and incidents, with a chart.", ("make the weekly report",)
)
CARDS = (LOGS, WEEK)
SERVICES = ("checkout", "auth", "nginx-edge")
DECIDING = Prompt(messages=b"[]", schema=b"{}")


def state(text: str, **more: Any) -> RunState:
    return RunState("r1", ThreadKey("t", "w", "c", "1"), "u1", Goal(text), Limits(), **more)


def round_of(status: str, summary: str = "") -> Round:
    return Round(1, "", 'run_skill {"name":"log-diagnosis"}', "h", status, "text", summary)


async def decision(of: RunState, cards: tuple[SkillCard, ...] = CARDS) -> CallTool | Finish:
    model = OfflineModel(lambda: cards, lambda: SERVICES)
    completion = await model.complete(DECIDING, of)
    made = decide(completion.text)
    assert isinstance(made, CallTool | Finish)
    return made


async def answer(text: str, cards: tuple[SkillCard, ...] = CARDS) -> str:
    made = await decision(state(text), cards)
    assert isinstance(made, Finish), made
    return made.answer


@pytest.mark.parametrize(
    "text",
    [
        "why is checkout failing?",
        "Diagnose the logs",
        "errors in the last 30 minutes?",
        "diagnose checkout last 30 min",
        "diagnose chekout last hour",
        "diagnose billing last hour",
        "why is payments slow?",
        "what's wrong with nginx-edge",
    ],
)
async def test_a_text_that_calls_a_skill_runs_it_and_leaves_its_parameters_to_the_chain(text: str) -> None:
    made = await decision(state(text))
    assert isinstance(made, CallTool)
    assert (made.action.name, made.action.args) == ("run_skill", {"name": "log-diagnosis", "params": {}})


@pytest.mark.parametrize("cards", [CARDS, (LOGS,)])
@pytest.mark.parametrize(
    "text",
    [
        "what is the capital of France?",
        "write a poem about errors",
        "why is the sky blue?",
        "what time is it?",
        "restart checkout",
        "and last month?",
        "…",
    ],
)
async def test_a_free_question_gets_an_honest_answer(text: str, cards: tuple[SkillCard, ...]) -> None:
    said = await answer(text, cards)
    assert said.startswith("I need a model for that")
    assert "log-diagnosis" in said


@pytest.mark.parametrize(
    "text", ["help", "Help!", "What can you do?", "hi", "Hello there", "list skills", "skills?"]
)
async def test_help_lists_and_greetings_are_answered_from_the_registry(text: str) -> None:
    said = await answer(text)
    assert "log-diagnosis" in said
    assert "weekly-report" in said


async def test_thanks_are_taken() -> None:
    assert await answer("thanks a lot!") == "You are welcome."


async def test_without_a_skill_nothing_is_promised() -> None:
    assert "there are no skills" in await answer("help", ())
    assert await answer("why is checkout failing?", ()) == (
        "I need a model for that, and none is set (section `[model]` in hermes.toml)."
    )


async def test_a_named_skill_is_run_with_its_parameters() -> None:
    goal = Goal("go", skill="weekly-report", params={"week": "44"})
    made = await decision(replace(state("go"), goal=goal))
    assert isinstance(made, CallTool)
    assert made.action.args == {"name": "weekly-report", "params": {"week": "44"}}


async def test_a_report_is_handed_on_word_for_word_with_its_round() -> None:
    report = "**Down** since 9:00.\n\n```text\n{{ 7*7 }}\n```"
    made = await decision(state("why?", recent=(round_of("ok"),), reports=((1, report),)))
    assert isinstance(made, Finish)
    assert (made.answer, made.confidence, made.evidence) == (report, 0.9, ("round 1",))


async def test_a_failed_skill_is_an_honest_failure() -> None:
    failed = state(
        "why?", recent=(round_of("error", "not_found: log-diagnosis stopped at step logs: no file."),)
    )
    with pytest.raises(ModelError, match="log-diagnosis stopped at step logs: no file") as caught:
        await decision(failed)
    assert (caught.value.code, caught.value.retryable) == ("offline", False)


async def test_a_text_cannot_be_written_without_a_model() -> None:
    with pytest.raises(ModelError) as caught:
        await OfflineModel(lambda: CARDS).complete(Prompt(messages=b"[]"), state("go"))
    assert caught.value.code == "offline"


async def test_the_same_state_gets_the_same_decision() -> None:
    model = OfflineModel(lambda: CARDS)
    first, again = [await model.complete(DECIDING, state("diagnose the logs")) for _ in range(2)]
    assert first == again
    assert json.loads(first.text)["action"]["name"] == "run_skill"


def test_the_better_fit_wins() -> None:
    found = match_skill("make the weekly report with a chart", CARDS)
    assert found is not None
    assert found[0] == "weekly-report"


def test_a_threshold_of_one_is_the_border() -> None:
    assert match_skill("errors", CARDS) is not None
    assert match_skill("errors", CARDS, threshold=50) is None


@given(st.text(max_size=300))
def test_any_text_is_scored(text: str) -> None:
    found = match_skill(text, CARDS, known=SERVICES)
    assert found is None or found[1] >= 1
