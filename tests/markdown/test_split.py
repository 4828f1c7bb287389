"""A long text becomes parts that fit and are Markdown by themselves, with nothing lost (B-84, B-85, P25)."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown.texts import markdown

from hermes_bot.markdown import parse, split
from hermes_bot.markdown.tree import Fence, Listing, Table, Text, words


def code_of(text: str) -> list[str]:
    return [line for block in parse(text) if isinstance(block, Fence) for line in block.lines]


def test_a_text_that_fits_is_left_as_it_is() -> None:
    assert split("*a*   b\n\n\n", lambda _: True) == ("*a*   b\n\n\n",)


def test_blank_text_has_no_parts() -> None:
    assert split(" \n\t\n", lambda _: True) == split("\n" * 50_000, lambda _: True) == ()


@pytest.mark.parametrize("mark", ["```", "~~~", "`````"])
@pytest.mark.parametrize("info", ["", "python", "c++"])
def test_code_is_closed_and_opened_again_with_its_lines_as_they_were(mark: str, info: str) -> None:
    lines = [
        line
        for number in range(100)
        for line in (f"    if x < {number}:", "", "\tpass  ", f"  # `{number}` ~~~")
    ]
    text = f"Look:\n\n{mark}{info}\n" + "\n".join(lines) + f"\n{mark}\n\nThat was it."
    if mark == "```":
        lines = [line.replace("```", "") for line in lines]
    pieces = split(text, lambda piece: len(piece) <= 1_000)
    assert len(pieces) > 3
    assert [line for piece in pieces for line in code_of(piece)] == lines
    assert {block.language for piece in pieces for block in parse(piece) if isinstance(block, Fence)} == {
        info
    }


def test_code_in_a_list_in_a_quote_keeps_its_lines_too() -> None:
    lines = [f"{'  ' * (number % 4)}line {number}" for number in range(200)]
    text = "> - item\n>\n>   ```py\n" + "".join(f">   {line}\n" for line in lines) + ">   ```"
    pieces = split(text, lambda piece: len(piece) <= 700)
    assert len(pieces) > 3
    assert [line for piece in pieces for line in words(parse(piece)) if "line" in line] == lines


def test_a_table_is_cut_between_rows_and_repeats_its_header() -> None:
    text = "| Week | Runs |\n|:--|--:|\n" + "".join(
        f"| {number} | `a|b` {number} |\n" for number in range(100)
    )
    pieces = split(text, lambda piece: len(piece) <= 500)
    tables = [block for piece in pieces for block in parse(piece) if isinstance(block, Table)]
    assert len(tables) == len(pieces) > 3
    assert {table.header for table in tables} == {((Text("Week"),), (Text("Runs"),))}
    assert sum(len(table.rows) for table in tables) == 100


def test_a_row_that_does_not_fit_becomes_a_list_that_names_its_cells() -> None:
    text = "| Name | Story |\n|---|---|\n| ann | " + "word " * 300 + "|"
    pieces = split(text, lambda piece: len(piece) <= 400)
    assert pieces[0].startswith("- **Name**: ann\n  **Story**: word")
    assert " ".join(line for piece in pieces for line in words(parse(piece))).count("word") == 300


def test_a_list_is_cut_between_items_and_keeps_its_numbers() -> None:
    text = "".join(f"{number}. item number {number}\n" for number in range(1, 101))
    pieces = split(text, lambda piece: len(piece) <= 300)
    items = [
        item
        for piece in pieces
        for block in parse(piece)
        if isinstance(block, Listing)
        for item in block.items
    ]
    assert [item.number for item in items] == list(range(1, 101))


def test_a_heading_stays_with_what_it_is_about() -> None:
    text = "\n\n".join(f"## Part {number}\n\n" + "word " * 60 for number in range(10))
    pieces = split(text, lambda piece: len(piece) <= 1_000)
    assert all(piece.startswith("## Part") for piece in pieces)


def test_a_long_paragraph_is_cut_at_a_sentences_end() -> None:
    pieces = split("Some words make a sentence. " * 100, lambda piece: len(piece) <= 500)
    assert all(piece.endswith("sentence.") for piece in pieces)


def test_one_long_word_is_cut_all_the_same() -> None:
    pieces = split("x" * 7_000, lambda piece: len(piece) <= 4_000)
    assert [set(piece) for piece in pieces] == [{"x"}, {"x"}]
    assert "".join(pieces) == "x" * 7_000


@pytest.mark.parametrize(
    "cluster", ["👩‍👩‍👧", "🇩🇪", "e\u0301\u0323", "👍🏽", "1\ufe0f\u20e3", "한", "क्षि", "\U0001d4b3"]
)
def test_a_cluster_is_never_cut(cluster: str) -> None:
    for length in range(100, 110):
        pieces = split(cluster * 300, lambda piece: len(piece) <= length)  # noqa: B023 - called at once
        assert "".join(pieces) == cluster * 300
        assert all(piece == cluster * (len(piece) // len(cluster)) for piece in pieces)


def test_a_link_an_escape_and_a_style_are_never_cut() -> None:
    text = r"[a label](https://w.example/a_(b)) \*not\* **bold words here** `code <` " * 60
    pieces = split(text, lambda piece: len(piece) <= 300)
    assert all(
        piece.count("[a label](https://w.example/a_(b))") == piece.count("w.example") for piece in pieces
    )
    read = " ".join(line for piece in pieces for line in words(parse(piece)))
    seen = ["a", "label", "(https://w.example/a_(b))", "*not*", "bold", "words", "here", "code", "<"]
    assert read.split() == seen * 60


def test_what_cannot_fit_is_handed_over_in_pieces_all_the_same() -> None:
    pieces = split("some words\n\n" * 50 + "x" * 500, lambda _: False)
    assert "".join(pieces).count("some words") == 50
    assert "".join(pieces).count("x") == 500


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(markdown, max_size=12).map("\n\n".join), st.integers(60, 400))
def test_parts_of_any_text_lose_no_letter(text: str, length: int) -> None:
    pieces = split(text, lambda piece: len(piece) <= length)

    def letters(source: str) -> Counter[str]:
        return Counter(char for line in words(parse(source)) for char in line if char.isalpha())

    kept: Counter[str] = sum(map(letters, pieces), Counter())
    assert not letters(text) - kept  # a table's header is there more than once


@pytest.mark.parametrize(
    "block",
    [
        "word " * 80 + "\n\n",
        "line\n" * 80 + "\n",
        "- item\n" * 80 + "\n",
        "```py\n" + "    x = 1\n" * 80 + "```\n\n",
    ],
)
def test_a_long_text_is_measured_a_handful_of_times_for_each_part(block: str) -> None:
    text = block * (200_000 // len(block))
    measured: list[int] = []

    def fits(piece: str) -> bool:
        measured.append(len(piece))
        return len(piece) <= 4_000

    pieces = split(text, fits)
    assert len(measured) <= 5 * len(pieces)
    assert max(measured) <= 8_000
    assert min(map(len, pieces[:-1])) > 2_000
