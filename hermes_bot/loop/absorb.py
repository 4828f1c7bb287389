"""Knows how a tool's result becomes the observation the model reads: status, digest, labels, trim. Pure.

The first line of the text holds nothing but labels; what the tool gave stands from the second line on,
fenced where it was written outside. What was left out is said in words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_bot.loop.digest import Room, digest, values_of
from hermes_bot.loop.fence import fenced
from hermes_bot.loop.noise import one_line
from hermes_bot.markdown import clip

if TYPE_CHECKING:
    from hermes_bot.decisions import Action
    from hermes_bot.loop.freshness import Age
    from hermes_bot.messages import Json, Result, ResultStatus

SUMMARY_CHARS = 240
_ARGS_CHARS = 200
_LABEL_CHARS = 120
_MESSAGE_CHARS = 600
_UNKNOWN = (
    "The outcome is not known: it may have happened or not. Verify it with a read, or ask; do not simply "
    "call it again, and do not build on this."
)


@dataclass(frozen=True, slots=True)
class Absorbed:
    """One observation.

    Attributes:
        text: as the model sees it: labels, then the body; at most ``max_chars`` and a small head.
        summary: one line of at most 240 characters that keeps the values.
        data: what later steps may build on; None where nothing is.
    """

    status: ResultStatus
    text: str
    summary: str
    data: Json


def absorb(
    result: Result, action: Action, round_number: int, *, max_chars: int, age: Age | None = None
) -> Absorbed:
    """Turn a result into an observation (design §4.2): determine, digest, standardise, trim.

    ``age`` is there where it is older than what was asked for.

    Never raises, whatever the data; its time grows with what is kept, not with what came.
    """
    status = _determine(result)
    room = Room(max(0, max_chars))
    body = digest(result.data, room) if result.is_ok or result.data is not None else ""
    lines = [_labels(result, action, round_number, status, age), *_said(result, status)]
    if age is not None:
        lines.append(age.said)
    if body:
        lines.append(fenced(body) if result.trust == "untrusted" else body)
    if cut := _cut(result, room):
        lines.append(f"(Cut: {cut}.)")
    data = result.data if result.is_ok else None
    summary = _summary(result, status) if age is None else _with_age(_summary(result, status), age)
    return Absorbed(status, "\n".join(lines), summary, data)


def _determine(result: Result) -> ResultStatus:
    """Return the status; ``ok`` with an error, or with a part missing, is not wholly ok."""
    if result.status == "ok" and result.error is not None:
        return "partial"
    return result.status


def _labels(result: Result, action: Action, number: int, status: str, age: Age | None) -> str:
    labels = [
        f"round {number}",
        f"{one_line(action.name, _LABEL_CHARS)} {one_line(_args(action), _ARGS_CHARS)}",
        f"status {status}",
        f"as_of {one_line(result.as_of, _LABEL_CHARS)}" if result.as_of else "",
        f"stale: {age.words}" if age is not None else "",
        f"source {one_line(result.source, _LABEL_CHARS)}" if result.source else "",
        f"trust {result.trust}",
    ]
    return f"[{' | '.join(label for label in labels if label)}]"


def _with_age(summary: str, age: Age) -> str:
    return clip(f"({age.words}) {summary}", SUMMARY_CHARS)


def _args(action: Action) -> str:
    try:
        return action.text
    except (TypeError, ValueError, RecursionError):
        return "(unreadable arguments)"


def _said(result: Result, status: ResultStatus) -> list[str]:
    """Return the sentences on a result that is not wholly good."""
    match status:
        case "ok":
            return []
        case "partial":
            return ["Partial: something is missing.", *_fault(result)]
        case "unknown":
            return [_UNKNOWN, *_fault(result)]
        case "needs_confirmation":
            return ["Nothing was run: a person must approve this. Do not build on this.", *_fault(result)]
        case _:
            return ["Failed: do not build on this.", *_fault(result)]


def _fault(result: Result) -> list[str]:
    fault = result.error
    if fault is None:
        return []
    message = one_line(fault.message, _MESSAGE_CHARS)
    said = fenced(message) if result.trust == "untrusted" and message else message
    lines = [f"{one_line(fault.code, _LABEL_CHARS)}: {said}"]
    if not result.is_ok and result.status != "unknown":
        again = "The same call may succeed later." if fault.retryable else "The same call will fail again."
        lines.append(again)
    return lines


def _cut(result: Result, room: Room) -> str:
    told = one_line(result.truncated, _LABEL_CHARS * 2)
    return "; ".join(part for part in (f"the tool gave {told}" if told else "", room.words()) if part)


def _summary(result: Result, status: ResultStatus) -> str:
    parts = []
    if result.error is not None:
        parts.append(f"{result.error.code}: {result.error.message[:_MESSAGE_CHARS]}")
    if result.data is not None:
        parts.append(values_of(result.data, SUMMARY_CHARS))
    text = one_line(" ".join(parts) or status, SUMMARY_CHARS * 2)
    if result.trust == "untrusted":
        text = f"(untrusted) {text}"
    return clip(text, SUMMARY_CHARS)
