"""Plain words for times, English and Chinese, each as the one rule it means on 4 November 2026, 09:15."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.errors import ScheduleError
from hermes_bot.timing import Rule, find_rule, in_words, read_rule

BERLIN = "Europe/Berlin"
NOW = datetime(2026, 11, 4, 8, 15, tzinfo=UTC)  # 09:15 in Berlin


def read(text: str, now: datetime = NOW) -> str:
    rule = read_rule(text, BERLIN, now)
    if rule.kind == "every":
        assert rule.start == now
        return f"every {round(rule.length.total_seconds())} s"
    return rule.expression.removesuffix(":00+00:00")


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("weekdays at 9", "0 9 * * 1-5"),
        ("every weekday at 9", "0 9 * * 1-5"),
        ("every Monday and Thursday 18:30", "30 18 * * 1,4"),
        ("Mondays 9am", "0 9 * * 1"),
        ("daily at 7:30 pm", "30 19 * * *"),
        ("every day at noon", "0 12 * * *"),
        ("weekends at 10", "0 10 * * 0,6"),
        ("every hour", "0 * * * *"),
        ("hourly", "0 * * * *"),
        ("every hour at :15", "15 * * * *"),
        ("every 15 minutes", "every 900 s"),
        ("every 90m", "every 5400 s"),
        ("every 2 hours", "every 7200 s"),
        ("every half hour", "every 1800 s"),
        ("every 90 seconds", "every 90 s"),
        ("on the 1st of every month at 8", "0 8 1 * *"),
        ("on the first and 15th of every month at 9:00", "0 9 1,15 * *"),
        ("the last day of every month at 17:00", "0 17 L * *"),
        ("on the last day of the month at 17:00", "0 17 L * *"),
        ("every year on March 3 at 9", "0 9 3 3 *"),
        ("first Monday of the month at 9", "0 9 * * 1#1"),
        ("the last friday of every month at 16:30", "30 16 * * 5L"),
        ("monthly on the 15th at 9", "0 9 15 * *"),
        ("in 10 minutes", "2026-11-04T08:25"),
        ("in an hour", "2026-11-04T09:15"),
        ("in half an hour", "2026-11-04T08:45"),
        ("in 2 days", "2026-11-06T08:15"),
        ("in 2 days at 9", "2026-11-06T08:00"),
        ("10 minutes from now", "2026-11-04T08:25"),
        ("tomorrow at 9", "2026-11-05T08:00"),
        ("today at 18:00", "2026-11-04T17:00"),
        ("tonight at 8", "2026-11-04T19:00"),
        ("this evening at 7", "2026-11-04T18:00"),
        ("tomorrow morning at 9", "2026-11-05T08:00"),
        ("next Monday 9:00", "2026-11-09T08:00"),
        ("every 2 weeks", "every 1209600 s"),
        ("every evening at 6", "0 18 * * *"),
        ("every night at 2", "0 2 * * *"),
        ("every night at 11", "0 23 * * *"),
        ("weekday mornings at 9", "0 9 * * 1-5"),
        ("Monday mornings at 9", "0 9 * * 1"),
        ("monday to friday at 8:00", "0 8 * * 1-5"),
        ("mon-fri 8:00", "0 8 * * 1-5"),
        ("every 15 minutes between 9 and 17 on weekdays", "*/15 9-16 * * 1-5"),
        ("every hour from 9 to 17 on weekdays", "0 9-17 * * 1-5"),
        ("every 2 hours on weekdays", "0 0-23/2 * * 1-5"),
        ("at 9 and 17 every day", "0 9,17 * * *"),
        ("weekdays at 9:00, 13:00 and 18:00", "0 9,13,18 * * 1-5"),
        ("Every weekday at 9,", "0 9 * * 1-5"),
        ("EVERY   WEEKDAY AT 9AM.", "0 9 * * 1-5"),
        ("24 december at 9", "2026-12-24T08:00"),
        ("on december 24 2026 at 9", "2026-12-24T08:00"),
        ("2026-12-24 at 9", "2026-12-24T08:00"),
        ("half past 9 every day", "30 9 * * *"),
        ("12am daily", "0 0 * * *"),
        ("every day at midnight", "0 0 * * *"),
        ("hourly on weekdays", "0 * * * 1-5"),
        ("15 minutes past every hour", "15 * * * *"),
        ("hourly between 9 and 17, weekdays", "0 9-17 * * 1-5"),
        ("every 15 minutes of the hour, weekdays", "*/15 * * * 1-5"),
        ("every year on february 29 at 9", "0 9 29 2 *"),
        ("every weekday at 9 am and 5 pm", "0 9,17 * * 1-5"),
    ],
)
def test_english_has_one_meaning(text: str, rule: str) -> None:
    assert read(text) == rule


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("每天早上9点", "0 9 * * *"),
        ("工作日下午6点", "0 18 * * 1-5"),
        ("每周一和周四18:30", "30 18 * * 1,4"),
        ("每周一、三、五上午10点半", "30 10 * * 1,3,5"),
        ("周末上午十点", "0 10 * * 0,6"),
        ("每小时", "0 * * * *"),
        ("每90分钟", "every 5400 s"),
        ("每隔2小时", "every 7200 s"),
        ("每月1号上午8点", "0 8 1 * *"),
        ("每月1号和15号9点", "0 9 1,15 * *"),
        ("每月最后一天下午5点", "0 17 L * *"),
        ("10分钟后", "2026-11-04T08:25"),
        ("半小时后", "2026-11-04T08:45"),
        ("明天上午9点", "2026-11-05T08:00"),
        ("今天晚上8点", "2026-11-04T19:00"),
        ("今晚8点", "2026-11-04T19:00"),
        ("明早8点", "2026-11-05T07:00"),
        ("每个工作日早上九点", "0 9 * * 1-5"),
        ("每天中午12点", "0 12 * * *"),
        ("每天中午", "0 12 * * *"),
        ("每年3月3日9点", "0 9 3 3 *"),
        ("下周一9点", "2026-11-09T08:00"),
        ("周一到周五8点", "0 8 * * 1-5"),
        ("每天早上9点一刻", "15 9 * * *"),
        ("每天２２：３０", "30 22 * * *"),  # noqa: RUF001 - wide signs are meant
        ("每週一早上９點", "0 9 * * 1"),
        ("後天上午9點", "2026-11-06T08:00"),
        ("每晚8点", "0 20 * * *"),
        ("每天晚上12点", "0 0 * * *"),
        ("每两小时", "every 7200 s"),
        ("一个小时后", "2026-11-04T09:15"),
        ("两天后9点", "2026-11-06T08:00"),
        ("每周一三五9点", "0 9 * * 1,3,5"),
        ("每周一三点", "0 3 * * 1"),
        ("每周一二十点", "0 20 * * 1"),
        ("每周1、3、5 9:00", "0 9 * * 1,3,5"),
    ],
)
def test_chinese_has_one_meaning(text: str, rule: str) -> None:
    assert read(text) == rule


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("every 30 seconds", "Every 30 seconds is too often: a minute is the least."),
        (
            "today at 8",
            "2026-11-04 08:00 is over: it is 09:15 now. Say `tomorrow at 08:00` or `every day at 08:00`",
        ),
        (
            "tomorrow at midnight",
            "Midnight of a day has two readings. Say `2026-11-05 00:00` or `2026-11-06 00:00`.",
        ),
        (
            "next Friday 9:00",
            "That has two readings. Say `2026-11-06 09:00` (Friday) or `2026-11-13 09:00` (Friday).",
        ),
        (
            "on Friday at 17:00",
            "That has two readings. Say `every Friday at 17:00`, or `2026-11-06 17:00` for once.",
        ),
        (
            "Friday 17:00",
            "That has two readings. Say `every Friday at 17:00`, or `2026-11-06 17:00` for once.",
        ),
        ("at 9", "That has two readings. Say `every day at 09:00` or `tomorrow at 09:00`."),
        ("9", "That has two readings. Say `every day at 09:00` or `tomorrow at 09:00`."),
        ("at 9 in the evening", "That has two readings. Say `every day at 21:00` or `today at 21:00`."),
        ("every Monday", "At what time? Say it with one: `every Monday at 9:00`."),
        (
            "every other Monday",
            "Every other one is nothing that I can keep over the year. Say `every 2 weeks`, counted fro",
        ),
        (
            "every other Monday at 9",
            "Every other one is nothing that I can keep over the year. Say `every 2 weeks`, counted fro",
        ),
        (
            "every 7 minutes on weekdays",
            "Within hours or on certain days, say a length of time that an hour or a day is a multiple ",
        ),
        (
            "weekdays at 9:00 and 17:30",
            "Times with different minutes are a schedule each: `weekdays at 09:00` and `weekdays at 17:",
        ),
        (
            "every blue moon",
            "I do not understand 'every blue moon' as a time. Try one of `weekdays at 9`, `every Monday",
        ),
        ("weekdays at 9 UTC", "The zone is said apart from the time: zone=Europe/Berlin, say."),
        (
            "every day at 13pm",
            "I do not understand 'every day at 13pm' as a time. Try one of `weekdays at 9`, `every Mond",
        ),
        (
            "every day at 25:00",
            "I do not understand 'every day at 25:00' as a time. Try one of `weekdays at 9`, `every Mon",
        ),
        (
            "every 2 days at 9",
            "A length of time is counted from where it begins, so it keeps no time of the day. Say `eve",
        ),
        (
            "every 15 minutes past the hour",
            "I do not understand 'every 15 minutes past the hour' as a time. Try one of `weekdays at 9`",
        ),
        ("tomorrow", "At what time? Say it with one: `2026-11-05 09:00`."),
        ("every day", "At what time? Say it with one: `every day at 9:00`."),
        (
            "next week",
            "I do not understand 'next week' as a time. Try one of `weekdays at 9`, `every Monday 18:30",
        ),
        (
            "soon",
            "I do not understand 'soon' as a time. Try one of `weekdays at 9`, `every Monday 18:30`, `e",
        ),
        ("中午12点", "That has two readings. Say `every day at 12:00` or `today at 12:00`."),
        (
            "周五下午5点",
            "That has two readings. Say `every Friday at 17:00`, or `2026-11-06 17:00` for once.",
        ),
        ("9999-12-31T23:59", "9999 is too far ahead."),
        (
            "on february 29 at 9",
            "I do not understand 'on february 29 at 9' as a time. Try one of `weekdays at 9`, `every Mo",
        ),
        (
            "on 31 april at 9",
            "I do not understand 'on 31 april at 9' as a time. Try one of `weekdays at 9`, `every Monda",
        ),
        ("every tuesday", "At what time? Say it with one: `every Tuesday at 9:00`."),
        ("e", "I do not understand 'e' as a time. Try one of `weekdays at 9`, `every Monday 18:30`, `ever"),
    ],
)
def test_what_has_no_reading_or_two_is_refused_with_what_would_work(text: str, says: str) -> None:
    with pytest.raises(ScheduleError) as refused:
        read_rule(text, BERLIN, NOW)
    assert says in str(refused.value)


def test_ten_minutes_before_midnight_is_the_next_day() -> None:
    late = datetime(2026, 11, 4, 22, 55, tzinfo=UTC)  # 23:55 in Berlin
    assert read("in 10 minutes", late) == "2026-11-04T23:05"


def test_a_time_of_tomorrow_that_clocks_skip_is_the_first_that_exists() -> None:
    assert read("tomorrow at 2:30", datetime(2027, 3, 27, 12, tzinfo=UTC)) == "2027-03-28T01:00"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("cron 0 0-23/2 * * 1-5", "cron `0 0-23/2 * * 1-5`"),
        ("every PT900S@2026-11-04T08:15:00+00:00", "every 15 minutes"),
        ("cron */15 9-16 * * 1-5", "every 15 minutes of the hour between 09:00 and 17:00, weekdays"),
        ("cron */15 * * * 1-5", "every 15 minutes of the hour, weekdays"),
        ("every PT7200S@2026-11-04T08:15:00+00:00", "every 2 hours"),
        ("every PT1209600S@2026-11-04T08:15:00+00:00", "every 2 weeks"),
        ("every PT1800S@2026-11-04T08:15:00+00:00", "every 30 minutes"),
        ("every PT5400S@2026-11-04T08:15:00+00:00", "every 90 minutes"),
        ("every PT90S@2026-11-04T08:15:00+00:00", "every 90 seconds"),
        ("cron 30 18 * * 1,4", "every Monday and Thursday at 18:30"),
        ("cron 0 3 * * 1", "every Monday at 03:00"),
        ("cron 0 9 * * 1", "every Monday at 09:00"),
        ("cron 0 20 * * 1", "every Monday at 20:00"),
        ("cron 0 9 * * 1,3,5", "every Monday, Wednesday and Friday at 09:00"),
        ("cron 30 10 * * 1,3,5", "every Monday, Wednesday and Friday at 10:30"),
        ("cron 0 0 * * *", "every day at 00:00"),
        ("cron 0 2 * * *", "every day at 02:00"),
        ("cron 0 9 * * *", "every day at 09:00"),
        ("cron 0 9,17 * * *", "every day at 09:00 and 17:00"),
        ("cron 15 9 * * *", "every day at 09:15"),
        ("cron 30 9 * * *", "every day at 09:30"),
        ("cron 0 12 * * *", "every day at 12:00"),
        ("cron 0 18 * * *", "every day at 18:00"),
        ("cron 30 19 * * *", "every day at 19:30"),
        ("cron 0 20 * * *", "every day at 20:00"),
        ("cron 30 22 * * *", "every day at 22:30"),
        ("cron 0 23 * * *", "every day at 23:00"),
        ("cron 0 9 29 2 *", "every year on February 29 at 09:00"),
        ("cron 0 9 3 3 *", "every year on March 3 at 09:00"),
        ("cron 0 * * * *", "hourly"),
        ("cron 15 * * * *", "hourly at :15"),
        ("cron 0 9-17 * * 1-5", "hourly between 09:00 and 17:00, weekdays"),
        ("cron 0 * * * 1-5", "hourly, weekdays"),
        ("cron 0 9 15 * *", "on the 15th of every month at 09:00"),
        ("cron 0 9 1,15 * *", "on the 1st and 15th of every month at 09:00"),
        ("cron 0 8 1 * *", "on the 1st of every month at 08:00"),
        ("cron 0 9 * * 1#1", "on the first Monday of every month at 09:00"),
        ("cron 30 16 * * 5L", "on the last Friday of every month at 16:30"),
        ("cron 0 17 L * *", "on the last day of every month at 17:00"),
        ("once 2026-11-06T08:00:00+00:00", "once, Fri 6 Nov 2026 09:00"),
        ("once 2026-11-06T08:15:00+00:00", "once, Fri 6 Nov 2026 09:15"),
        ("once 2026-11-09T08:00:00+00:00", "once, Mon 9 Nov 2026 09:00"),
        ("once 2026-12-24T08:00:00+00:00", "once, Thu 24 Dec 2026 09:00"),
        ("once 2026-11-05T07:00:00+00:00", "once, Thu 5 Nov 2026 08:00"),
        ("once 2026-11-05T08:00:00+00:00", "once, Thu 5 Nov 2026 09:00"),
        ("once 2026-11-04T08:25:00+00:00", "once, Wed 4 Nov 2026 09:25"),
        ("once 2026-11-04T08:45:00+00:00", "once, Wed 4 Nov 2026 09:45"),
        ("once 2026-11-04T09:15:00+00:00", "once, Wed 4 Nov 2026 10:15"),
        ("once 2026-11-04T17:00:00+00:00", "once, Wed 4 Nov 2026 18:00"),
        ("once 2026-11-04T18:00:00+00:00", "once, Wed 4 Nov 2026 19:00"),
        ("once 2026-11-04T19:00:00+00:00", "once, Wed 4 Nov 2026 20:00"),
        ("cron 0 8 * * 1-5", "weekdays at 08:00"),
        ("cron 0 9 * * 1-5", "weekdays at 09:00"),
        ("cron 0 9,17 * * 1-5", "weekdays at 09:00 and 17:00"),
        ("cron 0 9,13,18 * * 1-5", "weekdays at 09:00, 13:00 and 18:00"),
        ("cron 0 18 * * 1-5", "weekdays at 18:00"),
        ("cron 0 10 * * 0,6", "weekends at 10:00"),
    ],
)
def test_a_rule_is_said_in_words(text: str, words: str) -> None:
    assert in_words(Rule.parse(text), BERLIN) == words


_FIELDS = st.tuples(
    st.sampled_from(["0", "5", "30", "*/15", "*/5"]),
    st.sampled_from(["*", "9", "0", "23", "9,17", "9-17", "6-22"]),
    st.sampled_from(["*", "1", "15", "L", "1,15", "31"]),
    st.sampled_from(["*", "3", "12"]),
    st.sampled_from(["*", "1-5", "0,6", "1", "7", "1,4", "1#1", "5L", "2-4"]),
)


@given(_FIELDS)
def test_what_is_said_in_words_reads_back_as_the_same_rule(fields: tuple[str, ...]) -> None:
    rule = Rule.cron(" ".join(fields))
    words = in_words(rule, BERLIN)
    if not words.startswith("cron "):
        back = read_rule(words, BERLIN, NOW)
        assert str(back).replace("7", "0") == str(rule).replace("7", "0"), words


@given(st.integers(60, 366 * 86_400))
def test_a_length_of_time_that_is_said_reads_back(seconds: int) -> None:
    rule = Rule.every(timedelta(seconds=seconds), NOW)
    words = in_words(rule, BERLIN)
    assert read_rule(words, BERLIN, NOW) == rule


_SOME = "every weekday at 9 in 10 minutes on monday 的 每天 早上 9点 半 to the and , 31 of month ? next 后"
_WORDS = st.sampled_from(_SOME.split())


@given(st.one_of(st.text(max_size=200), st.lists(_WORDS, max_size=12).map(" ".join)))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    for work in (read_rule, find_rule):
        try:
            work(text, BERLIN, NOW)
        except ScheduleError as error:
            assert len(str(error)) > 15  # noqa: PT017 - what it says is the point
