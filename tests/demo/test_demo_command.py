"""``hermes-bot demo`` as a process: what it says, what it leaves behind, how it ends."""

from __future__ import annotations

import json
import signal
import socket
from typing import TYPE_CHECKING

import aiohttp
import pytest
from cli.shell import Shell, read_until

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell(tmp_path)
    (tmp_path / "tmp").mkdir()
    shell.env["TMPDIR"] = str(tmp_path / "tmp")
    return shell


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_it_says_one_address_and_leaves_nothing_behind(number: int, shell: Shell) -> None:
    async with shell.start("demo", "--no-open") as demo:
        said = await read_until(demo.stdout, "Ctrl-C ends it")
        [url] = [word for word in said.split() if word.startswith("http://127.0.0.1:")]
        assert "works offline" in said
        async with aiohttp.ClientSession() as session, session.get(url) as page:
            assert page.status == 200
        demo.send_signal(number)
        out, err = await demo.communicate()
        assert (demo.returncode, out.strip(), err) == (0, b"", b"")
    assert [path.name for path in shell.folder.rglob("*")] == ["tmp"]


async def test_its_state_can_be_kept_and_read_afterwards(shell: Shell) -> None:
    kept = shell.folder / "kept"
    async with shell.start("demo", "--json", "--state-dir", "kept", "--port", "0") as demo:
        assert demo.stdout is not None
        said = json.loads(await demo.stdout.readline())
        assert said["state_dir"] == str(kept)
        assert said["pid"] == demo.pid
        demo.send_signal(signal.SIGINT)
        await demo.communicate()
        assert demo.returncode == 0
    listed = shell.run("runs", "list", "--json", HERMES_BOT__STATE_DIR=str(kept))
    assert listed.object == {"runs": []}
    again = shell.run("demo", "--json", "--state-dir", "kept")
    assert again.code == 78
    assert "name a new folder" in again.object["error"]


def test_a_port_that_is_taken_is_said_at_once(shell: Shell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = shell.run("demo", "--no-open", "--port", str(port))
    assert ended.code == 78
    assert f"Port {port} cannot be used" in ended.err
    assert ended.out == ""


def test_a_configuration_that_cannot_be_used_is_said(shell: Shell) -> None:
    (shell.folder / "hermes.toml").write_text("[bot]\nnmae = 'x'\n")
    ended = shell.run("demo")
    assert ended.code == 78
    assert "Did you mean name?" in ended.err
