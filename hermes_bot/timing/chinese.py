"""Knows how Chinese says when: its pieces, read one after the other."""

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
    WEEKEND,
    Said,
    weekdays_field,
    with_more,
)

# what traditional characters, and signs as wide as these, are read as; each is one character, as before
PLAIN = str.maketrans(
    "點週後鐘個時號禮兩報錯誤發檢０１２３４５６７８９：，、；。～！？（）「」",  # noqa: RUF001 - they are meant
    '点周后钟个时号礼两报错误发检0123456789:,,;.-!?()""',
)
_DIGITS = {sign: number for number, sign in enumerate("零一二三四五六七八九")} | {"两": 2, "\u3007": 0}
_WEEK = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6} | {
    str(number): number - 1 for number in range(1, 8)
}
_UNITS = {
    "分": timedelta(minutes=1),
    "小": HOUR,
    "天": DAY,
    "日": DAY,
    "周": 7 * DAY,
    "星": 7 * DAY,
    "秒": timedelta(seconds=1),
}
_PARTS = {
    "凌晨": "am", "早上": "am", "早晨": "am", "清晨": "am", "上午": "am", "早": "am",
    "中午": "noon", "下午": "pm", "傍晚": "pm", "晚上": "night", "夜里": "night", "晚": "night",
}  # fmt: skip
_AHEAD = {"今天": 0, "今日": 0, "今": 0, "明天": 1, "明日": 1, "明": 1, "后天": 2, "大后天": 3}

_N = r"(?:\d{1,5}|[零〇一二两三四五六七八九十]{1,3})"
_PART = "(?:" + "|".join(_PARTS) + ")"
_DAYS_OF_WEEK = r"(?:周|星期|礼拜)"
_AND = r"\s*(?:,|和|及|与|跟)\s*"
_DAY = "(?:[一二三四五六日天](?![点时十])|[1-7](?![0-9点时:]))"
_CLOCK = rf"(?:{_N}\s*(?:点|时)(?:钟|整)?(?:\s*(?:半|一刻|三刻|零?{_N}\s*分?))?|\d{{1,2}}:\d{{2}})"
_UNIT = r"(?P<unit>秒|分钟|分|小时|天|日|周|星期)"
_COUNT = rf"(?P<count>{_N})\s*(?:个)?\s*"

_Read = Callable[[re.Match[str], Said, datetime], Said]


def _number(text: str) -> int:
    """Return a number in figures or signs: ``十``, ``二十五``."""
    if text.isdecimal():
        return int(text)
    tens, ten, ones = text.partition("十")
    if not ten:
        return int("".join(str(_DIGITS[sign]) for sign in text))
    return (_DIGITS[tens] if tens else 1) * 10 + (_DIGITS[ones] if ones else 0)


def _clock(text: str) -> time:
    if ":" in text:
        hour, minute = text.split(":")
        return time(int(hour), int(minute))
    hour, _, rest = re.sub("[钟整\\s]", "", text).replace("时", "点").partition("点")
    minutes = {"": 0, "半": 30, "一刻": 15, "三刻": 45}
    return time(
        _number(hour),
        minutes[rest] if rest in minutes else _number(rest.removesuffix("分").removeprefix("零") or "零"),
    )


def _times(match: re.Match[str], said: Said, now: datetime) -> Said:
    del now
    said = with_more(said, times=[_clock(found) for found in re.findall(_CLOCK, match[0])])
    return with_more(said, part=_PARTS[match["part"]]) if match["part"] else said


def _noon(_: re.Match[str], said: Said, now: datetime) -> Said:
    del now
    return with_more(said, part="noon", times=[time(12)])


def _midnight(_: re.Match[str], said: Said, now: datetime) -> Said:
    del now
    return with_more(said, times=[time(0)], is_midnight=True)


def _counted_weekday(match: re.Match[str], said: Said, now: datetime) -> Said:
    del now
    day = (_WEEK[match["day"]] + 1) % 7
    which = match["which"]
    return with_more(said, weekdays=f"{day}L" if which == "最后" else f"{day}#{_number(which[1:])}")


def _days(field: str) -> _Read:
    def read(_: re.Match[str], said: Said, now: datetime) -> Said:
        del now
        return with_more(said, weekdays=field)

    return read


def _named(text: str) -> list[int]:
    return [_WEEK[sign] for sign in re.sub(rf"{_DAYS_OF_WEEK}|[^一二三四五六日天1-7]", "", text)]


def _day_range(match: re.Match[str], said: Said, now: datetime) -> Said:
    del now
    first, last = _WEEK[match["first"]], _WEEK[match["last"]]
    return with_more(
        said, weekdays=weekdays_field([(first + ahead) % 7 for ahead in range((last - first) % 7 + 1)])
    )


def _every_weekday_named(match: re.Match[str], said: Said, now: datetime) -> Said:
    del now
    return with_more(said, weekdays=weekdays_field(_named(match["days"])))


def _weekday_named(match: re.Match[str], said: Said, now: datetime) -> Said:
    del now
    return with_more(said, maybe=tuple(_named(match["days"])))


def _coming_weekday(match: re.Match[str], said: Said, now: datetime) -> Said:
    """``下周五`` is in the week after this one, ``这周五`` in this one."""
    monday = now.date() - now.weekday() * DAY
    day = monday + (_WEEK[match["day"]] + (7 if match["which"].startswith("下") else 0)) * DAY
    return with_more(said, dates=(day,))


def _month_days(match: re.Match[str], said: Said, now: datetime) -> Said:
    del now
    if "最后" in match[0]:
        return with_more(said, days=("L",))
    days = [_number(found) for found in re.findall(_N, match["days"])]
    if any(not 1 <= day <= 31 for day in days):  # noqa: PLR2004 - days of a month
        raise ValueError("no day of a month")
    return with_more(said, days=tuple(map(str, days)))


def _year_day(match: re.Match[str], said: Said, now: datetime) -> Said:
    month, day = _number(match["month"]), _number(match["day"])
    found = date(2000, month, day)
    if match["every"]:
        return with_more(said, days=(str(found.day),), month=found.month)
    year = int(match["year"]) if match["year"] else now.year
    coming = date(year, month, day)
    if not match["year"] and coming < now.date():
        coming = date(year + 1, month, day)
    return with_more(said, dates=(coming,))


def _near_day(match: re.Match[str], said: Said, now: datetime) -> Said:
    said = with_more(said, dates=(now.date() + _AHEAD[match["which"]] * DAY,))
    return with_more(said, part=_PARTS[match["part"]]) if match["part"] else said


def _each_part(match: re.Match[str], said: Said, now: datetime) -> Said:
    del now
    return with_more(said, weekdays=EVERY_DAY, part=_PARTS[match["part"]])


def _step(match: re.Match[str], said: Said, now: datetime) -> Said:
    del now
    return with_more(said, step=_number(match["count"]) * _UNITS[match["unit"][0]])


def _half_hours(_: re.Match[str], said: Said, now: datetime) -> Said:
    del now
    return with_more(said, step=HOUR / 2)


def _minutes(_: re.Match[str], said: Said, now: datetime) -> Said:
    del now
    return with_more(said, step=timedelta(minutes=1))


def _hourly(_: re.Match[str], said: Said, now: datetime) -> Said:
    del now
    return with_more(said, minutes=0) if not said.weekdays else replace(said, step=HOUR)


def _later(match: re.Match[str], said: Said, now: datetime) -> Said:
    del now
    if match["half"]:
        return with_more(said, later=HOUR / 2)
    extra = HOUR / 2 if match["more"] else timedelta(0)
    return with_more(said, later=_number(match["count"]) * _UNITS[match["unit"][0]] + extra)


_FORMS: tuple[tuple[str, _Read], ...] = (
    (rf"(?:(?P<half>半个?小时|半个?钟头)|{_COUNT}(?P<more>半(?=小时))?{_UNIT})\s*(?:之后|以后|后)", _later),
    (r"每隔?半个?(?:小时|钟头)", _half_hours),
    (rf"每隔?{_COUNT}{_UNIT}(?:一次)?", _step),
    (r"每分钟(?:一次)?", _minutes),
    (r"每个?(?:小时|钟头)(?:整点)?(?:一次)?", _hourly),
    (r"每个?(?:工作日|平日)|工作日", _days(MONDAY_TO_FRIDAY)),
    (r"每个?周末|周末", _days(WEEKEND)),
    (r"(?:每天|每日|天天)(?:都)?", _days(EVERY_DAY)),
    (rf"每?{_DAYS_OF_WEEK}(?P<first>{_DAY})\s*(?:到|至|-)\s*{_DAYS_OF_WEEK}?(?P<last>{_DAY})", _day_range),
    (
        rf"每个?{_DAYS_OF_WEEK}(?P<days>{_DAY}(?:(?:{_AND})?(?:每?{_DAYS_OF_WEEK})?{_DAY})*)",
        _every_weekday_named,
    ),
    (rf"(?P<which>下个?|这个?|本){_DAYS_OF_WEEK}(?P<day>{_DAY})", _coming_weekday),
    (rf"(?P<days>{_DAYS_OF_WEEK}{_DAY}(?:{_AND}{_DAYS_OF_WEEK}?{_DAY})*)", _weekday_named),
    (rf"每个?月的?(?P<which>第[一二三四五1-5]|最后)一?个?{_DAYS_OF_WEEK}(?P<day>{_DAY})", _counted_weekday),
    (
        rf"每个?月(?:的)?(?:(?P<days>{_N}(?:号|日)?(?:{_AND}{_N}(?:号|日)?)*(?<=[号日]))|最后一天)",
        _month_days,
    ),
    (
        rf"(?:(?P<every>每年)的?|(?P<year>\d{{4}})年)?(?P<month>{_N})月(?P<day>{_N})(?:号|日)",
        _year_day,
    ),
    (rf"每(?:天)?(?P<part>{_PART})", _each_part),
    (r"(?P<which>大后天|今天|今日|明天|明日|后天|今|明)(?P<part>早上|早|晚上|晚)?(?!\s*午)", _near_day),
    (rf"(?:在\s*)?(?P<part>{_PART})?\s*的?{_CLOCK}(?:{_AND}{_CLOCK})*(?!\s*后)", _times),
    (r"中午|正午", _noon),
    (r"午夜|半夜|零点", _midnight),
)
_PATTERNS = tuple((re.compile(form), read) for form, read in _FORMS)
_BETWEEN = re.compile(r"(?:\s|,|的|在|请)*")


def scan(text: str, start: int, now: datetime) -> tuple[Said, int]:
    """Read as many pieces as follow each other from a place on.

    Args:
        text: in plain signs, see ``PLAIN``.
        start: where to begin.
        now: by the clock of the zone that is meant.

    Returns:
        What they say, and where the last of them ends: at ``start`` where there is none.
    """
    said, end, at = Said(), start, start
    while at < len(text) and (found := _piece(text, at, said, now)) is not None:
        said, end = found
        gap = _BETWEEN.match(text, end)
        at = gap.end() if gap else end
    return said, end


def _piece(text: str, at: int, said: Said, now: datetime) -> tuple[Said, int] | None:
    for pattern, read in _PATTERNS:
        match = pattern.match(text, at)
        if match is None:
            continue
        try:
            return read(match, said, now), match.end()
        except (ValueError, KeyError):
            continue
    return None
