"""How the demo's page reads what was written: Slack's mrkdwn, Markdown and blocks, Telegram's entities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.demo.blocks import read_message
from hermes_bot.demo.entities import read_entities
from hermes_bot.demo.marked import read_markdown
from hermes_bot.demo.mrkdwn import encoded, read_mrkdwn
from hermes_bot.demo.nodes import Node, to_json
from hermes_bot.simulator import Entry

if TYPE_CHECKING:
    from collections.abc import Iterable

NAMES = {"U1": "Ann", "UBOT": "hermes", "C1": "general"}
SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(1)>"


def plain(nodes: Iterable[Node]) -> str:
    """Return the words of nodes."""
    return "".join(node if isinstance(node, str) else plain(node.children) for node in nodes)


def mrkdwn(text: str) -> list[object]:
    return to_json(read_mrkdwn(text, NAMES))


def markdown(text: str) -> list[object]:
    return to_json(read_markdown(text, NAMES))


def blocks(*found: dict[str, Any], **raw: Any) -> list[object]:
    entry = Entry(
        at=0,
        platform="slack",
        channel="C1",
        id="1",
        author="U1",
        text="x",
        raw={"blocks": list(found), **raw},
    )
    entry.buttons = [{"label": "a", "action": "first"}, {"label": "b", "action": "second"}]
    return to_json(read_message(entry, NAMES))


def test_mrkdwn_has_its_styles_and_its_tokens() -> None:
    assert mrkdwn("*bold* _soft_ ~gone~ `x*y` <@U1> in <#C1>: <https://a.example/?q=1|here>") == [
        [
            "paragraph",
            {},
            ["strong", {}, "bold"],
            " ",
            ["emphasis", {}, "soft"],
            " ",
            ["strike", {}, "gone"],
            " ",
            ["code", {}, "x*y"],
            " ",
            ["mention", {"who": "U1"}, "@Ann"],
            " in ",
            ["mention", {"who": "C1"}, "#general"],
            ": ",
            ["link", {"href": "https://a.example/?q=1"}, "here"],
        ]
    ]


def test_what_only_looks_like_a_style_is_text() -> None:
    assert mrkdwn("2*3*4 snake_case_name a ~ b") == [["paragraph", {}, "2*3*4 snake_case_name a ~ b"]]


def test_code_and_quotes_are_blocks_of_their_own() -> None:
    assert mrkdwn("see\n```\n<b>&amp;\n```\n&gt; quoted\n&gt; twice\nend") == [
        ["paragraph", {}, "see"],
        ["pre", {}, "<b>&"],
        ["quote", {}, "quoted\ntwice"],
        ["paragraph", {}, "end"],
    ]


def test_markup_of_a_page_is_text_everywhere() -> None:
    for read in (mrkdwn(encoded(SCRIPT)), markdown(SCRIPT), to_json(read_entities(SCRIPT, []))):
        assert all(node[0] == "paragraph" for node in read if isinstance(node, list))
        assert "<script>" in str(read)


def test_a_link_that_would_run_something_is_no_link() -> None:
    for read in (
        mrkdwn("<javascript:alert(1)|here>"),
        markdown("[here](javascript:alert(1)) ![x](data:text/html,1)"),
        to_json(
            read_entities(
                "here", [{"type": "text_link", "offset": 0, "length": 4, "url": "javascript:alert(1)"}]
            )
        ),
        blocks(
            {
                "type": "actions",
                "elements": [
                    {
                        "type": "button",
                        "text": {"type": "plain_text", "text": "go"},
                        "url": "javascript:alert(1)",
                    }
                ],
            }
        ),
    ):
        assert "'link'" not in str(read)


def test_markdown_has_lists_tables_headings_and_mentions() -> None:
    text = "# Head\n\n- [x] done\n- **two**\n\n| a | b |\n|---|--:|\n| 1 | `2` |\n\nto <@U1>"
    assert markdown(text) == [
        ["heading", {"level": "1"}, "Head"],
        ["list", {}, ["item", {"task": "yes"}, "☑ done"], ["item", {}, ["strong", {}, "two"]]],
        [
            "table",
            {},
            ["row", {}, ["cell", {"head": "yes"}, "a"], ["cell", {"head": "yes", "align": "right"}, "b"]],
            ["row", {}, ["cell", {}, "1"], ["cell", {"align": "right"}, ["code", {}, "2"]]],
        ],
        ["paragraph", {}, "to ", ["mention", {"who": "U1"}, "@Ann"]],
    ]


def test_entities_count_in_utf_16_and_nest() -> None:
    text = "🙂 bold and code"
    entities = [
        {"type": "bold", "offset": 3, "length": 8},
        {"type": "italic", "offset": 8, "length": 3},
        {"type": "code", "offset": 12, "length": 4},
    ]
    assert to_json(read_entities(text, entities)) == [
        "🙂 ",
        ["strong", {}, "bold ", ["emphasis", {}, "and"]],
        " ",
        ["code", {}, "code"],
    ]


def test_a_block_of_code_takes_the_line_ends_beside_it() -> None:
    entities = [{"type": "pre", "offset": 3, "length": 3, "language": "text"}]
    assert to_json(read_entities("a:\nx=1\nb", entities)) == ["a:", ["pre", {"language": "text"}, "x=1"], "b"]


def test_buttons_have_the_ids_by_which_they_are_pressed() -> None:
    button = {"type": "button", "text": {"type": "plain_text", "text": "Go"}, "style": "primary"}
    section = {"type": "section", "text": {"type": "mrkdwn", "text": "*Well?*"}, "accessory": button}
    assert blocks({"type": "actions", "elements": [button]}, section) == [
        ["actions", {}, ["button", {"action": "first", "style": "primary"}, "Go"]],
        [
            "section",
            {},
            ["paragraph", {}, ["strong", {}, "Well?"]],
            ["actions", {}, ["button", {"action": "second", "style": "primary"}, "Go"]],
        ],
    ]


def test_an_attachment_and_rich_text_are_read() -> None:
    alert = {"color": "danger", "title": "Down", "fields": [{"title": "Since", "value": "09:12"}]}
    rich = {
        "type": "rich_text",
        "elements": [
            {
                "type": "rich_text_section",
                "elements": [
                    {"type": "user", "user_id": "U1"},
                    {"type": "text", "text": " hi", "style": {"bold": True}},
                ],
            }
        ],
    }
    assert blocks(rich, attachments=[alert]) == [
        ["paragraph", {}, ["mention", {"who": "U1"}, "@Ann"], ["strong", {}, " hi"]],
        [
            "attachment",
            {"tone": "bad"},
            ["strong", {}, "Down"],
            ["columns", {}, ["pair", {}, ["strong", {}, "Since"], "09:12"]],
        ],
    ]


def test_a_block_nobody_knows_costs_itself_only() -> None:
    shown = blocks({"type": "hologram"}, {"type": "markdown", "text": "hello"})
    assert shown[1] == ["paragraph", {}, "hello"]
    assert "hologram" in str(shown[0])


@given(st.text())
def test_any_mrkdwn_is_read_and_keeps_its_words(text: str) -> None:
    words = "".join(text.split())
    read = plain(read_mrkdwn(encoded(text), {}))
    if not any(sign in text for sign in "`*_~>:"):
        assert "".join(read.split()) == words


@given(
    st.text(),
    st.lists(st.tuples(st.integers(0, 30), st.integers(1, 30), st.sampled_from(["bold", "pre", "url"]))),
)
def test_any_entities_are_read_and_no_word_is_lost(text: str, found: list[tuple[int, int, str]]) -> None:
    entities = [{"type": kind, "offset": at, "length": length} for at, length, kind in found]
    read = plain(read_entities(text, entities))
    kept = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    assert len("".join(read.split())) >= len("".join(kept.split()))


KEYS = st.sampled_from(["type", "text", "elements", "rows", "fields", "accessory"])
LEAF = st.none() | st.booleans() | st.text() | st.integers()
SHAPE = LEAF | st.lists(LEAF | st.dictionaries(KEYS, LEAF | st.lists(st.dictionaries(KEYS, LEAF))))


@given(SHAPE)
def test_blocks_of_any_shape_are_read(found: Any) -> None:
    blocks(
        *[
            {"type": kind, "text": found, "elements": found, "rows": found}
            for kind in ("section", "table", "actions", "rich_text", "context")
        ]
    )
