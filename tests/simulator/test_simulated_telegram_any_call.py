"""Whatever a bot sends to the simulated Telegram is carried out or refused; nothing breaks it."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulator.telegram_place import FORUM, TEAM, populate, team

from hermes_bot.simulator.telegram import TelegramSimulator
from hermes_bot.simulator.telegram.arguments import Arguments, Upload
from hermes_bot.simulator.telegram.methods import METHODS
from hermes_bot.simulator.telegram.refusal import Refused

FITTING: dict[str, Any] = {
    "chat_id": TEAM,
    "text": "<b>hi</b>",
    "parse_mode": "HTML",
    "caption": "hi",
    "document": "attach://file",
    "photo": "F1",
    "action": "typing",
    "name": "Reports",
    "url": "https://a.example/hook",
    "message_id": 1,
    "draft_id": 3,
    "callback_query_id": "1",
    "media": [{"type": "document", "media": "attach://file"}, {"type": "document", "media": "F1"}],
    "commands": [{"command": "run", "description": "Start"}],
    "scope": {"type": "chat", "chat_id": TEAM},
    "reply_markup": {"inline_keyboard": [[{"text": "Yes", "callback_data": "y"}]]},
    "reply_parameters": {"message_id": 1, "allow_sending_without_reply": True},
    "entities": [{"type": "bold", "offset": 0, "length": 1}],
    "caption_entities": [{"type": "bold", "offset": 0, "length": 1}],
    "reaction": [{"type": "emoji", "emoji": "👀"}],
    "link_preview_options": {"is_disabled": True},
    "allowed_updates": ["message"],
}
SYNC = sorted(set(METHODS) - {"getupdates"})
JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.sampled_from([0, 1, -1, 10**12, 1.5, TEAM, FORUM, "", "x", "{", "[]", '{"a": 1}', "<b", "F1"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "text", "offset", "message_id"]), inner, max_size=3)
    ),
    max_leaves=5,
)

USED = st.integers(0, 9)


@st.composite
def spoilt(draw: st.DrawFn, value: Any) -> Any:
    """Return a value with some of its parts lost or replaced by junk."""
    if draw(st.integers(0, 7)) == 0:
        return draw(JUNK)
    if isinstance(value, dict):
        return {name: draw(spoilt(part)) for name, part in value.items() if draw(st.integers(0, 9))}
    if isinstance(value, list):
        return [draw(spoilt(part)) for part in value]
    return value


@given(st.data())
def test_any_call_is_carried_out_or_refused(data: st.DataObject) -> None:
    sim = TelegramSimulator(speed=1e9)
    populate(sim)
    sim.state.files.keep("a.txt", b"x", "document")
    uploads = {"file": Upload("b.txt", b"y", "text/plain")}
    for name in data.draw(st.lists(st.sampled_from(SYNC), min_size=1, max_size=4)):
        method = METHODS[name]
        args = {one: FITTING.get(one, "1") for one in sorted(method.parameters)}
        try:
            given_args = {one: data.draw(spoilt(value)) for one, value in args.items() if data.draw(USED)}
            method.run(sim.state, Arguments(method.name, given_args, uploads))
        except Refused as refused:
            assert 400 <= refused.code < 500  # noqa: PT017 - one of two outcomes


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("multipart/form-data", b"x"),
        ("multipart/form-data; boundary=b", b"--b\r\nnonsense"),
        ("application/json", b"\xff"),
        ("application/x-www-form-urlencoded", b"%ff=%"),
        ("text/plain", b"chat_id=1"),
    ],
)
async def test_any_body_is_answered_in_json(content_type: str, body: bytes) -> None:
    async with team() as (sim, _bot), aiohttp.ClientSession() as session:
        url = f"{sim.base_url}{sim.token}/sendMessage"
        async with session.post(url, data=body, headers={"Content-Type": content_type}) as answer:
            assert (await answer.json())["error_code"] == answer.status == 400
