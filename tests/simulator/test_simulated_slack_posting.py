"""Posting, changing and deleting, as the real client does it."""

from __future__ import annotations

from typing import Any

import pytest
from simulator.slackside import client, listening, refused, workspace

TS = "1767225600.000100"


async def test_a_reply_stands_in_its_thread_and_is_seen_there() -> None:
    async with workspace() as slack:
        root = await slack.say("U1", "C1", "hi")
        metadata = {"event_type": "bot_post", "event_payload": {"key": "o-1"}}
        answer = await client(slack).chat_postMessage(
            channel="C1", text="yes", thread_ts=root, metadata=metadata
        )
        assert answer["message"]["thread_ts"] == root
        assert [entry.text for entry in slack.ledger.seen("C1", root)] == ["hi", "yes"]
        (entry,) = [entry for entry in slack.ledger.seen("C1") if entry.from_bot]
        assert (entry.id, entry.key, entry.author) == (answer["ts"], "o-1", "UBOT")
        assert [entry.text for entry in slack.ledger.seen("C1", "")] == ["hi"]


async def test_stamps_have_six_digits_and_only_grow() -> None:
    async with workspace() as slack:
        stamps = [await slack.say("U1", "C1", "x") for _ in range(50)]
        assert stamps == sorted(set(stamps))
        assert {len(stamp.split(".")[1]) for stamp in stamps} == {6}


async def test_a_post_into_a_thread_that_is_gone_lands_at_the_top_without_a_word() -> None:
    async with workspace() as slack:
        root = await slack.say("U1", "C1", "hi")
        await slack.delete("U1", "C1", root)
        for thread in (root, TS):
            answer = await client(slack).chat_postMessage(channel="C1", text="lost", thread_ts=thread)
            assert "thread_ts" not in answer["message"]
        assert [entry.text for entry in slack.ledger.seen("C1", "")] == ["lost", "lost"]


async def test_a_thread_hung_on_a_reply_is_told_as_a_mistake() -> None:
    async with workspace() as slack:
        root = await slack.say("U1", "C1", "hi")
        reply = await slack.say("U1", "C1", "more", thread_ts=root)
        await client(slack).chat_postMessage(channel="C1", text="confused", thread_ts=reply)
        assert "is a reply" in slack.complaints[0]
        assert [entry.text for entry in slack.ledger.seen("C1", root)] == ["hi", "more"]


@pytest.mark.parametrize(
    ("channel", "error"),
    [("C404", "channel_not_found"), ("C9", "not_in_channel"), ("G9", "channel_not_found")],
)
async def test_a_post_where_the_bot_is_not_is_refused(channel: str, error: str) -> None:
    async with workspace() as slack:
        assert (await refused(client(slack).chat_postMessage(channel=channel, text="x")))["error"] == error
        assert slack.ledger.entries == []


async def test_a_public_channel_can_be_posted_to_with_the_scope_for_it() -> None:
    async with workspace() as slack:
        slack.scopes.add("chat:write.public")
        assert (await client(slack).chat_postMessage(channel="C9", text="x"))["ok"]


async def test_an_archived_channel_takes_nothing() -> None:
    async with workspace() as slack:
        await slack.archive("C1")
        assert (await refused(client(slack).chat_postMessage(channel="C1", text="x")))[
            "error"
        ] == "is_archived"


async def test_a_users_id_reaches_the_direct_message_whose_own_id_is_answered() -> None:
    async with workspace() as slack:
        first = await client(slack).chat_postMessage(channel="U1", text="x")
        second = await client(slack).chat_postMessage(channel="U2", text="x")
        again = await client(slack).chat_postMessage(channel="U2", text="x")
        assert first["channel"] == "D1"
        assert second["channel"] == again["channel"] != "D1"


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ({"text": " \n "}, "no_text"),
        ({}, "no_text"),
        ({"markdown_text": "x", "text": "x"}, "markdown_text_conflict"),
        ({"markdown_text": "x" * 12_001}, "msg_too_long"),
        ({"text": "x", "metadata": {"event_type": "e"}}, "invalid_metadata_format"),
        (
            {"text": "x", "metadata": {"event_type": "e", "event_payload": {}, "z": 1}},
            "invalid_metadata_schema",
        ),
        (
            {"text": "x", "metadata": {"event_type": "e", "event_payload": {"k": "x" * 9000}}},
            "metadata_too_large",
        ),
        ({"text": "x", "attachments": [{"text": "a"}] * 101}, "too_many_attachments"),
    ],
)
@pytest.mark.filterwarnings("ignore:The top-level `text` argument:UserWarning")
async def test_content_that_no_post_may_have_is_refused(content: dict[str, Any], error: str) -> None:
    async with workspace() as slack:
        assert (await refused(client(slack).chat_postMessage(channel="C1", **content)))["error"] == error
        assert slack.ledger.entries == []


async def test_a_long_text_is_split_and_only_the_first_ts_comes_back() -> None:
    async with workspace() as slack:
        answer = await client(slack).chat_postMessage(channel="C1", text="x" * 41_000)
        shown = slack.ledger.seen("C1")
        assert [len(entry.text) for entry in shown] == [4000] * 10
        assert answer["ts"] == shown[0].id


async def test_an_update_replaces_text_blocks_and_buttons_and_keeps_the_metadata() -> None:
    async with workspace() as slack:
        button = {"type": "button", "action_id": "go", "text": {"type": "plain_text", "text": "Go"}}
        blocks = [{"type": "actions", "elements": [button]}]
        metadata = {"event_type": "e", "event_payload": {"key": "k"}}
        posted = await client(slack).chat_postMessage(
            channel="C1", text="a", blocks=blocks, metadata=metadata
        )
        (entry,) = slack.ledger.entries
        assert [button["label"] for button in entry.buttons] == ["Go"]
        await client(slack).chat_update(channel="C1", ts=posted["ts"], text="b")
        assert (entry.text, entry.history, entry.buttons, entry.key) == ("b", ["a"], [], "k")
        await client(slack).chat_update(channel="C1", ts=posted["ts"], text="b", metadata={})
        assert entry.key == ""


async def test_only_the_bots_own_messages_can_be_changed_or_deleted() -> None:
    async with workspace() as slack:
        ts = await slack.say("U1", "C1", "mine")
        api = client(slack)
        assert (await refused(api.chat_update(channel="C1", ts=ts, text="x")))[
            "error"
        ] == "cant_update_message"
        assert (await refused(api.chat_delete(channel="C1", ts=ts)))["error"] == "cant_delete_message"
        assert (await refused(api.chat_update(channel="C1", ts=TS, text="x")))["error"] == "message_not_found"
        assert (await refused(api.chat_delete(channel="C1", ts=TS)))["error"] == "message_not_found"


async def test_an_update_over_four_thousand_characters_is_refused_unlike_a_post() -> None:
    async with workspace() as slack:
        ts = (await client(slack).chat_postMessage(channel="C1", text="x"))["ts"]
        long = client(slack).chat_update(channel="C1", ts=ts, text="x" * 4001)
        assert (await refused(long))["error"] == "msg_too_long"
        assert slack.ledger.entries[0].text == "x"


async def test_a_deleted_post_is_no_longer_seen() -> None:
    async with workspace() as slack:
        ts = (await client(slack).chat_postMessage(channel="C1", text="x"))["ts"]
        await client(slack).chat_delete(channel="C1", ts=ts)
        assert slack.ledger.seen("C1") == []
        assert slack.ledger.entries[0].deleted


async def test_an_ephemeral_is_for_one_member_and_cannot_be_read_back_or_updated() -> None:
    async with workspace() as slack:
        api = client(slack)
        answer = await api.chat_postEphemeral(channel="C1", user="U1", text="psst")
        assert [entry.text for entry in slack.ledger.seen("C1", viewer="U1")] == ["psst"]
        assert slack.ledger.seen("C1", viewer="U2") == slack.ledger.seen("C1") == []
        assert (await api.conversations_history(channel="C1"))["messages"] == []
        update = api.chat_update(channel="C1", ts=answer["message_ts"], text="x")
        assert (await refused(update))["error"] == "message_not_found"
        stranger = api.chat_postEphemeral(channel="G1", user="U2", text="x")
        assert (await refused(stranger))["error"] == "user_not_in_channel"


async def test_own_posts_and_edits_come_back_as_events() -> None:
    async with workspace() as slack, listening(slack) as bot:
        ts = (await client(slack).chat_postMessage(channel="C1", text="<@UBOT> x"))["ts"]
        await client(slack).chat_update(channel="C1", ts=ts, text="y")
        echo, edit = await bot.event(), await bot.event()
        assert (echo["type"], echo["bot_id"], echo["user"], echo["ts"]) == ("message", "BBOT", "UBOT", ts)
        assert (edit["subtype"], edit["message"]["text"]) == ("message_changed", "y")
        assert edit["previous_message"]["text"] == "<@UBOT> x"


@pytest.mark.parametrize(
    ("text", "asked", "previews"),
    [
        ("see https://x.example/a", {}, 0),
        ("see https://x.example/a", {"unfurl_links": True}, 1),
        ("see https://x.example/a.png", {}, 1),
        ("see https://x.example/a.png", {"unfurl_media": False}, 0),
    ],
)
async def test_a_link_is_previewed_only_where_that_was_asked_for(
    text: str, asked: dict[str, Any], previews: int
) -> None:
    async with workspace() as slack, listening(slack) as bot:
        await client(slack).chat_postMessage(channel="C1", text=text, **asked)
        await client(slack).chat_postMessage(channel="C1", text="end")
        events = [await bot.event() for _ in range(2 + previews)]
        changes = [event for event in events if event.get("subtype") == "message_changed"]
        assert len(changes) == previews
        assert all("edited" not in change["message"] for change in changes)


async def test_a_stream_grows_ends_and_then_takes_no_more() -> None:
    async with workspace() as slack:
        root = await slack.say("U1", "D1", "tell")
        api = client(slack)
        ts = (await api.chat_startStream(channel="D1", thread_ts=root, markdown_text="a"))["ts"]
        await api.chat_appendStream(channel="D1", ts=ts, markdown_text="b")
        conflict = api.chat_update(channel="D1", ts=ts, text="x")
        assert (await refused(conflict))["error"] == "streaming_state_conflict"
        await api.chat_stopStream(channel="D1", ts=ts, markdown_text="c")
        assert slack.ledger.seen("D1", root)[-1].text == "abc"
        late = api.chat_appendStream(channel="D1", ts=ts, markdown_text="d")
        assert (await refused(late))["error"] == "message_not_in_streaming_state"


async def test_a_stream_outside_direct_messages_names_its_reader_and_closes_by_itself() -> None:
    async with workspace() as slack:
        slack.windows.stream = 0.0
        root = await slack.say("U1", "C1", "tell")
        api = client(slack)
        bare = api.chat_startStream(channel="C1", thread_ts=root)
        assert (await refused(bare))["error"] == "missing_recipient_user_id"
        stream = await api.chat_startStream(
            channel="C1", thread_ts=root, recipient_user_id="U1", recipient_team_id="T1"
        )
        late = api.chat_stopStream(channel="C1", ts=stream["ts"])
        assert (await refused(late))["error"] == "message_not_in_streaming_state"


async def test_a_permalink_is_of_a_message_that_is_there() -> None:
    async with workspace() as slack:
        ts = await slack.say("U1", "C1", "x")
        link = await client(slack).chat_getPermalink(channel="C1", message_ts=ts)
        assert link["permalink"].endswith(f"/archives/C1/p{ts.replace('.', '')}")
        gone = client(slack).chat_getPermalink(channel="C1", message_ts=TS)
        assert (await refused(gone))["error"] == "message_not_found"
