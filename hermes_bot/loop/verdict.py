"""Knows what a round amounts to: go on, wait for a person, finish, or stop. Pure."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, assert_never

from hermes_bot.closing import write_files
from hermes_bot.decisions import Action, Ask, CallTool, Finish, Malformed
from hermes_bot.fold import apply
from hermes_bot.loop.allowance import within_budget
from hermes_bot.loop.checking import UNCHECKED
from hermes_bot.loop.freshness import as_of_note, rests_on
from hermes_bot.loop.guards import finish_problem, tripped
from hermes_bot.loop.reflection import stop_of
from hermes_bot.markdown import inert
from hermes_bot.state import Question, Row

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from hermes_bot.errors import ModelError
    from hermes_bot.loop.checking import Check
    from hermes_bot.messages import Attachment
    from hermes_bot.state import Goal, RunState, Share

Verdict = tuple[dict[str, Any], str]

RUN_SKILL = "run_skill"
DELEGATE = "delegate"
MAX_OPTIONS = 8
MOST_REFUSALS = 3  # finishes of one run


@dataclass(frozen=True, slots=True)
class Offer:
    """What can go with an answer, of the files that a finish names; ``problem`` says what cannot, and why."""

    files: tuple[Attachment, ...] = ()
    problem: str = ""


NOTHING = Offer()


def judged(
    state: RunState,
    question: Question | None,
    at: datetime,
    offer: Offer = NOTHING,
    shares: Sequence[Share] = (),
    check: Check = UNCHECKED,
) -> tuple[Row, RunState]:
    """Return the judge row of the round at hand, and the state after it.

    ``question`` is what the round's tool needs from a person before it can run; ``shares`` is what is used of
    the budgets that runs share.
    """
    data, status = _wait(question) if question else _of_decision(state, at, offer, check)
    if check.note:
        data["check"] = f"{check.note}: {check.problem}" if check.problem else check.note
    row = Row(state.run, state.round, "judge", at, data, status=status, **_cost(check))
    after = apply(state, row)
    if data["verdict"] not in ("continue", "refuse"):
        return row, after
    if reason := tripped(after):
        final = {**data, "verdict": "stop", "reason": reason}
    else:
        final = within_budget(after, data, shares)
    if final is data:  # most rounds: what was tried is what counts
        return row, after
    row = replace(row, data=final)
    return row, apply(state, row)


def _cost(check: Check) -> dict[str, Any]:
    """Return the row's columns by which a check is booked with the round whose answer it was about."""
    if (answer := check.answer) is None:
        return {}
    tokens = {"tokens_in": answer.tokens_in, "tokens_out": answer.tokens_out}
    return {**tokens, "cost": answer.cost, "latency_ms": answer.latency_ms}


def failure(error: ModelError) -> dict[str, Any]:
    """Return the judge row's data of a run whose model failed."""
    if error.code == "context":
        return {"verdict": "stop", "reason": "context", "say": str(error)}
    return {"verdict": "fail", "reason": f"model:{error.code}", "say": str(error)}


def skill_call(goal: Goal) -> Action:
    """Return the action of a task that named its skill."""
    return Action(RUN_SKILL, {"name": goal.skill, "params": dict(goal.params)})


def _of_decision(state: RunState, at: datetime, offer: Offer, check: Check) -> Verdict:
    decision = state.decision
    if stop_of(state) is not None:
        return {"verdict": "stop", "reason": "reflection"}, "skipped"
    match decision:
        case CallTool():
            return _after_call(state, check)
        case Finish():
            return _finish(state, decision, offer, check, at)
        case Ask():
            return _wait(_question(state, decision))
        case Malformed(problem):
            return {
                "verdict": "refuse",
                "reason": f"Your last output could not be read: {problem}",
            }, "malformed"
        case None:
            raise AssertionError("a round is judged after its decision")
        case _:
            assert_never(decision)


def _after_call(state: RunState, check: Check) -> Verdict:
    came = state.came or {}
    status = str(came.get("status", "error"))
    by_name = state.goal.skill and state.round == 1 and came.get("action") == RUN_SKILL
    if by_name and status in ("ok", "partial") and str(came.get("report") or "").strip():
        # its report is the answer, word for word; its steps are fixed, so that doing it again changes nothing
        data: dict[str, Any] = {"verdict": "finish", "say": came["report"]}
        if came.get("compare"):
            data["compare"] = came["compare"]
        if check.problem:
            data |= {"say": f"{came['report']}\n\n{_found(check)}", "verified": False}
        return data, status
    return {"verdict": "continue"}, status


def _may_refuse(state: RunState) -> bool:
    """Whether a finish may be refused: once, and again where the model went on working since, a few times."""
    return state.has_worked and state.refusals < MOST_REFUSALS


def _finish(state: RunState, finish: Finish, offer: Offer, check: Check, at: datetime) -> Verdict:
    problem = finish_problem(state, finish) or (f"a check found: {check.problem}" if check.problem else "")
    has_rounds_left = state.spent.rounds < state.limits.rounds
    wrong = problem or (offer.problem and f"files: {offer.problem}")
    if wrong and _may_refuse(state) and has_rounds_left:  # in the last round the answer would be lost
        return {"verdict": "refuse", "reason": f"Not accepted: {wrong}"}, "refused"
    data: dict[str, Any] = {"verdict": "finish", "confidence": finish.confidence, "verified": not problem}
    if offer.files:
        data["files"] = write_files(offer.files)
    parts = [finish.answer, f"_Not everything could be attached: {offer.problem}_" if offer.problem else ""]
    if stale := rests_on(state, finish.evidence):
        parts.append(as_of_note(stale, at))
    if check.problem:
        parts.append(_found(check))
    if report := _unsaid_report(state, finish.answer):
        parts.append(f"---\n\n{report}")
    if any(parts[1:]):
        data["say"] = "\n\n".join(part for part in parts if part)
    return data, "ok"


def _found(check: Check) -> str:
    return f"_A check found:_ {inert(check.problem)}"


def _unsaid_report(state: RunState, answer: str) -> str:
    """Return the last chain's report where the answer leaves it out: its quotes come from stored bytes."""
    if not state.reports:
        return ""
    report = state.reports[-1][1]
    return "" if report.strip() in answer else report


def _wait(question: Question) -> Verdict:
    return {"verdict": "park", "question": asdict(question)}, "waiting"


def _question(state: RunState, ask: Ask) -> Question:
    options = ask.options[:MAX_OPTIONS]
    # where there are options, only one of them may become the answer when time is over
    default = next((label for label in options if label.casefold() == ask.default.casefold()), "")
    return Question(
        id=f"q-{state.run}-{state.round}",
        text=ask.question,
        options=options,
        open=not options,
        field=ask.field,
        default=default if options else ask.default,
    )
