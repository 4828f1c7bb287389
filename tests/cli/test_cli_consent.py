"""A dangerous tool on the command line: without a yes it is not run, and --answer gives one (B-40)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from endpoint import Endpoint, act, finish, in_thread

from hermes_bot.plugins import TOOLS

if TYPE_CHECKING:
    from pathlib import Path

    from cli.shell import Ended, Shell

RESTART = act("restart", service="payments")
PLUGIN = '''
from pathlib import Path

from hermes_bot.tools.declare import tool


@tool(risk="danger", example={"service": "payments"})
async def restart(service: str) -> str:
    """Restart a service."""
    with Path("ran.txt").open("a") as ran:
        ran.write(f"{service}\\n")
    return f"restarted {service}"
'''


def plug_in(folder: Path) -> str:
    """Install a plug-in with a dangerous tool beside the test; return the path that finds it."""
    info = folder / "dangerous-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "dangerous.py").write_text(PLUGIN)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: dangerous\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{TOOLS}]\nrestart = dangerous:restart\n")
    return os.pathsep.join((str(folder), os.environ.get("PYTHONPATH", "")))


def ask(shell: Shell, *words: str) -> tuple[Ended, Ended]:
    """Ask for a restart; return how that ended, and the same as JSON in a folder of its own."""
    path = plug_in(shell.folder / "plugged")
    ended: list[Ended] = []
    for more in ((), ("--json",)):
        with in_thread(Endpoint([RESTART], otherwise=finish("over", evidence=[]))) as endpoint:
            model = {"HERMES_MODEL__BASE_URL": endpoint.url, "HERMES_MODEL__NAME": "m"}
            state = {"HERMES_BOT__STATE_DIR": str(shell.folder / f"state{len(ended)}")}
            ended.append(
                shell.run("ask", "restart payments", *words, *more, PYTHONPATH=path, **model, **state)
            )
    return ended[0], ended[1]


def ran(shell: Shell) -> int:
    """Return how often the tool really ran."""
    file = shell.folder / "ran.txt"
    return len(file.read_text().splitlines()) if file.exists() else 0


def test_without_an_answer_it_shows_the_call_exits_3_and_runs_nothing(shell: Shell) -> None:
    done, as_json = ask(shell)
    assert (done.code, as_json.code) == (3, 3)
    assert "restart" in done.out
    assert 'service: "payments"' in done.out
    assert "1. Approve" in done.out
    assert "hermes-bot runs answer" in done.err
    (question,) = as_json.object["questions"]
    assert (as_json.object["status"], question["options"]) == ("waiting", ["Approve", "Deny"])
    assert ran(shell) == 0


@pytest.mark.parametrize(("answer", "times"), [("Approve", 2), ("1", 2), ("Deny", 0)])
def test_an_answer_is_a_persons_yes_or_no(shell: Shell, answer: str, times: int) -> None:
    done, as_json = ask(shell, "--answer", answer)
    assert (done.code, as_json.object["status"]) == (0, "finished")
    assert ran(shell) == times


def test_an_answer_to_something_else_is_no_consent(shell: Shell) -> None:
    done, _ = ask(shell, "--answer", "last hour")
    assert done.code == 3
    assert "Approve" in done.out + done.err
    assert ran(shell) == 0
