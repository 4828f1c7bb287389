"""Knows the structured forms of a log message: JSON objects of many dialects, and Event Viewer blocks."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from hermes_bot.diagnosis.levels import field_level, http_level, text_level
from hermes_bot.diagnosis.stamps import Stamp, StampReader, epoch_wall
from hermes_bot.diagnosis.values import Level

_TIME_KEYS = (
    "__REALTIME_TIMESTAMP", "@timestamp", "timestamp", "time", "ts", "datetime", "date", "t", "asctime",
    "eventTime", "firstTimestamp", "lastTimestamp", "created", "creationTimestamp",
    "_SOURCE_REALTIME_TIMESTAMP",
)  # fmt: skip
_LEVEL_KEYS = ("level", "severity", "lvl", "loglevel", "levelname", "log.level", "severity_text", "PRIORITY")
_MESSAGE_KEYS = ("message", "msg", "MESSAGE", "event", "log", "text", "body", "short_message")
_ERROR_KEYS = (
    "error",
    "err",
    "exception",
    "exc_info",
    "stack",
    "stack_trace",
    "traceback",
    "cause",
    "reason",
)
_SOURCE_KEYS = ("SYSLOG_IDENTIFIER", "logger", "logger_name", "name", "service", "component", "app")
_STATUS_KEYS = ("status", "status_code", "statusCode")
_HTTP_STATUSES = range(100, 600)
_BYTES = range(256)
_TEXT_LIMIT = 16_000
_DEPTH = 4


@dataclass(frozen=True, slots=True)
class Fields:
    """What a structured message says; ``stamp`` without offset where it names no zone."""

    stamp: Stamp | None
    level: Level
    message: str
    source: str


def read_json(text: str) -> Fields | None:
    """Read a line that is one JSON object; None where it is not."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict):
        return None
    fields = _object_fields(data)
    return fields if fields.message else None


def _object_fields(data: Mapping[str, Any]) -> Fields:
    message = " ".join(dict.fromkeys(_message_parts(data)))[:_TEXT_LIMIT]
    status = next((s for s in _find(data, _STATUS_KEYS) if isinstance(s, int) and s in _HTTP_STATUSES), None)
    level = next((lv for v in _find(data, _LEVEL_KEYS) if (lv := field_level(v))), Level.NONE)
    if not level and data.get("kind") == "Event":
        level = field_level(data.get("type"))
    if not level:
        level = http_level(status) if status else text_level(message, message)
    if status and "status" not in message:
        message += f" status={status}"
    source = next((str(v) for v in _find(data, _SOURCE_KEYS) if isinstance(v, str)), "")
    return Fields(_stamp(data), level, message.strip(), source)


def _find(data: Mapping[str, Any], keys: tuple[str, ...], depth: int = _DEPTH) -> Iterator[Any]:
    """Give the values of some keys, outer objects first."""
    yield from (data[key] for key in keys if data.get(key) is not None)
    if depth:
        for value in data.values():
            if isinstance(value, dict):
                yield from _find(value, keys, depth - 1)


def _message_parts(data: Mapping[str, Any]) -> Iterator[str]:
    reason = data.get("reason")
    if isinstance(reason, str):  # Kubernetes events and terminated containers lead with it
        yield f"{reason}:"
    for key in _MESSAGE_KEYS:
        if (value := data.get(key)) is not None:
            yield from _texts(value)
    for value in _find(data, _ERROR_KEYS):
        if value is not reason:
            yield from _texts(value)


def _texts(value: Any, depth: int = _DEPTH) -> Iterator[str]:
    if isinstance(value, str):
        yield value.strip()
    elif isinstance(value, list):
        yield from _list_texts(value, depth)
    elif isinstance(value, dict) and depth:
        for key in ("type", "kind", "class", "name", "code", *_MESSAGE_KEYS, "stack", "stacktrace", "cause"):
            if value.get(key) is not None:
                yield from _texts(value[key], depth - 1)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield str(value)


def _list_texts(value: list[Any], depth: int) -> Iterator[str]:
    # journald writes what is no UTF-8 as a list of byte values (systemd, Journal Export Formats, JSON).
    if value and all(isinstance(b, int) and b in _BYTES for b in value):
        yield bytes(value).decode("utf-8", "replace").strip()
    elif depth:
        for item in value[:50]:
            yield from _texts(item, depth - 1)


def _stamp(data: Mapping[str, Any]) -> Stamp | None:
    for value in _find(data, _TIME_KEYS):
        wall = _field_wall(value)
        if wall is not None:
            return wall
    return None


def _field_wall(value: Any) -> Stamp | None:
    if isinstance(value, bool):
        return None
    text = str(value)
    if not isinstance(value, str) or text.replace(".", "", 1).isdigit():
        try:
            wall: datetime = epoch_wall(float(text))
        except (ValueError, OverflowError):
            return None
        return Stamp(wall, timedelta(0), 0, 0)
    return StampReader().read(text)


_BLOCK_HEAD = re.compile(r"^Log Name:\s")
_BLOCK_FIELD = re.compile(r"^(?P<key>Source|Date|Event ID|Level):\s+(?P<value>.*)$")


def is_block_head(text: str) -> bool:
    """Tell whether a line opens an event of the Windows Event Viewer's text export."""
    return _BLOCK_HEAD.match(text) is not None


def read_block(lines: list[str]) -> Fields:
    """Read one event of the Event Viewer's text export; its dates are the host's wall time."""
    fields: dict[str, str] = {}
    body: list[str] = []
    in_body = False
    for text in lines:
        if in_body:
            body.append(text)
        elif field := _BLOCK_FIELD.match(text):
            fields[field["key"]] = field["value"].strip()
        in_body = in_body or text.startswith("Description:")
    words = "\n".join([f"{fields.get('Source', '')} {fields.get('Event ID', '')}:", *body]).strip()
    stamp = StampReader().read(fields.get("Date", ""))
    return Fields(stamp, field_level(fields.get("Level", "")), words[:_TEXT_LIMIT], fields.get("Source", ""))
