"""How calls reach the simulated Telegram, and what it says to wrong ones."""

from __future__ import annotations

import json

import aiohttp
import pytest
from simulator.telegram_place import ANN, TEAM, post, refusal, team
from telegram import Bot, BotCommand, BotCommandScopeAllGroupChats, BotCommandScopeChat
from telegram.error import EndPointNotFound, InvalidToken


async def test_the_bot_is_who_it_was_made_to_be() -> None:
    async with team(username="Other_Bot", bot_id=99, privacy=False) as (_sim, bot):
        me = await bot.get_me()
        assert (me.id, me.username, me.is_bot) == (99, "Other_Bot", True)
        assert me.can_read_all_group_messages


@pytest.mark.parametrize("name", ["getMe", "getme", "GETME"])
async def test_a_methods_case_does_not_matter(name: str) -> None:
    async with team() as (sim, _bot):
        status, body = await post(sim, name)
        assert (status, body["ok"], body["result"]["id"]) == (200, True, 42)
        assert sim.calls[-1].method == "getMe"


async def test_arguments_come_by_query_form_multipart_and_json() -> None:
    async with team() as (sim, _bot), aiohttp.ClientSession() as session:
        url = f"{sim.base_url}{sim.token}/sendMessage"
        given = {"chat_id": str(TEAM), "text": "<b>hi</b>", "parse_mode": "HTML"}
        parts = aiohttp.FormData()
        for name, value in given.items():
            parts.add_field(name, value, content_type="text/plain")
        for sent in (
            session.get(url, params=given),
            session.post(url, data=given),
            session.post(url, data=parts),
            session.post(url, json=given),
        ):
            async with sent as answer:
                assert (await answer.json())["result"]["text"] == "hi"
        assert len(sim.ledger.seen(str(TEAM))) == 4


async def test_nested_values_come_as_json_or_as_json_in_a_string() -> None:
    async with team() as (sim, _bot):
        keyboard = {"inline_keyboard": [[{"text": "Yes", "callback_data": "y"}]]}
        for markup in (keyboard, json.dumps(keyboard)):
            _status, body = await post(sim, "sendMessage", chat_id=TEAM, text="?", reply_markup=markup)
            assert body["result"]["reply_markup"] == keyboard


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"reply_markup": "{"}, "can't parse reply keyboard markup JSON object"),
        ({"reply_markup": "[1]"}, "object expected as reply markup"),
        ({"message_thread_id": "five"}, 'parameter "message_thread_id" must be a number'),
        ({"chat_id": ""}, "chat_id is empty"),
        ({"chat_id": "nobody"}, "chat not found"),
        ({"chat_id": "@nobody"}, "chat not found"),
        ({"entities": "{}{"}, "can't parse entities JSON object"),
    ],
)
async def test_arguments_that_make_no_sense_are_refused(args: dict[str, str], words: str) -> None:
    async with team() as (sim, _bot):
        status, body = await post(sim, "sendMessage", **({"chat_id": TEAM, "text": "hi"} | args))
        assert (status, body["error_code"]) == (400, 400)
        assert body["description"] == f"Bad Request: {words}"
        assert sim.ledger.entries == []


async def test_a_body_that_is_no_json_object_is_refused() -> None:
    async with team() as (sim, _bot), aiohttp.ClientSession() as session:
        for body in ("{", "[]"):
            headers = {"Content-Type": "application/json"}
            async with session.post(f"{sim.base_url}{sim.token}/getMe", data=body, headers=headers) as answer:
                assert answer.status == 400


async def test_a_chat_is_found_by_its_name() -> None:
    async with team() as (sim, bot):
        sim.add_chat(-1009, title="Public", username="PublicTeam")
        sent = await bot.send_message("@publicteam", "hi")
        assert sent.chat.id == -1009


async def test_an_unknown_method_is_not_found_and_complained_about() -> None:
    async with team() as (sim, bot):
        with pytest.raises(EndPointNotFound):
            await bot.do_api_request("sendRichMessage", api_kwargs={"chat_id": TEAM})
        assert (await post(sim, "sendRichMessage"))[0] == 404
        assert sim.complaints == ["sendRichMessage: no such method, or not simulated"] * 2


async def test_an_unknown_parameter_changes_nothing_but_is_complained_about() -> None:
    async with team() as (sim, bot):
        await bot.send_message(TEAM, "hi", api_kwargs={"sparkle": True})
        assert [entry.text for entry in sim.ledger.entries] == ["hi"]
        assert sim.complaints == ["sendMessage: unknown parameter 'sparkle'"]


async def test_a_wrong_token_is_unauthorized_and_a_malformed_one_not_found() -> None:
    async with team() as (sim, _bot), aiohttp.ClientSession() as session:
        for token, status in (("42:WRONG", 401), ("nonsense", 404)):
            async with session.post(f"{sim.base_url}{token}/getMe") as answer:
                assert answer.status == status
                assert (await answer.json())["error_code"] == status
        stranger = Bot("42:WRONG", base_url=sim.base_url)
        with pytest.raises(InvalidToken):
            await stranger.initialize()
        await stranger.shutdown()


async def test_commands_are_kept_per_scope_and_language() -> None:
    async with team() as (sim, bot):
        await bot.set_my_commands([BotCommand("run", "Start a run")])
        await bot.set_my_commands([BotCommand("run", "Lauf")], language_code="de")
        await bot.set_my_commands([BotCommand("help", "Help")], scope=BotCommandScopeAllGroupChats())
        await bot.set_my_commands([BotCommand("here", "Here")], scope=BotCommandScopeChat(TEAM))
        assert set(sim.commands) == {"default", "default/de", "all_group_chats", f"chat:{TEAM}"}
        assert [one.command for one in await bot.get_my_commands()] == ["run"]
        assert [one["command"] for one in sim.menu(TEAM, ANN)] == ["here"]

        await bot.delete_my_commands(scope=BotCommandScopeChat(TEAM))
        assert [one["command"] for one in sim.menu(TEAM, ANN)] == ["help"]
        assert [one["command"] for one in sim.menu(ANN, ANN)] == ["run"]
        assert await bot.get_my_commands(scope=BotCommandScopeChat(TEAM)) == ()


async def test_commands_that_break_a_rule_are_refused() -> None:
    async with team() as (_sim, bot):
        for commands, words in (
            ([("Run", "x")], "BOT_COMMAND_INVALID"),
            ([("r" * 33, "x")], "BOT_COMMAND_INVALID"),
            ([("run", "x" * 257)], "BOT_COMMAND_DESCRIPTION_INVALID"),
            ([("run", "")], "BOT_COMMAND_DESCRIPTION_INVALID"),
            ([(f"run{number}", "x") for number in range(101)], "BOT_COMMANDS_TOO_MUCH"),
        ):
            call = bot.set_my_commands(commands)
            assert words.lower() in (await refusal(call)).lower()


async def test_every_call_is_noted_with_its_arguments_and_status() -> None:
    async with team() as (sim, bot):
        await bot.send_message(TEAM, "hi")
        await refusal(bot.send_message(TEAM, " "))
        assert [(call.method, call.status) for call in sim.calls] == [
            ("getMe", 200),
            ("sendMessage", 200),
            ("sendMessage", 400),
        ]
        assert sim.calls[1].args == {"chat_id": str(TEAM), "text": "hi"}
