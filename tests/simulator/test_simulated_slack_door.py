"""The simulator driven from outside its process, by JSON."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import aiohttp
from simulator.slackside import client, listening, refused, workspace

if TYPE_CHECKING:
    from hermes_bot.simulator.slack import SlackSimulator


async def post(slack: SlackSimulator, verb: str, **body: Any) -> tuple[int, Any]:
    url = f"{slack.site.home}/sim/{verb}"
    async with aiohttp.ClientSession() as session, session.post(url, json=body) as response:
        return response.status, await response.json()


async def get(slack: SlackSimulator, what: str) -> Any:
    url = f"{slack.site.home}/sim/{what}"
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        return await response.json()


async def test_people_act_and_the_bot_hears_them() -> None:
    async with workspace() as slack, listening(slack) as bot:
        assert (await post(slack, "add_user", user="U7", name="kim"))[0] == 200
        assert (await post(slack, "add_channel", channel="D7", members=["U7", "UBOT"], kind="im"))[0] == 200
        content = base64.b64encode(b"\x00").decode()
        files = [{"name": "a.bin", "base64": content}, {"name": "b.txt", "text": "b"}]
        _, said = await post(slack, "say", user="U7", channel="D7", text="hi", files=files)
        event = await bot.event()
        assert event["ts"] == said["result"]
        assert [file["size"] for file in event["files"]] == [1, 1]
        await post(slack, "edit", user="U7", channel="D7", ts=said["result"], text="hello")
        await post(slack, "delete", user="U7", channel="D7", ts=said["result"])
        assert [(await bot.event())["subtype"] for _ in range(2)] == ["message_changed", "message_deleted"]


async def test_commands_and_presses_say_how_they_were_taken() -> None:
    async with workspace() as slack, listening(slack) as bot:
        bot.payload = {"text": "the list"}
        _, answer = await post(slack, "slash", user="U1", channel="C1", command="/hermes", text="skills")
        assert answer["result"]["text"] == "the list"
        assert answer["result"]["entry"]["only_for"] == "U1"
        button = {"type": "button", "action_id": "go", "text": {"type": "plain_text", "text": "Go"}}
        posted = await client(slack).chat_postMessage(
            channel="C1", text="x", blocks=[{"type": "actions", "elements": [button]}]
        )
        _, pressed = await post(slack, "press", user="U1", channel="C1", ts=posted["ts"], label="Go")
        assert pressed["result"]["acked_ms"] > 0


async def test_a_fault_can_be_planned_and_settings_set() -> None:
    async with workspace() as slack:
        await post(slack, "fault", method="auth.test", kind="refuse", error="fatal_error")
        assert (await refused(client(slack).auth_test()))["error"] == "fatal_error"
        assert (await post(slack, "configure", swap_pairs=True, pair_delay=0.5))[0] == 200
        assert (slack.swap_pairs, slack.pair_delay) == (True, 0.5)


async def test_the_ledger_and_the_state_are_read_as_json() -> None:
    async with workspace() as slack, listening(slack) as bot:
        await slack.say("U1", "D1", "one")
        await bot.event()
        await client(slack).chat_postMessage(channel="D1", text="two")
        await bot.event()
        entries = (await get(slack, "ledger"))["entries"]
        assert [(entry["author"], entry["text"]) for entry in entries] == [("U1", "one"), ("UBOT", "two")]
        assert [entry["text"] for entry in (await get(slack, "ledger?since=1"))["entries"]] == ["two"]
        state = await get(slack, "state")
        assert state["teams"]["T1"]["bot_token"] == slack.bot_token
        assert state["calls"]["chat.postMessage"] == 1
        assert (state["num_sockets"], state["complaints"], state["lost"]) == (1, [], 0)
        assert state["acks"]["p99_ms"] >= state["acks"]["p50_ms"] > 0


async def test_what_cannot_be_done_is_answered_with_why() -> None:
    async with workspace() as slack:
        asked: list[tuple[str, dict[str, Any]]] = [
            ("say", {"user": "U1", "channel": "C404", "text": "x"}),
            ("say", {"user": "U1", "chanel": "C1", "text": "x"}),
            ("fault", {"what": "x"}),
            ("configure", {"speed": 3}),
        ]
        for verb, body in asked:
            status, answer = await post(slack, verb, **body)
            assert status == 400
            assert answer["error"].startswith(f"/sim/{verb} (")
        assert (await post(slack, "stop"))[0] == 404
