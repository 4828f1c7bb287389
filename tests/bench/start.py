"""Wall time of ``hermes-bot --help``, the whole process, held against ``python -c "import openai"``.

    python tests/bench/start.py --repeats 15

Both take turns, with warm caches; the medians are compared. Target: <= 0.6.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parent.parent.parent
HELP = """
import sys
sys.path[:0] = {paths!r}
sys.argv = ["hermes-bot", "--help"]
from hermes_bot.cli import main
main()
"""


def seconds(code: str) -> float:
    """Run a Python program and return how long its process took.

    Raises:
        CalledProcessError: it failed.
    """
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)  # noqa: S603 - ours
    return time.perf_counter() - started


def main(repeats: int) -> None:
    """Print both medians and their ratio."""
    mine = HELP.format(paths=[str(ROOT), str(ROOT / "adapters")])
    times: dict[str, list[float]] = {mine: [], "import openai": [], "pass": []}
    for code in times:
        seconds(code)
    for _ in range(repeats):
        for code, taken in times.items():
            taken.append(seconds(code))
    ours, bare, python = (median(taken) for taken in times.values())
    sys.stdout.write(
        f"hermes-bot --help {ours:.3f} s | import openai {bare:.3f} s | ratio {ours / bare:.2f} "
        f"(python alone {python:.3f} s)\n"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=15)
    main(parser.parse_args().repeats)
