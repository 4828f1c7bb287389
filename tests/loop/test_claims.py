"""Claims of effects in an answer are checked against what was recorded."""

from __future__ import annotations

import pytest
from loop.rounds import begun, called

from hermes_bot.decisions import Finish
from hermes_bot.loop.guards import finish_problem, unsupported_claim
from hermes_bot.messages import Result


@pytest.mark.parametrize(
    "answer",
    [
        "I restarted payments.",
        "Done. Restarted payments.",
        "I have sent the report",
        "I've just deployed version 2.3.",
        "I\u2019ve posted it to #ops.",
        "The disk was full, so we have now deleted the old backups.",
        "I successfully rolled back checkout to 1.4.",
        "I created a ticket for the team.",
        "As you asked, I updated the nginx config.",
        "I have already notified the on-call engineer",
    ],
)
def test_a_claim_that_nothing_bears_out_is_found(answer: str) -> None:
    assert unsupported_claim(begun(), answer)


@pytest.mark.parametrize(
    "answer",
    [
        "payments was restarted at 09:12, errors began at 09:13.",
        "Restart payments and watch the error rate.",
        "Restarted pods: 3. Deployed version: 2.3 (09:10).",
        "Findings: dropped connections since 09:12, removed upstream at 09:11.",
        "- deployed checkout 2.3 at 09:10\n- removed the old pool",
        "The config was changed by dana before the incident.",
        "Created at 09:12, updated at 09:40.",
        "I created a summary of the findings below.",
        "I wrote the three causes in order of likelihood.",
        "I added the numbers: 12 in all.",
        "I recommend that the service be restarted.",
        "I could not restart it. I have not sent anything.",
        "Fixed costs rose. Posted speed limits apply.",
        "We see that the deploy dropped connections.",
        "I found that somebody deleted the table at 09:12.",
    ],
)
def test_the_prose_of_a_diagnosis_is_no_claim(answer: str) -> None:
    assert unsupported_claim(begun(), answer) == ""


@pytest.mark.parametrize(
    ("tool", "answer"),
    [
        ("restart_service", "I restarted payments."),
        ("post_message", "I have sent the report."),
        ("write_file", "I created the file report.md."),
        ("ops.kubectl", "I restarted payments."),
    ],
)
def test_a_recorded_effect_bears_a_claim_out(tool: str, answer: str) -> None:
    state = called(begun(), tool, {"x": 1}, Result("ok", "done"), effect=True)
    assert unsupported_claim(state, answer) == ""


@pytest.mark.parametrize(
    "answer",
    [
        "I will look into it and report back.",
        "Sure! I'll check the logs first.",
        "Let me take a look at the dashboard.",
        "Ich werde das prüfen und melde mich.",
        "我会先查看日志。",
        "好的 我先查一下。",
    ],
)
def test_a_promise_of_work_is_no_answer(answer: str) -> None:
    assert "nothing happens after a finish" in finish_problem(begun(), Finish(answer, 0.9))


@pytest.mark.parametrize(
    "answer",
    [
        "I will not restart it without your consent.",
        "Let me know whether to go on.",
        "The disk is full. I will look at it again once you have cleaned up.",
        "会说中文和英文。",
    ],
)
def test_an_answer_that_only_speaks_of_later_is_one(answer: str) -> None:
    assert finish_problem(begun(), Finish(answer, 0.9)) == ""


def test_a_round_that_is_none_is_no_evidence_even_where_none_is_needed() -> None:
    assert "no such round" in finish_problem(begun(), Finish("All is well.", 0.9, ("round 8",)))
    assert finish_problem(begun(), Finish("Two and two is four.", 0.9, ("arithmetic",))) == ""


def test_what_was_arranged_for_later_may_be_said() -> None:
    state = called(begun(), "add_schedule", {"x": 1}, Result("ok", "done"), effect=True)
    assert finish_problem(state, Finish("I will report back at nine.", 0.9, ("round 1",))) == ""


@pytest.mark.parametrize("tool", ["close_ticket", "refund", "book_room", "post_message", "scale"])
def test_an_effect_of_another_kind_bears_nothing_out(tool: str) -> None:
    state = called(begun(), tool, {"x": 1}, Result("ok", "done"), effect=True)
    assert unsupported_claim(state, "Done: I restarted the service.")


@pytest.mark.parametrize("status", ["error", "unknown", "denied"])
def test_an_effect_that_failed_or_is_not_known_bears_nothing_out(status: str) -> None:
    state = called(begun(), "restart_service", {}, Result(status), effect=True)  # type: ignore[arg-type]
    assert unsupported_claim(state, "I restarted payments.")


def test_another_effect_does_not_bear_a_claim_out() -> None:
    state = called(begun(), "write_file", {}, Result("ok", "x"), effect=True)
    assert unsupported_claim(state, "I restarted payments.")
