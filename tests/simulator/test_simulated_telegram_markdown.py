"""What MarkdownV2 becomes in the simulated Telegram."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulator.telegram_place import TEAM, post, team

from hermes_bot.simulator.telegram.entities import part, units
from hermes_bot.simulator.telegram.markdown import parse_markdown
from hermes_bot.simulator.telegram.refusal import Refused


@pytest.mark.parametrize(
    ("source", "text", "entities"),
    [
        ("*a* _b_ __c__", "a b c", ["bold a", "italic b", "underline c"]),
        ("~d~ ||e||", "d e", ["strikethrough d", "spoiler e"]),
        ("*a _b_*", "a b", ["bold a b", "italic b"]),
        ("`a\\`b*_`", "a`b*_", ["code a`b*_"]),
        ("```python\nx = [1]\n```", "x = [1]\n", ["pre x = [1]\n"]),
        ("```x```", "x", ["pre x"]),
        ("[a\\.b](https://a.example/\\)x)", "a.b", ["text_link a.b"]),
        ("[a](nonsense)", "a", []),
        ("![👍](tg://emoji?id=536)", "👍", ["custom_emoji 👍"]),
        (">one\n>two\nthree", "one\ntwo\nthree", ["blockquote one\ntwo"]),
        (">one\n**>two||", "one\ntwo", ["blockquote one", "expandable_blockquote two"]),
        ("😀 *b*", "😀 b", ["bold b"]),
        ("1 \\> 0\\. \\\\", "1 > 0. \\", []),
        ("", "", []),
    ],
)  # fmt: skip
def test_markdown_becomes_a_text_with_entities(source: str, text: str, entities: list[str]) -> None:
    seen, found = parse_markdown(source)
    assert (seen, [f"{one['type']} {part(seen, one)}" for one in found]) == (text, entities)


def test_a_block_keeps_its_language() -> None:
    assert parse_markdown("```python\nx\n```")[1] == [
        {"type": "pre", "offset": 0, "length": 2, "language": "python"}
    ]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("Done.", "Character '.' is reserved and must be escaped with the preceding '\\'"),
        ("a > b", "Character '>' is reserved and must be escaped with the preceding '\\'"),
        ("a | b", "Character '|' is reserved and must be escaped with the preceding '\\'"),
        ("ü *a", "Can't find end of Bold entity at byte offset 3"),
        ("`a", "Can't find end of Code entity at byte offset 0"),
        ("[a", "Can't find end of TextUrl entity at byte offset 0"),
        ("![a](https://a.example)", "Custom emoji entity must contain a tg://emoji URL"),
    ],
)
async def test_wrong_markdown_is_refused_in_telegrams_words(source: str, words: str) -> None:
    async with team() as (sim, _bot):
        _status, body = await post(sim, "sendMessage", chat_id=TEAM, text=source, parse_mode="MarkdownV2")
        assert body["description"] == f"Bad Request: can't parse entities: {words}"


@given(st.text())
def test_whatever_is_escaped_is_seen_as_it_was(text: str) -> None:
    escaped = re.sub(r"([\\_*\[\]()~`>#+\-=|{}.!])", r"\\\1", text)
    assert parse_markdown(escaped)[0] == text


@given(st.text(alphabet="*_~|`[]()!>\\ab.\n😀"))
def test_any_markdown_is_read_or_refused(source: str) -> None:
    try:
        text, entities = parse_markdown(source)
    except Refused as refused:
        assert refused.description.startswith("Bad Request: can't parse entities: ")  # noqa: PT017 - one of two outcomes
    else:
        assert all(0 <= one["offset"] < one["offset"] + one["length"] <= units(text) for one in entities)
