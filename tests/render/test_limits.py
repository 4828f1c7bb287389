"""Nothing is lost and nothing over a limit, whatever the text (B-84, B-85, B-87, B-89, B-90)."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown.texts import markdown
from render.readers import Mrkdwn, Telegram, hrefs, letters, outside_links, read_markdown, tables, utf16

from hermes_bot.messages import Button, Outgoing, Press, ThreadKey
from hermes_slack import render as slack
from hermes_telegram import render as telegram

if TYPE_CHECKING:
    from collections.abc import Sequence

THREAD = ThreadKey("any", "T1", "C1", "1.1")
CALL = r"@(?:here|channel|everyone|group)\b(?!\.[A-Za-z])"  # but for what looks like an address of mail
ANY = settings(max_examples=250, deadline=None, derandomize=True)
LARGE = settings(max_examples=40, deadline=None, derandomize=True)

PYTHON = "```python\ndef f(x):\n    if x < 3:\n\n        return '@here'  # <!channel>\n```"
TABLE = "| Service | Errors |\n|:--|--:|\n| checkout | 12 |\n| <@U2> | `<!here>` |"
LIST = (
    "1. first **bold**\n   - inner `code`\n\n     > quoted in it\n2. second\n\n   ~~~sh\n   ls | wc\n   ~~~"
)
BLOCKS = [
    "A paragraph of *some* words, with a [link](https://w.example/a_(b)) and https://w.example/x_y_z in it. "
    * 6,
    "## A heading",
    PYTHON,
    TABLE,
    LIST,
    "> a quote\n> > in a quote\n>\n> - with a list",
    "- [x] done\n- [ ] not yet",
    "x" * 900,
    "<" * 700,
    "👩‍👩‍👧🇩🇪é" * 120,
    "日本語の文章です。" * 60,
    "שלום עולם " * 60,
    "---",
    "@here @name /run <@U1> <!subteam^S1> [x](tg://user?id=1) ![x](https://e.example/?d=SECRET)",
    "`a` **b** " * 40,
    "Words and words and more of them. " * 120,
    "```json\n" + '{"key": "' + "v" * 2000 + '"}\n```',
    "```\n" + "    log line with <tags> & signs\n" * 60 + "```",
    "| a | b |\n|---|---|\n" + "| cell of some length | another one |\n" * 40,
    "| wide | " + " | ".join("column" for _ in range(24)) + " |\n|" + "---|" * 25 + "\n|" + " cell |" * 25,
]
documents = st.lists(st.sampled_from(BLOCKS), min_size=1, max_size=12).map("\n\n".join)


def message(text: str, buttons: int = 0) -> Outgoing:
    choices = tuple(Button(f"Choice {index}", Press("q-1", index)) for index in range(buttons))
    return Outgoing("k", THREAD, text, buttons=choices, reply_to="m1", edits="k0")


def is_kept(text: str, shown: Sequence[str], parts: Sequence[Outgoing]) -> bool:
    """Whether every letter of a text is in what is shown or in a file; marks are no letters."""
    files = "".join(file.name + file.text for part in parts for file in part.files)
    unshown = (
        "xX".join(re.findall(r"(?:```|~~~)\s*([\w+#.-]+)", text)) + "xX"
    )  # a fence's language, the x of a task's box
    missing = Counter(letters(text)) - Counter(letters("".join(shown) + files))
    return not missing - Counter(unshown * (1 + text.count("[x]") + text.count("[X]")))


def check_order(posts: Sequence[Outgoing], buttons: int) -> None:
    texts = [post for post in posts if post.text]
    assert all(bool(post.text) != bool(post.files) for post in posts)
    assert posts[: len(posts) - len(texts)] == tuple(post for post in posts if post.files), "files come first"
    assert len(texts) <= 3
    assert [post.reply_to for post in posts] == ["m1"][: len(posts)] + [""] * (len(posts) - 1)
    assert [post.edits for post in texts] == ["k0"][: len(texts)] + [""] * (len(texts) - 1)
    assert [len(post.buttons) for post in texts] == ([0] * (len(texts) - 1) + [buttons])[: len(texts)]


def check_telegram(text: str, buttons: int = 0) -> None:
    posts = telegram.parts(message(text, buttons))
    check_order(posts, buttons)
    shown = []
    for post in posts:
        if post.text:
            read = Telegram(telegram.html(post.text))
            read.check()
            assert telegram.length(post.text) == utf16(read.text) <= 4000
            assert 0 < utf16(telegram.plain(post.text)) <= 4096
            shown += [read.text, *read.links, telegram.html(post.text)]
        else:
            caption = Telegram(telegram.caption(post))
            assert utf16(caption.text) <= 1024
    assert is_kept(text, shown, posts)


def check_slack(text: str, buttons: int = 0) -> None:
    posts = slack.parts(message(text, buttons))
    check_order(posts, buttons)
    shown = []
    for post in posts:
        if post.text:
            shown += check_payload(slack.payload(post))
            assert 0 < len(slack.plain(post)["text"]) <= 4000
            assert not re.search(rf"<|{CALL}", slack.plain(post)["text"])
        else:
            Mrkdwn(slack.comment(post)).check()
    assert is_kept(text, shown, posts)


def check_payload(payload: dict[str, object]) -> list[str]:
    blocks = payload["blocks"]
    assert isinstance(blocks, list)
    assert len(blocks) <= 50
    text = str(payload["text"])
    assert 0 < len(text) <= 3_900
    Mrkdwn(text).check()
    shown = [text]
    for block in blocks:
        if block["type"] == "markdown":
            source = block["text"]
            assert 0 < len(source) <= 12_000
            assert tables(source) <= 1
            links = hrefs(source)
            read = outside_links(source)
            assert not any(re.search(r"<[@#]\w+[|>]|<![A-Za-z]+[>|^]", text) for text in (source, read)), (
                source
            )
            assert not re.search(CALL, read), source
            assert all(re.match("https?://|mailto:", link) for link in links), links
            shown += [read_markdown(source), source]
        elif block["type"] == "section":
            assert 0 < len(block["text"]["text"]) <= 3000
            Mrkdwn(block["text"]["text"]).check()
            shown.append(block["text"]["text"])
    return shown


@ANY
@given(markdown)
def test_any_text_fits_telegram_whole(text: str) -> None:
    check_telegram(text)


@ANY
@given(markdown)
def test_any_text_fits_slack_whole(text: str) -> None:
    check_slack(text)
    check_slack(text, buttons=2)


@LARGE
@given(documents)
def test_any_document_fits_telegram_whole(text: str) -> None:
    check_telegram(text, buttons=1)


@LARGE
@given(documents)
def test_any_document_fits_slack_whole(text: str) -> None:
    check_slack(text)
    check_slack(text, buttons=8)


EXTREMES = {
    "json without a newline": "```json\n" + "x" * 7000,
    "signs that grow": "<" * 4000,
    "one word": "x" * 7000,
    "emoji": "😀" * 7000,
    "families": "👩‍👩‍👧" * 2000,
    "flags": "🇩🇪🇫🇷" * 1500,
    "accents": "a" + "\u0301" * 5000,
    "chinese": "中文" * 3500,
    "hebrew": "שלום" * 1800,
    "40,000 characters": "words and words. " * 2400,
    "nested lists": "".join(f"{'  ' * depth}- level {depth}\n" for depth in range(60)),
    "nested quotes": ">" * 300 + " deep",
    "nested marks": "*a **b " * 900,
    "many spans": "`a` " * 900,
    "many links": "[a](https://w.example/b) " * 300,
    "many addresses": "https://w.example/some/path_with_marks " * 150,
    "one long address": "https://w.example/" + "a/" * 3000,
    "a wide table": "|" + "h|" * 60 + "\n|" + "-|" * 60 + "\n|" + "c|" * 60,
    "a long cell": "| a | b |\n|---|---|\n| " + "word " * 1500 + "| x |",
    "a long label": "[" + "word " * 1000 + "](https://w.example/a)",
    "a long heading": "# " + "word " * 1500,
    "brackets": "[" * 3000,
    "backslashes": "\\" * 5000,
    "lines": "line\n" * 1500,
    "a table in a list": "- item\n\n  | a | b |\n  |---|---|\n" + "  | c | d |\n" * 200,
    "an image in a link": "[![badge](https://w.example/b.svg)](https://w.example/run)",
    "empty links": "[](https://w.example) ![]() [x]()",
    "odd fences": "~~~https://w.example/x\ncode\n~~~\n\n```py app/main.py\nx\n```\n\n- ```sh\n  ls\n  ```",
    "a table too wide for its fallback": "| a | b |\n|---|---|\n"
    + "| 1 | 2 |\n" * 20
    + f"| {'word ' * 150}| x |",
    "calls": "日本語@here.2 x@here.example @here.example <@U1>@channel @@here @HERE",
    "surrogates": "a\ud83d b\ude00 \ud83d\ude00",
    "controls": "a\x00b\x1b[31mc\x07\r\nd",
}


@pytest.mark.parametrize("name", EXTREMES)
def test_an_extreme_text_fits_both_platforms_whole(name: str) -> None:
    check_telegram(EXTREMES[name])
    check_slack(EXTREMES[name])
    check_slack(EXTREMES[name], buttons=3)


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b", "\u00a0\n\u2003", "\u200e"])
def test_blank_text_is_no_post(text: str) -> None:
    assert slack.parts(message(text)) == telegram.parts(message(text)) == ()


@pytest.mark.parametrize(
    "text", ["```\n```", "#", "-", ">", "[](https://w.example)", "****", "| |\n|-|", "1."]
)
def test_marks_that_mark_nothing_are_shown_as_they_are(text: str) -> None:
    check_telegram(text)
    check_slack(text)
    assert slack.parts(message(text))
