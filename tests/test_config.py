"""What the configuration accepts, and how it refuses (behaviours B-124 to B-126)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pydantic import BaseModel

from hermes_bot.config import Endpoint, Keys, read_config
from hermes_bot.errors import ConfigError
from hermes_bot.keys import kind_at, places

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
from configured import MODEL, read, refusal


def test_nothing_at_all_is_a_configuration(tmp_path: Path) -> None:
    config = read(tmp_path, None)
    assert config.origin is None
    assert config.model is None
    assert config.state_dir == tmp_path / "home/.local/state/hermes-bot"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[model]\nbase_url = "http://x/v1"\nnmae = "m"\n', "[model] nmae: no such key. Did you mean name?"),
        (MODEL + 'fallbacks = "x"\n', "[model] fallbacks: should be a valid array"),
        ('timezone = "UTC"\n', "timezone, before any section: no such key here; it belongs in [bot]"),
        ("[model]\nmax_running = 3\n", "[model] max_running: no such key here; it belongs in [bot]"),
        ("[modle]\nname = 'x'\n", "[modle]: no such key. Did you mean model?"),
        ("[adapters.slak]\nmode = 'socket'\n", "[adapters] slak: no such key. Did you mean slack?"),
        (
            "[adapters]\nmode = 'socket'\n",
            "[adapters] mode: no such key here; it belongs in [adapters.slack] or",
        ),
        ("[adaptors.slack]\nmode = 'socket'\n", "[adaptors]: no such key. Did you mean adapters?"),
        ("[slack]\nmode = 'socket'\n", "[slack]: no such key"),
        ("[adapters]\nslack = true\n", "[adapters] slack: should be an object"),
        ("[adapters.slack]\nmode = 'sockets'\n", "[adapters.slack] mode: should be 'socket' or 'http'"),
        ("[adapters.slack]\nmoed = 'http'\n", "[adapters.slack] moed: no such key. Did you mean mode?"),
        ("[adapters.slack]\nport = '3000'\n", "[adapters.slack] port: should be a valid integer"),
        ("[adapters.slack]\nport = 70000\n", "[adapters.slack] port: should be less than or equal to 65535"),
        ("[adapters.slack]\npath = 'slack'\n", "[adapters.slack] path: String should match"),
        ("[adapters.slack]\nbase_url = 'slack.com'\n", "[adapters.slack] base_url: should be an address"),
        (
            "[adapters.slack]\nwebhook_url = 'https://x/'\n",
            "[adapters.slack] webhook_url: no such key here; it belongs in [adapters.telegram]",
        ),
        (
            "[adapters.telegram]\nmode = 'socket'\n",
            "[adapters.telegram] mode: should be 'polling' or 'webhook'",
        ),
        (
            "[adapters.telegram]\nbase_ulr = 'x'\n",
            "[adapters.telegram] base_ulr: no such key. Did you mean base",
        ),
        ("[access]\nadmin = []\n", "[access] admin: no such key. Did you mean admins?"),
        ("[access]\nusers = []\n", "[access] users: no such key."),
        ("[access]\nadmins = 'slack:T1:U1'\n", "[access] admins: should be a valid array"),
        ("[bot]\nadmins = []\n", "[bot] admins: no such key here; it belongs in [access]"),
        (
            "channels = []\n",
            "channels, before any section: no such key here; it belongs in [profiles.NAME] or [access]",
        ),
        ("[pacing]\nspeed = 0\n", "[pacing] speed: should be greater than 0"),
        ("[pacing]\nsped = 2\n", "[pacing] sped: no such key. Did you mean speed?"),
        ("[bot]\nspeed = 2.0\n", "[bot] speed: no such key here; it belongs in [pacing]"),
        ('[bot]\nmax_running = "50"\n', "[bot] max_running: should be a valid integer"),
        ("[bot]\nname = 2024-01-01\n", "[bot] name: should be a valid string"),
        ("[bot]\ntimezone = 'Mars/Olympus'\n", "'Mars/Olympus' is no IANA time zone"),
        ("[bot]\nbusy = 'never'\n", "[bot] busy: should be 'steer' or 'queue'"),
        ("[bot]\njoin_seconds = nan\n", "[bot] join_seconds: should be a finite number"),
        ("[profiles.task]\nruonds = 3\n", "[profiles.task] ruonds: no such key. Did you mean rounds?"),
        (
            MODEL + "fallbacks = [{nmae = 'x', base_url = 'y'}]\n",
            "[model.fallbacks.0] nmae: no such key. Did",
        ),
        ("[model]\nname = 'x'\n", "[model] base_url is missing"),
        ("[bot]\nstate_dri = 'x'\n", "Did you mean state_dir?"),
        (
            "[logs]\ntimezome = 'x'\n",
            "[logs] timezome: no such key. Did you mean timezone in [logs.sources.NAME]",
        ),
        ("[secrets]\nmodel = 1\n", "[secrets]: no such key."),
        ("origin = 'x'\n", "origin, before any section: no such key."),
        ("bot = 3\n", "bot, before any section: should be an object"),
        (
            "[logs.sources.a]\npath = '/x'\ntimezone = 'Mars'\n",
            "[logs.sources.a] timezone: 'Mars' is no IANA",
        ),
        ("a = " + "[" * 5000 + "]" * 5000, "this is no TOML"),
        *(
            (f"[model]\nname = 'm'\nbase_url = '{url}'\n", "[model] base_url: should be an address, such as")
            for url in ("localhost:8000/v1", "ftp://127.0.0.1/v1", "http://", "")
        ),
        (
            MODEL + "fallbacks = [{name = 'm', base_url = 'x'}]\n",
            "[model.fallbacks.0] base_url: should be an",
        ),
        (MODEL.replace("8000", "99999"), "[model] base_url: Port out of range"),
    ],
)
def test_a_wrong_key_is_refused_with_file_key_and_nearest(tmp_path: Path, text: str, said: str) -> None:
    message = refusal(tmp_path, text)
    assert message.startswith(f"{tmp_path}/hermes.toml: ")
    assert said in message


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("channels", "slack:C1", "'slack:C1' is no id; those of slack look like slack:T1:C1"),
        ("channels", "slack:*", "'slack:*' is no id; those of slack look like"),
        ("channels", "slack:T1:#general", "'slack:T1:#general' is no id"),
        ("channels", "slack:T1:", "'slack:T1:' is no id"),
        ("channels", "slack:T1:C1:1.1", "'slack:T1:C1:1.1' is no id"),
        ("channels", "slack:T*:C1", "'slack:T*:C1' is no id"),
        ("channels", "slack:T1:C*", "'slack:T1:C*' is no id"),
        ("channels", "slack", "'slack' is no id"),
        ("channels", "*", "'*' is no id. Ids look like"),
        ("channels", "", "'' is no id. Ids look like slack:T1:U1 or telegram:7"),
        ("channels", "telegram:@our_group", "'telegram:@our_group' is no id; those of telegram look like"),
        ("channels", "telegram:900:-1001", "'telegram:900:-1001' is no id"),
        ("admins", "slack:T1:ann", "'slack:T1:ann' is no id"),
        ("admins", "@ann", "'@ann' is no id"),
        ("operators", "Slack:T1:U1", "'Slack:T1:U1': there is no platform 'Slack'. Did you mean slack?"),
        ("members", "slak:T1:U1", "there is no platform 'slak'. Did you mean slack?"),
        ("bots", " slack:T1:B1", "' slack:T1:B1'"),
    ],
)
def test_what_is_no_id_is_refused_in_every_list_with_key_and_value(
    tmp_path: Path, key: str, value: str, said: str
) -> None:
    message = refusal(tmp_path, f"[access]\n{key} = ['slack:T1:X1', '{value}']\n")
    assert message.startswith(f"{tmp_path}/hermes.toml: [access] {key}: ")
    assert said in message


def test_ids_of_every_platform_and_stars_are_taken(tmp_path: Path) -> None:
    text = """[access]
admins = ["slack:T1:U1", "slack:E1:W1", "telegram:7", "console:local:*", "ours:9", "ours:a:9"]
channels = ["slack:T1:*", "telegram:-1001", "telegram:*", "ours:*"]
"""
    access = read(tmp_path, text).access
    assert access.admins[0] == "slack:T1:U1"
    assert len(access.channels) == 4


def test_a_variable_turns_a_platform_on_and_sets_its_lists(tmp_path: Path) -> None:
    config = read(
        tmp_path,
        None,
        HERMES_ADAPTERS__SLACK__MODE="http",
        HERMES_ADAPTERS__SLACK__PORT="3100",
        HERMES_ACCESS__CHANNELS='["slack:T1:*"]',
        HERMES_PACING__SPEED="50",
    )
    assert config.adapters.slack
    assert (config.adapters.slack.mode, config.adapters.slack.port) == ("http", 3100)
    assert config.adapters.telegram is None
    assert config.access.channels == ("slack:T1:*",)
    assert config.pacing.speed == 50


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        (
            "HERMES_ADAPTERS__SLACK__MODE",
            "sockets",
            "HERMES_ADAPTERS__SLACK__MODE: should be 'socket' or 'http'",
        ),
        ("HERMES_ADAPTERS__SLACK__MOED", "http", "no such key. Did you mean HERMES_ADAPTERS__SLACK__MODE?"),
        ("HERMES_ADAPTERS__SLAK__MODE", "http", "no such key. Did you mean HERMES_ADAPTERS__SLACK__MODE?"),
        ("HERMES_ADAPTER__SLACK__MODE", "http", "no such key. Did you mean HERMES_ADAPTERS__SLACK__MODE?"),
        ("HERMES_ACCESS__CHANNELS", '["C1"]', "HERMES_ACCESS__CHANNELS: 'C1' is no id"),
        ("HERMES_ACCESS__CHANNELS", "slack:T1:C1", "HERMES_ACCESS__CHANNELS: should be a valid array"),
        (
            "HERMES_SLACK_TOKEN",
            "xoxb-hush",
            "HERMES_SLACK_TOKEN: no such variable. Did you mean HERMES_SLACK_",
        ),
        ("HERMES_ADAPTERS__TELEGRAM__TOKEN", "hush", "no such key. Did you mean HERMES_"),
    ],
)
def test_a_wrong_variable_of_a_platform_is_named_and_its_value_is_not(
    tmp_path: Path, variable: str, value: str, said: str
) -> None:
    message = refusal(tmp_path, None, **{variable: value})
    assert said in message
    assert "hush" not in message


def test_what_is_missing_without_a_file_is_named_as_a_variable(tmp_path: Path) -> None:
    assert refusal(tmp_path, None, HERMES_MODEL__NAME="m").startswith("HERMES_MODEL__BASE_URL is missing")


def test_a_link_to_no_file_is_not_the_defaults(tmp_path: Path) -> None:
    (tmp_path / "hermes.toml").symlink_to(tmp_path / "elsewhere.toml")
    assert "hermes.toml: cannot be read (No such file" in refusal(tmp_path, None)


def test_a_user_without_a_home_folder_needs_a_state_folder_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("os.getuid", lambda: 4_000_000_000)  # in no list of users
    with pytest.raises(ConfigError, match="this user has no home folder"):
        read_config(None, {}, cwd=tmp_path)
    given = {"HERMES_BOT__STATE_DIR": "state"}
    assert read_config(None, given, cwd=tmp_path).state_dir == tmp_path / "state"


def test_every_wrong_key_is_named_at_once(tmp_path: Path) -> None:
    assert refusal(tmp_path, "[bot]\nnaem = 'x'\nbussy = 'steer'\n").count("Did you mean") == 2


@pytest.mark.parametrize(
    ("variable", "said"),
    [
        ("HERMES_MODEL__NMAE", "HERMES_MODEL__NMAE: no such key. Did you mean HERMES_MODEL__NAME?"),
        ("HERMES_MODLE__NAME", "HERMES_MODLE__NAME: no such key. Did you mean HERMES_MODEL__NAME?"),
        ("HERMES_MODEL_APIKEY", "HERMES_MODEL_APIKEY: no such variable. Did you mean HERMES_MODEL_API_KEY?"),
        ("HERMES_MODEL__API_KEY", "Did you mean HERMES_MODEL_API_KEY?"),
        ("HERMES_CONFG", "Did you mean HERMES_CONFIG?"),
        ("HERMES_BOT__MAX_RUNNING", "HERMES_BOT__MAX_RUNNING: should be a valid integer"),
        ("HERMES_MODEL__FALLBACKS__0__NAME", "HERMES_MODEL__FALLBACKS__0__NAME: should be a valid array"),
    ],
)
def test_a_wrong_variable_is_refused_with_the_nearest(tmp_path: Path, variable: str, said: str) -> None:
    message = refusal(tmp_path, None, **{variable: "hush-hush"})
    assert said in message
    assert "hush" not in message


def test_a_variable_cannot_reach_into_a_list(tmp_path: Path) -> None:
    text = MODEL + "fallbacks = []\n"
    said = refusal(tmp_path, text, HERMES_MODEL__FALLBACKS__0__NAME="x")
    assert said.startswith("HERMES_MODEL__FALLBACKS__0__NAME: [model.fallbacks.0] has no keys")


def test_variables_go_over_the_file_and_are_read_as_their_key_wants(tmp_path: Path) -> None:
    config = read(
        tmp_path,
        MODEL + '[prices."Qwen3-32b"]\ntokens_in = 1\n',
        HERMES_BOT__NAME="42",
        HERMES_BOT__MAX_RUNNING="7",
        HERMES_JOURNAL__JSONL="true",
        HERMES_MODEL__NAME="other",
        HERMES_MODEL__FALLBACKS='[{"base_url": "http://b/v1", "name": "b"}]',
        HERMES_PRICES__QWEN3_32B__TOKENS_OUT="2.5",
        HERMES_LOGS__SOURCES__CHECKOUT__PATH="*.log",
    )
    assert config.bot.name == "42"
    assert config.bot.max_running == 7
    assert config.journal.jsonl
    assert config.model is not None
    assert (config.model.name, config.model.base_url) == ("other", "http://127.0.0.1:8000/v1")
    assert config.model.fallbacks == (Endpoint(base_url="http://b/v1", name="b"),)
    assert config.prices["Qwen3-32b"].tokens_out == 2.5
    assert config.logs.sources["checkout"].path == str(tmp_path / "*.log")


def test_broken_toml_is_never_the_defaults(tmp_path: Path) -> None:
    assert "hermes.toml: this is no TOML" in (said := refusal(tmp_path, "[bot]\nname = \n"))
    assert "line 2" in said


def test_a_file_that_was_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone\.toml: cannot be read \(No such file"):
        read_config(tmp_path / "gone.toml", {}, cwd=tmp_path)
    with pytest.raises(ConfigError, match=r"also\.toml: cannot be read"):
        read_config(None, {"HERMES_CONFIG": "also.toml"}, cwd=tmp_path)


def test_the_named_file_goes_before_the_variable_before_the_folder(tmp_path: Path) -> None:
    for name in ("a", "b", "hermes"):
        (tmp_path / f"{name}.toml").write_text(f"[bot]\nname = '{name}'\n")
    env = {"HERMES_CONFIG": "b.toml"}
    assert read_config(tmp_path / "a.toml", env, cwd=tmp_path).bot.name == "a"
    assert read_config(None, env, cwd=tmp_path).bot.name == "b"
    assert read_config(None, {}, cwd=tmp_path).bot.name == "hermes"


@pytest.mark.parametrize(
    ("text", "environ", "folder"),
    [
        ("", {}, "data/runtime"),
        (None, {"XDG_STATE_HOME": "/xdg"}, "/xdg/hermes-bot"),
        ("", {"STATE_DIRECTORY": "/var/lib/a:/var/lib/b"}, "/var/lib/a"),
        ("[bot]\nstate_dir = 'mine'\n", {"STATE_DIRECTORY": "/var/lib/a"}, "mine"),
        ("[bot]\nstate_dir = '~/mine'\n", {}, "home/mine"),
        ("", {"HERMES_BOT__STATE_DIR": "../up"}, "../up"),
        (None, {"HERMES_BOT__STATE_DIR": ""}, "home/.local/state/hermes-bot"),
    ],
)
def test_the_state_folder(tmp_path: Path, text: str | None, environ: Mapping[str, str], folder: str) -> None:
    assert read(tmp_path, text, **environ).state_dir == (tmp_path / folder).resolve()


def test_paths_of_the_file_start_at_the_file_and_those_of_variables_where_one_stands(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    text = "[files]\nroots = ['shared', '/abs']\n[logs.sources.web]\npath = 'logs/*.log'\n"
    (tmp_path / "etc/hermes.toml").write_text(text)
    environ = {"HERMES_SKILLS__FOLDERS": "['skills']"}
    config = read_config(tmp_path / "etc/hermes.toml", environ, cwd=tmp_path)
    assert [str(root) for root in config.files.roots] == [f"{tmp_path}/etc/shared", "/abs"]
    assert config.logs.sources["web"].path == f"{tmp_path}/etc/logs/*.log"
    assert config.skills.folders == (tmp_path / "skills",)


def test_every_key_can_be_reached_by_its_variable() -> None:
    for place in places(Keys):
        kind = kind_at(Keys, place)
        assert kind is not None, place
        assert not (isinstance(kind, type) and issubclass(kind, BaseModel)), place
