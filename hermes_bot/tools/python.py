"""Knows the tool that runs a program in the sandbox."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from hermes_bot.errors import ToolError
from hermes_bot.messages import Fault, Json, Result
from hermes_bot.sandbox import Order
from hermes_bot.tools.declare import Arguments, Tool, tool
from hermes_bot.tools.filedoor import FileDoor
from hermes_bot.tools.now import stamp
from hermes_bot.tools.places import Places
from hermes_bot.tools.sometimes import Sometimes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_bot.ports import ToolContext
    from hermes_bot.sandbox import Allowance, Done, Ended, Sandbox

MAX_CODE_CHARS = 200_000
MAX_INPUTS, MAX_INPUT_BYTES = 10, 20 * 1024 * 1024
SHOWN_CHARS = 3_000  # at the beginning of the output and at its end
MAX_MADE = 50
SPARE_SECONDS = 20.0  # for the self-test, a free place and the end
_SIGNALLED = 128
_RESERVED = "main.py"

ERRORS = {
    "sandbox_off": "this host has no sound sandbox; says why",
    "sandbox_failed": "the sandbox could not be set up; nothing was run",
    "busy": "too many programs are running",
    "exit_status": "the program ended with an error; its output says which",
    "time_limit": "it took too long and was ended",
    "output_limit": "it wrote too much and was ended",
    "memory_limit": "it took too much memory and was ended",
    "workspace_limit": "its files grew too large; it was ended and they were removed",
    "invalid_input": "the files cannot be handed in",
}


def python_tools(sandbox: Sandbox, roots: Sequence[Path] = ()) -> Sometimes:
    """Return ``run_python``; ``roots`` are folders that its files may come from, beside the workspace."""
    return Sometimes((_python_tool(sandbox, roots),), lambda: sandbox.is_known_off)


def _python_tool(sandbox: Sandbox, roots: Sequence[Path]) -> Tool:
    seconds = sandbox.allowance.seconds

    @tool(
        risk="write",
        keeps_masks=True,
        outside=True,
        timeout=seconds + SPARE_SECONDS,
        max_chars=8_000,
        reconcile=_broke_off,
        example={"code": "import statistics\nprint(statistics.mean([1, 2, 6]))"},
        errors=ERRORS,
    )
    async def run_python(
        code: Annotated[str, Field(description="a whole Python 3 program", max_length=MAX_CODE_CHARS)],
        ctx: ToolContext,
        files: Annotated[
            tuple[str, ...],
            Field(description="files outside the workspace to read as /in/NAME", max_length=MAX_INPUTS),
        ] = (),
        attempt: Annotated[int, Field(description="count up to run the same code again", ge=1)] = 1,
    ) -> Result:
        """Run a Python program without network, for 20 s; its first and last 3,000 characters come back.

        It works in this thread's workspace, and the names of the files it made come back, too.

        It is a ``write``, since what it makes stays in the workspace and answers may speak of it as made;
        not an ``outward`` one, since nothing can leave the sandbox. Twice is not once, as it may append to a
        file: the same program runs once in a task unless ``attempt`` says otherwise. After a crash nothing
        of it runs any more and nothing outside was touched, so it may simply be begun again. What it prints
        is untrusted: it may come from any file.
        """
        del attempt  # its one purpose is another key in the ledger
        inputs = await asyncio.to_thread(_inputs, files, ctx, roots)
        done = await sandbox.run(Order(code, ctx.workspace, inputs))
        return _result(done, sandbox.allowance, stamp(ctx.clock.now()))

    return replace(run_python, summary=run_python.summary.replace("20 s", f"{seconds:g} s"))


def _broke_off(args: Arguments, ctx: ToolContext) -> Result:
    """Tell after a crash what became of the program: it died with the bot, and only its files are left."""
    del args, ctx
    said = "The program broke off when the bot was restarted; files of it may lie half-written."
    return Result(
        "error", error=Fault("broke_off", f"{said} To run it again, pass attempt=2.", retryable=True)
    )


def _inputs(files: Sequence[str], ctx: ToolContext, roots: Sequence[Path]) -> dict[str, bytes]:
    """Return the contents of the files by the name they get in /in.

    Raises:
        ToolError: one may not be read, two have one name, or they are too large together.
    """
    places, found = Places(ctx.workspace, roots), dict[str, bytes]()
    for path in files:
        name = PurePosixPath(path).name
        if name in found or name == _RESERVED:
            raise ToolError("invalid_input", f"{path[:120]!r}: another file in /in has this name already.")
        found[name] = places.first(path, FileDoor.read)
        if sum(map(len, found.values())) > MAX_INPUT_BYTES:
            raise ToolError("invalid_input", f"The files are over {MAX_INPUT_BYTES:,} bytes together.")
    return found


def _result(done: Done, allowance: Allowance, at: str) -> Result:
    text = done.ended.output.decode("utf-8", "replace")
    shown, cut = _ends(text)
    names = sorted(done.made)
    data: dict[str, Json] = {
        "exit": done.ended.code if done.ended.code is not None else "ended by the sandbox",
        "output": shown,
        "made": [f"{name} {done.made[name]:,} bytes" for name in names[:MAX_MADE]],
    }
    if len(names) > MAX_MADE:
        cut = "; ".join(part for part in (cut, f"first {MAX_MADE} of {len(names):,} files made") if part)
    fault = _fault(done, allowance)
    return Result(
        "error" if fault else "ok",
        data,
        fault,
        length=len(done.ended.output),
        truncated=cut,
        source="sandbox",
        as_of=at,
        trust="untrusted",
    )


def _ends(text: str) -> tuple[str, str]:
    """Return the beginning and the end of a long text, and in words what of it that is."""
    if len(text) <= 2 * SHOWN_CHARS:
        return text, ""
    left = len(text) - 2 * SHOWN_CHARS
    shown = f"{text[:SHOWN_CHARS]}\n[… {left:,} characters left out …]\n{text[-SHOWN_CHARS:]}"
    return shown, f"first and last {SHOWN_CHARS:,} of {len(text):,} characters of output"


def _fault(done: Done, allowance: Allowance) -> Fault | None:
    ended = done.ended
    match ended.killed:
        case "time":
            return Fault("time_limit", f"It was ended after {allowance.seconds:g} s. Do less at a time.")
        case "output":
            said = f"It was ended when it had written {allowance.output_bytes // 1024:,} KiB. Print less."
            return Fault("output_limit", said)
        case "memory":
            said = f"Its processes held over {allowance.memory_bytes // 1024**2:,} MiB together. Use less."
            return Fault("memory_limit", said)
        case "workspace":
            went = f"; {done.removed:,} of its files were removed" if done.removed else ""
            return Fault("workspace_limit", f"It was ended: {ended.why}{went}. Keep less.")
        case "":
            return None if ended.code == 0 else Fault("exit_status", _status(ended))


def _status(ended: Ended) -> str:
    code = ended.code or 0
    if code <= _SIGNALLED:
        return f"The program ended with status {code}."
    try:
        name = signal.Signals(code - _SIGNALLED).name
    except ValueError:
        return f"The program ended with status {code}."
    hint = {"SIGKILL": ": it used too much memory or time", "SIGXCPU": ": it used too much time"}
    return f"The program was ended by {name}{hint.get(name, '')}."
