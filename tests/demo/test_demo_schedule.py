"""A newcomer has the demo report by itself: asked back, confirmed, reported at nine; the report answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from clock import JumpClock
from demo.test_demo_consent import GROUP, NAMES, action_of, words
from demo.visiting import INCIDENTS, visiting

from hermes_bot.demo.guide import PLAN, RUN_NOW, steps
from hermes_bot.demo.world import SEATS

if TYPE_CHECKING:
    from pathlib import Path

PLACES = pytest.mark.parametrize("place", [INCIDENTS, GROUP], ids=["slack", "telegram"])


def saying(text: str) -> Any:
    return lambda kind, told: kind == "message" and text in words(told)


@PLACES
async def test_words_become_a_report_with_its_chart_at_nine_that_answers(
    place: dict[str, str], tmp_path: Path
) -> None:
    clock = JumpClock()
    async with visiting(tmp_path, clock=clock) as page, page.listening() as events:
        await page.act("say", **place, text=f"{NAMES[place['platform']]} {PLAN}")
        card = await events.until(saying("Confirm"))
        assert all(part in words(card) for part in ("weekdays at 09:00 (UTC)", "here", "Next:", "Cancel"))
        assert await page.demo.app.schedules.all() == []
        await page.act("press", **place, message=card["id"], action=action_of(card, "Confirm"))
        await events.until(saying("Created: "))
        (one,) = await page.demo.app.schedules.all()
        assert one.planned_at is not None
        assert (one.planned_at.hour, one.planned_at.minute) == (9, 0)
        assert one.planned_at.weekday() < 5
        clock.advance((one.planned_at - clock.now()).total_seconds() + 1)
        report = await events.until(saying("From the schedule"))
        assert report["thread"] == ""  # a post of its own, at the channel's top
        assert report["replyTo"] is None
        await events.until(
            lambda kind, told: (
                kind == "message" and [it["name"] for it in told["files"]] == ["errors-by-hour.png"]
            )
        )
        where = {"thread": report["id"]} if place is INCIDENTS else {"reply_to": report["id"]}
        await page.act("say", **place, **where, text="expand item 2")
        await events.until(saying("Item 2 of payments"))
        seen = await page.messages(platform=place["platform"])
        assert len([it for it in seen if "From the schedule" in words(it)]) == 1


@PLACES
async def test_the_guide_s_steps_on_schedules_do_what_they_say(place: dict[str, str], tmp_path: Path) -> None:
    plan, run_now = (
        next(one for one in steps(SEATS[0])[place["platform"]] if text in one["text"])
        for text in (PLAN, RUN_NOW)
    )
    async with visiting(tmp_path) as page, page.listening() as events:
        there = {"platform": place["platform"], "channel": plan["channel"]}
        await page.act("say", **there, text=plan["text"])
        card = await events.until(saying("Confirm"))
        await page.act("press", **there, message=card["id"], action=action_of(card, "Confirm"))
        await events.until(saying("Created: "))
        await page.act("say", **there, text=run_now["text"])
        await events.until(saying("runs now"))
        await events.until(saying("From the schedule"))
