"""What the tests of MCP servers share: the bot with a scripted model and servers, and what came of a run."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import mcpserver
from clock import JumpClock
from endpoint import Endpoint
from world import Running, running

from hermes_bot.config import Mcp, McpServer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from pathlib import Path

    from endpoint import Scripted
    from mcpserver import Json


@asynccontextmanager
async def serving(
    folder: Path, script: Sequence[Scripted], servers: Mapping[str, McpServer], **config: Any
) -> AsyncIterator[Running]:
    """Run the bot with a scripted model and these servers, in real time that can be moved on."""
    mcp = Mcp(servers=dict(servers), wait_seconds=config.pop("wait_seconds", 20.0), **config.pop("mcp", {}))
    async with (
        Endpoint(script) as endpoint,
        running(folder / "state", endpoint=endpoint.url, mcp=mcp, clock=JumpClock(), **config) as it,
    ):
        it.endpoint = endpoint
        yield it


def folder_for(tmp_path: Path, name: str = "server") -> Path:
    folder = tmp_path / name
    folder.mkdir()
    return folder


def wiki(tmp_path: Path, *tools: Json, **section: Any) -> McpServer:
    return mcpserver.program(folder_for(tmp_path), tools or (mcpserver.tool("echo"),), **section)


async def observation(it: Running, number: int = 1) -> str:
    """Return what the only run's round got."""
    [run] = await it.runs()
    rows = [row for row in await it.rows(run.id) if row.phase == "absorb" and row.round == number]
    return str(rows[0].data["text"])


def shown(it: Running, request: int = 0) -> list[str]:
    """Return the names of the servers' tools in a prompt's stable part."""
    system = it.endpoint.requests[request]["messages"][0]["content"]
    lines = [line.split(":")[0].removeprefix("- ") for line in system.splitlines() if line.startswith("- ")]
    return [name for name in lines if "." in name and " " not in name]
