"""What can hang on a message in the simulated Telegram: buttons and files."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest
from simulator.telegram_place import ANN, TEAM, Clock, post, refusal, team
from telegram import (
    ForceReply,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    InputMediaDocument,
    InputMediaPhoto,
)
from telegram.error import NetworkError

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"


def picture(width: int, height: int) -> bytes:
    """Return the head of a PNG, which is what is measured."""
    return PNG + width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08"


def rows(*lengths: int, data: str = "d", text: str = "b") -> InlineKeyboardMarkup:
    return InlineKeyboardMarkup(
        [[InlineKeyboardButton(text, callback_data=data) for _ in range(length)] for length in lengths]
    )


async def test_buttons_stand_under_the_message_and_in_the_ledger() -> None:
    async with team() as (sim, bot):
        markup = InlineKeyboardMarkup(
            [
                [
                    InlineKeyboardButton("Yes", callback_data="q:1:0"),
                    InlineKeyboardButton("No", callback_data="q:1:1"),
                ],
                [InlineKeyboardButton("Docs", url="https://a.example")],
            ]
        )
        sent = await bot.send_message(TEAM, "?", reply_markup=markup)
        assert sent.reply_markup == markup
        assert sim.ledger.entries[-1].buttons == [
            {"label": "Yes", "action": "q:1:0", "url": "", "row": 0},
            {"label": "No", "action": "q:1:1", "url": "", "row": 0},
            {"label": "Docs", "action": "", "url": "https://a.example", "row": 1},
        ]


@pytest.mark.parametrize(
    ("markup", "words"),
    [
        (rows(1, data="x" * 65), "Button_data_invalid"),
        (rows(1, data="ü" * 33), "Button_data_invalid"),
        (rows(9), "Reply markup is too long"),
        (rows(*[8] * 12, 5), "Reply markup is too long"),
        (rows(1, text=" "), "Button_text_empty"),
        (InlineKeyboardMarkup([[InlineKeyboardButton("x", url="nowhere")]]), "Button_url_invalid"),
    ],
)
async def test_a_keyboard_that_breaks_a_rule_is_refused(markup: InlineKeyboardMarkup, words: str) -> None:
    async with team() as (_sim, bot):
        assert await refusal(bot.send_message(TEAM, "?", reply_markup=markup)) == words


async def test_a_keyboard_at_its_limits_is_taken_and_an_empty_one_is_none() -> None:
    async with team() as (sim, bot):
        await bot.send_message(TEAM, "?", reply_markup=rows(*[8] * 12, 4, data="ü" * 32))
        assert len(sim.ledger.entries[-1].buttons) == 100
        assert (await bot.send_message(TEAM, "?", reply_markup=rows())).reply_markup is None


@pytest.mark.parametrize(
    ("button", "words"),
    [
        ({"text": "x"}, "text buttons are unallowed"),
        ({"callback_data": "x"}, 'Field "text" must be of type String'),
        ({"text": "x", "callback_data": ""}, "BUTTON_DATA_INVALID"),
        ("x", 'Field "text" must be of type String'),
    ],
)
async def test_a_button_needs_a_text_and_something_to_do(button: Any, words: str) -> None:
    async with team() as (sim, _bot):
        markup = {"inline_keyboard": [[button]]}
        _status, body = await post(sim, "sendMessage", chat_id=TEAM, text="?", reply_markup=markup)
        assert words in body["description"]
        for wrong in ({"inline_keyboard": "x"}, {"inline_keyboard": ["x"]}):
            status, _body = await post(sim, "sendMessage", chat_id=TEAM, text="?", reply_markup=wrong)
            assert status == 400


async def test_unknown_fields_of_nested_values_are_complained_about() -> None:
    async with team() as (sim, _bot):
        markup = {"inline_keyboard": [[{"text": "x", "callback_data": "x", "color": "red"}]], "sticky": True}
        preview = {"is_disabled": True, "colour": "red"}
        args = {"chat_id": TEAM, "text": "?", "reply_markup": markup, "link_preview_options": preview}
        assert (await post(sim, "sendMessage", **args))[0] == 200
        assert sim.complaints == [
            "sendMessage: unknown field 'colour' in link_preview_options",
            "sendMessage: unknown field 'sticky' in reply_markup",
            "sendMessage: unknown field 'color' in a button",
        ]


async def test_a_force_reply_is_no_keyboard_and_its_hint_is_short() -> None:
    async with team() as (sim, bot):
        hint = ForceReply(selective=True, input_field_placeholder="x" * 64)
        assert (await bot.send_message(TEAM, "?", reply_markup=hint)).reply_markup is None
        assert sim.ledger.entries[-1].raw["markup"]["force_reply"]
        too_long = {"force_reply": True, "input_field_placeholder": "x" * 65}
        assert (await post(sim, "sendMessage", chat_id=TEAM, text="?", reply_markup=too_long))[0] == 400


# files


async def test_a_document_is_seen_with_its_name_and_can_be_sent_again_by_its_id() -> None:
    async with team() as (sim, bot):
        sent = await bot.send_document(
            TEAM, b"a,b\n", filename="t.csv", caption="<b>a</b>", parse_mode="HTML"
        )
        assert sent.document is not None
        assert (sent.document.file_name, sent.document.file_size, sent.caption) == ("t.csv", 4, "a")
        again = await bot.send_document(TEAM, sent.document.file_id)
        assert again.document == sent.document
        assert [entry.files[0]["name"] for entry in sim.ledger.entries] == ["t.csv", "t.csv"]
        assert sim.complaints == []
        assert "wrong file identifier" in (await refusal(bot.send_document(TEAM, "nonsense"))).lower()


async def test_an_album_comes_in_the_order_sent_with_one_group_id() -> None:
    async with team() as (sim, bot):
        media = [
            InputMediaDocument(b"one", filename="1.txt", caption="first"),
            InputMediaDocument(b"two", filename="2.txt"),
        ]
        first, second = await bot.send_media_group(TEAM, media)
        assert first.media_group_id == second.media_group_id is not None
        assert (first.caption, second.caption) == ("first", None)
        assert [entry.files[0]["name"] for entry in sim.ledger.entries] == ["1.txt", "2.txt"]
        assert sim.complaints == []
        wrongs: tuple[Any, ...] = ([{"type": "photo", "media": "F1"}], {}, "x")
        for wrong in wrongs:
            assert (await post(sim, "sendMediaGroup", chat_id=TEAM, media=wrong))[0] == 400


async def test_pictures_of_an_album_are_pictures() -> None:
    async with team() as (sim, bot):
        photos = [InputMediaPhoto(picture(20, 10)), InputMediaPhoto(picture(10, 20))]
        sent = await bot.send_media_group(TEAM, photos)
        assert [message.photo[-1].width for message in sent] == [20, 10]
        assert len(sim.ledger.entries) == 2


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (picture(9_000, 1_001), "Photo_invalid_dimensions"),
        (picture(2_100, 100), "Photo_invalid_dimensions"),
        (b"no picture", "Image_process_failed"),
        (picture(10, 10) + b"\0" * (10 * 1024 * 1024), "File is too big"),
    ],
)
async def test_a_photo_must_be_a_sensible_picture(data: bytes, words: str) -> None:
    async with team() as (_sim, bot):
        assert await refusal(bot.send_photo(TEAM, data)) == words


async def test_a_picture_is_measured() -> None:
    async with team() as (_sim, bot):
        sent = await bot.send_photo(TEAM, picture(2_000, 100), caption="chart")
        assert (sent.photo[-1].width, sent.photo[-1].height, sent.caption) == (2_000, 100, "chart")


async def test_empty_and_oversized_files_are_refused() -> None:
    async with team() as (sim, bot):
        assert "non-empty" in await refusal(bot.send_document(TEAM, b"", filename="a.txt"))
        limit = 50 * 1024 * 1024
        for size in (limit + 1, limit + 2 * 1024 * 1024):
            with pytest.raises(NetworkError, match="Request Entity Too Large"):
                await bot.send_document(TEAM, b"\0" * size, filename="a.bin")
        assert sim.ledger.entries == []


async def test_a_file_by_address_is_not_fetched() -> None:
    async with team() as (sim, bot):
        await refusal(bot.send_document(TEAM, "https://a.example/x.pdf"))
        assert "fetches nothing" in sim.complaints[0]


async def test_other_kinds_of_files_are_taken_too() -> None:
    async with team() as (sim, bot):
        for send in (bot.send_voice, bot.send_audio, bot.send_video, bot.send_animation):
            await send(TEAM, b"data")
        assert [entry.files[0]["kind"] for entry in sim.ledger.entries] == [
            "voice",
            "audio",
            "video",
            "animation",
        ]
        assert sim.complaints == []


async def test_a_persons_file_is_fetched_at_a_path_that_is_good_for_an_hour() -> None:
    async with team(clock=(clock := Clock())) as (sim, bot):
        await sim.say(ANN, ANN, files=[("log.txt", b"hello", "document")])
        message = (await bot.get_updates())[0].message
        assert message is not None
        assert message.document is not None
        file = await bot.get_file(message.document.file_id)
        assert bytes(await file.download_as_bytearray()) == b"hello"
        clock.now += 3601
        async with aiohttp.ClientSession() as session, session.get(str(file.file_path)) as answer:
            assert answer.status == 404


async def test_files_that_are_unknown_or_too_big_cannot_be_fetched() -> None:
    async with team() as (sim, bot):
        assert "wrong file_id" in (await refusal(bot.get_file("F99"))).lower()
        await sim.say(ANN, ANN, files=[("big.bin", b"\0" * (20 * 1024 * 1024 + 1), "document")])
        assert await refusal(bot.get_file("F1")) == "File is too big"
