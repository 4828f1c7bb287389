"""Knows how entry points become tools: each is a ``Tool``, or a function that returns one or several."""

from collections.abc import Iterable
from dataclasses import dataclass

from hermes_bot.plugins import TOOLS, Plugin, discover
from hermes_bot.tools.declare import Tool


@dataclass(frozen=True, slots=True)
class PluggedTools:
    """The tools of all plug-ins, and one sentence for each plug-in that gave none."""

    tools: tuple[Tool, ...]
    broken: tuple[str, ...]


def plugged_tools() -> PluggedTools:
    """Return the tools of the installed plug-ins; a broken one costs only itself."""
    found = discover(TOOLS)
    tools: list[Tool] = []
    broken = list(found.broken)
    for plugin in found.plugins:
        try:
            tools += _tools_of(plugin)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - foreign code: it may raise anything
            broken.append(
                f"{plugin.distribution}: the tools of {plugin.name} cannot be used "
                f"({type(error).__name__}: {str(error)[:200]}). Update or uninstall {plugin.distribution}."
            )
    return PluggedTools(tuple(tools), tuple(broken))


def _tools_of(plugin: Plugin) -> list[Tool]:
    value = plugin.value
    if callable(value) and not isinstance(value, Tool):
        value = value()
    found: list[Tool] = []
    for one in value if isinstance(value, Iterable) else [value]:
        if not isinstance(one, Tool):
            kind = type(one).__name__
            raise TypeError(f"it gives a {kind} where a Tool is due; see hermes_bot.tools.declare")
        found.append(one)
    return found
