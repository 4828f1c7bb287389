"""The admin socket: JSON lines between the process that holds a state folder and its clients."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import stat
from typing import TYPE_CHECKING, Any

import pytest

from hermes_bot.admin import LINE_BYTES, NAME, AdminClient, AdminError, serve
from hermes_bot.alongside import Alongside
from hermes_bot.errors import StoreError, ToolError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from hermes_bot.ports import Emit


class Bench:
    """The operations of these tests, and the moments they meet at."""

    def __init__(self) -> None:
        self.both = asyncio.Barrier(2)
        self.started = asyncio.Event()
        self.ended = asyncio.Event()

    async def echo(self, args: Mapping[str, Any], emit: Emit) -> Mapping[str, Any]:
        for step in range(args.get("events", 0)):
            await emit({"step": step})
        return {"said": args["text"]}

    async def meet(self, _: Mapping[str, Any], __: Emit) -> Mapping[str, Any]:
        await self.both.wait()
        return {}

    async def hold(self, _: Mapping[str, Any], __: Emit) -> Mapping[str, Any]:
        self.started.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.set()
        return {}

    async def chatter(self, _: Mapping[str, Any], emit: Emit) -> Mapping[str, Any]:
        try:
            while True:
                await emit({"text": "x" * 10_000})
        finally:
            self.ended.set()

    async def refuse(self, args: Mapping[str, Any], _: Emit) -> Mapping[str, Any]:
        errors = {
            "tool": ToolError("not_found", "no run 7"),
            "store": StoreError("full"),
            "bug": KeyError("k"),
        }
        raise errors[args["how"]]

    def ops(self) -> dict[str, Any]:
        names = ("echo", "meet", "hold", "chatter", "refuse")
        return {name: getattr(self, name) for name in names}


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
async def folder(tmp_path: Path, bench: Bench) -> AsyncIterator[Path]:
    async with asyncio.timeout(10), serve(tmp_path, bench.ops()):
        yield tmp_path


async def raw(folder: Path, *lines: bytes, answers: int) -> list[dict[str, Any]]:
    """Write lines as they are, and return this many answers."""
    reader, writer = await asyncio.open_unix_connection(str(folder / NAME))
    for line in lines:
        writer.write(line + b"\n")
    found = [json.loads(await reader.readline()) for _ in range(answers)]
    writer.close()
    await writer.wait_closed()
    return found


async def test_a_call_gets_its_events_and_then_its_answer(folder: Path) -> None:
    events: list[Mapping[str, Any]] = []
    async with AdminClient(folder) as client:
        answer = await client.call("echo", {"text": "grüße\n", "events": 2}, events.append)
    assert answer == {"said": "grüße\n"}
    assert events == [{"step": 0}, {"step": 1}]


async def test_calls_of_one_connection_overlap(folder: Path) -> None:
    async with AdminClient(folder) as client, asyncio.TaskGroup() as calls:
        calls.create_task(client.call("meet"))
        calls.create_task(client.call("meet"))  # each waits for the other


async def test_the_socket_is_for_its_owner_alone(folder: Path) -> None:
    assert stat.S_IMODE((folder / NAME).lstat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("how", "code", "said"),
    [("tool", "not_found", "no run 7"), ("store", "store", "full"), ("bug", "failed", "KeyError")],
)
async def test_an_operation_that_fails_answers_and_the_next_one_works(
    folder: Path, how: str, code: str, said: str
) -> None:
    async with AdminClient(folder) as client:
        with pytest.raises(AdminError, match=said) as caught:
            await client.call("refuse", {"how": how})
        assert caught.value.code == code
        assert await client.call("echo", {"text": "still here"}) == {"said": "still here"}


async def test_an_unknown_operation_is_said(folder: Path) -> None:
    async with AdminClient(folder) as client:
        with pytest.raises(AdminError, match="'nope': the running bot has no such operation"):
            await client.call("nope")


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"7",
        b'{"id": "x", "op": "echo"}',
        b'{"id": 1, "op": 2}',
        b'{"id": 1, "op": "echo", "args": []}',
        b"\xff",
        b"[" * 100_000,
        b'{"id": ' + b"[" * 900 + b"]" * 900 + b"}",
    ],
)
async def test_a_malformed_line_costs_that_line_only(folder: Path, line: bytes) -> None:
    good = b'{"id": 2, "op": "echo", "args": {"text": "t"}}'
    answers = await raw(folder, line, good, answers=2)
    assert answers[0]["error"]["code"] == "bad_request"
    assert answers[1] == {"id": 2, "ok": {"said": "t"}}


async def test_a_line_over_the_limit_costs_that_line_only(folder: Path) -> None:
    long = b'{"id": 1, "op": "echo", "args": {"text": "' + b"x" * (2 * LINE_BYTES + 1) + b'"}}'
    good = b'{"id": 2, "op": "echo", "args": {"text": "t"}}'
    answers = await raw(folder, long, good, answers=2)
    assert "longer than 4,194,304 bytes" in answers[0]["error"]["message"]
    assert answers[1] == {"id": 2, "ok": {"said": "t"}}


async def test_what_is_too_long_to_be_said_is_refused_before_it_is_sent(folder: Path) -> None:
    async with AdminClient(folder) as client:
        with pytest.raises(AdminError, match="too long to be said"):
            await client.call("echo", {"text": "x" * LINE_BYTES})
        assert await client.call("echo", {"text": "\udcff"}) == {"said": "?"}


async def test_a_client_that_goes_takes_its_requests_with_it(folder: Path, bench: Bench) -> None:
    await raw(folder, b'{"id": 1, "op": "hold"}', b'{"id": 2, "op": "chatter"}', answers=1)
    await bench.ended.wait()
    async with AdminClient(folder) as client:
        assert await client.call("echo", {"text": "t"}) == {"said": "t"}


async def test_a_client_that_stopped_reading_does_not_hold_the_server(tmp_path: Path, bench: Bench) -> None:
    async with asyncio.timeout(10):
        async with serve(tmp_path, bench.ops()):
            _, writer = await asyncio.open_unix_connection(str(tmp_path / NAME))
            writer.write(b'{"id": 1, "op": "chatter"}\n')
            async with AdminClient(tmp_path) as other:
                assert await other.call("echo", {"text": "t"}) == {"said": "t"}
        await bench.ended.wait()
        writer.transport.abort()


async def test_a_cancelled_call_ends_on_the_other_side_and_leaves_the_connection(
    folder: Path, bench: Bench
) -> None:
    async with AdminClient(folder) as client:
        async with asyncio.TaskGroup() as calls:
            call = calls.create_task(client.call("hold"))
            await bench.started.wait()
            call.cancel()
        await bench.ended.wait()
        assert await client.call("echo", {"text": "t"}) == {"said": "t"}


async def test_a_server_that_goes_mid_call_is_said(tmp_path: Path, bench: Bench) -> None:
    async with asyncio.timeout(10):
        server = Alongside(_serve_until_cancelled(tmp_path, bench))
        await server.__aenter__()
        while not (tmp_path / NAME).exists():  # noqa: ASYNC110 - a file has no event
            await asyncio.sleep(0)
        async with AdminClient(tmp_path) as client, asyncio.TaskGroup() as calls:
            call = calls.create_task(_fails_as_gone(client))
            await bench.started.wait()
            await server.__aexit__(None, None, None)
            await call
            await _fails_as_gone(client)
    assert not (tmp_path / NAME).exists()


async def _serve_until_cancelled(folder: Path, bench: Bench) -> None:
    async with serve(folder, bench.ops()):
        await asyncio.Event().wait()


async def _fails_as_gone(client: AdminClient) -> None:
    with pytest.raises(AdminError, match="went away") as caught:
        await client.call("hold")
    assert caught.value.code == "gone"


async def test_nobody_there_is_said(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / ("deep" * 40)):
        with pytest.raises(AdminError) as caught:
            async with AdminClient(folder):
                pass
        assert caught.value.code == "absent"


async def test_a_dead_process_socket_is_replaced_and_a_file_is_not(tmp_path: Path, bench: Bench) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(tmp_path / NAME))
    async with serve(tmp_path, bench.ops()), AdminClient(tmp_path) as client:
        assert await client.call("echo", {"text": "t"}) == {"said": "t"}
    (tmp_path / NAME).write_text("notes")
    with pytest.raises(AdminError, match="is no socket"):
        async with serve(tmp_path, bench.ops()):
            pass
    assert (tmp_path / NAME).read_text() == "notes"


async def test_a_folder_however_deep_has_its_socket(tmp_path: Path, bench: Bench) -> None:
    deep = tmp_path.joinpath(*["a-folder-with-a-long-name"] * 8)
    deep.mkdir(parents=True)
    assert len(os.fsencode(deep)) > 200
    async with serve(deep, bench.ops()), AdminClient(deep) as client:
        assert await client.call("echo", {"text": "t"}) == {"said": "t"}


async def test_what_the_block_raises_comes_out_as_it_is(tmp_path: Path, bench: Bench) -> None:
    with pytest.raises(ZeroDivisionError):
        async with serve(tmp_path, bench.ops()), AdminClient(tmp_path):
            raise ZeroDivisionError
