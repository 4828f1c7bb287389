"""Knows how ``hermes.toml`` is read, with ``HERMES_SECTION__KEY`` over it; secrets apart."""

from __future__ import annotations

import os
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_bot.config.refusing import Source, nearest_variable, validated
from hermes_bot.config.secrets import (
    MCP_TOKEN,
    SECRETS,
    WEBHOOK_SECRET,
    home_of,
    read_secrets,
    secret_places,
)
from hermes_bot.config.whole import Config
from hermes_bot.errors import ConfigError
from hermes_bot.keys import Base, Data, Place, anchored, kind_at, literal, put
from hermes_bot.sections import Keys

if TYPE_CHECKING:
    from collections.abc import Mapping


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
    read = validated(data, Source(origin, variables))
    state_dir = read.bot.state_dir or _state_dir(origin, environ, base.home)
    sections = {name: getattr(read, name) for name in Keys.model_fields}
    sections["bot"] = read.bot.model_copy(update={"state_dir": state_dir})
    return Config(**sections, secrets=read_secrets(environ, read.mcp, read.webhooks), origin=origin)


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
    for place in secret_places(data):
        if place[:2] == ("mcp", "servers") and place[3:4] == ("risk",):
            continue  # a tool may be called get_token
        raise ConfigError(
            f"{path}: [{'.'.join(place[:-1])}] {place[-1]} is a secret; secrets do not belong in this file. "
            f"{home_of(place)}"
        )
    return data


def _variables(environ: Mapping[str, str]) -> dict[Place, str]:
    """Return the place of each ``HERMES_SECTION__KEY``; any other ``HERMES_…`` must be one we know."""
    found: dict[Place, str] = {}
    for name in sorted(environ):
        if not name.startswith("HERMES_") or name == "HERMES_CONFIG" or name in SECRETS or not environ[name]:
            continue
        if MCP_TOKEN.fullmatch(name) or WEBHOOK_SECRET.fullmatch(name):
            continue
        if "__" not in name:
            raise ConfigError(f"{name}: no such variable.{nearest_variable(name)}")
        found[tuple(name.removeprefix("HERMES_").lower().split("__"))] = name
    return found


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
