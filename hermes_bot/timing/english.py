"""Knows how English says when: its pieces, read one after the other in any order."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, time, timedelta

from hermes_bot.timing.said import (
    DAY,
    EVERY_DAY,
    HOUR,
    MONDAY_TO_FRIDAY,
    NOON,
    WEEKEND,
    Said,
    weekdays_field,
    with_more,
)

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30,
    "forty-five": 45, "sixty": 60, "ninety": 90, "other": 2, "second": 2, "third": 3,
}  # fmt: skip
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "last": 0} | {
    "1st": 1, "2nd": 2, "3rd": 3, "4th": 4, "5th": 5,
}  # fmt: skip
_UNITS = {
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": HOUR,
    "d": DAY,
    "w": 7 * DAY,
}

_DAY = (
    r"(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?"
    r"|sat(?:urday)?|sun(?:day)?)"
)
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_AND = r"(?:\s*,\s*and\s+|\s*,\s*|\s+and\s+|\s*&\s*)"
_EACH = r"(?:every|each|all)"
_COUNT = r"(?P<count>\d{1,5}|" + "|".join(sorted(_NUMBERS, key=len, reverse=True)) + ")"
_UNIT = r"(?P<unit>s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:eeks?)?)"
_MORE = r"(?:(?:\s+and)?\s*(?P<more>\d{1,2})\s*m(?:in(?:ute)?s?)?|(?P<and_half>\s+and\s+a\s+half))?"
_CLOCK = (
    r"(?:(?:\d{1,2}(?:[:.]\d{2}|(?=\s*(?:[ap]\.?m\b|o['\u2019]?clock|in the|$|[,;!?.\"'`)]|:(?!\d)|\s)))"
    r"(?:\s*(?:[ap]\.m\.|[ap]m\b))?(?:\s*o['\u2019]?clock)?)|noon|midday|midnight|half past \d{1,2})"
)
_TIMES = rf"(?:at\s+|@\s*)?{_CLOCK}(?:{_AND}(?:at\s+)?{_CLOCK})*"
_DAYTH = r"(?:\d{1,2}(?:st|nd|rd|th)?|first|second|third|fourth|fifth|last(?: day)?)"
_OF_MONTHS = r"(?:\s+(?:day\s+)?(?:of|in)\s+(?:every|each|the)\s+month|\s+(?:every|each)\s+month|\s+monthly)"
_YEARLY = rf"(?:(?:{_EACH}\s+year|yearly|annually)\s+(?:on\s+)?)"

_Read = Callable[[re.Match[str], Said, datetime], Said]


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else _NUMBERS[text]


def _weekday(text: str) -> int:
    return _DAYS.index(text[:3])


def _clock(text: str) -> time:
    """Return a time of the day.

    Raises:
        ValueError: there is none such.
    """
    if text in ("noon", "midday"):
        return time(NOON)
    if text == "midnight":
        return time(0)
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    hour, minute = (numbers[0], 30) if text.startswith("half") else (*numbers, 0)[:2]
    if half := re.search(r"([ap])\.?m", text):
        if not 1 <= hour <= NOON:
            raise ValueError("no hour of twelve")
        hour = hour % NOON + (NOON if half[1] == "p" else 0)
    return time(hour, minute)


def _times(match: re.Match[str], said: Said, now: datetime) -> Said:
    del now
    times = [_clock(found) for found in re.findall(_CLOCK, match[0])]
    return with_more(said, times=times, is_midnight="midnight" in match[0])


def _all_days(_: re.Match[str], said: Said, now: datetime) -> Said:
    del now
    return with_more(said, weekdays=EVERY_DAY)


def _working_days(_: re.Match[str], said: Said, now: datetime) -> Said:
    del now
    return with_more(said, weekdays=MONDAY_TO_FRIDAY)


def _weekends(_: re.Match[str], said: Said, now: datetime) -> Said:
    del now
    return with_more(said, weekdays=WEEKEND)


def _day_range(match: re.Match[str], said: Said, now: datetime) -> Said:
    del now
    first, last = _weekday(match["first"]), _weekday(match["last"])
    days = [(first + ahead) % 7 for ahead in range((last - first) % 7 + 1)]
    return with_more(said, weekdays=weekdays_field(days))


def _every_weekday_named(match: re.Match[str], said: Said, now: datetime) -> Said:
    del now
    return with_more(said, weekdays=weekdays_field([_weekday(found) for found in re.findall(_DAY, match[0])]))


def _weekday_named(match: re.Match[str], said: Said, now: datetime) -> Said:
    """``on Friday``: this one, or each? A phrase that comes again anyway means each of them."""
    del now
    days = [_weekday(found) for found in re.findall(_DAY, match[0])]
    if said.step or said.minutes is not None:
        return with_more(said, weekdays=weekdays_field(days))
    return with_more(said, maybe=tuple(days))


def _coming_weekday(match: re.Match[str], said: Said, now: datetime) -> Said:
    """``next Friday``: on a Wednesday some mean this week's, some the one after."""
    today, day = now.date(), _weekday(match["day"])
    ahead = (day - today.weekday()) % 7 or 7
    coming = today + ahead * DAY
    is_this_week = today.weekday() < day
    if match["which"] == "next" and is_this_week:
        return with_more(said, dates=(coming, coming + 7 * DAY))
    if match["which"] != "next" and not is_this_week:
        return replace(said, trouble=f"This week's {coming:%A} is over. Say `{coming:%Y-%m-%d} 9:00`.")
    return with_more(said, dates=(coming,))


def _month_days(match: re.Match[str], said: Said, now: datetime) -> Said:
    del now
    found = re.findall(_DAYTH, match["days"])
    days = tuple(
        "L" if it.startswith("last") else re.sub(r"\D", "", it) or str(_ORDINALS[it]) for it in found
    )
    if any(it != "L" and not 1 <= int(it) <= 31 for it in days):  # noqa: PLR2004 - days of a month
        raise ValueError("no day of a month")
    return with_more(said, days=days)


def _counted_weekday(match: re.Match[str], said: Said, now: datetime) -> Said:
    del now
    day = (_weekday(match["day"]) + 1) % 7
    which = _ORDINALS[match["which"]]
    return with_more(said, weekdays=f"{day}#{which}" if which else f"{day}L")


def _year_day(match: re.Match[str], said: Said, now: datetime) -> Said:
    del now
    month, day = _month_and_day(match)
    date(2000, month, day)  # ValueError where there is none
    return with_more(said, days=(str(day),), month=month)


def _calendar_day(match: re.Match[str], said: Said, now: datetime) -> Said:
    month, day = _month_and_day(match)
    year = match["year"]
    found = date(int(year) if year else now.year, month, day)
    if not year and found < now.date():
        found = date(now.year + 1, month, day)
    return with_more(said, dates=(found,))


def _month_and_day(match: re.Match[str]) -> tuple[int, int]:
    month = match["month"] or match["month2"]
    return _MONTHS.index(month[:3]) + 1, int(match["day"] or match["day2"])


def _iso_day(match: re.Match[str], said: Said, now: datetime) -> Said:
    del now
    return with_more(said, dates=(date.fromisoformat(match["date"]),))


_AHEAD = {"today": 0, "tonight": 0, "tomorrow": 1, "the day after tomorrow": 2, "day after tomorrow": 2}


def _near_day(match: re.Match[str], said: Said, now: datetime) -> Said:
    day = now.date() + _AHEAD[match["which"]] * DAY
    said = with_more(said, dates=(day,))
    return with_more(said, part="night") if match["which"] == "tonight" else said


def _part(match: re.Match[str], said: Said, now: datetime) -> Said:
    del now
    word = match["part"]
    known = {"morning": "am", "afternoon": "pm", "evening": "pm", "night": "night", "noon": "noon"}
    return with_more(said, part=known[word])


def _each_part(match: re.Match[str], said: Said, now: datetime) -> Said:
    return _part(match, said if said.weekdays else with_more(said, weekdays=EVERY_DAY), now)


def _this_part(match: re.Match[str], said: Said, now: datetime) -> Said:
    return _part(match, with_more(said, dates=(now.date(),)), now)


def _length(match: re.Match[str]) -> timedelta:
    unit = _UNITS[match["unit"][0]]
    more = timedelta(minutes=int(match["more"] or 0)) + (unit / 2 if match["and_half"] else timedelta(0))
    return _number(match["count"]) * unit + more


def _step(match: re.Match[str], said: Said, now: datetime) -> Said:
    del now
    return with_more(said, step=_length(match), by_clock=bool(match["of"]))


def _half_hours(_: re.Match[str], said: Said, now: datetime) -> Said:
    del now
    return with_more(said, step=HOUR / 2)


def _minutes(_: re.Match[str], said: Said, now: datetime) -> Said:
    del now
    return with_more(said, step=timedelta(minutes=1))


def _quarters(_: re.Match[str], said: Said, now: datetime) -> Said:
    del now
    return with_more(said, step=HOUR / 4)


def _every_other_day(match: re.Match[str], said: Said, now: datetime) -> Said:
    del now
    day = match["day"].capitalize() if match["day"] else "Monday"
    return replace(
        said,
        trouble="Every other one is nothing that I can keep over the year. Say `every 2 weeks`, counted "
        f"from now, `every {day} at 9:00`, or `first {day} of the month at 9:00`.",
    )


def _hourly(match: re.Match[str], said: Said, now: datetime) -> Said:
    del now
    past = match["past"]
    if past and int(past) > 59:  # noqa: PLR2004 - minutes
        raise ValueError("no minute")
    if past is None and said.minutes is None and not (said.weekdays or said.span):
        return with_more(said, minutes=0)
    return with_more(said, minutes=int(past or 0))


def _past_each_hour(match: re.Match[str], said: Said, now: datetime) -> Said:
    del now
    minutes = int(match["past"])
    if minutes > 59:  # noqa: PLR2004 - minutes
        raise ValueError("no minute")
    return with_more(said, minutes=minutes)


def _span(match: re.Match[str], said: Said, now: datetime) -> Said:
    del now
    first, last = _clock(match["from"]), _clock(match["to"])
    if not said.step and said.minutes is None:
        raise ValueError("nothing comes again within it")
    if first.minute or last.minute or first.hour >= last.hour:
        return replace(
            said, trouble="Say the hours in which it is to be as full ones: `between 9:00 and 17:00`."
        )
    return with_more(said, span=(first.hour, last.hour))


def _later(match: re.Match[str], said: Said, now: datetime) -> Said:
    del now
    return with_more(said, later=HOUR / 2 if match["half"] else _length(match))


_FORMS: tuple[tuple[str, _Read], ...] = (
    (
        rf"(?:in|after)\s+(?:(?P<half>half (?:an )?hour)\b|{_COUNT}\s*{_UNIT}{_MORE}\b)(?!\s+(?:ago|or))",
        _later,
    ),
    (rf"(?:(?P<half>half an hour)|{_COUNT}\s*{_UNIT}{_MORE})\s+from\s+now\b", _later),
    (rf"{_EACH}\s+(?:other|second)\s+(?P<day>{_DAY})s?\b", _every_other_day),
    (rf"{_EACH}\s+minute\b", _minutes),
    (rf"{_EACH}\s+half(?:[\s-]an)?[\s-]hour\b", _half_hours),
    (rf"{_EACH}\s+quarter(?:\s+of\s+an)?[\s-]hour\b", _quarters),
    (rf"{_EACH}\s+{_COUNT}\s*{_UNIT}{_MORE}\b(?P<of>\s+of\s+(?:the|{_EACH})\s+(?:hour|day)\b)?", _step),
    (rf"(?:{_EACH}\s+hour|hourly)(?:\s+at\s+:(?P<past>\d{{2}}))?\b(?!\s*\d)", _hourly),
    (rf"(?:at\s+)?(?P<past>\d{{1,2}})\s+(?:minutes?\s+)?past\s+(?:{_EACH}|the)\s+hour\b", _past_each_hour),
    (rf"(?:between|from)\s+(?P<from>{_CLOCK})\s*(?:and|to|till|until|-)\s*(?P<to>{_CLOCK})", _span),
    (
        (
            rf"(?:on\s+)?(?:the\s+|{_EACH}\s+)?(?P<which>{'|'.join(_ORDINALS)})\s+(?P<day>{_DAY})"
            rf"\s+(?:of|in)\s+(?:every|each|the)\s+month\b"
        ),
        _counted_weekday,
    ),
    (
        rf"(?:on\s+)?(?:{_EACH}\s+|the\s+)?(?P<days>{_DAYTH}(?:{_AND}(?:the\s+)?{_DAYTH})*){_OF_MONTHS}\b",
        _month_days,
    ),
    (
        rf"(?:monthly|{_EACH}\s+month)\s+on\s+(?:the\s+)?(?P<days>{_DAYTH}(?:{_AND}(?:the\s+)?{_DAYTH})*)(?:\s+day)?\b",
        _month_days,
    ),
    (
        (
            rf"(?:{_YEARLY}|{_EACH}\s+)(?:(?P<month>{_MONTH})\s+(?:the\s+)?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?"
            rf"|(?:the\s+)?(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month2>{_MONTH}))\b"
        ),
        _year_day,
    ),
    (
        (
            rf"(?:on\s+)?(?:(?P<month>{_MONTH})\s+(?:the\s+)?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?"
            rf"|(?:the\s+)?(?P<day2>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?(?P<month2>{_MONTH}))\b"
            r"(?:,?\s+(?P<year>\d{4})\b)?"
        ),
        _calendar_day,
    ),
    (rf"on\s+the\s+(?P<days>{_DAYTH}(?:{_AND}(?:the\s+)?{_DAYTH})+)(?=\s+at\s)", _month_days),
    (r"(?:on\s+)?(?P<date>\d{4}-\d{2}-\d{2})\b", _iso_day),
    (rf"(?:{_EACH}\s+day|everyday|daily|each\s+day)\b", _all_days),
    (
        rf"(?:on\s+)?(?:{_EACH}\s+)?(?:weekdays?|work(?:ing)?\s?days?|business\s+days?)\b",
        _working_days,
    ),
    (rf"(?:{_EACH}\s+weekend|(?:on|at)\s+(?:the\s+)?weekends?|weekends)\b", _weekends),
    (
        rf"(?:on\s+|{_EACH}\s+)?(?P<first>{_DAY})s?\s*(?:to|till|until|through|thru|-|\u2013)\s*(?P<last>{_DAY})s?\b",
        _day_range,
    ),
    (rf"{_EACH}\s+{_DAY}s?(?:{_AND}(?:{_EACH}\s+)?{_DAY}s?)*\b", _every_weekday_named),
    (
        rf"(?:on\s+)?{_DAY}(?:{_AND}{_DAY})*(?=\s+(?:mornings|afternoons|evenings|nights|noons)\b)",
        _every_weekday_named,
    ),
    (rf"(?:on\s+)?{_DAY}s(?:{_AND}(?:on\s+)?{_DAY}s?)*\b", _every_weekday_named),
    (rf"(?:weekly\s+on)\s+{_DAY}s?(?:{_AND}{_DAY}s?)*\b", _every_weekday_named),
    (rf"(?:on\s+)?(?P<which>next|this|coming)\s+(?P<day>{_DAY})\b", _coming_weekday),
    (rf"(?:on\s+)?{_DAY}(?:{_AND}(?:on\s+)?{_DAY})*\b", _weekday_named),
    (r"(?P<which>today|tonight|tomorrow|the day after tomorrow|day after tomorrow)\b", _near_day),
    (rf"{_EACH}\s+(?P<part>morning|afternoon|evening|night)\b", _each_part),
    (r"this\s+(?P<part>morning|afternoon|evening)\b", _this_part),
    (r"(?:in\s+the\s+|at\s+)?(?P<part>morning|afternoon|evening|night)s?\b", _part),
    (_TIMES, _times),
)
_PATTERNS = tuple((re.compile(form), read) for form, read in _FORMS)
_BETWEEN = re.compile(r"(?:\s|,|;|\band\b|\bat\b(?=\s+(?:noon|mid)))*")


def scan(text: str, start: int, now: datetime) -> tuple[Said, int]:
    """Read as many pieces as follow each other from a place on.

    Args:
        text: in lower case.
        start: where to begin.
        now: by the clock of the zone that is meant.

    Returns:
        What they say, and where the last of them ends: at ``start`` where there is none.
    """
    said, end, at = Said(), start, start
    while at < len(text):
        found = _piece(text, at, said, now)
        if found is None:
            break
        said, end = found
        gap = _BETWEEN.match(text, end)
        at = gap.end() if gap else end
        if said.trouble:
            break
    return said, end


def _piece(text: str, at: int, said: Said, now: datetime) -> tuple[Said, int] | None:
    for pattern, read in _PATTERNS:
        match = pattern.match(text, at)
        if match is None or match.end() == at:
            continue
        try:
            return read(match, said, now), match.end()
        except ValueError:
            continue
    return None
