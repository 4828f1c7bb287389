"""Servers that others wrote, from npm and PyPI, in runs.

``.ci/run`` installs them into a folder and names it in ``MCP_TEST_SERVERS``; without it these tests skip.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from clock import JumpClock
from endpoint import act, finish
from serving import observation, serving

from hermes_bot.config import McpServer

FOLDER = os.environ.get("MCP_TEST_SERVERS", "")
real = pytest.mark.skipif(not FOLDER, reason="MCP_TEST_SERVERS names no folder with MCP servers of others")


def node(name: str, *args: str, **section: Any) -> McpServer:
    script = Path(FOLDER, "node_modules/@modelcontextprotocol", f"server-{name}", "dist/index.js")
    return McpServer(command="node", args=(str(script), *args), **{"risk": {"*": "read"}, **section})


def python(name: str, **section: Any) -> McpServer:
    program = Path(FOLDER, "venv/bin", f"mcp-server-{name}")
    return McpServer(command=str(program), **{"risk": {"*": "read"}, **section})


def processes(part: str) -> list[int]:
    """Return our child processes whose command line holds a text."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                line, stat = (folder / "cmdline").read_text(), (folder / "stat").read_text()
            except OSError:
                continue
            if part in line and int(stat.rpartition(")")[2].split()[1]) == os.getpid():
                found.append(int(folder.name))
    return found


@real
async def test_files_are_listed_and_one_is_written_once(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "plan.txt").write_text("Ship on Friday.")
    risk = {"write_file": "write", "*": "read"}
    script = [
        act("files.list_directory", path=str(docs)),
        act("files.read_text_file", path=str(docs / "plan.txt")),
        act("files.write_file", path=str(docs / "new.txt"), content="noted"),
        act("files.read_text_file", path="/etc/hostname"),
        finish("Done.", evidence=["round 2"]),
    ]
    async with serving(tmp_path, script, {"files": node("filesystem", str(docs), risk=risk)}) as it:
        talk = it.talk()
        await talk.say("read the plan, note it")
        asked = await talk.heard()
        if asked.buttons:  # text from outside was read, so a person is asked before something is written
            await talk.press(asked.buttons[0].press.question, 0)
            asked = await talk.heard()
        assert "plan.txt" in await observation(it, 1)
        assert "Ship on Friday." in await observation(it, 2)
        assert "status error" in await observation(it, 4)  # outside the folder it was given


@real
async def test_time_and_git_answer(tmp_path: Path) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    repository = tmp_path / "repository"
    person = ("-c", "user.name=Test", "-c", "user.email=test@example.org")
    for words in (("init", "-q"), ("commit", "-q", "--allow-empty", "-m", "the first step")):
        folder = [] if words[0] == "init" else ["-C", str(repository)]
        target = [str(repository)] if words[0] == "init" else []
        subprocess.run(["git", *person, *folder, *words, *target], check=True)  # noqa: S603, S607, ASYNC221
    script = [
        act("time.convert_time", source_timezone="UTC", time="12:00", target_timezone="Asia/Tokyo"),
        act("git.git_log", repo_path=str(repository)),
        finish("Done.", evidence=["round 1"]),
    ]
    servers = {"time": python("time"), "git": python("git")}
    async with serving(tmp_path, script, servers) as it:
        talk = it.talk()
        await talk.say("what is noon UTC in Tokyo, and what was committed")
        await talk.heard()
        assert "T21:00:00+09:00" in await observation(it, 1)
        assert "the first step" in await observation(it, 2)


@real
async def test_everything_speaks_shows_a_picture_and_asks(tmp_path: Path) -> None:
    script = [
        act("everything.echo", message="hello"),
        act("everything.get-sum", a=2, b=40),
        act("everything.get-tiny-image"),
        act("everything.get-structured-content", location="New York"),
        act("everything.trigger-elicitation-request"),
        finish("Done.", evidence=["round 2"]),
    ]
    async with serving(tmp_path, script, {"everything": node("everything")}) as it:
        talk = it.talk()
        await talk.say("try everything")
        card = await talk.heard()
        assert "`everything.trigger-elicitation-request` asks:" in card.text
        while card.text != "Done.":
            await talk.say("1" if card.buttons else "42")
            card = await talk.heard()
        assert "Echo: hello" in await observation(it, 1)
        assert "42" in await observation(it, 2)
        assert "(image, image/png, " in await observation(it, 3)
        assert "temperature" in await observation(it, 4)
        assert "status ok" in await observation(it, 5)


@real
async def test_everything_killed_in_mid_call_fails_that_call_and_is_back(tmp_path: Path) -> None:
    script = [act("everything.trigger-long-running-operation", duration=600, steps=600), finish("Gone.")]
    async with serving(tmp_path, script, {"everything": node("everything", call_seconds=60)}) as it:
        talk = it.talk()
        await talk.say("do something long")
        await it.until(lambda: it.app.mcp.calls_under_way > 0)
        [pid] = processes("server-everything")
        os.kill(pid, signal.SIGKILL)
        await talk.heard()
        assert "server_gone: " in await observation(it, 1)
        assert isinstance(it.clock, JumpClock)
        await it.clock.pass_until(lambda: it.app.mcp.health()[0].state == "on")
        assert processes("server-everything") != [pid]
    assert not processes("server-everything")


@pytest.fixture
def modern() -> McpServer:
    script = Path(__file__).with_name("modern.py")
    return McpServer(command=sys.executable, args=(str(script),), risk={"*": "write"})


async def test_a_modern_server_asks_and_gets_its_answer(tmp_path: Path, modern: McpServer) -> None:
    script = [act("shop.deploy", version="v2"), finish("Done.", evidence=["round 1"])]
    async with serving(tmp_path, script, {"shop": modern}) as it:
        talk = it.talk()
        await talk.say("deploy v2")
        assert "`shop.deploy` asks: Where shall v2 go?" in (await talk.heard()).text
        await talk.say("staging")
        assert (await talk.heard()).text == "Done."
        assert "v2 to staging" in await observation(it)
