"""Knows one run of a program: its descriptors, its walls, and what it leaves in the workspace."""

from __future__ import annotations

import asyncio
import contextlib
import os
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

from hermes_bot.errors import ToolError
from hermes_bot.sandbox import callfilter, holdings
from hermes_bot.sandbox.launch import Bounds, Ended, Start, launch
from hermes_bot.sandbox.profile import ENVIRONMENT, INPUTS, PYTHON, Allowance, Confinement, Host, own_user

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from hermes_bot.sandbox.holdings import Holdings

PROGRAM = "main.py"
_NUMBERS = count()


@dataclass(frozen=True, slots=True)
class Order:
    """One program to run.

    Attributes:
        code: Python, whole.
        workspace: the thread's folder, which the program may change.
        inputs: further files by name; the program reads them in /in.
        arguments: of the program.
    """

    code: str
    workspace: Path
    inputs: Mapping[str, bytes] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Done:
    """How a program ended, and what it left.

    Attributes:
        made: sizes of the files that are new or changed, by path in the workspace.
        removed: how many names were removed since the workspace had grown too large.
    """

    ended: Ended
    made: Mapping[str, int]
    removed: int = 0


async def carry_out(order: Order, host: Host, allowance: Allowance, environment: Path | None) -> Done:
    """Run a program behind its walls, and see what it leaves.

    Raises:
        ToolError: ``sandbox_failed``; nothing was run.
    """
    user = own_user(next(_NUMBERS))
    before = await asyncio.to_thread(_prepare, order.workspace, user if host.is_root else 0)
    allowance = _at_least(allowance, before)
    with _descriptors(order, host) as opened:
        walls = Confinement(
            host,
            allowance,
            order.workspace,
            environment,
            inputs=opened.inputs,
            filter_fd=opened.filter_fd,
            status_fd=opened.status[1],
            user=user,
        )
        python = f"{ENVIRONMENT}/bin/python3" if environment else PYTHON
        command = walls.command((python, "-B", f"{INPUTS}/{PROGRAM}", *order.arguments))
        look = partial(_too_much, order.workspace, allowance)
        bounds = Bounds(allowance.seconds, allowance.output_bytes, allowance.memory_bytes, look)
        try:
            ended = await launch(Start(command, opened.inherited(), opened.status[0]), bounds)
        except asyncio.CancelledError:
            _settled(Ended(None, b""), before, order.workspace, allowance)
            raise
    return await asyncio.to_thread(_settled, ended, before, order.workspace, allowance)


@dataclass(frozen=True, slots=True)
class _Opened:
    """The descriptors of one run: files by name, the filter, and both ends of bubblewrap's report."""

    inputs: Mapping[str, int]
    filter_fd: int | None
    status: tuple[int, int]

    def inherited(self) -> tuple[int, ...]:
        filters = () if self.filter_fd is None else (self.filter_fd,)
        return *self.inputs.values(), *filters, self.status[1]


@contextlib.contextmanager
def _descriptors(order: Order, host: Host) -> Iterator[_Opened]:
    with contextlib.ExitStack() as stack:

        def keep(fd: int) -> int:
            stack.callback(os.close, fd)
            return fd

        files = {**order.inputs, PROGRAM: order.code.encode("utf-8", "replace")}
        inputs = {name: keep(callfilter.readable(data)) for name, data in files.items()}
        reader, writer = os.pipe()
        status = keep(reader), keep(writer)
        yield _Opened(inputs, keep(callfilter.filter_file()) if host.has_filter else None, status)


def _prepare(workspace: Path, user: int) -> Holdings:
    """Make the workspace where it is missing, give it to a user, and see what it holds.

    Raises:
        ToolError: ``sandbox_failed``: it is no folder of ours.
    """
    try:
        workspace.mkdir(mode=0o700, parents=True, exist_ok=True)
        if workspace.is_symlink():
            raise ToolError("sandbox_failed", "The workspace is a link; nothing was run.")
        if user:
            holdings.give_to(workspace, user)
    except OSError as error:
        raise ToolError("sandbox_failed", f"The workspace cannot be used ({error.strerror}).") from error
    return holdings.look(workspace)


def _at_least(allowance: Allowance, before: Holdings) -> Allowance:
    """Return an allowance that a full workspace does not pass already: it may shrink, and not grow."""
    return replace(
        allowance,
        workspace_bytes=max(allowance.workspace_bytes, before.size),
        workspace_files=max(allowance.workspace_files, before.names),
    )


def _too_much(workspace: Path, allowance: Allowance) -> str:
    return holdings.look(workspace, allowance).over(allowance)


def _settled(ended: Ended, before: Holdings, workspace: Path, allowance: Allowance) -> Done:
    """See what a run left; what is too much of it is removed."""
    after, removed = holdings.look(workspace, allowance), 0
    if why := after.over(allowance):
        with contextlib.suppress(OSError):  # what cannot be removed stays, and the next run says so again
            removed = holdings.restore(workspace, before, allowance)
        ended, after = replace(ended, killed="workspace", why=why, code=None), holdings.look(workspace)
    holdings.disarm(workspace)
    made = {path: kept.size for path, kept in after.files.items() if before.files.get(path) != kept}
    return Done(ended, made, removed)
