"""What the bot says stands on Slack where it belongs, once; each refusal means what Slack means by it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from slackdesk import QUICK, Desk, adapter_for, desk, key_of, slack_with_people

from hermes_bot.errors import (
    AdapterError,
    Ambiguous,
    BotBroken,
    ContentRefused,
    PlaceGone,
    PostGone,
    RateLimited,
    Transient,
)
from hermes_bot.messages import Attachment, Outgoing
from hermes_bot.simulator import Fault, FaultPlan
from hermes_bot.simulator.faults import ALWAYS

if TYPE_CHECKING:
    from pathlib import Path

POST = "chat.postMessage"


async def thread_in(it: Desk, channel: str = "C1") -> str:
    """Return a thread that a person opened."""
    return await it.sim.say("U1", channel, "<@UBOT> go")


async def test_a_post_stands_in_its_thread_with_its_key_and_nothing_in_the_channel() -> None:
    async with desk() as it:
        ts = await thread_in(it)
        posted = await it.post("hello", ts, "o-1")
        entry = await it.sim.ledger.wait_for(lambda one: one.id == posted)
        assert (entry.thread, entry.text, entry.key) == (ts, "hello", "o-1")
        (call,) = it.calls(POST)
        assert (call["parse"], call["unfurl_links"], call["unfurl_media"]) == ("none", False, False)
        assert not [one for one in it.sim.ledger.seen("C1", "") if one.from_bot]


async def test_a_new_thread_is_opened_at_the_channels_top() -> None:
    async with desk() as it:
        posted = await it.adapter.post(Outgoing("k", key_of("new:report-1"), "weekly report"))
        entry = await it.sim.ledger.wait_for(lambda one: one.id == posted)
        assert entry.thread == ""


async def test_where_the_root_was_deleted_nothing_is_left_at_the_channels_top() -> None:
    async with desk() as it:
        ts = await thread_in(it)
        await it.sim.delete("U1", "C1", ts)
        with pytest.raises(PlaceGone, match="deleted"):
            await it.post("hello", ts)
        assert not [one for one in it.sim.ledger.seen("C1") if one.from_bot]


async def test_a_rate_limit_says_when_to_come_back_and_nothing_was_posted() -> None:
    faults = FaultPlan(Fault(POST, "rate_limited", retry_after=7))
    async with desk(slack_with_people(faults)) as it:
        ts = await thread_in(it)
        with pytest.raises(RateLimited) as caught:
            await it.post("hello", ts)
        assert caught.value.retry_after == 7
        await it.post("hello", ts)
        assert len(it.sim.ledger.seen("C1", ts)) == 2


@pytest.mark.parametrize("kind", ["lost_answer", "error_after"])
async def test_a_post_whose_answer_is_lost_is_found_by_its_key(kind: str) -> None:
    faults = FaultPlan(Fault(POST, kind))  # type: ignore[arg-type]
    async with desk(slack_with_people(faults)) as it:
        ts = await thread_in(it)
        with pytest.raises(Ambiguous):
            await it.post("hello", ts, "o-7")
        found = await it.adapter.find(Outgoing("o-7", key_of(ts), "hello"))
        assert found == it.sim.ledger.seen("C1", ts)[-1].id
        assert len(it.calls(POST)) == 1  # the library repeats nothing by itself


@pytest.mark.parametrize("kind", ["server_error", "garbage", "hang"])
async def test_a_post_that_never_arrived_is_proven_absent(kind: str) -> None:
    faults = FaultPlan(Fault(POST, kind))  # type: ignore[arg-type]
    async with desk(slack_with_people(faults)) as it:
        ts = await thread_in(it)
        with pytest.raises(Ambiguous):
            await it.post("hello", ts, "o-7")
        assert await it.adapter.find(Outgoing("o-7", key_of(ts), "hello")) is None


async def test_a_post_at_the_channels_top_is_found_by_its_key_too() -> None:
    async with desk() as it:
        message = Outgoing("o-9", key_of("new:report-1"), "weekly report")
        posted = await it.adapter.post(message)
        assert await it.adapter.find(message) == posted
        assert await it.adapter.find(Outgoing("o-10", message.thread, "another")) is None


async def test_a_post_far_down_a_long_thread_is_found() -> None:
    async with desk() as it:
        ts = await thread_in(it)
        for number in range(260):
            await it.sim.say("U2", "C1", f"{number}", thread_ts=ts)
        posted = await it.post("hello", ts, "o-1")
        assert await it.adapter.find(Outgoing("o-1", key_of(ts), "hello")) == posted


async def test_where_slack_cannot_be_asked_nothing_is_said_about_the_post() -> None:
    faults = FaultPlan(Fault("conversations.replies", "server_error", times=ALWAYS))
    async with desk(slack_with_people(faults)) as it:
        ts = await thread_in(it)
        with pytest.raises(AdapterError):
            await it.adapter.find(Outgoing("o-7", key_of(ts), "hello"))


@pytest.mark.parametrize(
    ("code", "error", "says"),
    [
        ("is_archived", PlaceGone, "archived"),
        ("not_in_channel", PlaceGone, "invite"),
        ("restricted_action", PlaceGone, "administrator"),
        ("restricted_action_read_only_channel", PlaceGone, "read-only"),
        ("invalid_auth", BotBroken, "HERMES_SLACK_BOT_TOKEN"),
        ("account_inactive", BotBroken, "HERMES_SLACK_BOT_TOKEN"),
        ("token_revoked", BotBroken, "HERMES_SLACK_BOT_TOKEN"),
        ("service_unavailable", Transient, "just now"),
        ("team_added_to_org", Transient, "just now"),
        ("fatal_error", Ambiguous, "may have"),
        ("internal_error", Ambiguous, "may have"),
        ("ratelimited", RateLimited, "wait"),
        ("metadata_too_large", ContentRefused, "form"),
        ("no_text", ContentRefused, "no text"),
        ("invented_yesterday", AdapterError, "the log"),
    ],
)
async def test_each_refusal_means_what_slack_means_by_it(
    code: str, error: type[AdapterError], says: str
) -> None:
    faults = FaultPlan(Fault(POST, "refuse", times=ALWAYS, error=code))
    async with desk(slack_with_people(faults)) as it:
        ts = await thread_in(it)
        with pytest.raises(error, match=says) as caught:
            await it.post("hello", ts)
        assert "invented" not in str(caught.value)  # a code that we do not know says nothing to people


async def test_a_slack_that_cannot_be_reached_got_nothing() -> None:
    sim = slack_with_people()
    async with desk(sim) as it:
        ts = await thread_in(it)
        await sim.stop()
        with pytest.raises(AdapterError):  # a connection that was kept open ends, and nobody knows
            await it.post("hello", ts)
        with pytest.raises(Transient, match="reached"):
            await it.post("hello", ts)


@pytest.mark.parametrize("code", ["invalid_blocks", "invalid_attachments", "msg_blocks_too_long"])
async def test_a_form_that_is_refused_is_sent_as_plain_text_at_once(code: str) -> None:
    faults = FaultPlan(Fault(POST, "refuse", error=code))
    async with desk(slack_with_people(faults)) as it:
        ts = await thread_in(it)
        posted = await it.post("**bold** and `code`", ts, "o-1")
        entry = await it.sim.ledger.wait_for(lambda one: one.id == posted)
        assert (entry.thread, entry.key, entry.raw.get("blocks") or None) == (ts, "o-1", None)
        assert "bold" in entry.text


async def test_a_text_that_is_too_long_in_any_form_is_not_lost() -> None:
    faults = FaultPlan(Fault(POST, "refuse", times=2, error="msg_too_long"))
    async with desk(slack_with_people(faults)) as it:
        ts = await thread_in(it)
        message = Outgoing("o-1", key_of(ts), "the whole answer")
        posted = await it.adapter.post(message)
        entry = await it.sim.ledger.wait_for(lambda one: one.id == posted)
        assert (entry.thread, [file["name"] for file in entry.files]) == (ts, ["answer.md"])
        assert await it.adapter.find(message) == posted


async def test_an_edit_replaces_the_post_and_can_be_repeated() -> None:
    async with desk() as it:
        ts = await thread_in(it)
        posted = await it.post("working", ts)
        for _ in range(2):
            await it.adapter.edit(posted, Outgoing("k2", key_of(ts), "done"))
        (entry,) = [one for one in it.sim.ledger.seen("C1", ts) if one.from_bot]
        assert entry.text == "done"
        assert all(call["parse"] == "none" for call in it.calls("chat.update"))


@pytest.mark.parametrize("code", ["message_not_found", "edit_window_closed", "cant_update_message"])
async def test_a_post_that_cannot_be_edited_any_more_is_gone(code: str) -> None:
    faults = FaultPlan(Fault("chat.update", "refuse", error=code))
    async with desk(slack_with_people(faults)) as it:
        ts = await thread_in(it)
        posted = await it.post("working", ts)
        with pytest.raises(PostGone):
            await it.adapter.edit(posted, Outgoing("k2", key_of(ts), "done"))


async def test_an_edit_whose_answer_is_lost_may_be_repeated_at_once() -> None:
    faults = FaultPlan(Fault("chat.update", "lost_answer"))
    async with desk(slack_with_people(faults)) as it:
        ts = await thread_in(it)
        posted = await it.post("working", ts)
        with pytest.raises(Transient):
            await it.adapter.edit(posted, Outgoing("k2", key_of(ts), "done"))


async def test_an_edit_without_buttons_takes_the_old_ones_away() -> None:
    async with desk() as it:
        ts = await thread_in(it)
        posted = await it.post("Which one?", ts)
        await it.adapter.edit(posted, Outgoing("k2", key_of(ts), "ann chose checkout"))
        assert "blocks" in it.calls("chat.update")[0]
        assert [one.buttons for one in it.sim.ledger.seen("C1", ts) if one.from_bot] == [[]]


async def test_a_file_stands_in_its_thread_before_what_is_posted_next(tmp_path: Path) -> None:
    chart = tmp_path / "plot.png"
    chart.write_bytes(b"\x89PNG 1234")
    sim = slack_with_people()
    sim.windows.share = 0.2
    async with desk(sim) as it:
        ts = await thread_in(it)
        file = Attachment("plot.png", path=str(chart), about="Runs per week, rising")
        message = Outgoing("f-1", key_of(ts), "", files=(file,))
        shared = await it.adapter.post(message)
        await it.post("the chart is above", ts, "t-1")
        entries = [one for one in it.sim.ledger.seen("C1", ts) if one.from_bot]
        assert entries[0].id == shared
        assert [[one["name"] for one in entry.files] for entry in entries] == [["plot.png"], []]
        assert it.calls("files.getUploadURLExternal")[0]["alt_txt"] == "Runs per week, rising"
        assert await it.adapter.find(message) == shared


async def test_a_file_of_no_bytes_is_shared_too() -> None:
    async with desk() as it:
        ts = await thread_in(it)
        await it.adapter.post(Outgoing("f-1", key_of(ts), "", files=(Attachment("empty.log"),)))
        assert it.sim.complaints == []


async def test_a_file_of_megabytes_is_shared_whole() -> None:
    async with desk() as it:
        ts = await thread_in(it)
        rows = "x" * 3_000_000
        await it.adapter.post(Outgoing("f-1", key_of(ts), "", files=(Attachment("rows.csv", text=rows),)))
        assert it.calls("files.getUploadURLExternal")[0]["length"] in (3_000_000, "3000000")
        assert it.sim.complaints == []


async def test_a_file_whose_receipt_is_lost_is_found_by_what_was_uploaded() -> None:
    faults = FaultPlan(Fault("files.completeUploadExternal", "lost_answer"))
    async with desk(slack_with_people(faults)) as it:
        ts = await thread_in(it)
        message = Outgoing("f-1", key_of(ts), "", files=(Attachment("a.txt", text="x"),))
        with pytest.raises(Ambiguous):
            await it.adapter.post(message)
        entry = await it.sim.ledger.wait_for(lambda one: bool(one.files))
        assert await it.adapter.find(message) == entry.id


async def test_a_file_that_was_never_shared_is_proven_absent() -> None:
    faults = FaultPlan(Fault("files.completeUploadExternal", "server_error"))
    async with desk(slack_with_people(faults)) as it:
        ts = await thread_in(it)
        message = Outgoing("f-1", key_of(ts), "", files=(Attachment("a.txt", text="x"),))
        with pytest.raises(Ambiguous):
            await it.adapter.post(message)
        assert await it.adapter.find(message) is None


@pytest.mark.parametrize("code", ["file_uploads_disabled", "file_type_not_allowed", "storage_limit_reached"])
async def test_where_files_are_not_taken_the_core_is_told(code: str) -> None:
    faults = FaultPlan(Fault("files.completeUploadExternal", "refuse", error=code))
    async with desk(slack_with_people(faults)) as it:
        ts = await thread_in(it)
        file = Attachment("rows.csv", text="a,b\n1,2", about="the rows")
        with pytest.raises(ContentRefused):
            await it.adapter.post(Outgoing("f-1", key_of(ts), "The rows:", files=(file,)))


async def test_a_file_whose_thread_is_gone_does_not_stay_at_the_channels_top() -> None:
    async with desk() as it:
        ts = await thread_in(it)
        await it.sim.delete("U1", "C1", ts)
        with pytest.raises(PlaceGone):
            await it.adapter.post(Outgoing("f-1", key_of(ts), "", files=(Attachment("a.txt", text="x"),)))
        assert not [one for one in it.sim.ledger.seen("C1") if one.from_bot]


async def test_a_persons_file_is_fetched(tmp_path: Path) -> None:
    async with desk() as it:
        await it.sim.say("U1", "D1", "read this", files=[("app.log", b"line 1\n")])
        (file,) = (await it.core.next()).files
        await it.adapter.fetch(file, tmp_path / "app.log")
        assert (tmp_path / "app.log").read_bytes() == b"line 1\n"


async def test_a_login_page_is_not_taken_for_the_file(tmp_path: Path) -> None:
    sim = slack_with_people()
    async with desk(sim) as it:
        await it.sim.say("U1", "D1", "read this", files=[("app.log", b"line 1\n")])
        (file,) = (await it.core.next()).files
        sim.scopes.discard("files:read")
        with pytest.raises(AdapterError, match="files:read"):
            await it.adapter.fetch(file, tmp_path / "app.log")


async def test_a_direct_conversation_is_read_by_one_person_alone() -> None:
    async with desk() as it:
        thread = await it.adapter.direct("slack:T1:U2")
        assert thread is not None
        assert thread.is_new
        await it.adapter.post(Outgoing("k", thread, "your schedule failed"))
        entry = await it.sim.ledger.wait_for(lambda one: one.from_bot)
        assert it.sim.site.teams["T1"].channels[entry.channel].members == {"U2", "UBOT"}


@pytest.mark.parametrize("user", ["telegram:7", "slack:T9:U1", "slack:T1:U404", "console:local:ann", ""])
async def test_there_is_no_direct_conversation_with_who_is_not_here(user: str) -> None:
    async with desk() as it:
        assert await it.adapter.direct(user) is None


async def test_a_post_before_the_start_was_not_delivered() -> None:
    adapter = adapter_for(slack_with_people(), pauses=replace(QUICK, ready=0.01))
    with pytest.raises(Transient):
        await adapter.post(Outgoing("k", key_of("1.1"), "hello"))
