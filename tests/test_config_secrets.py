"""Secrets come from the environment or from credentials, stand in no file, and are shown nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pydantic import SecretStr

from hermes_bot.config import SECRETS, Config, remarks

if TYPE_CHECKING:
    from pathlib import Path
from configured import MODEL, read, refusal


def test_a_password_in_an_address_is_refused_and_never_shown(tmp_path: Path) -> None:
    said = refusal(tmp_path, MODEL.replace("127.0.0.1", "user:hunter2@127.0.0.1"))
    assert "[model] base_url: holds a password. Put the key into HERMES_MODEL_API_KEY" in said
    assert "hunter2" not in said


def test_a_credential_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "HERMES_MODEL_API_KEY").write_bytes(b"\xff\xfe")
    said = refusal(tmp_path, None, CREDENTIALS_DIRECTORY=str(tmp_path))
    assert "HERMES_MODEL_API_KEY: this credential cannot be read as text" in said


@pytest.mark.parametrize(
    ("text", "variable"),
    [
        ("[model]\napi_key = 'sk-hush'\n", "HERMES_MODEL_API_KEY"),
        ("[adapters.slack]\nbot_token = 'xoxb-hush'\n", "HERMES_SLACK_BOT_TOKEN"),
        ("[adapters.slack]\nsigning_secret = 'hush'\n", "HERMES_SLACK_SIGNING_SECRET"),
        ("[adapters.slack]\napp_token = 'xapp-hush'\n", "HERMES_SLACK_APP_TOKEN"),
        ("[adapters.telegram]\ntoken = 'hush'\n", "HERMES_TELEGRAM_TOKEN"),
        ("[adapters.telegram]\nbot_token = 'hush'\n", "HERMES_TELEGRAM_TOKEN"),
        ("[telegram]\ntoken = 'hush'\n", "HERMES_TELEGRAM_TOKEN"),
        (MODEL + "fallbacks = [{api_key = 'hush'}]\n", "HERMES_MODEL_API_KEY"),
        ("[web.search]\nprovider = 'brave'\napi_key = 'hush'\n", "HERMES_WEB_SEARCH_KEY"),
        ("[webhooks.ci-main]\nchannel = 'slack:T1:C1'\nsecret = 'hush'\n", "HERMES_WEBHOOK_CI_MAIN_SECRET"),
    ],
)
def test_a_secret_in_the_file_is_refused_with_its_variable(tmp_path: Path, text: str, variable: str) -> None:
    message = refusal(tmp_path, text)
    assert f"set {variable} in the environment" in message
    assert "hush" not in message


@pytest.mark.parametrize(
    "text",
    [
        "dsn = 'host=db user=reader password=hush'",
        "dsn = 'host=db password = hush'",
        "dsn = 'postgresql://reader:hush@db/crm'",
        "dsn = 'postgresql://reader@db/crm?password=hush'",
        "dsn = 'host=db sslpassword=hush'",
        "password = 'hush'\ndsn = 'host=db'",
    ],
)
def test_a_databases_password_in_the_file_is_refused_with_the_way_around(tmp_path: Path, text: str) -> None:
    message = refusal(tmp_path, f"[sql.sources.crm]\n{text}\n")
    assert "passfile=" in message
    assert "hush" not in message


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[sql.sources.crm]\n", "needs either path (SQLite) or dsn (Postgres)"),
        (
            "[sql.sources.crm]\npath = 'a.db'\ndsn = 'host=db'\n",
            "needs either path (SQLite) or dsn (Postgres)",
        ),
        ("[web]\nallow = [{host = 'wiki.example', address = 'somewhere'}]\n", "address"),
        ("[web]\nallow = [{host = 'http://wiki.example', address = '10.0.0.1'}]\n", "host"),
        ("[web]\nports = [0]\n", "ports"),
        ("[web.search]\nprovider = 'searxng'\n", "needs base_url"),
        ("[web.search]\nprovider = 'someone'\n", "provider"),
    ],
)
def test_a_web_or_database_section_that_cannot_work_is_refused(tmp_path: Path, text: str, what: str) -> None:
    assert what in refusal(tmp_path, text)


def test_secrets_come_from_the_environment_or_from_credentials_and_do_not_print(tmp_path: Path) -> None:
    (tmp_path / "HERMES_TELEGRAM_TOKEN").write_text("123:hush\n")
    config = read(tmp_path, None, HERMES_MODEL_API_KEY="sk-hush", CREDENTIALS_DIRECTORY=str(tmp_path))
    assert config.secrets.model_api_key == SecretStr("sk-hush")
    assert config.secrets.telegram_token == SecretStr("123:hush")
    assert "hush" not in f"{config!r} {config} {config.model_dump()}"


def test_a_secret_that_serves_nothing_is_said(tmp_path: Path) -> None:
    said = remarks(read(tmp_path, None, HERMES_MODEL_API_KEY="k"))
    assert said == ("HERMES_MODEL_API_KEY is set, but nothing is configured that would use it.",)
    assert remarks(read(tmp_path, MODEL, HERMES_MODEL_API_KEY="k")) == ()


def test_a_token_without_its_section_and_a_section_without_people_are_said(tmp_path: Path) -> None:
    tokens = {"HERMES_SLACK_BOT_TOKEN": "xoxb-hush", "HERMES_TELEGRAM_TOKEN": "7:hush"}
    said = remarks(read(tmp_path, "", **tokens))
    assert [words.split()[0] for words in said] == list(tokens)
    assert "hush" not in str(said)
    both = "[adapters.slack]\n[adapters.telegram]\n"
    said = remarks(read(tmp_path, both, **tokens))
    assert said[0] == "[adapters.slack]: [access] lists no channel and nobody there, so nobody is heard."
    assert len(said) == 2
    listed = both + "[access]\nchannels = ['slack:T1:*']\nadmins = ['telegram:7']\n"
    assert remarks(read(tmp_path, listed, **tokens)) == ()


def test_a_secret_has_one_variable_each() -> None:
    fields = set(type(Config().secrets).model_fields) - {"mcp", "handed", "webhooks"}  # each has its own
    assert sorted(SECRETS.values()) == sorted(fields)
