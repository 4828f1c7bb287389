"""Where the simulated Telegram lets a bot write, and what it takes there: places, replies, buttons, files."""

from __future__ import annotations

import pytest
from simulator.telegram_place import (
    ANN,
    BASIC,
    BOT,
    EVE,
    FORUM,
    NEWS,
    REPORTS,
    TEAM,
    post,
    refusal,
    team,
)
from telegram import (
    ReplyParameters,
)
from telegram.error import BadRequest, ChatMigrated, Forbidden

# where


async def test_a_bot_cannot_write_first() -> None:
    async with team() as (sim, bot):
        with pytest.raises(Forbidden, match="can't initiate conversation"):
            await bot.send_message(ANN, "hi")
        with pytest.raises(BadRequest, match="Chat not found"):
            await bot.send_message(12345, "hi")
        await sim.say(ANN, ANN, "/start")
        assert (await bot.send_message(ANN, "hi")).chat.id == ANN


async def test_a_person_who_blocked_the_bot_is_out_of_reach() -> None:
    async with team() as (sim, bot):
        await sim.say(ANN, ANN, "/start")
        sim.block(ANN)
        with pytest.raises(Forbidden, match="blocked by the user"):
            await bot.send_message(ANN, "hi")
        with pytest.raises(ValueError, match="has blocked the bot"):
            await sim.say(ANN, ANN, "hi")
        sim.unblock(ANN)
        await bot.send_message(ANN, "hi")


async def test_a_chat_the_bot_was_thrown_out_of_or_left_is_out_of_reach() -> None:
    async with team() as (sim, bot):
        sim.kick(TEAM)
        with pytest.raises(Forbidden, match="kicked from the supergroup chat"):
            await bot.send_message(TEAM, "hi")
        await bot.leave_chat(BASIC)
        with pytest.raises(Forbidden, match="not a member of the group chat"):
            await bot.send_message(BASIC, "hi")


async def test_a_group_that_moved_says_where_to() -> None:
    async with team() as (sim, bot):
        sim.migrate(BASIC, -1055)
        with pytest.raises(ChatMigrated) as caught:
            await bot.send_message(BASIC, "hi")
        assert caught.value.new_chat_id == -1055
        assert (await bot.send_message(-1055, "hi")).chat.id == -1055


async def test_a_channel_is_for_admins_and_a_restricted_bot_is_silent() -> None:
    async with team() as (sim, bot):
        assert (await bot.send_message(NEWS, "hi")).from_user is None
        assert sim.ledger.entries[-1].from_bot
        sim.set_status(NEWS, BOT, "member")
        assert "administrator rights" in await refusal(bot.send_message(NEWS, "hi"))
        sim.set_status(TEAM, BOT, "restricted")
        assert "Not enough rights" in await refusal(bot.send_message(TEAM, "hi"))


async def test_message_ids_count_up_per_chat_and_are_shared_where_telegram_shares_them() -> None:
    async with team() as (sim, bot):
        await sim.say(ANN, ANN, "/start")
        ids = [(await bot.send_message(chat, "hi")).message_id for chat in (TEAM, TEAM, FORUM, BASIC, ANN)]
        assert ids == [1, 2, REPORTS + 1, 2, 3]


# topics


async def test_a_topic_is_named_by_its_id_and_general_by_none() -> None:
    async with team() as (sim, bot):
        sent = await bot.send_message(FORUM, "hi", message_thread_id=REPORTS)
        assert (sent.message_thread_id, sent.is_topic_message) == (REPORTS, True)
        assert sim.ledger.entries[-1].thread == str(REPORTS)
        plain = await bot.send_message(FORUM, "hi")
        assert (plain.message_thread_id, plain.is_topic_message) == (None, None)
        for number in (1, 77):
            call = bot.send_message(FORUM, "hi", message_thread_id=number)
            assert await refusal(call) == "Message thread not found"


async def test_a_plain_groups_chain_is_no_thread_to_send_to() -> None:
    async with team(privacy=False) as (sim, bot):
        root = await sim.say(ANN, TEAM, "one")
        call = bot.send_message(TEAM, "hi", message_thread_id=root)
        assert await refusal(call) == "Message thread not found"
        reply = await bot.send_message(TEAM, "hi", reply_parameters=ReplyParameters(root))
        assert (reply.message_thread_id, reply.is_topic_message) == (root, None)


async def test_closed_and_deleted_topics_take_nothing() -> None:
    async with team() as (sim, bot):
        sim.close_topic(FORUM, REPORTS)
        assert await refusal(bot.send_message(FORUM, "hi", message_thread_id=REPORTS)) == "Topic_closed"
        with pytest.raises(ValueError, match="is closed"):
            await sim.say(ANN, FORUM, "hi", topic=REPORTS)
        sim.reopen_topic(FORUM, REPORTS)
        await bot.send_message(FORUM, "hi", message_thread_id=REPORTS)
        sim.delete_topic(FORUM, REPORTS)
        call = bot.send_message(FORUM, "hi", message_thread_id=REPORTS)
        assert await refusal(call) == "Message thread not found"
        assert sim.ledger.seen(str(FORUM)) == []


async def test_opening_a_topic_needs_a_forum_a_right_and_a_name() -> None:
    async with team() as (sim, bot):
        assert "not a forum" in await refusal(bot.create_forum_topic(TEAM, "New"))
        assert "Not enough rights" in await refusal(bot.create_forum_topic(FORUM, "New"))
        sim.set_status(FORUM, BOT, "administrator")
        assert "TITLE_EMPTY" in (await refusal(bot.create_forum_topic(FORUM, ""))).upper()
        assert "TITLE_TOO_LONG" in (await refusal(bot.create_forum_topic(FORUM, "x" * 129))).upper()
        topic = await bot.create_forum_topic(FORUM, "New")
        await bot.send_message(FORUM, "hi", message_thread_id=topic.message_thread_id)
        await bot.close_forum_topic(FORUM, topic.message_thread_id)
        call = bot.send_message(FORUM, "hi", message_thread_id=topic.message_thread_id)
        assert await refusal(call) == "Topic_closed"
        await bot.reopen_forum_topic(FORUM, topic.message_thread_id)
        await bot.send_message(FORUM, "hi", message_thread_id=topic.message_thread_id)


async def test_typing_is_shown_in_general_by_its_number_one() -> None:
    async with team() as (sim, bot):
        await bot.send_chat_action(FORUM, "typing", message_thread_id=1)
        await bot.send_chat_action(FORUM, "upload_document", message_thread_id=REPORTS)
        assert [(one.topic, one.action) for one in sim.actions] == [
            (1, "typing"),
            (REPORTS, "upload_document"),
        ]
        assert "thread not found" in await refusal(bot.send_chat_action(TEAM, "typing", message_thread_id=1))
        assert "wrong parameter action" in (await refusal(bot.send_chat_action(TEAM, "dancing"))).lower()
        await bot.send_chat_action(NEWS, "typing")
        assert sim.complaints == ["sendChatAction: channels show no action."]


# replies


async def test_a_reply_carries_what_it_replies_to() -> None:
    async with team() as (sim, bot):
        asked = await sim.say(ANN, TEAM, "@my_bot hi")
        sent = await bot.send_message(TEAM, "hello", reply_parameters=ReplyParameters(asked))
        assert sent.reply_to_message is not None
        assert sent.reply_to_message.text == "@my_bot hi"
        assert sim.ledger.entries[-1].reply_to == str(asked)


async def test_a_reply_to_a_topics_message_stands_in_that_topic() -> None:
    async with team() as (sim, bot):
        asked = await sim.say(ANN, FORUM, "@my_bot hi", topic=REPORTS)
        sent = await bot.send_message(FORUM, "hello", reply_parameters=ReplyParameters(asked))
        assert sent.message_thread_id == REPORTS


async def test_a_reply_to_what_is_gone_is_refused_unless_it_may_go_without() -> None:
    async with team() as (sim, bot):
        asked = await sim.say(ANN, TEAM, "@my_bot hi")
        await sim.delete(ANN, TEAM, asked)
        for gone in (asked, 999):
            call = bot.send_message(TEAM, "hello", reply_parameters=ReplyParameters(gone))
            assert await refusal(call) == "Message to be replied not found"
            without = ReplyParameters(gone, allow_sending_without_reply=True)
            assert (await bot.send_message(TEAM, "hello", reply_parameters=without)).reply_to_message is None


async def test_a_reply_across_topics_is_refused_in_any_case() -> None:
    async with team() as (sim, bot):
        asked = await sim.say(ANN, FORUM, "@my_bot hi")
        across = ReplyParameters(asked, allow_sending_without_reply=True)
        call = bot.send_message(FORUM, "hello", message_thread_id=REPORTS, reply_parameters=across)
        assert await refusal(call) == "Message to be replied not found"


async def test_unknown_fields_of_a_reply_are_complained_about() -> None:
    async with team() as (sim, _bot):
        asked = await sim.say(ANN, TEAM, "hi")
        wanted = {"message_id": asked, "loudly": True}
        await post(sim, "sendMessage", chat_id=TEAM, text="hello", reply_parameters=wanted)
        assert sim.complaints == ["sendMessage: unknown field 'loudly' in reply_parameters"]
        status, _body = await post(sim, "sendMessage", chat_id=TEAM, text="hello", reply_parameters=[asked])
        assert status == 400


# the rest


async def test_a_draft_grows_in_private_only() -> None:
    async with team() as (sim, _):

        async def draft(chat: int, number: int, text: str, **more: str) -> str:
            """Make the call, which older clients have no method for; return how it is refused."""
            args = {"chat_id": chat, "draft_id": number, "text": text, **more}
            _, answer = await post(sim, "sendMessageDraft", **args)
            return str(answer.get("description", ""))

        await sim.say(ANN, ANN, "/start")
        assert await draft(ANN, 3, "hel") == ""
        assert await draft(ANN, 3, "<b>hello</b>", parse_mode="HTML") == ""
        assert sim.state.drafts == {(ANN, 3): "hello"}
        assert [entry.text for entry in sim.ledger.seen(str(ANN))] == ["/start"]
        assert "private" in await draft(TEAM, 3, "x")
        assert "non-zero" in await draft(ANN, 0, "x")
        assert "message is too long" in await draft(ANN, 3, "x" * 4097)


async def test_a_reaction_is_one_emoji_of_the_list() -> None:
    async with team() as (sim, bot):
        asked = await sim.say(ANN, TEAM, "@my_bot hi")
        await bot.set_message_reaction(TEAM, asked, "👀")
        assert sim.ledger.entries[0].raw["reactions"] == ["👀"]
        await bot.set_message_reaction(TEAM, asked, None)
        assert sim.ledger.entries[0].raw["reactions"] == []
        assert await refusal(bot.set_message_reaction(TEAM, asked, "🧇")) == "Reaction_invalid"
        assert await refusal(bot.set_message_reaction(TEAM, asked, ["👀", "👍"])) == "Reactions_too_many"
        assert "not found" in await refusal(bot.set_message_reaction(TEAM, 999, "👀"))


async def test_chats_and_members_can_be_looked_up() -> None:
    async with team() as (sim, bot):
        assert (await bot.get_chat(FORUM)).is_forum
        assert (await bot.get_chat_member(TEAM, ANN)).status == "member"
        assert (await bot.get_chat_member(TEAM, EVE)).status == "left"
        for status in ("creator", "administrator", "restricted", "kicked"):
            sim.set_status(TEAM, BOT if status == "administrator" else EVE, status)
            user = BOT if status == "administrator" else EVE
            assert (await bot.get_chat_member(TEAM, user)).status == status
        assert [one.user.id for one in await bot.get_chat_administrators(TEAM)] == [BOT]
        assert await bot.get_chat_member_count(TEAM) == 3
        assert "PARTICIPANT" in (await refusal(bot.get_chat_member(TEAM, 12345))).upper()
        assert await refusal(bot.get_chat(-99)) == "Chat not found"
        await sim.say(ANN, ANN, "/start")
        assert await bot.get_chat_member_count(ANN) == 2
        assert "no administrators" in await refusal(bot.get_chat_administrators(ANN))
        assert "private chats" in await refusal(bot.leave_chat(ANN))
