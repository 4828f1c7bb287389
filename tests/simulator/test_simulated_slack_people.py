"""What people do, and what the bot is told of it."""

from __future__ import annotations

import pytest
from simulator.slackside import client, listening, workspace


async def test_a_mention_in_a_channel_comes_as_two_events_of_one_message() -> None:
    async with workspace() as slack, listening(slack) as bot:
        ts = await slack.say("U1", "C1", "can you, <@UBOT>, list skills")
        first, second = await bot.request(), await bot.request()
        mention, message = first.payload["event"], second.payload["event"]
        assert (mention["type"], message["type"]) == ("app_mention", "message")
        assert mention["ts"] == message["ts"] == ts
        assert mention["client_msg_id"] == message["client_msg_id"]
        assert "channel_type" not in mention
        assert message["channel_type"] == "channel"
        assert first.payload["event_id"] != second.payload["event_id"]
        assert first.payload["authorizations"][0]["team_id"] == "T1"


async def test_the_two_can_come_the_other_way_round_and_apart() -> None:
    async with workspace() as slack, listening(slack) as bot:
        slack.swap_pairs, slack.pair_delay = True, 0.05
        await slack.say("U1", "C1", "<@UBOT> one")
        await slack.say("U1", "C1", "two")
        kinds = [((await bot.event())["type"]) for _ in range(3)]
        assert kinds == ["message", "message", "app_mention"]


@pytest.mark.parametrize(("channel", "kind"), [("G1", "group"), ("D1", "im"), ("C1", "channel")])
async def test_the_kind_of_channel_is_told_and_a_direct_message_is_no_mention(
    channel: str, kind: str
) -> None:
    async with workspace() as slack, listening(slack) as bot:
        await slack.say("U1", channel, "<@UBOT> hi")
        await slack.say("U1", channel, "end")
        events = [await bot.event()]
        while events[-1]["text"] != "end":
            events.append(await bot.event())
        assert [event["type"] for event in events] == [
            *(["app_mention"] if kind != "im" else []),
            "message",
            "message",
        ]
        assert events[-1]["channel_type"] == kind


async def test_where_the_bot_is_not_it_hears_nothing() -> None:
    async with workspace() as slack, listening(slack) as bot:
        await slack.say("U1", "C9", "<@UBOT> hi")
        await slack.say("U1", "D1", "end")
        assert (await bot.event())["text"] == "end"


@pytest.mark.parametrize(
    ("scope", "heard"), [("channels:history", ["app_mention"]), ("app_mentions:read", ["message"])]
)
async def test_an_event_whose_scope_is_missing_does_not_come(scope: str, heard: list[str]) -> None:
    async with workspace() as slack, listening(slack) as bot:
        slack.scopes.discard(scope)
        await slack.say("U1", "C1", "<@UBOT> hi")
        await slack.say("U1", "D1", "end")
        events = [await bot.event() for _ in range(2)]
        assert [event["type"] for event in events if event["text"] != "end"] == heard


async def test_a_reply_names_its_root_and_the_roots_author() -> None:
    async with workspace() as slack, listening(slack) as bot:
        root = await slack.say("U1", "C1", "root")
        reply = await slack.say("U2", "C1", "reply", thread_ts=root)
        await slack.say("U2", "C1", "on the reply", thread_ts=reply)
        _, first, second = [await bot.event() for _ in range(3)]
        assert (first["thread_ts"], first["parent_user_id"]) == (root, "U1")
        assert second["thread_ts"] == root
        assert [entry.text for entry in slack.ledger.seen("C1", root)] == ["root", "reply", "on the reply"]


async def test_an_edit_tells_both_texts_and_a_mention_once_more() -> None:
    async with workspace() as slack, listening(slack) as bot:
        ts = await slack.say("U1", "C1", "report May")
        await bot.event()
        await slack.edit("U1", "C1", ts, "<@UBOT> report June")
        change, mention = await bot.event(), await bot.event()
        assert (change["subtype"], change["hidden"], change["message"]["ts"]) == ("message_changed", True, ts)
        assert change["previous_message"]["text"] == "report May"
        assert change["message"]["edited"]["user"] == "U1"
        assert change["ts"] > ts
        assert (mention["type"], mention["ts"], mention["edited"]["user"]) == ("app_mention", ts, "U1")
        assert slack.ledger.entries[0].history == ["report May"]


async def test_a_preview_is_a_change_that_is_no_edit() -> None:
    async with workspace() as slack, listening(slack) as bot:
        ts = await slack.say("U1", "C1", "https://x.example")
        await slack.unfurl("C1", ts, "https://x.example")
        _, change = await bot.event(), await bot.event()
        assert change["subtype"] == "message_changed"
        assert "edited" not in change["message"]
        assert change["message"]["text"] == change["previous_message"]["text"]


async def test_a_deletion_is_told_and_a_root_with_replies_leaves_a_tombstone() -> None:
    async with workspace() as slack, listening(slack) as bot:
        alone, root = await slack.say("U1", "C1", "alone"), await slack.say("U1", "C1", "root")
        await slack.say("U2", "C1", "reply", thread_ts=root)
        await slack.delete("U1", "C1", alone)
        await slack.delete("U1", "C1", root)
        *_, deletion, tombstone = [await bot.event() for _ in range(5)]
        assert (deletion["subtype"], deletion["deleted_ts"]) == ("message_deleted", alone)
        assert (tombstone["subtype"], tombstone["message"]["subtype"]) == ("message_changed", "tombstone")
        assert [entry.text for entry in slack.ledger.seen("C1")] == ["reply"]


async def test_another_bot_posts_without_a_subtype_and_with_its_attachments() -> None:
    async with workspace() as slack, listening(slack) as bot:
        ts = await slack.post_as_bot("B2", "C1", "<@UBOT> thanks", attachments=[{"text": "disk 97 %"}])
        mention, message = await bot.event(), await bot.event()
        assert (mention["bot_id"], message["bot_id"]) == ("B2", "B2")
        assert "subtype" not in message
        assert message["attachments"] == [{"text": "disk 97 %"}]
        assert (await client(slack).conversations_history(channel="C1"))["messages"][0]["ts"] == ts


async def test_two_teams_have_their_own_channels_tokens_and_people() -> None:
    async with workspace() as slack, listening(slack) as bot:
        other = slack.add_team("T2")
        slack.add_user("U1", name="eve", team="T2")
        slack.add_channel("C1", members=("U1", other.bot_user), team="T2")
        await slack.say("U1", "C1", f"<@{other.bot_user}> hi", team="T2")
        mention = await bot.request()
        assert mention.payload["team_id"] == mention.payload["authorizations"][0]["team_id"] == "T2"
        assert mention.payload["authorizations"][0]["user_id"] == other.bot_user
        api = client(slack, other.bot_token)
        assert (await api.auth_test())["team_id"] == "T2"
        await api.chat_postMessage(channel="C1", text="for T2")
        assert slack.ledger.seen("C1", workspace="T1") == []
        assert [entry.text for entry in slack.ledger.seen("C1", workspace="T2")][-1] == "for T2"
        assert (await client(slack).users_info(user="U1"))["user"]["name"] == "ann"
        assert (await api.users_info(user="U1"))["user"]["name"] == "eve"


async def test_the_bot_is_told_of_its_own_coming_and_of_what_ends() -> None:
    async with workspace() as slack, listening(slack) as bot:
        slack.scopes.add("reactions:read")
        await slack.invite("UBOT", "C9", by="U1")
        ts = await slack.say("U1", "C9", "now it hears")
        await slack.react("U1", "C9", ts, "eyes")
        await slack.archive("C9", by="U1")
        await slack.revoke()
        events = [await bot.event() for _ in range(5)]
        assert [event["type"] for event in events] == [
            "member_joined_channel",
            "message",
            "reaction_added",
            "channel_archive",
            "tokens_revoked",
        ]
        assert (events[0]["user"], events[0]["inviter"]) == ("UBOT", "U1")


async def test_a_reply_tells_of_its_changed_root_where_that_is_wished() -> None:
    async with workspace() as slack, listening(slack) as bot:
        slack.site.tells_roots = True
        root = await slack.say("U1", "C1", "root")
        await slack.say("U1", "C1", "reply", thread_ts=root)
        events = [await bot.event() for _ in range(3)]
        change = next(event for event in events if event.get("subtype") == "message_changed")
        assert change["message"]["reply_count"] == 1
        assert "edited" not in change["message"]


async def test_what_nobody_could_do_is_an_error_of_the_test() -> None:
    async with workspace() as slack:
        ts = await slack.say("U1", "C1", "mine")
        with pytest.raises(LookupError, match="not in G1"):
            await slack.say("U2", "G1", "hi")
        with pytest.raises(LookupError, match="no channel C404"):
            await slack.say("U1", "C404", "hi")
        with pytest.raises(LookupError, match="no user U7"):
            await slack.say("U7", "C1", "hi")
        with pytest.raises(LookupError, match="not by U2"):
            await slack.edit("U2", "C1", ts, "yours")
        with pytest.raises(LookupError, match="no message"):
            await slack.say("U1", "C1", "hi", thread_ts="1.1")


async def test_a_message_can_be_old_when_it_is_delivered() -> None:
    async with workspace() as slack, listening(slack) as bot:
        new = await slack.say("U1", "D1", "new")
        old = await slack.say("U1", "D1", "old", ago=6 * 3600)
        await bot.request()
        late = await bot.request()
        assert late.payload["event"]["ts"] == old
        assert 6 * 3600 - 1 <= float(new) - late.payload["event_time"] <= 6 * 3600 + 1
        page = await client(slack).conversations_history(channel="D1")
        assert [message["text"] for message in page["messages"]] == ["new", "old"]
