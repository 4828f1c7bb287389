"""Knows the way from paths to a report, and its two halves: select what to look at, then diagnose it."""

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import BinaryIO
from zoneinfo import ZoneInfo

from hermes_bot.diagnosis.advice import advise
from hermes_bot.diagnosis.bursts import Traffic
from hermes_bot.diagnosis.deploys import is_deploy
from hermes_bot.diagnosis.exhibits import exhibits_of
from hermes_bot.diagnosis.findings import Span, find
from hermes_bot.diagnosis.quotes import cut, quote_places
from hermes_bot.diagnosis.records import clocks, look_at, read_records
from hermes_bot.diagnosis.rules import rule_book
from hermes_bot.diagnosis.selection import LogQuery, LogSelection
from hermes_bot.diagnosis.sources import find_files, spooled
from hermes_bot.diagnosis.templates import TemplateMiner
from hermes_bot.diagnosis.values import (
    Finding,
    Findings,
    LogFile,
    Place,
    Quote,
    Record,
    Report,
)

_FIRST_LINES = 20
SHIFTED = (
    "These are example logs; their times are shifted so that the last line is now, quotes keep their own."
)
_CHANGE_REACH = timedelta(minutes=15)
_QUOTES_BEST = 3
_QUOTES_OTHERS = 2


def diagnose(query: LogQuery, now: datetime, stdin: BinaryIO | None = None) -> Report:
    """Read logs and say what went wrong in them, or that nothing did. Blocking; run it in a thread.

    Args:
        query: which logs and which window.
        now: years that time stamps leave out are guessed from it.
        stdin: what the path ``-`` stands for.

    Raises:
        ToolError: nothing can be read; its text says why in plain words.
    """
    with ExitStack() as stack:
        spool = stack.enter_context(spooled(stdin)) if stdin is not None and "-" in query.paths else None
        return _report(Reading.of(query, now, spool))


def exhibit(query: LogQuery, now: datetime) -> Report:
    """Diagnose, and lay open what it rests on: the report has ``exhibits``; its files are read once more.

    Raises:
        ToolError: nothing can be read; its text says why in plain words.
    """
    reading = Reading.of(query, now, None)
    report = _report(reading)
    return replace(report, exhibits=exhibits_of(report.findings, reading.files))


def _report(reading: "Reading") -> Report:
    findings = find_in(reading)
    return Report(findings, advise(findings), quote_places(_quoted(findings), reading.files))


def analyse(query: LogQuery, now: datetime) -> Findings:
    """Find what changed in some logs, best candidate first; ``diagnose`` adds advice and quotes.

    Raises:
        ToolError: nothing can be read; its text says why in plain words.
    """
    return find_in(Reading.of(query, now, None))


def select(query: LogQuery, now: datetime) -> LogSelection:
    """Count what lies in a window and hand it on as small data for a next step.

    Raises:
        ToolError: nothing can be read; its text says why in plain words.
    """
    reading = Reading.of(query, now, None)
    tally = _Tally(query.since, query.until)
    for record in reading.records():
        tally.add(record)
    return LogSelection(
        query=query,
        files=tuple(file.name for file in reading.files),
        lines=tally.lines,
        records=tally.records,
        levels=dict(tally.levels),
        first_at=tally.first_at,
        last_at=tally.last_at,
        first_lines=tuple(tally.first_lines),
        notes=tuple(reading.notes),
    )


@dataclass(slots=True)
class Reading:
    """Some files with their clocks; yields their records, oldest file first.

    Attributes:
        notes: sentences about what could not be read, or must be known of it.
        lines: how many lines were read so far; ``sources`` says it by file.
    """

    query: LogQuery
    files: tuple[LogFile, ...]
    now: datetime
    notes: list[str]
    lines: int = 0
    sources: list[tuple[str, int]] = field(default_factory=list)

    @classmethod
    def of(
        cls, query: LogQuery, now: datetime, spool: Path | None = None, since: datetime | None = None
    ) -> "Reading":
        """Find the files of a query; those that were last written before ``since`` are left out.

        Raises:
            ToolError: nothing can be read; its text says why in plain words.
        """
        source = find_files(query.paths, spool)
        notes = [*source.notes, SHIFTED] if query.shift else [*source.notes]
        files = tuple(one for one in source.files if since is None or one.modified >= since)
        return cls(query, files, now, notes)

    def records(self) -> Iterator[Record]:
        """Give the records of all files, those of each file in its order."""
        shaped = [(file, look_at(file)) for file in self.files]
        zone = ZoneInfo(self.query.tz) if self.query.tz else None
        for (file, shape), clock in zip(shaped, clocks(shaped, zone, self.now), strict=True):
            before = self.lines
            for record in read_records(file, shape, clock, self.notes):
                self.lines += len(record.lines)
                yield self._shifted(record)
            self.sources.append((file.name, self.lines - before))

    def _shifted(self, record: Record) -> Record:
        if record.at is None or not self.query.shift:
            return record
        return replace(record, at=record.at + self.query.shift)


@dataclass(slots=True)
class _Tally:
    """Counts of the records in a window."""

    since: datetime | None
    until: datetime | None
    lines: int = 0
    records: int = 0
    levels: Counter[str] = field(default_factory=Counter)
    first_at: datetime | None = None
    last_at: datetime | None = None
    first_lines: list[Quote] = field(default_factory=list)

    def add(self, record: Record) -> None:
        if _is_after(record, self.until) or _is_before(record, self.since):
            return
        self.lines += len(record.lines)
        self.records += 1
        self.levels[record.level.name.lower()] += 1
        if record.at is not None:
            self.first_at = min(self.first_at or record.at, record.at)
            self.last_at = max(self.last_at or record.at, record.at)
        if len(self.first_lines) < _FIRST_LINES and (text := cut(record.lines[0].text)):
            self.first_lines.append(Quote(record.file, record.line, text))


def _is_after(record: Record, until: datetime | None) -> bool:
    return until is not None and record.at is not None and record.at > until


def _is_before(record: Record, since: datetime | None) -> bool:
    return since is not None and record.at is not None and record.at < since


def find_in(reading: Reading, watch: Callable[[Record], None] | None = None) -> Findings:
    """Find what changed in what is read; ``watch`` sees every record up to the end of the window.

    Raises:
        ToolError: nothing can be read; its text says why in plain words.
    """
    query = reading.query
    whole = _Tally(None, query.until)
    window = _Tally(query.since, query.until)
    miner = TemplateMiner(rule_book())
    errors = 0
    changes: list[Place] = []
    harmless = array("d")
    for record in reading.records():
        if _is_after(record, query.until):
            continue
        if watch is not None:
            watch(record)
        whole.add(record)
        window.add(record)
        if is_deploy(record):
            changes.append(Place(record.file, record.line, record.at))
        kind = miner.add(record)
        if kind == "harmless" and record.at is not None:
            harmless.append(record.at.timestamp())
        elif kind == "error" and not _is_before(record, query.since):
            errors += 1
    traffic = _traffic(harmless, whole)
    span = Span(whole.first_at, whole.last_at, whole.records, query.since, query.until, traffic)
    templates = miner.templates()
    candidates, noise = find(templates, span) if window.records else ((), 0)
    return Findings(
        candidates=candidates,
        errors=errors,
        records=window.records,
        lines=reading.lines,
        first_at=window.first_at,
        last_at=window.last_at,
        since=query.since,
        until=query.until,
        noise=noise,
        change=_change_before(candidates, changes),
        timed=whole.first_at is not None or not whole.records,
        notes=tuple(reading.notes),
        sources=tuple(reading.sources),
        templates=tuple(templates),
    )


def _traffic(harmless: Iterable[float], whole: _Tally) -> Traffic | None:
    if whole.first_at is None or whole.last_at is None or whole.first_at == whole.last_at:
        return None
    return Traffic(harmless, whole.first_at.timestamp(), whole.last_at.timestamp())


def _change_before(candidates: Sequence[Finding], changes: Sequence[Place]) -> Place | None:
    """The last deploy right before the incident: often its reason, never more than a hint."""
    onset = candidates[0].onset if candidates else None
    if onset is None:
        return None
    near = [place for place in changes if place.at and timedelta(0) <= onset - place.at <= _CHANGE_REACH]
    return max(near, key=lambda place: place.at or onset, default=None)


def _quoted(findings: Findings) -> list[tuple[Place, re.Pattern[str] | None]]:
    """The lines worth quoting: a few of the best candidate, one of each of the next."""
    chosen: list[tuple[Place, re.Pattern[str] | None]] = []
    for rank, finding in enumerate(findings.candidates[: 1 + _QUOTES_OTHERS]):
        about = rule_book().pattern(finding.hit.rule) if finding.hit else None
        places = _spread(finding) if rank == 0 else finding.evidence[:1]
        chosen += [(place, about) for place in places]
    if findings.change:
        chosen.append((findings.change, None))
    return chosen


def _spread(finding: Finding) -> list[Place]:
    seen: dict[tuple[str, int], Place] = {}
    for place in finding.evidence:
        seen.setdefault((place.file, place.line), place)
    return list(seen.values())[:_QUOTES_BEST]


def last_deploy(query: LogQuery, now: datetime) -> datetime | None:
    """Find when the logs last tell of a deploy or of a version starting, before ``now``; None where never.

    Raises:
        ToolError: nothing can be read; its text says why in plain words.
    """
    records = Reading.of(query, now, None).records()
    times = [record.at for record in records if record.at and record.at <= now and is_deploy(record)]
    return max(times, default=None)
