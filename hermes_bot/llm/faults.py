"""Knows what an endpoint's failures mean: what helps against each, and how to say it to a person. Pure."""

from __future__ import annotations

import random
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from hermes_bot.llm.request import KNOWN

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

Code: TypeAlias = Literal[
    "unauthorized", "rate_limited", "unavailable", "timeout", "overflow", "garbage", "refused"
]

LONGEST_WAIT = 60.0
RATE_TRIES = 3
SAID_CHARS = 200

_OVERFLOW_CODES = frozenset(
    {"context_length_exceeded", "exceed_context_size_error", "context_window_exceeded"}
)
_OVERFLOW_WORDS = (  # local servers give no code, only a sentence
    "context length",
    "context window",
    "context size",
    "maximum context",
    "too many tokens",
    "prompt is too long",
    "input is too long",
)
_ADVICE: Mapping[Code, str] = {
    "unauthorized": "Set HERMES_MODEL_API_KEY to a key that may use this model.",
    "rate_limited": "Try again later, or add an endpoint to [model] fallbacks.",
    "unavailable": "Check that it runs and [model] base_url is right, or add one to [model] fallbacks.",
    "timeout": "Raise [model] timeout_seconds, or use a faster model.",
    "overflow": "Lower [model] context_tokens to what the model takes.",
    "garbage": "Check that [model] base_url is the /v1 address of an OpenAI-compatible endpoint.",
    "refused": "Check [model] name, base_url and output.",
}


class Fault(Exception):  # noqa: N818 - names what is caught: one failed try
    """One failed try at one endpoint.

    Attributes:
        text: what happened, to go behind the endpoint's address; without key, without the endpoint's page.
        wait: seconds the endpoint asked for; None where it did not.
        words: names of parameters that a refusal of the form is about, most likely first; None where it is no
            refusal of the form.
    """

    def __init__(
        self, code: Code, text: str, wait: float | None = None, words: tuple[str, ...] | None = None
    ) -> None:
        super().__init__(text)
        self.code: Code = code
        self.text = text
        self.wait = wait
        self.words = words

    @property
    def advice(self) -> str:
        """What a person can do."""
        return _ADVICE[self.code]

    @property
    def is_passing(self) -> bool:
        """Whether the same request may succeed later, or elsewhere."""
        return self.code in ("rate_limited", "unavailable", "timeout", "garbage")


def pause(fault: Fault, failures: int, tries: int) -> float | None:
    """Return the seconds to wait before the next try; None where another try is pointless.

    Args:
        fault: the latest failure.
        failures: how many there were, this one included.
        tries: how many tries an endpoint that fails for its own reasons gets.
    """
    limit = {"rate_limited": RATE_TRIES, "unavailable": tries, "garbage": tries}.get(fault.code, 1)
    if failures >= limit:
        return None
    if fault.wait is None:
        return 2.0 ** (failures - 1) * random.uniform(1.0, 1.2)  # noqa: S311 - spreads runs, no cryptography
    return fault.wait if fault.wait <= LONGEST_WAIT else None


def from_status(status: int, headers: Mapping[str, str], body: Any, now: datetime) -> Fault:
    """Return what an error status means; ``body`` is its JSON, or anything else."""
    error = body.get("error", body) if isinstance(body, dict) else None
    fields: Mapping[str, Any] = error if isinstance(error, dict) else {}
    said = fields.get("message") if isinstance(fields.get("message"), str) else error
    message = said if isinstance(said, str) else ""
    code = _code(status, {str(fields.get("code")), str(fields.get("type"))}, message.lower())
    text = f"it answers {status}" + (f": {message}" if message else "")
    wait = _retry_after(headers, now) if code in ("rate_limited", "unavailable") else None
    is_form = code == "refused" and status in (400, 422, 501)
    return Fault(code, text, wait, _words(str(fields.get("param") or ""), message) if is_form else None)


def _code(status: int, names: set[str], message: str) -> Code:
    if status in (401, 403):
        return "unauthorized"
    if status == 413 or names & _OVERFLOW_CODES:  # noqa: PLR2004 - content too large
        return "overflow"
    if status in (400, 422, 500) and any(words in message for words in _OVERFLOW_WORDS):
        return "overflow"
    if status == 429:  # noqa: PLR2004 - an empty account answers it too, and does not fill by waiting
        return "refused" if "insufficient_quota" in names else "rate_limited"
    if status in (408, 409, 425) or (status >= 500 and status != 501):  # noqa: PLR2004 - 501: never will
        return "unavailable"
    return "refused"


def _words(param: str, message: str) -> tuple[str, ...]:
    """Return the parameters a refusal names: the field first, then in the order of the sentence."""
    param = param.partition(".")[0].partition("[")[0]
    places = {word: message.find(word) for word in KNOWN if word in message}
    named = sorted(places, key=lambda word: (places[word], -len(word)))
    return tuple(dict.fromkeys(([param] if param in KNOWN else []) + named))


def _retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Read ``retry-after-ms`` or ``Retry-After``, in seconds or as a date (RFC 9110 §10.2.3)."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "")
        try:
            return max(0.0, float(value) * unit)
        except ValueError:
            continue
    try:
        at = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, (at - now).total_seconds())
