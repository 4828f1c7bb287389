"""Knows the tool that searches files for a text or a pattern, within bounds of size and time."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from hermes_bot.errors import ToolError
from hermes_bot.messages import Json, Result
from hermes_bot.ports import ToolContext
from hermes_bot.tools.declare import Tool, tool
from hermes_bot.tools.filedoor import FileDoor
from hermes_bot.tools.now import stamp
from hermes_bot.tools.places import Places

MAX_HITS = 100
MAX_SEARCH_BYTES = 20 * 1024 * 1024
PATTERN_SECONDS = 5.0
_LINE_CHARS = 300
_WORKER = Path(__file__).with_name("pattern_worker.py")

Text = tuple[str, str]
"""A file's path and its text."""


def search_tool(roots: Sequence[Path], *, pattern_seconds: float = PATTERN_SECONDS) -> Tool:
    """Return the tool ``search_files``; ``roots`` are folders it may read beside the workspace."""

    @tool(
        example={"text": "timeout", "path": "."},
        errors={"not_found": "no such folder", "bad_pattern": "no regular expression", "slow_pattern": "5 s"},
    )
    def search_files(
        text: Annotated[str, Field(description="what to look for", min_length=1, max_length=1_000)],
        ctx: ToolContext,
        path: Annotated[str, Field(description="file or folder to search", max_length=4_095)] = ".",
        *,
        regex: Annotated[bool, Field(description="text is a Python regular expression")] = False,
    ) -> Result:
        """Search text files below a folder, line by line (first 100 lines that fit, first 20 MiB)."""
        reading = _Reading(Places(ctx.workspace, roots))
        texts = reading.texts(path)
        hits = _by_pattern(text, list(texts), pattern_seconds) if regex else _by_text(text, texts)
        cut = f"first {MAX_HITS} lines that fit" if len(hits) >= MAX_HITS else ""
        if reading.is_cut:
            cut = "; ".join(filter(None, [cut, "only the first 20 MiB of files were searched"]))
        data: dict[str, Json] = {"hits": len(hits), "files": reading.files, "lines": hits}
        as_of = stamp(ctx.clock.now())
        return Result("ok", data, truncated=cut, source=path, as_of=as_of, trust="untrusted")

    return search_files


class _Reading:
    """Reads the text files below a path, up to the limit, and counts them."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self.files = 0
        self.is_cut = False

    def texts(self, path: str) -> Iterator[Text]:
        """Give each file's text.

        Raises:
            ToolError: the path is refused, or no place has it.
        """
        left = MAX_SEARCH_BYTES
        for door, name, size in self._names(path):
            if size > left:
                self.is_cut = True
                return
            with suppress(ToolError):  # it went away, or is no file to be read: the others still are
                data = door.read(name)
                left -= len(data)
                if b"\0" not in data[:4_096]:
                    self.files += 1
                    yield name, data.decode("utf-8", "replace")

    def _names(self, path: str) -> Iterator[tuple[FileDoor, str, int]]:
        missing: list[ToolError] = []
        places = list(self._places.of(path))
        for door, inside in places:
            try:
                yield from ((door, one.path, one.size) for one in door.walk(inside) if not one.is_folder)
            except ToolError as refusal:
                if refusal.code != "not_found":
                    raise
                missing.append(refusal)
                with suppress(ToolError):
                    yield door, inside, len(door.read(inside))
                    missing.pop()
        if len(missing) == len(places) and path not in (".", "./"):
            raise missing[0]


def _by_text(wanted: str, texts: Iterator[Text]) -> list[Json]:
    hits: list[Json] = []
    for name, text in texts:
        if wanted not in text:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if wanted in line:
                hits.append(f"{name}:{number}: {line[:_LINE_CHARS]}")
                if len(hits) == MAX_HITS:
                    return hits
    return hits


def _by_pattern(pattern: str, texts: Sequence[Text], seconds: float) -> list[Json]:
    """Search in a process of its own: a pattern that never ends cannot be stopped in this one.

    Raises:
        ToolError: ``bad_pattern`` or ``slow_pattern``.
    """
    asked = {"pattern": pattern, "texts": texts, "hits": MAX_HITS, "chars": _LINE_CHARS}
    command = [sys.executable, "-I", "-S", str(_WORKER)]
    try:
        done = subprocess.run(  # noqa: S603 - our own file, no shell, nothing of it from outside
            command,
            input=json.dumps(asked).encode(),
            capture_output=True,
            timeout=seconds,
            env={},
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        said = f"The pattern took over {seconds:g} s. Use a simpler one, or regex=false."
        raise ToolError("slow_pattern", said) from error
    return _answer(done)


def _answer(done: "subprocess.CompletedProcess[bytes]") -> list[Json]:
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError as error:
        raise ToolError("slow_pattern", "The pattern took too much memory. Use a simpler one.") from error
    if "problem" in answer:
        raise ToolError("bad_pattern", f"This is no regular expression: {answer['problem']}.")
    return [f"{name}:{number}: {line}" for name, number, line in answer["hits"]]
