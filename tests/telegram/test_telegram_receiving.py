"""What people say on Telegram, as the core hears it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from telegram_desk import ANN, BOB, FORUM, GROUP, PUBLIC, TEAM, desk_at, place

from hermes_bot.errors import AdapterError
from hermes_bot.messages import Press, Reply, ThreadKey
from hermes_bot.simulator.telegram.entities import units

if TYPE_CHECKING:
    from pathlib import Path

ADMIN, CHANNEL_IDENTITY, LINKED = 1_087_968_824, 136_817_688, 777_000


def key(chat: int, thread: str) -> ThreadKey:
    return ThreadKey("telegram", "42", str(chat), thread)


async def test_a_private_message_is_addressed_and_direct() -> None:
    async with desk_at() as desk:
        number = await desk.sim.say(ANN, ANN, "hello there")
        (heard,) = await desk.hear(1)
        assert heard.thread == key(ANN, "chat")
        assert (heard.user, heard.user_name, heard.text) == ("telegram:7", "Ann", "hello there")
        assert (heard.addressed, heard.place, heard.message_id) == (True, "direct", str(number))
        assert abs((datetime.now(UTC) - heard.sent_at).total_seconds()) < 60
        assert not heard.complete


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("@my_bot hi", "hi"),
        ("😀 @my_bot hi", "😀 hi"),
        ("👨‍👩‍👧 🂡 @MY_BOT hi", "👨‍👩‍👧 🂡 hi"),
        ("can you, @my_bot, list skills", "can you, list skills"),
        ("@my_bot: hi", "hi"),
        ("hi @my_bot", "hi"),
        ("@my_bot", ""),
        ("@my_bot and @my_bot again", "and again"),
        ("@my_bot 1 < 2 && @bob", "1 < 2 && @bob"),
        ("@my_bot first\n\nsecond", "first\n\nsecond"),
    ],
)
async def test_a_mention_addresses_the_bot_and_leaves_the_text(said: str, text: str) -> None:
    async with desk_at() as desk:
        number = await desk.sim.say(ANN, TEAM, said)
        (heard,) = await desk.hear(1)
        assert (heard.text, heard.addressed, heard.is_command) == (text, True, False)
        assert heard.thread == key(TEAM, str(number))
        assert heard.place == "private"


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("/run@my_bot weekly", "/run weekly"),
        ("/run@MY_BOT weekly  now", "/run weekly  now"),
        ("@my_bot /run weekly", "/run weekly"),
        ("/save_skill@my_bot", "/save-skill"),
        ("/start@my_bot", "/help"),
        ("/help@my_bot", "/help"),
        ("/skils@my_bot", "/skils"),
        ("/run@my_bot\nweekly", "/run weekly"),
    ],
)
async def test_a_command_for_the_bot_is_one(said: str, text: str) -> None:
    async with desk_at() as desk:
        await desk.sim.say(ANN, TEAM, said)
        (heard,) = await desk.hear(1)
        assert (heard.text, heard.addressed, heard.is_command) == (text, True, True)


async def test_a_deep_link_asks_for_help() -> None:
    async with desk_at() as desk:
        await desk.sim.say(ANN, ANN, "/start invite_4711")
        (heard,) = await desk.hear(1)
        assert (heard.text, heard.is_command) == ("/help", True)


@pytest.mark.parametrize(
    "said", ["/run@other_bot weekly", "/weather", "@colleague please look", "@my_bot2 hi"]
)
async def test_what_is_for_others_is_not_heard_though_privacy_is_off(said: str) -> None:
    async with desk_at(place(privacy=False)) as desk:
        await desk.sim.say(ANN, TEAM, said)
        assert await desk.quiet() == []


async def test_a_bare_command_of_ours_is_ours_in_a_group_where_all_is_heard() -> None:
    async with desk_at(place(privacy=False)) as desk:
        await desk.sim.say(ANN, TEAM, "/skills")
        (heard,) = await desk.hear(1)
        assert (heard.text, heard.addressed, heard.is_command) == ("/skills", True, True)


async def test_our_name_in_code_or_in_an_address_is_no_mention() -> None:
    async with desk_at(place(privacy=False)) as desk:
        code = [{"type": "code", "offset": 0, "length": 7}]
        await desk.sim.say(ANN, TEAM, "@my_bot is how you call it", entities=code)
        await desk.sim.say(BOB, TEAM, "write to me@my_bot.example", entities=[])
        assert await desk.quiet() == []


async def test_a_mention_by_name_of_the_bot_itself_counts_and_one_of_others_does_not() -> None:
    def named(user: int) -> list[dict[str, object]]:
        who = {"id": user, "is_bot": user == 42, "first_name": "X"}
        return [{"type": "text_mention", "offset": 0, "length": 3, "user": who}]

    async with desk_at(place(privacy=False)) as desk:
        await desk.sim.say(ANN, TEAM, "Bob look", entities=named(BOB))
        await desk.sim.say(BOB, TEAM, "Bot look", entities=named(42))
        (heard,) = await desk.quiet()
        assert heard.text == "look"


async def test_an_answer_to_the_bots_post_goes_on_in_its_chain() -> None:
    async with desk_at() as desk:
        root = await desk.sim.say(ANN, TEAM, "@my_bot revenue in May?")
        (asked,) = await desk.hear(1)
        posted = await desk.show(desk.answer(asked, "4711"))
        await desk.sim.say(BOB, TEAM, "and last month?", reply_to=int(posted))
        follow = (await desk.hear(2))[1]
        assert follow.thread == asked.thread == key(TEAM, str(root))
        assert (follow.addressed, follow.user, follow.earlier) == (True, "telegram:8", ())


async def test_an_answer_in_the_chain_to_a_person_is_handed_over_unaddressed() -> None:
    async with desk_at(place(privacy=False)) as desk:
        root = await desk.sim.say(ANN, TEAM, "@my_bot revenue in May?")
        await desk.hear(1)
        await desk.sim.say(BOB, TEAM, "I wonder too", reply_to=root)
        second = (await desk.hear(2))[1]
        assert (second.thread, second.addressed) == (key(TEAM, str(root)), False)


async def test_two_chains_of_one_group_are_two_threads() -> None:
    async with desk_at() as desk:
        one = await desk.sim.say(ANN, GROUP, "@my_bot the code word is AMBER")
        two = await desk.sim.say(BOB, GROUP, "@my_bot what is the code word?")
        heard = await desk.hear(2)
        assert {message.thread for message in heard} == {key(GROUP, f"g{one}"), key(GROUP, f"g{two}")}


async def test_a_first_mention_in_others_talk_brings_what_it_answers() -> None:
    async with desk_at() as desk:
        said = await desk.sim.say(BOB, TEAM, "disk 97 % on db-3")
        number = await desk.sim.say(ANN, TEAM, "@my_bot which host?", reply_to=said)
        (heard,) = await desk.hear(1)
        assert heard.thread == key(TEAM, str(number))
        (before,) = heard.earlier
        assert (before.text, before.user, before.user_name) == ("disk 97 % on db-3", "telegram:8", "Bob")
        assert (before.message_id, before.from_bot) == (str(said), False)


async def test_a_topic_is_a_thread_and_general_goes_by_chains() -> None:
    async with desk_at() as desk:
        await desk.sim.say(ANN, FORUM, "@my_bot in reports", topic=5)
        general = await desk.sim.say(ANN, FORUM, "@my_bot in general")
        await desk.hear(2)
        threads = {heard.text: heard.thread for heard in desk.heard}
        assert threads == {"in reports": key(FORUM, "topic:5"), "in general": key(FORUM, str(general))}


async def test_a_topics_implicit_answer_to_its_opening_is_no_address() -> None:
    async with desk_at(place(privacy=False)) as desk:
        await desk.sim.say(ANN, FORUM, "people talk here", topic=5)
        (heard,) = await desk.quiet()
        assert (heard.thread, heard.addressed, heard.earlier) == (key(FORUM, "topic:5"), False, ())


async def test_a_public_groups_messages_can_be_read_by_everybody() -> None:
    async with desk_at() as desk:
        await desk.sim.say(ANN, PUBLIC, "@my_bot hi")
        (heard,) = await desk.hear(1)
        assert heard.place == "channel"


async def test_files_come_with_their_names_and_can_be_fetched(tmp_path: Path) -> None:
    async with desk_at() as desk:
        await desk.sim.say(ANN, ANN, caption="look at this", files=[("app.log", b"ERROR x", "document")])
        (heard,) = await desk.hear(1)
        (file,) = heard.files
        assert (heard.text, file.name, file.size) == ("look at this", "app.log", 7)
        target = tmp_path / "in.log"
        await desk.adapter.fetch(file, target)
        assert target.read_bytes() == b"ERROR x"
        with pytest.raises(AdapterError, match="cannot be kept"):
            await desk.adapter.fetch(file, tmp_path / "none" / "in.log")
        with pytest.raises(AdapterError, match="20,000,001 bytes"):
            await desk.adapter.fetch(replace(file, size=20_000_001), target)


async def test_the_parts_of_an_album_belong_together_in_a_group_too() -> None:
    async with desk_at(place(privacy=False)) as desk:
        photos = [("a.jpg", b"1", "photo"), ("b.jpg", b"2", "photo")]
        first = await desk.sim.say(ANN, TEAM, caption="@my_bot compare", files=photos)
        heard = await desk.hear(2)
        assert [len(message.files) for message in heard] == [1, 1]
        assert {message.thread for message in heard} == {key(TEAM, str(first))}
        assert all(message.addressed for message in heard)


@pytest.mark.parametrize("chat", [ANN, TEAM])
async def test_a_paste_that_the_client_cut_is_one_thread_and_loses_nothing(chat: int) -> None:
    async with desk_at(place(privacy=False)) as desk:
        paste = "@my_bot " + "x" * 4_088 + "y" * 500
        assert units(paste) == 4_596
        first = await desk.sim.say(ANN, chat, paste)
        one, two = await desk.hear(2)
        assert one.thread == two.thread == key(chat, "chat" if chat == ANN else str(first))
        assert one.addressed
        assert two.addressed
        assert len(one.text) + len(two.text) + len("@my_bot ") == 4_596


async def test_lines_of_one_person_belong_together_and_those_of_others_do_not() -> None:
    async with desk_at(place(privacy=False)) as desk:
        first = await desk.sim.say(ANN, TEAM, "@my_bot check checkout")
        await desk.sim.say(BOB, TEAM, "lunch?")
        await desk.sim.say(ANN, TEAM, "since 9")
        heard = await desk.quiet()
        assert [(message.text, message.addressed) for message in heard] == [
            ("check checkout", True),
            ("since 9", False),
        ]
        assert {message.thread for message in heard} == {key(TEAM, str(first))}


async def test_an_edit_is_an_edit_and_runs_no_command_again() -> None:
    async with desk_at() as desk:
        number = await desk.sim.say(ANN, TEAM, "/run@my_bot weekly")
        await desk.hear(1)
        await desk.sim.edit(ANN, TEAM, number, "/run@my_bot monthly")
        first, second = await desk.hear(2)
        assert (second.kind, second.text, second.message_id) == ("edit", "/run monthly", first.message_id)
        assert second.thread == first.thread


async def test_an_edit_of_what_was_never_heard_is_not_heard() -> None:
    async with desk_at(place(privacy=False)) as desk:
        number = await desk.sim.say(ANN, TEAM, "lunch?")
        await desk.sim.edit(ANN, TEAM, number, "lunch, @bob?")
        assert await desk.quiet() == []


async def test_an_anonymous_administrator_is_heard_as_nobody() -> None:
    async with desk_at() as desk:
        await desk.sim.say(ADMIN, TEAM, "/run@my_bot weekly")
        (heard,) = await desk.hear(1)
        assert (heard.user, heard.is_bot, heard.text) == ("", False, "/run weekly")


@pytest.mark.parametrize("who", [CHANNEL_IDENTITY, LINKED])
async def test_channels_in_a_group_are_not_heard(who: int) -> None:
    sim = place(privacy=False)
    sim.add_chat(-1009, kind="channel", title="News")
    async with desk_at(sim) as desk:
        await desk.sim.say(who, TEAM, "@my_bot hi")
        assert await desk.quiet() == []


async def test_a_channels_own_post_is_heard_as_nobody() -> None:
    sim = place()
    sim.add_chat(-1009, kind="channel", title="News", admins=(ANN,))
    async with desk_at(sim) as desk:
        await desk.sim.say(ANN, -1009, "@my_bot status")
        (heard,) = await desk.hear(1)
        assert (heard.user, heard.text) == ("", "status")


async def test_other_bots_are_not_heard_unless_they_may() -> None:
    for bots, texts in (((), []), (("telegram:99",), ["thanks"])):
        async with desk_at(place(privacy=False), bots=bots) as desk:
            author = {"id": 99, "is_bot": True, "first_name": "B2", "username": "b2_bot"}
            mention = [{"type": "mention", "offset": 0, "length": 7}]
            desk.sim.push(said_by(author, "@my_bot thanks", mention))
            heard = await desk.quiet()
            assert [message.text for message in heard] == texts
            assert all(message.is_bot for message in heard)


async def test_our_own_posts_are_not_heard() -> None:
    async with desk_at(place(privacy=False)) as desk:
        author = {"id": 42, "is_bot": True, "first_name": "Bot", "username": "my_bot"}
        desk.sim.push(said_by(author, "@my_bot go", [{"type": "mention", "offset": 0, "length": 7}]))
        assert await desk.quiet() == []


def said_by(author: dict[str, object], text: str, entities: list[dict[str, object]]) -> dict[str, object]:
    chat = {"id": TEAM, "type": "supergroup", "title": "Team"}
    message = {"message_id": 900, "date": 1_796_000_000, "chat": chat, "from": author}
    return {"message": {**message, "text": text, "entities": entities}}


async def test_a_press_names_its_question_and_is_answered_in_private() -> None:
    async with desk_at() as desk:
        await desk.sim.say(ANN, TEAM, "@my_bot deploy")
        (asked,) = await desk.hear(1)
        posted = await desk.show(desk.question(asked, "Where?", "staging", "production"))
        desk.replies["q1"] = Reply("Only Ann can answer this.")
        shown = await desk.sim.press(BOB, TEAM, int(posted), label="production")
        pressed = desk.heard[-1]
        assert (pressed.kind, pressed.press, pressed.user) == ("press", Press("q1", 1), "telegram:8")
        assert (pressed.thread, pressed.complete) == (asked.thread, True)
        assert (shown.text, shown.is_alert) == ("Only Ann can answer this.", True)


async def test_a_press_that_is_fine_ends_the_waiting_mark_without_a_word() -> None:
    async with desk_at() as desk:
        await desk.sim.say(ANN, ANN, "deploy")
        (asked,) = await desk.hear(1)
        posted = await desk.show(desk.question(asked, "Where?", "staging"))
        shown = await desk.sim.press(ANN, ANN, int(posted), label="staging")
        assert (shown.is_answered, shown.text) == (True, "")


async def test_a_long_private_notice_is_cut_to_what_telegram_shows() -> None:
    async with desk_at() as desk:
        await desk.sim.say(ANN, ANN, "deploy")
        (asked,) = await desk.hear(1)
        posted = await desk.show(desk.question(asked, "Where?", "staging"))
        desk.replies["q1"] = Reply("😀 no " * 100)
        shown = await desk.sim.press(ANN, ANN, int(posted), label="staging")
        assert shown.text.startswith("😀 no ")
        assert units(shown.text) <= 200


async def test_a_forged_press_is_answered_and_not_stored() -> None:
    async with desk_at() as desk:
        await desk.sim.say(ANN, ANN, "deploy")
        (asked,) = await desk.hear(1)
        posted = await desk.show(desk.question(asked, "Where?", "staging"))
        shown = await desk.sim.press(ANN, ANN, int(posted), "rm -rf")
        assert "does not work" in shown.text
        assert len(desk.heard) == 1


async def test_a_group_that_becomes_a_supergroup_keeps_its_threads_once() -> None:
    async with desk_at() as desk:
        await desk.sim.say(ANN, GROUP, "@my_bot hi")
        (heard,) = await desk.hear(1)
        desk.sim.migrate(GROUP, -1055)
        await desk.until(lambda: desk.records.moves)
        await desk.quiet()
        assert desk.records.moves == [("-55", "-1055")]
        # the supergroup counts from 1 again: nothing new is taken for what was said before
        number = await desk.sim.say(ANN, -1055, "@my_bot again")
        assert (await desk.hear(2))[1].thread == key(-1055, str(number)) != heard.thread
        # a row that the outbox took before the move names the old chat still
        await desk.show(desk.answer(heard, "done"))
        assert [(entry.text, entry.reply_to) for entry in desk.seen(-1055)] == [("done", "")]


async def test_being_put_out_of_a_chat_is_kept_and_being_let_in_again_too() -> None:
    async with desk_at() as desk:
        desk.sim.kick(TEAM)
        await desk.until(lambda: ("away", str(TEAM)) in desk.records.kept)
        desk.sim.invite(TEAM)
        await desk.until(lambda: ("away", str(TEAM)) not in desk.records.kept)


async def test_a_person_who_never_wrote_or_blocked_us_has_no_private_chat() -> None:
    async with desk_at() as desk:
        assert await desk.adapter.direct("telegram:7") is None
        await desk.sim.say(ANN, ANN, "hello")
        await desk.hear(1)
        assert await desk.adapter.direct("telegram:7") == key(ANN, "chat")
        desk.sim.block(ANN)
        await desk.until(lambda: ("away", str(ANN)) in desk.records.kept)
        assert await desk.adapter.direct("telegram:7") is None
        assert await desk.adapter.direct("slack:T1:U1") is None
