"""Knows how people speak of time, and what instants they mean: "last 30 min", "since 9", "yesterday".

Everything here is pure: the present and the team's zone come as arguments. A wall-clock time ("since 09:12")
is read in the team's zone; "the last N hours" is elapsed time, so both are right when the clocks change.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from zoneinfo import ZoneInfo

TIME_EXAMPLES = (
    "A time looks like: last 30 min, last 2 hours, since 09:12, since yesterday, since Monday, "
    "yesterday between 14:00 and 15:30, or 2026-11-02T14:00Z."
)
"""What to tell a person whose words about time were not understood."""

_AROUND = timedelta(minutes=15)
_DAY = timedelta(days=1)
_UNITS = {
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": _DAY,
    "t": _DAY,  # German "Tag"
    "w": timedelta(weeks=1),
}
_NUMBERS = {
    "a": 1.0, "an": 1.0, "one": 1.0, "two": 2.0, "three": 3.0, "four": 4.0, "five": 5.0, "six": 6.0,
    "seven": 7.0, "eight": 8.0, "nine": 9.0, "ten": 10.0, "twelve": 12.0, "fifteen": 15.0, "twenty": 20.0,
    "thirty": 30.0, "sixty": 60.0, "ninety": 90.0, "half an": 0.5, "half a": 0.5, "half": 0.5,
    "a couple of": 2.0, "couple of": 2.0, "couple": 2.0, "a few": 3.0, "few": 3.0, "einer": 1.0,
}  # fmt: skip
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
# Parts of a day: how many days back they begin, and the hours they last from and to.
_PARTS = {
    "this morning": (0, 5, 12), "this afternoon": (0, 12, 18), "this evening": (0, 18, 24),
    "tonight": (0, 18, 24), "last night": (1, 20, 30), "overnight": (1, 20, 30), "last evening": (1, 18, 24),
    "yesterday morning": (1, 5, 12), "yesterday afternoon": (1, 12, 18), "yesterday evening": (1, 18, 24),
    "yesterday night": (1, 20, 30), "heute morgen": (0, 5, 12), "heute früh": (0, 5, 12),
    "letzte nacht": (1, 20, 30), "gestern abend": (1, 18, 24),
}  # fmt: skip
_DAYS_BACK = {
    "today": 0, "heute": 0, "yesterday": 1, "gestern": 1, "the day before yesterday": 2,
    "day before yesterday": 2, "vorgestern": 2,
}  # fmt: skip


def _either(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_UNIT = (
    r"(?:s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?[sn]?)?|h(?:ours?|rs?)?|d(?:ays?)?|w(?:eeks?)?"
    r"|stunden?|tage?n?|wochen?)"
)
_WHOLE_UNIT = r"(?:seconds?|min(?:ute)?s?|hours?|hr|days?|weeks?|stunde|tag|woche)"
_COUNT = rf"(?:\d{{1,6}}(?:[.,]\d{{1,3}})?|{_either(_NUMBERS)})"
_LENGTH = rf"(?P<count>{_COUNT}) ?(?P<unit>{_UNIT})"
_ISO = (
    r"\d{4}-\d{2}-\d{2}(?:(?:[T ]|,? at )\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?"
    r"(?: ?(?:Z|UTC|[+-]\d{2}:?\d{2})\b)?)?"
)
_CLOCK = r"(?:\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]m)?|\d{1,2} ?[ap]m|\d{1,2} ?uhr|noon|midnight)"
_MONTH = rf"(?:{'|'.join(_MONTHS)})[a-z]*"
_WEEKDAY = rf"(?:last |this |on )?(?:{'|'.join(_WEEKDAY_NAMES)})|(?:last |this |on )(?:{'|'.join(_WEEKDAYS)})"
_DAYWORD = (
    rf"(?:{_either(_DAYS_BACK)}|{_WEEKDAY}"
    rf"|(?:on )?(?:\d{{1,2}}\.? {_MONTH}|{_MONTH} \d{{1,2}})(?:,? \d{{4}})?"
    r"|(?:on )?\d{4}-\d{2}-\d{2})"
)
_AGO = rf"(?:{_COUNT} ?{_UNIT} ago|vor {_COUNT} ?{_UNIT})"
_POINT = (
    rf"(?:{_AGO}|{_ISO}|{_DAYWORD},? (?:at |um )?{_CLOCK}|{_CLOCK}(?: on| of)? {_DAYWORD}|{_either(_PARTS)}"
    rf"|{_CLOCK}|{_DAYWORD})"
)
# A bare hour or a short weekday means a time only after words that call for one.
_LAST = r"(?:(?:in|over|for|during|within) )?(?:the )?(?:last|past|previous|letzte[nrs]?)"
_AFTER_HOUR = r"and|to|until|till|bis|und|on|in|for|please|today|yesterday"
_LOOSE = (
    rf"(?:{_POINT}|now|jetzt|(?:{'|'.join(_WEEKDAYS)})"
    rf"|\d{{1,2}}(?=\s*(?:$|[?!.,;)\u2013-](?!\d)|(?:{_AFTER_HOUR})\b)))"
)


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of time that a text speaks of.

    Attributes:
        since: its begin in UTC; ``until``: its end in UTC, always later and never after the present.
        words: the part of the text that says so.
        span: where these words begin and end in the text.
    """

    since: datetime
    until: datetime
    words: str
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Present:
    """Now, in UTC, and the zone in which wall-clock times are meant."""

    now: datetime
    tz: ZoneInfo

    @property
    def today(self) -> date:
        return self.now.astimezone(self.tz).date()

    def wall(self, day: date, hours: float = 0, clock: time | None = None) -> datetime:
        """The UTC instant of a wall-clock time; hours may go past 24."""
        start = datetime.combine(day, clock or time(0))
        return (start + timedelta(hours=hours)).replace(tzinfo=self.tz).astimezone(UTC)

    def day(self, day: date) -> "_Stretch":
        return _Stretch(self.wall(day), self.wall(day + _DAY))


@dataclass(frozen=True, slots=True)
class _Stretch:
    """What some words mean: a point, or a day or part of one; ``clock`` where the date was only assumed."""

    start: datetime
    end: datetime
    clock: bool = False


def find_window(text: str, now: datetime, tz: ZoneInfo) -> Window | None:
    """Find the first stretch of time that a text speaks of, or None; stretches in the future are none.

    Args:
        text: what a person wrote; the rest of the sentence is passed over.
        now: the present, with a zone.
        tz: the zone in which the person reads the clock.
    """
    present = _Present(now.astimezone(UTC), tz)
    for pattern, read in _FORMS:
        for match in _form(pattern).finditer(text):
            try:
                stretch = read(match, present)
            except (ValueError, OverflowError):
                continue
            window = _sane(stretch, match, present)
            if window is not None:
                return window
    return None


def _sane(stretch: _Stretch | None, match: re.Match[str], present: _Present) -> Window | None:
    if stretch is None:
        return None
    until = min(stretch.end, present.now)
    if stretch.start >= until:
        return None
    words = match[0].strip()
    begin = match.start() + match[0].index(words)
    return Window(stretch.start, until, words, (begin, begin + len(words)))


def parse_time(text: str, now: datetime, tz: ZoneInfo) -> datetime | None:
    """Read words that name one moment, as a ``since`` value does, in UTC; None where they name none.

    A stretch counts by its begin: "yesterday" is its first minute, "30m" is half an hour ago. Nothing but the
    time may stand in the text, and a bare number names no time.
    """
    words = text.strip().strip(".!?\"'")
    present = _Present(now.astimezone(UTC), tz)
    try:
        stretch = _read_point(words, present)
    except (ValueError, OverflowError):
        return None
    if stretch is not None and not words.isdigit():
        return _not_future(stretch, present).start
    window = find_window(words, now, tz)
    return window.since if window is not None and window.words == words else None


def mentions_deploy(text: str) -> bool:
    """Tell whether a text speaks of the last deploy as a point in time; only the logs know when that was."""
    return _DEPLOY.search(text) is not None


_DEPLOY = re.compile(
    r"(?i)\b(?:since|last|latest|previous|most recent|after|before|seit|letzten?)\b[\w\s]{0,20}?"
    r"\b(?:deploy(?:ment|ed|s)?|release|roll-?out)\b"
)


def _read_point(words: str, present: _Present) -> _Stretch | None:
    """Read the words for a point or a day; None where they are not understood."""
    said = " ".join(words.lower().split())
    for pattern, read in _POINTS:
        if match := _point(pattern).fullmatch(said):
            return read(match, present)
    return None


def _read_ago(match: re.Match[str], present: _Present) -> _Stretch:
    at = present.now - _length(match)
    return _Stretch(at, at)


def _length(match: re.Match[str]) -> timedelta:
    parts = match.groupdict()
    count, unit = (parts.get("count") or "one").lower(), parts["unit"].lower()
    number = _NUMBERS.get(count) or float(count.replace(",", "."))
    if number <= 0:
        raise ValueError("a length of time is more than nothing")
    return number * _UNITS["h" if unit.startswith("stund") else unit[0]]


def _read_iso(match: re.Match[str], present: _Present) -> _Stretch:
    day = date.fromisoformat(match["date"])
    if match["clock"] is None:
        return present.day(day)
    clock = time.fromisoformat(match["clock"].replace(",", ".").zfill(5))
    zone = match["zone"]
    if zone is None:
        at = present.wall(day, clock=clock)
    else:
        at = (datetime.combine(day, clock) - _offset(zone)).replace(tzinfo=UTC)
    return _Stretch(at, at)


def _offset(zone: str) -> timedelta:
    if zone.lower() in {"z", "utc"}:
        return timedelta(0)
    size = timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
    return -size if zone[0] == "-" else size


def _read_part(match: re.Match[str], present: _Present) -> _Stretch:
    back, first, last = _PARTS[match[0]]
    day = present.today - back * _DAY
    start = present.wall(day, first)
    # Before five in the morning, "this morning" can only mean the hours since midnight.
    return _Stretch(start if start < present.now else present.wall(day), present.wall(day, last))


def _read_clock(match: re.Match[str], present: _Present) -> _Stretch:
    at = present.wall(present.today, clock=_clock(match["clock"]))
    return _Stretch(at, at, clock=True)


def _clock(words: str) -> time:
    if words in {"noon", "midnight"}:
        return time(12 if words == "noon" else 0)
    numbers = [int(number) for number in re.findall(r"\d+", words)]
    hour = numbers[0]
    if half := re.search(r"([ap])m$", words):
        if not 1 <= hour <= 12:  # noqa: PLR2004 - the hours of a twelve-hour clock
            raise ValueError("no such hour")
        hour = hour % 12 + (12 if half[1] == "p" else 0)
    minute, second = (*numbers[1:], 0, 0)[:2]
    return time(hour, minute, second)


def _read_day(match: re.Match[str], present: _Present) -> _Stretch:
    return present.day(_date(match["day"], present.today))


def _read_day_clock(match: re.Match[str], present: _Present) -> _Stretch:
    at = present.wall(_date(match["day"], present.today), clock=_clock(match["clock"]))
    return _Stretch(at, at)


def _date(words: str, today: date) -> date:
    """The day that some words mean; weekdays and days without a year are the latest that has come."""
    if words in _DAYS_BACK:
        return today - _DAYS_BACK[words] * _DAY
    said = words.removeprefix("on ").removeprefix("this ")
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", said):
        return date.fromisoformat(said)
    if said.removeprefix("last ")[:3] in _WEEKDAYS:
        back = (today.weekday() - _WEEKDAYS.index(said.removeprefix("last ")[:3])) % 7
        return today - timedelta(days=back or (7 if said.startswith("last ") else 0))
    return _month_day(said, today)


def _month_day(words: str, today: date) -> date:
    month = next(i for i, name in enumerate(_MONTHS, 1) if re.search(rf"\b{name}", words))
    numbers = [int(number) for number in re.findall(r"\d+", words)]
    if len(numbers) > 1:
        return date(numbers[1], month, numbers[0])
    day = date(today.year, month, numbers[0])
    return day if day <= today else date(today.year - 1, month, numbers[0])


_Read = Callable[[re.Match[str], _Present], _Stretch | None]
_ISO_PARTS = (
    r"(?:on )?(?P<date>\d{4}-\d{2}-\d{2})"
    r"(?:(?:[t ]|,? at )(?P<clock>\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,6})?)?)\d*"
    r"(?: ?(?P<zone>z|utc|[+-]\d{2}:?\d{2}))?)?"
)
_POINTS: tuple[tuple[str, _Read], ...] = (
    (rf"{_LENGTH} ago", _read_ago),
    (rf"vor {_LENGTH}", _read_ago),
    (_ISO_PARTS, _read_iso),
    (r"now|jetzt", lambda _, present: _Stretch(present.now, present.now)),
    (_either(_PARTS), _read_part),
    (rf"(?P<day>{_DAYWORD}),? (?:at |um )?(?P<clock>{_CLOCK})", _read_day_clock),
    (rf"(?P<clock>{_CLOCK})(?: on| of)? (?P<day>{_DAYWORD})", _read_day_clock),
    (rf"(?P<clock>{_CLOCK}|\d{{1,2}})", _read_clock),
    (rf"(?P<day>{_DAYWORD}|{'|'.join(_WEEKDAYS)})", _read_day),
)
# when first needed: a command that reads no time need not wait for it
_point: Callable[[str], re.Pattern[str]] = cache(re.compile)


def _not_future(stretch: _Stretch, present: _Present) -> _Stretch:
    """A clock time without a date that has not come yet today was yesterday's."""
    if not stretch.clock or stretch.start <= present.now:
        return stretch
    local = stretch.start.astimezone(present.tz)
    at = present.wall(local.date() - _DAY, clock=local.time())
    return _Stretch(at, at, clock=True)


def _since(match: re.Match[str], present: _Present) -> _Stretch | None:
    stretch = _read_point(match["point"], present)
    return None if stretch is None else _Stretch(_not_future(stretch, present).start, present.now)


def _last(match: re.Match[str], present: _Present) -> _Stretch:
    return _Stretch(present.now - _length(match), present.now)


def _around(match: re.Match[str], present: _Present) -> _Stretch | None:
    stretch = _read_point(match["point"], present)
    if stretch is None or stretch.start != stretch.end:
        return stretch
    at = _not_future(stretch, present).start
    return _Stretch(at - _AROUND, at + _AROUND)


def _between(match: re.Match[str], present: _Present) -> _Stretch | None:
    day = match.groupdict().get("before") or match.groupdict().get("after")
    first, last = _read_point(match["first"], present), _read_point(match["last"], present)
    if first is None or last is None:
        return None
    if day and first.clock and last.clock:
        return _on_day(first, last, _date(" ".join(day.lower().split()), present.today), present)
    start = _not_future(first, present).start
    end = last.end
    if last.clock:
        # "yesterday 22:00 to 02:00" ends on the first 02:00 that follows.
        local = start.astimezone(present.tz).date()
        end = present.wall(local, clock=last.start.astimezone(present.tz).time())
        end = (
            end if end > start else present.wall(local + _DAY, clock=last.start.astimezone(present.tz).time())
        )
    return _Stretch(start, end)


def _on_day(first: _Stretch, last: _Stretch, day: date, present: _Present) -> _Stretch:
    clocks = [stretch.start.astimezone(present.tz).time() for stretch in (first, last)]
    start, end = (present.wall(day, clock=clock) for clock in clocks)
    return _Stretch(start, end if end > start else present.wall(day + _DAY, clock=clocks[1]))


def _whole(match: re.Match[str], present: _Present) -> _Stretch | None:
    stretch = _read_point(match["point"], present)
    if stretch is not None and stretch.start == stretch.end:
        return _Stretch(stretch.start, present.now)
    return stretch


@cache
def _form(pattern: str) -> re.Pattern[str]:
    spaced = pattern.replace(" ?", r"\s*").replace(" ", r"\s+")
    return re.compile(rf"(?i)(?<![\w.:/-])(?:{spaced})(?![\w:/]|-\w|[.,]\d)")


_DAY_FIRST = rf"(?:(?P<before>{_DAYWORD}),? )?"
_DAY_LAST = rf"(?: (?P<after>{_DAYWORD}))?"
_TO = r"(?: (?:to|until|till|and|bis|und) | ?[-\u2013\u2014/] ?)"
_FORMS: tuple[tuple[str, _Read], ...] = (
    (
        rf"{_DAY_FIRST}(?:between|from|zwischen|von) (?P<first>{_LOOSE}){_TO}(?P<last>{_LOOSE}){_DAY_LAST}",
        _between,
    ),
    (rf"{_DAY_FIRST}(?P<first>{_CLOCK}|{_ISO}){_TO}(?P<last>{_CLOCK}|{_ISO}){_DAY_LAST}", _between),
    (rf"(?:since|seit) (?:about |around )?(?P<point>{_LOOSE})", _since),
    (rf"(?:starting|from|after|ab)(?: at| from)? (?P<point>{_POINT})", _since),
    (rf"{_LAST} {_LENGTH}", _last),
    (rf"(?:since|for|seit) {_LENGTH}", _last),
    (rf"{_LAST} (?P<unit>{_WHOLE_UNIT})", _last),
    (rf"(?:around|about|circa|approx\.?|at|um|gegen|~) ?(?P<point>{_POINT})", _around),
    (rf"(?P<point>{_POINT})", _whole),
    (r"(?P<count>\d{1,6}) ?(?P<unit>m(?:in(?:ute)?s?)?|h(?:ours?|rs?)?|d(?:ays?)?)", _last),
)
