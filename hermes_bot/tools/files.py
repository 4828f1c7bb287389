"""Knows the tools that read, list and write files, all through the one file door."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from hermes_bot.errors import ToolError
from hermes_bot.messages import Fault, Json, Result
from hermes_bot.ports import ToolContext
from hermes_bot.tools.declare import Arguments, Tool, tool
from hermes_bot.tools.filedoor import FileDoor
from hermes_bot.tools.now import stamp
from hermes_bot.tools.places import Places
from hermes_bot.tools.search import search_tool

MAX_LINES = 400
MAX_READ_CHARS = 1024 * 1024
MAX_NAMES = 200

ERRORS = {
    "not_found": "no such file",
    "refused": "a link, a device, or outside the allowed folders",
    "too_large": "over 10 MiB",
}

FilePath = Annotated[str, Field(description="path inside the workspace", max_length=4_095)]


def file_tools(roots: Sequence[Path] = ()) -> tuple[Tool, ...]:
    """Return the file tools; ``roots`` are folders they may read beside the thread's workspace."""
    return _read_tool(roots), _list_tool(roots), search_tool(roots), write_file


def decode(data: bytes, path: str) -> str:
    """Return a file's text.

    Raises:
        ToolError: ``binary``: it is no text.
    """
    if b"\0" in data[:65_536]:
        raise ToolError("binary", f"{path[:120]!r} is a binary file of {len(data):,} bytes, no text.")
    return data.decode("utf-8-sig", "replace")


def _read_tool(roots: Sequence[Path]) -> Tool:
    @tool(example={"path": "notes.txt"}, errors={**ERRORS, "binary": "no text"}, max_chars=8_000)
    def read_file(
        path: FilePath,
        ctx: ToolContext,
        start: Annotated[int, Field(description="first line, from 1", ge=1)] = 1,
        count: Annotated[int, Field(description="how many lines", ge=1, le=MAX_LINES)] = MAX_LINES,
    ) -> Result:
        """Read a text file from a line on (400 lines at most)."""
        data = Places(ctx.workspace, roots).first(path, FileDoor.read)
        lines = decode(data, path).splitlines()
        part = lines[start - 1 : start - 1 + count]
        if not part and lines:
            raise ToolError("not_found", f"{path[:120]!r} has {len(lines):,} lines, none from {start:,} on.")
        text = "\n".join(part)[:MAX_READ_CHARS]
        last = start - 1 + len(part)
        return Result(
            "ok",
            {"lines": f"{start}-{last} of {len(lines)}" if lines else "0 of 0", "text": text},
            length=len(data),
            truncated=f"lines {start:,} to {last:,} of {len(lines):,}" if len(part) < len(lines) else "",
            source=path,
            as_of=stamp(ctx.clock.now()),
            trust="untrusted",
        )

    return read_file


def _list_tool(roots: Sequence[Path]) -> Tool:
    @tool(example={"path": "."}, errors=ERRORS)
    def list_files(ctx: ToolContext, path: FilePath = ".") -> Result:
        """List what lies in a folder, with sizes (first 200 names; links are not shown)."""
        try:
            found = Places(ctx.workspace, roots).first(path, FileDoor.list)
        except ToolError as refusal:
            if refusal.code != "not_found" or path not in (".", "./"):
                raise
            found = []  # a workspace nobody has written to yet
        shown = [f"{one.path}/" if one.is_folder else f"{one.path} {one.size:,} bytes" for one in found]
        data: dict[str, Json] = {"count": len(found), "names": shown[:MAX_NAMES]}
        if path in (".", "./") and roots:
            data["also_readable"] = [str(root) for root in roots]
        return Result(
            "ok",
            data,
            truncated=f"first {MAX_NAMES} of {len(found):,} names" if len(found) > MAX_NAMES else "",
            source=path,
            as_of=stamp(ctx.clock.now()),
            trust="untrusted",
        )

    return list_files


def _holds(args: Arguments, ctx: ToolContext) -> Result:
    """Tell after a crash whether the file holds the text that was to be written."""
    path, text = str(args["path"]), str(args["text"])
    try:
        held = FileDoor(ctx.workspace).read(path)
    except ToolError as refusal:
        return Result("error", error=Fault("not_written", str(refusal), retryable=True))
    if held == text.encode():
        return Result("ok", {"path": path, "bytes": len(held)}, source=path)
    said = f"{path[:120]!r} holds another text, so this write did not happen or was overwritten."
    return Result("error", error=Fault("not_written", said, retryable=True))


@tool(
    risk="write",
    is_idempotent=True,
    reconcile=_holds,
    example={"path": "notes.txt", "text": "first line\n"},
    errors={"refused": "a link or outside", "too_large": "over 1 MiB", "quota": "the workspace is full"},
)
def write_file(
    path: FilePath,
    text: Annotated[str, Field(description="the file's whole new text", max_length=1024 * 1024)],
    ctx: ToolContext,
) -> Result:
    """Write a text file into this thread's workspace, replacing the one of that name (1 MiB at most)."""
    data = text.encode("utf-8", "replace")
    replaced = _write(ctx.workspace, path, data)
    return Result("ok", {"path": path, "bytes": len(data), "replaced": replaced}, source=path)


async def keep_text(workspace: Path, path: str, text: str, *, copy_of: str = "") -> None:
    """Put a text file, or a copy of another, into a workspace; what chains keep their files with.

    Raises:
        ToolError: as ``FileDoor.write``.
    """
    try:
        await asyncio.to_thread(_keep, workspace, path, text.encode("utf-8", "replace"), copy_of)
    except OSError as error:
        said = f"{path[-120:]!r} cannot be written ({error.strerror})."
        raise ToolError("unreadable", said) from error


def _keep(workspace: Path, path: str, data: bytes, copy_of: str) -> None:
    _write(workspace, path, FileDoor(workspace).read(copy_of) if copy_of else data)


def _write(workspace: Path, path: str, data: bytes) -> bool:
    workspace.mkdir(mode=0o700, parents=True, exist_ok=True)
    return FileDoor(workspace).write(path, data)
