"""Knows how a prompt of the past is made again, to the byte, from the rows that stand before it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_bot.errors import StoreError
from hermes_bot.fold import fold
from hermes_bot.loop.context import digest, encode, system_message
from hermes_bot.state import FORGOTTEN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_bot.state import Row


def rebuild(rows: Sequence[Row], seq: int, prefix: str, *, problem: str = "") -> bytes:
    """Return the messages that the model was sent in the round of one observe row.

    What was forgotten since reads ``(forgotten)`` in them: they are then the same but for that.

    Args:
        rows: the run's rows, oldest first, with those of the runs it continues.
        seq: the observe row's place in the journal.
        prefix: the text kept under the row's ``prefix`` hash.
        problem: the reason row's ``regenerated``, for the second prompt of the same round.

    Raises:
        StoreError: there is no such row, or this version of the program writes that prompt differently.
    """
    found = next((index for index, row in enumerate(rows) if row.seq == seq and row.phase == "observe"), None)
    if found is None or "whole" not in rows[found].data:
        raise StoreError(f"Row {seq} of the journal refers to no prompt.")
    row = rows[found]
    messages = encode(system_message(prefix), fold(rows[:found]), row.at, row.data["room"], problem)
    is_whole = not any(FORGOTTEN in before.data for before in rows[:found])
    if is_whole and not problem and digest(messages) != row.data["whole"]:
        raise StoreError(f"Row {seq}: its prompt was made by another version of the program.")
    return messages
