"""Knows how a connection to a server is opened, and how what goes wrong with it becomes one sentence."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import anyio
import httpx2
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from hermes_bot.loop.noise import one_line
from hermes_bot.mcp.connection import linked
from hermes_bot.mcp.server import ServerDown
from hermes_bot.mcp.stdio import Program, Remarks, program_streams
from hermes_bot.mcp.web import web_streams

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp.client._transport import TransportStreams

    from hermes_bot.mcp.connection import Link
    from hermes_bot.mcp.server import Access

_CHARS = 200
_TROUBLE = (
    OSError,
    RuntimeError,
    MCPError,
    ValidationError,
    httpx2.HTTPError,
    anyio.ClosedResourceError,
    anyio.BrokenResourceError,
)


@contextlib.asynccontextmanager
async def dialled(name: str, access: Access) -> AsyncIterator[tuple[Link, Remarks]]:
    """Connect to a server and yield the connection, with what its program writes beside it.

    Raises:
        ServerDown: it cannot be reached, or the connection broke while it was used.
    """
    remarks = Remarks(name, (*access.hidden, access.token))
    try:
        async with _streams(access, remarks) as streams, linked(streams) as link:
            yield link, remarks
    except ServerDown:
        raise
    except FileNotFoundError as error:
        raise ServerDown(f"{access.section.command}: there is no such program or folder.") from error
    except (*_TROUBLE, BaseExceptionGroup) as error:
        causes = _leaves(error)
        if not all(isinstance(one, (*_TROUBLE, ServerDown)) for one in causes):
            raise
        known = next((one for one in causes if isinstance(one, ServerDown)), None)
        raise known or ServerDown(_said(causes[0], remarks)) from error


def _leaves(error: BaseException) -> list[BaseException]:
    """Return what a group of errors consists of; both kinds of task groups wrap what leaves them."""
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    return [leaf for one in error.exceptions for leaf in _leaves(one)]


def _streams(access: Access, remarks: Remarks) -> contextlib.AbstractAsyncContextManager[TransportStreams]:
    section = access.section
    if section.url:
        return web_streams(section.url, access.token, section.connect_seconds)
    program = Program(section.command, section.args, access.env, section.folder)
    return program_streams(program, remarks)


def _said(error: BaseException, remarks: Remarks) -> str:
    words = f"It does not speak MCP ({type(error).__name__})"
    if not isinstance(error, ValidationError):
        words = one_line(str(error), _CHARS) or type(error).__name__
    last = f" Its last words: {remarks.last}" if remarks.last else ""
    return f"{words.rstrip('.')}.{last}"
