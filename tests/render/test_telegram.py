"""How posts look on Telegram: HTML, keyboards, plain text in need (B-42, B-84, B-85, B-87, B-89)."""

from __future__ import annotations

import pytest
from render.readers import Telegram, seen, utf16

from hermes_bot.messages import Attachment, Button, Outgoing, Press, ThreadKey
from hermes_telegram import render

THREAD = ThreadKey("telegram", "", "-1001", "5")


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("# A **bold** heading", "<b>A bold heading</b>"),
        ("***both***", "<i><b>both</b></i>"),
        ("**a `code` b**", "<b>a </b><code>code</code><b> b</b>"),
        ("**a *b* c**", "<b>a <i>b</i> c</b>"),
        ("[`x`](https://w.example/?a=1&b=2)", '<a href="https://w.example/?a=1&amp;b=2">x</a>'),
        ("```c++\na<b\n```", '<pre><code class="language-c++">a&lt;b</code></pre>'),
        ("```\na\n```", "<pre>a</pre>"),
        ("- a\n- [x] b\n- [ ] c", "• a\n☑ b\n☐ c"),
        ("3. a\n4. b\n   - c", "3. a\n4. b\n   • c"),
        ("> a\n>\n> > b", "<blockquote>a\n\n» b</blockquote>"),
        ("---", "────────────"),
        ("[us](mailto:team@w.example)", "us (team@w.example)"),
        ("<team@w.example>", "team@w.example"),
        ("[here](http://grafana:3000/d/1)", "here (<code>http://grafana:3000/d/1</code>)"),
        ("a\nb", "a\nb"),
    ],
)
def test_markdown_is_written_in_telegrams_html(text: str, html: str) -> None:
    assert render.html(text) == html


def test_length_counts_utf16_units_of_what_is_read() -> None:
    assert render.length("**a** < `b`") == len("a < b")
    assert render.length("😀 [x](https://w.example/a)") == 4
    assert render.length("<" * 4000) == 4000


def test_names_and_commands_are_dead_outside_code_alone() -> None:
    text = "@ann /run @here, /stop@my_bot a@b.example /var/log and/or 1/2 `@ann /run`"
    read = Telegram(render.html(text))
    read.check()
    assert seen(read.text) == text.replace("`", "")
    assert "<code>@ann /run</code>" in render.html(text)
    assert "a@b.example" in read.text
    assert "/var/log and/or 1/2" in read.text
    assert "@ann" not in render.plain("@ann")


@pytest.mark.parametrize(
    "text", ["[x](tg://user?id=1)", "<tg://user?id=1>", "tg://user?id=1", "[x](javascript:alert(1))"]
)
def test_only_links_that_people_know_can_be_clicked(text: str) -> None:
    read = Telegram(render.html(text))
    read.check()
    assert read.links == []
    assert "tg:" in read.text or "javascript:" in read.text


def test_a_table_is_aligned_and_one_too_wide_or_long_is_a_file() -> None:
    small = "| Service | Errors |\n|---|--:|\n| checkout | 12 |\n| 日本 | 3 |"
    assert Telegram(render.html(small)).code == [
        "Service  | Errors\n---------+-------\ncheckout |     12\n日本     |      3"
    ]
    wide = "| a | b |\n|---|---|\n| " + "w" * 80 + " | 2 |"
    long = "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 200
    for text, rows in ((wide, 2), (long, 201)):
        file, post = render.parts(Outgoing("k", THREAD, f"## Errors per service\n\n{text}"))
        assert file.files[0].name == "errors-per-service.csv"
        assert len(file.files[0].text.splitlines()) == rows
        assert "errors-per-service.csv" in post.text


def test_a_formula_in_a_table_is_text_in_its_file() -> None:
    rows = "".join(f"| {cell} | x |\n" for cell in ("=1+1", "@SUM(A1)", "-5", "+3.2", "-cmd", "plain"))
    file, _ = render.parts(Outgoing("k", THREAD, "| a | b |\n|---|---|\n" + rows + "| y | z |\n" * 40))
    cells = [line.split(",")[0] for line in file.files[0].text.splitlines()]
    assert cells[1:7] == ["'=1+1", "'@SUM(A1)", "-5", "+3.2", "'-cmd", "plain"]


def test_code_that_begins_a_message_keeps_its_indentation() -> None:
    read = Telegram(render.html("```\n    indented\n```"))
    assert read.code == ["    indented"]
    assert not read.text[0].isspace()


def test_more_than_a_hundred_entities_go_into_several_parts() -> None:
    parts = render.parts(Outgoing("k", THREAD, "`a` and " * 150))
    assert len(parts) == 2
    assert all(len(Telegram(render.html(part.text)).entities) <= 100 for part in parts)


def test_a_keyboard_has_short_labels_side_by_side_and_long_ones_alone() -> None:
    short = [
        Button(label, Press("q-1", index)) for index, label in enumerate(("Yes", "No", "Later", "Never"))
    ]
    assert [[key["text"] for key in row] for row in render.keyboard(short)] == [
        ["Yes", "No", "Later"],
        ["Never"],
    ]
    long = [Button("A label of some words", Press("q-1", 0)), Button("😀" * 90, Press("q-1", 1))]
    rows = render.keyboard(long)
    assert [len(row) for row in rows] == [1, 1]
    assert rows[1][0]["text"] == "😀" * 63 + "…"
    assert rows[0][0]["callback_data"] == "q-1|0"


def test_what_a_button_carries_fits_64_bytes_or_is_refused() -> None:
    assert len(render.press_data(Press("q" * 60, 12)).encode()) == 63
    with pytest.raises(ValueError, match="over 64 bytes"):
        render.press_data(Press("é" * 32, 1))


def test_a_caption_says_what_the_file_shows_and_fits() -> None:
    file = Attachment("x.png", path="/nowhere/x.png", about="Runs per *week* <20> @ann " + "😀" * 2000)
    read = Telegram(render.caption(Outgoing("k", THREAD, "", files=(file,))))
    assert seen(read.text).startswith("Runs per *week* <20> @ann 😀")
    assert "@ann" not in read.text
    assert utf16(read.text) <= 1024
