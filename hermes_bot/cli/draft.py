"""Knows how a first ``hermes.toml`` looks: every section that people change, with what it does. Pure.

What is not set stands there as a comment that is a setting once its ``#`` is gone.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hermes_bot.cli.answers import Answers


def draft(answers: Answers, state_dir: str = "") -> str:
    """Return the file's text; ``state_dir`` is set where the bot will be a service of the system."""
    parts = [_bot(answers, state_dir), _model(answers), _slack(answers), _telegram(answers)]
    return "\n".join([_HEAD, *parts, _access(answers), _TAIL])


_HEAD = """\
# The configuration of hermes-bot. Secrets are no part of it: they come from the environment or from systemd
# credentials. Each key is also a variable, HERMES_BOT__NAME say. `hermes-bot doctor` says what is missing.
"""

_TAIL = """\
# Logs that can be asked for by the name of their service.
#[logs.sources.shop]
#path = "/var/log/shop/*.log"
#timezone = "UTC"

# Folders that may be read.
#[files]
#roots = ["/srv/handbook"]

# What is done at planned times, without anybody asking; people plan more in chat.
#[schedules.error-digest]
#when = "weekdays at 9"
#channels = ["slack:T1:C1"]
#skill = "error-digest"

# Tokens a day; 0 is no limit.
#[budgets]
#user_tokens = 0
#channel_tokens = 0
#day_tokens = 0

# Money per million tokens, for the figures that runs show.
#[prices."qwen3-32b"]
#tokens_in = 0.0
#tokens_out = 0.0
"""


def _bot(answers: Answers, state_dir: str) -> str:
    return f"""\
[bot]
name = {_toml(answers.name)}
# people's times are in this zone
timezone = {_toml(answers.timezone)}
# where the database lies; else $STATE_DIRECTORY, else data/runtime beside this file
{"" if state_dir else "#"}state_dir = {_toml(state_dir or "/var/lib/hermes-bot")}
# a message for a thread that is at work joins its run ("steer") or waits its turn ("queue")
#busy = "steer"
"""


def _model(answers: Answers) -> str:
    off = "" if answers.model_url else "#"
    return f"""\
# Any OpenAI-compatible endpoint. Without this section the bot works offline: chains and commands.
# Its key, where it needs one: HERMES_MODEL_API_KEY
{off}[model]
{off}base_url = {_toml(answers.model_url or "http://127.0.0.1:8000/v1")}
{off}name = {_toml(answers.model_name or "qwen3-32b")}
#context_tokens = 16000
#fallbacks = [{{ base_url = "http://127.0.0.1:8001/v1", name = "qwen3-8b" }}]
"""


def _slack(answers: Answers) -> str:
    off = "" if "slack" in answers.platforms else "#"
    needs = "HERMES_SLACK_APP_TOKEN" if answers.slack_mode == "socket" else "HERMES_SLACK_SIGNING_SECRET"
    return f"""\
# Slack. It needs HERMES_SLACK_BOT_TOKEN and {needs}.
{off}[adapters.slack]
# "socket" needs no public address; "http" has Slack post to host, port and path
{off}mode = {_toml(answers.slack_mode)}
{_served(off, is_on=answers.slack_mode == "http", port=3000, path="/slack/events")}
"""


def _telegram(answers: Answers) -> str:
    off = "" if "telegram" in answers.platforms else "#"
    is_on = answers.telegram_mode == "webhook"
    url = answers.telegram_url or "https://bot.example/telegram"
    return f"""\
# Telegram. It needs HERMES_TELEGRAM_TOKEN.
{off}[adapters.telegram]
# "polling" needs no public address; "webhook" has Telegram post to webhook_url
{off}mode = {_toml(answers.telegram_mode)}
{off if is_on else "#"}webhook_url = {_toml(url)}
{_served(off, is_on=is_on, port=8443, path="/telegram")}
"""


def _served(off: str, *, is_on: bool, port: int, path: str) -> str:
    mark = off if is_on else "#"
    return f'{mark}host = "127.0.0.1"\n{mark}port = {port}\n{mark}path = "{path}"'


def _access(answers: Answers) -> str:
    return f"""\
# Who may, and where, by ids that do not change: slack:WORKSPACE:USER, slack:WORKSPACE:CHANNEL, telegram:ID;
# * stands for any last part. An empty list is nobody, but for members: then everybody in the channels is one.
[access]
admins = {_list(answers.admins)}
#operators = []
#members = []
channels = {_list(answers.channels)}
"""


def _list(texts: Iterable[str]) -> str:
    return f"[{', '.join(map(_toml, texts))}]"


def _toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace(
        "\x7f", "\\u007f"
    )  # TOML's and JSON's strings are alike
