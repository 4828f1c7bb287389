"""Knows how log lines write the time: some twenty forms, with and without zone, year and even date."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo

_MONTHS = {
    m: i
    for i, m in enumerate(
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], 1
    )
}
_MONTH = r"(?P<mon>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_TIME = r"(?P<h>\d{1,2}):(?P<mi>\d\d):(?P<s>\d\d)(?:[.,](?P<f>\d{1,9}))?"
_NAMED_ZONE = "UTC|GMT|CET|CEST|EST|EDT|CST|CDT|MST|MDT|PST|PDT|JST|MSK"
_ZONE = rf"(?: ?(?P<z>Z\b|[+-]\d\d:?\d\d\b|(?:{_NAMED_ZONE})\b))?"
_ZONE_HOURS = {
    "cet": 1, "cest": 2, "est": -5, "edt": -4, "cst": -6, "cdt": -5,
    "mst": -7, "mdt": -6, "pst": -8, "pdt": -7, "jst": 9, "msk": 3,
}  # fmt: skip
_YEARS_BACK = 9  # 29 February is found again after at most eight years
_HEAD = 160
_DAY = timedelta(days=1)
_MONTHS_OF_YEAR = 12
_EPOCH_FIRST = 3e8  # 1979; smaller numbers are counters
_EPOCH_LAST = 5e9
_YMD = r"(?P<y>\d{4})-(?P<mo>\d\d)-(?P<d>\d\d)"
_DMY = r"(?P<a>\d{1,2})[/.](?P<b>\d{1,2})[/.](?P<y>\d{4})"
_PACKED_DAY = r"(?P<y>(?:19|20)\d\d)(?P<mo>[01]\d)(?P<d>[0-3]\d)"
_PACKED_TIME = r"(?P<h>[0-2]\d):?(?P<mi>[0-5]\d):?(?P<s>[0-5]\d)(?:[.,](?P<f>\d{1,9}))?"
_SHORT_DAY = r"(?P<yy>\d\d)(?P<mo>[01]\d)(?P<d>[0-3]\d)"


@dataclass(frozen=True, slots=True)
class Stamp:
    """A time as a line writes it.

    Attributes:
        wall: what the clock showed, without zone; year 1904 stands for an unknown year.
        offset: its distance from UTC where the line says it.
        start: where it begins in the line; ``end`` where it ends.
    """

    wall: datetime
    offset: timedelta | None
    start: int
    end: int
    has_year: bool = True
    has_date: bool = True


@dataclass(frozen=True, slots=True)
class Clock:
    """How the stamps of one file become instants.

    Attributes:
        zone: of stamps that name none.
        latest: no record is written after this; years and dates that are not written are guessed from it.
    """

    zone: tzinfo
    latest: datetime

    def instant(self, stamp: Stamp) -> datetime | None:
        """Give the UTC instant of a stamp, or None where no year or calendar has such a moment."""
        if stamp.has_year and stamp.has_date:
            return self._utc(stamp.wall, stamp.offset)
        limit = self.latest + timedelta(days=1)
        if not stamp.has_date:
            today = datetime.combine(self.latest.astimezone(self.zone).date(), stamp.wall.time())
            at = self._utc(today, stamp.offset)
            return at if at is None or at <= self.latest else at - timedelta(days=1)
        for year in range(limit.year, limit.year - _YEARS_BACK, -1):
            try:
                at = self._utc(stamp.wall.replace(year=year), stamp.offset)
            except ValueError:
                continue
            if at is not None and at <= limit:
                return at
        return None

    def _utc(self, wall: datetime, offset: timedelta | None) -> datetime | None:
        try:
            if offset is not None:
                return (wall - offset).replace(tzinfo=UTC)
            if self.zone is UTC:
                return wall.replace(tzinfo=UTC)
            return wall.replace(tzinfo=self.zone).astimezone(UTC)
        except OverflowError:
            return None


_Read = Callable[[re.Match[str]], tuple[datetime, bool, bool]]


def _wall(match: re.Match[str]) -> tuple[datetime, bool, bool]:
    """Put year, month, day and time of a match together, whichever it has."""
    part: Mapping[str, str | None] = match.groupdict()
    month = _MONTHS[(part["mon"] or "").lower()] if part.get("mon") else int(part.get("mo") or 1)
    year = part.get("y")
    short = part.get("yy")
    # 1904 is a leap year, so that 29 February passes until the year is known.
    number = int(year) if year else 2000 + int(short) if short else 1904
    hour = int(part["h"] or 0)
    if half := part.get("ap"):
        hour = hour % 12 + (12 if half.upper() == "PM" else 0)
    second = min(int(part["s"] or 0), 59)  # leap seconds are written as :60
    fraction = int((part.get("f") or "0")[:6].ljust(6, "0"))
    wall = datetime(number, month, int(part.get("d") or 1), hour, int(part["mi"] or 0), second, fraction)  # noqa: DTZ001
    return wall, bool(year or short), bool(part.get("d"))


def _epoch(match: re.Match[str]) -> tuple[datetime, bool, bool]:
    return epoch_wall(float(match["e"] + "." + (match.groupdict().get("f") or "0"))), True, True


def epoch_wall(value: float) -> datetime:
    """Give the UTC wall time of an epoch in s, ms, µs or ns, told apart by size.

    Raises:
        ValueError: the number is no time of this era.
    """
    for scale in (1, 1e3, 1e6, 1e9):
        if _EPOCH_FIRST <= value / scale < _EPOCH_LAST:
            return datetime.fromtimestamp(value / scale, UTC).replace(tzinfo=None)
    raise ValueError(f"{value} is no epoch")


def _day_first(match: re.Match[str]) -> tuple[datetime, bool, bool]:
    first, second = int(match["a"]), int(match["b"])
    # 13 to 31 can only be a day; the rest is read as most of the world writes it.
    day, month = (second, first) if second > _MONTHS_OF_YEAR else (first, second)
    wall, _, _ = _wall(match)
    return wall.replace(month=month, day=day), True, True


_FORMS: Mapping[str, tuple[str, _Read]] = {
    "iso": (rf"(?<![\d.]){_YMD}(?:[T_\t]| {{1,2}}){_TIME}{_ZONE}", _wall),
    "clf": (rf"(?P<d>\d\d)/{_MONTH}/(?P<y>\d{{4}})[: ]{_TIME}{_ZONE}", _wall),
    "slashes": (rf"(?<!\d)(?P<y>\d{{4}})/(?P<mo>\d\d)/(?P<d>\d\d) {_TIME}{_ZONE}", _wall),
    "day-month-name": (rf"(?<!\d)(?P<d>\d{{1,2}})[ -]{_MONTH}[ -](?P<y>\d{{4}})[ :T]{_TIME}{_ZONE}", _wall),
    "ctime": (rf"[A-Z][a-z]{{2}} {_MONTH} +(?P<d>\d{{1,2}}) {_TIME}{_ZONE} (?P<y>\d{{4}})\b", _wall),
    "java": (rf"{_MONTH} (?P<d>\d{{1,2}}), (?P<y>\d{{4}}),? {_TIME}(?: (?P<ap>[AP]M))?", _wall),
    "syslog-year": (rf"{_MONTH} +(?P<d>\d{{1,2}}) (?P<y>\d{{4}}) {_TIME}{_ZONE}", _wall),
    "syslog": (rf"\b{_MONTH} +(?P<d>\d{{1,2}}) {_TIME}{_ZONE}", _wall),
    "day-first": (rf"(?<!\d){_DMY},? +{_TIME}(?: (?P<ap>[AaPp][Mm])\b)?", _day_first),
    "glog": (rf"^[IWEF](?P<mo>\d\d)(?P<d>\d\d) {_TIME}", _wall),
    "compact": (rf"(?<![\w.]){_PACKED_DAY}[T .-]?{_PACKED_TIME}{_ZONE}", _wall),
    "short-year": (rf"^\[?{_SHORT_DAY} +(?P<h>[ \d]\d):?(?P<mi>\d\d):?(?P<s>\d\d)\b", _wall),
    "short-year-slashes": (rf"^(?P<yy>\d\d)/(?P<mo>[01]\d)/(?P<d>[0-3]\d) {_TIME}", _wall),
    "epoch": (
        (
            r"(?:^[\[(<]?|\bt(?:s|ime|imestamp)=\"?)"
            r"(?P<e>\d{18,19}|\d{16}|\d{13}|\d{9,10})(?:\.(?P<f>\d{1,9}))?\b"
        ),
        _epoch,
    ),
    "dots": (rf"(?<!\d){_YMD}-(?P<h>\d\d)\.(?P<mi>\d\d)\.(?P<s>\d\d)(?:\.(?P<f>\d{{1,9}}))?", _wall),
    "epoch-column": (r"(?:^|\s)(?P<e>1\d{9})(?=\s)", _epoch),
    "time-only": (rf"^[\[(]?{_TIME}\b(?![:.\d])", _wall),
}
_PATTERNS = {form: (re.compile(pattern), read) for form, (pattern, read) in _FORMS.items()}


class StampReader:
    """Reads the stamps of one stream; the form that fitted last is tried first."""

    def __init__(self) -> None:
        self._order = list(_FORMS)

    def read(self, text: str) -> Stamp | None:
        """Find the time at the head of a line, or None."""
        for position, form in enumerate(self._order):
            stamp = _match(form, text)
            if stamp is not None:
                if position:
                    self._order.insert(0, self._order.pop(position))
                return stamp
        return None


def _match(form: str, text: str) -> Stamp | None:
    pattern, read = _PATTERNS[form]
    match = pattern.search(text, 0, _HEAD)
    if match is None:
        return None
    try:
        wall, has_year, has_date = read(match)
    except ValueError:
        return None
    offset = timedelta(0) if read is _epoch else zone_offset(match.groupdict().get("z"))
    return Stamp(wall, offset, match.start(), match.end(), has_year, has_date)


def zone_offset(zone: str | None) -> timedelta | None:
    """Give the offset that a zone's short name or ``+hh:mm`` means; None for one that no zone has."""
    if zone is None:
        return None
    if zone[0] in "+-":
        digits = zone[1:].replace(":", "")
        size = timedelta(hours=int(digits[:2]), minutes=int(digits[2:] or 0))
        if size >= _DAY:
            return None
        return -size if zone[0] == "-" else size
    return timedelta(hours=_ZONE_HOURS.get(zone.lower(), 0))


def fixed_zone(offset: timedelta) -> tzinfo:
    """Give the zone of a constant offset."""
    return UTC if not offset else timezone(offset)
