"""The README is true: its commands run, its settings are settings, its generated parts are current.

``python tests/test_readme.py`` writes the generated parts anew.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from hermes_bot.cli import app
from hermes_bot.config import Keys, read_config
from hermes_bot.keys import places
from hermes_bot.plugins import TOOLS
from hermes_bot.router import VERBS
from hermes_bot.skills import reading
from hermes_bot.skills.chain import ToolWork
from hermes_bot.tools.declare import Tool

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
SECONDS = 120
CONVERSATION = ("ask 'why is checkout failing?'", "runs answer {run} 'last hour'")
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_GENERATED = re.compile(r"<!-- generated: (.*?) -->\n````text\n(.*?)````", re.DOTALL)
_TABLE = re.compile(r"<!-- table: (\w+) -->\n(.*?)<!-- end -->", re.DOTALL)
_EXIT = re.compile(r"\s+# exit (\d+)$")


def blocks(kind: str) -> list[str]:
    """Return the fenced blocks of a kind, in order."""
    return [text for found, text in _BLOCK.findall(README.read_text()) if found == kind]


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    return checkout(tmp_path)


def checkout(folder: Path) -> Path:
    """Make a folder look like a checkout with a venv, whose programs are those that run the tests.

    Making a venv and filling it is what .ci/run does from nothing; here the arguments are checked, and pytest
    collects instead of running itself again.
    """
    bin_folder = folder / ".venv/bin"
    bin_folder.mkdir(parents=True)
    (folder / ".ci").mkdir()
    shutil.copy(ROOT / ".ci/constraints.txt", folder / ".ci")
    shutil.copy(ROOT / "pyproject.toml", folder)
    (folder / "data").symlink_to(ROOT / "data")
    python, root = shlex.quote(sys.executable), shlex.quote(str(ROOT))
    programs = {
        "hermes-bot": f'exec {python} -m hermes_bot "$@"',
        "pip": '[ "$1" = install ] && case " $* " in *" -e . "*|*".[all]"*|*" -U pip "*) ;; *) exit 9;; esac',
        "pytest": f'cd {root} && exec {python} -m pytest --collect-only -q tests/test_readme.py "$@"',
        "python3": f'[ "$1 $2 $3" = "-m venv .venv" ] || exec {python} "$@"',
    }
    for name, does in programs.items():
        (bin_folder / name).write_text(f"#!/bin/sh\n{does}\n")
        (bin_folder / name).chmod(0o755)
    return folder


def bash(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = f"{folder}/.venv/bin:{os.environ['PATH']}"
    env = {
        "HOME": str(folder),
        "PATH": path,
        "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "adapters"))),
    }
    return subprocess.run(  # noqa: S603 - the script is the README's
        ["bash", "-c", script],  # noqa: S607 - the reader's own
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def checked(block: str) -> str:
    """Return a block as a script that ends where a command does not exit as the README says."""
    script = ["set -m"]
    for line in block.splitlines():
        said = _EXIT.search(line)
        command, code = _EXIT.sub("", line), said[1] if said else "0"
        script.append(command)
        if not command.endswith("&"):
            script.append(
                f'code=$?; [ $code = {code} ] || {{ echo "exit $code:" {shlex.quote(command)}; exit 99; }}'
            )
    return "\n".join(script)


@pytest.mark.parametrize("block", blocks("sh"), ids=lambda block: block.split("\n")[0][:60])
def test_every_command_does_what_the_readme_says(block: str, scratch: Path) -> None:
    done = bash(checked(block), scratch)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_the_first_command_does_the_main_job_and_the_second_passes_the_tests() -> None:
    first, second = blocks("sh")[:2]
    assert 'hermes-bot ask "why is checkout failing?" --answer "last hour"' in first
    assert ".venv/bin/pytest" in second


def test_the_settings_shown_are_all_the_settings_there_are(tmp_path: Path) -> None:
    (tmp_path / "hermes.toml").write_text(blocks("toml")[0])
    read_config(None, {}, cwd=tmp_path)
    shown = blocks("toml")[0]
    for place in places(Keys):
        if place[-1] == "NAME":  # whatever people call it
            continue
        assert re.search(rf"\b{place[-1]} = ", shown), place


def test_all_other_settings_shown_are_settings(tmp_path: Path) -> None:
    for block in blocks("toml")[1:]:
        if "[project" not in block:
            (tmp_path / "hermes.toml").write_text(block)
            read_config(None, {}, cwd=tmp_path)


def test_the_tool_shown_is_a_tool() -> None:
    names: dict[str, object] = {}
    exec(blocks("python")[0], names)  # noqa: S102 - the README's own example
    assert isinstance(names["on_call"], Tool)
    assert names["on_call"].summary == "Say who is on call for a service (one name)."
    [project] = [block for block in blocks("toml") if "[project" in block]
    points = tomllib.loads(project)["project"]["entry-points"]
    assert points == {TOOLS: {"on_call": "our_tools:on_call"}}


def test_the_chain_shown_is_a_chain_and_asks_the_tool_shown(tmp_path: Path) -> None:
    [text] = blocks("yaml")
    chain = reading.read_chain(text, tmp_path)
    assert [parameter.name for parameter in chain.parameters] == ["service"]
    assert isinstance(chain.steps[0].work, ToolWork)
    assert chain.steps[0].work.tool == "on_call"


def test_every_key_of_a_chain_is_named() -> None:
    section = README.read_text().partition("## Write a skill")[2].partition("## ")[0]
    for part in (reading._Chain, reading._Parameter, reading._Step, reading._Attach):
        assert [key for key in part.model_fields if not re.search(rf"\b{key}\b", section)] == []


def test_every_file_named_exists() -> None:
    named = re.findall(r"`([\w./]+/[\w./]+\.(?:py|txt|toml))`", README.read_text())
    assert len(named) > 15
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_the_generated_parts_are_current(scratch: Path) -> None:
    for name, text in _GENERATED.findall(README.read_text()):
        assert _steady(text) == _steady(generate(name, scratch)), f"python tests/test_readme.py; part: {name}"


def test_the_tables_hold_every_command() -> None:
    tables = dict(_TABLE.findall(README.read_text()))
    assert tables == {name: make() for name, make in TABLES.items()}, "python tests/test_readme.py"


def _steady(text: str) -> str:
    """Return a text without its times and run ids, which are new in each run, and without what rich draws."""
    text = re.sub(r"\b[0-9a-f]{8}\b", "RUN", text)
    text = re.sub(r"\d+ messages read, \d+ of them", "N messages read", text)  # the window ends now
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "TIME", text)
    text = re.sub(r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) )?\b\d\d:\d\d\b", "TIME", text)
    text = re.sub(r"By hour: .*|, \d+ at most", "", text)  # where an hour begins
    return re.sub(r"[│╭╮╰╯─\s]+", " ", text)  # the width of a column differs between rich's versions


def generate(name: str, folder: Path) -> str:
    """Return what a generated part holds now."""
    if name == "conversation":
        return _converse(folder)
    return (
        "\n".join(line.rstrip() for line in bash(f"COLUMNS=100 {name}", folder).stdout.strip().splitlines())
        + "\n"
    )


def _chat() -> str:
    return _table("in chat", VERBS)


def _shell() -> str:
    return _table("hermes-bot …", dict(_commands(get_command(app))))


def _commands(command: Any, name: str = "") -> Iterator[tuple[str, str]]:
    if not isinstance(command, TyperGroup):
        yield name, (command.help or "").partition("\n\n")[0]
        return
    for below, one in command.commands.items():
        yield from _commands(one, f"{name} {below}".strip())


def _table(head: str, rows: Mapping[str, str]) -> str:
    lines = (f"| `{name}` | {' '.join(does.split()).rstrip('.')} |\n" for name, does in rows.items())
    return f"| {head} | |\n|---|---|\n{''.join(lines)}"


TABLES = {"chat": _chat, "shell": _shell}


def _converse(folder: Path) -> str:
    told, run = [], ""
    for words in CONVERSATION:
        command = f"hermes-bot {words.format(run=run)}"
        done = bash(command, folder)
        told.append(f"$ {command}\n{done.stdout.strip()}\n")
        run = next(iter(re.findall(r"runs answer (\w+)", done.stderr)), run)
    return "\n".join(told)


def _rewrite() -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = checkout(Path(folder))
        text = README.read_text()
        for name, old in _GENERATED.findall(text):
            head = f"<!-- generated: {name} -->\n````text\n"
            text = text.replace(f"{head}{old}````", f"{head}{generate(name, place)}````")
        for name, old in _TABLE.findall(text):
            head = f"<!-- table: {name} -->\n"
            text = text.replace(f"{head}{old}<!-- end -->", f"{head}{TABLES[name]()}<!-- end -->")
        README.write_text(text)


if __name__ == "__main__":
    _rewrite()
