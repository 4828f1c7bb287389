"""Knows how whatever a tool gave back, or raised, becomes a ``Result``."""

import logging
import math
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

from hermes_bot.errors import ModelError, ToolError
from hermes_bot.messages import Fault, Json, Result, ResultStatus, failed
from hermes_bot.state import Question
from hermes_bot.tools.declare import Tool
from hermes_bot.tools.workers import WorkExitedError

MAX_DATA_CHARS = 1_000_000
"""What of a result is kept at all, in characters; the model sees ``max_chars`` of it."""

_MAX_DEPTH = 40
_STATUSES = frozenset(get_args(ResultStatus))
_log = logging.getLogger(__name__)


def outcome_of(raw: object, tool: Tool) -> Result | Question:
    """Return what a tool returned as a ``Result``; what it may not return is a failed one."""
    if isinstance(raw, Question):
        return raw
    if raw is None:
        return broken(tool, Fault("no_result", f"{tool.name} returned nothing.", retryable=True))
    result = raw if isinstance(raw, Result) else Result("ok", raw)  # type: ignore[arg-type]  # checked below
    try:
        data, cut, length = _bounded(result.data)
    except TypeError as error:
        return broken(tool, Fault("wrong_type", f"{tool.name} returned what is no JSON: {error}."))
    if result.status not in _STATUSES:
        return broken(tool, Fault("wrong_type", f"{tool.name} returned a status that does not exist."))
    if cut:
        result = replace(result, truncated=cut, length=result.length or length)
    return replace(result, data=data, trust="untrusted" if tool.outside else result.trust)


def outcome_of_error(raised: BaseException, tool: Tool) -> Result:
    """Return the failed ``Result`` of something a tool raised: the code it declared, or ``crashed``.

    The text and the trace of a crash stay out of it: they may hold anything.
    """
    if isinstance(raised, ToolError | ModelError):
        return failed(raised.code, str(raised), retryable=raised.retryable)
    name = str(raised) if isinstance(raised, WorkExitedError) else type(raised).__name__
    frames = traceback.extract_tb(raised.__traceback__)
    where = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    _log.warning("tool.crashed", extra={"tool": tool.name, "error": name, "where": where})
    return broken(tool, Fault("crashed", f"{tool.name} broke off with {name}.", retryable=True))


def timed_out(tool: Tool, seconds: float) -> Result:
    """Return the ``Result`` of a tool that did not end in time."""
    said = f"{tool.name} did not end within {seconds:g} s."
    if tool.risk == "read":
        return failed("timeout", said, retryable=True, status="timeout")
    return broken(tool, Fault("timeout", said))


def broken(tool: Tool, fault: Fault) -> Result:
    """Return a failed ``Result``; of an effect that broke off nobody knows whether it happened.

    A read that broke off is worth another try: sources raise anything when they are only away for a moment.
    """
    if tool.risk == "read":
        return Result("error", error=fault)
    said = f"{fault.message} Whether it took effect is not known."
    return Result("unknown", error=Fault(fault.code, said))


def _bounded(data: object) -> tuple[Json, str, int]:
    """Return JSON data cut to a size that can be kept, what was cut in words, and the whole's length.

    Raises:
        TypeError: it is not JSON.
    """
    if isinstance(data, str) and len(data) > MAX_DATA_CHARS:
        words = f"first {MAX_DATA_CHARS:,} of {len(data):,} characters"
        return _text(data[:MAX_DATA_CHARS]), words, len(data)
    budget = _Budget(MAX_DATA_CHARS)
    kept = budget.keep(data, 0)
    return kept, budget.words(), 0


class _Budget:
    """Copies JSON until its characters are used up; every value costs a few for its punctuation."""

    def __init__(self, chars: int) -> None:
        self._left = chars
        self._cut: list[str] = []

    def words(self) -> str:
        """Say what was left out: the outermost cut first."""
        return "; ".join(reversed(self._cut[-2:]))

    def keep(self, value: Any, depth: int) -> Json:
        self._left -= 4
        if value is None or isinstance(value, bool | int):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else str(value)
        if isinstance(value, str):
            return self._keep_text(value)
        if depth > _MAX_DEPTH:
            raise TypeError(f"it is nested over {_MAX_DEPTH} levels deep")
        if isinstance(value, Mapping):
            return self._keep_fields(value, depth)
        if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
            return self._keep_items(value, depth)
        raise TypeError(f"it holds a {type(value).__name__}")

    def _keep_text(self, text: str) -> str:
        room = max(0, self._left)
        self._left -= len(text)
        if len(text) > room:
            self._cut.append(f"first {room:,} of {len(text):,} characters")
            text = text[:room]
        return _text(text)

    def _keep_items(self, items: Sequence[Any], depth: int) -> list[Json]:
        kept: list[Json] = []
        for item in items:
            if self._left <= 0:
                self._cut.append(f"first {len(kept):,} of {len(items):,} items")
                break
            kept.append(self.keep(item, depth + 1))
        return kept

    def _keep_fields(self, fields: Mapping[Any, Any], depth: int) -> dict[str, Json]:
        kept: dict[str, Json] = {}
        for name, value in fields.items():
            if self._left <= 0:
                self._cut.append(f"first {len(kept):,} of {len(fields):,} fields")
                break
            if not isinstance(name, str | int):
                raise TypeError(f"a field is named by a {type(name).__name__}")
            key = self._keep_text(str(name))
            kept[key] = self.keep(value, depth + 1)
        return kept


def _text(text: str) -> str:
    """Return the text without half characters, which no database and no network takes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text
