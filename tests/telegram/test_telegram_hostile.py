"""What comes in Telegram's name but is not as Telegram sends it costs itself, and gets nothing out of us."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web
from telegram_desk import Desk, made, place

from hermes_bot.errors import AdapterError, ContentRefused
from hermes_bot.messages import IncomingFile
from hermes_telegram.api import DOWNLOAD_BYTES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from hermes_telegram import TelegramAdapter

FILE = IncomingFile("app.log", "F1")


@dataclass
class Server:
    """A Bot API server that says what it is told to.

    Attributes:
        path: what it says a file's path is.
        answer: what every call is answered; empty: what ``getFile`` says.
        chunks: how many chunks of 64 KiB a file has at most.
        sent: how many of them were taken.
    """

    path: str = "documents/file_1.log"
    answer: bytes = b""
    chunks: int = 4_000
    sent: int = 0
    asked: list[str] = field(default_factory=list)

    async def call(self, request: web.Request) -> web.Response:
        self.asked.append(request.path)
        found = {"file_id": "F1", "file_unique_id": "u1", "file_size": 3, "file_path": self.path}
        body = self.answer or json.dumps({"ok": True, "result": found}).encode()
        return web.Response(body=body, content_type="application/json")

    async def file(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path)
        answer = web.StreamResponse()
        await answer.prepare(request)
        for _ in range(self.chunks):
            await answer.write(b"x" * 2**16)
            self.sent += 1
        return answer


@asynccontextmanager
async def at(server: Server) -> AsyncIterator[TelegramAdapter]:
    app = web.Application()
    app.router.add_route("*", "/bot{token}/{method}", server.call)
    app.router.add_get("/file/{path:.*}", server.file)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        home = f"http://127.0.0.1:{runner.addresses[0][1]}"
        sim = place()
        addresses: dict[str, Any] = {"base_url": f"{home}/bot", "file_base_url": f"{home}/file/bot"}
        async with sim, asyncio.timeout(20):
            yield made(sim, Desk(sim), settings=addresses)
    finally:
        await runner.cleanup()


async def test_a_file_that_does_not_end_is_given_up_and_not_kept_in_memory(tmp_path: Path) -> None:
    server = Server()
    async with at(server) as adapter:
        with pytest.raises(ContentRefused):
            await adapter.fetch(FILE, tmp_path / "app.log")
        assert not (tmp_path / "app.log").exists()
        assert server.sent * 2**16 < 2 * DOWNLOAD_BYTES


async def test_a_path_of_this_machine_is_not_read_whatever_the_server_says(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("this machine's own")
    async with at(Server(str(tmp_path / "key"), chunks=1)) as adapter:
        await adapter.fetch(FILE, tmp_path / "app.log")  # the server is asked for it
        assert (tmp_path / "app.log").read_bytes() == b"x" * 2**16


async def test_a_file_whose_name_is_one_of_the_folder_we_run_in_is_fetched_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "file_1.log").write_text("this machine's own")
    async with at(Server(chunks=1)) as adapter:
        await adapter.fetch(FILE, tmp_path / "app.log")
        assert (tmp_path / "app.log").read_bytes() == b"x" * 2**16


@pytest.mark.parametrize(
    "answer",
    [b"[" * 50_000, b'{"ok": true}', b'{"ok": true, "result": 7}', b'{"ok": true, "result": {}}', b"{}"],
)
async def test_an_answer_of_another_shape_is_an_error_of_ours(answer: bytes, tmp_path: Path) -> None:
    async with at(Server(answer=answer)) as adapter:
        with pytest.raises(AdapterError):
            await adapter.fetch(FILE, tmp_path / "app.log")
        assert [finding.grade for finding in await adapter.check()][:1] == ["bad"]
