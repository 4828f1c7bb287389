"""Knows the frozen values that pass between the steps of a diagnosis.

A file becomes lines, lines become records, records are counted as templates, templates that stand out
become findings, findings become advice, and all of it one report. Every instant is an aware ``datetime``
in UTC; every line number counts from 1.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from pathlib import Path


class Level(IntEnum):
    """How severe a record calls itself; ``NONE`` where it does not say."""

    NONE = 0
    DEBUG = 1
    INFO = 2
    WARNING = 3
    ERROR = 4
    CRITICAL = 5


@dataclass(frozen=True, slots=True)
class LogFile:
    """One readable log file.

    Attributes:
        name: as it is shown and cited, relative to the path a person gave.
        path: where its bytes are.
        family: the name without rotation and compression endings; rotated parts share it.
        encoding: the name of a Python codec.
        modified: the file's own time of last change, in UTC.
    """

    name: str
    path: Path
    family: str
    encoding: str
    modified: datetime


@dataclass(frozen=True, slots=True)
class RawLine:
    """One line of a file; ``text`` is its start only when the line is longer than the kept limit."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Record:
    """One log message with the lines that belong to it.

    Attributes:
        stream: file family, and the container's name where lines of several are mixed.
        at: when it was written, or None where the file does not say.
        message: what it says, without time stamp.
        lines: the lines it was read from, the first one first; a very long trace is cut.
        source: the program or logger that wrote it, or "".
    """

    file: str
    stream: str
    at: datetime | None
    level: Level
    message: str
    lines: tuple[RawLine, ...]
    source: str = ""

    @property
    def line(self) -> int:
        """The number of its first line."""
        return self.lines[0].number


@dataclass(frozen=True, slots=True)
class Place:
    """A line in a file, and when it was written."""

    file: str
    line: int
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One common fault of the rule book.

    Attributes:
        kind: ``cause``, ``symptom`` for what is only seen downstream of one, or ``noise``.
        weight: 1 (often harmless) to 6 (hardly ever anything else).
        label: the fault in a few words.
    """

    id: str
    kind: str
    weight: int
    label: str
    diagnosis: str
    fix: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class RuleHit:
    """A rule that fits a record.

    Attributes:
        words: the named parts of the match, for the rule's sentences.
        offset: which line of the record matched, from 0.
        text: the words that matched.
    """

    rule: Rule
    words: Mapping[str, str]
    offset: int
    text: str


@dataclass(frozen=True, slots=True)
class Template:
    """All records of one stream that say the same.

    Attributes:
        places: the lines that say it, in order of time; at most 50,000 of ``count``.
        heads: the first lines of the same records.
        sample: the whole text of the first of them.
    """

    stream: str
    text: str
    level: Level
    hit: RuleHit | None
    places: tuple[Place, ...]
    heads: tuple[Place, ...]
    count: int
    sample: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that changed, with its lines.

    Attributes:
        onset: when it began, or None where the lines carry no time.
        first: the line at which it began.
        evidence: its lines from the onset on, oldest first, at most 200; ``latest`` are the last of them all.
        heads: the first lines of its messages from the onset on, at most 50,000 a template.
        count: how many there are from the onset on.
        score: higher is more likely the cause; comparable within one report only.
        solid: whether it alone makes an incident.
    """

    template: str
    level: Level
    hit: RuleHit | None
    onset: datetime | None
    last: datetime | None
    first: Place
    evidence: tuple[Place, ...]
    count: int
    outside: int
    gain: float
    sample: str = ""
    score: float = 0.0
    solid: bool = False
    latest: tuple[Place, ...] = ()
    heads: tuple[Place, ...] = ()

    @property
    def is_symptom(self) -> bool:
        """Whether it is known to be seen only downstream of a cause."""
        return self.hit is not None and self.hit.rule.kind == "symptom"


@dataclass(frozen=True, slots=True)
class Findings:
    """What an analysis found, best candidate first; empty candidates mean no incident.

    Attributes:
        errors: how many messages of the window are errors or known faults, noise included.
        records: how many messages the window has; ``lines`` how many lines were read in all.
        noise: templates that look like errors but keep their usual rate.
        change: where a deploy or a start of a version shows right before the first bad line.
        notes: sentences about what could not be read.
        sources: each file that was read, with the number of its lines.
        templates: all messages that look bad, noise included.
    """

    candidates: tuple[Finding, ...]
    errors: int
    records: int
    lines: int
    first_at: datetime | None
    last_at: datetime | None
    since: datetime | None
    until: datetime | None
    noise: int = 0
    timed: bool = True
    change: Place | None = None
    notes: tuple[str, ...] = ()
    sources: tuple[tuple[str, int], ...] = ()
    templates: tuple[Template, ...] = ()

    @property
    def incident(self) -> bool:
        """Whether something is wrong beyond the usual noise."""
        return bool(self.candidates)


@dataclass(frozen=True, slots=True)
class Advice:
    """What to tell a person: plain sentences without log text other than named, cleaned parts."""

    diagnosis: str
    fix: str


@dataclass(frozen=True, slots=True)
class Quote:
    """A cut of one line, exactly as it stands in the file."""

    file: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A finding with its first and its last lines, none of them twice."""

    finding: Finding
    first: tuple[Quote, ...]
    last: tuple[Quote, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """The whole answer.

    Attributes:
        exhibits: one for each candidate, where they were asked for.
    """

    findings: Findings
    advice: Advice
    quotes: tuple[Quote, ...]
    exhibits: tuple[Exhibit, ...] = ()


def iso_text(at: datetime | None) -> str | None:
    """Return a moment as JSON holds it: ISO 8601, with a Z for UTC."""
    return None if at is None else at.isoformat().replace("+00:00", "Z")
