"""What is written as Markdown again is read as the same tree."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from markdown.reading import unstyled
from markdown.texts import markdown

from hermes_bot.markdown.parse import parse
from hermes_bot.markdown.write import write


@settings(max_examples=1500, deadline=None, derandomize=True)
@given(markdown)
def test_a_tree_written_and_read_again_is_the_same(text: str) -> None:
    tree = parse(text)
    again = parse(write(tree))
    assert parse(write(again)) == again, write(tree)
    assert unstyled(again) == unstyled(tree), write(tree)


@pytest.mark.parametrize(
    "text",
    [
        "**b** *i* ~~s~~ ***bi*** `c` **a `c` *i* b**",
        "in**word** *word*s",
        "[**b** `c`](https://w.example/a_(b)) https://w.example/a_b <https://w.example/a*b>",
        "# A *heading* #",
        "- a\n- b\n  - c\n\n    ```py\n    x\n\n    y\n    ```",
        "1. a\n2. b\n\n   > c\n\n5) d",
        "- [x] a\n- [ ] b",
        "- a\n\n* b\n\n- c",
        "> a\n>\n> > b\n>\n> - c",
        "~~~c++ \n```\n~~~\n~~~~\n```\n~~~\n````\n~~~~",
        "| a | b |\n| :-- | --: |\n| `x\\|y` | **z** |\n| --- | |",
        "a\nb\\\nc  \nd",
        "a\n\n___\n\nb",
        r"\*a\* \_b\_ 1\. \# \> \` \[x](y) \\ \&lt; C:\temp",
        "2 * 3 * 4, a_b_c, x < y & z, List<String>, &lt;",
    ],
)
def test_what_models_write_keeps_its_styles_and_its_code(text: str) -> None:
    tree = parse(text)
    assert parse(write(tree)) == tree


@pytest.mark.parametrize(
    "text",
    ["a < b && c > d", "2 * 3 * 4", "snake_case and List<String>", "See https://w.example/a.", "- a\n- b"],
)
def test_what_needs_no_backslash_gets_none(text: str) -> None:
    assert write(parse(text)) == text
