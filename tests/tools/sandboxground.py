"""Ground to run code on: a sandbox, a workspace, and round about them everything that it must not reach."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tools.toolroom import call, context

from hermes_bot.config import SandboxSection
from hermes_bot.sandbox import Host, Sandbox
from hermes_bot.tools.python import python_tools

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_bot.messages import Json, Result

SOMEBODY = 65_534
OUTSIDE = ("/etc", "/var/tmp", "/root", "/home", "/opt", "/srv", "/run")  # noqa: S108 - where nothing may appear


@dataclass
class Ground:
    """One planted world.

    Attributes:
        words: what the words in braces of a case's code stand for.
        seconds: the sandbox's own limit.
    """

    folder: Path
    host: Host
    words: dict[str, str]
    seconds: float = 20.0
    sandboxes: dict[float, Sandbox] = field(default_factory=dict)

    @property
    def workspace(self) -> Path:
        return self.folder / "ws"

    @property
    def sandbox(self) -> Sandbox:
        section = SandboxSection(timeout_seconds=self.seconds)
        return self.sandboxes.setdefault(self.seconds, Sandbox(section, host=self.host))

    async def run(self, code: str, **more: Json) -> Result:
        """Run code through the tool, as the loop does."""
        tool = python_tools(self.sandbox).tools[0]
        return await call(tool, {"code": self.filled(code), **more}, context(self.workspace))

    def filled(self, text: str) -> str:
        for word, meaning in self.words.items():
            text = text.replace(f"{{{word}}}", meaning)
        return text

    def leaks(self) -> list[str]:
        """Return what the code made outside of its workspace."""
        named = f"probe-{self.words['token']}"
        places = (self.words["outside_dir"], *OUTSIDE, "/usr")
        return [place for place in places if (Path(place) / named).exists()]

    def survivors(self, word: str, seconds: float = 2.0) -> list[int]:
        """Return the processes that still bear a word after some time to go."""
        until = time.monotonic() + seconds
        while found := [
            int(one.parent.name) for one in Path("/proc").glob("[0-9]*/cmdline") if _bears(one, word)
        ]:
            if time.monotonic() > until:
                return found
        return []


def _bears(cmdline: Path, word: str) -> bool:
    try:
        return word.encode() in cmdline.read_bytes()
    except OSError:  # it is gone
        return False


@contextmanager
def planted(*, as_somebody: bool) -> Iterator[Ground]:
    """Plant a world; ``as_somebody``: the sandbox is begun as an ordinary user by a superuser's test."""
    canary = f"canary{secrets.token_hex(6)}"
    folder = Path(tempfile.mkdtemp(prefix="ground-"))
    neighbour = None
    try:
        folder.chmod(0o755)
        host = Host.here()
        if as_somebody:
            host = replace(host, bwrap=str(_ordinary(folder, host.bwrap)), is_root=False)
        for name in ("ws", "outside"):
            (folder / name).mkdir(mode=0o700)
        (folder / "secret").write_text(canary)
        neighbour = _neighbour(canary, as_somebody=as_somebody)
        with _listening(folder) as words:
            words |= {
                "canary": canary,
                "secret_file": str(folder / "secret"),
                "outside_dir": str(folder / "outside"),
                "pid": str(neighbour.pid),
                "token": str(secrets.randbelow(10**12)),
            }
            if as_somebody:
                for one in folder.iterdir():
                    os.chown(one, SOMEBODY, SOMEBODY)
            yield Ground(folder, host, words)
    finally:
        if neighbour is not None:
            neighbour.kill()
            neighbour.wait()
        shutil.rmtree(folder)


def _ordinary(folder: Path, bwrap: str) -> Path:
    script = folder / "bwrap"
    words = f"--reuid {SOMEBODY} --regid {SOMEBODY} --clear-groups"
    hand_over = f'[ "$before" = --bind ] && /bin/chown -R {SOMEBODY}:{SOMEBODY} "$word"; before="$word"'
    begin = f'exec /usr/bin/env -i /usr/bin/setpriv {words} {bwrap} "$@"'
    script.write_text(f"#!/bin/sh\nfor word; do {hand_over}; done\n{begin}\n")
    script.chmod(0o755)
    return script


def _neighbour(canary: str, *, as_somebody: bool) -> subprocess.Popen[bytes]:
    """Return a process of the same user that has the canary in its environment."""
    user = {"user": SOMEBODY, "group": SOMEBODY} if as_somebody else {}
    return subprocess.Popen(["/bin/sleep", "600"], env={"CANARY": canary}, **user)  # type: ignore[call-overload,no-any-return]


@contextmanager
def _listening(folder: Path) -> Iterator[dict[str, str]]:
    """Listen on TCP, by a path and by an abstract name, and echo on UDP."""
    abstract, path = f"ground-{secrets.token_hex(6)}", folder / "sock"
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        socket.socket(socket.AF_UNIX) as by_path,
        socket.socket(socket.AF_UNIX) as by_name,
    ):
        udp.bind(tcp.getsockname())
        by_path.bind(str(path))
        by_name.bind(f"\0{abstract}")
        by_path.listen()
        by_name.listen()
        path.chmod(0o777)
        echo = threading.Thread(target=_echo, args=(udp,))
        echo.start()
        try:
            yield {"port": str(tcp.getsockname()[1]), "sock": str(path), "abstract": abstract}
        finally:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
                last.sendto(b"end", udp.getsockname())
            echo.join()


def _echo(udp: socket.socket) -> None:
    said = b""
    while said != b"end":
        said, sender = udp.recvfrom(64)
        udp.sendto(said, sender)
