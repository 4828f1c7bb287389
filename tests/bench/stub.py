"""A model's endpoint for measurements, in a process of its own: little work, and a stopwatch for its clients.

Each task's text holds ``task-ID-of-N``; its first N requests are answered with a call of a tool, the next one
with ``finish`` (or, for N = 0, with a question). Between an answer and the same task's next request lies what
the client adds: the gap. ``GET /gaps`` returns all gaps in seconds since the last time it was asked, ``GET
/latency/SECONDS`` sets how long the model thinks (varied by a half each way). After ``GET /hold/NUMBER`` no
task gets more answers than that, and ``GET /held`` says how many tasks wait for one since then.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import sys
import time
from typing import cast

_TASK = re.compile(rb"task-(\d+)-of-(\d+)")
_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "islet", "knoll", "larch")


class Model:
    """What all connections share."""

    def __init__(self) -> None:
        self.answered: dict[bytes, int] = {}
        self.left_at: dict[bytes, float] = {}
        self.hold: float = float("inf")
        self.held: set[bytes] = set()
        self.gaps: list[float] = []
        self.latency = 0.0
        self.dice = random.Random(1)

    def answer(self, body: bytes) -> bytes:
        """Return the next answer to a task; empty where it is held back."""
        found = _TASK.search(body)
        assert found is not None, body[-400:]
        task, rounds = found[1], int(found[2])
        number = self.answered[task] = self.answered.get(task, 0) + 1
        if number > self.hold:
            self.held.add(task)
            return b""
        if (left := self.left_at.pop(task, None)) is not None:
            self.gaps.append(time.perf_counter() - left)
        if rounds == 0:
            action = {"name": "request_info", "args": {"question": "Which one?", "options": ["a", "b"]}}
        elif number > rounds:
            evidence = ["round 1"]
            action = {"name": "finish", "args": {"answer": "Over.", "confidence": 0.9, "evidence": evidence}}
        else:
            words = " ".join(self.dice.choices(WORDS, k=3))
            name = "change" if number % 4 == 0 else "look"
            action = {"name": name, "args": {"words": words, "number": number}}
        return _completion(json.dumps({"thought": f"Round {number - 1} shows little.", "action": action}))

    def control(self, path: str) -> object:
        """Answer a question about the clients."""
        match path.strip("/").split("/"):
            case ["gaps"]:
                gaps, self.gaps = self.gaps, []
                return gaps
            case ["latency", seconds]:
                self.latency = float(seconds)
                return {}
            case ["hold", number]:
                self.hold, self.held = int(number), set()
                return {}
            case ["held"]:
                return len(self.held)
            case _:
                return None


def _completion(text: str) -> bytes:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    kind = {"id": "c1", "object": "chat.completion", "created": 1, "model": "stub"}
    return _http(json.dumps({**kind, "choices": [choice], "usage": usage}).encode())


def _http(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (
        len(body),
        body,
    )


class Connection(asyncio.Protocol):
    """One client's connection; requests follow each other."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, found, rest = self._buffer.partition(b"\r\n\r\n")
        if not found:
            return
        length = _LENGTH.search(head)
        size = int(length[1]) if length else 0
        if len(rest) < size:
            return
        self._buffer = rest[size:]
        if head.startswith(b"GET"):
            path = head.split(b" ", 2)[1].decode()
            self._transport.write(_http(json.dumps(self._model.control(path)).encode()))
        else:
            self._think(rest[:size])

    def _think(self, body: bytes) -> None:
        answer = self._model.answer(body)
        found = _TASK.search(body)
        assert found is not None
        wait = self._model.latency * self._model.dice.uniform(0.5, 1.5)
        if wait:
            asyncio.get_running_loop().call_later(wait, self._send, found[1], answer)
        else:
            self._send(found[1], answer)

    def _send(self, task: bytes, answer: bytes) -> None:
        if answer and not self._transport.is_closing():
            self._transport.write(answer)
            self._model.left_at[task] = time.perf_counter()


async def main() -> None:
    """Serve until the standard input ends."""
    model = Model()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(model), "127.0.0.1", 0, backlog=1_024)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
