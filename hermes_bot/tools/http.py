"""Knows the tool that fetches a page or an API through the one door to the web."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from hermes_bot.errors import ToolError
from hermes_bot.messages import Json, Result
from hermes_bot.tools.declare import Tool, tool
from hermes_bot.tools.now import stamp
from hermes_bot.tools.processes import ask_process
from hermes_bot.web import bodies

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_bot.ports import ToolContext
    from hermes_bot.web import Door, Page

MAX_TEXT = 2_000
EXTRACT_SECONDS = 12.0

WEB_ERRORS = {
    "refused": "not a public web address",
    "not_found": "no such host",
    "unreachable": "no connection; try later",
    "timeout": "too slow; try later",
    "http_error": "the server's own refusal",
    "too_many_redirects": "over 5",
    "wrong_type": "no page, text or data",
    "unreadable": "it cannot be read",
}

_WORKER = Path(__file__).with_name("page_worker.py")
_PAGES = frozenset({"text/html", "application/xhtml+xml"})

Url = Annotated[str, Field(description="address, http or https", min_length=1, max_length=4_000)]


def http_tool(door: Door, seconds: float) -> Tool:
    """Return the tool ``http_fetch``; ``seconds`` is for the whole call, the second try included."""

    @tool(
        outside=True,
        timeout=seconds,
        retries=1,
        example={"url": "https://status.example/api"},
        errors=WEB_ERRORS,
    )
    async def http_fetch(
        url: Url,
        ctx: ToolContext,
        start: Annotated[int, Field(description="first character of the text to show", ge=0)] = 0,
    ) -> Result:
        """Fetch a web page or API: title and main text (2,000 characters from start), or its JSON data."""
        page = await door.get(url)
        as_of = described_at(page.headers, ctx.clock.now())
        came = _data(page) if _is_json(page) else await _text(page, start)
        cut = "; ".join(filter(None, [came.truncated, _cut_bytes(page)]))
        data = {"url": page.url, **came.data} if isinstance(came.data, dict) else came.data
        return replace(
            came,
            data=data,
            status="partial" if page.is_cut else "ok",
            truncated=cut,
            source=page.host,
            as_of=as_of,
        )

    return http_fetch


def described_at(headers: Mapping[str, str], now: datetime) -> str:
    """Return the moment that an answer describes: when it last changed, else when it was made.

    A cache's ``Age`` counts (RFC 9111 §5.1). A clock ahead of ours is not believed.
    """
    changed, made = (_instant(headers.get(name, "")) for name in ("last-modified", "date"))
    age = headers.get("age", "")
    if made and age.isascii() and age.isdigit():
        made -= timedelta(seconds=min(int(age[:9]), 10**8))
    return stamp(min(changed or made or now, now))


def _instant(text: str) -> datetime | None:
    try:
        at = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def _is_json(page: Page) -> bool:
    return page.kind.endswith(("/json", "+json"))


def _cut_bytes(page: Page) -> str:
    return f"only the first {len(page.body):,} bytes were read" if page.is_cut else ""


def _data(page: Page) -> Result:
    try:
        found: Json = json.loads(bodies.text_of(page.body, page.charset))
    except (ValueError, RecursionError) as error:
        said = "over the limit of bytes" if page.is_cut else "broken"
        raise ToolError("unreadable", f"The JSON that came is {said}.") from error
    return Result("ok", {"data": found})


async def _text(page: Page, start: int) -> Result:
    title, text = "", bodies.text_of(page.body, page.charset)
    if page.kind in _PAGES:
        title, text = await _main_text(text)
    shown: dict[str, Any] = {"title": title} if title else {}
    shown["text"] = text[start : start + MAX_TEXT]
    end = start + len(shown["text"])
    if start == 0:
        cut = f"first {end:,} of {len(text):,} characters" if end < len(text) else ""
    else:
        cut = f"characters {start:,} to {end:,} of {len(text):,}"
    return Result("ok", shown, length=len(text) if cut else 0, truncated=cut)


async def _main_text(html: str) -> tuple[str, str]:
    try:
        found = await ask_process(_WORKER, {"html": html}, EXTRACT_SECONDS)
    except ToolError as error:
        raise ToolError("unreadable", f"The page's text could not be made out. {error}") from error
    return str(found["title"]), str(found["text"])
