"""Knows the frozen values that pass between the steps of a diagnosis.

A file becomes lines, lines become records, records are counted as templates, templates that stand out
become findings, findings become advice, and all of it one report. Every instant is an aware ``datetime``
in UTC; every line number counts from 1.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from pathlib import Path
from typing import Any


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
        kind: ``cause``, or ``symptom`` for what is only seen downstream of one.
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
class Burst:
    """The stretch of time in which a template is most over its usual rate.

    Attributes:
        inside: how many records lie in it; ``outside`` the others.
        gain: log-likelihood ratio against one constant rate; under about 10 is chance.
    """

    start: datetime
    end: datetime
    inside: int
    outside: int
    gain: float


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that changed, with its lines.

    Attributes:
        onset: when it began, or None where the lines carry no time.
        first: the line at which it began.
        evidence: its lines from the onset on, oldest first, at most 200.
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

    @property
    def is_symptom(self) -> bool:
        """Whether it is known to be seen only downstream of a cause."""
        return self.hit is not None and self.hit.rule.kind == "symptom"


@dataclass(frozen=True, slots=True)
class Findings:
    """What an analysis found, best candidate first; empty candidates mean no incident.

    Attributes:
        lines: how many lines were read; ``records`` how many messages they made.
        noise: templates that look like errors but keep their usual rate.
        change: where a deploy or a start of a version shows within the hour before the first bad line.
        notes: sentences about what could not be read.
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
class Report:
    """The whole answer."""

    findings: Findings
    advice: Advice
    quotes: tuple[Quote, ...]


@dataclass(frozen=True, slots=True)
class LogQuery:
    """Which lines a question is about.

    Attributes:
        paths: files, folders, glob patterns, or ``-`` for standard input.
        since: begin of the window; earlier lines only show what is usual.
        until: end of the window; later lines are not looked at.
        tz: IANA name of the zone of stamps that name none; None takes a sibling file's, else UTC.
        shift: added to every time stamp, for logs that are to look current.
    """

    paths: tuple[str, ...]
    since: datetime | None = None
    until: datetime | None = None
    tz: str | None = None
    shift: timedelta = timedelta(0)


@dataclass(frozen=True, slots=True)
class LogSelection:
    """A query with what lies in its window, as small data that a next step can work on.

    Attributes:
        files: the cited names of the files.
        lines: how many lines lie in the window; ``records`` and ``levels`` count messages.
        first_lines: the first lines of the window, cut.
    """

    query: LogQuery
    files: tuple[str, ...] = ()
    lines: int = 0
    records: int = 0
    levels: Mapping[str, int] = field(default_factory=dict)
    first_at: datetime | None = None
    last_at: datetime | None = None
    first_lines: tuple[Quote, ...] = ()
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Give plain JSON data; ``from_dict`` reads it back."""
        return {
            "paths": list(self.query.paths),
            "since": _iso(self.query.since),
            "until": _iso(self.query.until),
            "tz": self.query.tz,
            "shift_seconds": self.query.shift.total_seconds(),
            "files": list(self.files),
            "lines": self.lines,
            "records": self.records,
            "levels": dict(self.levels),
            "first_at": _iso(self.first_at),
            "last_at": _iso(self.last_at),
            "first_lines": [{"file": q.file, "line": q.line, "text": q.text} for q in self.first_lines],
            "notes": list(self.notes),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "LogSelection":
        """Read what ``to_dict`` gave. Its paths are taken as they are: check first whose they are.

        Raises:
            ValueError: a part is missing or has another shape.
        """
        try:
            return cls(
                query=_query(data),
                files=tuple(str(name) for name in data.get("files") or ()),
                lines=int(data.get("lines") or 0),
                records=int(data.get("records") or 0),
                levels={str(name): int(count) for name, count in (data.get("levels") or {}).items()},
                first_at=_instant(data.get("first_at")),
                last_at=_instant(data.get("last_at")),
                first_lines=tuple(_quote(quote) for quote in data.get("first_lines") or ()),
                notes=tuple(str(note) for note in data.get("notes") or ()),
            )
        except (KeyError, TypeError, AttributeError, OverflowError, ValueError) as error:
            raise ValueError(
                f"This is no selection of logs ({error!r}); make one with query_logs."
            ) from error


def _query(data: Mapping[str, Any]) -> LogQuery:
    paths = data["paths"]
    if isinstance(paths, str) or not paths:
        raise ValueError("paths must be a list of paths")
    zone = data.get("tz")
    return LogQuery(
        paths=tuple(str(path) for path in paths),
        since=_instant(data.get("since")),
        until=_instant(data.get("until")),
        tz=None if zone is None else str(zone),
        shift=timedelta(seconds=float(data.get("shift_seconds") or 0)),
    )


def _quote(data: Mapping[str, Any]) -> Quote:
    return Quote(str(data["file"]), int(data["line"]), str(data["text"]))


def _iso(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat().replace("+00:00", "Z")


def _instant(text: Any) -> datetime | None:
    if text is None:
        return None
    at = datetime.fromisoformat(str(text))
    if at.tzinfo is None:
        raise ValueError(f"{text} names no zone")
    return at.astimezone(UTC)
