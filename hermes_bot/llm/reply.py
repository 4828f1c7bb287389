"""Knows how an endpoint's answer is read: a whole body, or a stream of events; all else is a ``Fault``."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from hermes_bot.decisions import NativeCall
from hermes_bot.llm.faults import Fault

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

MOST_CALLS = 64
MOST_TOKENS = 1_000_000_000  # of one answer; what is more is no count


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered, before it is priced.

    Attributes:
        tokens_in: as the endpoint counted; None where it did not.
    """

    text: str
    calls: tuple[NativeCall, ...]
    finish_reason: str
    tokens_in: int | None
    tokens_out: int | None
    model: str


class ErrorInside(Exception):  # noqa: N818 - names the kind
    """Status 200, but the body is an error: some gateways answer so.

    Attributes:
        status: what the error's code says; 502 where it says nothing.
        body: the parsed body.
    """

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__("an error inside an answer")
        error = body["error"]
        code = error.get("code") if isinstance(error, dict) else None
        self.status = code if isinstance(code, int) and 400 <= code <= 599 else 502  # noqa: PLR2004 - HTTP's errors
        self.body = body


def read_body(body: bytes) -> Reply:
    """Read a whole ``chat.completion``.

    Raises:
        Fault: it is none.
        ErrorInside: it is an error with status 200.
    """
    whole = _object(body)
    choices = whole.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise Fault("garbage", "its answer holds no choice with a message")
    wanted = message.get("tool_calls") or (
        [{"function": message["function_call"]}] if message.get("function_call") else []
    )
    calls = tuple(_call(one) for one in wanted[:MOST_CALLS]) if isinstance(wanted, list) else ()
    text = _text(message.get("content")) or _text(message.get("refusal"))
    reason = choice.get("finish_reason")
    tokens_in, tokens_out = _usage(whole)
    return Reply(
        text, calls, reason if isinstance(reason, str) else "stop", tokens_in, tokens_out, _model(whole)
    )


@dataclass(slots=True)
class _Streamed:
    """What of a stream has come."""

    events: int = 0
    text: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    arguments: list[list[str]] = field(default_factory=list)
    finish_reason: str = ""
    tokens: tuple[int | None, int | None] = (None, None)
    model: str = ""

    def take(self, event: dict[str, Any]) -> None:
        self.events += 1
        self.model = _model(event) or self.model
        if event.get("usage"):
            self.tokens = _usage(event)
        choices = event.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            return
        delta = choice.get("delta")
        if isinstance(delta, dict):
            self.text.append(_text(delta.get("content")))
            calls = delta.get("tool_calls")
            for call in calls if isinstance(calls, list) else ():
                self._take_call(call)
        if isinstance(choice.get("finish_reason"), str):
            self.finish_reason = choice["finish_reason"]

    def _take_call(self, delta: Any) -> None:
        """Add a piece of a call; a piece with another index, or a name without one, begins the next call."""
        if not isinstance(delta, dict) or not isinstance(delta.get("function"), dict):
            return
        call = _call(delta)
        index = delta.get("index")
        if not isinstance(index, int):
            index = len(self.names) if call.name or not self.names else len(self.names) - 1
        if index >= len(self.names) and len(self.names) < MOST_CALLS:
            self.names.append("")
            self.arguments.append([])
        if 0 <= index < len(self.names):
            self.names[index] += call.name
            self.arguments[index].append(call.arguments)

    def reply(self) -> Reply:
        """Return the answer; a stream that ended without saying why was cut."""
        calls = zip(self.names, map("".join, self.arguments), strict=True)
        return Reply(
            _encodable("".join(self.text)),
            tuple(NativeCall(name, arguments) for name, arguments in calls),
            self.finish_reason or "length",
            *self.tokens,
            self.model,
        )


async def read_stream(lines: AsyncIterator[str], broken: type[Exception]) -> Reply:
    """Read server-sent events up to ``[DONE]`` or their end.

    Args:
        lines: the body's lines.
        broken: what ``lines`` raises when the connection breaks: what came before is then a cut answer.

    Raises:
        Fault: no event came, or what came is none.
        ErrorInside: an event is an error.
    """
    streamed = _Streamed()
    try:
        async for line in lines:
            name, _, value = line.partition(":")
            if name != "data":
                continue
            if value.strip() == "[DONE]":
                break
            streamed.take(_object(value.encode()))
    except broken as error:
        if not streamed.events:
            raise Fault("unavailable", "the connection broke before an answer") from error
    if not streamed.events:
        raise Fault("garbage", "its stream holds no event")
    return streamed.reply()


def _object(body: bytes) -> dict[str, Any]:
    try:
        whole = from_json(body)
    except ValueError:
        whole = _with_halves(body)
    if not isinstance(whole, dict):
        raise Fault("garbage", f"it answers {_kind(body)} instead of a chat completion")
    if whole.get("error"):
        raise ErrorInside(whole)
    return whole


def _with_halves(body: bytes) -> Any:
    r"""Read JSON that holds half a surrogate pair (``\ud83d`` at a cut), which the fast reader refuses."""
    try:
        return json.loads(body) if b"\\ud" in body.lower() else None
    except (ValueError, RecursionError):
        return None


def _kind(body: bytes) -> str:
    start = body.lstrip()[:15].lower()
    if not start:
        return "nothing"
    if start.startswith((b"<!doctype", b"<html")):
        return "a web page"
    return "cut or broken JSON" if start.startswith((b"{", b"[")) else "something that is no JSON"


def _text(content: Any) -> str:
    """Return the text of a message's content: a string, a list of parts, or an object."""
    if content is None:
        return ""
    if isinstance(content, str):
        return _encodable(content)
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, dict))
    return _encodable(json.dumps(content, ensure_ascii=False))


def _call(call: Any) -> NativeCall:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return NativeCall("", "")
    return NativeCall(_text(function.get("name")), _text(function.get("arguments")))


def _usage(whole: dict[str, Any]) -> tuple[int | None, int | None]:
    usage = whole.get("usage")
    if not isinstance(usage, dict):
        return None, None
    return _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else None


def _model(whole: dict[str, Any]) -> str:
    name = whole.get("model")
    return _encodable(name) if isinstance(name, str) else ""


def _encodable(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
