"""What a sandbox's processes hold together is counted while they come and go."""

from __future__ import annotations

import os
import subprocess

from hermes_bot.sandbox.memory import held_below


def test_processes_that_end_while_they_are_counted_break_nothing() -> None:
    busy = "for i in $(seq 400); do (:) & done; wait"
    with subprocess.Popen(["/bin/sh", "-c", busy]) as child:  # noqa: S603 - ours
        while child.poll() is None:
            assert held_below(child.pid, 1) >= 0
    assert held_below(child.pid, 1) == 0
    assert held_below(os.getpid(), 1) > 0
