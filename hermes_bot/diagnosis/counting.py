"""Knows how the lines that look bad are counted by what they say, so that days can be compared.

What a line says is its text with what varies masked, as the diagnosis masks it. drain3's clusters are not
used here: they depend on the order in which texts came, so what is one template today may be two tomorrow.
A text is the same for ever, and its count in an hour is a fact about the log that may be counted again.

All of it is bounded. Of one level and number of words only so many texts are told apart, and so many that
begin alike; the rest is counted by the fault that the rule book knows in it, else by its first word, else by
the number of words alone. So a flood costs little, and hides nothing of another shape.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from hermes_bot.diagnosis.levels import sounds_bad
from hermes_bot.diagnosis.masks import mask
from hermes_bot.diagnosis.pipeline import Reading
from hermes_bot.diagnosis.rules import rule_book
from hermes_bot.diagnosis.templates import speaking_text
from hermes_bot.diagnosis.values import Level

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime, timedelta

    from hermes_bot.diagnosis.rules import RuleBook
    from hermes_bot.diagnosis.selection import LogQuery
    from hermes_bot.diagnosis.values import Record, RuleHit

HOUR = 3600  # seconds
UNTIMED = 0  # the hour of lines that carry no time
FIRST_LINES, LAST_LINES = 5, 15  # that are kept of each text, to be quoted
MOST_TEXTS = 1_500
OF_ONE_SIZE, OF_ONE_FORM, FORMS_OF_ONE_SIZE = 60, 40, 40
_WIDE = "<*>×"  # noqa: RUF001 - the sign itself; and how many words it stands for
_TEXT_CHARS, _WORD_CHARS = 300, 80
_LINE_CHARS = 4_000
_MOST_REMEMBERED = 200_000
_LOOK_UP = 2_000  # records after which the asker is asked whether to go on
_Shape: TypeAlias = "tuple[Level, int, str]"
_SAYS_LEVEL = re.compile(
    r"(?i)\W*(?:level=|lvl=|severity=)?\W*(?:warn(?:ing)?|err(?:or)?|severe|fatal|crit(?:ical)?|panic|alert|emerg)\W*$"
    r"|\W*<\w+>\W*$|\[\S*\]$"
)
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

    @property
    def is_wide(self) -> bool:
        """Whether it stands for texts that are not told apart."""
        return _WIDE in self.text


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
        length: of the window before, which ends where this one begins.
    """

    since: datetime
    until: datetime
    counted: datetime
    length: timedelta

    @property
    def before(self) -> datetime:
        """Where the window before begins."""
        return self.since - self.length


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
        self._keys: set[str] = set()
        self._texts: Counter[_Shape] = Counter()
        self._forms: Counter[_Shape] = Counter()
        self._wide: dict[str, Wording] = {}
        for one in order.known.values():
            self._note(one)

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
        hit = self._rules.match(record.message)
        if hit is not None and hit.rule.kind == "noise":
            return None
        known = self._known.get(_key(level, masked))
        if known is None and self._is_full(level, masked):
            return self._in_short(level, masked, hit)
        text = known.text if known else _masked(record, self._redact)[:_TEXT_CHARS]
        made = Wording(_key(level, text), text, level, hit)
        if made.key not in self._keys:
            self._note(made)
        return made

    def _is_full(self, level: Level, text: str) -> bool:
        """Whether no further text of its shape is told apart, and none at all."""
        size, form = _shape(level, text)
        counts = self._texts[size] >= OF_ONE_SIZE, self._texts[form] >= OF_ONE_FORM
        return any(counts) or len(self._keys) >= MOST_TEXTS

    def _in_short(self, level: Level, text: str, hit: RuleHit | None) -> Wording:
        """Return the wording that stands for many: of one fault, of one form, else of one length."""
        size, form = _shape(level, text)
        _, words, lead = form
        if hit is not None:
            short = f"{_WIDE} {hit.rule.label}"
        elif self._forms[size] < FORMS_OF_ONE_SIZE or form in self._texts:
            short = f"{self._redact(lead)[:_WORD_CHARS]} {_WIDE}{words - 1}"
        else:
            short = f"{_WIDE}{words}"
        made = Wording(_key(level, short), short, level, hit)
        if made.key not in self._keys:
            self._note(made)
        return self._wide.setdefault(made.key, made)

    def _note(self, one: Wording) -> None:
        """Remember that a wording has its place."""
        self._keys.add(one.key)
        if one.is_wide:
            return
        size, form = _shape(one.level, one.text)
        self._forms[size] += form not in self._texts
        self._texts[size] += 1
        self._texts[form] += 1


def _shape(level: Level, text: str) -> tuple[_Shape, _Shape]:
    """Return what texts are alike in: how many words they have, and also the first that says something."""
    words = text.split(" ")
    lead = next((word for word in words if not _SAYS_LEVEL.match(word)), words[0])
    return (level, len(words), ""), (level, len(words), lead)


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
