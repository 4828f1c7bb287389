"""Knows the order of a round: observe, reason, act, absorb, judge; asks ports, decides nothing itself."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from hermes_bot.decisions import SLOW_BYTES, CallTool, Finish, Malformed
from hermes_bot.errors import ModelError
from hermes_bot.loop import checking, remarks
from hermes_bot.loop.absorb import absorb
from hermes_bot.loop.allowance import exhausted, over_share
from hermes_bot.loop.context import build
from hermes_bot.loop.freshness import age_of
from hermes_bot.loop.guards import may_not_run, same_calls
from hermes_bot.loop.observed import told_by
from hermes_bot.loop.pen import Pen
from hermes_bot.loop.planning import is_outside
from hermes_bot.loop.reflection import stop_of
from hermes_bot.loop.verdict import NOTHING, Offer, failure, judged, skill_call
from hermes_bot.messages import Result, failed
from hermes_bot.ports import Prepared, ToolContext
from hermes_bot.state import Question
from hermes_bot.written import write_decision

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from hermes_bot.decisions import Action, Decision
    from hermes_bot.loop.checking import Check
    from hermes_bot.loop.context import Built, Frame
    from hermes_bot.loop.desk import Desk
    from hermes_bot.ports import Completion, Prior, Prompt
    from hermes_bot.state import RunState


NOT_KNOWN = failed(
    "unknown",
    "The program stopped while this ran, so whether it happened is not known. It is not run again: verify it "
    "with a read, or ask a person.",
    status="unknown",
)


async def carry(state: RunState, desk: Desk) -> RunState:
    """Carry a run forward until it finishes, waits for a person, or a guard stops it.

    What a round decided is committed before its tool runs, what came back after it, so a run whose process
    died goes on from the fold of its journal: nothing decided is asked again, nothing done is done again.

    Raises:
        RunOver: someone ended the run meanwhile.
        StoreError: a step could not be stored; the run goes on from the last one that was.
    """
    pen = Pen(state, desk)
    while pen.state.is_running and not desk.is_closing():
        question = None
        try:
            if pen.state.decision is None:
                if over := exhausted(pen.state, pen.shares()):
                    pen.write("judge", over_share(pen.state, over))
                    await pen.commit()
                    continue
                await reason(pen, desk)
            if isinstance(pen.state.decision, CallTool) and _may_act(pen.state):
                question = await act(pen, pen.state.decision.action, desk)
            judge(pen, question, await _offered(pen.state, desk), await _checked(pen, desk))
        except ModelError as error:
            pen.write("judge", failure(error))
        except TimeoutError:
            pen.write("judge", {"verdict": "stop", "reason": "time"})
        await pen.commit()
    return pen.state


def _may_act(state: RunState) -> bool:
    return state.came is None and stop_of(state) is None


async def reason(pen: Pen, desk: Desk) -> None:
    """Observe and decide: take in what people added, build the prompt, ask the model, read its answer."""
    for note in pen.added():
        added = {"user": note.user, "name": note.name, "text": note.text, "message": note.message}
        pen.write("person", {**added, "outside": note.outside} if note.outside else added)
    before, at, number = pen.state, pen.moment(), pen.state.round + 1
    if number == 1 and before.goal.skill:  # a skill called by name needs no model to choose it
        pen.write("observe", {}, at=at, round=number)
        pen.write("reason", {"decision": write_decision(CallTool(skill_call(before.goal)))})
        return
    try:
        answered = await _decide(before, at, desk, pen.frame)
    except ModelError as error:
        if error.code != "overflow":
            raise
        # the endpoint's limit is lower than configured: from here on this run's prompts are half the size
        pen.frame = replace(pen.frame, context_tokens=pen.frame.context_tokens // 2)
        answered = await _decide(before, at, desk, pen.frame)
    built, data, answers = answered
    pen.keep_prefix(built.prefix_hash, built.prefix)
    due = remarks.due(before)
    pen.write("observe", _reference(built) | ({"due": due} if due else {}), at=at, round=number)
    pen.write("reason", data, **_usage(answers))


async def _decide(
    state: RunState, at: datetime, desk: Desk, frame: Frame
) -> tuple[Built, dict[str, Any], list[Completion]]:
    """Ask the model; once more in the same round, told what was wrong, where its answer is unreadable."""
    cards = desk.tools.cards(state)
    built = build(state, cards, at, frame)
    answer, decision = await _ask(built.prompt, state, desk)
    answers, data = [answer], {"model": answer.model}
    if isinstance(decision, Malformed):
        data["regenerated"] = decision.problem
        again = build(state, cards, at, frame, problem=decision.problem)
        with suppress(ModelError):  # the first answer is paid for and stands; the next round asks again
            answer, decision = await _ask(again.prompt, state, desk)
            answers.append(answer)
    decision, beside = remarks.counted(state, decision)
    return built, {**data, **beside, "decision": write_decision(decision)}, answers


async def _ask(prompt: Prompt, state: RunState, desk: Desk) -> tuple[Completion, Decision]:
    async with asyncio.timeout(_seconds_left(state)):
        answer = await desk.model.complete(prompt, state)
    read = partial(desk.read, answer.text, finish_reason=answer.finish_reason, calls=answer.calls)
    if len(answer.text) > SLOW_BYTES:  # repairing it may take longer than other threads should wait
        return answer, await asyncio.to_thread(read)
    return answer, read()


def _seconds_left(state: RunState) -> float:
    return max(1.0, state.limits.seconds - state.spent.worked_ms / 1000)


def _usage(answers: Sequence[Completion]) -> dict[str, Any]:
    return {
        "tokens_in": sum(answer.tokens_in for answer in answers),
        "tokens_out": sum(answer.tokens_out for answer in answers),
        "cost": sum(answer.cost for answer in answers),
        "latency_ms": sum(answer.latency_ms for answer in answers),
    }


async def act(pen: Pen, action: Action, desk: Desk) -> Question | None:
    """Run the decided tool once, whatever died before, and absorb what came back; or say what it asks."""
    prepared = desk.tools.prepare(action, pen.state)
    if isinstance(prepared, Result):
        _absorb(pen, action, prepared)
        return None
    if may_not_run(pen.state, prepared.action):
        rounds = ", ".join(str(number) for number in same_calls(pen.state, prepared.action))
        _absorb(pen, prepared.action, failed("repetition", f"Not run: the same call as in rounds {rounds}."))
        return None
    if prepared.asks is not None:
        return prepared.asks
    prior = await _begin(pen, prepared)
    came = await _run(pen, prepared, prior, desk)
    if isinstance(came, Question):
        if prepared.key:
            pen.take_back(prepared)
        return came
    if prepared.key:
        pen.settle(prepared.key, came)
    _absorb(pen, prepared.action, came, prepared, is_new=prior is None or prior.result is None)
    return None


async def _run(pen: Pen, prepared: Prepared, prior: Prior | None, desk: Desk) -> Result | Question:
    """Run the tool, unless the ledger holds what came of it or nobody knows whether it ran."""
    pen.show(prepared.action.name)
    context = ToolContext(pen.state, pen, desk.clock, desk.model, desk.workspace, prepared.key)
    if prior is not None:
        stored = prior.result and replace(prior.result, duration_ms=0)
        return stored or await desk.tools.reconcile(prepared, context) or NOT_KNOWN
    before = pen.state.used.worked_ms
    timed = replace(prepared, timeout=min(prepared.timeout, _seconds_left(pen.state)))
    came = await desk.tools.run(timed, context)
    if isinstance(came, Question):
        return came
    told = pen.state.used.worked_ms - before  # a chain's steps have told their time themselves
    return replace(came, duration_ms=max(0, came.duration_ms - told))


async def _offered(state: RunState, desk: Desk) -> Offer:
    decision = state.decision
    if isinstance(decision, Finish) and decision.files:
        return await desk.offer(desk.workspace, decision.files)
    return NOTHING


async def _checked(pen: Pen, desk: Desk) -> Check:
    """Have the answer at hand checked, where its profile asks for that; a checker that fails is none."""
    text = checking.text_to_check(pen.state)
    if not text:
        return checking.UNCHECKED
    await pen.commit()  # the answer is decided and paid for, whatever dies while it is checked
    pen.show("checking the answer")
    prompt = checking.prompt_of(pen.state, text, pen.frame)
    try:
        async with asyncio.timeout(min(checking.SECONDS, _seconds_left(pen.state))):
            return checking.read_check(await desk.model.complete(prompt, pen.state))
    except ModelError as error:
        return checking.Check(note="" if error.code == "offline" else f"failed: {error.code}")
    except TimeoutError:
        return checking.Check(note="failed: timeout")


def judge(pen: Pen, question: Question | None, offer: Offer, check: Check) -> None:
    """Write the round's verdict: go on, wait, finish or stop."""
    row, after = judged(pen.state, question, pen.moment(), offer, pen.shares(), check)
    pen.add(row, after)


def _reference(built: Built) -> dict[str, Any]:
    """Return what makes the prompt again, to the byte: beside it only the rows before are needed."""
    return {"prefix": built.prefix_hash, "whole": built.whole_hash, "room": built.room}


async def _begin(pen: Pen, prepared: Prepared) -> Prior | None:
    action = prepared.action
    if not pen.state.has_intent:
        data = {"risk": prepared.risk, "key": prepared.key} if prepared.key else {}
        pen.write("act", data, action=action.name, action_hash=action.hash, status="intent")
    return await pen.commit(intent=prepared if prepared.key else None)


def _absorb(
    pen: Pen, action: Action, result: Result, prepared: Prepared | None = None, *, is_new: bool = False
) -> None:
    """Write what came back; ``is_new`` says that an effect happened now, and is not told from the ledger."""
    limit = prepared.max_chars if prepared else 4_000
    age = age_of(result, prepared, pen.state.goal.text, pen.moment()) if prepared and result.as_of else None
    taken = absorb(result, action, pen.state.round, max_chars=limit, age=age)
    data: dict[str, Any] = {"text": _with_history(taken.text, pen.state, action), "summary": taken.summary}
    if age is not None:
        data["stale"] = age.as_of
    if is_outside(result):
        data["hindered"] = True
    if prepared and prepared.key:
        data["effect"] = is_new
    data |= told_by(result, action.name, pen.workspace, is_private=bool(prepared and prepared.is_private))
    pen.write(
        "absorb",
        data,
        action=action.name,
        action_hash=action.hash,
        status=taken.status,
        latency_ms=max((result.duration_ms, *(one["ms"] for one in data.get("children", ())))),
    )


def _with_history(text: str, state: RunState, action: Action) -> str:
    """Say on the label line that this very call was made before."""
    earlier = same_calls(state, action)
    if not earlier:
        return text
    labels, newline, body = text.partition("\n")
    return f"{labels} supersedes=round {earlier[-1]} (same call as in round {earlier[-1]}){newline}{body}"
