"""Knows how the lines that look bad are counted by what they say, so that days can be compared.

What a line says is its text with what varies masked, as the diagnosis masks it. drain3's clusters are not
used here: they depend on the order in which texts came, so what is one template today may be two tomorrow.
A text is the same for ever, and its count in an hour is a fact about the log that may be counted again.

All of it is bounded. Of one form (level, first word, number of words) only so many texts are told apart, the
rest is counted by its form; so many texts in all, then so many forms; then by the number of words alone.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hermes_bot.diagnosis.levels import sounds_bad
from hermes_bot.diagnosis.masks import mask
from hermes_bot.diagnosis.pipeline import Reading
from hermes_bot.diagnosis.rules import rule_book
from hermes_bot.diagnosis.templates import speaking_text
from hermes_bot.diagnosis.values import Level

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from hermes_bot.diagnosis.rules import RuleBook
    from hermes_bot.diagnosis.selection import LogQuery
    from hermes_bot.diagnosis.values import Record, RuleHit

HOUR = 3600  # seconds
UNTIMED = 0  # the hour of lines that carry no time
FIRST_LINES, LAST_LINES = 5, 15  # that are kept of each text, to be quoted
MOST_TEXTS, MOST_FORMS, OF_ONE_FORM = 600, 300, 40
_WIDE = "<*>×"  # noqa: RUF001 - the sign itself; and how many words it stands for
_TEXT_CHARS, _WORD_CHARS = 300, 80
_LINE_CHARS = 4_000
_MOST_REMEMBERED = 200_000
_LOOK_UP = 2_000  # records after which the asker is asked whether to go on
# an access log's line says what was asked for and what came of it; the rest is about who asked
_REQUEST = re.compile(r'(?:^|")(?P<method>[A-Z]{3,10}) (?P<path>[^\s"?]*)[^"]*" (?P<status>[1-5]\d\d)\b')


@dataclass(frozen=True, slots=True)
class Wording:
    """What lines of one kind say.

    Attributes:
        key: the same for the same level and text, on every day.
        text: masked, without secrets; ``<*>`` stands for words of any kind where it covers many texts.
        rule: what the rule book knows of it; None where it knows nothing, or was not asked again.
    """

    key: str
    text: str
    level: Level
    rule: RuleHit | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Spotted:
    """A line as it was read."""

    file: str
    line: int
    at: datetime | None
    text: str


@dataclass(slots=True)
class Tally:
    """How often a wording was read, and where.

    Attributes:
        hours: by hours since 1970; ``UNTIMED`` for lines without a time.
        inside: those in the window; ``before``: how many are in the one before it.
        files: lines in the window by file.
    """

    wording: Wording
    hours: Counter[int] = field(default_factory=Counter)
    inside: Counter[int] = field(default_factory=Counter)
    before: int = 0
    first_at: datetime | None = None
    last_at: datetime | None = None
    files: Counter[str] = field(default_factory=Counter)
    first: list[Spotted] = field(default_factory=list)
    last: deque[Spotted] = field(default_factory=lambda: deque(maxlen=LAST_LINES))

    def add(self, record: Record, span: Span) -> None:
        """Count one record of the counted time."""
        at = record.at
        hour = UNTIMED if at is None else int(at.timestamp()) // HOUR
        self.hours[hour] += 1
        if at is not None:
            if self.first_at is None or at < self.first_at:
                self.first_at = at
            if self.last_at is None or at > self.last_at:
                self.last_at = at
            if at <= span.since:
                self.before += at > span.before
                return
        self.inside[hour] += 1
        self.files[record.file] += 1
        spotted = Spotted(record.file, record.line, at, record.lines[0].text[:_LINE_CHARS])
        (self.first if len(self.first) < FIRST_LINES else self.last).append(spotted)


@dataclass(frozen=True, slots=True)
class Span:
    """The time that is looked at, all of it after ``since`` and up to ``until``.

    Attributes:
        counted: from when on hours are counted; whole hours, so that counting one again gives the same.
    """

    since: datetime
    until: datetime
    counted: datetime

    @property
    def before(self) -> datetime:
        """Where the window before begins, which is as long."""
        return self.since - (self.until - self.since)


@dataclass(slots=True)
class Count:
    """What was read of one source.

    Attributes:
        records: messages in the window, harmless ones too.
        reaches_back: something older than the window was read, so that new can be told from old.
        covers_before: the log reaches back to the begin of the window before.
        last_at: the newest time that was read.
        is_timed: lines carry times, or there are none.
    """

    tallies: dict[str, Tally] = field(default_factory=dict)
    records: int = 0
    lines: int = 0
    files: int = 0
    first_at: datetime | None = None
    last_at: datetime | None = None
    is_timed: bool = True
    reaches_back: bool = False
    covers_before: bool = False
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Order:
    """How a source is to be counted.

    Attributes:
        known: texts that were told apart before, by key; they keep their place whatever else comes.
        redact: takes secrets out of a text.
        is_over: whether nobody waits for the result any more.
        written_since: files that were last written earlier are not read; None reads all.
    """

    span: Span
    known: Mapping[str, Wording]
    redact: Callable[[str], str]
    is_over: Callable[[], bool]
    written_since: datetime | None = None


def count(query: LogQuery, order: Order, now: datetime) -> Count:
    """Read a source and count what looks bad in it. Blocking; run it in a thread.

    Raises:
        ToolError: nothing can be read; its text says why in plain words.
    """
    reading = Reading.of(query, now, since=order.written_since)
    found = Count(files=len(reading.files))
    words = _Words(rule_book(), order)
    has_times = False
    for number, record in enumerate(reading.records()):
        if number % _LOOK_UP == 0 and order.is_over():
            break
        has_times = has_times or record.at is not None
        if _counts(record, order.span, found):
            wording = words.of(record)
            if wording is not None:
                tally = found.tallies.setdefault(wording.key, Tally(wording))
                tally.add(record, order.span)
    found.lines, found.notes = reading.lines, reading.notes
    found.is_timed = has_times or not found.records
    return found


def _counts(record: Record, span: Span, found: Count) -> bool:
    """Take note of a record, and tell whether it lies in the time that is counted."""
    at = record.at
    if at is None:
        found.records += 1
        return True
    if at > span.until:  # a clock that is ahead: it is counted once its time has come
        return False
    if found.first_at is None or at < found.first_at:
        found.first_at = at
        found.reaches_back = at <= span.since
        found.covers_before = at <= span.before
    if found.last_at is None or at > found.last_at:
        found.last_at = at
    found.records += at > span.since
    return at >= span.counted


class _Words:
    """Tells of each record what it says, and nothing of harmless ones."""

    def __init__(self, rules: RuleBook, order: Order) -> None:
        self._rules = rules
        self._redact = order.redact
        self._known = order.known
        self._seen: dict[tuple[str, Level], Wording | None] = {}
        self._keys = set(order.known)
        self._texts = 0
        self._forms: Counter[tuple[Level, str, int]] = Counter()
        self._wide: dict[str, Wording] = {}
        for one in order.known.values():
            self._note(one.level, one.text)

    def of(self, record: Record) -> Wording | None:
        level = record.level
        if level in (Level.INFO, Level.DEBUG):  # what calls itself harmless is the diagnosis' business
            return None
        masked = _masked(record)[:_TEXT_CHARS]
        if (masked, level) in self._seen:
            return self._seen[masked, level]
        wording = self._learn(masked, record)
        if len(self._seen) < _MOST_REMEMBERED:
            self._seen[masked, level] = wording
        return wording

    def _learn(self, masked: str, record: Record) -> Wording | None:
        level = record.level
        if level == Level.NONE:
            if not sounds_bad(record.message):
                return None
            level = Level.WARNING
        form = _form(level, masked)
        known = self._known.get(_key(level, masked))
        is_full = self._texts >= MOST_TEXTS or self._forms[form] >= OF_ONE_FORM
        if known is None and is_full:
            return self._by_form(form)
        hit = self._rules.match(record.message)
        if hit is not None and hit.rule.kind == "noise":
            return None
        text = known.text if known else _masked(record, self._redact)[:_TEXT_CHARS]
        made = Wording(_key(level, text), text, level, hit)
        if made.key not in self._keys:
            self._keys.add(made.key)
            self._note(level, text)
        return made

    def _note(self, level: Level, text: str) -> None:
        if _WIDE in text:
            self._wide[_key(level, text)] = Wording(_key(level, text), text, level)
            return
        self._texts += 1
        self._forms[_form(level, text)] += 1

    def _by_form(self, form: tuple[Level, str, int]) -> Wording:
        level, word, size = form
        text = f"{self._redact(word)[:_WORD_CHARS]} {_WIDE}{size - 1}"
        if _key(level, text) not in self._wide and len(self._wide) >= MOST_FORMS:
            text = f"{_WIDE}{size}"
        key = _key(level, text)
        return self._wide.setdefault(key, Wording(key, text, level))


def _form(level: Level, text: str) -> tuple[Level, str, int]:
    words = text.split(" ")
    return level, words[0], len(words)


def _key(level: Level, text: str) -> str:
    return hashlib.sha256(f"{level.name} {text}".encode("utf-8", "replace")).hexdigest()[:16]


def _masked(record: Record, redact: Callable[[str], str] | None = None) -> str:
    head = speaking_text(record)
    asked = _REQUEST.search(head)
    if asked is None:
        return "".join(c for c in mask(redact(head) if redact else head) if c.isprintable())
    path = redact(asked["path"]) if redact else asked["path"]
    return f"{asked['method']} {mask(path)} → {asked['status']}"


def wordings(kept: Iterable[tuple[str, str, str]]) -> dict[str, Wording]:
    """Return wordings that were stored as key, text and the level's name."""
    return {key: Wording(key, text, Level[level.upper()]) for key, text, level in kept}
