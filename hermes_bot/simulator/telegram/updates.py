"""Knows the queue of updates: what waits, what is confirmed, what is handed out again.

``getUpdates`` semantics after the reference: an offset confirms what is below it, a negative one forgets all
but the last few, and one far beyond the newest id is no offset at all.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hermes_bot.simulator.telegram.refusal import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

DEFAULT_KINDS = frozenset(
    {
        "message",
        "edited_message",
        "channel_post",
        "edited_channel_post",
        "callback_query",
        "my_chat_member",
        "chat_join_request",
        "inline_query",
        "chosen_inline_result",
        "poll",
        "poll_answer",
    }
)
MOST_AT_ONCE = 100
LONGEST_POLL = 50.0  # seconds
KEPT_SECONDS = 24 * 3600.0
PRESS_KEPT_SECONDS = 150.0
_STRAY = 10  # an offset further than this beyond the newest id is ignored
_IMPATIENT_SECONDS = 0.5  # the same offset again within this: the answer is cut to one update


@dataclass(slots=True)
class Pending:
    """An update that waits."""

    body: dict[str, Any]
    expires: float
    is_handed_out: bool = False

    @property
    def id(self) -> int:
        """Its ``update_id``; -1 where a test pushed something without one that is a number."""
        number = self.body.get("update_id")
        return number if isinstance(number, int) else -1


class Updates:
    """The queue of one bot.

    Attributes:
        kinds: what is sent, as last set by ``allowed_updates``.
        confirmed: the highest id the bot has confirmed.
        news: set when something is added; whoever waits for it clears it.
    """

    def __init__(self, clock: Callable[[], float], first_id: int = 100) -> None:
        self.clock = clock
        self.kinds: Collection[str] = DEFAULT_KINDS
        self.confirmed = 0
        self.news = asyncio.Event()
        self._next = first_id
        self._waiting: deque[Pending] = deque()
        self._again: deque[Pending] = deque()
        self._lent = 0
        self._redeliveries = 0
        self._random: random.Random | None = None
        self._last_offset: int | None = None
        self._last_answer = float("-inf")

    def __len__(self) -> int:
        return len(self._waiting) + self._lent

    def add(self, kind: str, content: dict[str, Any], seconds: float = KEPT_SECONDS) -> int:
        """Take something that happened, if the bot wants that kind, and return its id or 0."""
        return self.push({kind: content}, seconds) if kind in self.kinds else 0

    def push(self, body: dict[str, Any], seconds: float = KEPT_SECONDS) -> int:
        """Take an update as it is, with an id if it has none, and return its id."""
        if "update_id" not in body:
            body = {"update_id": self._next, **body}
        pending = Pending(body, self.clock() + seconds)
        self._next = max(self._next, pending.id + 1)
        self._waiting.append(pending)
        self.news.set()
        return pending.id

    def set_kinds(self, kinds: Any) -> None:
        """Remember ``allowed_updates``; None changes nothing, an empty list means the usual ones.

        Raises:
            Refused: it is no list of texts.
        """
        if kinds is None:
            return
        if not isinstance(kinds, list) or not all(isinstance(kind, str) for kind in kinds):
            raise Refused(400, "Bad Request: can't parse allowed updates JSON object")
        self.kinds = frozenset(kinds) or DEFAULT_KINDS

    def redeliver(self, count: int) -> None:
        """Let the next ``count`` updates that are handed out come a second time, confirmed or not."""
        self._redeliveries += count

    def shuffle(self, seed: int | None) -> None:
        """Let updates of different chats come in another order, from now on; None ends that."""
        self._random = None if seed is None else random.Random(seed)  # noqa: S311 - to be reproducible is the point

    def jump(self, update_id: int) -> None:
        """Do what happens after an idle week: what waited has expired, and ids go on from elsewhere."""
        self.drop()
        self._next = update_id

    def drop(self) -> None:
        """Forget all that waits."""
        self._waiting.clear()
        self._again.clear()

    def lend(self) -> list[Pending]:
        """Return and remove all that waits, for a webhook; each is settled or given back."""
        self._expire()
        lent = list(self._waiting)
        self._waiting.clear()
        self._lent += len(lent)
        return lent

    def settle(self, pending: Pending) -> None:
        """Count a lent update as confirmed."""
        self._lent -= 1
        self.note_confirmed(pending.id)

    def give_back(self, pending: Collection[Pending]) -> None:
        """Put back what was lent and not delivered."""
        self._lent -= len(pending)
        self._waiting = deque(sorted([*pending, *self._waiting], key=lambda one: one.id))
        self.news.set()

    def note_confirmed(self, update_id: int) -> None:
        """Remember how far the bot came."""
        self.confirmed = max(self.confirmed, update_id)

    def takes_again(self) -> bool:
        """Return whether this delivery is to be repeated, and count it."""
        if not self._redeliveries:
            return False
        self._redeliveries -= 1
        return True

    def answer(self, offset: int, limit: int) -> list[dict[str, Any]]:
        """Confirm what the offset confirms and return what is to be handed out now."""
        self._confirm(offset)
        self._expire()
        limit = min(max(limit, 1), MOST_AT_ONCE)
        is_impatient = offset == self._last_offset and self.clock() - self._last_answer < _IMPATIENT_SECONDS
        batch = self._hand_out(
            1 if is_impatient and self._waiting and self._waiting[0].is_handed_out else limit
        )
        if batch:
            self._last_offset, self._last_answer = offset, self.clock()
        return batch

    async def wait(self, seconds: float) -> None:
        """Wait until something may be there."""
        self.news.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.news.wait()

    def _confirm(self, offset: int) -> None:
        if offset < 0:
            while len(self._waiting) > -offset:
                self._forget()
        elif offset <= self._next - 1 + _STRAY:
            while self._waiting and self._waiting[0].id < offset:
                self._forget()

    def _forget(self) -> None:
        self.note_confirmed(self._waiting.popleft().id)

    def _expire(self) -> None:
        now = self.clock()
        while self._waiting and self._waiting[0].expires <= now:
            self._waiting.popleft()

    def _hand_out(self, limit: int) -> list[dict[str, Any]]:
        again = [self._again.popleft() for _ in range(min(limit, len(self._again)))]
        batch: list[Pending] = []
        now = self.clock()
        while self._waiting and len(batch) < limit - len(again):
            if (pending := self._waiting.popleft()).expires > now:
                batch.append(pending)
        if self._random is not None:
            _mix(batch, self._random)
        self._waiting.extendleft(reversed(batch))
        for pending in batch:
            if self._redeliveries and not pending.is_handed_out:
                self._redeliveries -= 1
                self._again.append(pending)
            pending.is_handed_out = True
        return [pending.body for pending in (*again, *batch)]


def place_of(body: dict[str, Any]) -> str:
    """Return the chat, or for a press the person, in whose order an update is delivered."""
    for kind, content in body.items():
        if isinstance(content, dict):
            who = content.get("from" if kind == "callback_query" else "chat")
            return f"{kind == 'callback_query'}:{who.get('id') if isinstance(who, dict) else who}"
    return json.dumps(body, default=str)


def _mix(batch: list[Pending], source: random.Random) -> None:
    """Change the order of different chats' updates, not that of one chat; the ids still count up."""
    fresh = [number for number, pending in enumerate(batch) if not pending.is_handed_out]
    lanes: dict[str, deque[Pending]] = {}
    for number in fresh:
        lanes.setdefault(place_of(batch[number].body), deque()).append(batch[number])
    ids = [batch[number].body.get("update_id") for number in fresh]
    order = [place for place, lane in lanes.items() for _ in lane]
    source.shuffle(order)
    for number, update_id, place in zip(fresh, ids, order, strict=True):
        batch[number] = lanes[place].popleft()
        batch[number].body = batch[number].body | {"update_id": update_id}
