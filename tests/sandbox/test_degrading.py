"""Where there is no sound sandbox, no code is run, and it is said why (reliability §1)."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tools.toolroom import a_run, call, context

from hermes_bot.config import SandboxSection
from hermes_bot.sandbox import Host, Order, Sandbox
from hermes_bot.sandbox.verdict import is_old
from hermes_bot.tools.python import python_tools
from hermes_bot.tools.toolbox import CoreToolbox

if TYPE_CHECKING:
    from pathlib import Path

MARK = "open('ran', 'w')"
LIAR = """#!/usr/bin/python3
import json, os, socket, sys
words = sys.argv
status = int(words[words.index("--json-status-fd") + 1])
code = words[words.index("/in/main.py") - 1]
os.write(status, json.dumps({"exit-code": 0}).encode())
"""
NO_WALLS = 'os.execv("/usr/bin/python3", ["python3", f"/proc/self/fd/{code}", *words[-2:]])'
CANNED = """
seen = {"word": WORD, "variables": [], "processes": 2, "first_environment": 0, "root": [],
        "interfaces": [], "reached": False, "files": [], "settings": False, "forks": 0,
        "status": {"CapEff": "0", "CapPrm": "0", "NoNewPrivs": "1", "Seccomp": "2"}}
print(json.dumps(seen))
"""
ANSWERS_FOR_ALL = CANNED.replace("WORD", '"x"')
LETS_ONE_OUT = "socket.create_connection(('127.0.0.1', int(words[-1])))" + CANNED.replace("WORD", "words[-2]")


def bubblewrap(folder: Path, text: str) -> Host:
    """Return a host whose bubblewrap is this program."""
    script = folder / "bwrap"
    script.write_text(text)
    script.chmod(0o755)
    return replace(Host.here(str(script)), is_root=False)


async def refusal(host: Host, folder: Path) -> str:
    """See code refused in every way, and return what is said."""
    sandbox = Sandbox(SandboxSection(), host=host)
    box = CoreToolbox([], sources=[python_tools(sandbox)])
    assert [card.name for card in box.cards(a_run())] == ["run_python"]
    tool = box.find("run_python")
    assert tool is not None
    came = await call(tool, {"code": MARK}, context(folder / "ws"))
    assert box.cards(a_run()) == ()
    assert box.find("run_python") is tool
    assert not (folder / "ws" / "ran").exists()
    assert came.error is not None
    assert (came.status, came.error.code) == ("error", "sandbox_off")
    assert await sandbox.why_off() in came.error.message
    return came.error.message


async def test_without_bubblewrap_it_is_said_how_to_get_it(tmp_path: Path) -> None:
    said = await refusal(replace(Host.here(""), is_root=False), tmp_path)
    assert said.startswith("Code cannot be run here: bubblewrap is not installed. Install it")
    assert "apt-get install bubblewrap" in said


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
async def test_where_namespaces_are_used_up_nothing_is_run(tmp_path: Path) -> None:
    inner = 'echo 0 > /proc/sys/user/max_user_namespaces; exec /usr/bin/bwrap "$@"'
    outer = f"exec /usr/bin/unshare --user --map-root-user /bin/sh -c '{inner}' sh"
    said = await refusal(bubblewrap(tmp_path, f'#!/bin/sh\n{outer} "$@"\n'), tmp_path)
    assert "nothing was run" in said
    assert "user.max_user_namespaces" in said


@pytest.mark.parametrize(
    ("lie", "found"),
    [
        (NO_WALLS, "it has a network"),
        (ANSWERS_FOR_ALL, "somebody else answered in the probe's place"),
        (LETS_ONE_OUT, "a connection came out of it"),
        ("print('all is well')", "the probe did not answer (all is well)"),
    ],
)
async def test_a_sandbox_that_does_not_stand_the_self_test_is_not_used(
    lie: str, found: str, tmp_path: Path
) -> None:
    said = await refusal(bubblewrap(tmp_path, LIAR + lie), tmp_path)
    assert "the sandbox's self-test failed" in said
    assert found in said


async def test_what_breaks_the_start_of_bubblewrap_is_told_in_its_own_words(tmp_path: Path) -> None:
    said = await refusal(bubblewrap(tmp_path, "#!/bin/sh\necho bwrap: No permissions; exit 1\n"), tmp_path)
    assert "nothing was run. bwrap: No permissions" in said


async def test_it_can_be_switched_off() -> None:
    sandbox = Sandbox(SandboxSection(enabled=False))
    assert CoreToolbox([], sources=[python_tools(sandbox)]).cards(a_run()) == ()
    assert await sandbox.why_off() == "[sandbox] enabled = false in the configuration."


async def test_an_environment_that_is_none_is_named(tmp_path: Path) -> None:
    host = replace(Host.here("/bin/true"), is_root=False)
    sandbox = Sandbox(SandboxSection(environment=tmp_path), host=host)
    assert f"[sandbox] environment: {tmp_path} is no virtual environment" in await sandbox.why_off()


async def test_the_self_test_is_made_once_and_again_when_asked_for(tmp_path: Path) -> None:
    host = bubblewrap(tmp_path, f"#!/bin/sh\necho x >> {tmp_path}/looks; exit 1\n")
    sandbox = Sandbox(SandboxSection(), host=host)
    await sandbox.why_off()
    once = (tmp_path / "looks").read_text()
    await sandbox.why_off()
    assert (tmp_path / "looks").read_text() == once
    await sandbox.look_again()
    assert len((tmp_path / "looks").read_text()) > len(once) > 0


@pytest.mark.parametrize(
    ("version", "old"), [("0.8.0", True), ("0.11.9", True), ("0.12.0", False), ("1.0", False), ("", True)]
)
def test_an_older_bubblewrap_is_told_from_a_newer_one(version: str, *, old: bool) -> None:
    assert is_old(version) is old


async def test_a_package_environment_is_seen_read_only(tmp_path: Path) -> None:
    site = tmp_path / "env" / "lib" / "python3" / "site-packages"
    (tmp_path / "env" / "bin").mkdir(parents=True)
    site.mkdir(parents=True)
    (tmp_path / "env" / "bin" / "python3").symlink_to("/usr/bin/python3")
    (site / "spam.txt").write_text("spam")
    sandbox = Sandbox(SandboxSection(environment=tmp_path / "env"))
    if why := await sandbox.why_off():
        pytest.skip(f"no sandbox on this host: {why}")
    code = "print(open('/env/lib/python3/site-packages/spam.txt').read())\nopen('/env/new', 'w')"
    done = await sandbox.run(Order(code, tmp_path / "ws"))
    assert done.ended.output.startswith(b"spam\nTraceback")
    assert b"Read-only file system" in done.ended.output or b"Permission denied" in done.ended.output
    assert not (tmp_path / "env" / "new").exists()
