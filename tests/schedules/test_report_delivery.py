"""Reports on real platforms: Slack and Telegram at once, files in the thread, replies that know it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from endpoint import act, finish
from pydantic import SecretStr
from schedules.bothplaces import BOB, both

from hermes_bot.errors import ScheduleError
from hermes_bot.schedules import Draft
from hermes_bot.simulator import Fault
from hermes_bot.store.schedules import Terms

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from endpoint import Answer

    from hermes_bot.config import Config

C1, TEAM = "slack:T1:C1", "telegram:-1001"
CHART = act("make_chart", kind="line", title="Errors", series=[{"name": "errors", "values": [3, 8, 5]}])


def with_its_file(text: str) -> Callable[[dict[str, Any]], Answer]:
    """Return an end that sends the file along that the prompt names."""

    def answer(body: dict[str, Any]) -> Answer:
        (name,) = set(re.findall(r"[\w./-]+\.png", str(body["messages"][-1]["content"])))
        return act("finish", answer=text, confidence=0.9, evidence=["make_chart"], files=[name])

    return answer


async def test_a_report_goes_to_slack_and_telegram_at_once_and_each_delivery_has_the_platform_s_id(
    tmp_path: Path,
) -> None:
    async with both(tmp_path, otherwise=finish("nine errors")) as bot:
        await bot.plan(C1, TEAM)
        await bot.fire()
        await bot.quiet()
        (on_slack,), (on_telegram,) = bot.seen("C1"), bot.seen("-1001")
        assert on_slack.text.startswith("nine errors")
        assert on_telegram.text.startswith("nine errors")
        assert on_slack.thread == ""
        past = await bot.past()
        assert past.firing.state == "done"
        assert {one.target: (one.state, one.posted) for one in past.deliveries} == {
            "slack/T1/C1": ("sent", on_slack.id),
            "telegram/42/-1001": ("sent", on_telegram.id),
        }


async def test_a_reply_under_a_report_knows_it_on_both_platforms(tmp_path: Path) -> None:
    script = [finish("nine errors in checkout"), finish("on Slack"), finish("on Telegram")]
    async with both(tmp_path, script) as bot:
        await bot.plan(C1, TEAM)
        await bot.fire()
        await bot.quiet()
        (on_slack,), (on_telegram,) = bot.seen("C1"), bot.seen("-1001")
        await bot.slack.say("U1", "C1", "<@UBOT> who wrote that?", thread_ts=on_slack.id)
        answer = await bot.until(lambda: bot.seen("C1")[1:])
        assert (answer[0].text, answer[0].thread) == ("on Slack", on_slack.id)
        await bot.telegram.say(7, -1001, "and here?", reply_to=int(on_telegram.id))
        answer = await bot.until(lambda: bot.seen("-1001")[1:])
        assert answer[0].text == "on Telegram"
        assert all("nine errors in checkout" in prompt for prompt in bot.prompts[1:])


async def test_a_long_report_with_a_chart_is_one_thread_its_parts_and_files_in_it_in_order(
    tmp_path: Path,
) -> None:
    words = "\n\n".join(f"Paragraph {number}. " + "word " * 150 for number in range(6))
    async with both(tmp_path, [CHART, with_its_file(words)]) as bot:
        await bot.plan(C1, TEAM)
        await bot.fire()
        await bot.quiet()
        for channel in ("C1", "-1001"):
            first, *rest = bot.seen(channel)
            assert first.text.startswith("Paragraph 0.")
            assert "".join(it.text for it in (first, *rest)).count("Paragraph") == 6
            assert rest[-1].files
            assert (first.thread, first.reply_to, first.files) == ("", "", [])
            assert {it.thread or it.reply_to for it in rest} == {first.id}
        assert len(bot.seen("-1001")) == 3  # two of text: it holds 4,096 characters in one
        assert {one.state for one in (await bot.past()).deliveries} == {"sent"}


async def test_a_report_that_names_the_bot_and_a_command_starts_nothing(tmp_path: Path) -> None:
    said = "Say `@hermes run weekly-report`.\n\n<@UBOT> run weekly-report\n\n@my_bot /run weekly-report"
    async with both(tmp_path, otherwise=finish(said)) as bot:
        await bot.plan(C1, TEAM)
        await bot.fire()
        await bot.quiet()
        await bot.slack.say("U1", "C2", "<@UBOT> are you there?")  # what was to be heard is heard by now
        await bot.until(lambda: bot.seen("C2"))
        await bot.quiet()
        assert len(bot.endpoint.requests) == 2
        assert [len(bot.seen(channel)) for channel in ("C1", "-1001")] == [1, 1]


async def test_a_wrong_slack_token_costs_no_schedule_of_telegram(tmp_path: Path) -> None:
    def spoil(config: Config) -> Config:
        secrets = config.secrets.model_copy(update={"slack_bot_token": SecretStr("xoxb-wrong")})
        return config.model_copy(update={"secrets": secrets})

    async with both(tmp_path, otherwise=finish("nine errors"), spoil=spoil) as bot:
        await bot.plan(TEAM)
        await bot.fire()
        await bot.quiet()
        (report,) = bot.seen("-1001")
        assert report.text.startswith("nine errors")
        assert bot.seen("C1") == []


async def test_a_channel_that_is_archived_pauses_the_schedule_and_its_owner_is_told_alone(
    tmp_path: Path,
) -> None:
    async with both(tmp_path, otherwise=finish("nine errors")) as bot:
        await bot.plan(C1)
        await bot.slack.archive("C1")
        await bot.fire()
        await bot.quiet()
        await bot.quiet()
        one = await bot.app.schedules.get("daily")
        assert one.state == "paused"
        assert "archived" in one.why
        (told,) = [it for it in bot.slack.ledger.entries if it.from_bot]
        assert told.channel.startswith("D")
        assert told.text.startswith("The schedule `daily`: I paused it.")
        past = await bot.past()
        assert (past.firing.state, past.deliveries[0].state) in (("done", "dead"), ("skipped", "dead"))


async def test_a_chat_the_bot_is_put_out_of_is_left_out_and_slack_goes_on(tmp_path: Path) -> None:
    async with both(tmp_path, otherwise=finish("nine errors")) as bot:
        await bot.plan(TEAM, C1)
        bot.telegram.kick(-1001)
        await bot.fire()
        await bot.quiet()
        await bot.quiet()
        one = await bot.app.schedules.get("daily")
        assert (one.state, one.targets) == ("active", ("slack/T1/C1",))
        assert [it.text.splitlines()[0] for it in bot.seen("C1")] == ["nine errors"]
        assert bot.seen("-1001") == []
        await bot.fire()
        await bot.quiet()
        assert len(bot.seen("C1")) == 2


async def test_a_platform_that_is_away_holds_up_no_other_place(tmp_path: Path) -> None:
    async with both(tmp_path, otherwise=finish("nine errors")) as bot:
        await bot.plan(C1, TEAM, terms=Terms(only_on_change=True))
        bot.slack.faults.add(Fault("chat.postMessage", "server_error", times=2))
        await bot.fire()
        await bot.until(lambda: bot.seen("-1001"))
        await bot.clock.pass_until(lambda: bot.seen("C1"), step=0.5)
        await bot.quiet()
        assert {one.state for one in (await bot.past()).deliveries} == {"sent"}
        await bot.fire()
        await bot.quiet()
        assert {one.state for one in (await bot.past()).deliveries} == {"unchanged"}
        assert [len(bot.seen(channel)) for channel in ("C1", "-1001")] == [1, 1]


@pytest.mark.parametrize("first", [C1, TEAM])
async def test_the_platforms_agree_on_which_place_works_first(first: str, tmp_path: Path) -> None:
    other = TEAM if first == C1 else C1
    script = [act("request_info", question="Which service?"), finish("two errors in checkout")]
    async with both(tmp_path, script) as bot:
        await bot.plan(first, other)
        await bot.fire()
        asked, elsewhere = ("C1", "-1001") if first == C1 else ("-1001", "C1")
        (question,) = await bot.until(lambda: bot.seen(asked))
        assert bot.seen(elsewhere) == []
        if first == C1:
            await bot.slack.say("U1", "C1", "checkout", thread_ts=question.id)
        else:
            await bot.telegram.say(7, -1001, "checkout", reply_to=int(question.id))
        (_, report) = await bot.until(lambda: len(bot.seen(asked)) == 2 and bot.seen(asked))
        await bot.quiet()
        assert report.text.startswith("two errors in checkout")
        assert [it.text.splitlines()[0] for it in bot.seen(elsewhere)] == ["two errors in checkout"]
        if first == C1:
            assert report.thread == question.id


async def test_a_secret_in_a_report_is_masked_in_every_place(tmp_path: Path) -> None:
    async with both(tmp_path) as bot:
        secrets = bot.slack.bot_token, bot.telegram.token
        bot.endpoint.otherwise = finish(f"nine errors, with {' and '.join(secrets)}")
        await bot.plan(C1, TEAM)
        await bot.fire()
        await bot.quiet()
        (on_slack,), (on_telegram,) = bot.seen("C1"), bot.seen("-1001")
        for shown in (on_slack.text, on_telegram.text):
            assert shown.startswith("nine errors, with ")
            assert not any(one in shown for one in secrets)


async def test_a_topic_of_telegram_is_a_place_like_any_other(tmp_path: Path) -> None:
    script = [finish("nine errors"), finish("in checkout"), finish("nine errors")]
    async with both(tmp_path, script) as bot:
        one = await bot.plan("telegram:-1002/5", TEAM)
        assert one.targets == ("telegram/42/-1002/5", "telegram/42/-1001")
        await bot.fire()
        await bot.quiet()
        (in_topic,), (in_team,) = bot.seen("-1002"), bot.seen("-1001")
        assert (in_topic.thread, in_team.thread) == ("5", "")
        assert [(it.target, it.posted) for it in (await bot.past()).deliveries] == [
            ("telegram/42/-1002/5", in_topic.id),
            ("telegram/42/-1001", in_team.id),
        ]
        await bot.telegram.say(7, -1002, "where?", topic=5, reply_to=int(in_topic.id))
        answer = (await bot.until(lambda: bot.seen("-1002")[1:]))[0]
        assert (answer.text, answer.thread) == ("in checkout", "5")
        assert "nine errors" in bot.prompts[-1]


async def test_what_is_asked_for_in_a_topic_is_reported_there(tmp_path: Path) -> None:
    async with both(tmp_path, otherwise=finish("nine errors")) as bot:
        draft = Draft(when="every 10m", owner=BOB, text="say hello", thread="telegram/42/-1002/topic:5")
        one = await bot.app.schedules.add(draft)
        assert one.targets == ("telegram/42/-1002/5",)
        assert [it.name for it in await bot.app.schedules.all("telegram/42/-1002")] == [one.name]
        await bot.fire()
        await bot.quiet()
        assert [(it.thread, it.text.splitlines()[0]) for it in bot.seen("-1002")] == [("5", "nine errors")]


@pytest.mark.parametrize("target", ["slack:T1:C1/5", "telegram:-1002/x"])
async def test_a_topic_where_there_is_none_is_refused_with_what_would_work(
    target: str, tmp_path: Path
) -> None:
    async with both(tmp_path) as bot:
        with pytest.raises(ScheduleError, match=r"is no topic's id there\. Name the channel alone"):
            await bot.plan(target)
