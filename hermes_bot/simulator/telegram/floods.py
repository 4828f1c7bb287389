"""Knows how much one bot may send: per chat, per group and in all; and that impatience makes it worse.

Telegram promises no figures; these are the ones to plan for (1 a second in a chat with short bursts, 20 a
minute in a group with edits and files counted, 30 a second in all).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from hermes_bot.simulator.limits import Limits, Rate
from hermes_bot.simulator.telegram.refusal import too_many

if TYPE_CHECKING:
    from collections.abc import Callable

    from hermes_bot.simulator.telegram.world import Chat

IN_CHAT = Rate(5, 5.0)  # one a second on average, bursts of five
IN_GROUP = Rate(20, 60.0)
IN_ALL = Rate(30, 1.0)
WEBHOOKS = Rate(1, 1.0)
_IMPATIENCE_SECONDS = 1.0  # added for each call made before the time that was said


class Floods:
    """Counts what is sent; everything is divided by ``speed``."""

    def __init__(self, speed: float, clock: Callable[[], float]) -> None:
        self._limits = Limits(speed, clock)
        self._speed = speed
        self._clock = clock
        self._shut: dict[int, float] = {}

    def take_message(self, chat: Chat, count: int = 1) -> None:
        """Count messages to a chat.

        Raises:
            Refused: too many; nothing is carried out.
        """
        self._take(chat, new=count, changes=0)

    def take_edit(self, chat: Chat) -> None:
        """Count an edit.

        Raises:
            Refused: too many; nothing is carried out.
        """
        self._take(chat, new=0, changes=1)

    def take_webhook(self) -> None:
        """Count a ``setWebhook``.

        Raises:
            Refused: too many.
        """
        if wait := self._limits.take(("webhook", WEBHOOKS)):
            raise too_many(math.ceil(wait))

    def _take(self, chat: Chat, *, new: int, changes: int) -> None:
        now = self._clock()
        shut = self._shut.get(chat.id, 0.0)
        if now < shut:
            self._shut[chat.id] = shut + _IMPATIENCE_SECONDS / self._speed
            raise too_many(math.ceil((shut - now) * self._speed + _IMPATIENCE_SECONDS))
        group = [(("group", chat.id), IN_GROUP)] if chat.is_group else []
        everywhere = ("all", IN_ALL)
        for _ in range(new):
            self._claim(chat, [(("chat", chat.id), IN_CHAT), *group, everywhere])
        for _ in range(changes):
            self._claim(chat, [*group, everywhere])

    def _claim(self, chat: Chat, claims: list[tuple[object, Rate]]) -> None:
        wait = self._limits.take(*claims)
        if not wait:
            return
        seconds = max(1, math.ceil(wait))
        self._shut[chat.id] = self._clock() + seconds / self._speed
        raise too_many(seconds)
