"""Knows how ``hermes.toml`` is read, with ``HERMES_SECTION__KEY`` over it; secrets apart.

Read once, by ``app.py`` and the command line, and passed down; nothing else looks at the environment.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import BaseModel, Field, SecretStr, ValidationError

from hermes_bot.errors import ConfigError
from hermes_bot.keys import (
    Base,
    Data,
    Place,
    anchored,
    kind_at,
    literal,
    places,
    put,
    siblings,
)
from hermes_bot.sections import (
    Access,
    Adapters,
    Approval,
    Approvals,
    Bot,
    Budgets,
    Endpoint,
    Files,
    InnerHost,
    Journal,
    Keys,
    Logs,
    LogSource,
    Mcp,
    McpServer,
    MemorySection,
    ModelSection,
    Pacing,
    Price,
    Profile,
    SandboxSection,
    Search,
    Secrets,
    Skills,
    SlackSection,
    Sql,
    SqlSource,
    TelegramSection,
    Web,
    mcp_token_variable,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic_core import ErrorDetails

__all__ = [
    "SECRETS",
    "Access",
    "Adapters",
    "Approval",
    "Approvals",
    "Bot",
    "Budgets",
    "Config",
    "Endpoint",
    "Files",
    "InnerHost",
    "Journal",
    "Keys",
    "LogSource",
    "Logs",
    "Mcp",
    "McpServer",
    "MemorySection",
    "ModelSection",
    "Pacing",
    "Price",
    "Profile",
    "SandboxSection",
    "Search",
    "Secrets",
    "Skills",
    "SlackSection",
    "Sql",
    "SqlSource",
    "TelegramSection",
    "Web",
    "known_secrets",
    "read_config",
    "remarks",
]

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
_MCP_TOKEN = re.compile(r"HERMES_MCP_[A-Z0-9]+(?:_[A-Z0-9]+)*_TOKEN")


class Config(Keys):
    """The whole configuration, as ``read_config`` returns it.

    Attributes:
        origin: the file it was read from; None where defaults stand alone.
    """

    secrets: Annotated[Secrets, Field(exclude=True)] = Secrets()
    origin: Path | None = None

    @property
    def state_dir(self) -> Path:
        """The state folder, absolute."""
        if self.bot.state_dir is None:
            raise ConfigError("[bot] state_dir: read_config sets it; a Config made by hand must too.")
        return self.bot.state_dir

    @property
    def zone(self) -> ZoneInfo:
        """The team's time zone."""
        return ZoneInfo(self.bot.timezone)


def read_config(path: Path | None, environ: Mapping[str, str], *, cwd: Path) -> Config:
    """Return the configuration, with every path in it absolute.

    The file is ``path``, else ``$HERMES_CONFIG``, else ``hermes.toml`` in ``cwd``, else none. Keys from the
    environment go over those of the file. Paths in the file are relative to the file's folder, paths in the
    environment to ``cwd``.

    Raises:
        ConfigError: what is wrong, where, and the nearest thing that would be right; never a secret's value.
    """
    origin = _origin(path, environ, cwd)
    base = Base(cwd if origin is None else origin.parent, _home(environ))
    data: Data = {} if origin is None else anchored(_toml(origin), Keys, base)
    variables = _variables(environ)
    for place, variable in variables.items():
        kind = kind_at(Keys, place)
        value = anchored(literal(environ[variable], kind), kind, replace(base, folder=cwd))
        if not put(data, place, value):
            raise ConfigError(f"{variable}: [{'.'.join(place[:-1])}] has no keys of its own.")
    read = _validated(data, _Source(origin, variables))
    state_dir = read.bot.state_dir or _state_dir(origin, environ, base.home)
    sections = {name: getattr(read, name) for name in Keys.model_fields}
    sections["bot"] = read.bot.model_copy(update={"state_dir": state_dir})
    return Config(**sections, secrets=_secrets(environ, read.mcp), origin=origin)


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


def remarks(config: Config) -> tuple[str, ...]:
    """Return a sentence for everything that is set and serves nothing, so that nothing is off in silence."""
    search = config.web.search
    unused = {
        field: getattr(config.adapters, field.split("_")[0], None) is None for field in SECRETS.values()
    } | {
        "model_api_key": config.model is None,
        "web_search_key": search is None or search.provider != "brave",
    }
    idle = tuple(
        f"{variable} is set, but nothing is configured that would use it."
        for variable, field in SECRETS.items()
        if getattr(config.secrets, field) is not None and unused.get(field, True)
    )
    servers = {mcp_token_variable(name): name for name in config.mcp.servers}
    nobody = (name for name in config.secrets.mcp if _MCP_TOKEN.fullmatch(name) and name not in servers)
    strays = (_unserved(name, servers) for name in nobody)
    return (*idle, *strays, *_unheard(config), *_unpriced(config))


def _unserved(variable: str, servers: Mapping[str, str]) -> str:
    """Say that a token is for no MCP server that there is."""
    close = difflib.get_close_matches(variable, servers, 1)
    hint = f" Did you mean {close[0]}?" if close else ""
    return f"{variable} is set, but there is no such section below [mcp.servers].{hint}"


def _unpriced(config: Config) -> Iterator[str]:
    """Say of each model without a price that a limit in money will not hold it."""
    budgets = config.budgets
    limits = (budgets.user_money, budgets.channel_money, budgets.day_money)
    if any(limits) or any(one.money for one in config.profiles.values()):
        for name in unpriced(config.model, config.prices):
            yield f"There is no [prices.{name}]: its calls count as 0, so no limit in money holds them."


def unpriced(model: ModelSection | None, prices: Mapping[str, Price]) -> tuple[str, ...]:
    """Return the configured models that have no price: their calls count as costing nothing."""
    names = (model.name, *(one.name for one in model.fallbacks)) if model else ()
    return tuple(name for name in dict.fromkeys(names) if name not in prices)


def _unheard(config: Config) -> Iterator[str]:
    """Say of each platform that is set up whether nobody could speak to the bot there."""
    access = config.access
    given = (*access.channels, *access.admins, *access.operators, *access.members)
    for name, section in config.adapters:
        if section is not None and not any(text.startswith(f"{name}:") for text in given):
            yield f"[adapters.{name}]: [access] lists no channel and nobody there, so nobody is heard."


@dataclass(frozen=True, slots=True)
class _Source:
    """Where keys came from, in the words of a message."""

    file: Path | None
    variables: Mapping[Place, str]

    def name(self, place: Place, *, is_table: bool = False) -> str:
        for known, variable in self.variables.items():
            if known[: len(place)] == place:
                return variable
        if self.file is None:
            return f"HERMES_{'__'.join(place).upper()}"
        *section, key = place
        if is_table:
            return f"{self.file}: [{'.'.join(place)}]"
        return f"{self.file}: " + (
            f"[{'.'.join(section)}] {key}" if section else f"{key}, before any section"
        )


def _origin(path: Path | None, environ: Mapping[str, str], cwd: Path) -> Path | None:
    named = path or (Path(environ["HERMES_CONFIG"]) if environ.get("HERMES_CONFIG") else None)
    if named is not None:
        return Path(os.path.normpath(cwd / named))
    found = cwd / "hermes.toml"
    return found if os.path.lexists(found) else None  # a link that leads nowhere is no wish for the defaults


def _toml(path: Path) -> Data:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}). Name an existing file.") from error
    except (
        ValueError,
        RecursionError,
    ) as error:  # broken TOML, with its line, or no UTF-8, or nested too deep
        raise ConfigError(f"{path}: this is no TOML: {error}. Nothing of it was used.") from error
    for place in _secret_places(data):
        if place[:2] == ("mcp", "servers") and place[3:4] == ("risk",):
            continue  # a tool may be called get_token
        raise ConfigError(
            f"{path}: [{'.'.join(place[:-1])}] {place[-1]} is a secret; secrets do not belong in this file. "
            f"{_secrets_home(place)}"
        )
    return data


def _secret_places(value: Any, place: Place = ()) -> Iterator[Place]:
    match value:
        case dict():
            for key, inner in value.items():
                yield from _secret_places(inner, (*place, key))
        case list():
            for inner in value:
                yield from _secret_places(inner, place)
        case str() if place and _SECRET_KEY.search(place[-1]):
            yield place
        case _:
            pass


def _secrets_home(place: Place) -> str:
    """Say where a secret belongs that was found at a place of the file."""
    if place[0] == "sql":
        return "Take it out and name a file of pgpass form, mode 0600, with passfile=… in the dsn."
    variable = _secret_variable(place)
    return f"Take it out and set {variable} in the environment or as a systemd credential."


def _secret_variable(place: Place) -> str:
    if place[:2] == ("mcp", "servers"):
        return mcp_token_variable(place[2]) if len(place) == 4 else place[-1]  # noqa: PLR2004 - its own key
    wanted = "_".join(("HERMES", *place)).upper()
    return max(SECRETS, key=lambda name: difflib.SequenceMatcher(None, wanted, name).ratio())


def _variables(environ: Mapping[str, str]) -> dict[Place, str]:
    """Return the place of each ``HERMES_SECTION__KEY``; any other ``HERMES_…`` must be one we know."""
    found: dict[Place, str] = {}
    for name in sorted(environ):
        if not name.startswith("HERMES_") or name == "HERMES_CONFIG" or name in SECRETS or not environ[name]:
            continue
        if _MCP_TOKEN.fullmatch(name):
            continue
        if "__" not in name:
            raise ConfigError(f"{name}: no such variable.{_nearest_variable(name)}")
        found[tuple(name.removeprefix("HERMES_").lower().split("__"))] = name
    return found


def _nearest_variable(name: str) -> str:
    keys = ["HERMES_" + "__".join(place).upper() for place in places(Keys)]
    close = difflib.get_close_matches(name, ["HERMES_CONFIG", *SECRETS, *keys], 1)
    return f" Did you mean {close[0]}?" if close else " Unset it, or see the README for those that exist."


def _validated(data: Data, source: _Source) -> Keys:
    # As JSON and strict: "50" is no number, but a list is a tuple and a text a path. No key takes a date.
    text = json.dumps(data, default=lambda date: {"date": str(date)})
    try:
        return Keys.model_validate_json(text, strict=True)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False, include_context=False)
    unknown = [_place(it) for it in problems if it["type"] == "extra_forbidden"]
    if unknown:  # a misspelt key is a missing one too; the misspelling is the news
        raise ConfigError("\n".join(_no_such_key(place, data, source) for place in unknown))
    raise ConfigError("\n".join(_wrong(it, source) for it in problems))


def _place(problem: ErrorDetails) -> Place:
    return tuple(str(part) for part in problem["loc"])


def _no_such_key(place: Place, data: Data, source: _Source) -> str:
    key = place[-1]
    where = source.name(place, is_table=len(place) == 1 and isinstance(data[key], dict))
    if where in source.variables.values():
        return f"{where}: no such key.{_nearest_variable(where)}"
    elsewhere = [f"[{'.'.join(known[:-1])}]" for known in places(Keys) if known[-1] == key]
    if elsewhere:
        return f"{where}: no such key here; it belongs in {' or '.join(elsewhere)}."
    there = siblings(Keys, place[:-1])
    if close := difflib.get_close_matches(key, there, 1):
        return f"{where}: no such key. Did you mean {close[0]}?"
    known = {name: section for *section, name in places(Keys)}
    if close := difflib.get_close_matches(key, known, 1):
        return f"{where}: no such key. Did you mean {close[0]} in [{'.'.join(known[close[0]])}]?"
    return f"{where}: no such key. There are {', '.join(there)}."


def _wrong(problem: ErrorDetails, source: _Source) -> str:
    where = source.name(_place(problem))
    if problem["type"] == "missing":
        return f"{where} is missing. Add it, or remove the section."
    message = problem["msg"].removeprefix("Input ").removeprefix("Value error, ")
    return f"{where}: {message}."


def _state_dir(origin: Path | None, environ: Mapping[str, str], home: Path) -> Path:
    if given := environ.get("STATE_DIRECTORY"):
        return Path(given.split(":", 1)[0])  # systemd.exec(5): a list where the unit names several
    if origin is not None:
        return origin.parent / "data" / "runtime"
    if not home.is_absolute() and not environ.get("XDG_STATE_HOME"):
        raise ConfigError("[bot] state_dir is not set, and this user has no home folder. Set one of them.")
    return Path(environ.get("XDG_STATE_HOME") or home / ".local" / "state") / "hermes-bot"


def _home(environ: Mapping[str, str]) -> Path:
    try:
        return Path(environ.get("HOME") or Path.home())
    except RuntimeError:  # a user id without a name, in a container say
        return Path("~")


def _secrets(environ: Mapping[str, str], mcp: Mcp) -> Secrets:
    """Read each secret from its variable, else from the systemd credential of the same name."""
    found = {field: text for variable, field in SECRETS.items() if (text := _secret(environ, variable))}
    tokens = [mcp_token_variable(name) for name in mcp.servers]
    strays = [name for name in environ if _MCP_TOKEN.fullmatch(name)]
    handed = [name for server in mcp.servers.values() for name in server.env]
    given = {name: text for name in (*tokens, *strays, *handed) if (text := _secret(environ, name))}
    plain = {name: text for name, text in given.items() if _PLAIN.fullmatch(name)}
    secret = {name: text for name, text in given.items() if name not in plain}
    return Secrets.model_validate({**found, "mcp": secret, "handed": plain})


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
