"""What travels between the parts comes back as it was given, and nothing else does."""

from __future__ import annotations

import pytest

from hermes_bot.messages import Press


@pytest.mark.parametrize("press", [Press("q-1", 0), Press("s-7f3a", 12), Press("a|b", 3)])
def test_a_press_comes_back_as_it_was_given(press: Press) -> None:
    assert Press.parse(str(press)) == press


@pytest.mark.parametrize(
    "text", ["", "|", "q", "q|", "|1", "q|-1", "q|x", "q|1|", "q|\uff11", "q|12345", "q|1\n"]
)
def test_what_no_button_of_ours_carries_is_no_press(text: str) -> None:
    assert Press.parse(text) is None
