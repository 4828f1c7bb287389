"""The control door of the simulated Telegram: people played over HTTP."""

from __future__ import annotations

import asyncio
import base64
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from simulator.telegram_place import ANN, BOB, FORUM, TEAM, heard, team
from telegram import InlineKeyboardButton, InlineKeyboardMarkup
from telegram.error import NetworkError

if TYPE_CHECKING:
    from hermes_bot.simulator.telegram import TelegramSimulator


def home(sim: TelegramSimulator) -> str:
    return sim.base_url.removesuffix("/bot")


async def act(sim: TelegramSimulator, action: str, **given: Any) -> dict[str, Any]:
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{home(sim)}/sim/{action}", json=given) as answer,
    ):
        body: dict[str, Any] = await answer.json()
        assert (answer.status == 200) == ("result" in body)
        return body


async def look(sim: TelegramSimulator, path: str, **query: str) -> Any:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{home(sim)}/sim{path}", params=query) as answer,
    ):
        return await answer.json()


async def test_a_conversation_is_held_over_http() -> None:
    async with team() as (sim, bot), asyncio.TaskGroup() as group:
        said = await act(sim, "say", user=ANN, chat=TEAM, text="@my_bot deploy")
        assert said == {"result": 1}
        await heard(bot)
        markup = InlineKeyboardMarkup([[InlineKeyboardButton("Yes", callback_data="y")]])
        sent = await bot.send_message(TEAM, "Sure?", reply_markup=markup)
        press = group.create_task(
            act(sim, "press", user=BOB, chat=TEAM, message=sent.message_id, label="Yes")
        )
        (update,) = await bot.get_updates(timeout=5)
        assert update.callback_query is not None
        await update.callback_query.answer("Noted")
        assert (await press)["result"] == {"text": "Noted", "is_alert": False, "is_answered": True}
        await act(sim, "edit", user=ANN, chat=TEAM, message=1, text="@my_bot never mind")

        entries = (await look(sim, "/ledger", channel=str(TEAM)))["entries"]
        assert [entry["text"] for entry in entries] == ["@my_bot never mind", "Sure?"]
        mine = (await look(sim, "/ledger", channel=str(TEAM), viewer=str(BOB)))["entries"]
        assert mine[-1]["text"] == "Noted"
        later = (await look(sim, "/ledger", since="2"))["entries"]
        assert [entry["text"] for entry in later] == ["Noted"]


async def test_people_places_files_and_faults_come_through_the_door_too() -> None:
    async with team() as (sim, bot):
        await act(sim, "add_user", user=70, name="Dora")
        await act(sim, "add_chat", chat=-1070, title="Ops", members=[70], topics={"3": "Alerts"})
        text = base64.b64encode(b"hello").decode()
        files = [
            {"name": "log.txt", "base64": text, "kind": "document"},
            {"name": "b.txt", "text": "b"},
        ]
        await act(sim, "say", user=70, chat=-1070, topic=3, text="@my_bot", files=files)
        (update,) = await heard(bot)
        assert update["message"]["document"]["file_size"] == 5
        assert update["message"]["message_thread_id"] == 3

        await act(sim, "fault", method="sendMessage", kind="server_error")
        with pytest.raises(NetworkError):
            await bot.send_message(TEAM, "a")
        await act(sim, "fault", method="sendMessage", kind="server_error", times=9)
        await act(sim, "clear_faults")
        await bot.send_message(TEAM, "a")
        pushed = await act(sim, "push", update={"message": "broken"})
        assert pushed["result"] > update["update_id"]


async def test_the_state_tells_what_is_no_message() -> None:
    async with team() as (sim, bot):
        await sim.say(ANN, TEAM, "@my_bot hi")
        await bot.set_my_commands([("run", "Start a run")])
        state = await look(sim, "/state")
        assert state["pending_updates"] == 1
        assert state["commands"] == {"default": [{"command": "run", "description": "Start a run"}]}
        assert {"id": FORUM, "is_forum": True}.items() <= state["chats"][1].items()
        assert "say" in await look(sim, "")


@pytest.mark.parametrize(
    ("action", "given", "words"),
    [
        ("dance", {}, "There is no /sim/dance"),
        ("say", {"user": ANN}, "/sim/say (user, chat, text, topic, reply_to"),
        ("say", {"user": ANN, "chat": TEAM, "text": "hi", "mood": 1}, "mood"),
        ("say", {"user": 1, "chat": TEAM, "text": "hi"}, "There is no user 1"),
        ("kick", {"chat": -9}, "There is no chat -9"),
        ("fault", {"method": "sendMessage"}, "kind"),
    ],
)
async def test_a_wrong_action_says_what_is_wrong(action: str, given: dict[str, Any], words: str) -> None:
    async with team() as (sim, _bot):
        assert words in (await act(sim, action, **given))["error"]


async def test_a_web_page_cannot_use_the_door() -> None:
    async with team() as (sim, _bot), aiohttp.ClientSession() as session:
        say = f"{home(sim)}/sim/say"
        async with session.post(say, data=b'{"user": 7, "chat": 7, "text": "hi"}') as answer:
            assert answer.status == 415, "a form or text may be sent without asking; JSON may not"
        for host, status in (("evil.example", 403), ("localhost", 200), ("[::1]:80", 200)):
            async with session.get(f"{home(sim)}/sim/state", headers={"Host": host}) as answer:
                assert answer.status == status
        async with session.post(say, data=b"[1]", headers={"Content-Type": "application/json"}) as answer:
            assert answer.status == 400
        assert sim.ledger.entries == []
