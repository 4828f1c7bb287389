"""What the bot is sent of what people do, and in which form."""

from __future__ import annotations

from typing import Any

import pytest
from simulator.telegram_place import ANN, BASIC, BOB, BOT, EVE, FORUM, NEWS, REPORTS, TEAM, heard, team

from hermes_bot.simulator.telegram.world import CHANNEL_BOT, GROUP_ANONYMOUS_BOT, LINKED_CHANNEL

PNG = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + (40).to_bytes(4, "big") + (30).to_bytes(4, "big") + b"\x08"


@pytest.mark.parametrize(
    "text",
    [
        "@my_bot hi",
        "😀 can you, @MY_BOT, list skills",
        "/run@my_bot weekly",
        "/run@My_Bot",
        "please /run@my_bot",
    ],
)
async def test_with_privacy_mode_a_bot_hears_what_names_it(text: str) -> None:
    async with team() as (sim, bot):
        await sim.say(ANN, TEAM, text)
        assert [update["message"]["text"] for update in await heard(bot)] == [text]


@pytest.mark.parametrize(
    "text", ["hi", "/run", "/run@other_bot", "see my_bot", "x@my_bot.org", "@my_bot_2 hi", "@ann look"]
)
async def test_with_privacy_mode_a_bot_does_not_hear_the_rest(text: str) -> None:
    async with team() as (sim, bot):
        await sim.say(ANN, TEAM, text)
        assert await heard(bot) == []


@pytest.mark.parametrize("is_admin", [True, False])
async def test_without_privacy_mode_or_as_admin_it_hears_everything_but_bots(is_admin: bool) -> None:  # noqa: FBT001 - a parameter of the test
    async with team(privacy=is_admin) as (sim, bot):
        sim.add_user(99, "Other", "other_bot", is_bot=True)
        sim.add_chat(-1010, members=(ANN, 99), title="Two", admins=(BOT,) if is_admin else ())
        await sim.say(ANN, -1010, "hi")
        await sim.say(99, -1010, "@my_bot thanks")
        assert [update["message"]["text"] for update in await heard(bot)] == ["hi"]


async def test_other_bots_are_heard_in_bot_to_bot_mode_if_they_address_it() -> None:
    async with team() as (sim, bot):
        sim.state.hears_bots = True
        sim.add_user(99, "Other", "other_bot", is_bot=True)
        sim.set_status(TEAM, 99, "member")
        await heard(bot)
        await sim.say(99, TEAM, "hello all")
        await sim.say(99, TEAM, "/run@my_bot")
        assert [update["message"]["from"]["is_bot"] for update in await heard(bot)] == [True]


async def test_a_reply_to_the_bot_is_heard_and_one_to_others_is_not() -> None:
    async with team() as (sim, bot):
        asked = await sim.say(ANN, TEAM, "who knows?")
        sent = await bot.send_message(TEAM, "Which week?")
        await sim.say(BOB, TEAM, "nobody", reply_to=asked)
        await sim.say(ANN, TEAM, "last week", reply_to=sent.message_id)
        (update,) = await heard(bot)
        replied = update["message"]["reply_to_message"]
        assert (replied["text"], replied["from"]["id"]) == ("Which week?", BOT)


async def test_a_plain_command_is_heard_while_the_bot_was_the_last_bot_to_post() -> None:
    async with team() as (sim, bot):
        sim.add_user(99, "Other", "other_bot", is_bot=True)
        sim.set_status(TEAM, 99, "member")
        await heard(bot)
        await sim.say(ANN, TEAM, "/one")
        await bot.send_message(TEAM, "hi")
        await sim.say(ANN, TEAM, "/two")
        await sim.say(99, TEAM, "me too")
        await sim.say(ANN, TEAM, "/three")
        assert [update["message"]["text"] for update in await heard(bot)] == ["/two"]


async def test_in_private_everything_is_heard() -> None:
    async with team() as (sim, bot):
        await sim.say(ANN, ANN, "hi")
        (update,) = await heard(bot)
        assert update["message"]["chat"] == {
            "id": ANN,
            "type": "private",
            "first_name": "Ann",
            "username": "ann",
        }


async def test_an_edit_is_heard_with_the_same_id_and_the_new_text() -> None:
    async with team() as (sim, bot):
        asked = await sim.say(ANN, TEAM, "@my_bot report May")
        await sim.edit(ANN, TEAM, asked, "@my_bot report June")
        _first, update = await heard(bot)
        edited = update["edited_message"]
        assert (edited["message_id"], edited["text"]) == (asked, "@my_bot report June")
        assert edited["edit_date"] >= edited["date"]
        assert [entry.history for entry in sim.ledger.entries] == [["@my_bot report May"]]


async def test_a_deletion_is_not_told() -> None:
    async with team() as (sim, bot):
        asked = await sim.say(ANN, ANN, "hi")
        await sim.delete(ANN, ANN, asked)
        assert [set(update) for update in await heard(bot)] == [{"update_id", "message"}]
        assert sim.ledger.seen(str(ANN)) == []


async def test_a_long_paste_is_cut_into_messages_without_tearing_a_character() -> None:
    async with team() as (sim, bot):
        paste = "x" * 4095 + "😀" + "y" * 500
        first = await sim.say(ANN, ANN, paste)
        pieces = [update["message"] for update in await heard(bot)]
        assert [piece["message_id"] for piece in pieces] == [first, first + 1]
        assert "".join(piece["text"] for piece in pieces) == paste
        assert len(pieces[0]["text"]) == 4095


async def test_several_files_are_an_album_with_one_caption() -> None:
    async with team() as (sim, bot):
        files = [("a.png", PNG, "photo"), ("b.png", PNG, "photo")]
        await sim.say(ANN, ANN, caption="two pictures", files=files)
        first, second = (update["message"] for update in await heard(bot))
        assert first["media_group_id"] == second["media_group_id"]
        assert (first["caption"], "caption" in second) == ("two pictures", False)
        assert first["photo"][-1]["width"] == 40


async def test_a_mention_in_a_caption_is_an_entity_of_the_caption() -> None:
    async with team() as (sim, bot):
        await sim.say(ANN, TEAM, "@my_bot read this", files=[("a.txt", b"hello", "document")])
        (update,) = await heard(bot)
        message = update["message"]
        assert message["caption_entities"] == [{"type": "mention", "offset": 0, "length": 7}]
        assert (message["document"]["file_name"], message["document"]["mime_type"]) == ("a.txt", "text/plain")


async def test_a_topics_message_says_so_and_formally_replies_to_the_topics_start() -> None:
    async with team() as (sim, bot):
        await sim.say(ANN, FORUM, "@my_bot hi", topic=REPORTS)
        (update,) = await heard(bot)
        message = update["message"]
        assert (message["message_thread_id"], message["is_topic_message"]) == (REPORTS, True)
        start = message["reply_to_message"]
        assert (start["message_id"], start["forum_topic_created"]["name"]) == (REPORTS, "Reports")
        assert message["chat"]["is_forum"]


async def test_what_stands_in_a_topic_the_bot_opened_is_no_reply_to_it() -> None:
    async with team() as (sim, bot):
        sim.set_status(FORUM, BOT, "administrator")
        topic = await bot.create_forum_topic(FORUM, "Mine")
        sim.set_status(FORUM, BOT, "member")
        await heard(bot)
        await sim.say(ANN, FORUM, "chatter", topic=topic.message_thread_id)
        assert await heard(bot) == []


async def test_the_general_topic_has_no_ids() -> None:
    async with team() as (sim, bot):
        await sim.say(ANN, FORUM, "@my_bot hi")
        (update,) = await heard(bot)
        assert not {"message_thread_id", "is_topic_message", "reply_to_message"} & update["message"].keys()


async def test_a_reply_in_a_plain_supergroup_carries_the_chains_root_but_is_no_topic() -> None:
    async with team(privacy=False) as (sim, bot):
        root = await sim.say(ANN, TEAM, "one")
        second = await sim.say(BOB, TEAM, "two", reply_to=root)
        await sim.say(ANN, TEAM, "three", reply_to=second)
        first, *replies = (update["message"] for update in await heard(bot))
        assert "message_thread_id" not in first
        assert [message["message_thread_id"] for message in replies] == [root, root]
        assert all("is_topic_message" not in message for message in replies)
        assert "reply_to_message" not in replies[1]["reply_to_message"], "one level only"


async def test_a_reply_in_a_basic_group_carries_no_thread() -> None:
    async with team(privacy=False) as (sim, bot):
        root = await sim.say(ANN, BASIC, "one")
        await sim.say(BOB, BASIC, "two", reply_to=root)
        _first, reply = (update["message"] for update in await heard(bot))
        assert reply["reply_to_message"]["message_id"] == root
        assert "message_thread_id" not in reply


@pytest.mark.parametrize(
    ("author", "on_behalf"), [(GROUP_ANONYMOUS_BOT, TEAM), (CHANNEL_BOT, NEWS), (LINKED_CHANNEL, NEWS)]
)
async def test_who_writes_on_behalf_of_a_chat_is_nobody(author: int, on_behalf: int) -> None:
    async with team() as (sim, bot):
        await sim.say(author, TEAM, "/approve@my_bot")
        (update,) = await heard(bot)
        message = update["message"]
        assert (message["from"]["id"], message["sender_chat"]["id"]) == (author, on_behalf)
        assert message.get("is_automatic_forward", False) == (author == LINKED_CHANNEL)


async def test_a_channel_post_has_no_author() -> None:
    async with team() as (sim, bot):
        posted = await sim.say(ANN, NEWS, "/run@my_bot")
        await sim.edit(ANN, NEWS, posted, "never mind")
        first, second = await heard(bot)
        assert "from" not in first["channel_post"]
        assert first["channel_post"]["sender_chat"]["id"] == NEWS
        assert second["edited_channel_post"]["text"] == "never mind"


async def test_a_basic_group_that_grows_moves_and_says_so_on_both_sides() -> None:
    async with team() as (sim, bot):
        sim.migrate(BASIC, -1055)
        old, new = (update["message"] for update in await heard(bot))
        assert (old["chat"]["id"], old["migrate_to_chat_id"]) == (BASIC, -1055)
        assert (new["chat"]["id"], new["migrate_from_chat_id"]) == (-1055, BASIC)
        assert new["message_id"] == 1
        await sim.say(ANN, -1055, "@my_bot hi")
        assert len(await heard(bot)) == 1


async def changes(sim: Any, bot: Any) -> list[tuple[int, str, str]]:
    del sim
    return [
        (
            one["my_chat_member"]["chat"]["id"],
            one["my_chat_member"]["old_chat_member"]["status"],
            one["my_chat_member"]["new_chat_member"]["status"],
        )
        for one in await heard(bot)
        if "my_chat_member" in one
    ]


async def test_the_bot_is_told_of_its_own_coming_and_going() -> None:
    async with team() as (sim, bot):
        await sim.say(ANN, ANN, "hi")
        sim.kick(TEAM)
        sim.invite(TEAM)
        sim.set_status(TEAM, BOT, "administrator", by=BOB)
        sim.block(ANN)
        sim.unblock(ANN)
        assert await changes(sim, bot) == [
            (TEAM, "member", "kicked"),
            (TEAM, "kicked", "member"),
            (TEAM, "member", "administrator"),
            (ANN, "member", "kicked"),
            (ANN, "kicked", "member"),
        ]


async def test_of_others_it_hears_service_messages_and_as_admin_their_changes_if_asked_for() -> None:
    async with team() as (sim, bot):
        sim.set_status(TEAM, BOT, "administrator")
        await heard(bot)
        await bot.get_updates(allowed_updates=["message", "chat_member"])
        sim.set_status(TEAM, EVE, "member")
        sim.set_status(TEAM, EVE, "left")
        updates = await heard(bot)
        assert [sorted(set(update) - {"update_id"}) for update in updates] == [
            ["chat_member"],
            ["message"],
        ] * 2
        assert updates[1]["message"]["new_chat_members"][0]["id"] == EVE
        assert updates[3]["message"]["left_chat_member"]["id"] == EVE


async def test_what_is_said_where_the_bot_is_not_is_not_heard() -> None:
    async with team(privacy=False) as (sim, bot):
        sim.kick(TEAM)
        await heard(bot)
        await sim.say(ANN, TEAM, "@my_bot hi")
        assert await heard(bot) == []


async def test_topics_that_are_opened_and_closed_are_heard_as_service_messages() -> None:
    async with team() as (sim, bot):
        topic = sim.add_topic(FORUM, "New")
        sim.close_topic(FORUM, topic)
        sim.reopen_topic(FORUM, topic)
        opened, closed, reopened = (update["message"] for update in await heard(bot))
        assert opened["forum_topic_created"]["name"] == "New"
        assert "forum_topic_closed" in closed
        assert "forum_topic_reopened" in reopened


async def test_private_chats_can_have_topics() -> None:
    async with team() as (sim, bot):
        sim.state.has_topics = True
        assert (await bot.get_me()).to_dict()["has_topics_enabled"]
        await sim.say(ANN, ANN, "/start")
        topic = sim.add_topic(ANN, "Trip")
        await sim.say(ANN, ANN, "hi", topic=topic)
        assert (await heard(bot))[-1]["message"]["message_thread_id"] == topic


async def test_entities_are_found_as_telegram_finds_them() -> None:
    text = "😀 @ann see https://a.example/x?y=1, mail a@b.org, #ops $USD /run@my_bot or /help."
    async with team() as (sim, bot):
        await sim.say(ANN, TEAM, text)
        message = (await bot.get_updates())[0].message
        assert message is not None
        found = message.parse_entities()
        assert [(entity.type, part) for entity, part in found.items()] == [
            ("mention", "@ann"),
            ("url", "https://a.example/x?y=1"),
            ("email", "a@b.org"),
            ("hashtag", "#ops"),
            ("cashtag", "$USD"),
            ("bot_command", "/run@my_bot"),
            ("bot_command", "/help"),
        ]


async def test_entities_can_be_given_instead() -> None:
    async with team() as (sim, bot):
        await sim.say(ANN, TEAM, "@my_bot", entities=[{"type": "code", "offset": 0, "length": 7}])
        assert await heard(bot) == [], "a name in code is no mention"


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ({"user": EVE, "chat": TEAM}, "9 is not in chat"),
        ({"user": BOB, "chat": ANN}, "cannot write in the private chat"),
        ({"user": ANN, "chat": FORUM, "topic": 77}, "has no topic 77"),
        ({"user": ANN, "chat": TEAM, "text": " "}, "needs a text"),
        ({"user": ANN, "chat": TEAM, "files": [("a", b"x", "scroll")]}, "not a scroll"),
    ],
)
async def test_what_no_client_would_send_is_an_error_of_the_script(what: dict[str, Any], words: str) -> None:
    async with team() as (sim, _bot):
        with pytest.raises(ValueError, match=words):
            await sim.say(**({"text": "hi"} | what))


async def test_people_and_chats_must_exist_before_they_are_played() -> None:
    async with team() as (sim, _bot):
        for user, chat, words in ((1, TEAM, "no user 1"), (ANN, -9, "no chat -9")):
            with pytest.raises(LookupError, match=words):
                await sim.say(user, chat, "hi")
        with pytest.raises(LookupError, match="no message 77"):
            await sim.say(ANN, TEAM, "hi", reply_to=77)
        with pytest.raises(ValueError, match="already"):
            sim.add_chat(TEAM)
