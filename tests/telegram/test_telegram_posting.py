"""How posts are shown on Telegram: in their place, once, whole."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING, Any

import pytest
from telegram_desk import ANN, BOB, FORUM, GROUP, TEAM, Desk, desk_at, made, place, with_faults

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
from hermes_bot.messages import Attachment, Button, Incoming, Press, ThreadKey
from hermes_bot.simulator import Fault, FaultPlan

if TYPE_CHECKING:
    from pathlib import Path


async def asked_in(desk: Desk, chat: int, *, topic: int = 0) -> Incoming:
    """Let a person ask something, and return it as the core got it."""
    before = len(desk.heard)
    await desk.sim.say(ANN, chat, "@my_bot go on", topic=topic)
    return (await desk.hear(before + 1))[-1]


async def test_an_answer_replaces_a_short_post_that_answers_the_asker() -> None:
    async with desk_at() as desk:
        asked = await asked_in(desk, TEAM)
        posted = await desk.show(desk.answer(asked, "done <b> & more"))
        (entry,) = desk.seen(TEAM)
        assert (entry.id, entry.text, entry.reply_to) == (posted, "done <b> & more", asked.message_id)
        assert entry.history == ["…"]
        assert all(
            call["link_preview_options"] == {"is_disabled": True} for call in desk.called("sendMessage")
        )


async def test_an_edit_that_is_repeated_doubles_nothing() -> None:
    async with desk_at() as desk:
        answer = desk.answer(await asked_in(desk, TEAM), "done")
        placed = await desk.adapter.place(answer)
        assert placed.since is None
        for _ in range(3):
            await desk.adapter.edit(placed.posted, answer)
        assert [entry.text for entry in desk.seen(TEAM)] == ["done"]


@pytest.mark.parametrize(("topic", "sent"), [(5, 5), (0, None)])
async def test_a_topics_answer_goes_to_the_topic_and_generals_names_none(
    topic: int, sent: int | None
) -> None:
    async with desk_at() as desk:
        await desk.show(desk.answer(await asked_in(desk, FORUM, topic=topic), "done"))
        (call,) = desk.called("sendMessage")
        assert int(call.get("message_thread_id", 0)) == (sent or 0)
        assert desk.sim.complaints == []


async def test_the_root_of_a_chain_is_never_sent_as_a_topic() -> None:
    async with desk_at() as desk:
        asked = await asked_in(desk, TEAM)
        posted = await desk.show(desk.answer(asked, "one"))
        await desk.sim.say(BOB, TEAM, "more", reply_to=int(posted))
        follow = (await desk.hear(2))[1]
        await desk.show(desk.answer(follow, "two"))
        await desk.show(desk.message(asked.thread, "a notice of its own", "notice"))
        assert all("message_thread_id" not in call for call in desk.called("sendMessage"))
        assert desk.seen(TEAM)[-1].reply_to == asked.message_id  # so that the chain can be followed


async def test_an_answer_to_a_message_that_was_deleted_is_shown_without_it() -> None:
    async with desk_at() as desk:
        asked = await asked_in(desk, TEAM)
        await desk.sim.delete(ANN, TEAM, int(asked.message_id))
        await desk.show(desk.answer(asked, "done"))
        assert [(entry.text, entry.reply_to) for entry in desk.seen(TEAM)] == [("done", "")]


async def test_a_new_thread_stands_at_the_top_and_answers_to_it_belong_to_it() -> None:
    async with desk_at() as desk:
        new = ThreadKey("telegram", "42", str(TEAM), "new:weekly")
        posted = (await desk.adapter.place(desk.message(new, "Report", "report"))).posted
        await desk.adapter.edit(posted, desk.message(new, "Report", "report"))
        assert desk.seen(TEAM)[0].reply_to == ""
        await desk.sim.say(ANN, TEAM, "expand item 2", reply_to=int(posted))
        (heard,) = await desk.hear(1)
        assert heard.thread == ThreadKey("telegram", "42", str(TEAM), posted)


async def test_a_report_in_a_private_chat_is_a_conversation_of_its_own_for_who_answers_it() -> None:
    async with desk_at() as desk:
        await desk.sim.say(ANN, ANN, "hello")
        await desk.hear(1)
        new = ThreadKey("telegram", "42", str(ANN), "new:weekly")
        posted = (await desk.adapter.place(desk.message(new, "Report", "report"))).posted
        await desk.sim.say(ANN, ANN, "expand item 2", reply_to=int(posted))
        await desk.sim.say(ANN, ANN, "something else")
        await desk.hear(3)
        assert [heard.thread.thread for heard in desk.heard[1:]] == [posted, "chat"]


async def test_the_buttons_of_a_question_go_with_its_answer() -> None:
    async with desk_at() as desk:
        asked = await asked_in(desk, TEAM)
        question = desk.question(asked, "Where?", "staging", "production")
        posted = await desk.show(question)
        assert [button["label"] for button in desk.seen(TEAM)[0].buttons] == ["staging", "production"]
        await desk.adapter.edit(posted, desk.answer(asked, "Where? ✔ Ann chose staging.", kind="question"))
        assert desk.seen(TEAM)[0].buttons == []


async def test_an_open_question_opens_a_box_to_answer_in_for_who_asked() -> None:
    async with desk_at() as desk:
        asked = await asked_in(desk, TEAM)
        question = desk.answer(asked, "How many retries?", kind="question")
        assert desk.adapter.delivery_of(question) == "post"
        posted = await desk.show(question)
        (call,) = desk.called("sendMessage")
        assert (call["reply_markup"]["force_reply"], call["reply_markup"]["selective"]) == (True, True)
        assert desk.seen(TEAM)[0].reply_to == asked.message_id
        await desk.sim.say(ANN, TEAM, "0", reply_to=int(posted))
        assert (await desk.hear(2))[1].thread == asked.thread


async def test_a_file_is_sent_with_its_caption_and_may_say_that_it_comes_again(tmp_path: Path) -> None:
    async with desk_at() as desk:
        asked = await asked_in(desk, FORUM, topic=5)
        path = tmp_path / "x"
        path.write_bytes(b"a,b\n1,2\n")
        file = Attachment("table.csv", str(path), about="the whole table")
        await desk.adapter.post(desk.answer(asked, "", files=(file,)))
        await desk.adapter.post(
            desk.answer(asked, "", files=(Attachment("n.txt", text="hi"),), is_again=True)
        )
        first, second = desk.seen(FORUM)
        assert [file["name"] for file in first.files] == ["table.csv"]
        assert (first.text, first.thread) == ("the whole table", "5")
        assert "sent again" in second.text


async def test_a_picture_is_shown_as_one_and_one_that_telegram_refuses_as_a_file(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(picture())
    refused = Fault("sendPhoto", "refuse", error="400", description="Bad Request: PHOTO_INVALID_DIMENSIONS")
    async with desk_at(with_faults(FaultPlan(refused))) as desk:
        asked = await asked_in(desk, TEAM)
        for _ in range(2):
            await desk.adapter.post(desk.answer(asked, "", files=(Attachment("plot.png", str(path)),)))
        assert [call.method for call in desk.sim.calls if call.method.startswith("send")] == [
            "sendPhoto",
            "sendDocument",
            "sendPhoto",
        ]


async def test_a_caption_that_is_refused_or_long_loses_no_file() -> None:
    refused = Fault("sendDocument", "refuse", error="400", description="Bad Request: can't parse entities: x")
    async with desk_at(with_faults(FaultPlan(refused))) as desk:
        asked = await asked_in(desk, TEAM)
        file = Attachment("n.txt", text="hi", about="a < b")
        await desk.adapter.post(desk.answer(asked, "", files=(file,)))
        await desk.adapter.post(desk.answer(asked, "x" * 1_024, files=(file,), is_again=True))
        first, second = desk.seen(TEAM)
        assert first.text == "a < b"
        assert second.text.startswith("(sent again")
        assert [len(entry.files) for entry in (first, second)] == [1, 1]


def picture() -> bytes:
    """Return a PNG of 20 by 20 grey points."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 20, 20, 8, 0, 0, 0, 0)
    rows = zlib.compress(b"\0" * 21 * 20)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


async def test_a_file_that_cannot_be_read_or_is_too_large_is_refused_in_words(tmp_path: Path) -> None:
    async with desk_at() as desk:
        asked = await asked_in(desk, TEAM)
        large = tmp_path / "large"
        with large.open("wb") as file:
            file.truncate(50_000_001)
        for path, words in ((large, "50,000,001 bytes"), (tmp_path / "none", "cannot be read")):
            with pytest.raises(ContentRefused, match=words):
                await desk.adapter.post(desk.answer(asked, "", files=(Attachment("x.log", str(path)),)))
        assert str(tmp_path) not in "".join(entry.text for entry in desk.seen(TEAM))


async def test_formatting_that_telegram_refuses_is_sent_plain_from_the_source() -> None:
    refused = Fault(
        "editMessageText", "refuse", error="400", description="Bad Request: can't parse entities: x"
    )
    async with desk_at(with_faults(FaultPlan(refused))) as desk:
        await desk.show(desk.answer(await asked_in(desk, TEAM), "a < b **and** `c`"))
        assert [entry.text for entry in desk.seen(TEAM)] == ["a < b **and** `c`"]
        assert "parse_mode" not in desk.called("editMessageText")[-1]


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault("*", "rate_limited", retry_after=7), RateLimited),
        (Fault("*", "server_error"), Ambiguous),
        (Fault("*", "error_after"), Ambiguous),
        (Fault("*", "lost_answer"), Ambiguous),
        (Fault("*", "garbage"), Ambiguous),
        (Fault("*", "refuse", error="403", description="Forbidden: bot was blocked by the user"), PlaceGone),
        (Fault("*", "refuse", error="400", description="Bad Request: chat not found"), PlaceGone),
        (Fault("*", "refuse", error="400", description="Bad Request: not enough rights to send"), PlaceGone),
        (Fault("*", "refuse", error="400", description="Bad Request: BUTTON_DATA_INVALID"), ContentRefused),
        (Fault("*", "refuse", error="413", description="Request Entity Too Large"), ContentRefused),
        (Fault("*", "refuse", error="401", description="Unauthorized"), BotBroken),
    ],
)
async def test_what_a_refusal_means_for_the_post(fault: Fault, error: type[AdapterError]) -> None:
    async with desk_at() as desk:
        answer = desk.answer(await asked_in(desk, TEAM), "done")
        desk.sim.faults.add(Fault("sendMessage", *_rest(fault)))
        with pytest.raises(error) as caught:
            await desk.adapter.place(answer)
        assert type(caught.value) is error
        if isinstance(caught.value, RateLimited):
            assert caught.value.retry_after == 7


def _rest(fault: Fault) -> tuple[Any, ...]:
    return (fault.kind, 1, 0, fault.retry_after, str(TEAM), fault.error, fault.description)


async def test_no_connection_means_certainly_not_sent() -> None:
    async with place() as sim:
        desk = Desk(sim)
        desk.adapter = made(sim, desk)
        sim_is_gone = desk.message(ThreadKey("telegram", "42", "7", "chat"), "hi")
    with pytest.raises(Transient):
        await desk.adapter.place(sim_is_gone)


@pytest.mark.parametrize(
    ("description", "error"),
    [("message to edit not found", PostGone), ("message can't be edited", PostGone)],
)
async def test_a_post_that_is_gone_is_said(description: str, error: type[AdapterError]) -> None:
    async with desk_at() as desk:
        answer = desk.answer(await asked_in(desk, TEAM), "done")
        placed = await desk.adapter.place(answer)
        desk.sim.faults.add(
            Fault("editMessageText", "refuse", error="400", description=f"Bad Request: {description}")
        )
        with pytest.raises(error):
            await desk.adapter.edit(placed.posted, answer)


async def test_a_lost_answer_to_an_edit_leaves_one_whole_answer() -> None:
    async with desk_at() as desk:
        answer = desk.answer(await asked_in(desk, TEAM), "the whole answer")
        placed = await desk.adapter.place(answer)
        desk.sim.faults.add(Fault("editMessageText", "lost_answer"))
        with pytest.raises(Ambiguous):
            await desk.adapter.edit(placed.posted, answer)
        await desk.adapter.edit(placed.posted, answer)
        assert [entry.text for entry in desk.seen(TEAM)] == ["the whole answer"]


async def test_a_closed_topic_is_told_once_in_its_chat() -> None:
    async with desk_at() as desk:
        asked = await asked_in(desk, FORUM, topic=5)
        desk.sim.close_topic(FORUM, 5)
        for _ in range(2):
            with pytest.raises(PlaceGone):
                await desk.adapter.place(desk.answer(asked, "done"))
        (entry,) = desk.seen(FORUM)
        assert "closed or deleted" in entry.text
        assert entry.thread == ""


async def test_a_deleted_topic_is_told_once_in_its_chat_and_general_goes_on() -> None:
    async with desk_at() as desk:
        asked = await asked_in(desk, FORUM, topic=5)
        desk.sim.delete_topic(FORUM, 5)
        with pytest.raises(PlaceGone):
            await desk.adapter.place(desk.answer(asked, "done"))
        general = await asked_in(desk, FORUM)
        await desk.show(desk.answer(general, "here"))
        assert [entry.text for entry in desk.seen(FORUM)][1:] == ["here"]


async def test_a_group_that_moved_is_answered_at_its_new_place() -> None:
    async with desk_at() as desk:
        asked = await asked_in(desk, GROUP)
        desk.sim.state.polls.hang(hangs=True)  # so that sending learns it first
        desk.sim.migrate(GROUP, -1055)
        await desk.show(desk.answer(asked, "done"))
        assert [entry.text for entry in desk.seen(-1055)] == ["done"]
        assert desk.records.moves == [("-55", "-1055")]


async def test_what_was_placed_before_a_group_moved_is_gone_and_no_newer_post_is_edited_for_it() -> None:
    async with desk_at() as desk:
        answer = desk.answer(await asked_in(desk, GROUP), "done")
        placed = await desk.adapter.place(answer)
        desk.sim.migrate(GROUP, -1055)
        with pytest.raises(PostGone):
            await desk.adapter.edit(placed.posted, answer)
        again = await desk.show(answer)
        assert again != placed.posted
        assert [entry.text for entry in desk.seen(-1055)] == ["done"]


async def test_posting_works_before_the_adapter_runs_and_after() -> None:
    async with place() as sim:
        desk = Desk(sim)
        await sim.say(ANN, ANN, "hello")
        desk.adapter = made(sim, desk)
        await desk.show(desk.message(ThreadKey("telegram", "42", "7", "chat"), "early"))
        assert [entry.text for entry in desk.seen(ANN)] == ["early"]


async def test_groups_have_a_pace_of_their_own() -> None:
    async with place() as sim:
        adapter = made(sim, Desk(sim))
        assert (adapter.pace("7").per_minute, adapter.pace("-1001").per_minute) == (0, 20)
        assert (adapter.pace("7").seconds, adapter.pace("7").per_second) == (1.0, 30)


async def test_buttons_carry_their_questions_id_and_number_in_64_bytes() -> None:
    async with desk_at() as desk:
        asked = await asked_in(desk, TEAM)
        press = Press("0123456789abcdef0123456789abcdef", 7)
        posted = await desk.show(desk.answer(asked, "?", kind="question", buttons=(Button("ok", press),)))
        await desk.sim.press(ANN, TEAM, int(posted), label="ok")
        assert desk.heard[-1].press == press
