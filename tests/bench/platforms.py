"""What an event of a platform costs, beside the platform's bare library in the same run.

    python tests/bench/platforms.py --platform slack

Three parts, each bot in a process of its own against a simulated platform in this one. *Accepting*:
people talk beside the bot in a thread it takes part in, so that every event is stored with FULL and
acknowledged, and no run begins: CPU for each event at a steady pace, then events a second as fast as
they come. *Working*: fifty mentions a second for a minute, the model answering after 200 ms: how long an
acknowledgement takes, and how long until a person sees the first sign of life. *Idle*: CPU a second with
nothing to do.

Targets (performance.md): CPU for each event at most 2 (Slack) or 2.5 (Telegram) times the bare
library's; events a second at least 0.33 of it; acknowledged within 500 ms at the 99th percentile; a sign
of life within 700 ms at the 95th; idle at most 5 ms a second.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "adapters")]

from aiohttp import web  # noqa: E402 - found only now

from hermes_bot.simulator import SlackSimulator, TelegramSimulator  # noqa: E402 - as above

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

SPEED = 50.0
TICKS = os.sysconf("SC_CLK_TCK")
PACE = 50  # mentions a second
THREADS = 20


@dataclass
class Bot:
    """A bot in a process of its own."""

    process: asyncio.subprocess.Process

    @property
    def cpu(self) -> float:
        """Seconds of CPU it has used so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS


@asynccontextmanager
async def started(folder: Path, command: Sequence[str], env: dict[str, str]) -> AsyncIterator[Bot]:
    """Run a bot until the block ends."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    with (folder / "log").open("ab") as log:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *command,
            env={**kept, **env, "PYTHONPATH": f"{ROOT}:{ROOT / 'adapters'}"},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        yield Bot(process)
    finally:
        process.kill()
        await process.wait()


class OnSlack:
    """People on the simulated Slack."""

    def __init__(self) -> None:
        self.sim = SlackSimulator(speed=SPEED)
        for user in ("U1", "U2"):
            self.sim.add_user(user, name=user.lower())
        for number in range(THREADS):
            self.sim.add_channel(f"C{number}", name=f"c{number}", members=("U1", "U2", "UBOT"))
        self.roots: list[str] = []
        self.said: dict[str, float] = {}

    def settings(self) -> tuple[str, dict[str, str]]:
        toml = f'[adapters.slack]\nbase_url = "{self.sim.base_url}"\n[access]\nchannels = ["slack:T1:*"]\n'
        return toml, {
            "HERMES_SLACK_BOT_TOKEN": self.sim.bot_token,
            "HERMES_SLACK_APP_TOKEN": self.sim.app_token,
        }

    def bare(self) -> list[str]:
        sim = self.sim
        return [str(ROOT / "tests/bench/bare_slack.py"), sim.base_url, sim.bot_token, sim.app_token]

    async def connected(self) -> None:
        await self.sim.wait_connected()

    async def open_threads(self) -> None:
        self.roots = [await self.sim.say("U1", f"C{number}", "<@UBOT> hello") for number in range(THREADS)]

    async def beside(self, number: int) -> None:
        place = number % THREADS
        await self.sim.say("U2", f"C{place}", f"word {number}", thread_ts=self.roots[place])

    async def mention(self, number: int) -> None:
        ts = await self.sim.say("U1", f"C{number % THREADS}", f"<@UBOT> task {number}")
        self.said[ts] = time.time()

    def signs_of_life(self) -> list[float]:
        """Return how long after each mention its thread first showed that the bot works, shortest first."""
        first: dict[str, float] = {}
        for call in self.sim.calls:
            if call.method == "assistant.threads.setStatus" and call.args.get("status"):
                first.setdefault(str(call.args["thread_ts"]), call.at)
        return sorted(first[ts] - said for ts, said in self.said.items() if ts in first)

    def taken(self) -> int:
        return len(self.sim.acks)

    def answered(self) -> int:
        return sum(1 for it in self.sim.ledger.entries if it.from_bot and "done" in it.text)

    def ack_seconds(self, known: int = 0) -> list[float]:
        """Return how long acknowledgements took, those before ``known`` left out, shortest first."""
        return sorted(seconds for _, seconds in self.sim.acks[known:])


class OnTelegram:
    """People on the simulated Telegram; the bot hears all that is said."""

    def __init__(self) -> None:
        self.sim = TelegramSimulator(speed=SPEED, privacy=False)
        for user in (7, 8):
            self.sim.add_user(user, f"user {user}", f"user{user}")
        for number in range(THREADS):
            self.sim.add_chat(-1000 - number, kind="supergroup", title=f"c{number}", members=(7, 8, 42))
        self.roots: list[int] = []

    def settings(self) -> tuple[str, dict[str, str]]:
        toml = (
            f'[adapters.telegram]\nbase_url = "{self.sim.base_url}"\n'
            f'file_base_url = "{self.sim.file_base_url}"\n'
            '[access]\nchannels = ["telegram:*"]\n'
        )
        return toml, {"HERMES_TELEGRAM_TOKEN": self.sim.token}

    def bare(self) -> list[str]:
        return [str(ROOT / "tests/bench/bare_telegram.py"), self.sim.base_url, self.sim.token]

    async def connected(self) -> None:
        await until(lambda: any(call.method.lower() == "getupdates" for call in self.sim.calls))

    async def open_threads(self) -> None:
        self.roots = [await self.sim.say(7, -1000 - number, "@my_bot hello") for number in range(THREADS)]

    async def beside(self, number: int) -> None:
        place = number % THREADS
        await self.sim.say(8, -1000 - place, f"word {number}", reply_to=self.roots[place])

    def signs_of_life(self) -> list[float]:
        """Return nothing: Telegram shows typing in a chat, not in a thread."""
        return []

    async def mention(self, number: int) -> None:
        await self.sim.say(7, -1000 - number % THREADS, f"@my_bot task {number}")

    def taken(self) -> int:
        return self.sim.confirmed

    def answered(self) -> int:
        return sum(1 for it in self.sim.ledger.entries if it.from_bot and "done" in it.text)

    def ack_seconds(self, known: int = 0) -> list[float]:
        del known
        return []


People = OnSlack | OnTelegram


async def until(holds: Callable[[], object], seconds: float = 120.0) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110 - what is waited for is another process's
            await asyncio.sleep(0.005)


async def accepting(people: People, bot: Bot, events: int) -> tuple[float, float]:
    """Return the CPU milliseconds for each event at a steady pace, and the events a second at full speed."""
    await people.open_threads()
    await until(lambda: people.taken() >= THREADS)
    await asyncio.sleep(2.0)  # the answers to those
    before, cpu = people.taken(), bot.cpu
    begun = time.perf_counter()
    for number in range(events):
        await asyncio.sleep(max(0.0, begun + number / 200 - time.perf_counter()))
        await people.beside(number)
    await until(lambda: people.taken() >= before + events)
    each = (bot.cpu - cpu) / events * 1_000
    before, begun = people.taken(), time.perf_counter()
    for number in range(events):
        await people.beside(number)
    await until(lambda: people.taken() >= before + events)
    return each, events / (time.perf_counter() - begun)


async def working(people: People, seconds: float) -> dict[str, float]:
    """Return how fast mentions are acknowledged while as many runs work."""
    done, known = people.answered(), len(people.ack_seconds())
    events = round(seconds * PACE)
    begun = time.perf_counter()
    for number in range(events):
        await asyncio.sleep(max(0.0, begun + number / PACE - time.perf_counter()))
        await people.mention(number)
    await until(lambda: people.answered() >= done + events)
    taken = time.perf_counter() - begun
    acks = people.ack_seconds(known)
    found = {"mentions": float(events), "all_answered_after_s": round(taken, 1)}
    if signs := people.signs_of_life():
        found |= {"sign_of_life_p95_ms": _at(signs, 0.95) * 1_000, "signs_of_life": float(len(signs))}
    if acks:
        found |= {"ack_p50_ms": _at(acks, 0.5) * 1_000, "ack_p99_ms": _at(acks, 0.99) * 1_000}
    return found


def _at(ordered: list[float], share: float) -> float:
    return round(ordered[min(len(ordered) - 1, int(len(ordered) * share))], 4)


@asynccontextmanager
async def slow_model(seconds: float) -> AsyncIterator[str]:
    """Serve a model that is done with every task after this time; give its address."""
    said = json.dumps(
        {"action": {"name": "finish", "args": {"answer": "done", "confidence": 1, "evidence": []}}}
    )
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}
    body = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}

    async def complete(request: web.Request) -> web.Response:
        await request.read()
        await asyncio.sleep(seconds)
        return web.json_response(body)

    app = web.Application()
    app.router.add_post("/v1/chat/completions", complete)
    runner = web.AppRunner(app, shutdown_timeout=0.5, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


async def main(wanted: argparse.Namespace) -> None:
    """Measure and print one JSON object a part."""
    kind = OnSlack if wanted.platform == "slack" else OnTelegram
    with tempfile.TemporaryDirectory() as folder:
        bare_people, root = kind(), Path(folder)
        async with bare_people.sim, started(root, bare_people.bare(), {}) as bare:
            await bare_people.connected()
            bare_each, bare_rate = await accepting(bare_people, bare, wanted.events)
        people = kind()
        async with people.sim, slow_model(0.2) as model:
            toml, secrets = people.settings()
            toml += (
                f'[bot]\nstate_dir = "{root / "state"}"\n[model]\nbase_url = "{model}"\nname = "m"\n'
                f"[pacing]\nspeed = {SPEED}\n"
            )
            (root / "hermes.toml").write_text(toml)
            command = ["-m", "hermes_bot", "--config", str(root / "hermes.toml"), "run"]
            async with started(root, command, secrets) as bot:
                await people.connected()
                each, rate = await accepting(people, bot, wanted.events)
                found = await working(people, wanted.seconds)
                cpu = bot.cpu
                await asyncio.sleep(10.0)
                idle = (bot.cpu - cpu) / 10 * 1_000
    accept = {
        "bare_cpu_ms": round(bare_each, 3), "ours_cpu_ms": round(each, 3),
        "cpu_ratio": round(each / bare_each, 2),
        "bare_per_s": round(bare_rate), "ours_per_s": round(rate), "rate_ratio": round(rate / bare_rate, 2),
    }  # fmt: skip
    for part in ({"accepting": accept}, {"working": found}, {"idle_cpu_ms_a_second": round(idle, 1)}):
        sys.stdout.write(f"{json.dumps(part)}\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--platform", choices=("slack", "telegram"), default="slack")
    parser.add_argument("--events", type=int, default=2_000)
    parser.add_argument("--seconds", type=float, default=60.0)
    asyncio.run(main(parser.parse_args()))
