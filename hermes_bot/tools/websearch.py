"""Knows the tool that searches the web, and the two kinds of providers it can ask."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Protocol
from urllib.parse import urlencode, urlsplit

from pydantic import Field

from hermes_bot.errors import ToolError
from hermes_bot.messages import Json, Result
from hermes_bot.tools.declare import Tool, tool
from hermes_bot.tools.http import WEB_ERRORS
from hermes_bot.tools.now import stamp
from hermes_bot.web import bodies

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hermes_bot.ports import ToolContext
    from hermes_bot.web import Door

MAX_HITS = 10
_MAX_SNIPPET = 300
_MAX_TITLE = 200


@dataclass(frozen=True, slots=True)
class Hit:
    """One result of a search; all of it is other people's text."""

    title: str
    url: str
    snippet: str


class SearchProvider(Protocol):
    """Whoever knows the web."""

    @property
    def host(self) -> str:
        """The host that is asked."""
        ...

    async def search(self, query: str, count: int) -> list[Hit]:
        """Return the best results, best first.

        Raises:
            ToolError: as ``Door.get``.
        """
        ...


@dataclass(frozen=True, slots=True)
class SearXNG:
    """A SearXNG instance, over its JSON API (its ``search.formats`` must list json)."""

    door: Door
    base_url: str

    @property
    def host(self) -> str:
        """The instance's host."""
        return urlsplit(self.base_url).hostname or ""

    async def search(self, query: str, count: int) -> list[Hit]:
        """Ask the instance (docs.searxng.org/dev/search_api.html)."""
        asked = urlencode({"q": query, "format": "json"})
        found = await _json(self.door, f"{self.base_url.rstrip('/')}/search?{asked}", {})
        return _hits(_items(found, "results"), "content")[:count]


@dataclass(frozen=True, slots=True)
class Brave:
    """Brave's search API, which wants a key."""

    door: Door
    base_url: str
    key: str = field(default="", repr=False)

    @property
    def host(self) -> str:
        """The API's host."""
        return urlsplit(self.base_url).hostname or ""

    async def search(self, query: str, count: int) -> list[Hit]:
        """Ask the API (api-dashboard.search.brave.com/app/documentation/web-search)."""
        asked = urlencode({"q": query, "count": count, "text_decorations": "false"})
        url = f"{self.base_url.rstrip('/')}/res/v1/web/search?{asked}"
        found = await _json(self.door, url, {"X-Subscription-Token": self.key})
        inner = found.get("web") if isinstance(found, dict) else None
        return _hits(_items(inner, "results"), "description")[:count]


def search_tool(provider: SearchProvider, seconds: float) -> Tool:
    """Return the tool ``web_search``."""

    @tool(
        outside=True,
        timeout=seconds,
        retries=1,
        example={"query": "nginx upstream prematurely closed connection"},
        errors=WEB_ERRORS,
    )
    async def web_search(
        query: Annotated[str, Field(description="what to search for", min_length=1, max_length=400)],
        ctx: ToolContext,
        count: Annotated[int, Field(description="how many results", ge=1, le=MAX_HITS)] = 5,
    ) -> Result:
        """Search the web: title, address and snippet of the best results (first 5, at most 10)."""
        hits = await provider.search(query, count)
        shown: list[Json] = [{"title": one.title, "url": one.url, "snippet": one.snippet} for one in hits]
        data: dict[str, Json] = {"results": shown}
        if not hits:
            data["note"] = "Nothing was found."
        return Result("ok", data, source=provider.host, as_of=stamp(ctx.clock.now()))

    return web_search


async def _json(door: Door, url: str, headers: dict[str, str]) -> Any:
    page = await door.get(url, {"Accept": "application/json", **headers})
    try:
        return json.loads(bodies.text_of(page.body, page.charset))
    except (ValueError, RecursionError) as error:
        raise ToolError("unreadable", "The search provider did not answer with JSON.") from error


def _items(found: Any, name: str) -> list[Any]:
    items = found.get(name) if isinstance(found, dict) else None
    return items if isinstance(items, list) else []


def _hits(items: Iterable[Any], snippet: str) -> list[Hit]:
    read = (
        Hit(_text(one, "title", _MAX_TITLE), _text(one, "url", 2_000), _text(one, snippet, _MAX_SNIPPET))
        for one in items
        if isinstance(one, dict)
    )
    return [one for one in read if one.url.startswith(("http://", "https://"))]


def _text(item: dict[str, Any], name: str, room: int) -> str:
    text = item.get(name)
    return " ".join(text.split())[:room] if isinstance(text, str) else ""
