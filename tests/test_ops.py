"""Operations over the admin socket, as other commands use them."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from endpoint import Endpoint, finish, say

from hermes_bot.admin import AdminClient, AdminError
from hermes_bot.alongside import Alongside
from hermes_bot.app import App
from hermes_bot.config import Bot, Config, ModelSection

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

REGION = {"name": "request_info", "args": {"question": "Which region?", "options": ["EU", "US"]}}


@asynccontextmanager
async def clients(folder: Path, *script: Any) -> AsyncIterator[tuple[AdminClient, AdminClient]]:
    async with Endpoint(list(script)) as endpoint:
        model = ModelSection(base_url=endpoint.url, name="test-model")
        async with (
            App(Config(bot=Bot(state_dir=folder), model=model)) as app,
            Alongside(app.run(recover=True)),
        ):
            await app.ready.wait()
            async with AdminClient(folder) as one, AdminClient(folder) as two, asyncio.timeout(10):
                yield one, two


async def test_two_who_answer_one_question_at_once_are_both_told_how_it_ended(tmp_path: Path) -> None:
    answer = finish("EU it is.")
    async with clients(tmp_path, say({"thought": "?", "action": REGION}), answer) as (one, two):
        asked = await one.call("ask", {"text": "where do we run?"})
        assert asked["questions"][0]["options"] == ["EU", "US"]
        said = {"run": asked["run"], "text": "EU"}
        async with asyncio.TaskGroup() as group:
            tries = [group.create_task(_outcome(client, said)) for client in (one, two)]
        ends = sorted(task.result() for task in tries)
    assert ends[0] == "EU it is."
    assert "answered already" in ends[1] or "waits for no answer" in ends[1]


async def test_an_ask_shows_what_the_run_does_while_it_works(tmp_path: Path) -> None:
    shown: list[str] = []
    look = say({"thought": "!", "action": {"name": "now", "args": {}}})
    async with clients(tmp_path, look, finish("Done.", evidence=["round 1"])) as (one, _):
        done = await one.call(
            "ask", {"text": "what time is it?"}, lambda event: shown.append(event["status"])
        )
    assert done["status"] == "finished"
    assert "now" in shown


@pytest.mark.parametrize(
    ("op", "args", "said"),
    [
        ("ask", {"text": ["hi"]}, "text should be a text"),
        ("ask", {"text": "hi", "skill": [1]}, "skill should be a text"),
        ("ask", {"text": "hi", "params": 5}, "params should be an object"),
        ("ask", {"text": "hi", "answers": 5}, "answers should be a list of texts"),
        ("ask", {"text": "hi", "answers": ["a", None]}, "answers should be a list of texts"),
        ("runs.list", {"limit": "x"}, "limit should be a whole number"),
        ("runs.list", {"limit": 10**20}, "limit should be from 0 to 10,000"),
    ],
)
async def test_arguments_of_a_wrong_kind_are_refused_before_anything_is_stored(
    tmp_path: Path, op: str, args: dict[str, Any], said: str
) -> None:
    async with clients(tmp_path) as (one, _):
        with pytest.raises(AdminError, match=said) as caught:
            await one.call(op, args)
        assert caught.value.code == "bad_request"
        assert (await one.call("runs.list"))["runs"] == []


async def _outcome(client: AdminClient, said: dict[str, Any]) -> str:
    try:
        return str((await client.call("runs.answer", said))["answer"])
    except Exception as error:  # noqa: BLE001 - its text is what the test is about
        return str(error)
