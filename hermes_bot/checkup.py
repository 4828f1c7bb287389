"""Knows what ``doctor`` looks at from inside the bot: secrets, model, what it reads, platforms."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from glob import glob
from typing import TYPE_CHECKING, Literal

from hermes_bot.config import SECRETS
from hermes_bot.errors import AdapterError, ConfigError, ModelError, ToolError
from hermes_bot.memory import without_meaning
from hermes_bot.messages import ThreadKey
from hermes_bot.ports import Finding, Prompt
from hermes_bot.state import Goal, Limits, RunState
from hermes_bot.tools.optional import optional_tools
from hermes_bot.tools.sql import can_ask_postgres, databases
from hermes_bot.web import missing_client

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_bot.config import Config, ModelSection
    from hermes_bot.ports import Clock, Health
    from hermes_bot.standing import Standee
    from hermes_bot.tools.sql import SqlDatabase

Grade = Literal["ok", "warning", "bad"]

CHECK_SECONDS = 30.0
ASKED_TOKENS = 64  # the least that may be configured; the answer asked for is one word

_QUESTION = Prompt(b'[{"role":"user","content":"Answer with the one word: ready"}]', tokens=16)
_NOWHERE = RunState("doctor", ThreadKey("console", "local", "doctor", "1"), "", Goal(""), Limits())


async def checkup(host: Standee) -> tuple[Finding, ...]:
    """Return what was found, in the order in which a person would set things right."""
    config = host.config
    found = [_secrets(config), *await _models(config, host.clock), *_readable(config)]
    if problem := without_meaning(config):
        found.append(Finding("warning", "memory", problem))
    found += [*_off(config), *_looked_at(config), *await _databases(config)]
    found += await _sandbox(host)
    platforms = host.platforms.health()
    missing = [name for name, section in config.adapters if section is not None and name not in platforms]
    found += [Finding("bad", name, "Its adapter could not be loaded; the log says why.") for name in missing]
    for name, health in sorted(platforms.items()):
        found += _standing(name, health, config)
        if name in host.adapters and health.state != "off":
            found += await _checked(name, host)
    found += host.hooks.findings()
    found += await host.schedules.findings(config.schedules)
    found += await host.mcp.check()
    return (*found, Finding("ok", "database", f"SQLite {sqlite3.sqlite_version}."))


def _secrets(config: Config) -> Finding:
    is_set = {variable: getattr(config.secrets, field) is not None for variable, field in SECRETS.items()}
    words = [
        f"{word}: {', '.join(names)}"
        for word, wanted in (("set", True), ("not set", False))
        if (names := [variable for variable in SECRETS if is_set[variable] is wanted])
    ]
    return Finding("ok", "secrets", f"{'; '.join(words)}.")


async def _models(config: Config, clock: Clock) -> list[Finding]:
    section = config.model
    if section is None:
        say = "There is no [model] section: the bot works offline, with chains and commands."
        return [Finding("ok", "model", say)]
    small = {"fallbacks": (), "max_output_tokens": ASKED_TOKENS, "output": "plain", "stream": False}
    quick = {"timeout_seconds": min(section.timeout_seconds, CHECK_SECONDS)}
    ends = [section, *(section.model_copy(update=one.model_dump()) for one in section.fallbacks)]
    return [await _model(one.model_copy(update={**small, **quick}), config, clock) for one in ends]


async def _model(section: ModelSection, config: Config, clock: Clock) -> Finding:
    from hermes_bot.llm import EndpointModel  # noqa: PLC0415 - the client library takes 0.4 s to import

    what = f"model {section.name}"
    try:
        model = EndpointModel(section, config.secrets.model_api_key, {}, clock)
    except ConfigError as error:
        return Finding("bad", what, str(error))
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            done = await model.complete(_QUESTION, _NOWHERE)
    except ModelError as error:
        return Finding("bad", what, str(error))
    except TimeoutError:
        return Finding("warning", what, f"{section.base_url} did not answer within {CHECK_SECONDS:.0f} s.")
    finally:
        await model.close()
    price = "" if section.name in config.prices else " It has no price: its calls count as 0 in money."
    return Finding("ok", what, f"{section.base_url} answered in {done.latency_ms} ms.{price}")


def _readable(config: Config) -> Iterator[Finding]:
    """Yield what the bot was told to read and cannot."""
    for name, source in config.logs.sources.items():
        path = source.path
        files = [path] if os.path.lexists(path) else glob(path, recursive=True)  # noqa: PTH207 - a whole path
        what = f"logs of {name}"
        if not files:
            say = f"{path}: there is no such file. Correct [logs.sources.{name}]."
            yield Finding("warning", what, say)
        elif unreadable := [file for file in files if not os.access(file, os.R_OK)]:
            say = f"{unreadable[0]}: the bot's user may not read it. Add the user to the file's group."
            yield Finding("bad", what, say)
    for root in (*config.files.roots, *config.skills.folders):
        if not os.access(root, os.R_OK | os.X_OK):
            yield Finding("bad", "folders", f"{root}: the bot's user may not read it, or it is not there.")


def _off(config: Config) -> Iterator[Finding]:
    """Say which tools are off; one that was asked for is missed."""
    for name, why in optional_tools(config).off.items():
        is_wanted = {"web_search": config.web.search is not None, "sql_query": bool(config.sql.sources)}
        yield Finding("warning" if is_wanted.get(name, False) else "ok", name, f"Off. {why}")


def _looked_at(config: Config) -> Iterator[Finding]:
    """Say what keeps services from being looked at; the looks themselves are the report's."""
    if config.health.checks and (missing := missing_client("Services cannot be looked at")):
        yield Finding("warning", "service-health", missing)
    for name, check in config.health.checks.items():
        if check.ca_file is not None and not os.access(check.ca_file, os.R_OK):
            say = f"{check.ca_file}: the bot's user may not read it, or it is not there."
            yield Finding("bad", f"service {name}", f"{say} Correct [health.checks.{name}] ca_file.")


async def _databases(config: Config) -> list[Finding]:
    return [await _database(one) for one in databases(config.sql)]


async def _database(one: SqlDatabase) -> Finding:
    what = f"database {one.name}"
    if one.engine == "postgres" and not can_ask_postgres():
        return Finding("bad", what, "Postgres cannot be asked: pip install 'hermes-bot[postgres]'.")
    try:
        answer = await one.ask("")
    except ToolError as error:
        return Finding("bad", what, str(error))
    if "code" in answer:
        return Finding("bad", what, f"{answer['problem']} See [sql.sources.{one.name}].")
    said = f"{answer['about']}. {answer['warning']}".strip()
    return Finding("warning" if answer["warning"] else "ok", what, said)


async def _sandbox(host: Standee) -> list[Finding]:
    what = "sandbox"
    if why := await host.sandbox.look_again():
        is_wished = not host.config.sandbox.enabled
        return [Finding("ok" if is_wished else "warning", what, f"run_python is off: {why}")]
    warnings = [Finding("warning", what, said) for said in await host.sandbox.warnings()]
    return [*warnings, Finding("ok", what, "Its self-test passed: run_python can be used.")]


def _standing(name: str, health: Health, config: Config) -> Iterator[Finding]:
    is_wanted = getattr(config.adapters, name, None) is not None
    if health.state == "off":
        is_half = bool(config.secrets.of(name)) and not is_wanted
        grade: Grade = "bad" if is_wanted else "warning" if is_half else "ok"
        yield Finding(grade, name, f"Off. {health.why}".strip())
    elif health.state == "degraded":
        yield Finding("bad", name, f"Degraded since {health.since:%Y-%m-%d %H:%M} UTC. {health.why}")
    elif health.state == "on" and is_wanted:
        yield Finding("ok", name, f"On as {health.identity or 'itself'}.")


async def _checked(name: str, host: Standee) -> Iterator[Finding]:
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            return iter(await host.adapters[name].check())
    except AdapterError as error:
        return iter((Finding("bad", name, str(error)),))
    except TimeoutError:
        return iter((Finding("bad", name, f"It could not be checked within {CHECK_SECONDS:.0f} s."),))
