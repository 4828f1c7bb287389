"""The program killed at random moments, as often as asked: ``python tests/crash/soak.py --kills 200``.

People keep giving it errands in eight threads while it dies at random, between ten milliseconds and a second
after its start. At the end it may finish what is left, and the world's ledger is checked. One line sums up;
the exit code is 1 where a promise was broken.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from crash.checker import check  # noqa: E402 - run as a command, it finds its siblings only now
from crash.driver import Kill, staged  # noqa: E402 - as above
from crash.mind import ERRANDS  # noqa: E402 - as above

if TYPE_CHECKING:
    from crash.driver import Stage

THREADS = tuple(f"C{number}/1" for number in range(1, 9))


async def soak(stage: Stage, kills: int, dice: random.Random) -> None:
    """Kill the program so often, and let it finish at last."""
    while stage.outside.ledger.kills < kills:
        await stage.boot(Kill())
        assert stage.ended is not None
        until = time.monotonic() + dice.uniform(0.01, 1.0)
        while (left := until - time.monotonic()) > 0 and not stage.ended.done():
            _keep_busy(stage, dice)
            await asyncio.sleep(min(left, 0.02))
        stage.shoot()
        await stage.gone()
        stage.outside.ledger.kills += 1
    await stage.boot(Kill())
    assert await stage.until_done_or_dead(), "the program died without a kill"


def _keep_busy(stage: Stage, dice: random.Random) -> None:
    """Give each thread in which nothing is under way its next errand."""
    for thread in THREADS:
        if stage.outside.is_done_in(thread):
            stage.outside.say(thread, dice.choice(tuple(ERRANDS)))


async def main(kills: int, seed: int) -> int:
    """Run the programme and print its summary; return the exit code."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        async with staged(Path(folder), seed) as stage:
            await soak(stage, kills, random.Random(seed))
            ledger, found = stage.outside.ledger, check(stage.outside.ledger)
            stderr = stage.stderr()
    lines = [f"WRONG: {wrong}" for wrong in found.wrong]
    if found.wrong:
        lines.append(stderr)
    effects = sum(one["tool"] != "peek" for one in ledger.ran)
    lines.append(
        f"seed={seed} kills={ledger.kills} errands={len(ledger.tasks)} posts={len(ledger.posts)} "
        f"effects={effects} unknown={found.unknown} gave_up={found.failed} wrong={len(found.wrong)} "
        f"seconds={time.monotonic() - started:.0f}"
    )
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if found.wrong else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same errands and pauses")
    given = parser.parse_args()
    sys.exit(asyncio.run(main(given.kills, given.seed)))
