"""What ``web_search`` asks its providers, over real servers on loopback."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import SecretStr
from tools.toolroom import call, context
from web.site import Answer, Site

from hermes_bot.config import Config, Search, Secrets, Web
from hermes_bot.errors import ToolError
from hermes_bot.tools.optional import optional_tools, provider_of
from hermes_bot.tools.websearch import Hit, search_tool

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_bot.messages import Result
    from hermes_bot.tools.declare import Tool

KEY = "made-" + "up-key"


def tool_of(config: Config) -> Tool:
    (found,) = (one for one in optional_tools(config).tools if one.name == "web_search")
    return found


def asking(provider: Any, url: str, key: str = "") -> Config:
    secrets = Secrets(web_search_key=SecretStr(key) if key else None)
    return Config(web=Web(search=Search(provider=provider, base_url=url)), secrets=secrets)


async def found_by(config: Config, query: str, folder: Path, **args: int) -> Result:
    return await call(tool_of(config), {"query": query, **args}, context(folder))


async def test_a_searxng_is_asked_for_json_and_its_best_results_come_back(tmp_path: Path) -> None:
    results = [
        {"title": f"Page {number}", "url": f"https://docs.example/{number}", "content": "about  it\n" * 100}
        for number in range(20)
    ]
    answer = Answer(json.dumps({"results": results}), "application/json")
    async with Site(**{"inner/search": answer}) as site:
        came = await found_by(asking("searxng", f"{site.url}/inner/"), "a & b", tmp_path, count=3)
        (asked,) = site.asked
    assert dict(asked.query) == {"q": "a & b", "format": "json"}
    assert isinstance(came.data, dict)
    shown: Any = came.data["results"]
    assert [one["url"] for one in shown] == [f"https://docs.example/{number}" for number in range(3)]
    assert shown[0]["title"] == "Page 0"
    assert len(shown[0]["snippet"]) == 300
    assert (came.trust, came.source) == ("untrusted", "127.0.0.1")


async def test_brave_gets_its_key_and_nobody_else_does(tmp_path: Path) -> None:
    results = {"web": {"results": [{"title": "T", "url": "https://x.example/", "description": "D"}]}}
    async with (
        Site(elsewhere=Answer(json.dumps(results), "application/json")) as other,
        Site(
            **{
                "ok/res/v1/web/search": Answer(json.dumps(results), "application/json"),
                "moved/res/v1/web/search": Answer(status=302, headers={"Location": f"{other.url}/elsewhere"}),
            }
        ) as site,
    ):
        came = await found_by(asking("brave", f"{site.url}/ok", KEY), "pumps", tmp_path)
        moved = await found_by(asking("brave", f"{site.url}/moved", KEY), "pumps", tmp_path)
        assert site.asked[0].headers["X-Subscription-Token"] == KEY
        assert not other.asked
    assert came.data == {"results": [{"title": "T", "url": "https://x.example/", "snippet": "D"}]}
    assert moved.error is not None
    assert moved.error.code == "refused"


@pytest.mark.parametrize(
    "body", ["", "[]", '{"results": 7}', '{"results": [7, {}, {"url": "javascript:x"}, {"url": 7}]}']
)
async def test_a_provider_that_answers_nonsense_has_found_nothing(body: str, tmp_path: Path) -> None:
    async with Site(search=Answer(body, "application/json")) as site:
        came = await found_by(asking("searxng", site.url), "pumps", tmp_path)
    if body:
        assert came.data == {"results": [], "note": "Nothing was found."}
    else:
        assert came.error is not None
        assert came.error.code == "unreadable"


async def test_the_inner_host_of_searches_is_open_to_searches_alone(tmp_path: Path) -> None:
    async with Site(search=Answer('{"results": []}', "application/json")) as site:
        offer = optional_tools(asking("searxng", site.url))
        tools = {one.name: one for one in offer.tools}
        came = await call(tools["http_fetch"], {"url": f"{site.url}/search"}, context(tmp_path))
        assert not site.asked
    assert came.error is not None
    assert came.error.code == "refused"


@pytest.mark.parametrize(
    ("config", "why"),
    [
        (Config(), "[web.search]"),
        (Config(web=Web(search=Search(provider="brave"))), "HERMES_WEB_SEARCH_KEY"),
    ],
)
def test_without_a_provider_the_tool_is_not_there_and_says_why(config: Config, why: str) -> None:
    offer = optional_tools(config)
    assert "web_search" not in [one.name for one in offer.tools]
    assert why in offer.off["web_search"]


class Failing:
    """A provider of a third kind, which a plug-in might bring."""

    host = "index.example"

    async def search(self, query: str, count: int) -> list[Hit]:
        raise ToolError("unreachable", f"no {query} {count}")


async def test_another_provider_takes_the_place_of_ours(tmp_path: Path) -> None:
    came = await call(search_tool(Failing(), 5), {"query": "pumps"}, context(tmp_path))
    assert came.error is not None
    assert came.error.message == "no pumps 5"


def test_the_key_is_no_part_of_what_a_provider_shows() -> None:
    assert KEY not in repr(provider_of(asking("brave", "https://search.example", KEY)))
