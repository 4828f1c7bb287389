"""``install-service`` as a process (B-129): the interpreter in use, nothing lost, nothing written twice."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from hermes_bot.service.unit import NAME, command_of, is_ours

if TYPE_CHECKING:
    from pathlib import Path

    from cli.shell import Ended, Shell


@pytest.fixture
def units(shell: Shell) -> Path:
    (shell.folder / "hermes.toml").write_text("[bot]\nshutdown_seconds = 30\n")
    folder = shell.folder / "units"
    folder.mkdir()
    return folder


def install(shell: Shell, units: Path, *words: str) -> Ended:
    """Install into a folder of the test's own, which is a temporary one, so that some calls need --force."""
    secrets = units.parent / "credentials"
    return shell.run("install-service", "--unit-dir", str(units), "--credentials-dir", str(secrets), *words)


def test_the_unit_runs_the_interpreter_in_use_with_the_configuration(shell: Shell, units: Path) -> None:
    done = install(shell, units, "--force")
    assert done.code == 0
    text = (units / NAME).read_text()
    config = str(shell.folder / "hermes.toml")
    assert command_of(text) == (sys.executable, "-P", "-m", "hermes_bot", "--config", config, "run")
    assert (
        f"LoadCredential=HERMES_SLACK_BOT_TOKEN:{shell.folder}/credentials/HERMES_SLACK_BOT_TOKEN\n" in text
    )
    assert "TimeoutStopSec=45\n" in text
    assert "DynamicUser=yes\n" in text
    for said in ("doctor", "systemctl daemon-reload && systemctl enable --now hermes-bot", "status"):
        assert said in done.out
    assert (shell.folder / "credentials").stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_has_nothing_to_say_against_what_is_written(shell: Shell, units: Path) -> None:
    install(shell, units, "--force", "--user", "daemon", "--group", "adm")
    words = ["systemd-analyze", "verify", str(units / NAME)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)  # noqa: S603 - our own
    assert (done.returncode, done.stderr) == (0, "")


def test_doing_it_again_changes_nothing_and_a_changed_file_is_kept(shell: Shell, units: Path) -> None:
    install(shell, units, "--force")
    written = (units / NAME).read_text()
    again = install(shell, units, "--force")
    assert "nothing was changed" in again.out
    changed = written.replace("MemoryMax=2G", "MemoryMax=8G")
    (units / NAME).write_text(changed)
    refused = install(shell, units)
    assert (refused.code, refused.out) == (1, "")
    assert "changed by hand" in refused.err
    assert (units / NAME).read_text() == changed
    assert "Replaced" in install(shell, units, "--force").out
    assert is_ours((units / NAME).read_text())


def test_a_dry_run_prints_the_unit_and_changes_nothing(shell: Shell, units: Path) -> None:
    done = install(shell, units, "--dry-run")
    assert done.code == 0
    assert is_ours(done.out)
    assert list(units.iterdir()) == []
    assert not (shell.folder / "credentials").exists()


def test_what_the_service_could_not_reach_is_said_before_anything_is_written(
    shell: Shell, units: Path
) -> None:
    (shell.folder / "hermes.toml").chmod(0o600)
    shell.folder.chmod(0o700)
    done = install(shell, units)
    assert done.code == 1
    assert "--user" in done.err
    assert list(units.iterdir()) == []


def test_a_state_folder_of_ones_own_needs_its_owner(shell: Shell, units: Path) -> None:
    (shell.folder / "hermes.toml").write_text("[bot]\nstate_dir = '/srv/bot'\n")
    done = install(shell, units, "--force")
    assert done.code == 78
    assert "/var/lib/hermes-bot" in done.err
    assert install(shell, units, "--force", "--user", "nobody").code == 0
    assert "ReadWritePaths=/srv/bot\n" in (units / NAME).read_text()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--user", "root", "--dynamic"), 2, "exclude each other"),
        (("--user", "no-such-user"), 1, "useradd"),
        (("--config", "gone.toml"), 78, "gone.toml: cannot be read"),
        (("--force", "--unit-dir", "/proc/units"), 1, "--dry-run"),
    ],
)
def test_a_refusal_says_what_to_do(
    shell: Shell, units: Path, words: tuple[str, ...], code: int, said: str
) -> None:
    done = install(shell, units, *words)
    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert "Traceback" not in done.err


def test_without_a_configuration_there_is_nothing_to_install(shell: Shell, units: Path) -> None:
    (shell.folder / "hermes.toml").unlink()
    done = install(shell, units)
    assert done.code == 78
    assert "hermes-bot --config /etc/hermes-bot/hermes.toml init" in done.err
