"""Knows which files of a thread's workspace can go with an answer."""

from __future__ import annotations

import asyncio
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from hermes_bot.errors import ToolError
from hermes_bot.loop.verdict import Offer
from hermes_bot.messages import Attachment
from hermes_bot.tools.filedoor import FileDoor

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_FILES = 5
MOST_BYTES = 20_000_000


async def offer_files(workspace: Path, paths: Sequence[str]) -> Offer:
    """Look at the files that a finish names; one that cannot go is told and costs no other."""
    return await asyncio.to_thread(_offer, workspace, paths)


def _offer(workspace: Path, paths: Sequence[str]) -> Offer:
    door, files = FileDoor(workspace), dict[str, Attachment]()
    problems = [f"at most {MOST_FILES} files go with an answer."] if len(paths) > MOST_FILES else []
    for path in paths[:MOST_FILES]:
        name = "".join(c if c.isprintable() else "_" for c in PurePosixPath(path).name)
        try:
            _check(door, path, name, files)
        except ToolError as refusal:
            problems.append(str(refusal))
        else:
            files[name] = Attachment(name, str(workspace / path))
    return Offer(tuple(files.values()), " ".join(problems))


def _check(door: FileDoor, path: str, name: str, taken: dict[str, Attachment]) -> None:
    size = door.size(path)
    if size > MOST_BYTES:
        raise ToolError("too_large", f"{path[:120]!r} has {size:,} bytes; at most {MOST_BYTES:,} are sent.")
    if name in taken:
        raise ToolError("refused", f"{path[:120]!r}: another file of this answer has the name already.")
