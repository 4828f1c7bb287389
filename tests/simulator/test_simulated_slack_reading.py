"""Reading conversations back, and files both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aiohttp
import pytest
from simulator.slackside import client, listening, refused, workspace
from slack_sdk.errors import SlackRequestError

from hermes_bot.simulator import Fault

if TYPE_CHECKING:
    from hermes_bot.simulator.slack import SlackSimulator


async def get(url: str, token: str) -> tuple[int, str, bytes]:
    headers = {"Authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as response:
        return response.status, response.content_type, await response.read()


async def thread(slack: SlackSimulator, replies: int) -> list[str]:
    root = await slack.say("U1", "C1", "root")
    return [root, *[await slack.say("U1", "C1", str(n), thread_ts=root) for n in range(replies)]]


async def test_a_thread_is_read_in_pages_each_headed_by_its_root() -> None:
    async with workspace() as slack:
        root, *replies = await thread(slack, 5)
        await slack.say("U1", "C1", "not in it")
        pages, cursor = [], ""
        while True:
            page = await client(slack).conversations_replies(channel="C1", ts=root, limit=2, cursor=cursor)
            pages.append([message["ts"] for message in page["messages"]])
            cursor = page["response_metadata"]["next_cursor"]
            assert page["has_more"] == bool(cursor)
            if not cursor:
                break
        assert pages == [[root, *replies[:2]], [root, *replies[2:4]], [root, *replies[4:]]]


async def test_a_thread_can_be_read_from_a_moment_on() -> None:
    async with workspace() as slack:
        root, *replies = await thread(slack, 4)
        for inclusive, expected in ((False, replies[2:]), (True, replies[1:])):
            page = await client(slack).conversations_replies(
                channel="C1", ts=root, oldest=replies[1], inclusive=inclusive
            )
            assert [message["ts"] for message in page["messages"]][1:] == expected
        page = await client(slack).conversations_replies(channel="C1", ts=root, latest=replies[1])
        assert [message["ts"] for message in page["messages"]][1:] == replies[:1]


async def test_a_channel_is_read_newest_first_without_replies() -> None:
    async with workspace() as slack:
        root, *_ = await thread(slack, 2)
        later = [await slack.say("U1", "C1", str(n)) for n in range(3)]
        await slack.delete("U1", "C1", later[1])
        page = await client(slack).conversations_history(channel="C1")
        assert [message["ts"] for message in page["messages"]] == [later[2], later[0], root]
        assert page["messages"][-1]["reply_count"] == 2
        first = await client(slack).conversations_history(channel="C1", limit=1)
        second = await client(slack).conversations_history(
            channel="C1", limit=1, cursor=first["response_metadata"]["next_cursor"]
        )
        assert second["messages"][0]["ts"] == later[0]


async def test_a_posts_key_is_found_again_by_its_metadata_where_that_is_asked_for() -> None:
    async with workspace() as slack:
        api = client(slack)
        root = await slack.say("U1", "C1", "root")
        metadata = {"event_type": "bot_post", "event_payload": {"key": "o-1"}}
        await api.chat_postMessage(channel="C1", text="x", thread_ts=root, metadata=metadata)
        asked = await api.conversations_replies(channel="C1", ts=root, include_all_metadata=True)
        unasked = await api.conversations_replies(channel="C1", ts=root)
        assert asked["messages"][1]["metadata"] == metadata
        assert "metadata" not in unasked["messages"][1]


async def test_replies_outlive_their_root() -> None:
    async with workspace() as slack:
        root, reply = await thread(slack, 1)
        await slack.delete("U1", "C1", root)
        page = await client(slack).conversations_replies(channel="C1", ts=root)
        assert [message["ts"] for message in page["messages"]] == [reply]
        lone = await slack.say("U1", "C1", "lone")
        await slack.delete("U1", "C1", lone)
        gone = client(slack).conversations_replies(channel="C1", ts=lone)
        assert (await refused(gone))["error"] == "thread_not_found"


async def test_what_the_bot_may_not_read_is_refused() -> None:
    async with workspace() as slack:
        api = client(slack)
        errors = [
            (await refused(api.conversations_history(channel=channel)))["error"]
            for channel in ("C9", "G9", "C404")
        ]
        assert errors == ["not_in_channel", "channel_not_found", "channel_not_found"]
        bad = await refused(api.conversations_history(channel="C1", cursor="nonsense"))
        assert bad["error"] == "invalid_cursor"


async def test_channels_are_described_listed_joined_and_opened() -> None:
    async with workspace() as slack:
        slack.scopes |= {"channels:join", "mpim:write"}
        api = client(slack)
        info = (await api.conversations_info(channel="C9"))["channel"]
        assert (info["name"], info["is_member"], info["is_archived"]) == ("elsewhere", False, False)
        listed = await api.conversations_list(types="public_channel,private_channel")
        assert [channel["id"] for channel in listed["channels"]] == ["C1", "G1", "C9"]
        mine = await api.users_conversations(types="public_channel,private_channel,im")
        assert [channel["id"] for channel in mine["channels"]] == ["C1", "G1", "D1"]
        assert (await api.conversations_members(channel="C1"))["members"] == ["U1", "U2", "UBOT"]
        assert "warning" not in (await api.conversations_join(channel="C9")).data
        assert (await api.conversations_join(channel="C9"))["warning"] == "already_in_channel"
        assert (await api.conversations_open(users="U1"))["channel"]["id"] == "D1"
        opened = [(await api.conversations_open(users="U1,U2"))["channel"]["id"] for _ in range(2)]
        assert opened[0] == opened[1] != "D1"
        odd = api.conversations_list(types="secret_channel")
        assert (await refused(odd))["error"] == "invalid_types"


async def test_a_person_is_described_with_their_zone() -> None:
    async with workspace() as slack:
        user = (await client(slack).users_info(user="U1"))["user"]
        assert (user["name"], user["tz"], user["is_bot"]) == ("ann", "Europe/Berlin", False)
        assert (await refused(client(slack).users_info(user="U404")))["error"] == "user_not_found"


async def test_an_upload_appears_in_its_thread_a_moment_later() -> None:
    async with workspace() as slack, listening(slack) as bot:
        root = await slack.say("U1", "D1", "plot it")
        await bot.event()
        answer = await client(slack).files_upload_v2(
            channel="D1",
            thread_ts=root,
            filename="plot.png",
            content=b"\x89PNG",
            title="Plot",
            initial_comment="Here",
        )
        file = answer["files"][0]["id"]
        assert slack.ledger.seen("D1", root)[1:] == []
        entry = await slack.ledger.wait_for(lambda entry: entry.from_bot)
        assert (entry.thread, entry.text, entry.files[0]["title"]) == (root, "Here", "Plot")
        assert (await bot.event())["subtype"] == "file_share"
        info = (await client(slack).files_info(file=file))["file"]
        assert info["shares"] == {"private": {"D1": [{"ts": entry.id}]}}


async def test_several_files_of_one_call_share_one_message() -> None:
    async with workspace() as slack:
        uploads = [{"filename": f"{n}.txt", "content": "x" * n} for n in (1, 2)]
        await client(slack).files_upload_v2(channel="C1", file_uploads=uploads)
        entry = await slack.ledger.wait_for(lambda entry: entry.from_bot)
        assert [file["name"] for file in entry.files] == ["1.txt", "2.txt"]


async def test_what_an_upload_does_wrong_is_refused() -> None:
    async with workspace() as slack, aiohttp.ClientSession() as session:
        api = client(slack)
        empty = await refused(api.files_getUploadURLExternal(filename="a", length=0))
        assert empty["error"] == "missing_argument"
        announced = await api.files_getUploadURLExternal(filename="a", length=3)
        early = api.files_completeUploadExternal(files=[{"id": announced["file_id"]}], channel_id="C1")
        assert (await refused(early))["error"] == "file_not_found"
        async with session.post(announced["upload_url"], data=b"four") as response:
            assert response.status == 400
        assert "4 bytes came, 3 were announced" in slack.complaints[0]
        async with session.post(announced["upload_url"], data=b"abc") as response:
            assert (response.status, await response.text()) == (200, "OK - 3")
        outside = api.files_completeUploadExternal(files=[{"id": announced["file_id"]}], channel_id="C9")
        assert (await refused(outside))["error"] == "not_in_channel"
        with pytest.raises(SlackRequestError):
            await api.files_upload_v2(channel="C1", filename="a")


async def test_a_file_can_be_shown_in_a_block_once_slack_has_processed_it() -> None:
    async with workspace() as slack:
        slack.windows.processing = 60.0
        api = client(slack)
        for expected in ("invalid_blocks", ""):
            file = (await api.files_upload_v2(filename="a.png", content=b"x"))["files"][0]["id"]
            image = {"type": "image", "slack_file": {"id": file}, "alt_text": "a"}
            if expected:
                answer = await refused(api.chat_postMessage(channel="C1", text="x", blocks=[image]))
                assert answer["error"] == expected
            else:
                assert (await api.chat_postMessage(channel="C1", text="x", blocks=[image]))["ok"]
            slack.windows.processing = 0.0


async def test_a_persons_file_is_read_with_the_bots_token_and_others_get_a_login_page() -> None:
    async with workspace() as slack, listening(slack) as bot:
        await slack.say("U1", "D1", "", files=[("log.txt", b"line 1\n")])
        event = await bot.event()
        (file,) = event["files"]
        assert (event["subtype"], file["name"], file["size"]) == ("file_share", "log.txt", 7)
        assert await get(file["url_private"], slack.bot_token) == (200, "text/plain", b"line 1\n")
        status, kind, _page = await get(file["url_private"], "xoxb-other")
        assert (status, kind) == (200, "text/html")
        slack.scopes.discard("files:read")
        assert (await get(file["url_private_download"], slack.bot_token))[1] == "text/html"


async def test_sending_a_files_bytes_can_fail_too() -> None:
    async with workspace() as slack:
        slack.faults.add(Fault("upload", "server_error"))
        with pytest.raises(SlackRequestError):
            await client(slack).files_upload_v2(channel="C1", filename="a", content=b"x")
        assert slack.ledger.entries == []
