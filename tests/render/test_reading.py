"""What was written is what is read, on both platforms and on every path (B-86, B-88)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from render.readers import Mrkdwn, Telegram, read_markdown, seen

from hermes_bot.messages import Button, Outgoing, Press, ThreadKey
from hermes_slack import render as slack
from hermes_telegram import render as telegram

if TYPE_CHECKING:
    from hermes_bot.messages import OutgoingKind

THREAD = ThreadKey("any", "T1", "C1", "1.1")

WRITTEN = {
    "a < b && c > d": "a < b && c > d",
    "&lt;": "&lt;",
    "&amp;lt; &copy; &#60;": "&amp;lt; &copy; &#60;",
    "List<String>": "List<String>",
    "2 * 3 * 4": "2 * 3 * 4",
    "2*3*4 and 5 * 6": "234 and 5 * 6",  # Markdown's own reading: 3 is in italics
    "***both***": "both",
    "**b** and *i*, ~~s~~": "b and i, s",
    "a_b_c and __init__.py": "a_b_c and init.py",
    "`__init__.py` and `a<b>`": "__init__.py and a<b>",
    "see [x](https://w.example/A_(x))": "see x",
    "see https://w.example/A_(x)_b_(c).": "see https://w.example/A_(x)_b_(c).",
    "*args, **kwargs": "*args, **kwargs",
    r"\*not\* C:\temp\new": r"*not* C:\temp\new",
    "in**word**s": "inwords",
    "5 > 3\n\\> no quote": "5 > 3\n> no quote",
    "1\\. no list": "1. no list",
    "~/path ~5 GB": "~/path ~5 GB",
    "x ``a`b`` y": "x a`b y",
    "<!-- no comment --> <b>no tag</b>": "<!-- no comment --> <b>no tag</b>",
    "#channel # no heading": "#channel # no heading",
    "a\nb": "a\nb",
    "日本語**太字**です": "日本語太字です",
    "שלום *עולם*": "שלום עולם",
    "[1]: https://w.example/a": "[1]: https://w.example/a",
    "who? ![pic](https://w.example/p.png)": "who? pic",
    't [x](https://w.example/ "title")': "t x (title)",
    "a | b": "a | b",
}


@pytest.mark.parametrize(("written", "read"), WRITTEN.items())
def test_a_reader_on_telegram_sees_what_was_written(written: str, read: str) -> None:
    assert seen(Telegram(telegram.html(written)).text) == read


@pytest.mark.parametrize(("written", "read"), WRITTEN.items())
def test_a_reader_of_a_slack_answer_sees_what_was_written(written: str, read: str) -> None:
    (block,) = slack.payload(Outgoing("k", THREAD, written))["blocks"]
    assert seen(read_markdown(block["text"])) == read


@pytest.mark.parametrize(("written", "read"), WRITTEN.items())
def test_a_reader_of_a_slack_card_sees_what_was_written(written: str, read: str) -> None:
    card = Outgoing("k", THREAD, written, kind="question", buttons=(Button("Yes", Press("q", 0)),))
    section, actions = slack.payload(card)["blocks"]
    assert seen(Mrkdwn(section["text"]["text"]).text) == read
    assert actions["elements"][0]["text"]["text"] == "Yes"


@pytest.mark.parametrize("written", WRITTEN)
def test_plain_text_is_the_source_as_it_was_written(written: str) -> None:
    sent = slack.plain(Outgoing("k", THREAD, written))
    assert sent["mrkdwn"] is False
    assert seen(sent["text"]).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") == written
    assert seen(telegram.plain(written)) == written


ONE_TEXT = "Rows < 5 **b**\n\n| a | b |\n|---|---|\n| 1 < 2 | **x** |"


@pytest.mark.parametrize("kind", ["answer", "question", "notice", "report"])
def test_one_text_reads_the_same_on_every_path(kind: OutgoingKind) -> None:
    message = Outgoing("k", THREAD, ONE_TEXT, kind)
    asked = Outgoing("k", THREAD, ONE_TEXT, kind, (Button("Yes", Press("q", 0)),))
    (block,) = slack.payload(message)["blocks"]
    section = slack.payload(asked)["blocks"][0]
    words = ["Rows", "<", "5", "b", "a", "b", "1", "<", "2", "x"]
    ways = (
        read_markdown(block["text"]),
        Mrkdwn(slack.payload(message)["text"]).text,
        Mrkdwn(section["text"]["text"]).text,
        Mrkdwn(slack.mrkdwn(ONE_TEXT)).text,
        Mrkdwn(slack.comment(message)).text,
        Telegram(telegram.html(ONE_TEXT)).text,
        Telegram(telegram.caption(message)).text,
    )
    for read in ways:
        assert [
            word for word in read.replace("|", " ").replace("-+-", " ").split() if set(word) != {"-"}
        ] == words
