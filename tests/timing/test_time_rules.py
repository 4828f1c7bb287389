"""Rules in time: their moments, compared with a reckoning of another kind, and what is refused."""

from __future__ import annotations

import contextlib
import random
from bisect import bisect_right
from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from timing.reckoning import changes, reckoned

from hermes_bot.errors import ScheduleError
from hermes_bot.timing import Rule, between, next_after, occurrences, read_rule, zone_of

if TYPE_CHECKING:
    from collections.abc import Iterable

ZONES = (
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "America/Santiago",  # midnight is skipped
    "Asia/Kolkata",
    "Africa/Casablanca",  # back for Ramadan
    "Africa/Cairo",
    "Antarctica/Troll",  # by two hours
    "Australia/Lord_Howe",  # by half an hour
    "Pacific/Apia",
)
RULES = (
    "0 9 * * 1-5",
    "30 2 * * *",
    "0 0 * * *",
    "*/30 * * * *",
    "0 */2 * * *",
    "15 1-3 * * *",
    "0 9 13 * 5",
    "0 12 29 2 *",
    "7-59/20 8,20 * * 0,3",
    "30 1,2 * * *",
    "*/7 2 * * *",
    "30 * * * *",
    "0 */3 */2 * 1-5",
)
START, END = datetime(2026, 1, 1, tzinfo=UTC), datetime(2028, 1, 1, tzinfo=UTC)
NOW = datetime(2026, 11, 3, 8, 15, tzinfo=UTC)


def upcoming(rule: str, zone: str, after: datetime, many: int) -> list[str]:
    found = islice(occurrences(Rule.cron(rule), zone, after), many)
    return [at.astimezone(ZoneInfo(zone)).isoformat() for at in found]


@pytest.mark.parametrize("zone", ZONES)
def test_over_two_years_no_moment_is_missed_or_comes_twice(zone: str) -> None:
    """Also from anywhere near a clock change on, not only from the beginning on."""
    there, chance = ZoneInfo(zone), random.Random(zone)
    near = [at + timedelta(minutes=chance.randint(-200, 200)) for at in changes(there, START, END) * 5]
    for expression in RULES:
        wanted = reckoned(expression, there, START, END)
        rule = Rule.cron(expression)
        assert list(takewhile(lambda at: at <= END, occurrences(rule, zone, START))) == wanted, expression
        for start in near:
            place = bisect_right(wanted, start)
            if place < len(wanted):
                assert next_after(rule, zone, start) == wanted[place], (expression, start)


def test_a_clock_change_does_not_move_the_hour() -> None:
    friday = datetime(2026, 10, 23, 12, tzinfo=UTC)
    assert upcoming("0 9 * * 1-5", "Europe/Berlin", friday, 1) == ["2026-10-26T09:00:00+01:00"]
    friday = datetime(2026, 3, 27, 12, tzinfo=UTC)
    assert upcoming("0 9 * * 1-5", "Europe/Berlin", friday, 1) == ["2026-03-30T09:00:00+02:00"]


def test_a_time_that_is_skipped_or_comes_twice_fires_once_that_day() -> None:
    assert upcoming("30 2 * * *", "Europe/Berlin", datetime(2026, 3, 28, 12, tzinfo=UTC), 2) == [
        "2026-03-29T03:00:00+02:00",
        "2026-03-30T02:30:00+02:00",
    ]
    assert upcoming("30 2 * * *", "Europe/Berlin", datetime(2026, 10, 24, 12, tzinfo=UTC), 2) == [
        "2026-10-25T02:30:00+02:00",
        "2026-10-26T02:30:00+01:00",
    ]
    assert upcoming("0 0 * * *", "America/Santiago", datetime(2026, 9, 5, 12, tzinfo=UTC), 1) == [
        "2026-09-06T01:00:00-03:00"
    ]


def test_every_hour_is_25_times_on_the_long_day() -> None:
    start = datetime(2026, 10, 24, 23, 59, tzinfo=ZoneInfo("Europe/Berlin"))
    end = datetime(2026, 10, 25, 23, 59, tzinfo=ZoneInfo("Europe/Berlin"))
    assert between(Rule.cron("@hourly"), "Europe/Berlin", start, end, 100)[1] == 25


@pytest.mark.parametrize(
    "text", ["0 9 * * 1-5", "0 9 * * MON-FRI", "0 9 * * mon-fri", " 0  9 * *  1,2,3,4,5 "]
)
def test_weekdays_are_counted_as_crontab_5_does(text: str) -> None:
    found = upcoming(text, "UTC", datetime(2026, 1, 1, 12, tzinfo=UTC), 3)
    assert found == ["2026-01-02T09:00:00+00:00", "2026-01-05T09:00:00+00:00", "2026-01-06T09:00:00+00:00"]


def test_sunday_is_0_and_7_and_two_day_fields_are_either() -> None:
    for text in ("0 9 * * 0", "0 9 * * 7", "0 9 * * SUN", "0 9 * * 7-7"):
        assert upcoming(text, "UTC", NOW, 1) == ["2026-11-08T09:00:00+00:00"]
    assert upcoming("0 9 * * FRI-SUN", "UTC", NOW, 3)[-1] == "2026-11-08T09:00:00+00:00"
    assert upcoming("0 9 13 * 5", "UTC", NOW, 3) == [
        "2026-11-06T09:00:00+00:00",
        "2026-11-13T09:00:00+00:00",
        "2026-11-20T09:00:00+00:00",
    ]
    assert upcoming("0 9 15 * 5", "UTC", datetime(2026, 11, 13, 12, tzinfo=UTC), 1) == [
        "2026-11-15T09:00:00+00:00"
    ]


def test_last_days_and_counted_weekdays_of_a_month() -> None:
    assert upcoming("0 9 L * *", "UTC", NOW, 2) == ["2026-11-30T09:00:00+00:00", "2026-12-31T09:00:00+00:00"]
    assert upcoming("0 9 * * MON#1", "UTC", NOW, 1) == ["2026-12-07T09:00:00+00:00"]
    assert upcoming("0 9 * * 5L", "UTC", NOW, 1) == ["2026-11-27T09:00:00+00:00"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("0 9 * *", "has 4 fields"),
        ("0 0 9 * * 1", "leave the first out"),
        ("0 9 31 2 *", "never comes"),
        ("0 9 31 4,6,9,11 *", "never comes"),
        ("60 9 * * *", "is no minute"),
        ("0 24 * * *", "is no hour"),
        ("0 9 0 * *", "is no day of the month"),
        ("0 9 * 13 *", "is no month"),
        ("0 9 * * 8", "is no day of the week"),
        ("0 9 * * MOM", "is no day of the week"),
        ("0 9 ? * 1", "is no day of the month"),
        ("5/15 * * * *", "write `5-59/15` for every 15 from 5 on, or `5` alone"),
        ("0 22-2 * * *", "write `22-23,0-2`"),
        ("0 9 * * 5-1", "write `5-6,0-1`"),
        ("*/0 * * * *", "is no minute"),
        ("1,,2 * * * *", "is no minute"),
        ("*-5 * * * *", "is no minute"),
        ("@reboot", "is no time"),
        ("@fortnightly", "`@weekly`"),
        ("* * * * * * *", "has 7 fields"),
    ],
)
def test_what_is_no_cron_expression_is_refused_with_what_would_work(text: str, says: str) -> None:
    with pytest.raises(ScheduleError) as refused:
        read_rule(text, "UTC", NOW)
    assert says in str(refused.value)


def test_nicknames() -> None:
    wanted = ("0 0 * * *", "0 * * * *", "0 0 * * 0", "0 0 1 * *", "0 0 1 1 *", "0 0 * * *", "0 0 1 1 *")
    names = ("@daily", "@HOURLY", "@weekly", "@monthly", "@yearly", "@midnight", "@annually")
    assert tuple(read_rule(name, "UTC", NOW).expression for name in names) == wanted


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("every 90m", 5_400), ("every 2 hours", 7_200), ("every 1h30m", 5_400), ("every 1w 2d", 777_600)],
)
def test_a_length_of_time_is_counted_from_now(text: str, seconds: int) -> None:
    rule = read_rule(text, "Europe/Berlin", NOW)
    assert (rule.length, rule.start) == (timedelta(seconds=seconds), NOW)
    assert next_after(rule, "Europe/Berlin", NOW) == NOW + timedelta(seconds=seconds)
    assert Rule.parse(str(rule)) == rule


def test_every_is_time_that_passes_whatever_clocks_do() -> None:
    rule = read_rule("every 2h from 2026-03-08T01:30-05:00", "America/Toronto", NOW)
    first = next_after(rule, "America/Toronto", datetime.fromisoformat("2026-03-08T01:30-05:00"))
    assert first == datetime.fromisoformat("2026-03-08T04:30-04:00")


@pytest.mark.parametrize("text", ["every 30s", "every 0m", "every 2000d"])
def test_too_often_and_too_seldom_are_refused(text: str) -> None:
    with pytest.raises(ScheduleError, match=r"a minute is the least|longer than a year"):
        read_rule(text, "UTC", NOW)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-12-24T09:00", "2026-12-24T08:00:00+00:00"),
        ("2026-12-24 09:00", "2026-12-24T08:00:00+00:00"),
        ("2026-12-24T09:00Z", "2026-12-24T09:00:00+00:00"),
        ("2026-12-24T09:00:30-05:00", "2026-12-24T14:00:30+00:00"),
        ("2027-03-28T02:30", "2027-03-28T01:00:00+00:00"),  # skipped: 03:00 there
        ("2027-10-31T02:30", "2027-10-31T00:30:00+00:00"),  # comes twice: the first
    ],
)
def test_one_moment_is_wall_time_of_its_zone(text: str, moment: str) -> None:
    rule = read_rule(text, "Europe/Berlin", NOW)
    assert (rule.kind, rule.moment.isoformat()) == ("once", moment)
    assert list(occurrences(rule, "Europe/Berlin", NOW)) == [rule.moment]
    assert next_after(rule, "Europe/Berlin", rule.moment) is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("2026-11-03T09:15", "is over: it is 2026-11-03 09:15 now"),
        ("2026-12-24", "Say 2026-12-24 09:00"),
        ("2026-13-24T09:00", "is no moment"),
        ("2026-02-30 09:00", "is no moment"),
    ],
)
def test_a_moment_that_is_over_or_none_is_refused(text: str, says: str) -> None:
    with pytest.raises(ScheduleError) as refused:
        read_rule(text, "Europe/Berlin", NOW)
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Mars/Base", "There is no time zone 'Mars/Base'"),
        ("Berlin", "Did you mean Europe/Berlin"),
        ("europe/berlim", "Did you mean Europe/Berlin"),
        ("New York", "America/New_York"),
        ("../../etc/passwd", "There is no time zone"),
        ("/etc/localtime", "There is no time zone"),
        ("", "There is no time zone"),
        ("Zürich\0", "There is no time zone"),
    ],
)
def test_a_zone_that_does_not_exist_is_refused_with_the_nearest(name: str, says: str) -> None:
    with pytest.raises(ScheduleError) as refused:
        zone_of(name)
    assert says in str(refused.value)


@given(st.integers(1, 10_000), st.integers(-5_000, 50_000), st.integers(0, 90_000), st.integers(0, 30))
def test_the_last_moments_between_two_are_those_of_going_through_all(
    length: int, after: int, span: int, most: int
) -> None:
    minute = timedelta(minutes=1)
    rule = Rule.every(length * minute, NOW)
    start = NOW + after * minute
    end = start + span * minute
    every = list(_through(rule, start, end))
    assert between(rule, "UTC", start, end, most) == (every[len(every) - min(most, len(every)) :], len(every))


def _through(rule: Rule, start: datetime, end: datetime) -> Iterable[datetime]:
    return takewhile(lambda at: at <= end, occurrences(rule, "UTC", start))


@given(st.text(max_size=60))
def test_any_text_is_a_rule_or_refused_in_words(text: str) -> None:
    try:
        rule = read_rule(text, "Europe/Berlin", NOW)
    except ScheduleError as error:
        assert len(str(error)) > 20  # noqa: PT017 - what it says is the point
    else:
        assert Rule.parse(str(rule)) == rule
    with contextlib.suppress(ScheduleError):
        Rule.parse(text)


_NUMBER = st.integers(0, 62).map(str)
_TERM = st.one_of(
    st.just("*"),
    _NUMBER,
    st.tuples(_NUMBER, _NUMBER).map("-".join),
    st.tuples(st.sampled_from(["*", "1-5", "3"]), _NUMBER).map("/".join),
)
_FIELD = st.lists(_TERM, min_size=1, max_size=3).map(",".join)


@settings(deadline=None)
@given(st.lists(_FIELD, min_size=5, max_size=5).map(" ".join))
def test_any_cron_expression_is_refused_or_comes_as_reckoned(text: str) -> None:
    try:
        rule = read_rule(text, "Europe/Berlin", NOW)
    except ScheduleError:
        return
    start = datetime(2026, 10, 24, tzinfo=UTC)  # the day before clocks go back
    end = start + timedelta(days=4)
    found = list(takewhile(lambda at: at <= end, occurrences(rule, "Europe/Berlin", start)))
    assert found == reckoned(rule.expression, ZoneInfo("Europe/Berlin"), start, end)
