"""What Slack sends is read as it was meant, whatever its shape; pure functions of JSON."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_slack.content import content
from hermes_slack.reading import Site, moment, order, read
from hermes_slack.texts import decoded, mentions, without_mention
from hermes_slack.wire import MALFORMED, Message
from hermes_slack.workspaces import Identity

if TYPE_CHECKING:
    from hermes_bot.messages import Incoming

ME = Identity(team="T1", user="UBOT", bot="BBOT", enterprise="E1")
SITE = Site(ME, "T1")


def said(**fields: Any) -> Message:
    known = {
        "type": "message",
        "channel": "C1",
        "channel_type": "im",
        "user": "U1",
        "ts": "1767225600.000100",
    }
    return Message.model_validate(known | fields)


def incoming(**fields: Any) -> Incoming | None:
    return read(said(**fields), "Ev1", SITE)


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


@given(st.text().filter(lambda text: "```" not in text))
def test_any_text_that_slack_escapes_is_read_as_it_was_written(text: str) -> None:
    assert decoded(escaped(text), {}) == text


@pytest.mark.parametrize(
    ("raw", "meant"),
    [
        ("a &lt; b &amp;&amp; c &gt; d", "a < b && c > d"),
        ("&amp;lt;", "&lt;"),
        ("List&lt;String&gt;", "List<String>"),
        ("<https://x.y/a?b=1&amp;c=2|label>", "label (https://x.y/a?b=1&c=2)"),
        ("<https://x.y/a>", "https://x.y/a"),
        ("<http://checkout.example|checkout.example>", "checkout.example"),
        ("<mailto:a@b.example|a@b.example>", "a@b.example"),
        ("<tel:+491|+49 1>", "+49 1 (tel:+491)"),
        ("<@U2|bob> and <@U3> and <@U4>", "@bob (U2) and @cy (U3) and @U4"),
        ("<#C2|news> <#C3>", "#news (C2) #C3"),
        ("<!here> <!channel|channel> <!subteam^S1|@ops> <!subteam^S2>", "@here channel @ops @S2"),
        ("<!date^1767225600^{date}|1 January>", "1 January"),
        ("see ```a &lt; b\n  c``` there", "see \n```\na < b\n  c\n```\n there"),
        ("```\ncode\n```", "```\ncode\n```"),
        ("run x service=“check out”", "run x service=“check out”"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
    ],
)
def test_slacks_own_signs_are_read(raw: str, meant: str) -> None:
    assert decoded(raw, {"U3": "cy"}) == meant


@pytest.mark.parametrize(
    ("raw", "task"),
    [
        ("<@UBOT> hi", "hi"),
        ("<@UBOT|hermes> hi", "hi"),
        ("hi <@UBOT>", "hi"),
        ("hi <@UBOT>!", "hi!"),
        ("hi, <@UBOT>", "hi"),
        ("<@UBOT>!", ""),
        (" <@UBOT> …", ""),
        ("can you, <@UBOT>, list skills", "can you, list skills"),
        ("<@UBOT>: status", "status"),
        ("<@UBOT>, status", "status"),
        ("please<@UBOT>stop", "please stop"),
        ("<@UBOT> <@UBOT> hi", "hi"),
        ("<@UBOT>\nline 1\n  line 2", "line 1\n  line 2"),
        ("line 1\n<@UBOT> line 2", "line 1\nline 2"),
        ("<@UBOT>", ""),
        ("<@UBOT2> hi", "<@UBOT2> hi"),
        ("no mark", "no mark"),
    ],
)
def test_the_bots_mark_leaves_the_text_and_nothing_else_does(raw: str, task: str) -> None:
    assert without_mention(raw, "UBOT") == task


@given(st.text(), st.text())
def test_a_mention_is_found_and_removed_anywhere(before: str, after: str) -> None:
    text = f"{before}<@UBOT>{after}"
    assert mentions(text, "UBOT")
    assert not mentions(without_mention(text, "UBOT"), "UBOT")


def test_a_stamp_keeps_every_digit_and_sorts_by_number() -> None:
    assert moment("1767225600.000100") == datetime(2026, 1, 1, 0, 0, 0, 100, tzinfo=UTC)
    stamps = ["1767225600.000002", "999.000001", "1767225600.000010", "1767225600.000001"]
    assert sorted(stamps, key=order) == [stamps[1], stamps[3], stamps[0], stamps[2]]


@pytest.mark.parametrize("subtype", [None, "file_share", "thread_broadcast", "me_message"])
def test_what_people_write_is_handed_over(subtype: str | None) -> None:
    assert incoming(text="hi", subtype=subtype) is not None


@pytest.mark.parametrize(
    "subtype",
    ["bot_message", "channel_join", "channel_topic", "message_replied", "assistant_app_thread", "from_2031"],
)
def test_what_is_no_message_of_a_person_is_not(subtype: str) -> None:
    assert incoming(text="<@UBOT> hi", subtype=subtype) is None


@pytest.mark.parametrize(
    "fields",
    [
        {"user": "UBOT"},
        {"user": "USLACKBOT"},
        {"user": "USLACK"},
        {"user": None},
        {"bot_id": "B2"},
        {"bot_id": "BBOT", "user": "UBOT"},
        {"subtype": "bot_message", "user": None, "bot_id": "B2"},
    ],
)
def test_neither_we_nor_slack_nor_other_programs_start_anything(fields: dict[str, Any]) -> None:
    assert incoming(text="<@UBOT> hi", **fields) is None


def test_a_program_on_the_list_may_speak_by_either_of_its_ids() -> None:
    for listed in ("slack:T1:B2", "slack:T1:UB2"):
        site = Site(ME, "T1", bots=frozenset({listed}))
        message = read(said(text="<@UBOT> hi", user="UB2", bot_id="B2"), "Ev1", site)
        assert message is not None
        assert message.is_bot


@pytest.mark.parametrize(
    ("channel_type", "place"),
    [("im", "direct"), ("channel", "channel"), ("group", "private"), ("mpim", "private"), ("new", "private")],
)
def test_who_reads_along_is_told_by_the_kind_of_channel(channel_type: str, place: str) -> None:
    message = incoming(text="<@UBOT> hi", channel_type=channel_type)
    assert message is not None
    assert message.place == place


def test_a_person_of_an_organisation_is_of_the_workspace_they_write_in() -> None:
    message = incoming(text="hi", user_team="E1")
    assert message is not None
    assert message.user == "slack:T1:U1"


@pytest.mark.parametrize(
    "change",
    [
        {"message": {"user": "U1", "text": "hi", "ts": "1.1"},
         "previous_message": {"user": "U1", "text": "hi"}},
        {"message": {"user": "U1", "text": "hi", "ts": "1.1", "edited": {"user": "U1", "ts": "2.1"}},
         "previous_message": {"user": "U1", "text": "hi", "ts": "1.1"}},
        {"message": {"user": "UBOT", "text": "new", "ts": "1.1", "edited": {"user": "UBOT", "ts": "2.1"}},
         "previous_message": {"user": "UBOT", "text": "old", "ts": "1.1"}},
        {"message": {"user": "UBOT", "subtype": "tombstone", "ts": "1.1"},
         "previous_message": {"user": "UBOT", "text": "old", "ts": "1.1"}},
        {"message": None},
        {},
    ],
)  # fmt: skip
def test_previews_counts_and_our_own_changes_are_no_edits(change: dict[str, Any]) -> None:
    assert incoming(subtype="message_changed", user=None, **change) is None


def test_blocks_count_where_there_is_no_text_and_once_where_there_is() -> None:
    rich = {
        "type": "rich_text",
        "elements": [
            {"type": "rich_text_section", "elements": [
                {"type": "text", "text": "disk "}, {"type": "user", "user_id": "U2"},
                {"type": "emoji", "name": "fire"},
                {"type": "link", "url": "https://x.y", "text": "here"},
                {"type": "broadcast", "range": "here"},
            ]},
            {"type": "rich_text_list", "elements": [
                {"type": "rich_text_section", "elements": [{"type": "text", "text": "one"}]},
            ]},
            {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": "a < b"}]},
            {"type": "rich_text_quote", "elements": [{"type": "text", "text": "said"}]},
        ],
    }  # fmt: skip
    blocks = [
        {"type": "header", "text": {"type": "plain_text", "text": "Alert"}},
        {
            "type": "section",
            "text": {"type": "mrkdwn", "text": "a &lt; b"},
            "fields": [{"type": "mrkdwn", "text": "db-3"}],
        },
        {"type": "context", "elements": [{"type": "mrkdwn", "text": "zone b"}]},
        {"type": "image", "alt_text": "a chart"},
        {"type": "table", "rows": [[{"type": "raw_text", "text": "x"}, {"type": "raw_text", "text": "1"}]]},
        {"type": "divider"},
        rich,
        "nonsense",
    ]
    shown = content(said(text="", blocks=blocks, bot_id="B2"), "", {})
    assert shown.splitlines() == [
        "Alert", "a < b", "db-3", "zone b", "a chart", "x | 1", "disk @U2:fire:here@here", "- one", "```",
        "a < b", "```",
        "> said",
    ]  # fmt: skip
    assert content(said(text="hi", blocks=[rich]), "hi", {}) == "hi"


FIELDS = [
    "type", "subtype", "text", "blocks", "elements", "fields", "rows", "title", "attachments", "files", "id",
    "ts",    "thread_ts", "user", "channel", "message", "previous_message", "edited", "deleted_ts", "mode",
    "size", "name",
]  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=6),
    max_leaves=25,
)


@given(st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=10))
def test_json_of_any_shape_is_read_or_refused_as_malformed(body: dict[str, Any]) -> None:
    with contextlib.suppress(*MALFORMED):  # which the intake acknowledges
        read(Message.model_validate({"type": "message", "channel": "C1", "user": "U1", **body}), "Ev1", SITE)
