"""Knows what is set and serves nothing, so that nothing is off in silence."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from hermes_bot.config.secrets import MCP_TOKEN, SECRETS
from hermes_bot.sections import mcp_token_variable, webhook_variable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hermes_bot.config.whole import Config
    from hermes_bot.sections import ModelSection, Price


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
    nobody = (name for name in config.secrets.mcp if MCP_TOKEN.fullmatch(name) and name not in servers)
    strays = (_unserved(name, servers, "below [mcp.servers]") for name in nobody)
    hooks = {webhook_variable(name): name for name in config.webhooks}
    unheard = (name for name in config.secrets.webhooks if name not in hooks)
    lost = (_unserved(name, hooks, "below [webhooks]") for name in unheard)
    return (*idle, *strays, *lost, *_unheard(config), *_unpriced(config))


def _unserved(variable: str, known: Mapping[str, str], where: str) -> str:
    """Say that a secret is for no section that there is."""
    close = difflib.get_close_matches(variable, known, 1)
    hint = f" Did you mean {close[0]}?" if close else ""
    return f"{variable} is set, but there is no such section {where}.{hint}"


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
