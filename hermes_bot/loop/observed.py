"""Knows what a result says beside its text, as an absorb row keeps it: marks, files, children. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hermes_bot.closing import write_files
from hermes_bot.loop.noise import is_binary
from hermes_bot.loop.verdict import DELEGATE, RUN_SKILL
from hermes_bot.messages import Attachment, Result, origin_of

if TYPE_CHECKING:
    from pathlib import Path

CHILD_KEYS = frozenset({"run", "status", "rounds", "tokens", "cost", "ms", "effects", "unknowns"})
"""What the result of ``delegate`` says of each child, beside its answer."""


def told_by(result: Result, tool: str, workspace: Path, *, is_private: bool) -> dict[str, Any]:
    """Return it as row data; what is not so has no key."""
    data: dict[str, Any] = {"plain": True} if isinstance(result.data, str) else {}  # no line of it is a field
    if tool not in (RUN_SKILL, DELEGATE):  # a chain's steps have said it themselves
        data |= origin_of(result, tool, is_private=is_private)
    if result.status == "denied" and result.error:
        data["code"] = result.error.code  # the rule by which it was refused, for the audit
    if _may_come_again(result):
        data["passing"] = True
    if isinstance(result.data, Mapping) and "report" in result.data:
        data["report"] = result.data["report"]
    if tool == RUN_SKILL:
        data |= _of_skill(result.data, workspace)
    if tool == DELEGATE and (children := _children(result.data)):
        data |= {"children": children, **_marks(result.data)}
    return data


def _may_come_again(result: Result) -> bool:
    """Whether the same call may yet bring something: its failure passes, or nothing legible came."""
    if not result.is_ok:
        return result.error is not None and result.error.retryable
    return isinstance(result.data, str) and (not result.data.strip() or is_binary(result.data))


def _of_skill(data: Any, workspace: Path) -> dict[str, Any]:
    """Return what a skill's result says beside its text, as row data."""
    if not isinstance(data, Mapping):
        return {}
    files = _files(data, workspace)
    told: dict[str, Any] = {"verify": True} if data.get("verify") is True else {}
    told |= {"files": files} if files else {}
    return told | ({"compare": str(data["compare"])} if data.get("compare") else {})


def _children(data: Any) -> list[dict[str, Any]]:
    """Return what each delegated run used and did as row data: it counts as the run's own."""
    told = data.get("results", [data]) if isinstance(data, Mapping) else []
    return [{key: one[key] for key in CHILD_KEYS} for one in told if one.keys() >= CHILD_KEYS]


def _marks(data: Any) -> dict[str, Any]:
    """Return what delegated runs read from outside, or of what is not for all: their parent has it now."""
    told = data.get("results", [data]) if isinstance(data, Mapping) else []
    outside = next((str(one["outside"]) for one in told if one.get("outside")), "")
    marks: dict[str, Any] = {"outside": outside} if outside else {}
    return {**marks, "private": True} if any(one.get("private") for one in told) else marks


def _files(data: Mapping[str, Any], workspace: Path) -> list[dict[str, Any]]:
    """Return a chain's files as row data, by where they lie; what other tools give is data, never a file."""
    return write_files(
        Attachment(one["name"], str(workspace / one["path"]), about=one["about"])
        for one in data.get("files", ())
    )
