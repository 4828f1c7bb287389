"""What Slack refuses in blocks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulator.slackside import client, refused, workspace

from hermes_bot.simulator.slack.blocks import buttons_of, check_message, named, tables_in
from hermes_bot.simulator.slack.site import Refusal

Block = dict[str, Any]


def plain(text: str) -> Block:
    return {"type": "plain_text", "text": text}


def section(text: str) -> Block:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def markdown(text: str) -> Block:
    return {"type": "markdown", "text": text}


def button(action: str = "go", text: str = "Go", **more: Any) -> Block:
    return {"type": "button", "action_id": action, "text": plain(text), **more}


def actions(*elements: Block) -> Block:
    return {"type": "actions", "elements": list(elements)}


def table(rows: int, columns: int, text: str = "x") -> Block:
    return {"type": "table", "rows": [[{"type": "raw_text", "text": text}] * columns] * rows}


def many(count: int) -> list[Block]:
    return [button(f"a{n}") for n in range(count)]


def confirm(**texts: int) -> Block:
    return {name: plain("x" * length) for name, length in texts.items()}


FITS: list[list[Block]] = [
    [section("x")] * 50,
    [section("x" * 3000)],
    [{"type": "section", "fields": [plain("x" * 2000)] * 2}],
    [{"type": "header", "text": plain("x" * 150)}],
    [{"type": "context", "elements": [plain("x")] * 10}],
    [actions(*many(25))],
    [actions(button(text="x" * 75, value="v" * 2000, url="https://x.example", style="danger"))],
    [actions(button("a")), actions(button("a"))],
    [actions(button(confirm=confirm(title=100, text=300, confirm=30, deny=30)))],
    [markdown("x" * 12_000)],
    [markdown("x" * 6000), markdown("x" * 6000)],
    [table(100, 20)],
    [table(1, 1, " ")],
    [markdown("|a|b|\n|---|---|\n|1|2|")],
    [{"type": "divider"}, {"type": "image", "image_url": "https://x.example/a.png", "alt_text": "a"}],
    [{"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": []}]}],
    [section("x" * 2640)] * 5,
]
INVALID: list[list[Any]] = [
    [section("x" * 3001)],
    [section("")],
    [{"type": "section"}],
    [{"type": "section", "fields": [plain("x")] * 11}],
    [{"type": "section", "fields": [plain("x" * 2001)]}],
    [{"type": "section", "text": {"type": "html", "text": "x"}}],
    [{"type": "section", "text": "x"}],
    [section("x") | {"colour": "red"}],
    [{"type": "header", "text": plain("x" * 151)}],
    [{"type": "header", "text": {"type": "mrkdwn", "text": "x"}}],
    [{"type": "context", "elements": [plain("x")] * 11}],
    [{"type": "context", "elements": []}],
    [actions(*many(26))],
    [actions()],
    [actions(button(text="x" * 76))],
    [actions(button(text=""))],
    [actions(button(value="v" * 2001))],
    [actions(button(url="u" * 3001))],
    [actions(button(style="green"))],
    [actions(button("a"), button("a"))],
    [actions(button("a" * 256))],
    [actions(button(confirm=confirm(title=101)))],
    [actions(button(confirm=confirm(deny=31)))],
    [actions({"type": "static_select", "action_id": "s", "options": []})],
    [
        actions(
            {"type": "static_select", "action_id": "s", "options": [{"text": plain("x"), "value": "v" * 151}]}
        )
    ],
    [actions({"type": "lever", "action_id": "a"})],
    [section("a") | {"block_id": "b"}, section("b") | {"block_id": "b"}],
    [section("a") | {"block_id": "b" * 256}],
    [markdown("x" * 12_001)],
    [markdown("x" * 6001), markdown("x" * 6000)],
    [markdown("")],
    [table(101, 1)],
    [table(1, 21)],
    [table(1, 1, "")],
    [{"type": "table", "rows": []}],
    [{"type": "data_table", "rows": [[{"type": "raw_text", "text": "x"}]] * 2}],
    [{"type": "image", "image_url": "https://x.example/a.png"}],
    [{"type": "image", "alt_text": "x", "slack_file": {"id": "F404"}}],
    [{"type": "marquee"}],
    ["text"],
]
OTHERWISE: list[tuple[list[Block], str]] = [
    ([section("x")] * 51, "msg_blocks_too_many"),
    ([section("x" * 2641)] * 5, "msg_blocks_too_long"),
    ([table(1, 1), table(1, 1)], "invalid_attachments"),
    ([table(1, 1), markdown("|a|\n|---|\n|b|")], "invalid_attachments"),
    ([markdown("|a|\n|---|\n|b|\n\ntext\n\n|a|\n|---|\n|b|")], "invalid_attachments"),
]


def refusal_of(blocks: list[Any]) -> Refusal | None:
    try:
        check_message(blocks, lambda _file: False)
    except Refusal as refusal:
        return refusal
    return None


@pytest.mark.parametrize("blocks", FITS)
def test_what_is_just_within_the_limits_is_taken(blocks: list[Block]) -> None:
    assert refusal_of(blocks) is None


@pytest.mark.parametrize("blocks", INVALID)
def test_what_breaks_a_blocks_own_rules_is_refused_with_the_place_of_it(blocks: list[Any]) -> None:
    refusal = refusal_of(blocks)
    assert refusal is not None
    assert refusal.code == "invalid_blocks"
    assert all("[json-pointer:/blocks" in text for text in refusal.details["response_metadata"]["messages"])


@pytest.mark.parametrize(("blocks", "code"), OTHERWISE)
def test_what_is_too_much_for_one_message_has_codes_of_its_own(blocks: list[Block], code: str) -> None:
    refusal = refusal_of(blocks)
    assert refusal is not None
    assert refusal.code == code


def test_a_table_within_code_is_none() -> None:
    assert tables_in("```\n|a|\n|---|\n```\n~~~\n|a|\n|---|\n~~~") == 0
    assert tables_in("a | b\n--- | ---\n1 | 2") == 1
    assert tables_in("text\n---\nmore") == 0


KEYS = ["type", "text", "elements", "rows", "fields", "accessory", "block_id", "action_id", "options"]
KINDS = ["section", "actions", "button", "table", "context", "image", "markdown", "mrkdwn", "plain_text"]


def nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner) | st.dictionaries(st.sampled_from(KEYS), inner | st.sampled_from(KINDS))


@given(st.recursive(st.none() | st.text() | st.integers(), nested))
def test_no_json_whatever_breaks_the_check(value: Any) -> None:
    if refusal_of([value]) is None:
        buttons_of(named([value]))


async def test_the_client_gets_the_code_and_the_place() -> None:
    async with workspace() as slack:
        answer = await refused(
            client(slack).chat_postMessage(channel="C1", text="x", blocks=[section("x" * 3001)])
        )
        assert answer["error"] == "invalid_blocks"
        assert answer["response_metadata"]["messages"] == [
            "[ERROR] must be less than 3001 characters [json-pointer:/blocks/0/text/text]"
        ]
        ts = (await client(slack).chat_postMessage(channel="C1", text="x"))["ts"]
        update = client(slack).chat_update(channel="C1", ts=ts, text="x", blocks=[section("")])
        assert (await refused(update))["error"] == "invalid_blocks"
