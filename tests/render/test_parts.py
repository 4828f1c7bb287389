"""Which posts a message becomes: its files, then the parts of its text (B-85, B-87, B-90, P25, P27)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hermes_bot.markdown import parse
from hermes_bot.markdown.tree import Fence
from hermes_bot.messages import Attachment, Button, Outgoing, Press, ThreadKey
from hermes_slack import render as slack
from hermes_telegram import render as telegram

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Parts = Callable[[Outgoing], tuple[Outgoing, ...]]

THREAD = ThreadKey("any", "T1", "C1", "1.1")
SENTENCE = "Some words make a sentence that is not too long. "

both = pytest.mark.parametrize("parts", [slack.parts, telegram.parts], ids=["slack", "telegram"])


def code_of(posts: Sequence[Outgoing]) -> list[str]:
    """Return the lines of code in posts, wherever they are."""
    blocks = [block for post in posts for block in parse(post.text) if isinstance(block, Fence)]
    files = [file.text for post in posts for file in post.files]
    return [line for block in blocks for line in block.lines] + [
        line for text in files for line in text.splitlines()
    ]


@both
def test_a_short_message_is_one_part_as_it_is(parts: Parts) -> None:
    message = Outgoing(
        "k", THREAD, "*Done*  in 3 s.", "report", (Button("A", Press("q", 0)),), reply_to="m", edits="e"
    )
    assert parts(message) == (message,)


@both
@pytest.mark.parametrize("width", [8, 24])
def test_400_lines_of_code_arrive_as_they_were(parts: Parts, width: int) -> None:
    lines = ["    " * (number % 3) + "x" * (width - 4) if number % 7 else "" for number in range(400)]
    lines[-1] = "end"
    posts = parts(Outgoing("k", THREAD, "Look:\n\n```python\n" + "\n".join(lines) + "\n```\n"))
    assert code_of(posts) == lines
    assert [file.name for post in posts for file in post.files] == ([] if width == 8 else ["look.py"])


@both
def test_two_parts_have_no_numbers_and_three_do(parts: Parts) -> None:
    two = parts(Outgoing("k", THREAD, SENTENCE * 100))
    assert len(two) == 2
    assert not any("/2" in post.text for post in two)
    grown = "😀" * 2_500 if parts is telegram.parts else "&" * 900  # two units each; five characters each
    three = parts(Outgoing("k", THREAD, grown + " " + SENTENCE * 95))
    assert [post.text[-5:] for post in three] == ["_1/3_", "_2/3_", "_3/3_"]


@both
def test_too_long_a_text_is_its_first_lines_and_a_file_with_the_whole(parts: Parts) -> None:
    text = "## Weekly report\n\nAll is well. " + SENTENCE * 900
    file, post = parts(Outgoing("k", THREAD, text, buttons=(Button("A", Press("q", 0)),), reply_to="m"))
    (whole,) = file.files
    assert (whole.name, whole.text) == ("weekly-report.md", text)
    assert (file.text, file.reply_to, file.buttons) == ("", "m", ())
    assert post.text.startswith("## Weekly report\n\nAll is well. Some words")
    assert len(post.text) < 1_000
    assert "`weekly-report.md`" in post.text
    assert post.buttons


@both
def test_files_come_before_the_text_one_by_one(parts: Parts) -> None:
    files = tuple(Attachment(f"{name}.png", path=f"/nowhere/{name}.png", about=name) for name in ("a", "b"))
    posts = parts(Outgoing("k", THREAD, "See the charts.", files=files, reply_to="m", edits="e"))
    assert [(post.text, len(post.files)) for post in posts] == [("", 1), ("", 1), ("See the charts.", 0)]
    assert [post.reply_to for post in posts] == ["m", "", ""]
    assert [post.edits for post in posts] == ["", "", "e"]


@both
def test_files_without_a_text_and_choices_without_one_are_posted(parts: Parts) -> None:
    file = Attachment("a.png", path="/nowhere/a.png")
    assert [post.files for post in parts(Outgoing("k", THREAD, " \n", files=(file,)))] == [(file,)]
    (post,) = parts(Outgoing("k", THREAD, "", "question", (Button("A", Press("q", 0)),)))
    assert post.text.strip()
    assert post.buttons


@both
def test_files_of_one_message_have_names_of_their_own(parts: Parts) -> None:
    table = "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 60
    posts = parts(Outgoing("k", THREAD, f"## Errors\n\n{table}\n\n## Errors\n\n{table}"))
    assert [file.name for post in posts for file in post.files] == ["errors.csv", "errors-2.csv"]


@both
@pytest.mark.parametrize(
    "text", ["../../etc/passwd\n\n", "# CON: a|b?*<>\n\n", "# \u202egnp.exe\n\n", "# 報告 2026\n\n"]
)
def test_a_files_name_is_words_and_an_ending(parts: Parts, text: str) -> None:
    (name,) = {
        file.name for post in parts(Outgoing("k", THREAD, text + SENTENCE * 200)) for file in post.files
    }
    stem, _, ending = name.rpartition(".")
    assert ending == "md"
    assert stem.replace("-", "").isalnum()
