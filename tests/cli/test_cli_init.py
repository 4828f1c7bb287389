"""``init`` as a process: valid files, nothing overwritten, nobody waited for (B-124, B-128, B-129)."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from typing import TYPE_CHECKING

import pytest
import yaml
from cli.shell import COMMAND, SECONDS

from hermes_bot.config import read_config

if TYPE_CHECKING:
    from pathlib import Path

    from cli.shell import Shell

    from hermes_bot.config import Config

ANSWERS = """
name = "shopbot"
timezone = "Europe/Berlin"
platforms = ["slack", "telegram"]
slack_mode = "http"
slack_url = "https://bot.example/slack/events"
telegram_mode = "webhook"
telegram_url = "https://bot.example/telegram"
model_url = "http://127.0.0.1:8000/v1"
model_name = "qwen3-32b"
admins = ["slack:T1:U1", "telegram:7"]
channels = ["slack:T1:*", "telegram:-1001"]
"""


def read(folder: Path) -> Config:
    return read_config(folder / "hermes.toml", {"HOME": str(folder)}, cwd=folder)


def on_a_terminal(shell: Shell, typed: str, *words: str) -> tuple[int, str, str]:
    """Run a command at a terminal where this is typed; return its exit code, result and what was shown."""
    ours, its = pty.openpty()
    os.write(ours, typed.encode())
    process = subprocess.Popen(  # noqa: S603 - the words are the test's own
        [*COMMAND, *words],
        cwd=shell.folder,
        env=shell.env,
        stdin=its,
        stderr=its,
        stdout=subprocess.PIPE,
        text=True,
    )
    os.close(its)
    out, _ = process.communicate(timeout=SECONDS)
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:  # its end is closed
        pass
    os.close(ours)
    return process.returncode, out, shown.decode()


def test_without_a_terminal_nothing_is_asked_and_the_usual_is_written(shell: Shell) -> None:
    done = shell.run("init", stdin="")
    assert done.code == 0
    config = read(shell.folder)
    assert (config.bot.name, config.model, config.adapters.slack, config.adapters.telegram) == (
        "hermes",
        None,
        None,
        None,
    )
    assert shell.run("status").code == 0


def test_a_platform_named_is_on_and_its_steps_are_told_in_order(shell: Shell) -> None:
    done = shell.run("init", "--platform", "slack", "--platform", "telegram")
    assert done.code == 0
    config = read(shell.folder)
    assert config.adapters.slack is not None
    assert config.adapters.telegram is not None
    order = ["slack-manifest.yaml", "HERMES_SLACK_BOT_TOKEN", "HERMES_SLACK_APP_TOKEN", "/invite @hermes"]
    order += ["@BotFather", "HERMES_TELEGRAM_TOKEN", "/setprivacy", "[access]", "doctor", "run"]
    places = [done.out.index(word, done.out.index("Next:")) for word in order]
    assert places == sorted(places)


def test_every_answer_of_a_file_is_written(shell: Shell) -> None:
    (shell.folder / "answers.toml").write_text(ANSWERS)
    done = shell.run("init", "--answers", "answers.toml")
    assert (done.code, done.err) == (0, "")
    config = read(shell.folder)
    assert (config.bot.name, config.bot.timezone) == ("shopbot", "Europe/Berlin")
    assert config.model is not None
    assert (config.model.base_url, config.model.name) == ("http://127.0.0.1:8000/v1", "qwen3-32b")
    assert config.adapters.slack is not None
    assert config.adapters.slack.mode == "http"
    assert config.adapters.telegram is not None
    assert config.adapters.telegram.webhook_url == "https://bot.example/telegram"
    assert config.access.admins == ("slack:T1:U1", "telegram:7")
    assert config.access.channels == ("slack:T1:*", "telegram:-1001")
    assert "HERMES_SLACK_SIGNING_SECRET" in done.out


@pytest.mark.parametrize(
    "words", [(), ("--platform", "slack"), ("--platform", "telegram"), ("--answers", "a.toml")]
)
def test_every_setting_that_stands_there_as_a_comment_is_a_setting(
    shell: Shell, words: tuple[str, ...]
) -> None:
    (shell.folder / "a.toml").write_text(ANSWERS)
    assert shell.run("init", *words).code == 0
    file = shell.folder / "hermes.toml"
    file.write_text(re.sub(r"^#(?=\S)", "", file.read_text(), flags=re.MULTILINE))
    config = read(shell.folder)
    assert config.adapters.slack is not None
    assert config.adapters.telegram is not None
    assert config.model is not None
    assert config.logs.sources["shop"].path == "/var/log/shop/*.log"


def test_the_manifest_names_the_bot_and_all_that_is_used(shell: Shell) -> None:
    shell.run("init", "--platform", "slack")
    manifest = yaml.safe_load((shell.folder / "slack-manifest.yaml").read_text())
    assert manifest["features"]["bot_user"]["display_name"] == "hermes"
    assert manifest["settings"]["socket_mode_enabled"] is True
    assert "chat:write" in manifest["oauth_config"]["scopes"]["bot"]
    assert "app_mention" in manifest["settings"]["event_subscriptions"]["bot_events"]


@pytest.mark.parametrize("there", ["hermes.toml", "slack-manifest.yaml"])
def test_nothing_is_overwritten(shell: Shell, there: str) -> None:
    (shell.folder / there).write_text("# mine")
    done = shell.run("init", "--platform", "slack")
    assert (done.code, done.out) == (1, "")
    assert f"{there} is there already" in done.err
    assert {file.name: file.read_text() for file in shell.folder.iterdir()} == {there: "# mine"}


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ("nmae = 'x'", "nmae"),
        ("timezone = 'Mars'", "timezone: 'Mars' is no IANA time zone"),
        ("admins = ['@ann']", "admins: '@ann' is no id"),
        ("platforms = ['teams']", "platforms"),
        ("model_url = 'localhost'", "model_url"),
        ("name = ", "cannot be read as TOML"),
    ],
)
def test_an_answer_that_cannot_be_used_is_said_and_nothing_written(
    shell: Shell, answers: str, said: str
) -> None:
    (shell.folder / "answers.toml").write_text(answers)
    done = shell.run("init", "--answers", "answers.toml")
    assert (done.code, done.out) == (1, "")
    assert said in done.err
    assert "Traceback" not in done.err
    assert not (shell.folder / "hermes.toml").exists()


def test_a_platform_that_there_is_not_is_misuse(shell: Shell) -> None:
    assert shell.run("init", "--platform", "teams").code == 2


def test_on_a_terminal_it_asks_and_asks_again_where_an_answer_cannot_be(shell: Shell) -> None:
    typed = (
        "shop bot!\nshopbot\nMars\nEurope/Berlin\nslak\nBoth\nSocket\n\n"
        "localhost:8000\nhttp://127.0.0.1:8000/v1\n\nqwen3-32b\n@ann\nslack:T1:U1 telegram:7\n\n"
    )
    code, out, shown = on_a_terminal(shell, typed, "init")
    assert code == 0, shown
    config = read(shell.folder)
    assert (config.bot.name, config.bot.timezone) == ("shopbot", "Europe/Berlin")
    assert config.model is not None
    assert config.model.name == "qwen3-32b"
    assert (config.access.admins, config.access.channels) == (("slack:T1:U1", "telegram:7"), ())
    assert config.adapters.slack is not None
    assert config.adapters.telegram is not None
    for said in (
        "name: should be a letter or digit, then at most",
        "'Mars' is no IANA time zone",
        "platforms: should be 'slack' or 'telegram'.",
        "offline. model_url: should be an address, such as http://127.0.0.1:8000/v1.",
        "This one is needed.",
        "'@ann' is no id. Ids look like",
    ):
        assert said in shown
    assert "[]" not in shown
    assert "What is the bot called?" not in out


def test_nothing_is_asked_where_nothing_could_be_written(shell: Shell) -> None:
    (shell.folder / "hermes.toml").write_text("# mine")
    code, _, shown = on_a_terminal(shell, "", "init")
    assert code == 1
    assert "hermes.toml is there already" in shown
    assert "What is the bot called?" not in shown


def test_on_a_terminal_too_nothing_is_asked_with_yes(shell: Shell) -> None:
    code, _, shown = on_a_terminal(shell, "", "init", "--yes", "--platform", "telegram")
    assert (code, shown) == (0, "")
    assert read(shell.folder).adapters.telegram is not None


def test_whoever_ends_it_early_has_nothing_written(shell: Shell) -> None:
    code, out, shown = on_a_terminal(shell, "shopbot\n\x04", "init")
    assert (code, out) == (130, "")
    assert "Traceback" not in shown
    assert not (shell.folder / "hermes.toml").exists()
