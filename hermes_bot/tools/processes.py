"""Knows how work that may hang, swell or crash is done by a process of its own, which can be killed."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from hermes_bot.errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


async def ask_process(script: Path, asked: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    """Hand a script of ours one JSON object and return the one it answers with.

    The script is started by file, in isolated mode and with an empty environment, so it holds no secret of
    ours. It bounds what it answers and its own memory; its time is bounded here.

    Raises:
        ToolError: ``timeout``, or ``crashed`` where no answer came.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        str(script),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={},
    )
    try:
        async with asyncio.timeout(seconds):
            answer, _ = await process.communicate(json.dumps(asked).encode())
    except TimeoutError as error:
        raise ToolError("timeout", f"It did not end within {seconds:g} s.", retryable=True) from error
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return _read(answer)


def _read(answer: bytes) -> dict[str, Any]:
    try:
        read: dict[str, Any] = json.loads(answer)
    except ValueError as error:
        said = "It broke off without an answer: it took too much memory, or met a fault."
        raise ToolError("crashed", said) from error
    return read
