"""A task that is asked for at a time to come is seen; a question and a look back are not taken for one."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hermes_bot.errors import ScheduleError
from hermes_bot.timing import find_rule

BERLIN = "Europe/Berlin"
NOW = datetime(2026, 11, 4, 8, 15, tzinfo=UTC)  # 09:15 in Berlin


@pytest.mark.parametrize(
    ("text", "rule", "said", "rest"),
    [
        (
            "every weekday at 9 post the error digest here",
            "cron 0 9 * * 1-5",
            "every weekday at 9",
            "post the error digest here",
        ),
        (
            "Every weekday at 9, post the error digest here.",
            "cron 0 9 * * 1-5",
            "Every weekday at 9",
            "post the error digest here",
        ),
        (
            "post the error digest here every weekday at 9",
            "cron 0 9 * * 1-5",
            "every weekday at 9",
            "post the error digest here",
        ),
        (
            "remind us in 10 minutes to check the deploy",
            "once 2026-11-04T08:25:00+00:00",
            "in 10 minutes",
            "remind us: check the deploy",
        ),
        (
            "remind me tomorrow at 9 to call them",
            "once 2026-11-05T08:00:00+00:00",
            "tomorrow at 9",
            "remind me: call them",
        ),
        ("每天早上9点发送错误摘要到这里", "cron 0 9 * * *", "每天早上9点", "发送错误摘要到这里"),
        (
            "please, weekdays at 9, run log-diagnosis with service=checkout",
            "cron 0 9 * * 1-5",
            "weekdays at 9",
            "run log-diagnosis with service=checkout",
        ),
        (
            "can you post the weekly report every Monday at 9?",
            "cron 0 9 * * 1",
            "every Monday at 9",
            "post the weekly report",
        ),
        ("every Monday at 9 error-digest", "cron 0 9 * * 1", "every Monday at 9", "error-digest"),
        ("error-digest every weekday at 9", "cron 0 9 * * 1-5", "every weekday at 9", "error-digest"),
        (
            "run error-digest every weekday at 9 for checkout",
            "cron 0 9 * * 1-5",
            "every weekday at 9",
            "run error-digest for checkout",
        ),
        ("10分钟后提醒我们检查部署", "once 2026-11-04T08:25:00+00:00", "10分钟后", "提醒我们检查部署"),
        ("请每周一上午9点发周报", "cron 0 9 * * 1", "每周一上午9点", "发周报"),
        ("check checkout in 10 minutes", "once 2026-11-04T08:25:00+00:00", "in 10 minutes", "check checkout"),
        ("in 10 minutes, post hello", "once 2026-11-04T08:25:00+00:00", "in 10 minutes", "post hello"),
        (
            "every 15 minutes, check the health",
            "every PT900S@2026-11-04T08:15:00+00:00",
            "every 15 minutes",
            "check the health",
        ),
        (
            "remind us every Friday at 16:00 that the week ends",
            "cron 0 16 * * 5",
            "every Friday at 16:00",
            "remind us: the week ends",
        ),
        ("2026-12-24 at 9 post hello", "once 2026-12-24T08:00:00+00:00", "2026-12-24 at 9", "post hello"),
    ],
)
def test_a_task_for_a_time_to_come_is_seen_and_told_from_its_time(
    text: str, rule: str, said: str, rest: str
) -> None:
    found = find_rule(text, BERLIN, NOW, ("error-digest",))
    assert found is not None
    assert (str(found.rule), found.said, found.rest) == (rule, said, rest)


@pytest.mark.parametrize(
    "text",
    [
        "why did checkout fail at 9 yesterday?",
        "what happened between 9 and 10?",
        "errors in the last 10 minutes",
        "how many errors every hour?",
        "why do we see timeouts every Monday at 9?",
        "diagnose checkout since 9",
        "show me today at 9",
        "每天的错误有多少",
        "为什么每天9点出错",
        "diagnose timeouts that happen every Monday at 9",
        "tell me why checkout fails every Monday at 9",
        "every Monday at 9 the service crashes",
        "check the errors of the last 10 minutes",
        "run log-diagnosis service=checkout since=9:00",
        "post the digest, please",
    ],
)
def test_a_task_for_now_that_speaks_of_time_is_none_for_later(text: str) -> None:
    assert find_rule(text, BERLIN, NOW, ("error-digest",)) is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("post it on Friday at 17:00", "That has two readings. Say `every Friday at 17:00`, or `2026"),
        ("report the errors every Monday", "At what time? Say it with one: `every Monday at 9:00`."),
        ("send the digest at 9", "That has two readings. Say `every day at 09:00` or `tomorrow"),
        (
            "send us the digest on Friday at 17:00",
            "That has two readings. Say `every Friday at 17:00`, or `2026",
        ),
    ],
)
def test_a_task_for_a_time_that_is_not_clear_is_refused(text: str, says: str) -> None:
    with pytest.raises(ScheduleError) as refused:
        find_rule(text, BERLIN, NOW, ("error-digest",))
    assert says in str(refused.value)
