"""Thousands of messages over a real platform's protocol, with faults and kills; the ledger says what people
saw.

``python tests/crash/platforms.py --platform slack --events 5000 --kills 3 --seed 1``: people write in
hundreds of threads while the platform fails as a seeded plan has it and the bot, the real ``hermes-bot
run`` in a process of its own, is killed with SIGKILL. At the end every message must be covered by
exactly one answer that people can see, and the answers of a thread must come in the order of its
messages. Nothing else is looked at. One line sums up; the exit code is 1 where a promise was broken.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "adapters")]

from endpoint import Answer, Endpoint, finish  # noqa: E402 - run as a command, it finds its siblings only now

from hermes_bot.simulator import FaultPlan, SlackSimulator, TelegramSimulator  # noqa: E402 - as above

if TYPE_CHECKING:
    from collections.abc import Iterator

SPEED = 50.0  # of every pace, in the bot and in the platform alike
THREADS = 800  # so that a thread's next message comes later than what a kill delayed
CHANNELS = 20
DRAIN_SECONDS = 300.0
# Slack's own are a minute and five; here a thread's next message must not overtake what a kill left
RETRIES = (0.5,) * 60
TOKEN = re.compile(r"\bT\d{5}\b")
FAILING = {
    "slack": ("chat.postMessage", "chat.update", "conversations.replies", "assistant.threads.setStatus"),
    "telegram": ("sendMessage", "editMessageText", "sendChatAction", "getUpdates"),
}


@dataclass
class Talk:
    """One thread: its people write one after the other, over a second apart.

    Attributes:
        root: the platform's id of its first message; empty until that is written.
    """

    number: int
    root: str = ""
    tokens: list[str] = field(default_factory=list)

    @property
    def channel(self) -> int:
        return self.number % CHANNELS


def mind(request: dict[str, Any]) -> Answer:
    """Answer with the tokens of the task and of what was added to it, and no others."""
    prompt = str(request["messages"][-1]["content"])
    goal = prompt.split("[goal]", 1)[1].split("\n[", 1)[0]
    added = re.findall(r"^- the person added \([^)]*\): (.*)$", prompt, re.MULTILINE)
    tokens = dict.fromkeys(TOKEN.findall("\n".join((goal, *added))))
    return finish(f"covers {' '.join(tokens)}")


class Slack:
    """People on the simulated Slack."""

    name = "slack"

    def __init__(self, faults: FaultPlan, seed: int) -> None:
        self.sim = SlackSimulator(speed=SPEED, faults=faults, retry_seconds=RETRIES, seed=seed)
        self.sim.windows.ack = (
            1.0  # what a kill left unacknowledged comes again before the thread's next message
        )
        self.sim.add_user("U1", name="ann")
        for number in range(CHANNELS):
            self.sim.add_channel(f"C{number}", name=f"c{number}", members=("U1", "UBOT"))

    async def say(self, talk: Talk, token: str) -> None:
        ts = await self.sim.say("U1", f"C{talk.channel}", f"<@UBOT> errand {token}", thread_ts=talk.root)
        talk.root = talk.root or ts

    def settings(self) -> tuple[str, dict[str, str]]:
        toml = f'[adapters.slack]\nbase_url = "{self.sim.base_url}"\n[access]\nchannels = ["slack:T1:*"]\n'
        return toml, {
            "HERMES_SLACK_BOT_TOKEN": self.sim.bot_token,
            "HERMES_SLACK_APP_TOKEN": self.sim.app_token,
        }

    def given_up(self) -> int:
        """Return how many deliveries the platform gave up: nobody took them in time."""
        return len(self.sim.delivery.lost)

    def disturb(self, dice: random.Random) -> None:
        match dice.randrange(3):
            case 0:
                self.sim.redeliver_next(5)
            case 1:
                self.sim.disconnect("refresh_requested")
            case _:
                self.sim.swap_pairs = not self.sim.swap_pairs


class Telegram:
    """People on the simulated Telegram."""

    name = "telegram"

    def __init__(self, faults: FaultPlan, seed: int) -> None:
        del seed
        self.sim = TelegramSimulator(speed=SPEED, faults=faults)
        self.sim.add_user(7, "Ann", "ann")
        for number in range(CHANNELS):
            self.sim.add_chat(-1000 - number, kind="supergroup", title=f"c{number}", members=(7, 42))

    async def say(self, talk: Talk, token: str) -> None:
        chat = -1000 - talk.channel
        number = await self.sim.say(7, chat, f"@my_bot errand {token}", reply_to=int(talk.root or 0))
        talk.root = talk.root or str(number)

    def settings(self) -> tuple[str, dict[str, str]]:
        toml = (
            f'[adapters.telegram]\nbase_url = "{self.sim.base_url}"\n'
            f'file_base_url = "{self.sim.file_base_url}"\n'
            '[access]\nchannels = ["telegram:*"]\n'
        )
        return toml, {"HERMES_TELEGRAM_TOKEN": self.sim.token}

    def given_up(self) -> int:
        """Return nothing: Telegram keeps for a day what was not taken."""
        return 0

    def disturb(self, dice: random.Random) -> None:
        match dice.randrange(3):
            case 0:
                self.sim.redeliver_next(5)
            case 1:
                self.sim.conflict_for(0.5)
            case _:
                self.sim.hang_polls(hangs=False)


class Daemon:
    """The bot in a process of its own."""

    def __init__(self, folder: Path, toml: str, secrets: dict[str, str]) -> None:
        self._folder = folder
        self._config = folder / "hermes.toml"
        self._config.write_text(toml)
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        self._env = {**kept, **secrets, "PYTHONPATH": f"{ROOT}:{ROOT / 'adapters'}"}
        self._process: asyncio.subprocess.Process | None = None
        self.kills = 0

    async def start(self) -> None:
        with (self._folder / "log").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "hermes_bot", "--config", str(self._config), "run",
                env=self._env, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip

    async def kill(self) -> None:
        await self._end(signal.SIGKILL)
        self.kills += 1

    async def stop(self) -> None:
        await self._end(signal.SIGTERM)

    async def _end(self, number: int) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(number)
            await self._process.wait()


async def kill_at_random(daemon: Daemon, seconds: float, kills: int, dice: random.Random) -> None:
    """Kill the bot so often over a time, and start it again at once."""
    moments = sorted(dice.uniform(2.0, seconds) for _ in range(kills))
    begun = time.monotonic()
    for moment in moments:
        await asyncio.sleep(max(0.0, begun + moment - time.monotonic()))
        await daemon.kill()
        await daemon.start()


async def disturb(people: Slack | Telegram, dice: random.Random) -> None:
    """Have the platform deliver badly from time to time."""
    while True:
        await asyncio.sleep(dice.uniform(1.0, 4.0))
        people.disturb(dice)


async def write(people: Slack | Telegram, talks: list[Talk], events: int, seconds: float) -> None:
    """Have people write so many messages, spread over the time, each thread in its turn."""
    begun = time.monotonic()
    for number in range(events):
        await asyncio.sleep(max(0.0, begun + number * seconds / events - time.monotonic()))
        talk = talks[number % len(talks)]
        token = f"T{number:05}"
        talk.tokens.append(token)
        await people.say(talk, token)


def answers(people: Slack | Telegram) -> Iterator[tuple[str, str, list[str]]]:
    """Give place, id and covered tokens of every answer that people see now, in the order they came."""
    for entry in people.sim.ledger.entries:
        if entry.from_bot and not entry.deleted and "covers" in entry.text:
            first = entry.text[entry.text.index("covers") :].split("\n", 1)[0]
            yield entry.channel, entry.id, TOKEN.findall(first)


def check(people: Slack | Telegram, talks: list[Talk]) -> list[str]:
    """Return what is wrong, in sentences."""
    wrong: list[str] = []
    count: Counter[str] = Counter()
    seen: defaultdict[int, list[str]] = defaultdict(list)
    thread = {token: talk.number for talk in talks for token in talk.tokens}
    for _, posted, tokens in answers(people):
        count.update(set(tokens))
        places = {thread[token] for token in tokens}
        if len(places) != 1:
            wrong.append(f"{posted} covers messages of {len(places)} threads: {tokens}")
        for place in places:
            seen[place].extend(tokens)
    for talk in talks:
        lost = [token for token in talk.tokens if not count[token]]
        twice = [token for token in talk.tokens if count[token] > 1]
        wrong += [f"thread {talk.number}: {token} was never answered" for token in lost]
        wrong += [f"thread {talk.number}: {token} was answered {count[token]} times" for token in twice]
        if seen[talk.number] != sorted(seen[talk.number]):
            wrong.append(f"thread {talk.number}: answered out of order: {seen[talk.number]}")
    return wrong


async def drained(people: Slack | Telegram, events: int, seconds: float) -> float:
    """Wait until everything is covered, at most so long; return how long it took."""
    begun = time.monotonic()
    while time.monotonic() - begun < seconds:
        covered = {token for _, _, tokens in answers(people) for token in tokens}
        if len(covered) >= events:
            break
        await asyncio.sleep(1.0)
    return time.monotonic() - begun


async def main(wanted: argparse.Namespace) -> int:
    """Run the programme and print its summary; return the exit code."""
    dice = random.Random(wanted.seed)
    plan = FaultPlan.seeded(wanted.seed, FAILING[wanted.platform], wanted.rate)
    people = Slack(plan, wanted.seed) if wanted.platform == "slack" else Telegram(plan, wanted.seed)
    talks = [Talk(number) for number in range(min(THREADS, wanted.events))]
    async with endpoint_of() as endpoint, people.sim:
        with tempfile.TemporaryDirectory() as folder:
            keep = Path(wanted.keep) if wanted.keep else Path(folder)
            toml, secrets = people.settings()
            toml += (
                f'[bot]\nstate_dir = "{keep / "state"}"\nbusy = "{wanted.busy}"\n'
                f'[model]\nbase_url = "{endpoint.url}"\nname = "test-model"\n[pacing]\nspeed = {SPEED}\n'
            )
            daemon = Daemon(keep, toml, secrets)
            await daemon.start()
            try:
                async with asyncio.TaskGroup() as group:
                    noise = group.create_task(disturb(people, random.Random(wanted.seed + 1)))
                    group.create_task(kill_at_random(daemon, wanted.seconds, wanted.kills, dice))
                    await write(people, talks, wanted.events, wanted.seconds)
                    noise.cancel()
                plan.clear()
                took = await drained(people, wanted.events, DRAIN_SECONDS)
            finally:
                await daemon.stop()
            wrong = check(people, talks)
            if wanted.keep:
                people.sim.ledger.dump(keep / "ledger.json")
    sys.stdout.write("".join(f"{line}\n" for line in wrong[:40]))
    shown = {
        "platform": wanted.platform, "busy": wanted.busy, "seed": wanted.seed, "events": wanted.events,
        "kills": daemon.kills, "faults": dict(plan.hits), "answers": sum(1 for _ in answers(people)),
        "given_up": people.given_up(),
        "drained_s": round(took, 1), "complaints": len(people.sim.complaints), "wrong": len(wrong),
    }  # fmt: skip
    sys.stdout.write(f"{json.dumps(shown)}\n")
    return 1 if wrong else 0


def endpoint_of() -> Endpoint:
    """Return the model that all errands ask."""
    return Endpoint(mind)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--platform", choices=("slack", "telegram"), default="slack")
    parser.add_argument("--events", type=int, default=5_000)
    parser.add_argument("--seconds", type=float, default=60.0, help="over which they are written")
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--rate", type=float, default=0.01, help="of calls that fail")
    parser.add_argument("--busy", choices=("steer", "queue"), default="steer")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", default="", help="a folder to keep state, log and ledger in")
    sys.exit(asyncio.run(main(parser.parse_args())))
