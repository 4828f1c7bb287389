"""Phrases that people write beside the plain ones, and texts whose times ask for nothing later."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hermes_bot.errors import ScheduleError
from hermes_bot.timing import find_rule, read_rule

BERLIN = "Europe/Berlin"
NOW = datetime(2026, 11, 4, 8, 15, tzinfo=UTC)  # 09:15 in Berlin
SKILLS = ("error-digest", "log-diagnosis")


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("\u201cevery weekday at 9\u201d", "cron 0 9 * * 1-5"),
        ("'every weekday at 9'", "cron 0 9 * * 1-5"),
        ("`0 9 * * 1-5`", "cron 0 9 * * 1-5"),
        ("(every weekday at 9)", "cron 0 9 * * 1-5"),
        ("2nd tuesday of every month at 10", "cron 0 10 * * 2#2"),
        ("every first Monday of the month at 9", "cron 0 9 * * 1#1"),
        ("every last friday of the month at 16:30", "cron 30 16 * * 5L"),
        ("on the first and 15th at 9:00", "cron 0 9 1,15 * *"),
        ("in 1h30m", "once 2026-11-04T09:45:00+00:00"),
        ("in 1 hour and 30 minutes", "once 2026-11-04T09:45:00+00:00"),
        ("in an hour and a half", "once 2026-11-04T09:45:00+00:00"),
        ("每月第一个周一9点", "cron 0 9 * * 1#1"),
        ("每个月最后一个星期五16点半", "cron 30 16 * * 5L"),
        ("每天8点零5分", "cron 5 8 * * *"),
        ("每分钟", "every PT60S@2026-11-04T08:15:00+00:00"),
        ("每天早上9点！", "cron 0 9 * * *"),  # noqa: RUF001 - a wide sign is meant
        ("「每天早上9点」", "cron 0 9 * * *"),
    ],
)
def test_other_ways_to_say_a_time_have_one_meaning(text: str, rule: str) -> None:
    assert str(read_rule(text, BERLIN, NOW)) == rule


@pytest.mark.parametrize("text", ["in 0 minutes", "0分钟后", "0 minutes from now"])
def test_no_time_from_now_is_refused(text: str) -> None:
    with pytest.raises(ScheduleError, match="That is now"):
        read_rule(text, BERLIN, NOW)


@pytest.mark.parametrize(
    ("text", "rule", "rest"),
    [
        ("Every weekday at 9: post the digest", "cron 0 9 * * 1-5", "post the digest"),
        ("every weekday at 9 - post the digest", "cron 0 9 * * 1-5", "post the digest"),
        ("post the digest here weekdays at 9, thanks!", "cron 0 9 * * 1-5", "post the digest here"),
        (
            "remind us to check the deploy in 10 minutes please",
            "once 2026-11-04T08:25:00+00:00",
            "remind us to check the deploy",
        ),
        ("remind the team in 1 hour to eat", "once 2026-11-04T09:15:00+00:00", "remind the team: eat"),
        ("ping me in 1h30m", "once 2026-11-04T09:45:00+00:00", "ping me"),
        ("提醒我明天上午9点开会", "once 2026-11-05T08:00:00+00:00", "提醒我: 开会"),
        ("提醒我们10分钟后检查部署", "once 2026-11-04T08:25:00+00:00", "提醒我们: 检查部署"),
        ("请在每天早上9点发送摘要,谢谢", "cron 0 9 * * *", "发送摘要"),
    ],
)
def test_a_task_is_told_from_its_time_however_it_is_written(text: str, rule: str, rest: str) -> None:
    found = find_rule(text, BERLIN, NOW, SKILLS)
    assert found is not None
    assert (str(found.rule), found.rest) == (rule, rest)


@pytest.mark.parametrize(
    "text",
    [
        "run sql-report on orders placed daily",
        "report on daily users",
        "report daily active users",
        "report on weekdays vs weekends",
        "daily report",
        "run the weekly report",
        "compare the errors of Monday at 9 and Tuesday at 9",
        "check the cron job that is run every day at 9",
        "write a script that runs every 15 minutes",
        "create a ticket: backup fails every day at 2",
        "show errors after 10 minutes of uptime",
        "run it after a second run",
        "every Monday at 9 check fails",
        "every day at 9 the checkout dies, diagnose it",
        "tomorrow at 9 we deploy, check that all is fine",
        "the deploy starts in 10 minutes",
        "每天9点检查失败",
        "每天早上9点发生了错误",
        "查看每天9点的错误",
        "统计每小时的错误",
        "生成每天的报告",
        "checkout 每天早上9点变慢",
        "今天9点之后的错误",
    ],
)
def test_times_that_say_which_errors_are_meant_plan_nothing(text: str) -> None:
    assert find_rule(text, BERLIN, NOW, SKILLS) is None
