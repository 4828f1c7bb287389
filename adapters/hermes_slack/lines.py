"""Knows which messages at a channel's top are one: what a person says in several lines, in one breath.

Each stands by itself on Slack, so only the moment tells: a line within a second of the same person's last one
belongs to that one's thread. One that names us begins a thread of its own.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from hermes_slack import reading
from hermes_slack.texts import mentions

if TYPE_CHECKING:
    from hermes_bot.messages import Incoming
    from hermes_slack.reading import Site
    from hermes_slack.wire import Message

LINE = timedelta(seconds=1)
REMEMBERED = 1_000
_WRITTEN = frozenset({None, "file_share", "me_message"})


@dataclass(slots=True)
class Lines:
    """Reads messages, and remembers what each person said to us last at a channel's top."""

    _last: OrderedDict[tuple[str, str, str], tuple[str, str]] = field(default_factory=OrderedDict)

    def read(self, event: Message, event_id: str, site: Site) -> Incoming | None:
        """Return what the core is handed of a message event; None where it is not for us.

        Raises:
            ValueError: its ``ts`` is none.
        """
        if event.thread_ts not in (None, event.ts) or event.subtype not in _WRITTEN or not event.user:
            return reading.read(event, event_id, site)
        who = site.team, event.channel, event.user
        root = self._root(who, event, site)
        whole = event.model_copy(update={"thread_ts": root}) if root else event
        incoming = reading.read(whole, event_id, site)
        if incoming is not None:
            self._last.pop(who, None)
            self._last[who] = incoming.thread.thread, event.ts
            if len(self._last) > REMEMBERED:
                self._last.popitem(last=False)
        return incoming

    def _root(self, who: tuple[str, str, str], event: Message, site: Site) -> str:
        """Return the thread of the line that this one goes on with; empty where it stands by itself."""
        root, last = self._last.get(who, ("", ""))
        if not root or event.ts == root or mentions(event.text or "", site.me.user):
            return ""
        passed = reading.moment(event.ts) - reading.moment(last)
        return root if timedelta(0) <= passed <= LINE else ""
