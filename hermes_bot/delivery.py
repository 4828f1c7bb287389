"""Knows how one part of a post is shown, and what each refusal of a platform means for it.

A platform that can be asked for a post is sent it; where it cannot be asked, something short is placed
and the text edited in, which can be done again without doubling. Files come before the text that points
at them because they are parts of their own, and a part goes after the former's receipt; only what opens a
thread is text first.
"""

from __future__ import annotations

import asyncio
import logging
import os
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from hermes_bot.errors import (
    AdapterError,
    Ambiguous,
    BotBroken,
    ContentRefused,
    PostGone,
    RateLimited,
    StoreError,
    Transient,
)
from hermes_bot.markdown import inert, write
from hermes_bot.markdown.tree import Fence
from hermes_bot.masking import masked_file
from hermes_bot.messages import Attachment
from hermes_bot.ports import Placed
from hermes_bot.redaction import Redactor
from hermes_bot.store import posts
from hermes_bot.store.posts import Slot

if TYPE_CHECKING:
    from hermes_bot.messages import Outgoing
    from hermes_bot.pacing import Paces
    from hermes_bot.ports import Adapter, Clock
    from hermes_bot.store.database import Database
    from hermes_bot.store.outbox import OutboxRow

log = logging.getLogger(__name__)

SEND_SECONDS = 60.0
EXCERPT = 2_000  # characters of a text that no platform took as a file
BROKEN_SECONDS = 300.0  # between two tries while the bot's own access is broken
POINTER_AFTER = timedelta(minutes=1)  # an edit notifies nobody; what people waited so long for is pointed to


@dataclass(frozen=True, slots=True)
class Shown:
    """People can see it.

    Attributes:
        is_old: it stands where something else stood for long, so nobody was notified.
    """

    posted: str
    is_old: bool = False


@dataclass(frozen=True, slots=True)
class Later:
    """Certainly not shown; to be tried again. ``seconds`` is None where our own back-off says when."""

    why: str
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Unsure:
    """Perhaps shown; the platform is to be asked."""

    why: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Never to be shown."""

    error: AdapterError


Outcome: TypeAlias = Shown | Later | Unsure | Refused


class Courier:
    """Shows parts; keeps nothing in memory."""

    def __init__(
        self,
        db: Database,
        clock: Clock,
        paces: Paces,
        redactor: Redactor | None = None,
    ) -> None:
        self._redactor = redactor or Redactor()
        self._copies = db.path.with_name("masked")  # of files that hold secrets
        self._db = db
        self._clock = clock
        self._paces = paces

    async def show(self, row: OutboxRow, adapter: Adapter) -> Outcome:
        """Try once to show the row's next part; one that is refused is tried once more as plain text.

        A file that is not there any more costs only itself: the text goes, and says so. One that holds
        secrets goes as a copy without them.
        """
        part = await asyncio.to_thread(self._with_what_may_go, row.part) if row.part.files else row.part
        outcome = await self._tried(row, part, adapter)
        if isinstance(outcome, Refused) and isinstance(outcome.error, ContentRefused):
            simple = plain(part, str(outcome.error))
            if simple != part:
                return await self._tried(row, simple, adapter)
        return outcome

    async def edit(self, row: OutboxRow, part: Outgoing, posted: str, adapter: Adapter) -> Outcome:
        """Put a part in the place of an earlier post; where that is gone, nothing is left to do."""
        try:
            await self._turn(row, adapter)
            async with asyncio.timeout(SEND_SECONDS):
                await adapter.edit(posted, part)
        except PostGone:
            return Shown(posted)
        except (AdapterError, TimeoutError) as error:
            return self._told(self._paused(_repeatable(outcome_of(error))))
        except StoreError as error:  # what the adapter keeps beside it; an edit can be repeated
            return Later(str(error))
        except Exception as error:  # noqa: BLE001 - an adapter may be foreign code; its bug costs this post only
            return _bug(row.message.key, error)
        return Shown(posted)

    async def _tried(self, row: OutboxRow, part: Outgoing, adapter: Adapter) -> Outcome:
        places = adapter.delivery_of(part) == "place"
        try:
            return await (self._placed(row, part, adapter) if places else self._posted(row, part, adapter))
        except (AdapterError, TimeoutError) as error:
            # placing again leaves an empty post at worst, and an edit can be repeated: nobody need be asked
            return self._told(self._paused(_repeatable(outcome_of(error)) if places else outcome_of(error)))
        except StoreError as error:  # a full disk, say: what is kept beside the post could not be
            return Later(str(error)) if places else Unsure(str(error))
        except Exception as error:  # noqa: BLE001 - an adapter may be foreign code; its bug costs this post only
            return _bug(part.key, error)

    def _told(self, outcome: Outcome) -> Outcome:
        """Take the secrets out of what a platform's library said: the address of a call may hold a token."""
        match outcome:
            case Later(why, seconds):
                return Later(self._redactor.text(why), seconds)
            case Unsure(why):
                return Unsure(self._redactor.text(why))
            case Refused(error) if (said := self._redactor.text(str(error))) != str(error):
                error.args = (said, *error.args[1:])  # its kind and its fields say what follows from it
        return outcome

    def _with_what_may_go(self, message: Outgoing) -> Outgoing:
        gone = tuple(file for file in message.files if file.path and not _is_readable(file.path))
        message = _without(message, gone, "It is not there any more.")
        files, held = list[Attachment](), list[Attachment]()
        for file in message.files:
            may_go = masked_file(file, self._redactor, self._copies)
            (files if may_go else held).append(may_go or file)
        message = (
            replace(message, files=(*files, *held)) if held or tuple(files) != message.files else message
        )
        return _without(message, tuple(held), "It holds a secret of mine.")

    def _paused(self, outcome: Outcome) -> Outcome:
        """Divide the platform's pause by the speed that was set."""
        if isinstance(outcome, Later) and outcome.seconds is not None:
            return Later(outcome.why, self._paces.pause(outcome.seconds))
        return outcome

    async def _posted(self, row: OutboxRow, part: Outgoing, adapter: Adapter) -> Outcome:
        await self._turn(row, adapter)
        async with asyncio.timeout(SEND_SECONDS):
            return Shown(await adapter.post(part))

    async def _placed(self, row: OutboxRow, part: Outgoing, adapter: Adapter) -> Outcome:
        slot = Slot(part.thread, row.message.key, row.number)
        waiting = await self._db.read(lambda db: posts.waiting(db, slot.key, slot.part))
        found = Placed(*waiting) if waiting else await self._place(row, part, adapter, slot)
        await self._turn(row, adapter)
        try:
            async with asyncio.timeout(SEND_SECONDS):
                await adapter.edit(found.posted, part)
        except PostGone as error:
            await self._db.transact("outbox.forget", lambda db: posts.forget(db, slot.key, slot.part))
            return Later(str(error))
        is_old = found.since is not None and self._clock.now() - found.since > POINTER_AFTER
        return Shown(found.posted, is_old)

    async def _place(self, row: OutboxRow, part: Outgoing, adapter: Adapter, slot: Slot) -> Placed:
        await self._turn(row, adapter)
        async with asyncio.timeout(SEND_SECONDS):
            found = await adapter.place(part)
        await self._db.transact("outbox.placed", lambda db: posts.placed(db, slot, found, self._clock.now()))
        return found

    async def _turn(self, row: OutboxRow, adapter: Adapter) -> None:
        await self._paces.turn(row.channel, adapter.pace(row.message.thread.channel))


def parts_of(message: Outgoing, adapter: Adapter) -> tuple[Outgoing, ...]:
    """Return what a post is cut into; the post itself where the adapter's own code fails at it."""
    try:
        return adapter.parts(message)
    except Exception:  # an adapter may be foreign code; its bug costs this post's form only
        log.exception("outbox.uncut", extra={"key": message.key})
        return (message,)


def outcome_of(error: AdapterError | TimeoutError) -> Outcome:
    """Return what an adapter's error means for the post (platforms' error classes, one model for all)."""
    match error:
        case RateLimited(retry_after=seconds):
            return Later(str(error), seconds)
        case BotBroken():
            log.error("outbox.broken", extra={"error": str(error)})
            return Later(str(error), BROKEN_SECONDS)
        case Transient():
            return Later(str(error))
        case Ambiguous():
            return Unsure(str(error))
        case TimeoutError():
            return Unsure(f"no answer within {SEND_SECONDS:g} s")
        case _:
            return Refused(error)


def _repeatable(outcome: Outcome) -> Outcome:
    return Later(outcome.why) if isinstance(outcome, Unsure) else outcome


def _bug(key: str, error: Exception) -> Outcome:
    log.error("outbox.bug", extra={"key": key}, exc_info=error)
    return Refused(ContentRefused(f"the platform's adapter failed ({type(error).__name__})"))


def plain(message: Outgoing, why: str = "") -> Outgoing:
    """Return a post without files and buttons.

    Of each file it says why it is missing; choices are numbered lines, which people answer by number.
    """
    message = _without(message, message.files, why)
    labels = [button.label for button in message.buttons]
    if not labels:
        return message
    lines = "\n".join(f"{number}. {label}" for number, label in enumerate(labels, 1))
    return replace(message, text=f"{message.text}\n\n{lines}", buttons=())


def _is_readable(path: str) -> bool:
    return Path(path).is_file() and os.access(path, os.R_OK)


def _without(message: Outgoing, files: tuple[Attachment, ...], why: str) -> Outgoing:
    """Return a post without some of its files; it says of each what it was, and shows its beginning."""
    said = [message.text] if message.text.strip() else []
    for file in files:
        about = f" ({' '.join(file.about.split())})" if file.about else ""
        said.append(f"The file {inert(file.name)}{about} could not be shown here. {why}".strip())
        if file.text.strip():
            said.append(write((Fence(tuple(file.text[:EXCERPT].splitlines())),)))
    kept = tuple(file for file in message.files if file not in files)
    return replace(message, text="\n\n".join(said), files=kept) if files else message
