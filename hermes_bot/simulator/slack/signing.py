"""Knows how Slack signs its requests (https://docs.slack.dev/authentication/verifying-requests-from-slack)."""

from __future__ import annotations

import hashlib
import hmac
import time


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """Return the ``v0`` signature of a raw body."""
    signed = hmac.new(secret.encode(), b"v0:" + timestamp.encode() + b":" + body, hashlib.sha256)
    return f"v0={signed.hexdigest()}"


def signed_headers(secret: str, body: bytes, content_type: str, at: float | None = None) -> dict[str, str]:
    """Return the headers of a signed request; ``at`` is its moment in seconds since 1970, by default now."""
    timestamp = str(int(time.time() if at is None else at))
    return {
        "Content-Type": content_type,
        "X-Slack-Request-Timestamp": timestamp,
        "X-Slack-Signature": signature(secret, timestamp, body),
    }
