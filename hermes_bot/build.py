"""Knows how the configuration becomes parts: skills, tools, the model, adapters."""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

from hermes_bot.errors import ConfigError
from hermes_bot.loop.context import BYTES_PER_TOKEN, Frame
from hermes_bot.mcp.servers import Servers
from hermes_bot.offline import OfflineModel, match_skill
from hermes_bot.plugins import ADAPTERS, discover, skills_dir
from hermes_bot.ports import Setup
from hermes_bot.router import VERBS
from hermes_bot.runs.hands import Hands
from hermes_bot.skills import RUN_SKILL_SCHEMA, Runner, read_registry, run_skill_summary
from hermes_bot.tools.catalog import catalog_of
from hermes_bot.tools.declare import Tool
from hermes_bot.tools.files import file_tools, keep_text
from hermes_bot.tools.logtools import log_tools
from hermes_bot.tools.now import now_tool
from hermes_bot.tools.plugged import plugged_tools
from hermes_bot.tools.toolbox import CoreToolbox

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from hermes_bot.config import Config
    from hermes_bot.messages import Json, Result
    from hermes_bot.offline import SkillCard
    from hermes_bot.plugins import Plugin
    from hermes_bot.ports import Adapter, Clock, Model, Records, ToolContext
    from hermes_bot.skills import Registry
    from hermes_bot.state import Question, RunState
    from hermes_bot.store.database import Database
    from hermes_bot.tools.catalog import LogCatalog
    from hermes_bot.tools.toolbox import Source, Walls

log = logging.getLogger(__name__)

CHAIN_SECONDS = 600.0


def build_registry(config: Config) -> Registry:
    """Read the bundled skills and those of the configured folders."""
    registry = read_registry([skills_dir(), *config.skills.folders])
    for one in registry.refused:
        log.warning("skill.refused", extra={"folder": one.folder.name, "reason": one.reason})
    return registry


def build_toolbox(
    config: Config,
    registry: Registry,
    catalog: LogCatalog,
    extra: Sequence[Tool],
    walls: Walls | None = None,
    sources: Sequence[Source] = (),
) -> CoreToolbox:
    """Return the core's tools, those of plug-ins, and ``run_skill``, behind one door."""
    runner = Runner(registry, config.zone, {"list_services": catalog.services}, keep_text)
    plugged = plugged_tools()
    for reason in plugged.broken:
        log.error("tool.broken", extra={"reason": reason})

    async def run_skill(args: Mapping[str, Json], context: ToolContext) -> Result | Question:
        params = cast("Mapping[str, Json]", args.get("params") or {})
        return await runner.run_skill(str(args["name"]), params, context, toolbox)

    skill = Tool(
        "run_skill",
        run_skill_summary(registry),
        RUN_SKILL_SCHEMA,
        run_skill,
        timeout=CHAIN_SECONDS,
        max_chars=6_000,
    )
    core = (*log_tools(catalog), *file_tools(config.files.roots), now_tool(config.zone))
    toolbox = CoreToolbox((skill, *core, *extra, *plugged.tools), walls=walls, sources=sources)
    return toolbox


def build_mcp(config: Config, registry: Registry, db: Database, clock: Clock) -> Servers:
    """Return the MCP servers; a quarter of a prompt is theirs at most."""

    def named(state: RunState) -> Sequence[str]:
        profile = config.profiles.get(state.limits.profile)
        skills = [one for one in registry.skills if one.name == state.goal.skill]
        return (*(profile.tools if profile else ()), *(tool for one in skills for tool in one.tools))

    tokens = config.model.context_tokens if config.model else Frame().context_tokens
    return Servers(config, db, clock, named=named, room=tokens * BYTES_PER_TOKEN // 4)


def build_hands(
    config: Config,
    registry: Registry,
    extra: Sequence[Tool],
    clock: Clock,
    walls: Walls | None = None,
    sources: Sequence[Source] = (),
) -> tuple[Hands, Callable[[], Awaitable[None]]]:
    """Return what runs work with, and how it is closed; ``extra`` are tools beside the core's.

    Raises:
        ConfigError: something that the configuration names cannot be had.
    """
    catalog = catalog_of(config)
    toolbox = build_toolbox(config, registry, catalog, extra, walls, sources)
    cards = registry.cards()
    model, close = _model(config, cards, catalog, clock)
    section, name = config.model, config.bot.name
    frame = Frame(name, section.context_tokens, section.max_output_tokens) if section else Frame(name)
    choose = partial(_choose, cards=cards, known=catalog.services, threshold=config.skills.threshold)
    workspaces = config.state_dir / "workspaces"
    hands = Hands(model, toolbox, frame, config.profiles, choose, workspaces)
    return hands, close


def _model(
    config: Config, cards: Sequence[SkillCard], catalog: LogCatalog, clock: Clock
) -> tuple[Model, Callable[[], Awaitable[None]]]:
    if config.model is None:
        return OfflineModel(lambda: cards, catalog.services, config.skills.threshold), _nothing
    # the client library takes 0.4 s to import, which offline commands need not wait for
    from hermes_bot.llm import EndpointModel  # noqa: PLC0415

    model = EndpointModel(config.model, config.secrets.model_api_key, config.prices, clock)
    return model, model.close


async def _nothing() -> None:
    """Close what needs no closing."""


def _choose(
    text: str, *, cards: Sequence[SkillCard], known: Callable[[], Sequence[str]], threshold: float
) -> str:
    found = match_skill(text, cards, known=known(), threshold=threshold)
    return found[0] if found else ""


def build_adapters(
    config: Config,
    records: Callable[[str], Records],
    clock: Clock,
    makers: Mapping[str, Callable[[Setup], Adapter]],
) -> tuple[dict[str, Adapter], dict[str, str]]:
    """Return the adapters that are on, and why the others are off, both by name.

    ``makers`` take the place of entry points of the same name.

    Raises:
        ConfigError: the console adapter, which every command needs, is not installed.
    """
    found = discover(ADAPTERS)
    for reason in found.broken:
        log.error("adapter.broken", extra={"reason": reason})
    adapters: dict[str, Adapter] = {}
    off: dict[str, str] = {}
    for plugin in found.plugins:
        try:
            make = makers.get(plugin.name, plugin.value)
            adapters[plugin.name] = _adapter(replace(plugin, value=make), config, records(plugin.name), clock)
        except ConfigError as error:
            off[plugin.name] = str(error)
    if "console" not in adapters:
        raise ConfigError("The console adapter is not installed. Install hermes-bot again.")
    return adapters, off


def _adapter(plugin: Plugin, config: Config, records: Records, clock: Clock) -> Adapter:
    name = plugin.name
    if not callable(plugin.value):
        raise ConfigError(f"{plugin.distribution}: its entry point {name} makes no adapter.")
    settings = getattr(config.adapters, name, None)
    given = config.secrets.of(name)
    if settings is None and name in type(config.adapters).model_fields:
        hint = f" (HERMES_{name.upper()}_… is set, but that alone does not turn it on)" if given else ""
        raise ConfigError(f"There is no [adapters.{name}] section in the configuration{hint}.")
    setup = Setup(
        settings=settings.model_dump() if settings else {},
        secrets=given,
        records=records,
        clock=clock,
        bot_name=config.bot.name,
        verbs=VERBS,
        channels=config.access.channels,
        bots=config.access.bots,
        speed=config.pacing.speed,
    )
    return cast("Adapter", plugin.value(setup))
