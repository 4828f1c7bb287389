"""``doctor`` as a process: what is wrong is graded and told, with a daemon and without one (B-125, B-129)."""

from __future__ import annotations

import asyncio
import fcntl
import sqlite3
import sys
from typing import TYPE_CHECKING

import pytest
from cli.shell import read_until
from endpoint import Endpoint, fail, say

from hermes_bot.config import SECRETS
from hermes_bot.plugins import systemd_dir
from hermes_bot.service.unit import NAME, Wanted, unit_text
from hermes_bot.simulator import SlackSimulator, TelegramSimulator

if TYPE_CHECKING:
    from pathlib import Path

    from cli.shell import Ended, Shell

SLACK = "[adapters.slack]\nbase_url = '{}'\n[access]\nchannels = ['slack:T1:*']\n"
TELEGRAM = "[adapters.telegram]\nbase_url = '{}'\n[access]\nchannels = ['telegram:*']\n"


def look(shell: Shell, **env: str) -> Ended:
    """Run ``doctor`` without the unit that this host may have."""
    return shell.run("doctor", "--json", "--unit-dir", str(shell.folder), **env)


def told(done: Ended, what: str) -> list[tuple[str, str]]:
    """Return the grades and sentences about something."""
    return [(one["grade"], one["say"]) for one in done.object["findings"] if one["what"] == what]


def test_a_bot_without_any_setting_is_well_and_nothing_is_made(shell: Shell) -> None:
    done = look(shell)
    assert (done.code, done.object["status"]) == (0, "finished")
    assert {one["grade"] for one in done.object["findings"]} <= {"ok", "warning"}
    assert "offline" in told(done, "model")[0][1]
    assert "will be made" in told(done, "state folder")[-1][1]
    assert "no [adapters.slack] section" in told(done, "slack")[0][1]
    assert list(shell.folder.iterdir()) == []


def test_a_person_gets_a_table_and_a_sum(shell: Shell) -> None:
    (shell.folder / "hermes.toml").write_text("[adapters.telegram]\n")
    done = shell.run("doctor")
    assert done.code == 1
    assert "bad\ttelegram\tOff. " in done.out
    assert "1 to set right" in done.err


def test_a_configuration_that_cannot_be_used_is_said_as_everywhere(shell: Shell) -> None:
    (shell.folder / "hermes.toml").write_text("[bot]\nnmae = 'x'\n")
    done = look(shell)
    assert done.code == 78
    assert "Did you mean name?" in done.object["error"]


def test_a_section_without_its_token_is_bad_and_names_the_variable(shell: Shell) -> None:
    (shell.folder / "hermes.toml").write_text("[adapters.telegram]\n[adapters.slack]\n")
    done = look(shell)
    assert done.code == 1
    for platform, variable in (("telegram", "HERMES_TELEGRAM_TOKEN"), ("slack", "HERMES_SLACK_BOT_TOKEN")):
        ((grade, text),) = told(done, platform)
        assert (grade, variable in text) == ("bad", True)


def test_a_token_without_its_section_is_something_to_look_at(shell: Shell) -> None:
    done = look(shell, HERMES_TELEGRAM_TOKEN="123:hush")  # noqa: S106 - what must not be shown
    assert done.code == 0
    assert told(done, "telegram")[0][0] == "warning"
    assert "set: HERMES_TELEGRAM_TOKEN" in told(done, "secrets")[0][1]
    assert "hush" not in done.out + done.err


def test_each_database_is_asked_and_one_that_cannot_be_read_is_bad(shell: Shell) -> None:
    sqlite3.connect(shell.folder / "shop.db").execute("CREATE TABLE orders (id)").connection.close()
    (shell.folder / "hermes.toml").write_text(
        "[sql.sources.shop]\npath = 'shop.db'\n[sql.sources.gone]\npath = 'gone.db'\n"
    )
    done = look(shell)
    assert done.code == 1
    assert told(done, "database shop") == [("ok", "SQLite, 1 tables and views.")]
    ((grade, text),) = told(done, "database gone")
    assert (grade, "[sql.sources.gone]" in text) == ("bad", True)


def test_tools_that_are_off_say_why_and_are_missed_where_they_were_asked_for(shell: Shell) -> None:
    assert told(look(shell), "web_search")[0][0] == "ok"
    (shell.folder / "hermes.toml").write_text("[web.search]\nprovider = 'brave'\n")
    ((grade, text),) = told(look(shell), "web_search")
    assert (grade, "HERMES_WEB_SEARCH_KEY" in text) == ("warning", True)


async def test_the_model_is_asked_once(shell: Shell) -> None:
    async with Endpoint(otherwise=say("ready")) as endpoint:
        model = {"HERMES_MODEL__BASE_URL": endpoint.url, "HERMES_MODEL__NAME": "m1"}
        done = await asyncio.to_thread(look, shell, **model)
    assert done.code == 0
    assert told(done, "model m1")[0][0] == "ok"
    assert len(endpoint.requests) == 1


async def test_each_endpoint_is_asked_so_that_a_fallback_hides_no_fault(shell: Shell) -> None:
    async with Endpoint(otherwise=fail(401)) as first, Endpoint(otherwise=say("ready")) as second:
        (shell.folder / "hermes.toml").write_text(
            f"[model]\nbase_url = '{first.url}'\nname = 'm1'\n"
            f"fallbacks = [{{ base_url = '{second.url}', name = 'm2' }}]\n"
        )
        done = await asyncio.to_thread(look, shell)
    assert done.code == 1
    ((grade, text),) = told(done, "model m1")
    assert (grade, "HERMES_MODEL_API_KEY" in text) == ("bad", True)
    assert told(done, "model m2")[0][0] == "ok"


async def test_one_scope_less_is_found_with_the_calls_that_want_it(shell: Shell) -> None:
    async with SlackSimulator() as slack:
        slack.scopes.discard("files:write")
        (shell.folder / "hermes.toml").write_text(SLACK.format(slack.base_url))
        tokens = {"HERMES_SLACK_BOT_TOKEN": slack.bot_token, "HERMES_SLACK_APP_TOKEN": slack.app_token}
        done = await asyncio.to_thread(look, shell, **tokens)
    assert done.code == 1
    bad = [one["say"] for one in done.object["findings"] if one["grade"] == "bad"]
    assert len(bad) == 1
    assert "files:write" in bad[0]


async def test_a_wrong_telegram_token_is_bad_and_privacy_mode_is_told(shell: Shell) -> None:
    async with TelegramSimulator() as telegram:
        (shell.folder / "hermes.toml").write_text(TELEGRAM.format(telegram.base_url))
        right = await asyncio.to_thread(look, shell, HERMES_TELEGRAM_TOKEN=telegram.token)
        wrong = await asyncio.to_thread(look, shell, HERMES_TELEGRAM_TOKEN="1:wrong")  # noqa: S106 - made up
    assert right.code == 0
    assert "setprivacy" in right.out
    assert wrong.code == 1
    assert "HERMES_TELEGRAM_TOKEN" in " ".join(
        one["say"] for one in wrong.object["findings"] if one["grade"] == "bad"
    )


async def test_a_running_daemon_is_asked_for_what_it_alone_can_tell(shell: Shell) -> None:
    shell.env["HERMES_MODEL_API_KEY"] = "sk-hush"
    async with shell.start("run") as daemon:
        await read_until(daemon.stderr, "app.ready")
        del shell.env["HERMES_MODEL_API_KEY"]
        done = await asyncio.to_thread(look, shell)
    assert done.code == 0
    assert f"Process {daemon.pid}" in told(done, "running bot")[0][1]
    assert "set: HERMES_MODEL_API_KEY" in told(done, "secrets")[0][1]
    assert "hush" not in done.out


def test_a_state_folder_that_is_held_by_one_who_does_not_answer_is_bad(shell: Shell) -> None:
    folder = shell.folder / "state"
    folder.mkdir(mode=0o700)
    (folder / "lock").write_text("4711\n")
    with (folder / "lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = look(shell, HERMES_BOT__STATE_DIR=str(folder))
    assert done.code == 1
    assert "Process 4711" in told(done, "running bot")[0][1]


def test_a_state_folder_that_cannot_be_is_bad_and_an_open_one_is_said(shell: Shell) -> None:
    done = look(shell, HERMES_BOT__STATE_DIR="/dev/null/state")
    assert (done.code, told(done, "state folder")[0][0]) == (1, "bad")
    (shell.folder / "open").mkdir(mode=0o755)
    done = look(shell, HERMES_BOT__STATE_DIR=str(shell.folder / "open"))
    assert told(done, "state folder")[0][0] == "warning"


def test_logs_that_the_bot_was_told_to_read_are_looked_for(shell: Shell) -> None:
    done = look(shell, HERMES_LOGS__SOURCES__SHOP__PATH=str(shell.folder / "*.log"))
    assert told(done, "logs of shop")[0][0] == "warning"


def installed(shell: Shell, program: str, secrets: Path) -> None:
    (shell.folder / "hermes.toml").touch()
    command = (program, "-m", "hermes_bot", "--config", str(shell.folder / "hermes.toml"), "run")
    template = (systemd_dir() / NAME).read_text()
    (shell.folder / NAME).write_text(unit_text(template, Wanted(command, SECRETS, secrets)))


def test_a_unit_that_fits_is_well(shell: Shell) -> None:
    installed(shell, sys.executable, shell.folder / "secrets")
    (shell.folder / "secrets").mkdir(mode=0o700)
    done = look(shell)
    assert done.code == 0
    assert told(done, "service")[-1][0] == "ok"


def test_a_unit_whose_interpreter_is_gone_is_bad(shell: Shell) -> None:
    installed(shell, str(shell.folder / "gone/bin/python"), shell.folder / "secrets")
    done = look(shell)
    assert done.code == 1
    assert "install-service" in told(done, "service")[0][1]


@pytest.mark.parametrize(("folder_mode", "file_mode"), [(0o755, 0o600), (0o700, 0o644)])
def test_a_secret_that_others_may_read_is_bad(shell: Shell, folder_mode: int, file_mode: int) -> None:
    secrets = shell.folder / "secrets"
    installed(shell, sys.executable, secrets)
    secrets.mkdir()
    (secrets / "HERMES_TELEGRAM_TOKEN").write_text("123:hush")
    (secrets / "HERMES_TELEGRAM_TOKEN").chmod(file_mode)
    secrets.chmod(folder_mode)
    done = look(shell)
    assert done.code == 1
    assert "chmod" in told(done, "credentials")[0][1]


def test_a_secret_in_its_file_is_found_as_the_service_will_find_it(shell: Shell) -> None:
    secrets = shell.folder / "secrets"
    secrets.mkdir(mode=0o700)
    (secrets / "HERMES_MODEL_API_KEY").write_text("sk-hush\n")
    done = look(shell, CREDENTIALS_DIRECTORY=str(secrets))
    assert "set: HERMES_MODEL_API_KEY" in told(done, "secrets")[0][1]


def test_a_sandbox_that_is_switched_off_is_said_and_no_fault(shell: Shell) -> None:
    done = look(shell, HERMES_SANDBOX__ENABLED="false")
    assert told(done, "sandbox") == [
        ("ok", "run_python is off: [sandbox] enabled = false in the configuration.")
    ]


def test_the_sandbox_is_tried(shell: Shell) -> None:
    grades = dict(told(look(shell), "sandbox"))
    assert set(grades) <= {"ok", "warning"}
    assert any("run_python" in text for _, text in told(look(shell), "sandbox"))
