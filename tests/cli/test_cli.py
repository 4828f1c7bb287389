"""The commands as processes: results, streams and exit codes (behaviours B-124 to B-128, design §15)."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from endpoint import Endpoint, act
from rich.text import Text
from typer.main import get_command

from hermes_bot import __version__
from hermes_bot.cli import app
from hermes_bot.plugins import demo_dir

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cli.shell import Shell

QUESTION = "why is checkout failing?"
HEAVY = ["openai", "pydantic", "prompt_toolkit", "aiohttp", "sqlite_utils", "hermes_bot.app"]
OUTCOME = {"run", "status", "reason", "answer", "rounds", "tokens", "cost", "questions"}


def test_a_task_that_lacks_something_asks_once_and_waits(shell: Shell) -> None:
    done = shell.run("ask", QUESTION)
    assert done.code == 3
    assert done.out.count("?") == 1
    assert "1. last hour" in done.out
    assert "hermes-bot runs answer" in done.err


def test_a_given_answer_leads_to_a_diagnosis_with_quotes(shell: Shell) -> None:
    done = shell.run("ask", QUESTION, "--answer", "last hour")
    assert done.code == 0
    assert "`payments/postgres.log:249`" in done.out
    name, _, path = done.err.strip().partition(": ")
    assert name == "diagnosis-checkout.md"
    assert Path(path).read_text().startswith("# checkout: the evidence\n")


def test_answers_are_used_in_order_and_the_text_may_come_from_standard_input(shell: Shell) -> None:
    done = shell.run(
        "ask", "-", "--answer", "checkout", "--answer", "last hour", stdin="why is it failing?\n"
    )
    assert done.code == 0
    assert "**checkout:**" in done.out


def test_a_run_that_waits_goes_on_with_its_answer(shell: Shell) -> None:
    asked = shell.run("ask", QUESTION, "--json").object
    assert (asked["status"], set(asked)) == ("waiting", OUTCOME)
    assert asked["questions"][0]["options"][0] == "last hour"
    done = shell.run("runs", "answer", asked["run"], "1", "--json")
    assert (done.code, done.object["status"], set(done.object)) == (0, "finished", OUTCOME)
    assert "postgres.log:249" in done.object["answer"]
    again = shell.run("runs", "answer", asked["run"], "1", "--json")
    assert (again.code, again.object["status"]) == (1, "failed")


def test_a_skill_and_its_parameters_can_be_named(shell: Shell) -> None:
    given = ("--param", "service=checkout", "--param", "since=last hour")
    done = shell.run("ask", "look at it", "--skill", "log-diagnosis", *given, "--json")
    assert (done.code, done.object["status"]) == (0, "finished")


def test_what_cannot_be_done_without_a_model_is_said(shell: Shell) -> None:
    done = shell.run("ask", "write me a poem about the sea")
    assert done.code == 0
    assert "model" in done.out


def test_200_000_characters_are_taken_and_4_mib_are_refused_with_a_sentence(shell: Shell) -> None:
    long = shell.run("ask", "-", "--answer", "last hour", stdin=f"{'so ' * 66_000}why is checkout failing?")
    assert long.code in (0, 3)
    assert "Traceback" not in long.err
    longer = shell.run("ask", "-", "--json", stdin="x" * 5_000_000)
    assert (longer.code, longer.err.count("\n")) == (1, 1)
    assert "too long to be said" in longer.object["error"]


def test_bytes_that_are_no_text_do_no_harm(shell: Shell) -> None:
    done = shell.run("ask", "why \udcff?", LC_ALL="C", PYTHONIOENCODING="ascii")
    assert done.code in (0, 3)
    assert "Traceback" not in done.err


async def test_a_run_that_a_guard_stops_exits_1_with_its_report(shell: Shell) -> None:
    async with Endpoint(otherwise=act("now")) as endpoint:
        model = {"HERMES_MODEL__BASE_URL": endpoint.url, "HERMES_MODEL__NAME": "test-model"}
        done = await asyncio.to_thread(shell.run, "ask", "what time is it?", "--json", **model)
    assert (done.code, done.object["status"], done.object["reason"]) == (1, "stopped", "repetition")
    assert done.object["answer"]


async def test_a_run_whose_endpoint_is_gone_ends_in_a_stated_outcome(shell: Shell) -> None:
    async with Endpoint() as endpoint:
        model = {"HERMES_MODEL__BASE_URL": endpoint.url, "HERMES_MODEL__NAME": "test-model"}
    done = await asyncio.to_thread(shell.run, "ask", "what time is it?", "--json", **model)
    assert (done.code, done.object["status"]) == (1, "failed")
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("ask", QUESTION, "--json", "--nope"), 2, "No such option: --nope. Try: hermes-bot ask --help"),
        (("ask", "--json"), 2, "Missing argument"),
        (("ask", "x", "--param", "y", "--json"), 2, "--param wants KEY=VALUE, not 'y'."),
        (("nope", "--json"), 2, "No such command 'nope'"),
        (("runs", "show", "zzz", "--json"), 1, "No run has an id that begins with 'zzz'"),
        (("skills", "show", "log-diagnoses", "--json"), 1, "log-diagnosis"),
        (("logs", "diagnose", "gone", "--json"), 1, "there is no such file or folder"),
        (
            ("logs", "diagnose", ".", "--since", "soonish", "--json"),
            2,
            "--since: 'soonish' is no time I know",
        ),
        (("logs", "diagnose", ".", "--timezone", "Mars", "--json"), 2, "'Mars' is no IANA zone"),
        (("--config", "gone.toml", "ask", "x", "--json"), 78, "gone.toml: cannot be read"),
    ],
)
def test_a_failure_is_one_object_too_and_a_sentence_for_people(
    shell: Shell, words: tuple[str, ...], code: int, said: str
) -> None:
    done = shell.run(*words)
    assert done.code == code
    assert done.object["status"] == "failed"
    assert said in done.object["error"]
    assert said in done.err
    assert "Traceback" not in done.err


def test_a_wrong_key_ends_every_command_with_78(shell: Shell) -> None:
    (shell.folder / "hermes.toml").write_text("[model]\nnmae = 'x'\n")
    for words in (("ask", "x"), ("run",), ("runs", "list"), ("chat",), ("logs", "diagnose", ".")):
        done = shell.run(*words)
        assert (done.code, done.out) == (78, "")
        assert "hermes.toml: [model] nmae: no such key. Did you mean name?" in done.err


def test_a_wrong_variable_ends_with_78(shell: Shell) -> None:
    done = shell.run("ask", "x", HERMES_MODEL__NMAE="x")
    assert done.code == 78
    assert "Did you mean HERMES_MODEL__NAME?" in done.err


def test_runs_can_be_listed_and_read(shell: Shell) -> None:
    run = shell.run("ask", QUESTION, "--answer", "last hour", "--json").object["run"]
    heads, first = shell.run("runs", "list").out.splitlines()
    assert heads.split("\t")[:2] == ["run", "status"]
    assert first.split("\t")[:2] == [run, "finished"]
    assert shell.run("runs", "list", "--json").object["runs"][0]["id"] == run
    story = shell.run("runs", "show", run[:6]).out
    assert "## Round 1: ok" in story
    assert 'run_skill {"name":"log-diagnosis"' in story
    assert shell.run("runs", "show", run, "--json").object["rounds"][0]["round"] == 1


def test_skills_are_listed_shown_checked_and_begun(shell: Shell) -> None:
    assert "log-diagnosis\tchain(service, since" in shell.run("skills", "list").out
    assert "**Steps**" in shell.run("skills", "show", "log-diagnosis").out
    checked = shell.run("skills", "check", "--json").object
    assert "log-diagnosis" in checked["skills"]
    assert checked["troubles"] == []
    made = shell.run("skills", "new", "team-clock")
    assert made.out == f"{shell.folder}/skills/team-clock\n"
    assert shell.run("skills", "check", "skills").out == "1 checked, nothing wrong: team-clock\n"
    (shell.folder / "skills/team-clock/chain.yaml").write_text("steps: 7\n")
    broken = shell.run("skills", "check", "skills")
    assert (broken.code, broken.out[:11]) == (1, "team-clock:")


@pytest.mark.parametrize(
    ("folder", "said"),
    [
        ("gone", "gone: there is no such folder."),
        ("skills/team-clock", "skills/team-clock is itself a skill. Name the folder it is in: skills."),
        ("skills/team-clock/empty", "skills/team-clock/empty: no skills are in there."),
    ],
)
def test_a_check_of_nothing_is_refused(shell: Shell, folder: str, said: str) -> None:
    shell.run("skills", "new", "team-clock")
    (shell.folder / "skills/team-clock/empty").mkdir()
    done = shell.run("skills", "check", folder)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_without_a_command_the_help_is_all_that_is_said(shell: Shell) -> None:
    done = shell.run()
    assert (done.code, done.err) == (2, "")
    assert "Usage: hermes-bot" in done.out


def test_the_database_is_checked_copied_and_made_smaller(shell: Shell) -> None:
    shell.run("ask", QUESTION)
    assert shell.run("db", "check").out == "No problems found.\n"
    assert shell.run("db", "backup", "copy.db").out == f"{shell.folder}/copy.db\n"
    assert (shell.folder / "copy.db").read_bytes().startswith(b"SQLite format 3")
    assert shell.run("db", "vacuum").code == 0
    assert shell.run("db", "check", "--json").object == {"problems": []}


def test_status_tells_what_is_going_on(shell: Shell) -> None:
    shell.run("ask", QUESTION)
    found = shell.run("status", "--json").object
    assert (found["model"], found["waiting"], found["adapters"]) == ("offline", 1, ["console"])
    assert "waiting\t1" in shell.run("status").out


def test_logs_are_diagnosed_from_files_and_from_standard_input(shell: Shell) -> None:
    log = next(demo_dir().glob("**/postgres.log"))
    by_path = shell.run("logs", "diagnose", str(log), "--json").object
    assert by_path["incident"]
    assert by_path["quotes"][0]["file"] == "postgres.log"
    piped = shell.run("logs", "diagnose", "-", "--json", stdin=log.read_text()).object
    assert piped["first_bad"][1] == by_path["first_bad"][1]
    assert not (shell.folder / ".local").exists()  # no state folder


def test_no_help_loses_what_stands_in_brackets() -> None:
    for words, command in _commands((), get_command(app)):
        texts = [command.help, command.epilog, *(getattr(one, "help", "") for one in command.params)]
        for text in filter(None, texts):
            assert Text.from_markup(text).plain == text.replace("\\[", "["), words


def _commands(words: tuple[str, ...], command: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield words, command
    for name, below in getattr(command, "commands", {}).items():
        yield from _commands((*words, name), below)


def test_help_and_version_import_nothing_heavy() -> None:
    script = (
        "import sys, hermes_bot.cli\n"
        "try:\n    hermes_bot.cli.main(['--help'])\n"
        "except SystemExit:\n    pass\n"
        f"sys.exit(str([name for name in {HEAVY} if name in sys.modules] or 0))\n"
    )
    done = subprocess.run(  # noqa: S603 - the words are the test's own
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stderr.strip() == "0"


def test_the_version_is_the_packages(shell: Shell) -> None:
    assert shell.run("--version").out == f"{__version__}\n"


LOST = """
import os, subprocess, sys
how, *words = sys.argv[1:]
full = os.open("/dev/full", os.O_WRONLY)
read, gone = os.pipe()
os.close(read)
ends = {"full": {"stdout": full}, "gone": {"stdout": gone}, "silent": {"stderr": full}}
closed = {"no-input": 0, "no-output": 1, "no-errors": 2}
env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
process = subprocess.Popen(
    [sys.executable, "-m", "hermes_bot", *words],
    preexec_fn=lambda: os.close(closed[how]) if how in closed else None,
    env=env,
    **{"stdin": subprocess.DEVNULL, "stdout": -1, "stderr": -1, **ends.get(how, {})},
)
out, err = process.communicate()
sys.stdout.write((out or b"").decode())
sys.stderr.write((err or b"").decode())
sys.exit(process.returncode)
"""


@pytest.mark.parametrize(
    ("how", "words", "code", "said"),
    [
        ("full", ("ask", QUESTION), 3, "cannot be written (No space left on device)"),
        ("full", ("runs", "list"), 1, "cannot be written (No space left on device)"),
        ("full", ("--help",), 1, ""),
        ("gone", ("runs", "list"), 1, ""),
        ("gone", ("ask", QUESTION), 3, ""),
        ("silent", ("ask", QUESTION), 3, ""),
        ("no-errors", ("ask", QUESTION), 3, ""),
        ("no-output", ("ask", QUESTION), 3, ""),
        ("no-input", ("ask", "-"), 0, ""),
        ("no-input", ("logs", "diagnose", "-"), 0, ""),
        ("no-input", ("chat",), 0, ""),
    ],
)
def test_streams_that_are_full_gone_or_closed_end_no_command_with_a_trace(
    shell: Shell, how: str, words: tuple[str, ...], code: int, said: str
) -> None:
    done = subprocess.run(  # noqa: S603 - the words are the test's own
        [sys.executable, "-c", LOST, how, *words],
        cwd=shell.folder,
        env=shell.env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, said in done.stderr) == (code, True), done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_a_conversation_that_nobody_reads_any_more_ends_quietly(shell: Shell) -> None:
    line = f"printf '%s\\n' '{QUESTION}' 'last hour' | {sys.executable} -m hermes_bot chat | head -1"
    done = subprocess.run(  # noqa: S603 - the words are the test's own
        ["/bin/sh", "-c", line], cwd=shell.folder, env=shell.env, capture_output=True, text=True, check=False
    )
    assert "Since when?" in done.stdout
    assert "Traceback" not in done.stderr
