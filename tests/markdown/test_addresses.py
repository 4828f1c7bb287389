"""Which addresses may be clicked: the rule of ``addresses``, example by example (P22, B-89)."""

from __future__ import annotations

import pytest

from hermes_bot.markdown import addresses, disarm
from hermes_bot.markdown.defuse import safe
from hermes_bot.markdown.tree import Code, Link, Paragraph, Text, words

KEPT = [
    "https://w.example",
    "https://w.example/wiki/Foo_(x)",
    "https://git.example/team/app/commit/3f2a9c1d3f2a9c1d3f2a9c1d3f2a9c1d3f2a9c1d",
    "https://git.example/team/app/blob/main/src/some-file_name.py#L10-L20",
    "https://grafana.example/d/abc12/checkout?orgId=1&from=now-6h&to=now&var-service=checkout&refresh=30s",
    "https://board.example/browse/OPS-12?focusedId=12345",
    "https://w.example/search?q=is%3Aopen+label%3Abug&page=2",
    "https://logs.example/view?since=2026-01-01T09:00:00.000Z&until=2026-01-01T10:00:00Z",
    "https://acme.chat.example/archives/C0123ABCD/p1767225600000100?thread_ts=1767225600.000100",
    "https://w.example/run/7d9f3c1e-5b7a-4c2d-9e8f-001122334455",
    "http://127.0.0.1:8000/health",
    "mailto:team@w.example?subject=hello",
]
DEAD = [
    "https://e.example/?d=SECRET",
    "https://e.example/?SECRETS",
    "https://e.example/?d=the%20first%20line%20of%20a%20letter%20to%20somebody%20else",
    "https://e.example/?d=QWxhZGRpbjpvcGVuIHNlc2FtZQ%3D%3D",
    "https://e.example/?d=xoxb-1234567890-abcdefghijklmnopqrst",
    "https://e.example/p?" + "&".join(f"p{number}=wordword" for number in range(20)),
    "https://e.example/QWxhZGRpbjpvcGVuIHNlc2FtZTEyMzQ1",
    "https://e.example/a%20line%20%22quoted%22",
    "https://e.example/#" + "secret-words-" * 10,
    "https://6a6f686e2e646f652d70617373776f72642d31323334zz.e.example/",
    "https://user:password@e.example/",
    "https://e.example/" + "a/" * 2000,
    "tg://user?id=1",
    "javascript:alert(1)",
    "data:text/html,x",
    "ftp://files.example/x",
    "https://[broken",
]


@pytest.mark.parametrize("address", KEPT)
def test_an_ordinary_address_is_a_link(address: str) -> None:
    assert addresses.is_safe(address)
    assert safe(f"[x]({address})") == (Paragraph((Link(address, (Text("x"),)),)),)


@pytest.mark.parametrize("address", DEAD)
def test_an_address_with_room_for_data_is_shown_whole_as_code(address: str) -> None:
    assert not addresses.is_safe(address)
    (paragraph,) = safe(f"[x](<{address}>)")
    assert paragraph == Paragraph((Text("x ("), Code(addresses.normal(address)), Text(")")))


@pytest.mark.parametrize(
    "address", ["https://e.example/?d=SECRET", "tg://user?id=1", "www.e.example/?d=SECRET"]
)
def test_a_bare_address_of_that_kind_is_code_too(address: str) -> None:
    assert safe(f"see {address}, please") == (Paragraph((Text("see "), Code(address), Text(", please"))),)


def test_an_image_is_a_link_and_one_with_a_query_is_none() -> None:
    assert safe("![a chart](https://w.example/a.png)") == (
        Paragraph((Link("https://w.example/a.png", (Text("a chart"),)),)),
    )
    (paragraph,) = safe("![x](https://w.example/a.png?d=1)")
    assert paragraph == Paragraph((Text("x ("), Code("https://w.example/a.png?d=1"), Text(")")))


def test_a_label_that_names_another_host_does_not_hide_where_a_link_leads() -> None:
    (paragraph,) = safe("[https://bank.example/login](https://e.example/)")
    assert "".join(words((paragraph,))) == "https://bank.example/login (https://e.example/)"


def test_a_label_that_lost_its_link_is_judged_as_text() -> None:
    (paragraph,) = safe("[https://e.example/?d=SECRET](tg://user?id=1)")
    assert isinstance(paragraph, Paragraph)
    assert Code("https://e.example/?d=SECRET") in paragraph.children


@pytest.mark.parametrize("address", [*DEAD[:12], "tg://user?id=1"])
def test_plain_text_has_such_addresses_broken_and_readable(address: str) -> None:
    broken = disarm(f"see {address} now")
    assert address not in broken
    assert broken.replace("\u200b", "") == f"see {address} now"


def test_plain_text_keeps_ordinary_addresses() -> None:
    text = "see https://w.example/a_(b) and w.example/x."
    assert disarm(text) == text


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("(see https://w.example/a).", "https://w.example/a"),
        ("https://w.example/a_(b)", "https://w.example/a_(b)"),
        ("(https://w.example/a_(b))", "https://w.example/a_(b)"),
        ("https://w.example/a, and", "https://w.example/a"),
        ("**https://w.example/a**", "https://w.example/a"),
        ("<https://w.example/a>", "https://w.example/a"),
        ("https://w.example/?a=b&c=d!", "https://w.example/?a=b&c=d"),
    ],
)
def test_an_address_ends_where_the_sentence_goes_on(text: str, found: str) -> None:
    ((begin, end),) = addresses.find(text)
    assert text[begin:end] == found
