"""Knows how journal rows become a run's state. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, assert_never

from hermes_bot.closing import close_round, with_effect, with_files
from hermes_bot.decisions import Ask, CallTool, Finish, Malformed
from hermes_bot.errors import StoreError
from hermes_bot.messages import ThreadKey
from hermes_bot.state import (
    MOST_KEPT,
    MOST_ORIGINS,
    SCHEMA,
    Consent,
    Goal,
    Kept,
    Limits,
    Note,
    Planned,
    Question,
    Recalled,
    Reflection,
    Ruling,
    RunState,
    StepDone,
    Usage,
    consent_key,
)
from hermes_bot.written import read_decision

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hermes_bot.state import Row, Status


def fold(rows: Iterable[Row]) -> RunState:
    """Return the state of the run whose rows these are, oldest first.

    A continued run's rows follow those of the run it continues.

    Raises:
        StoreError: the rows do not begin with an intake, or a later program wrote them.
    """
    state: RunState | None = None
    for row in rows:
        state = apply(state, row)
    if state is None:
        raise StoreError("This run has no journal rows.")
    return state


def apply(state: RunState | None, row: Row) -> RunState:
    """Return the state after one more row.

    Raises:
        StoreError: the first row is no intake, or its schema is newer than this program.
    """
    if row.schema > SCHEMA:
        raise StoreError(
            f"Run {row.run}: its journal has schema {row.schema}, this program reads up to {SCHEMA}. "
            "Start the version that wrote it, or a later one."
        )
    if row.phase == "intake":
        return _intake(state, row)
    if state is None:
        raise StoreError(f"Run {row.run}: its journal begins with {row.phase!r} instead of an intake.")
    return _later(state, row)


def _later(state: RunState, row: Row) -> RunState:  # noqa: PLR0911 - one answer for each phase
    match row.phase:
        case "person":
            return _person(state, row)
        case "observe":
            return _observe(state, row)
        case "reason":
            return _reason(state, row)
        case "act":
            return state.changed(has_intent=True, tried_tools=state.tried_tools | {row.action})
        case "step":
            return _step(state, row)
        case "absorb":
            return _absorb(state, row)
        case "judge":
            return _judge(state, row)
        case "intake":
            raise AssertionError
        case _:
            assert_never(row.phase)


def _intake(before: RunState | None, row: Row) -> RunState:
    return _begun(row) if before is None else _continued(before, row)


def _continued(before: RunState, row: Row) -> RunState:
    """Return a new run from the stored state, with a fresh allowance."""
    return before.changed(
        run=row.run,
        status="running",
        limits=_limits(row.data["limits"]),
        heard=row.round,
        base=before.used,
        told_budget=False,
        question=None,
        reason="",
        traces=(),
        malformed=0,
        failures=0,
        refusals=0,
        decision=None,
        has_intent=False,
        came=None,
        steps=(),
        files=(),  # the run before posted its own
    )


def _begun(row: Row) -> RunState:
    data = row.data
    return RunState(
        run=row.run,
        root=data.get("root") or row.run,
        parent=data.get("parent", ""),
        allowed=data.get("allowed", {}),
        thread=ThreadKey.parse(data["thread"]),
        asker=data["asker"],
        goal=_goal(data["goal"]),
        limits=_limits(data["limits"]),
        place=data.get("place", "channel"),
        is_tainted=bool(data.get("tainted")),
        links=tuple(data.get("links", ())),
        is_private=bool(data.get("private")) or data.get("place", "channel") != "channel",
        origins=tuple(data.get("origins", ())),
        recalled=tuple(Recalled(**one) for one in data.get("recalled", ())),
        planned=_planned(data.get("planned")),
    )


def _planned(data: Mapping[str, Any] | None) -> Planned | None:
    return Planned(**{**data, "targets": tuple(data["targets"])}) if data else None


def _goal(data: Mapping[str, Any]) -> Goal:
    lists = {name: tuple(data.get(name, ())) for name in ("constraints", "transcript")}
    return Goal(**{**data, **lists})


def _marked(state: RunState, data: Mapping[str, Any]) -> RunState:
    """Return the state with what a result brought with it: the word of outsiders, what is not for all.

    ``outside`` names where a text came from that people or programs outside wrote; ``private`` says that
    the data is the team's.
    """
    outside, private = str(data.get("outside") or ""), bool(data.get("private"))
    if not outside and not private:
        return state
    origins = dict.fromkeys((*state.origins, outside)) if outside else state.origins
    return state.changed(
        is_tainted=state.is_tainted or bool(outside),
        is_private=state.is_private or private,
        origins=tuple(origins)[:MOST_ORIGINS],
    )


def _without(state: RunState, row: Row) -> RunState:
    """Return the state without the yes that the row's action has used: a consent is for one use."""
    if not state.rulings:
        return state
    key = consent_key(row.action_hash, row.data.get("step", ""), row.data.get("item", 0))
    left = tuple(one for one in state.rulings if one.key != key or not one.is_yes)
    return state.changed(rulings=left)


def _limits(data: Mapping[str, Any]) -> Limits:
    return Limits(**{**data, "tools": tuple(data.get("tools", ()))})


def _observe(state: RunState, row: Row) -> RunState:
    if row.data.get("due") == "reflection":
        return state.changed(round=row.round, hint="", reflected=row.round - 1)
    return state.changed(round=row.round, hint="")


def _person(state: RunState, row: Row) -> RunState:
    data = row.data
    asked = state.question
    if asked is not None and asked.kind == "approval" and asked.consent and data.get("question") == asked.id:
        by, names = tuple(data.get("by") or (data["user"],)), tuple(data.get("names") or (data["name"],))
        ruling = Ruling(asked.consent.key, asked.is_yes(data["text"]), by, names)
        rulings = (*state.rulings, ruling)
        return state.changed(status="running", question=None, reason="", rulings=rulings)
    note = Note(
        data["user"],
        data.get("name", ""),
        data["text"],
        data.get("question", ""),
        data.get("message", ""),
        data.get("outside", ""),
    )
    state = _marked(state, data).changed(notes=(*state.notes, note), heard=row.round)
    if not note.question:
        return state
    kind = state.question.kind if state.question else "info"
    state = state.changed(status="running", question=None, reason="")
    if kind == "overspend":
        return state.changed(allowed={**state.allowed, **row.data.get("until", state.grant)}, grant={})
    if kind == "budget":
        return state.changed(base=state.used, told_budget=False)
    if isinstance(state.decision, Ask):
        said = f"{note.name or note.user} answered: {note.text}"
        return close_round(state, "ok", said, said)
    return state  # a chain waits for its parameter, or a budget for its go: the decision is still to be done


def _reason(state: RunState, row: Row) -> RunState:
    decision = read_decision(row.data["decision"])
    plan = None if isinstance(decision, Malformed) else decision.plan
    done_before = {goal.goal for goal in state.plan if goal.status == "done"}
    told = (decision.note if isinstance(decision, CallTool) else "", str(row.data.get("hint", "")))
    return state.changed(
        decision=decision,
        has_intent=False,
        came=None,
        steps=(),
        plan=state.plan if plan is None else plan,
        is_forward=any(goal.status == "done" and goal.goal not in done_before for goal in plan or ()),
        hint=" ".join(filter(None, told)),
        used=_used(state, row),
        **_aside(state, row),
    )


def _absorb(state: RunState, row: Row) -> RunState:
    came = dict(row.data, status=row.status, action=row.action, action_hash=row.action_hash)
    state = _without(_marked(state, row.data).changed(came=came, used=_used(state, row)), row)
    return _with_children(state, row.data["children"]) if "children" in row.data else state


def _with_children(state: RunState, children: Iterable[Mapping[str, Any]]) -> RunState:
    """Count what delegated runs used and did as the run's own; each paid for itself."""
    used, effects, unknowns = state.used, list(state.effects), list(state.unknowns)
    for one in children:
        used = replace(used, tokens=used.tokens + one["tokens"], cost=used.cost + one["cost"])
        effects += one["effects"]
        unknowns += one["unknowns"]
    noes = tuple(one for one in state.rulings if not one.is_yes)  # what people agreed to was for a child
    return state.changed(used=used, effects=tuple(effects), unknowns=tuple(unknowns), rulings=noes)


def _aside(state: RunState, row: Row) -> dict[str, Any]:
    """Return the fields that change by what was said beside the decision, as far as it counted."""
    changed: dict[str, Any] = {}
    if goal := row.data.get("goal"):
        constraints = tuple(dict.fromkeys((*state.goal.constraints, *goal["constraints"])))
        changed["goal"] = replace(state.goal, objective=goal["objective"], constraints=constraints)
    if look := row.data.get("reflection"):
        changed["reflection"] = Reflection(row.round, look["verdict"], look["reason"])
    if kept := row.data.get("kept"):
        changed["kept"] = (*state.kept, Kept(kept["first"], kept["last"], kept["text"]))[-MOST_KEPT:]
    return changed


def _used(state: RunState, row: Row) -> Usage:
    used = state.used
    return Usage(
        used.rounds + (row.phase == "reason"),
        used.tokens + row.tokens_in + row.tokens_out,
        used.cost + row.cost,
        used.worked_ms + row.latency_ms,
    )


def _step(state: RunState, row: Row) -> RunState:
    if row.status == "intent":
        return state
    done = StepDone(row.data["step"], row.data.get("item", 0), row.status, row.data.get("data"))
    state = _marked(state, row.data).changed(steps=(*state.steps, done), used=_used(state, row))
    state = _without(state, row)
    return with_effect(state, row.action, row.status) if row.data.get("effect") else state


def _judge(state: RunState, row: Row) -> RunState:
    return _ruled(_noted(state, row), row)


def _noted(state: RunState, row: Row) -> RunState:
    """Return the state with what the verdict's row says of budgets and of a check."""
    data = row.data
    if data.get("told_budget"):
        state = state.changed(told_budget=True)
    if data.get("told_shares"):
        names = (one["name"] for one in data["told_shares"])
        state = state.changed(told_shares=state.told_shares.union(names))
    if "until" in data:
        state = state.changed(grant=data["until"])
    if row.tokens_in or row.latency_ms:  # an answer was checked before it counted
        state = state.changed(used=_used(state, row))
    return state


def _ruled(state: RunState, row: Row) -> RunState:
    data = row.data
    match data["verdict"]:
        case "continue":
            return _parked_on_budget(_closed(state, row), data)
        case "refuse":
            reason = str(data["reason"])
            return _parked_on_budget(close_round(state, row.status, reason, reason), data)
        case "park":
            question = _question(data["question"])
            return state.changed(status="waiting", question=question, reason=data.get("reason", "question"))
        case "finish":
            state = state.changed(
                status="finished",
                reason="finish",
                answer=_answer(state, data),
                confidence=float(data.get("confidence", 1.0)),
                is_verified=bool(data.get("verified", True)),
                files=with_files(state.files, data.get("files", ())),
                content_key=str(data.get("compare", "")),
            )
            return close_round(state, row.status, "", "")
        case "stop" | "fail" | "cancel" as verdict:
            ended: dict[str, Status] = {"stop": "stopped", "fail": "failed", "cancel": "cancelled"}
            say = str(data.get("say", ""))
            return _closed(state, row).changed(status=ended[verdict], reason=str(data["reason"]), answer=say)
        case other:
            raise StoreError(f"Run {row.run}: its journal holds the verdict {other!r}, which is not known.")


def _closed(state: RunState, row: Row) -> RunState:
    """Return the state with the round at hand over, and what came back in it kept."""
    came = state.came or {}
    return close_round(state, row.status, came.get("text", ""), came.get("summary", ""))


def _parked_on_budget(state: RunState, data: Mapping[str, Any]) -> RunState:
    if "budget" not in data:
        return state
    return state.changed(status="waiting", question=_question(data["budget"]), reason="budget")


def _answer(state: RunState, data: Mapping[str, Any]) -> str:
    if "say" in data:
        return str(data["say"])
    return state.decision.answer if isinstance(state.decision, Finish) else ""


def _question(data: Mapping[str, Any]) -> Question:
    consent = data.get("consent")
    read = {"options": tuple(data.get("options", ())), "consent": Consent(**consent) if consent else None}
    return Question(**{**data, **read})
