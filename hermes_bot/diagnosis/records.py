"""Knows how lines become records: time, level, source, and which lines belong together."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import islice

from hermes_bot.diagnosis.fields import Fields, is_block_head, read_block, read_json
from hermes_bot.diagnosis.levels import text_level
from hermes_bot.diagnosis.sources import read_lines
from hermes_bot.diagnosis.stamps import Clock, Stamp, StampReader, fixed_zone
from hermes_bot.diagnosis.values import Level, LogFile, RawLine, Record

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_CONTAINER = re.compile(r"^(?P<name>[A-Za-z0-9][\w.-]*) +\| ?")
_POD = re.compile(r"^\[pod/(?P<name>[\w./-]+)\] ")
_CRI = re.compile(r"^(?:stdout|stderr) [FP] ")
_PRIORITY = re.compile(r"^<(?P<p>\d{1,3})>(?:1 )?")
_TAG = re.compile(r"^(?P<host>[\w.:-]+) (?P<tag>[\w./@-]{1,48})(?:\[\d+\])?: ")
_TRACE = re.compile(
    r"^(?:\s|Traceback|Caused by:|Suppressed:|During handling|The above exception|goroutine \d+"
    r"|\.\.\. \d+ more|at |\)|\}|\]|$)"
)
_HEADER = re.compile(
    r"^#(?:Version|Fields|Software|Date|Start-Date|End-Date|GMT-Offset|Remark):"
)  # W3C extended
_LATEST_START = 80  # a stamp further right belongs to the text; only access logs write it later
_SAMPLE_LINES = 200
_KEPT_LINES = 200
_KEPT_TEXT = 16_000


@dataclass(frozen=True, slots=True)
class Shape:
    """What the first lines of a file tell about all of it.

    Attributes:
        mixed: each line names the container it came from.
        blocks: events are blocks of ``Name: value`` lines.
        stamped: lines carry times, so a line without one continues the line before.
        offset: the offset from UTC that the stamps name, or None.
        first: the first stamp.
    """

    mixed: bool
    blocks: bool
    stamped: bool
    offset: timedelta | None
    first: Stamp | None


@dataclass(slots=True)
class _Open:
    """A record that may still get lines."""

    stream: str
    at: datetime | None
    level: Level
    message: str
    source: str
    lines: list[RawLine]
    size: int = 0


def look_at(file: LogFile) -> Shape:
    """Learn a file's shape from its first lines."""
    sample = [_clean(line.text) for line in islice(read_lines(file), _SAMPLE_LINES)]
    written = [text for text in sample if text.strip()]
    mixed = bool(written) and sum(_container(text) is not None for text in written) * 2 > len(written)
    blocks = bool(written) and is_block_head(written[0].lstrip("\ufeff"))
    stamps = [stamp for text in written if (stamp := _parse(StampReader(), text, mixed=mixed).stamp)]
    return Shape(
        mixed=mixed,
        blocks=blocks,
        stamped=bool(stamps),
        offset=next((s.offset for s in stamps if s.offset is not None), None),
        first=stamps[0] if stamps else None,
    )


def read_records(
    file: LogFile, shape: Shape, clock: Clock, notes: list[str] | None = None
) -> Iterator[Record]:
    """Read a file's records. Those of different containers may come slightly out of order."""
    lines = read_lines(file, notes)
    if shape.blocks:
        return _read_blocks(file, clock, lines)
    return _Assembler(file, shape, clock).read(lines)


def clocks(files: Sequence[tuple[LogFile, Shape]], zone: tzinfo | None, now: datetime) -> list[Clock]:
    """Choose each file's clock: the zone asked for, else that of a sibling that names one, else UTC.

    A sibling shares the first part of its name (``nginx-error.log`` and ``nginx-access.log``): one program
    writes both, on one host.
    """
    return [
        Clock(zone or _sibling_zone(file, shape, files), _latest(file, files, now)) for file, shape in files
    ]


def _sibling_zone(file: LogFile, shape: Shape, files: Sequence[tuple[LogFile, Shape]]) -> tzinfo:
    if shape.offset is None:
        for other, other_shape in files:
            if other_shape.offset is not None and other is not file and _stem(other) == _stem(file):
                return fixed_zone(other_shape.offset)
    return UTC


def _stem(file: LogFile) -> str:
    return re.split(r"[-_.]", file.name.rsplit("/", 1)[-1])[0].lower()


def _latest(file: LogFile, files: Sequence[tuple[LogFile, Shape]], now: datetime) -> datetime:
    """A copied file's own time says little, so a year that sibling files write out is believed first."""
    limit = min(file.modified, now)
    years = [
        shape.first.wall.replace(tzinfo=UTC)
        for _, shape in files
        if shape.first and shape.first.has_year and shape.first.has_date
    ]
    if not years or min(abs(limit - year) for year in years) < timedelta(days=300):
        return limit
    newest = max(years)
    return limit if newest > limit else min(limit, newest + timedelta(days=60))


def _clean(text: str) -> str:
    return _ANSI.sub("", text) if "\x1b" in text else text


def _container(text: str) -> re.Match[str] | None:
    return _CONTAINER.match(text) or _POD.match(text)


@dataclass(frozen=True, slots=True)
class _Parsed:
    container: str
    rest: str
    stamp: Stamp | None
    fields: Fields | None
    plain: str


def _parse(reader: StampReader, text: str, *, mixed: bool) -> _Parsed:
    """Take a line apart: container, time stamp, structured fields, and the words that are left."""
    container = ""
    if mixed and (prefix := _container(text)):
        container, text = prefix["name"], text[prefix.end() :]
    if text.startswith("{") and (found := read_json(text)):
        return _Parsed(container, found.message, found.stamp, found, text)
    if not text or text[0] in " \t":
        return _Parsed(container, text, None, None, text)
    stamp = reader.read(text)
    if stamp is None or (stamp.start > _LATEST_START and "[" not in text[:_LATEST_START]):
        return _Parsed(container, text, None, None, text)
    rest = _CRI.sub("", text[stamp.end :].lstrip(" \t]):\"'"))
    if rest.startswith("{") and (found := read_json(rest)):
        return _Parsed(container, found.message, stamp, found, text)
    return _Parsed(container, rest, stamp, None, text)


class _Assembler:
    """Joins the lines of one file, stream by stream."""

    def __init__(self, file: LogFile, shape: Shape, clock: Clock) -> None:
        self._file = file
        self._shape = shape
        self._clock = clock
        self._open: dict[str, _Open] = {}
        self._reader = StampReader()

    def read(self, lines: Iterable[RawLine]) -> Iterator[Record]:
        """Give each record once its last line is known."""
        for line in lines:
            text = _clean(line.text)
            if line.number == 1:
                text = text.removeprefix("\ufeff")
            parsed = _parse(self._reader, text, mixed=self._shape.mixed)
            current = self._open.get(parsed.container)
            if current is not None and self._continues(parsed):
                _append(current, line, parsed.rest)
                continue
            if not parsed.rest.strip() or _HEADER.match(text):
                continue
            if current is not None:
                yield _close(self._file, current)
            self._open[parsed.container] = self._start(line, parsed, current)
        for current in self._open.values():
            yield _close(self._file, current)

    def _continues(self, parsed: _Parsed) -> bool:
        if parsed.stamp is not None or parsed.fields is not None:
            return False
        return self._shape.stamped or _TRACE.match(parsed.rest) is not None

    def _start(self, line: RawLine, parsed: _Parsed, before: _Open | None) -> _Open:
        at = self._clock.instant(parsed.stamp) if parsed.stamp else None
        stream = f"{self._file.family}/{parsed.container}" if parsed.container else self._file.family
        if at is None and before is not None:
            at = before.at
        if parsed.fields is not None:
            level, source = parsed.fields.level, parsed.fields.source
        else:
            level, source = text_level(parsed.plain, parsed.rest), _tag(parsed)
        return _Open(stream, at, level, parsed.rest, source, [line], len(parsed.rest))


def _tag(parsed: _Parsed) -> str:
    tag = _TAG.match(parsed.rest)
    return tag["tag"] if tag else ""


def _append(record: _Open, line: RawLine, rest: str) -> None:
    if len(record.lines) < _KEPT_LINES and record.size < _KEPT_TEXT and rest.strip():
        record.lines.append(line)
        record.message += "\n" + rest[: _KEPT_TEXT - record.size]
        record.size += len(rest)


def _close(file: LogFile, record: _Open) -> Record:
    return Record(
        file=file.name,
        stream=record.stream,
        at=record.at,
        level=record.level,
        message=record.message,
        lines=tuple(record.lines),
        source=record.source,
    )


def _read_blocks(file: LogFile, clock: Clock, lines: Iterable[RawLine]) -> Iterator[Record]:
    block: list[RawLine] = []
    for line in lines:
        if is_block_head(line.text.removeprefix("\ufeff")) and block:
            yield _block_record(file, clock, block)
            block = []
        if len(block) < _KEPT_LINES:
            block.append(line)
    if block:
        yield _block_record(file, clock, block)


def _block_record(file: LogFile, clock: Clock, block: list[RawLine]) -> Record:
    fields = read_block([line.text for line in block])
    body = next((i for i, line in enumerate(block) if line.text.startswith("Description:")), 0)
    # The head line is cited for the event, the description's lines for its words.
    kept = (block[0], *block[body + 1 :]) if body else tuple(block)
    at = clock.instant(fields.stamp) if fields.stamp else None
    return Record(file.name, file.family, at, fields.level, fields.message, kept, fields.source)
