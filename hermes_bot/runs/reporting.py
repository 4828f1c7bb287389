"""Knows how a scheduled run ends: one post at the top of each channel its schedule reports to, and no other.

The first place is where the run works; its thread goes on with the run, should it ask or be continued. What
became of the report is kept per place, apart from what became of the work.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from hermes_bot.runs.posts import final_post, final_text
from hermes_bot.schedules.targets import home_of, new_thread
from hermes_bot.store import firings, journal, messages, outbox, schedules, threads
from hermes_bot.store.firings import DeliveryRow
from hermes_bot.store.messages import Line

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence
    from datetime import datetime

    from hermes_bot.messages import Outgoing
    from hermes_bot.state import Planned, RunState

NOT_FOR_OTHERS = "It may hold what was said in a private place, so it stayed where it was made."


def report(db: sqlite3.Connection, state: RunState, reply_to: str, now: datetime) -> None:
    """Store a scheduled run's end in each place; what is stored for a place already is not stored again."""
    planned = state.planned
    if planned is None:
        return
    if firings.deliveries_of(db, planned.firing):  # somebody let a stopped one go on, in its thread
        _post(db, final_post(state, reply_to), state, now)
        return
    is_news = _is_news(db, state, planned)
    targets = _targets(db, planned)
    home = home_of(targets, state.thread)
    for number, target in enumerate([home, *(it for it in targets if it != home)], 1):
        is_seen = number == 1 and not state.thread.is_new  # who answered a question there waits for the end
        message = _report(state, planned, target, number, reply_to)
        row = DeliveryRow(0, planned.firing, target, message.key, "pending", "", "", now)
        if not is_news and not is_seen:
            firings.deliver(db, replace(row, state="unchanged", why="It reads as the last one did."))
        elif number > 1 and _is_of_private_place(db, state):
            firings.deliver(db, replace(row, state="dead", why=NOT_FOR_OTHERS))
        elif number == 1 or state.status != "cancelled":
            firings.deliver(db, row)
            _post(db, message, state, now)


def _is_of_private_place(db: sqlite3.Connection, state: RunState) -> bool:
    """Whether a run knows what was said in a private place: it works in one, or was given what one told.

    What its tools read is no such thing, logs say: whoever chose the channels chose who reads of them.
    """
    begun = journal.of_run(db, state.run)[0]
    return state.place != "channel" or bool(begun.data.get("private"))


def _targets(db: sqlite3.Connection, planned: Planned) -> Sequence[str]:
    """Return where it is reported, by the channels' ids of today."""
    firing = firings.get(db, planned.firing)
    schedule = schedules.get(db, firing.schedule) if firing else None
    return schedule.targets if schedule else planned.targets


def _report(state: RunState, planned: Planned, target: str, number: int, reply_to: str) -> Outgoing:
    whole = final_post(state, reply_to)
    note = f"_{planned.note}_" if planned.note else ""
    text = "\n\n".join(
        part for part in (note, whole.text, f"_From the schedule `{planned.schedule}`._") if part
    )
    whole = replace(whole, text=text)
    if number == 1:
        return whole
    thread = new_thread(target, f"f-{planned.firing}-{number}")
    # whoever presses there would go on in another place
    return replace(whole, key=f"{whole.key}/{number}", thread=thread, buttons=(), reply_to="")


def _is_news(db: sqlite3.Connection, state: RunState, planned: Planned) -> bool:
    """Whether a report reads otherwise than the last one; what went wrong always is. Keeps how it reads."""
    firing = firings.get(db, planned.firing)
    schedule = schedules.get(db, firing.schedule) if firing else None
    if schedule is None:
        return True
    digest = ""
    if state.status == "finished":
        counts = state.content_key or final_text(state)
        digest = hashlib.sha256(counts.encode(errors="surrogatepass")).hexdigest()
    schedules.reported(db, schedule.seq, digest)
    return not (planned.only_on_change and digest and digest == schedule.digest)


def _post(db: sqlite3.Connection, message: Outgoing, state: RunState, now: datetime) -> None:
    if outbox.put(db, message, now, state.run):
        threads.touch(db, message.thread, "", now)
        line = Line(message.thread, "bot", "", message.text, now, message.key, from_bot=True, run=state.run)
        messages.add(db, replace(line, outside=state.is_tainted))
