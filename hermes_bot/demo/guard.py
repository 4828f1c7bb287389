"""Knows who may use the page: this machine, by its own name, and of web pages this one alone.

A page of another site can have a browser send requests to 127.0.0.1, and a name of its own can be made to
lead there. So the Host must be loopback with our port, an Origin must be ours, and whatever acts must carry a
token that only our page holds; one that was kept from an earlier start is worth nothing.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from aiohttp import web

if TYPE_CHECKING:
    from aiohttp.typedefs import Handler, Middleware

TOKEN = "X-Demo-Token"  # noqa: S105 - the header's name
_NAMES = ("127.0.0.1", "localhost", "[::1]")
_POLICY = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """Lets requests through or refuses them; adds what browsers are to enforce."""

    def __init__(self, token: str) -> None:
        self._token = token

    def middleware(self) -> Middleware:
        """Return what stands before every handler."""

        @web.middleware
        async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
            if refusal := self._refuses(request):
                return web.json_response({"error": refusal}, status=403, headers=_HEADERS)
            try:
                response = await handler(request)
            except web.HTTPException as error:
                error.headers.update(_HEADERS)
                raise
            if not response.prepared:
                response.headers.update(_HEADERS)
            return response

        return guarded

    def _refuses(self, request: web.Request) -> str:
        port = request.transport.get_extra_info("sockname")[1] if request.transport else 0
        ours = {f"{name}:{port}" for name in _NAMES}
        if request.headers.get("Host") not in ours:
            return "This page answers to 127.0.0.1 only."
        origin = request.headers.get("Origin")
        if origin is not None and origin.removeprefix("http://") not in ours:
            return "Another site's page may not use this one."
        if request.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            return "Another site's page may not use this one."
        if request.method not in ("GET", "HEAD") and not self._has_token(request):
            return "This page is from an earlier start. Load it again."
        return ""

    def _has_token(self, request: web.Request) -> bool:
        return hmac.compare_digest(request.headers.get(TOKEN, "").encode(), self._token.encode())


def headers() -> dict[str, str]:
    """Return the headers of a response that is sent piece by piece, so set before it begins."""
    return dict(_HEADERS)
