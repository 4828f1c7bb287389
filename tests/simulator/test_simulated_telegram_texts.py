"""What texts the simulated Telegram takes, and what people see of them."""

from __future__ import annotations

import html as escaping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulator.telegram_place import TEAM, post, refusal, team

from hermes_bot.simulator.telegram.entities import part, units
from hermes_bot.simulator.telegram.html import parse_html
from hermes_bot.simulator.telegram.refusal import Refused


def shown(source: str) -> tuple[str, list[tuple[str, str]]]:
    """Return the text and, for each entity, its type and what it covers."""
    text, entities = parse_html(source)
    return text, [(str(one["type"]), part(text, one)) for one in entities]


@pytest.mark.parametrize(
    ("source", "text", "entities"),
    [
        ("<b>a</b><strong>b</strong>", "ab", [("bold", "a"), ("bold", "b")]),
        ("<i>a</i><em>b</em>", "ab", [("italic", "a"), ("italic", "b")]),
        ("<u>a</u><ins>b</ins>", "ab", [("underline", "a"), ("underline", "b")]),
        ("<s>a</s><strike>b</strike><del>c</del>", "abc", [("strikethrough", one) for one in "abc"]),
        (
            '<tg-spoiler>a</tg-spoiler><span class="tg-spoiler">b</span>',
            "ab",
            [("spoiler", "a"), ("spoiler", "b")],
        ),
        ("<pre>x\n  y</pre>", "x\n  y", [("pre", "x\n  y")]),
        ("<code>a &lt; b</code>", "a < b", [("code", "a < b")]),
        ("<blockquote>q <b>b</b></blockquote>", "q b", [("blockquote", "q b"), ("bold", "b")]),
        ("<blockquote expandable>q</blockquote>", "q", [("expandable_blockquote", "q")]),
        ('<tg-emoji emoji-id="536">👍</tg-emoji>', "👍", [("custom_emoji", "👍")]),
        ('<tg-time unix="1767225600">noon</tg-time>', "noon", [("date_time", "noon")]),
        ("<B>a</B>", "a", [("bold", "a")]),
        ("<b>😀a</b>b", "😀ab", [("bold", "😀a")]),
        ("<b></b>a", "a", []),
        ("a &lt;b&gt; &amp;lt; &quot; &#60; &#x3C;", 'a <b> &lt; " < <', []),
        ("a & b &nbsp; &copy;", "a & b &nbsp; &copy;", []),
        ("a > b", "a > b", []),
        ("<a href='https://a.example/?x=1&amp;y=2'>a</a>", "a", [("text_link", "a")]),
        ('<a href="nonsense">a</a>', "a", []),
    ],
)
def test_html_becomes_a_text_with_entities(source: str, text: str, entities: list[tuple[str, str]]) -> None:
    assert shown(source) == (text, entities)


def test_a_language_belongs_to_code_in_pre() -> None:
    _text, entities = parse_html('<pre><code class="language-python">x = 1</code></pre>')
    assert entities == [{"type": "pre", "offset": 0, "length": 5, "language": "python"}]
    assert parse_html('<code class="language-python">x</code>')[1] == [
        {"type": "code", "offset": 0, "length": 1}
    ]


def test_a_links_address_is_unescaped_once() -> None:
    (link,) = parse_html('<a href="https://a.example/?x=1&amp;amp;y=2">a</a>')[1]
    assert link["url"] == "https://a.example/?x=1&amp;y=2"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("a<br>b", 'Unsupported start tag "br" at byte offset 1'),
        ("ü<p>b</p>", 'Unsupported start tag "p" at byte offset 2'),
        ("1 < 2", 'Unsupported start tag "" at byte offset 2'),
        ("<b>a", 'Can\'t find end tag corresponding to start tag "b"'),
        ("<b>a</i>", 'Unmatched end tag at byte offset 4, expected "</b>", found "</i>"'),
        ("<b><i>a</b></i>", 'Unmatched end tag at byte offset 7, expected "</i>", found "</b>"'),
        ("a</b>", "Unexpected end tag at byte offset 1"),
        ("a <b", "Unclosed start tag at byte offset 2"),
        ("<b>a</b", "Unclosed end tag at byte offset 4"),
        ('<a href="x>a</a>', "Unclosed start tag at byte offset 0"),
        ("<span>a</span>", 'Tag "span" must have class "tg-spoiler" at byte offset 0'),
        (
            "<a href>a</a>",
            'Expected equal sign in declaration of an attribute of the tag "a" at byte offset 0',
        ),
        ("<a ='x'>a</a>", 'Empty attribute name in the tag "a" at byte offset 0'),
        ("<a href=http://x>a</a>", "Unexpected end of name token at byte offset 8"),
    ],
)
async def test_wrong_html_is_refused_in_telegrams_words(source: str, words: str) -> None:
    async with team() as (sim, _bot):
        status, body = await post(sim, "sendMessage", chat_id=TEAM, text=source, parse_mode="HTML")
        assert (status, body["description"]) == (400, f"Bad Request: can't parse entities: {words}")
        assert sim.ledger.entries == []


@given(st.text())
def test_whatever_is_escaped_is_seen_as_it_was(text: str) -> None:
    assert parse_html(escaping.escape(text, quote=False))[0] == text


@given(st.text(alphabet="<>/&;abip =\"'😀\n"))
def test_any_html_is_read_or_refused(source: str) -> None:
    try:
        text, entities = parse_html(source)
    except Refused as refused:
        assert refused.description.startswith("Bad Request: can't parse entities: ")  # noqa: PT017 - one of two outcomes
    else:
        assert all(0 <= one["offset"] < one["offset"] + one["length"] <= units(text) for one in entities)


@pytest.mark.parametrize("mode", ["", "HTML"])
@pytest.mark.parametrize("text", ["", " ", "\n\t ", "\u3000"])
async def test_blank_text_is_refused(text: str, mode: str) -> None:
    async with team() as (sim, _bot):
        _status, body = await post(sim, "sendMessage", chat_id=TEAM, text=text, parse_mode=mode)
        assert body["description"] == "Bad Request: message text is empty"


async def test_html_without_text_is_blank_too() -> None:
    async with team() as (_sim, bot):
        assert await refusal(bot.send_message(TEAM, "<b> </b>", parse_mode="HTML")) == "Message text is empty"


async def test_length_counts_utf16_units_after_parsing() -> None:
    async with team() as (_sim, bot):
        assert (await bot.send_message(TEAM, "x" * 4096)).text == "x" * 4096
        assert await refusal(bot.send_message(TEAM, "x" * 4097)) == "Message is too long"
        assert await refusal(bot.send_message(TEAM, "😀" * 2049)) == "Message is too long"
        assert (await bot.send_message(TEAM, "😀" * 2048)).text == "😀" * 2048
        assert (await bot.send_message(TEAM, "&lt;" * 4096, parse_mode="HTML")).text == "<" * 4096
        long = f"<b>{'x' * 4097}</b>"
        assert await refusal(bot.send_message(TEAM, long, parse_mode="HTML")) == "Message is too long"


async def test_a_caption_is_shorter() -> None:
    async with team() as (_sim, bot):
        sent = await bot.send_document(TEAM, b"x", filename="a.txt", caption="x" * 1024)
        assert sent.caption == "x" * 1024
        call = bot.send_document(TEAM, b"x", filename="a.txt", caption="x" * 1025)
        assert await refusal(call) == "Message caption is too long"


async def test_blanks_at_both_ends_are_cut_but_not_inside_a_leading_entity() -> None:
    async with team() as (sim, bot):
        await bot.send_message(TEAM, "\n  hi \n")
        await bot.send_message(TEAM, "<pre>  x</pre>\n", parse_mode="HTML")
        await bot.send_message(TEAM, " <b>x</b> ", parse_mode="HTML")
        assert [entry.text for entry in sim.ledger.entries] == ["hi", "  x", "x"]
        assert sim.ledger.entries[2].raw["entities"] == [{"type": "bold", "offset": 0, "length": 1}]


async def test_entities_over_a_hundred_are_dropped_without_a_word() -> None:
    async with team() as (_sim, bot):
        sent = await bot.send_message(TEAM, "<b>x</b> " * 120, parse_mode="HTML")
        assert len(sent.entities) == 100
        assert sent.text == ("x " * 120).strip()


async def test_entities_can_be_sent_instead_of_markup() -> None:
    async with team() as (sim, _bot):
        bold: dict[str, Any] = {"type": "bold", "offset": 3, "length": 2}
        _status, body = await post(sim, "sendMessage", chat_id=TEAM, text="😀 hi", entities=[bold])
        assert body["result"]["entities"] == [bold]
        beyond: dict[str, Any] = {"type": "bold", "offset": 3, "length": 9}
        _status, body = await post(sim, "sendMessage", chat_id=TEAM, text="😀 hi", entities=[beyond])
        assert "entities" not in body["result"]
        assert "outside of the text" in sim.complaints[0]


@pytest.mark.parametrize(
    "source",
    [
        "<b>a <code>x</code></b>",
        "<code>x <b>a</b></code>",
        "<pre>x <i>a</i></pre>",
        '<a href="https://a.example">a <code>x</code></a>',
        "<blockquote>a <blockquote>b</blockquote></blockquote>",
    ],
)
async def test_nesting_that_loses_formatting_is_complained_about(source: str) -> None:
    async with team() as (sim, bot):
        await bot.send_message(TEAM, source, parse_mode="HTML")
        assert "one of them is lost" in sim.complaints[0]


@pytest.mark.parametrize(
    "source",
    [
        '<b>a <i>b <u>c</u></i></b> <pre><code class="language-c">x</code></pre>',
        "<blockquote>a <code>x</code> <pre>y</pre> <b>z</b></blockquote>",
    ],
)
async def test_nesting_that_telegram_shows_is_not(source: str) -> None:
    async with team() as (sim, bot):
        await bot.send_message(TEAM, source, parse_mode="HTML")
        assert sim.complaints == []


async def test_what_would_ping_is_found_in_the_bots_own_text_but_not_in_code() -> None:
    async with team() as (sim, bot):
        await bot.send_message(TEAM, "@ann /run <code>@bob /stop</code> @\u200beve", parse_mode="HTML")
        found = [(one["type"], one["offset"]) for one in sim.ledger.entries[0].raw["entities"]]
        assert found == [("mention", 0), ("bot_command", 5), ("code", 10)]


async def test_an_unknown_parse_mode_is_refused() -> None:
    async with team() as (_sim, bot):
        assert "parse_mode" in await refusal(bot.send_message(TEAM, "*x*", parse_mode="Markdown"))
