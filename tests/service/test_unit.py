"""The unit file that is shipped, and what is put into it (reliability of the service; B-129)."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from hermes_bot.config import SECRETS
from hermes_bot.errors import HermesError
from hermes_bot.plugins import systemd_dir
from hermes_bot.service.unit import NAME, Wanted, command_of, is_ours, unit_text

SHIPPED = systemd_dir() / NAME
TEMPLATE = SHIPPED.read_text()
COMMAND = ("/usr/bin/env", "python3", "-m", "hermes_bot", "run")
MOST_EXPOSED = 2.0
OPENED = 0.1  # where people's homes and a group's files are opened to it, as asked for

needs_systemd = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed (Debian: systemd)"
)


def settings(text: str) -> list[str]:
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def judge(*words: str) -> subprocess.CompletedProcess[str]:
    command = ["systemd-analyze", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)  # noqa: S603 - our own


@pytest.fixture(params=["shipped", "dynamic", "named"])
def unit(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    file = tmp_path / NAME
    wanted = {
        "dynamic": Wanted(COMMAND, SECRETS),
        "named": Wanted(
            COMMAND, SECRETS, user="daemon", groups=["adm"], state_dir=Path("/srv/my bot"), sees_home=True
        ),
    }
    file.write_text(unit_text(TEMPLATE, wanted[request.param]) if request.param in wanted else TEMPLATE)
    return file


@needs_systemd
def test_systemd_finds_nothing_to_say_against_it(unit: Path) -> None:
    done = judge("verify", str(unit))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@needs_systemd
def test_it_is_exposed_as_little_as_promised(unit: Path) -> None:
    done = judge("security", "--offline=true", str(unit))
    found = re.search(r"Overall exposure level for \S+: ([\d.]+)", done.stdout)
    assert found is not None, done.stderr
    is_opened = "SupplementaryGroups=" in unit.read_text()
    assert float(found[1]) <= MOST_EXPOSED + (OPENED if is_opened else 0)


def test_the_shipped_file_loads_every_secret_and_needs_none() -> None:
    loaded = dict(re.findall(r"^LoadCredential=(\w+):(\S+)$", TEMPLATE, re.MULTILINE))
    assert loaded == {name: f"/etc/hermes-bot/credentials/{name}" for name in SECRETS}
    assert set(re.findall(r"^SetCredential=(\w+):\\n$", TEMPLATE, re.MULTILINE)) == set(SECRETS)


def test_without_wishes_it_is_the_shipped_file_but_for_the_command() -> None:
    written = unit_text(TEMPLATE, Wanted(COMMAND, SECRETS))
    differs = set(settings(TEMPLATE)) ^ set(settings(written))
    assert {line.split("=")[0] for line in differs} == {"ExecStart"}
    assert "install-service: " not in written


def test_the_stop_is_given_more_time_than_the_drain_takes() -> None:
    assert "TimeoutStopSec=75" in settings(unit_text(TEMPLATE, Wanted(COMMAND, SECRETS)))
    longer = unit_text(TEMPLATE, Wanted(COMMAND, SECRETS, shutdown_seconds=120.5))
    assert "TimeoutStopSec=136" in settings(longer)


@pytest.mark.parametrize("program", ["/opt/my bot/python", "/opt/100%/python", "/opt/$HOME/p", "/plain"])
@pytest.mark.parametrize("word", ["/my bot", "100%h", 'say "x"', "$HOME", "back\\slash", "/plain"])
def test_a_command_of_any_spelling_is_read_back_as_it_was(program: str, word: str) -> None:
    text = unit_text(TEMPLATE, Wanted((program, "-m", "hermes_bot", "--config", word), SECRETS))
    assert command_of(text) == (program, "-m", "hermes_bot", "--config", word)


def test_a_program_that_systemd_would_not_start_is_refused() -> None:
    with pytest.raises(HermesError, match="elsewhere"):
        unit_text(TEMPLATE, Wanted(('/opt/"x"/python',), SECRETS))


@needs_systemd
def test_systemd_reads_an_odd_path_as_it_was(tmp_path: Path) -> None:
    odd = tmp_path / "a b%h$HOME"
    odd.mkdir()
    (odd / "run").write_text("#!/bin/sh\n")
    (odd / "run").chmod(0o755)
    (tmp_path / NAME).write_text(unit_text(TEMPLATE, Wanted((str(odd / "run"),), SECRETS)))
    assert judge("verify", str(tmp_path / NAME)).stderr == ""
    (odd / "run").unlink()
    assert str(odd / "run") in judge("verify", str(tmp_path / NAME)).stderr


def test_a_written_file_knows_itself_until_it_is_changed() -> None:
    text = unit_text(TEMPLATE, Wanted(COMMAND, SECRETS))
    assert is_ours(text)
    assert is_ours(unit_text(TEMPLATE.replace("MemoryMax=2G", "MemoryMax=1G"), Wanted(COMMAND, SECRETS)))
    assert not is_ours(text.replace("MemoryMax=2G", "MemoryMax=8G"))
    assert not is_ours(TEMPLATE)
    assert not is_ours("")
