"""Work in a process of its own: whatever ends the waiting ends the process, and nothing of ours is in it."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

import pytest

from hermes_bot.errors import ToolError
from hermes_bot.tools.processes import ask_process

if TYPE_CHECKING:
    from pathlib import Path

HANGS = """
import json, os, sys, time
asked = json.load(sys.stdin)
with open(asked["fifo"], "w") as told:
    told.write(str(os.getpid()))
time.sleep(600)
"""


def hanging(folder: Path) -> tuple[Path, dict[str, str]]:
    os.mkfifo(folder / "fifo")
    (folder / "work.py").write_text(HANGS)
    return folder / "work.py", {"fifo": str(folder / "fifo")}


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_work_whose_run_is_stopped_is_ended_at_once(tmp_path: Path) -> None:
    script, asked = hanging(tmp_path)
    task = asyncio.create_task(ask_process(script, asked, 600))
    pid = int(await asyncio.to_thread((tmp_path / "fifo").read_text))
    assert is_alive(pid)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not is_alive(pid)


async def test_work_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    script, asked = hanging(tmp_path)
    reading = asyncio.create_task(asyncio.to_thread((tmp_path / "fifo").read_text))
    with pytest.raises(ToolError) as caught:
        await ask_process(script, asked, 5)
    assert caught.value.code == "timeout"
    assert not is_alive(int(await reading))


@pytest.mark.parametrize(
    "script", ["import os; os.abort()", "raise SystemExit", "print('{')", "x = 'y' * 10**13"]
)
async def test_work_that_breaks_off_is_an_error_of_this_call(script: str, tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text(script)
    with pytest.raises(ToolError) as caught:
        await ask_process(tmp_path / "work.py", {}, 30)
    assert caught.value.code == "crashed"


async def test_work_sees_no_variable_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMES_MODEL_API_KEY", "made-up")
    (tmp_path / "work.py").write_text("import json, os; print(json.dumps(dict(os.environ)))")
    found = await ask_process(tmp_path / "work.py", {}, 30)
    assert not [name for name in found if name.startswith("HERMES")]
