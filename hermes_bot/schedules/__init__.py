"""Knows schedules: rows are the truth, ``fire_due`` does the work, and something wakes it (design §11).

A due moment becomes a claimed row and the task of a run in one transaction; from there it goes the way of
every message. What became of the work, and of the report in each place, is settled from the stored rows.

The way, one file a step: a ``drafts`` value is read and refused by ``making``, with ``rights``; ``looking``
says which moments of a due one count; ``firing`` stores what follows; ``settling`` looks how it ended;
``waking`` calls for all of it in time. ``schedules`` is the door.
"""

from hermes_bot.schedules.drafts import Draft, Past, Proposed
from hermes_bot.schedules.rooms import Rooms
from hermes_bot.schedules.schedules import Schedules
from hermes_bot.schedules.waking import Waker

__all__ = ["Draft", "Past", "Proposed", "Rooms", "Schedules", "Waker"]
