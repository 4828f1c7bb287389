"""Knows how one call goes: the server's answer, or why there is none, or what people must say first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from hermes_bot.mcp.asking import Asking
from hermes_bot.mcp.results import failure_of, result_of
from hermes_bot.messages import Fault, Result, failed
from hermes_bot.tools.outcome import broken

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_bot.mcp.connection import Link
    from hermes_bot.messages import Json
    from hermes_bot.ports import ToolContext
    from hermes_bot.state import Question
    from hermes_bot.tools.declare import Tool


async def call_tool(
    link: Link, tool: Tool, args: Mapping[str, Json], context: ToolContext
) -> Result | Question:
    """Call a server's tool; its time-out is the caller's.

    A server that asks first ends the call with a question; once it is answered the same call is made again.
    ``asking`` says why that is right for a tool with an effect too.
    """
    server, _, name = tool.name.partition(".")
    asking = Asking(tool.name, context)
    try:
        answer = await link.call(name, args, asking)
    except MCPError as error:
        return failure_of(error, tool, server)
    except ValidationError:
        return broken(tool, Fault("bad_answer", f"{tool.name} answered what is no answer by the protocol."))
    if asking.question is not None:
        return asking.question
    if answer is None:
        return failed("no_answer", f"{tool.name} gave no answer.")
    return result_of(answer, f"mcp {server}")
