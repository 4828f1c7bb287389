"""Knows who may send an event: a signature over its raw body, made with the shared secret, of this moment.

Ours: ``X-Hermes-Timestamp`` (whole seconds since 1970) and ``X-Hermes-Signature: v1=`` with the hexadecimal
HMAC-SHA256 of the timestamp, a dot and the body. Grafana's (from 12.0, "HMAC signature" of a webhook contact
point): the same over the timestamp, a colon and the body, bare in a header of its own; it has a timestamp
only where the contact point names a header for it, and without one a request would be valid for ever, so it
is not taken. Alertmanager signs nothing (prometheus/alertmanager #4248, open): a relay signs for it, or the
section says that a bearer token is enough.
"""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from multidict import CIMultiDictProxy

STAMP, SIGNATURE = "X-Hermes-Timestamp", "X-Hermes-Signature"
GRAFANA_STAMP = "X-Grafana-Alerting-Timestamp"  # what we ask people to name it; there is no default
# the contact point's form names the first, the code behind it falls back to the second
GRAFANA_SIGNATURES = ("X-Grafana-Alerting-Signature", "X-Grafana-Alert-Signature")
_SECONDS = re.compile(r"[0-9]{1,11}")
_HEX = re.compile(r"[0-9a-f]{64}")

Fault: TypeAlias = Literal["", "unsigned", "twice", "malformed", "signature", "old", "early", "bearer"]
"""Why a request is refused; empty where it is not."""


@dataclass(frozen=True, slots=True)
class Lock:
    """What opens one webhook.

    Attributes:
        window: seconds that a timestamp may lie off our clock, in both directions.
        takes_grafana: Grafana's own headers count.
        takes_bearer: a request without a signature may show the secret itself.
    """

    secret: bytes
    window: int
    takes_grafana: bool = False
    takes_bearer: bool = False


@dataclass(frozen=True, slots=True)
class _Signed:
    stamp: Sequence[str]
    signature: Sequence[str]
    between: bytes
    prefix: str = ""


def fault_of(  # noqa: PLR0911 - one for each fault
    lock: Lock, headers: CIMultiDictProxy[str], body: bytes, now: datetime
) -> Fault:
    """Say why a request is not to be taken; a signature that is there must be right, whatever else is shown.

    The signature is compared before the time is looked at, in constant time, so that a stranger learns
    nothing from either.
    """
    signed = _signed(lock, headers)
    if signed is None:
        return _bearer(lock, headers)
    if len(signed.stamp) > 1 or len(signed.signature) > 1:
        return "twice"
    if not signed.stamp or not signed.signature:
        return "unsigned"
    shown = signed.signature[0].removeprefix(signed.prefix)
    is_shaped = signed.signature[0].startswith(signed.prefix) and _HEX.fullmatch(shown)
    if not is_shaped or not _SECONDS.fullmatch(signed.stamp[0]):
        return "malformed"
    # without a secret it opens to nobody: a signature made with an empty one is as easy as none
    made = "" if not lock.secret else signature_of(lock.secret, signed.stamp[0], body, signed.between)
    if not hmac.compare_digest(made, shown):
        return "signature"
    age = now.timestamp() - int(signed.stamp[0])
    if abs(age) > lock.window:
        return "old" if age > 0 else "early"
    return ""


def signature_of(secret: bytes, stamp: str, body: bytes, between: bytes = b".") -> str:
    """Return the hexadecimal HMAC-SHA256 of a timestamp and a body."""
    return hmac.new(secret, stamp.encode() + between + body, sha256).hexdigest()


def _signed(lock: Lock, headers: CIMultiDictProxy[str]) -> _Signed | None:
    """Return what a request shows of a signature; None where it shows nothing of one."""
    stamps = headers.getall(STAMP, [])
    if signatures := headers.getall(SIGNATURE, []):
        return _Signed(stamps, signatures, b".", "v1=")
    if lock.takes_grafana:
        for name in GRAFANA_SIGNATURES:
            if signatures := headers.getall(name, []):
                return _Signed(headers.getall(GRAFANA_STAMP, []) or stamps, signatures, b":")
    return _Signed(stamps, [], b".") if stamps else None


def _bearer(lock: Lock, headers: CIMultiDictProxy[str]) -> Fault:
    shown = headers.getall("Authorization", [])
    if not lock.takes_bearer or not shown:
        return "unsigned"
    if len(shown) > 1:
        return "twice"
    scheme, _, token = shown[0].partition(" ")
    given = token.strip().encode("utf-8", "surrogateescape")
    is_right = bool(lock.secret) and hmac.compare_digest(sha256(given).digest(), sha256(lock.secret).digest())
    return "" if is_right and scheme.lower() == "bearer" else "bearer"
