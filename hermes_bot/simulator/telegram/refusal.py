"""Knows the form in which Telegram says no: a code, a description, sometimes parameters."""

from __future__ import annotations

from typing import Any


class Refused(Exception):  # noqa: N818 - reads as the fact it states
    """A call is not carried out.

    Attributes:
        code: the HTTP status and ``error_code``.
        description: Telegram's words, with their prefix: ``Bad Request: chat not found``.
        parameters: ``retry_after`` in seconds, or ``migrate_to_chat_id``.
    """

    def __init__(self, code: int, description: str, **parameters: int) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.parameters = parameters

    def to_json(self) -> dict[str, Any]:
        """Return the body of the answer."""
        body: dict[str, Any] = {"ok": False, "error_code": self.code, "description": self.description}
        return body | ({"parameters": self.parameters} if self.parameters else {})


def bad_request(description: str, **parameters: int) -> Refused:
    """Return a 400."""
    return Refused(400, f"Bad Request: {description}", **parameters)


def forbidden(description: str) -> Refused:
    """Return a 403: the destination is gone for the bot."""
    return Refused(403, f"Forbidden: {description}")


def too_many(seconds: int) -> Refused:
    """Return a 429."""
    return Refused(429, f"Too Many Requests: retry after {seconds}", retry_after=seconds)
