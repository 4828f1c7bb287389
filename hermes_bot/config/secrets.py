"""Knows where secrets come from: the environment, else systemd credentials; never the file."""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, SecretStr

from hermes_bot.errors import ConfigError
from hermes_bot.sections import Mcp, Secrets, mcp_token_variable, webhook_variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from hermes_bot.config.whole import Config
    from hermes_bot.keys import Place

SECRETS = {
    "HERMES_MODEL_API_KEY": "model_api_key",
    "HERMES_SLACK_BOT_TOKEN": "slack_bot_token",
    "HERMES_SLACK_APP_TOKEN": "slack_app_token",
    "HERMES_SLACK_SIGNING_SECRET": "slack_signing_secret",
    "HERMES_TELEGRAM_TOKEN": "telegram_token",
    "HERMES_WEB_SEARCH_KEY": "web_search_key",
}
_SECRET_KEY = re.compile(r"(^|_)(api_?key|token|secret|password|passwd|credentials?)$", re.IGNORECASE)
# what these hold is no secret: to take "en" or a folder for one would mask it wherever it stands
_PLAIN = re.compile(r"(?:.*_)?(?:TZ|LANG|LC_[A-Z]+|HOST|PORT|DIR|PATH|HOME|USER|REGION|LEVEL|MODE|ENV)")
MCP_TOKEN = re.compile(r"HERMES_MCP_[A-Z0-9]+(?:_[A-Z0-9]+)*_TOKEN")
WEBHOOK_SECRET = re.compile(r"HERMES_WEBHOOK_[A-Z0-9]+(?:_[A-Z0-9]+)*_SECRET")


def read_secrets(environ: Mapping[str, str], mcp: Mcp, webhooks: Iterable[str] = ()) -> Secrets:
    """Read each secret from its variable, else from the systemd credential of the same name."""
    found = {field: text for variable, field in SECRETS.items() if (text := _secret(environ, variable))}
    tokens = [mcp_token_variable(name) for name in mcp.servers]
    strays = [name for name in environ if MCP_TOKEN.fullmatch(name)]
    handed = [name for server in mcp.servers.values() for name in server.env]
    given = {name: text for name in (*tokens, *strays, *handed) if (text := _secret(environ, name))}
    plain = {name: text for name, text in given.items() if _PLAIN.fullmatch(name)}
    secret = {name: text for name, text in given.items() if name not in plain}
    wanted = (*map(webhook_variable, webhooks), *filter(WEBHOOK_SECRET.fullmatch, environ))
    hooks = {name: text for name in wanted if (text := _secret(environ, name))}
    return Secrets.model_validate({**found, "mcp": secret, "handed": plain, "webhooks": hooks})


def variables_for(config: Config) -> tuple[str, ...]:
    """Return every variable that may hold a secret which a configuration uses."""
    servers = (mcp_token_variable(name) for name, server in config.mcp.servers.items() if server.url)
    return (*SECRETS, *servers, *map(webhook_variable, config.webhooks))


def _secret(environ: Mapping[str, str], variable: str) -> str:
    folder = environ.get("CREDENTIALS_DIRECTORY")
    text = environ.get(variable, "").strip()
    return _credential(Path(folder, variable)) if not text and folder else text


def _credential(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{path}: this credential cannot be read as text. See its unit's settings."
        ) from error


def known_secrets(config: Config) -> tuple[str, ...]:
    """Return every secret that was loaded, in the clear: what must be seen nowhere."""
    return tuple(_secrets_in(config))


def _secrets_in(value: object) -> Iterator[str]:
    match value:
        case SecretStr():
            yield value.get_secret_value()
        case BaseModel():
            for _, inner in value:
                yield from _secrets_in(inner)
        case dict():
            for inner in value.values():
                yield from _secrets_in(inner)
        case list() | tuple():
            for inner in value:
                yield from _secrets_in(inner)
        case _:
            pass


def secret_places(value: Any, place: Place = ()) -> Iterator[Place]:
    """Yield the places of a file's keys that are secrets by their name."""
    match value:
        case dict():
            for key, inner in value.items():
                yield from secret_places(inner, (*place, key))
        case list():
            for inner in value:
                yield from secret_places(inner, place)
        case str() if place and _SECRET_KEY.search(place[-1]):
            yield place
        case _:
            pass


def home_of(place: Place) -> str:
    """Say where a secret belongs that was found at a place of the file."""
    if place[0] == "sql":
        return "Take it out and name a file of pgpass form, mode 0600, with passfile=… in the dsn."
    variable = _secret_variable(place)
    return f"Take it out and set {variable} in the environment or as a systemd credential."


def _secret_variable(place: Place) -> str:
    if place[:2] == ("mcp", "servers"):
        return mcp_token_variable(place[2]) if len(place) == 4 else place[-1]  # noqa: PLR2004 - its own key
    if place[:1] == ("webhooks",) and len(place) > 1:
        return webhook_variable(place[1])
    wanted = "_".join(("HERMES", *place)).upper()
    return max(SECRETS, key=lambda name: difflib.SequenceMatcher(None, wanted, name).ratio())
