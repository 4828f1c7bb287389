"""Knows how a question about logs is handed from one step to the next: as a query, and as small JSON data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from hermes_bot.diagnosis.values import Quote, iso_text


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
            "since": iso_text(self.query.since),
            "until": iso_text(self.query.until),
            "tz": self.query.tz,
            "shift_seconds": self.query.shift.total_seconds(),
            "files": list(self.files),
            "lines": self.lines,
            "records": self.records,
            "levels": dict(self.levels),
            "first_at": iso_text(self.first_at),
            "last_at": iso_text(self.last_at),
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
    if zone is not None:
        ZoneInfo(str(zone))  # raises for what is no zone
    return LogQuery(
        paths=tuple(str(path) for path in paths),
        since=_instant(data.get("since")),
        until=_instant(data.get("until")),
        tz=None if zone is None else str(zone),
        shift=timedelta(seconds=float(data.get("shift_seconds") or 0)),
    )


def _quote(data: Mapping[str, Any]) -> Quote:
    return Quote(str(data["file"]), int(data["line"]), str(data["text"]))


def _instant(text: Any) -> datetime | None:
    if text is None:
        return None
    at = datetime.fromisoformat(str(text))
    if at.tzinfo is None:
        raise ValueError(f"{text} names no zone")
    return at.astimezone(UTC)
