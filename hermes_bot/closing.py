"""Knows how the round at hand becomes a past one: counters, traces, the workbench, what it leaves. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hermes_bot.decisions import CallTool, Finish, Malformed
from hermes_bot.messages import Attachment
from hermes_bot.shelf import shelved
from hermes_bot.state import TRACES, Round, Stale, Trace
from hermes_bot.written import call_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hermes_bot.state import RunState

Data = dict[str, Any]


def close_round(state: RunState, status: str, text: str, summary: str) -> RunState:
    """Move the round at hand into the past: counters, traces, the workbench."""
    decision, came = state.decision, state.came or {}
    if decision is None:
        return state
    is_ok = status in ("ok", "partial")
    is_call = isinstance(decision, CallTool)
    done = Round(
        number=state.round,
        thought="" if isinstance(decision, Malformed) else decision.thought,
        call=call_text(decision),
        action_hash=str(came.get("action_hash", "")),
        status=status,
        text=text,
        summary=summary,
    )
    effect = bool(came.get("effect"))
    name = decision.action.name if isinstance(decision, CallTool) else ""
    report = came.get("report")
    is_refused = isinstance(decision, Finish) and state.status == "running"
    closed = state.changed(  # one copy of a large value: this is the hot path
        decision=None,
        has_intent=False,
        came=None,
        steps=(),
        malformed=state.malformed + 1 if isinstance(decision, Malformed) else 0,
        failures=0 if is_ok else state.failures + is_call,
        refusals=state.refusals + is_refused,
        has_worked=is_call or (state.has_worked and not is_refused),
        ok_rounds=state.ok_rounds | {state.round} if is_ok else state.ok_rounds,
        ok_tools=state.ok_tools | {name} if is_ok and is_call else state.ok_tools,
        reports=(*state.reports, (state.round, str(report))) if report else state.reports,
        files=with_files(state.files, came["files"]) if "files" in came else state.files,
        limits=replace(state.limits, verify=True) if came.get("verify") else state.limits,
        stale=_with_stale(state, name, came) if is_ok and is_call else state.stale,
        traces=(*state.traces, _trace(done, name, state, is_ok=is_ok, effect=effect and is_ok))[-TRACES:],
        **shelved(state, done, is_read=is_ok and is_call and "effect" not in came),
    )
    return with_effect(closed, name, status) if effect else closed


def _trace(done: Round, name: str, state: RunState, *, is_ok: bool, effect: bool) -> Trace:
    args = state.decision.action.text if isinstance(state.decision, CallTool) else ""
    return Trace(
        round=done.number,
        tool=name,
        # a call that failed for a passing reason may be made again: its end is the guard on failures
        action_hash="" if (state.came or {}).get("passing") else done.action_hash,
        args=args[:500],
        result=done.text.partition("\n")[2][:500],  # the first line holds labels
        is_ok=is_ok,
        is_progress=effect or state.is_forward,
        is_outside=bool((state.came or {}).get("hindered")),
        values=done.summary,
    )


def _with_stale(state: RunState, tool: str, came: Mapping[str, Any]) -> tuple[Stale, ...]:
    """Remember that a result was older than asked for; a fresh one clears its tool, not the old round."""
    if as_of := came.get("stale"):
        return (*state.stale, Stale(state.round, tool, str(as_of)))
    if not any(one.tool == tool for one in state.stale):
        return state.stale
    return tuple(replace(one, tool="") if one.tool == tool else one for one in state.stale)


def with_effect(state: RunState, tool: str, status: str) -> RunState:
    """Return the state with what a tool did, or may have done, to the world."""
    if status in ("ok", "partial"):
        return state.changed(effects=(*state.effects, tool))
    if status in ("unknown", "timeout"):
        return state.changed(unknowns=(*state.unknowns, tool))
    return state


def write_files(files: Iterable[Attachment]) -> list[Data]:
    """Return files as row data, in an absorb or a judge row under ``files``."""
    return [{"name": one.name, "path": one.path, "about": one.about} for one in files]


def with_files(files: tuple[Attachment, ...], written: Iterable[Data]) -> tuple[Attachment, ...]:
    """Return files with more of them, in row data; a later one takes the place of one of its name."""
    more = {one["name"]: Attachment(one["name"], one["path"], about=one.get("about", "")) for one in written}
    return (*(file for file in files if file.name not in more), *more.values())
