"""What ``http_fetch`` makes of pages, data and refusals, over a real server on loopback."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from tools.toolroom import call, context
from web.site import Answer, Site

from hermes_bot.clock import SystemClock
from hermes_bot.tools.http import described_at, http_tool
from hermes_bot.web.bodies import text_of

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_bot.messages import Json, Result

PAGE = """<html><head><title>Pumps and valves</title><style>p {color: red}</style></head><body>
<nav><a href="/">Home</a> <a href="/shop">Shop</a></nav>
<article><h1>Pumps and valves</h1>%s</article>
<footer>All rights reserved. Imprint. Cookies.</footer><script>alert("hush")</script></body></html>"""
SENTENCE = "The pump must be bled before it is started, or the seal runs dry and is scorched. "


async def fetch(site: Site, path: str, folder: Path, **args: Json) -> Result:
    tool = http_tool(site.door, 20)
    where = context(folder, SystemClock())  # type: ignore[arg-type]  # the real time, as the door has it
    return await call(tool, {"url": f"{site.url}/{path}", **args}, where)


def data_of(came: Result) -> dict[str, Any]:
    assert isinstance(came.data, dict), came
    return came.data


async def test_a_page_is_its_title_and_main_text_and_the_cut_is_said(tmp_path: Path) -> None:
    text = "".join(f"<p>{number}. {SENTENCE}</p>" for number in range(60))
    async with Site(pumps=Answer(PAGE % text, "text/html")) as site:
        came = await fetch(site, "pumps", tmp_path)
        more = await fetch(site, "pumps", tmp_path, start=2_000)
    data = data_of(came)
    assert data["title"] == "Pumps and valves"
    assert data["text"].lstrip().startswith(("0. The pump", "Pumps and valves"))
    assert len(data["text"]) == 2_000
    assert came.truncated.startswith("first 2,000 of ")
    assert not any(word in data["text"] for word in ("hush", "color: red", "<p>"))
    assert data_of(more)["text"] not in data["text"]
    assert more.truncated.startswith("characters 2,000 to 4,000 of ")
    assert (came.status, came.trust, came.source) == ("ok", "untrusted", "127.0.0.1")


async def test_a_page_that_is_no_article_is_all_of_its_text(tmp_path: Path) -> None:
    page = "<html><head><title>State</title></head><body><div>payments: down</div></body></html>"
    async with Site(state=Answer(page, "text/html")) as site:
        assert "payments: down" in data_of(await fetch(site, "state", tmp_path))["text"]


async def test_data_comes_as_data(tmp_path: Path) -> None:
    async with Site(api=Answer('{"up": [1, 2.5, null]}', "application/problem+json")) as site:
        came = await fetch(site, "api", tmp_path)
    assert data_of(came)["data"] == {"up": [1, 2.5, None]}


@pytest.mark.parametrize("body", ["{", "[" * 100_000, '{"a": ' + "9" * 5_000 + "}"])
async def test_data_that_cannot_be_read_is_said_to_be_so(body: str, tmp_path: Path) -> None:
    async with Site(api=Answer(body, "application/json")) as site:
        came = await fetch(site, "api", tmp_path)
    assert came.error is not None
    assert came.error.code == "unreadable"


async def test_a_server_that_is_busy_is_asked_once_more_and_one_that_refuses_is_not(tmp_path: Path) -> None:
    async with Site(busy=[Answer(status=503), Answer("well")], gone=Answer(status=410)) as site:
        well = await fetch(site, "busy", tmp_path)
        gone = await fetch(site, "gone", tmp_path)
        assert [request.path for request in site.asked] == ["/busy", "/busy", "/gone"]
    assert data_of(well)["text"] == "well"
    assert gone.error is not None
    assert (gone.error.code, gone.error.message, gone.error.retryable) == (
        "http_error",
        "The server answered 410 Gone.",
        False,
    )


async def test_nobody_at_the_port_is_an_error_that_may_pass(tmp_path: Path) -> None:
    async with Site() as site:
        pass
    came = await fetch(site, "", tmp_path)
    assert came.error is not None
    assert (came.error.code, came.error.retryable) == ("unreachable", True)


@pytest.mark.parametrize(
    "page",
    [
        "<div>" * 100_000 + "deep",
        "<table><tr><td>" * 20_000,
        "<a href=x>" * 50_000,
        "<p " + 'a="b" ' * 50_000 + ">attributes</p>",
        "<!--" * 100_000,
        "\x00\x01<html>",
        "&#x110000;&lt;" * 50_000,
    ],
    ids=["deep", "tables", "links", "attributes", "comments", "binary", "entities"],
)
async def test_a_page_made_to_break_parsers_costs_this_call_at_most(page: str, tmp_path: Path) -> None:
    async with Site(page=Answer(page, "text/html")) as site:
        came = await fetch(site, "page", tmp_path)
    assert came.is_ok or (came.error is not None and came.error.code in ("unreadable", "wrong_type"))


@pytest.mark.parametrize(
    ("body", "charset", "text"),
    [
        ("Grüße".encode(), "", "Grüße"),
        ("Grüße".encode("latin-1"), "iso-8859-1", "Grüße"),
        ("価格".encode("shift_jis"), "Shift_JIS", "価格"),
        (b"<meta charset='windows-1251'>" + "Цена".encode("cp1251"), "", "<meta charset='windows-1251'>Цена"),
        (b"\xef\xbb\xbfGr\xc3\xbc\xc3\x9fe", "iso-8859-1", "Grüße"),
        ("Grüße".encode("utf-16"), "", "Grüße"),
        (b"plain", "zlib", "plain"),
        (b"plain", "punycode", "plain"),
        (b"plain", "no such thing", "plain"),
        (b"\xff\xfeX", "utf-8", "X"[:0] + b"\xff\xfeX".decode("utf-16", "replace")),
    ],
)
def test_text_is_read_by_its_mark_its_charset_or_its_own_word(body: bytes, charset: str, text: str) -> None:
    assert text_of(body, charset) == text


NOW = datetime(2026, 11, 3, 8, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "as_of"),
    [
        ({}, "2026-11-03T08:15:00Z"),
        ({"date": "Tue, 03 Nov 2026 08:14:00 GMT"}, "2026-11-03T08:14:00Z"),
        ({"date": "Tue, 03 Nov 2026 08:14:00 GMT", "age": "3600"}, "2026-11-03T07:14:00Z"),
        (
            {"date": "Tue, 03 Nov 2026 08:14:00 GMT", "last-modified": "Sun, 01 Nov 2026 06:00:00 GMT"},
            "2026-11-01T06:00:00Z",
        ),
        ({"date": "Tue, 03 Nov 2037 08:14:00 GMT"}, "2026-11-03T08:15:00Z"),
        ({"date": "yesterday", "age": "-5", "last-modified": "0"}, "2026-11-03T08:15:00Z"),
    ],
)
def test_data_is_as_old_as_its_last_change_or_its_cache_says(headers: dict[str, str], as_of: str) -> None:
    assert described_at(headers, NOW) == as_of
