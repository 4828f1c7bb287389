"""Knows how what a server answers becomes a ``Result``: text and data whole, pictures and blobs described."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, assert_never

import mcp_types as types

from hermes_bot.loop.noise import one_line
from hermes_bot.mcp.web import NOT_REACHED
from hermes_bot.messages import Fault, Result
from hermes_bot.tools.outcome import broken

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp.shared.exceptions import MCPError

    from hermes_bot.messages import Json
    from hermes_bot.tools.declare import Tool

MESSAGE_CHARS = 600
_PARSED_CHARS = 1_000_000
# After these answers the server certainly did not run the tool; after any other one nobody knows.
_NOT_RUN = frozenset({types.INVALID_PARAMS, types.METHOD_NOT_FOUND, types.INVALID_REQUEST, NOT_REACHED})
_LOST = frozenset({types.CONNECTION_CLOSED, types.REQUEST_TIMEOUT})


def result_of(answer: types.CallToolResult, source: str) -> Result:
    """Return what a server's tool gave; images, sounds and blobs are described, not kept."""
    texts = [block.text for block in answer.content if isinstance(block, types.TextContent)]
    others = [line for block in answer.content for line in _described(block)]
    if answer.is_error:
        said = one_line(" ".join([*texts, *others]), MESSAGE_CHARS) or "It says no more."
        return Result("error", error=Fault("tool_failed", said), source=source, trust="untrusted")
    return Result("ok", _data("\n".join(texts), others, answer.structured_content), source=source)


def failure_of(error: MCPError, tool: Tool, server: str) -> Result:
    """Return the failed ``Result`` of a call that got no answer from the tool.

    Of an effect it is known that nothing happened only where the server refused the request itself; a broken
    connection, an unreadable answer or an internal error say nothing about it, so it is ``unknown``.
    """
    said = one_line(error.message, MESSAGE_CHARS)
    if error.code in _NOT_RUN:
        return Result("error", error=Fault("refused", f"{server}: {said}"), trust="untrusted")
    fault = Fault("server_gone", f"The MCP server {server} went away in mid-call ({said}).", retryable=True)
    if error.code not in _LOST:
        fault = Fault("server_failed", f"{server}: {said}")
    return broken(tool, fault)


def _data(text: str, others: list[str], structured: Json) -> Json:
    parsed = _parsed(text)
    if structured is None:
        whole: Json = parsed
    elif not text or parsed == structured or text in _only_text(structured):
        whole = structured
    else:
        whole = {"text": parsed, "data": structured}
    if others:
        return {"answer": whole, "also": others} if whole else {"also": others}
    return whole if whole or structured is not None else "(the tool answered with nothing)"


def _only_text(structured: Json) -> tuple[Json, ...]:
    """Return the text that some servers wrap into ``{"result": …}``, where it is nothing else."""
    is_wrapped = isinstance(structured, dict) and len(structured) == 1
    return tuple(structured.values()) if is_wrapped and isinstance(structured, dict) else ()


def _parsed(text: str) -> Json:
    """Return a text that is a JSON object or list as what it is, so that later steps can reach into it."""
    if text[:1] not in ("{", "[") or len(text) > _PARSED_CHARS:
        return text
    try:
        data: Json = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return data


def _described(block: types.ContentBlock) -> Iterator[str]:
    match block:
        case types.TextContent():
            return
        case types.ImageContent() | types.AudioContent():
            kind = "image" if isinstance(block, types.ImageContent) else "sound"
            yield f"({kind}, {one_line(block.mime_type, 60)}, {_bytes(block.data):,} bytes, not shown)"
        case types.ResourceLink():
            about = f": {one_line(block.description, 200)}" if block.description else ""
            yield f"resource {one_line(block.name, 100)} at {one_line(str(block.uri), 300)}{about}"
        case types.EmbeddedResource(resource=types.TextResourceContents() as inner):
            yield f"resource {one_line(str(inner.uri), 300)}:\n{inner.text}"
        case types.EmbeddedResource(resource=inner):
            blob = getattr(inner, "blob", "")
            yield f"(resource {one_line(str(inner.uri), 300)}, binary, {_bytes(blob):,} bytes, not shown)"
        case _:
            assert_never(block)


def _bytes(base64: str) -> int:
    return len(base64.rstrip("=")) * 3 // 4
