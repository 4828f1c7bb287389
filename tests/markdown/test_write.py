"""What is written as Markdown again is read as the same tree."""

from __future__ import annotations

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
