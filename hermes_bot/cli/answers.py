"""Knows what ``init`` wants to know: each answer, what it must be, and how it is asked."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from hermes_bot.errors import HermesError
from hermes_bot.keys import Patterns, Zone, read_address

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping
    from pathlib import Path

Platform = Literal["slack", "telegram"]


def _public(url: str) -> str:
    if url and not url.startswith("https://"):
        raise ValueError(
            "should be a public address that begins with https://, as https://bot.example/path does"
        )
    return url


def _name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,34}", name):
        raise ValueError(
            "should be a letter or digit, then at most 34 letters, digits, dots, hyphens or underscores"
        )
    return name


def _model(url: str) -> str:
    return read_address(url) if url else url


Public = Annotated[str, AfterValidator(_public)]


class Answers(BaseModel):
    """The answers; also the keys of an answers file.

    Attributes:
        slack_url: what Slack posts to in ``http`` mode.
        telegram_url: what Telegram posts to in ``webhook`` mode.
        model_url: empty for offline mode.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: Annotated[str, AfterValidator(_name)] = "hermes"
    timezone: Zone = "UTC"
    platforms: Annotated[tuple[Platform, ...], Field(strict=False)] = ()
    slack_mode: Literal["socket", "http"] = "socket"
    slack_url: Public = ""
    telegram_mode: Literal["polling", "webhook"] = "polling"
    telegram_url: Public = ""
    model_url: Annotated[str, AfterValidator(_model)] = ""
    model_name: str = ""
    admins: Annotated[Patterns, Field(strict=False)] = ()
    channels: Annotated[Patterns, Field(strict=False)] = ()


_LISTS = ("platforms", "admins", "channels")
_WORDS = ("platforms", "slack_mode", "telegram_mode")
_NEEDED = ("slack_url", "telegram_url", "model_name")
_QUESTIONS = {
    "name": "What is the bot called?",
    "timezone": "Whose clock do people mean? An IANA time zone.",
    "platforms": "Where do people meet it? slack, telegram or both; nothing: in a terminal.",
    "slack_mode": "Slack: socket, which needs no public address, or http?",
    "slack_url": "The public address that Slack posts to:",
    "telegram_mode": "Telegram: polling, which needs no public address, or webhook?",
    "telegram_url": "The public address that Telegram posts to:",
    "model_url": "The base URL of an OpenAI-compatible model; nothing to work offline.",
    "model_name": "The model's name there:",
    "admins": "Who may do everything? Ids with commas, like slack:T1:U1 or telegram:7; they can come later.",
    "channels": "Where may it work? Ids with commas, like slack:T1:C1, slack:T1:* or telegram:-1001.",
}


def read_answers(path: Path, given: Mapping[str, Any], usual: Mapping[str, Any]) -> Answers:
    """Return the answers of a TOML file: over those that are ``usual``, and under those ``given`` apart.

    Raises:
        HermesError: the file cannot be used; says what is wrong with which answer.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise HermesError(f"{path}: these answers cannot be read as TOML ({error}).") from error
    try:
        return Answers(**{**usual, **data, **given})
    except ValidationError as error:
        said = "\n".join(f"{path}: {problem}" for problem in _problems(error))
        raise HermesError(f"{said}\nThe answers are {', '.join(Answers.model_fields)}.") from error


def ask_for(
    start: Answers, given: Container[str], ask: Callable[[str, str], str], tell: Callable[[str], None]
) -> Answers:
    """Return the answers that a person gives.

    Args:
        start: what is so without an answer.
        given: what need not be asked.
        ask: takes a question and what an empty answer means, and returns the answer.
        tell: says what is wrong with an answer; the question is then asked again.
    """
    answers = start
    for field in Answers.model_fields:
        while field not in given and _matters(field, answers):
            said = ask(_QUESTIONS[field], _text(getattr(answers, field))).strip()
            try:
                answers = _with(answers, field, said)
            except ValidationError as error:
                tell(" ".join(_problems(error)))
                continue
            if getattr(answers, field) or field not in _NEEDED:
                break
            tell("This one is needed.")
    return answers


def _with(answers: Answers, field: str, said: str) -> Answers:
    if not said:
        return answers
    value = _value(field, said)
    return Answers(**{**answers.model_dump(), field: value})


def _matters(field: str, answers: Answers) -> bool:
    is_on = {platform: platform in answers.platforms for platform in ("slack", "telegram")}
    needs = {
        "slack_mode": is_on["slack"],
        "slack_url": is_on["slack"] and answers.slack_mode == "http",
        "telegram_mode": is_on["telegram"],
        "telegram_url": is_on["telegram"] and answers.telegram_mode == "webhook",
        "model_name": bool(answers.model_url),
        "admins": any(is_on.values()),
        "channels": any(is_on.values()),
    }
    return needs.get(field, True)


def _value(field: str, said: str) -> Any:
    if field in _WORDS:
        said = said.lower()
    if field not in _LISTS:
        return said
    parts = re.split(r"[,\s]+", said.strip(", "))
    return get_args(Platform) if field == "platforms" and parts == ["both"] else tuple(parts)


def _text(value: object) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def _problems(error: ValidationError) -> Iterator[str]:
    for one in error.errors(include_url=False, include_context=False):
        where = ".".join(map(str, one["loc"][:1]))
        yield f"{where}: {one['msg'].removeprefix('Value error, ').removeprefix('Input ')}."
