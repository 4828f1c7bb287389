"""Knows how a log line is written: one line an event, a dotted name and fields, to stderr.

::

    log.info("run.done", extra=fields(thread=key, run="7f3a", rounds=3))
    → run.done thread=slack/T1/C1/1.1 run=7f3a rounds=3

Ids, lengths and times only: never a message's text, a prompt or a token. journald adds time and host.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import traceback
from typing import TYPE_CHECKING, Literal

from hermes_bot.errors import HermesError

if TYPE_CHECKING:
    from collections.abc import Callable

Level = Literal["debug", "info", "warning", "error"]

_PLAIN = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName", "fields"}
_BARE = re.compile(r"[^\s\"=]+")


def fields(**values: object) -> dict[str, object]:
    """Return what ``extra=`` takes; a bare ``{"thread": …}`` is refused there, logging has one of its own."""
    return {"fields": values}


class LineFormatter(logging.Formatter):
    """Writes an event as one line; an exception as its type and place, with its frames only for debugging.

    A foreign exception's text may hold what a person wrote, so it is left out above debug level; our own
    errors are written for people and hold none.
    """

    def __init__(
        self,
        *,
        frames: bool = False,
        priorities: bool = False,
        redact: Callable[[str], str] = str,
    ) -> None:
        super().__init__()
        self._redact = redact
        self._frames = frames
        self._priorities = priorities

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        error = record.exc_info[1] if record.exc_info else None
        told = _told(record, error)
        line = " ".join([_event(record), *(f"{name}={_value(value)}" for name, value in told.items())])
        if error is not None and self._frames:
            line += "\n" + "".join(traceback.format_exception(error)).rstrip()
        line = self._redact(line)
        return re.sub("^", _priority(record), line, flags=re.MULTILINE) if self._priorities else line


def configure(level: Level = "info", *, to_journal: bool = False, redact: Callable[[str], str] = str) -> None:
    """Send every event of ours from ``level`` up to stderr, and of others from warning up.

    ``to_journal`` has each line begin with its priority, which journald takes off (sd-daemon(3)); ``redact``
    takes the secrets out of whole lines: what was said, its fields, an exception and its frames.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LineFormatter(frames=level == "debug", priorities=to_journal, redact=redact))
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    for name in ("hermes_bot", "hermes_console", "hermes_slack", "hermes_telegram"):
        logging.getLogger(name).setLevel(level.upper())


def _told(record: logging.LogRecord, error: BaseException | None) -> dict[str, object]:
    told = {name: value for name, value in vars(record).items() if name not in _PLAIN}
    told |= getattr(record, "fields", {})
    if record.levelno >= logging.WARNING:
        told["level"] = record.levelname.lower()
    if error is not None:
        told |= {"error": type(error).__name__, "at": _place(error)}
    if isinstance(error, HermesError):
        told["said"] = str(error)
    return told


def _priority(record: logging.LogRecord) -> str:
    steps = ((logging.ERROR, "<3>"), (logging.WARNING, "<4>"), (logging.INFO, "<6>"))
    return next((mark for level, mark in steps if record.levelno >= level), "<7>")


def _event(record: logging.LogRecord) -> str:
    if record.name.startswith("hermes_"):
        return record.getMessage()
    # Others do not keep our rule: what they say may quote a request. Their name and place must do.
    return f"{record.name} line={record.filename}:{record.lineno}"


def _value(value: object) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if _BARE.fullmatch(text) else json.dumps(text, ensure_ascii=False)


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return "-"
    return f"{'/'.join(frames[-1].filename.split('/')[-2:])}:{frames[-1].lineno}"
