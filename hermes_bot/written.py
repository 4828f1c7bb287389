"""Knows how decisions are written in journal rows, and read again by every later version. Pure."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, assert_never

from hermes_bot.decisions import Action, Ask, CallTool, Finish, Malformed, SubGoal
from hermes_bot.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_bot.decisions import Decision

Data = dict[str, Any]


def call_text(decision: Decision) -> str:
    """Return a decision in one line, as rounds show it."""
    match decision:
        case CallTool(action):
            return f"{action.name} {action.text}"
        case Finish():
            return "finish"
        case Ask(question):
            return f"request_info {question}"
        case Malformed():
            return "(unreadable)"
        case _:
            assert_never(decision)


def write_decision(decision: Decision) -> Data:
    """Return a decision as row data; ``read_decision`` is its inverse."""
    match decision:
        case CallTool(action, thought, plan, note):
            data: Data = {"kind": "call", "name": action.name, "args": action.args, "thought": thought}
            return _with_plan({**data, "note": note} if note else data, plan)
        case Finish(answer, confidence, evidence, thought, plan, files):
            data = {"kind": "finish", "answer": answer, "confidence": confidence, "thought": thought}
            data = {**data, "evidence": list(evidence), **({"files": list(files)} if files else {})}
            return _with_plan(data, plan)
        case Ask(question, options, name, default, thought, plan):
            data = {"kind": "ask", "question": question, "options": list(options), "thought": thought}
            return _with_plan({**data, "field": name, "default": default}, plan)
        case Malformed(problem, raw):
            return {"kind": "malformed", "problem": problem, "raw": raw}
        case _:
            assert_never(decision)


def _with_plan(data: Data, plan: tuple[SubGoal, ...] | None) -> Data:
    return data if plan is None else {**data, "plan": [asdict(goal) for goal in plan]}


def read_decision(data: Mapping[str, Any]) -> Decision:
    """Return the decision that ``write_decision`` wrote."""
    plan = _plan(data.get("plan"))
    thought = data.get("thought", "")
    match data["kind"]:
        case "call":
            return CallTool(Action(data["name"], data["args"]), thought, plan, data.get("note", ""))
        case "finish":
            evidence, files = tuple(data["evidence"]), tuple(data.get("files", ()))
            return Finish(data["answer"], data["confidence"], evidence, thought, plan, files)
        case "ask":
            options = tuple(data["options"])
            return Ask(data["question"], options, data["field"], data["default"], thought, plan)
        case "malformed":
            return Malformed(data["problem"], data.get("raw", ""))
        case other:
            raise StoreError(f"A journal row holds the decision kind {other!r}, which is not known.")


def _plan(data: Any) -> tuple[SubGoal, ...] | None:
    if data is None:
        return None
    return tuple(SubGoal(**{**item, "depends_on": tuple(item.get("depends_on", ()))}) for item in data)
