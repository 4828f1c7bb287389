"""How people see that a run works, and that nothing of it stays behind."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from telegram_desk import ANN, FORUM, TEAM, Desk, desk_at, place, running, with_faults

from hermes_bot.errors import PostGone
from hermes_bot.messages import Incoming, Press
from hermes_bot.simulator import Fault, FaultPlan
from hermes_bot.simulator.faults import ALWAYS

RUN = "run7"


async def working(desk: Desk, chat: int = TEAM, *, topic: int = 0) -> Incoming:
    """Let a person ask something, and show that a run began."""
    before = len(desk.heard)
    await desk.sim.say(ANN, chat, "@my_bot dig", topic=topic)
    asked = (await desk.hear(before + 1))[-1]
    await desk.adapter.show_status(asked.thread, "thinking", RUN)
    await desk.until(lambda: desk.sim.actions)
    return asked


async def shown(desk: Desk, chat: int = TEAM) -> None:
    """Let ten seconds pass, and wait for the status message."""
    await desk.until(lambda: 4.5 in desk.clock.slept)  # typing is shown, and nothing else is due yet
    desk.clock.advance(10)
    await desk.until(lambda: desk.seen(chat) and desk.records.kept)  # and its receipt is here


async def test_typing_is_shown_at_once_and_again_as_long_as_the_run_works() -> None:
    async with desk_at() as desk:
        await working(desk)
        for times in (1, 2):
            await desk.until(lambda times=times: desk.clock.slept.count(4.5) == times)  # type: ignore[misc]
            desk.clock.advance(4.5)
            await desk.until(lambda times=times: len(desk.sim.actions) > times)  # type: ignore[misc]
        assert {action.action for action in desk.sim.actions} == {"typing"}
        assert desk.seen(TEAM) == []


async def test_typing_is_shown_in_the_topic_and_in_general() -> None:
    async with desk_at() as desk:
        await working(desk, FORUM, topic=5)
        await working(desk, FORUM)
        await desk.until(lambda: len(desk.sim.actions) == 2)
        assert [action.topic for action in desk.sim.actions] == [5, 1]
        assert desk.sim.complaints == []


async def test_after_ten_seconds_a_message_says_what_is_done_and_can_stop_it() -> None:
    async with desk_at() as desk:
        asked = await working(desk)
        await desk.adapter.show_status(asked.thread, "reading 3 of 7 files", RUN)
        await shown(desk)
        (entry,) = desk.seen(TEAM)
        assert (entry.text, entry.reply_to) == ("reading 3 of 7 files", asked.message_id)
        await desk.sim.press(ANN, TEAM, int(entry.id), label="Stop")
        assert desk.heard[-1].press == Press(f"s-{RUN}", 0)
        assert desk.heard[-1].thread == asked.thread


async def test_the_runs_answer_takes_the_message_and_nothing_else_does() -> None:
    async with desk_at() as desk:
        asked = await working(desk)
        await shown(desk)
        since = desk.clock.at
        question = desk.question(asked, "Where?", "here")
        other = desk.answer(asked, "of another run", key="run8/answer")
        for message in (question, other):
            assert (await desk.adapter.place(message)).posted != desk.seen(TEAM)[0].id
        answer = desk.answer(asked, "dug up", key=f"{RUN}/answer")
        placed = await desk.adapter.place(answer)
        assert (placed.posted, placed.since) == (desk.seen(TEAM)[0].id, since)
        await desk.adapter.edit(placed.posted, answer)
        await desk.adapter.show_status(asked.thread, "", RUN)
        assert (desk.seen(TEAM)[0].text, desk.seen(TEAM)[0].buttons) == ("dug up", [])
        assert desk.records.kept == {}


async def test_a_run_that_ends_without_an_answer_leaves_no_message() -> None:
    async with desk_at() as desk:
        asked = await working(desk)
        await shown(desk)
        await desk.adapter.show_status(asked.thread, "", RUN)
        await desk.slept(4.0)
        await desk.until(lambda: not desk.seen(TEAM))
        await desk.until(lambda: desk.records.kept == {})


@pytest.mark.parametrize("run", [RUN, ""])
async def test_what_is_shown_before_there_is_a_run_is_typing_and_ends_with_it(run: str) -> None:
    async with desk_at() as desk:
        await desk.sim.say(ANN, TEAM, "@my_bot dig")
        (asked,) = await desk.hear(1)
        await desk.adapter.show_status(asked.thread, "thinking", "")
        for times in (1, 2, 3):
            await desk.until(lambda times=times: desk.clock.slept.count(4.5) == times)  # type: ignore[misc]
            desk.clock.advance(4.5)
            await desk.until(lambda times=times: len(desk.sim.actions) > times)  # type: ignore[misc]
        assert desk.seen(TEAM) == []
        await desk.adapter.show_status(asked.thread, "", run)
        await desk.adapter.show_status(asked.thread, "thinking", RUN)  # the next one begins anew
        await desk.until(lambda: len(desk.sim.actions) == 5)
        assert desk.seen(TEAM) == []


async def test_a_short_run_shows_no_message_at_all() -> None:
    async with desk_at() as desk:
        asked = await working(desk)
        await desk.show(desk.answer(asked, "quick", key=f"{RUN}/answer"))
        await desk.adapter.show_status(asked.thread, "", RUN)
        assert [entry.text for entry in desk.seen(TEAM)] == ["quick"]


async def test_what_a_crash_left_behind_goes_at_the_next_start_and_an_answers_place_stays() -> None:
    async with place() as sim:
        desk = Desk(sim)
        sim.faults.add(Fault("deleteMessage", "server_error", times=2))  # the process dies before it can
        async with running(desk):
            asked = await working(desk)
            await shown(desk)
            await desk.adapter.show_status(asked.thread, "thinking", "run9")
            await desk.until(lambda: len(desk.sim.actions) > 1 and desk.clock.slept[-1] == 4.5)
            desk.clock.advance(10)
            await desk.until(lambda: len(desk.seen(TEAM)) == 2)
        left, kept = desk.seen(TEAM)
        desk.records.threads[str(TEAM), kept.id] = asked.thread  # the outbox stored it as an answer's place
        async with running(desk):
            await desk.until(lambda: desk.records.kept == {})
            assert [entry.id for entry in desk.seen(TEAM)] == [kept.id]
            assert left.deleted


async def test_many_updates_are_few_edits_and_the_newest_is_shown() -> None:
    async with desk_at() as desk:
        asked = await working(desk)
        await shown(desk)
        for second in range(30):
            for step in range(10):
                await desk.adapter.show_status(asked.thread, f"step {second}.{step}", RUN)
            desk.clock.advance(1)
            await desk.until(lambda: desk.sim.calls)
        desk.clock.advance(60)
        await desk.until(lambda: desk.seen(TEAM)[0].text == "step 29.9")
        assert len(desk.called("editMessageText")) <= 11


async def test_a_group_whose_budget_is_used_by_answers_gets_no_status_edits() -> None:
    async with desk_at(place(speed=1_000_000)) as desk:
        asked = await working(desk)
        await shown(desk)
        for number in range(10):
            await desk.show(desk.answer(asked, f"answer {number}"))
        before = desk.seen(TEAM)[0].text
        await desk.adapter.show_status(asked.thread, "reading", RUN)
        desk.clock.advance(5)
        await desk.until(lambda: len(desk.sim.actions) >= 2)
        assert desk.seen(TEAM)[0].text == before
        desk.clock.advance(61)
        await desk.until(lambda: desk.seen(TEAM)[0].text == "reading")


async def test_a_status_that_cannot_be_shown_costs_no_answer() -> None:
    plan = FaultPlan(
        Fault("sendChatAction", "rate_limited", times=ALWAYS, retry_after=3),
        Fault("deleteMessage", "server_error", times=ALWAYS),
    )
    async with desk_at(with_faults(plan)) as desk:
        await desk.sim.say(ANN, TEAM, "@my_bot dig")
        (asked,) = await desk.hear(1)
        await desk.adapter.show_status(asked.thread, "thinking", RUN)
        await desk.show(desk.answer(asked, "dug up", key=f"{RUN}/answer"))
        await desk.adapter.show_status(asked.thread, "", RUN)
        assert [entry.text for entry in desk.seen(TEAM)] == ["dug up"]


async def test_a_status_message_that_people_delete_does_not_come_again() -> None:
    async with desk_at() as desk:
        asked = await working(desk)
        await shown(desk)
        entry = desk.seen(TEAM)[0]
        desk.sim.set_status(TEAM, ANN, "administrator")
        await desk.sim.delete(ANN, TEAM, int(entry.id))
        await desk.adapter.show_status(asked.thread, "reading", RUN)
        desk.clock.advance(5)
        await desk.until(lambda: desk.called("editMessageText"))
        answer = desk.answer(asked, "dug up", key=f"{RUN}/answer")
        assert (await desk.adapter.place(answer)).posted != entry.id
        assert len(desk.seen(TEAM)) == 1


async def test_an_answer_to_a_status_message_belongs_to_its_thread() -> None:
    async with desk_at() as desk:
        asked = await working(desk)
        await shown(desk)
        desk.adapter._chains._posted.clear()  # as after a restart
        await desk.sim.say(ANN, TEAM, "how long?", reply_to=int(desk.seen(TEAM)[0].id))
        assert (await desk.hear(2))[1].thread == asked.thread


async def test_a_status_message_is_given_to_its_answer_again_as_long_as_it_is_not_shown() -> None:
    async with desk_at() as desk:
        asked = await working(desk)
        await shown(desk)
        answer = desk.answer(asked, "dug up", key=f"{RUN}/answer")
        first = await desk.adapter.place(answer)
        await desk.adapter.show_status(asked.thread, "", RUN)
        assert await desk.adapter.place(answer) == first  # where it was placed could not be stored
        await desk.adapter.edit(first.posted, answer)
        assert (await desk.adapter.place(answer)).posted != first.posted


async def test_an_answers_place_that_is_gone_is_not_given_again() -> None:
    async with desk_at() as desk:
        asked = await working(desk)
        await shown(desk)
        answer = desk.answer(asked, "dug up", key=f"{RUN}/answer")
        first = await desk.adapter.place(answer)
        desk.sim.set_status(TEAM, ANN, "administrator")
        await desk.sim.delete(ANN, TEAM, int(first.posted))
        with pytest.raises(PostGone):
            await desk.adapter.edit(first.posted, answer)
        assert desk.seen(TEAM) == []
        assert await desk.show(answer) != first.posted
        assert desk.records.kept == {}


async def test_a_removal_that_fails_is_tried_again() -> None:
    async with desk_at() as desk:
        asked = await working(desk)
        await shown(desk)
        desk.sim.faults.add(Fault("deleteMessage", "server_error", times=2))
        await desk.adapter.show_status(asked.thread, "", RUN)
        for seconds in (4.0, 2.0, 10.0):
            await desk.slept(seconds)
        await desk.until(lambda: desk.records.kept == {})
        assert desk.seen(TEAM) == []


async def test_a_chat_with_many_runs_is_typed_in_once() -> None:
    async with desk_at() as desk:
        asked = await working(desk)
        for number in range(50):
            thread = replace(asked.thread, thread=str(1_000 + number))
            await desk.adapter.show_status(thread, "thinking", f"other{number}")
        await desk.until(lambda: desk.clock.slept.count(4.5) == 51)
        assert len(desk.sim.actions) == 1


async def test_typing_that_hangs_holds_up_no_answer_however_many_work() -> None:
    async with desk_at(with_faults(FaultPlan(Fault("sendChatAction", "hang", times=ALWAYS)))) as desk:
        await desk.sim.say(ANN, TEAM, "@my_bot dig")
        (asked,) = await desk.hear(1)
        for number in range(200):
            thread = replace(asked.thread, channel=str(-2_000 - number))
            await desk.adapter.show_status(thread, "thinking", f"other{number}")
        async with asyncio.timeout(2):
            await desk.show(desk.answer(asked, "dug up"))
        assert [entry.text for entry in desk.seen(TEAM)] == ["dug up"]


async def test_the_plan_stands_under_what_is_done_and_changes_with_it() -> None:
    plan = "reading\n✔ find the upstream\n▸ read \\*its\\* log\n○ name the cause"
    async with desk_at() as desk:
        asked = await working(desk)
        await desk.adapter.show_status(asked.thread, plan, RUN)
        await shown(desk)
        (entry,) = desk.seen(TEAM)
        assert entry.text == "reading\n✔ find the upstream\n▸ read *its* log\n○ name the cause"
        await desk.adapter.show_status(asked.thread, f"reading\n{'&' * 9_000}", RUN)
        await desk.until(lambda: 3.0 in desk.clock.slept or desk.seen(TEAM)[0].text != entry.text)
        desk.clock.advance(3)
        await desk.until(lambda: "&&&" in desk.seen(TEAM)[0].text)
        assert desk.sim.complaints == []
