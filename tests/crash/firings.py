"""Planned tasks while the program is killed at every point of a firing: each moment has one report a place.

``python tests/crash/firings.py --kills 100 --seed 1``: five schedules report to two or three channels, in one
of which posts are placed and edited, for nobody can ask there what was posted. Time is moved on to their next
moment, or past several, the program dies once or twice while it works on them, and then it may finish. Some
moments are met, some come late, and some stand for others. A table and one line sum up; the exit code is 1
where a promise was broken. Only what the world saw is looked at.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from crash.driver import Kill, staged  # noqa: E402 - run as a command, it finds its siblings only now
from crash.firingcheck import EACH, check, reports_of  # noqa: E402 - as above

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crash.driver import Stage

EVERY = timedelta(minutes=10)
ROUND_SECONDS = 30.0  # in which the program must be done with what is due, when nobody kills it
RANDOM = "at random"
PLACES = {
    "steady": ("C1", "C3", "C2"),
    "nightly": ("C2", "C1"),
    "asks": ("C3", "C1"),
    "once": ("C1", "C2"),
    "ailing": ("C1", "C2"),
}
_EACH = {"missed": "all", "most": 100}
_PLANNED: dict[str, dict[str, Any]] = {
    "steady": {"text": "errand writes steady", "terms": {**_EACH, "overlap": "parallel"}},
    "nightly": {
        "skill": "carry-through",
        "params": {"word": "nightly", "target": "nightly"},
        "terms": {**_EACH, "overlap": "queue"},
    },
    "asks": {"text": "errand asks asks", "terms": {**_EACH, "overlap": "parallel"}},
    "once": {"text": "errand puts once", "terms": {"overlap": "parallel"}},
    "ailing": {
        "text": "errand ails ailing",
        "terms": {"overlap": "queue", "alert_after": 2, "pause_after": 4},
    },
}
SCHEDULES = [
    {"name": name, "when": "*/10 * * * *", "zone": "UTC", "targets": [f"outside:T1:{one}" for one in places]}
    | _PLANNED[name]
    for name, places in PLACES.items()
]
POINTS = {  # and how often work on one moment of them all passes each, at least
    "schedule.fire:before": 1,
    "schedule.fire:after": 1,
    "firing.begin:before": 4,
    "firing.begin:after": 4,
    "run.begin:before": 4,
    "run.begin:after": 4,
    "model:asked": 8,
    "run.decided:before": 8,
    "run.decided:after": 8,
    "tool:before": 8,
    "tool:after": 8,
    "run.step:before": 2,
    "run.step:after": 2,
    "run.settled:before": 8,
    "run.settled:after": 8,
    "question.answer:before": 1,
    "question.answer:after": 1,
    "outbox.sending:after": 8,
    "post:before": 6,
    "post:after": 6,
    "place:before": 3,
    "place:after": 3,
    "outbox.placed:before": 3,
    "outbox.placed:after": 3,
    "edit:before": 3,
    "edit:after": 3,
    "outbox.sent:before": 8,
    "outbox.sent:after": 8,
    "schedule.settle:before": 2,
    "schedule.settle:after": 2,
    "schedule.told:before": 1,
    "schedule.told:after": 1,
}


@dataclass
class Course:
    """How time goes on, and what must have come of it.

    Attributes:
        ahead: of the machine's clock.
        moments: those that came, each with whether the program was surely late for it.
        dead: how often it died at each point.
        names: of the schedules that there are.
    """

    stage: Stage
    dice: random.Random
    ahead: timedelta = timedelta()
    moments: dict[datetime, bool | None] = field(default_factory=dict)
    dead: Counter[str] = field(default_factory=Counter)
    names: tuple[str, ...] = tuple(PLACES)

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    def begin(self) -> None:
        """Set the clock to a minute after a planned moment; the schedules are made then."""
        self.ahead += _next(self.now()) + timedelta(minutes=1) - self.now()

    def hop(self) -> None:
        """Move time on to just after the next moment, or to a time at which that, or several, were missed."""
        first = _next(self.now())
        kind = self.dice.choice(("met", "met", "late", "several"))
        passed = [
            first + number * EVERY for number in range(self.dice.randint(2, 3) if kind == "several" else 1)
        ]
        wait = timedelta(seconds=1) if kind == "met" else timedelta(minutes=self.dice.uniform(2, 5))
        self.ahead += passed[-1] + wait - self.now()
        self.moments |= dict.fromkeys(passed, kind != "met")

    def doubt(self) -> None:
        """Note that a moment that was to be met may have become late: the machine was slow."""
        for at, is_late in self.moments.items():
            if is_late is False and self.now() - at > timedelta(seconds=55) and not self._is_reported(at):
                self.moments[at] = None

    def _is_reported(self, at: datetime) -> bool:
        return all(at.isoformat() in self._seen(name) for name in EACH if name in self.names)

    def _seen(self, name: str) -> set[str]:
        found = reports_of(self.stage.outside.ledger, name)
        return {moment for moment, places in found.items() if len(places) >= len(PLACES[name])}

    def is_done(self) -> bool:
        """Whether the world has seen all it is to see, and the program knows it."""
        return self.stage.outside.left == 0 and all(map(self._is_reported, self.moments))


def _next(now: datetime) -> datetime:
    start = datetime(now.year, now.month, now.day, tzinfo=UTC)
    return start + ((now - start) // EVERY + 1) * EVERY


async def lead(course: Course, kill: Kill) -> str:
    """Run the program until it is ``dead`` or ``done``; or ``stuck``, where neither comes."""
    stage, seconds = course.stage, ROUND_SECONDS
    stage.outside.ahead = course.ahead
    stage.more = {
        "ahead": course.ahead.total_seconds(),
        "schedules": [one for one in SCHEDULES if one["name"] in course.names],
    }
    if kill.point == RANDOM:
        kill, seconds = Kill(), course.dice.uniform(0.02, 1.0)
    await stage.boot(kill)
    assert stage.ended is not None
    until = time.monotonic() + seconds
    while not stage.ended.done() and not course.is_done() and (left := until - time.monotonic()) > 0:
        stage.outside.changed.clear()
        changed = asyncio.ensure_future(stage.outside.changed.wait())
        await asyncio.wait((changed, stage.ended), return_when=asyncio.FIRST_COMPLETED, timeout=left)
        changed.cancel()
    ended = "dead" if stage.ended.done() else "done" if course.is_done() else "stuck"
    stage.shoot()
    await stage.gone()
    if ended == "dead" or (ended == "stuck" and seconds < ROUND_SECONDS):
        course.dead[kill.point or RANDOM] += 1
        stage.outside.ledger.kills += 1
    course.doubt()
    return ended


def _kills(dice: random.Random) -> Iterator[Kill]:
    """Yield each point in turn, in an order of chance, again and again, with kills at random between."""
    while True:
        points = [*POINTS, *[RANDOM] * 8]
        dice.shuffle(points)
        for point in points:
            yield Kill(point, dice.randint(1, POINTS.get(point, 1)))


async def play(course: Course, kills: int) -> None:
    """Let time pass from moment to moment, with one or two deaths in each, until there were so many."""
    course.begin()
    for point in ("schedule.add:before", "schedule.add:after"):
        await lead(course, Kill(point, course.dice.randint(1, len(SCHEDULES))))
    await lead(course, Kill())
    coming = _kills(course.dice)
    while sum(course.dead.values()) < kills:
        course.hop()
        for _ in range(course.dice.randint(1, 2)):  # what dies three times is given up, as it should be
            if sum(course.dead.values()) < kills:
                await lead(course, next(coming))
        if await lead(course, Kill()) != "done":
            return  # what is missing is said by the check
    await lead(course, Kill())  # whatever would come twice after a restart would come now


async def programme(folder: Path, kills: int, seed: int) -> tuple[Course, list[str]]:
    """Run it; return its course and what is wrong."""
    async with staged(folder, seed) as stage:
        course = Course(stage, random.Random(seed))
        await play(course, kills)
        moments = {at.isoformat(): is_late for at, is_late in course.moments.items()}
        return course, list(check(stage.outside.ledger, PLACES, moments))


async def main(kills: int, seed: int) -> int:
    """Run the programme, print its table and its summary; return the exit code."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        course, wrong = await programme(Path(folder), kills, seed)
        lines = [f"WRONG: {one}" for one in wrong] + ([course.stage.stderr()] if wrong else [])
    ledger = course.stage.outside.ledger
    lines += [f"{count:4} killed at {point}" for point, count in sorted(course.dead.items())]
    late = sum(is_late is True for is_late in course.moments.values())
    reports = sum(post["kind"] in ("answer", "report") for post in ledger.posts)
    edited = sum(post["thread"].startswith("outside/T1/C2/") for post in ledger.posts)
    lines.append(
        f"seed={seed} kills={ledger.kills} schedules={len(SCHEDULES)} moments={len(course.moments)} "
        f"late={late} reports={reports} effects={sum(one['tool'] != 'peek' for one in ledger.ran)} "
        f"empty_posts={ledger.placed - edited} wrong={len(wrong)} seconds={time.monotonic() - started:.0f}"
    )
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same moments and points")
    given = parser.parse_args()
    sys.exit(asyncio.run(main(given.kills, given.seed)))
