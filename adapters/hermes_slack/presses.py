"""Knows what a button on Slack carries: the question's id and the option's index, nothing else (P35)."""

from __future__ import annotations

import re

from hermes_bot.messages import Press

LONGEST_VALUE = 2_000
_OPTION = re.compile("[0-9]{1,4}")


def press_value(press: Press) -> str:
    """Return what a button carries."""
    return f"{press.question}|{press.option}"


def read_press(value: str) -> Press | None:
    """Return the press a button's value names; None where it is none of ours."""
    question, _, option = value.rpartition("|")
    is_ours = question and len(value) <= LONGEST_VALUE and _OPTION.fullmatch(option)
    return Press(question, int(option)) if is_ours else None
