"""Knows the sandbox as the tools see it: whether there is one, and how code runs in it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
import socket
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_bot.errors import ToolError
from hermes_bot.sandbox.profile import PYTHON, Allowance, Host
from hermes_bot.sandbox.running import Done, Order, carry_out
from hermes_bot.sandbox.verdict import advice, is_old, misses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_bot.config import SandboxSection

OFF = "Code cannot be run here: {why}"
AGAIN_SECONDS = 60.0
PROBE_SECONDS = 10.0
AT_ONCE, WAIT_SECONDS = 4, 10.0  # each may take 512 MiB and more
_VERSION_SECONDS = 5.0

log = logging.getLogger(__name__)


class Sandbox:
    """Runs Python behind bubblewrap's walls, where a self-test has shown that they stand.

    Attributes:
        allowance: what one run may use.
    """

    def __init__(self, section: SandboxSection, *, host: Host | None = None) -> None:
        self.allowance = Allowance(seconds=section.timeout_seconds)
        self._section = section
        self._host = host
        self._why: str | None = None
        self._looked_at = 0.0
        self._looking = asyncio.Lock()
        self._places = asyncio.Semaphore(AT_ONCE)

    @property
    def is_known_off(self) -> bool:
        """Whether a look has shown that there is none; without a look nobody knows."""
        return bool(self._why) or not self._section.enabled

    async def why_off(self) -> str:
        """Return why code cannot be run here, in a sentence; empty where it can. Looks where needed."""
        async with self._looking:
            if self._why is None or (self._why and self._age() > AGAIN_SECONDS):
                await self._look()
            return self._why or ""

    async def look_again(self) -> str:
        """Make the self-test now, whatever is known; returns as ``why_off``."""
        async with self._looking:
            await self._look()
            return self._why or ""

    async def warnings(self) -> tuple[str, ...]:
        """Return what a person should know of a sandbox that works."""
        said = []
        version = await self._version()
        if is_old(version):
            said.append(
                f"bubblewrap is {version or 'of an unknown version'}; 0.12.0 or later is wanted. Until then "
                "it is kept safe by binding one folder alone."
            )
        if not self._here().has_filter:
            said.append(
                "System calls are not filtered: install libseccomp (Debian: libseccomp2) and the extra "
                "sandbox."
            )
        return tuple(said)

    async def run(self, order: Order) -> Done:
        """Run a program to its end or to the first bound it passes.

        Raises:
            ToolError: ``sandbox_off``, ``sandbox_failed`` or ``busy``; nothing was run.
        """
        if why := await self.why_off():
            raise ToolError("sandbox_off", OFF.format(why=why))
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await self._places.acquire()
        except TimeoutError as error:
            raise ToolError(
                "busy", "Too many programs run already; nothing was run.", retryable=True
            ) from error
        try:
            return await carry_out(order, self._here(), self.allowance, self._section.environment)
        finally:
            self._places.release()

    async def _look(self) -> None:
        why = await self._found()
        if why != self._why:
            log.info("sandbox.looked", extra={"usable": not why, "why": why})
        self._why, self._looked_at = why, asyncio.get_running_loop().time()

    def _age(self) -> float:
        return asyncio.get_running_loop().time() - self._looked_at

    async def _found(self) -> str:
        """Return why there is no sandbox here; tries without what is only to be tried."""
        if why := self._plainly():
            return why
        host = self._here()
        failed = ""
        for spaces in (host.spaces, tuple(one for one in host.spaces if not one.endswith("-try"))):
            self._host = replace(host, spaces=spaces)
            try:
                seen = await self._probe(self._host)
            except ToolError as error:
                failed = f"{error} {advice(str(error))}".strip()
            else:
                return f"the sandbox's self-test failed: {'; '.join(seen)}." if seen else ""
        return failed

    def _plainly(self) -> str:
        """Return what is missing without a trial."""
        host, environment = self._here(), self._section.environment
        if not self._section.enabled:
            return "[sandbox] enabled = false in the configuration."
        if not host.bwrap:
            return "bubblewrap is not installed. Install it (Debian: apt-get install bubblewrap)."
        if host.is_root and not host.has_filter:
            return (
                "the bot runs as root, and system calls cannot be filtered. Run it as a user of its own, or "
                "install libseccomp2 and the extra sandbox."
            )
        if environment is not None and not os.path.lexists(environment / "bin" / "python3"):
            return f"[sandbox] environment: {environment} is no virtual environment with bin/python3."
        if environment is None and not os.access(PYTHON, os.X_OK):
            return f"there is no {PYTHON}. Install Python there (Debian: apt-get install python3)."
        return ""

    async def _probe(self, host: Host) -> list[str]:
        word = secrets.token_hex(8)
        code = await asyncio.to_thread((Path(__file__).parent / "probe.py").read_text, "utf-8")
        with tempfile.TemporaryDirectory(prefix="hermes-bot-") as folder, _listener() as listener:
            port = str(listener.getsockname()[1])
            order = Order(code, Path(folder), arguments=(word, port))
            brief = replace(self.allowance, seconds=PROBE_SECONDS)
            done = await carry_out(order, host, brief, self._section.environment)
            seen = list(misses(done.ended.output, word, host, self.allowance))
            return [*seen, *(["a connection came out of it"] if _was_reached(listener) else [])]

    def _here(self) -> Host:
        self._host = self._host or Host.here()
        return self._host

    async def _version(self) -> str:
        """Return bubblewrap's version; empty where it does not say."""
        process = await asyncio.create_subprocess_exec(
            *(self._here().bwrap, "--version"), stdout=asyncio.subprocess.PIPE, env={}
        )
        try:
            async with asyncio.timeout(_VERSION_SECONDS):
                said, _ = await process.communicate()
        except TimeoutError:
            process.kill()
            return ""
        return said.decode("ascii", "replace").strip().rpartition(" ")[2]


@contextlib.contextmanager
def _listener() -> Iterator[socket.socket]:
    """Listen on loopback, where nobody inside may come."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        yield listener


def _was_reached(listener: socket.socket) -> bool:
    try:
        listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True
