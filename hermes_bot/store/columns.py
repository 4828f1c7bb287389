"""Knows how times, texts and values of ours are written in columns."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hermes_bot.messages import Attachment, Button, Fault, IncomingFile, Press, Request, Result

if TYPE_CHECKING:
    from hermes_bot.messages import ThreadKey

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def to_ms(at: datetime) -> int:
    """Return a moment as milliseconds since 1970, UTC."""
    return round(at.timestamp() * 1000)


def from_ms(ms: int) -> datetime:
    """Return the moment that ``to_ms`` wrote, in UTC."""
    return datetime.fromtimestamp(ms / 1000, UTC)


def maybe_ms(at: datetime | None) -> int | None:
    """``to_ms`` where there is a moment."""
    return None if at is None else to_ms(at)


def maybe_moment(ms: int | None) -> datetime | None:
    """``from_ms`` where there is a moment."""
    return None if ms is None else from_ms(ms)


def clean(text: str) -> str:
    """Return the text as SQLite can hold it: half a surrogate pair becomes U+FFFD."""
    if not _is_torn(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def to_json(value: Any) -> str:
    """Return a value as the shortest JSON text that SQLite can hold."""
    text = _encode(value)
    # half a surrogate pair has no UTF-8 form, but an escape keeps it exactly
    return json.dumps(value, separators=(",", ":")) if _is_torn(text) else text


def from_json(text: str) -> Any:
    """Return what ``to_json`` wrote."""
    return json.loads(text)


def _is_torn(text: str) -> bool:
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def channel_of(thread: ThreadKey) -> str:
    """Return the column text of a thread's channel; order and pacing of posts go by it."""
    return f"{thread.platform}/{thread.workspace}/{thread.channel}"


def result_to_json(result: Result) -> str:
    """Return a ``Result`` as JSON text; fields with their default value are left out."""
    fault = result.error
    written: dict[str, Any] = {
        "status": result.status,
        "data": result.data,
        "error": fault and [fault.code, fault.message, fault.retryable],
        "duration_ms": result.duration_ms,
        "length": result.length,
        "truncated": result.truncated,
        "source": result.source,
        "as_of": result.as_of,
        "trust": "" if result.trust == "trusted" else result.trust,
    }
    return to_json({name: value for name, value in written.items() if name == "data" or value})


def result_from_json(text: str) -> Result:
    """Return the ``Result`` that ``result_to_json`` wrote."""
    written = from_json(text)
    error = written.pop("error", None)
    return Result(error=Fault(*error) if error else None, **written)


def press_to_json(press: Press | None) -> str | None:
    """Return a press as JSON text, where there is one."""
    return None if press is None else to_json([press.question, press.option])


def press_from_json(text: str | None) -> Press | None:
    """Return the press that ``press_to_json`` wrote."""
    return Press(*from_json(text)) if text else None


def request_to_json(request: Request | None) -> str | None:
    """Return a request as JSON text, where there is one."""
    if request is None:
        return None
    return to_json([request.skill, dict(request.params), request.profile, dict(request.limits)])


def request_from_json(text: str | None) -> Request | None:
    """Return the request that ``request_to_json`` wrote."""
    return Request(*from_json(text)) if text else None


def buttons_to_json(buttons: tuple[Button, ...]) -> str:
    """Return buttons as JSON text; empty where there are none."""
    if not buttons:
        return ""
    return to_json([[it.label, it.press.question, it.press.option] for it in buttons])


def buttons_from_json(text: str) -> tuple[Button, ...]:
    """Return the buttons that ``buttons_to_json`` wrote."""
    return tuple(
        Button(label, Press(question, option)) for label, question, option in from_json(text or "[]")
    )


def files_to_json(files: tuple[Attachment, ...]) -> str:
    """Return attachments as JSON text; empty where there are none."""
    return to_json([[it.name, it.path, it.text, it.about] for it in files]) if files else ""


def files_from_json(text: str) -> tuple[Attachment, ...]:
    """Return the attachments that ``files_to_json`` wrote, in any version."""
    return tuple(Attachment(*written) for written in from_json(text or "[]"))


def given_to_json(files: tuple[IncomingFile, ...]) -> str:
    """Return people's files as JSON text; empty where there are none."""
    return to_json([[it.name, it.ref, it.size, it.kind] for it in files]) if files else ""


def given_from_json(text: str) -> tuple[IncomingFile, ...]:
    """Return the files that ``given_to_json`` wrote."""
    return tuple(IncomingFile(*written) for written in from_json(text or "[]"))
