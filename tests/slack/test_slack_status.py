"""While the bot works people see that it does; when it ends, and after a crash, nothing of that is left."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from slackdesk import QUICK, Core, Desk, Memory, desk, key_of, slack_with_people

from hermes_bot.messages import Press, Reply
from hermes_bot.simulator import Fault, FaultPlan
from hermes_bot.simulator.faults import ALWAYS

SET = "assistant.threads.setStatus"
BRIEF = replace(QUICK, run_message=60.0)  # no message for what ends before


async def thread_in(it: Desk) -> str:
    return await it.sim.say("U1", "C1", "<@UBOT> go")


async def test_a_status_is_shown_changed_and_cleared() -> None:
    async with desk(pauses=BRIEF) as it:
        ts = await thread_in(it)
        await it.adapter.show_status(key_of(ts), "reading 3 of 7 files", "r1")
        await it.until(lambda: it.sim.statuses["C1", ts][-1:] == ["reading 3 of 7 files"])
        await it.adapter.show_status(key_of(ts), "reading 4 of 7 files", "r1")
        await it.until(lambda: it.sim.statuses["C1", ts][-1:] == ["reading 4 of 7 files"])
        await it.adapter.show_status(key_of(ts), "", "r1")
        assert it.sim.statuses["C1", ts][-1] == ""


async def test_a_status_that_does_not_change_is_sent_again_before_slack_forgets_it() -> None:
    async with desk(pauses=BRIEF) as it:
        ts = await thread_in(it)
        await it.adapter.show_status(key_of(ts), "thinking", "r1")
        await it.until(lambda: len([one for one in it.calls(SET) if one["status"] == "thinking"]) >= 3)


async def test_three_hundred_changes_are_a_few_calls_and_the_newest_wins() -> None:
    async with desk(pauses=replace(BRIEF, run_edit=0.1)) as it:
        ts = await thread_in(it)
        for number in range(300):
            await it.adapter.show_status(key_of(ts), f"step {number}", "r1")
        await it.until(lambda: it.sim.statuses["C1", ts][-1:] == ["step 299"])
        assert len(it.calls(SET)) < 30


async def test_longer_work_has_a_message_with_a_stop_button_that_goes_with_it() -> None:
    async with desk() as it:
        ts = await thread_in(it)
        await it.hear(2)
        await it.adapter.show_status(key_of(ts), "reading", "r1")
        shown = await it.sim.ledger.wait_for(lambda entry: "reading" in entry.text and entry.from_bot)
        assert shown.thread == ts
        await it.adapter.show_status(key_of(ts), "counting", "r1")
        await it.until(lambda: "counting" in shown.text)
        await it.sim.press("U1", "C1", shown.id, label="Stop")
        assert (await it.core.next()).press == Press("s-r1", 0)
        await it.adapter.show_status(key_of(ts), "", "r1")
        assert shown.deleted
        assert it.records.texts.get(("status", str(key_of(ts)))) is None


async def test_what_a_crash_leaves_is_removed_at_the_next_start() -> None:
    sim, records = slack_with_people(), Memory()
    async with desk(sim, records=records) as it:
        ts = await thread_in(it)
        await it.adapter.show_status(key_of(ts), "reading", "r1")
        shown = await sim.ledger.wait_for(lambda entry: "reading" in entry.text and entry.from_bot)
        await it.until(lambda: records.texts.get(("status", str(key_of(ts)))) == shown.id)
    assert not shown.deleted  # nobody said that the work ended: the program died
    async with desk(sim, records=records) as it:
        await it.until(lambda: shown.deleted)
        await it.until(lambda: sim.statuses["C1", ts][-1] == "")
        await it.until(lambda: not records.texts.get(("status", str(key_of(ts)))))


async def test_a_status_message_whose_receipt_was_lost_is_removed_too() -> None:
    faults = FaultPlan(Fault("chat.postMessage", "lost_answer"))
    async with desk(slack_with_people(faults)) as it:
        ts = await thread_in(it)
        await it.adapter.show_status(key_of(ts), "reading", "r1")
        shown = await it.sim.ledger.wait_for(lambda entry: "reading" in entry.text and entry.from_bot)
        await it.adapter.show_status(key_of(ts), "", "r1")
        await it.until(lambda: shown.deleted)


async def test_where_the_status_line_is_refused_a_reaction_says_the_same_and_goes() -> None:
    faults = FaultPlan(Fault(SET, "refuse", times=ALWAYS, error="not_allowed_token_type"))
    async with desk(slack_with_people(faults), pauses=BRIEF) as it:
        ts = await thread_in(it)
        await it.adapter.show_status(key_of(ts), "reading", "r1")
        await it.until(lambda: it.calls("reactions.add"))
        assert it.calls("reactions.add")[0]["timestamp"] == ts
        await it.adapter.show_status(key_of(ts), "", "r1")
        assert it.calls("reactions.remove")[0]["name"] == "eyes"


async def test_no_failure_of_decoration_reaches_the_work() -> None:
    faults = FaultPlan(
        Fault(SET, "server_error", times=ALWAYS),
        Fault("chat.update", "rate_limited", times=ALWAYS, retry_after=0.01),
        Fault("reactions.add", "refuse", times=ALWAYS, error="missing_scope"),
    )
    async with desk(slack_with_people(faults)) as it:
        ts = await thread_in(it)
        for number in range(5):
            await it.adapter.show_status(key_of(ts), f"step {number}", "r1")
            await asyncio.sleep(0)
        posted = await it.post("the answer", ts)
        await it.adapter.show_status(key_of(ts), "", "r1")
        assert [entry.text for entry in it.sim.ledger.seen("C1", ts) if entry.id == posted] == ["the answer"]


async def test_status_messages_leave_room_for_the_edits_of_answers() -> None:
    async with desk(pauses=replace(QUICK, minute=60.0, run_message=0.0)) as it:
        threads = [await thread_in(it) for _ in range(4)]
        for number in range(40):
            for ts in threads:
                await it.adapter.show_status(key_of(ts), f"step {number}", f"r{ts}")
            await asyncio.sleep(0.02)
        assert len(it.calls("chat.update")) <= 30


async def test_forty_long_runs_in_one_channel_do_not_crowd_it() -> None:
    async with desk(pauses=replace(QUICK, run_message=0.0, run_post=60.0)) as it:
        threads = [await thread_in(it) for _ in range(40)]
        for ts in threads:
            await it.adapter.show_status(key_of(ts), "reading", f"r{ts}")
        await it.until(lambda: len(it.calls(SET)) >= 80)  # all of them were looked at again and again
        assert len(it.calls("chat.postMessage")) == 1


async def test_who_does_not_wait_for_the_end_of_a_status_still_gets_it() -> None:
    faults = FaultPlan(Fault(SET, "slow", delay=0.2, times=ALWAYS))
    async with desk(slack_with_people(faults), pauses=BRIEF) as it:
        ts = await thread_in(it)
        await it.adapter.show_status(key_of(ts), "reading", "r1")
        await it.until(lambda: "reading" in it.sim.statuses["C1", ts])
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await it.adapter.show_status(key_of(ts), "", "r1")
        await it.until(lambda: it.sim.statuses["C1", ts][-1] == "")


async def test_a_message_that_slack_did_not_take_yet_is_tried_again() -> None:
    faults = FaultPlan(Fault("chat.postMessage", "rate_limited", times=2, retry_after=0))
    async with desk(slack_with_people(faults)) as it:
        ts = await thread_in(it)
        await it.adapter.show_status(key_of(ts), "reading", "r1")
        await it.sim.ledger.wait_for(lambda entry: "reading" in entry.text and entry.from_bot)


async def test_a_thread_without_a_root_and_an_adapter_that_does_not_run_show_nothing() -> None:
    async with desk() as it:
        await it.adapter.show_status(key_of("new:x"), "reading", "r1")
        assert it.calls(SET) == []
    await it.adapter.show_status(key_of("1.1"), "reading", "r1")


async def test_statuses_that_hang_hold_up_no_answer_however_many_they_are() -> None:
    sim = slack_with_people(FaultPlan(Fault(SET, "hang", times=ALWAYS)))
    core = Core(replies={"skills": Reply("the list")})
    async with desk(sim, core=core) as it:
        for number in range(2_500):
            await it.adapter.show_status(key_of(f"1767225600.{number:06}"), "working on it…", f"r{number}")
        ts = await it.sim.say("U1", "C1", "<@UBOT> skills")
        await it.sim.ledger.wait_for(lambda one: one.only_for == "U1" and one.text == "the list", timeout=1.0)
        await asyncio.wait_for(it.post("42", ts), 1.0)


PLAN = "reading\n✔ find the upstream\n▸ read \\*its\\* log <!channel>\n○ name the cause"


async def test_the_status_line_has_room_for_what_is_done_and_the_message_for_the_plan() -> None:
    async with desk() as it:
        ts = await thread_in(it)
        await it.adapter.show_status(key_of(ts), PLAN, "r1")
        shown = await it.sim.ledger.wait_for(lambda entry: "reading" in entry.text and entry.from_bot)
        assert shown.text.replace("\u200b", "").splitlines() == [
            "⏳ reading",
            "✔ find the upstream",
            "▸ read *its* log &lt;!channel&gt;",
            "○ name the cause",
        ]
        await it.adapter.show_status(key_of(ts), PLAN.replace("○", "▸").replace("▸ read", "✔ read"), "r1")
        await it.until(lambda: "✔ read" in shown.text)
        await it.adapter.show_status(key_of(ts), f"reading\n{'x' * 90_000}", "r1")
        await it.until(lambda: "xxx" in shown.text)
        assert len(shown.text) < 2_000
        assert {one["status"] for one in it.calls(SET)} == {"reading"}
        assert it.sim.complaints == []
