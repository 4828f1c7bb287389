"""Knows what is installed beside the core: plug-ins by entry point; skills, demo and unit as folders."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection
    from importlib.metadata import EntryPoint

TOOLS = "hermes_bot.tools"
ADAPTERS = "hermes_bot.adapters"
MANIFESTS = "hermes_bot.manifests"  # what a platform is told of an app: ``(name, mode, url) -> mapping``

_PACKAGE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Plugin:
    """One loaded entry point: the object it names, and the distribution it comes from."""

    name: str
    value: object
    distribution: str


@dataclass(frozen=True, slots=True)
class Discovered:
    """What a group holds.

    Attributes:
        broken: one sentence for each entry point that could not be loaded.
    """

    plugins: tuple[Plugin, ...]
    broken: tuple[str, ...]


def names(group: str) -> tuple[str, ...]:
    """Return what a group's entry points are called, without loading any."""
    return tuple(sorted(point.name for point in entry_points(group=group)))


def discover(group: str, without: Collection[str] = ()) -> Discovered:
    """Load a group's entry points; one that breaks costs only itself.

    ``without`` are left alone: what nobody uses need not be loaded.
    """
    plugins: list[Plugin] = []
    broken: list[str] = []
    for point in sorted(entry_points(group=group), key=lambda one: one.name):
        if point.name in without:
            continue
        distribution = point.dist.name if point.dist else "unknown"
        try:
            plugins.append(Plugin(point.name, point.load(), distribution))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - foreign code: its import may raise anything
            broken.append(_reason(group, point, distribution, error))
    return Discovered(tuple(plugins), tuple(broken))


def _reason(group: str, point: EntryPoint, distribution: str, error: BaseException) -> str:
    return (
        f"{distribution}: the entry point {point.name} = {point.value} of {group} cannot be loaded "
        f"({type(error).__name__}: {str(error)[:200]}). Update or uninstall {distribution}."
    )


def skills_dir() -> Path:
    """Return the folder of the skills that come with the bot, in a checkout or in the wheel."""
    return _bundled("skills", "bundled_skills")


def demo_dir() -> Path:
    """Return the folder of the demo system, in a checkout or in the wheel."""
    return _bundled("data/demo", "bundled_demo")


def evals_dir() -> Path:
    """Return the folder of the evaluation's tasks in a checkout; it is not there in a wheel."""
    return _PACKAGE.parent / "data" / "evals"


def systemd_dir() -> Path:
    """Return the folder of the unit file, in a checkout or in the wheel."""
    return _bundled("systemd", "bundled_systemd")


def _bundled(in_checkout: str, in_wheel: str) -> Path:
    packed = _PACKAGE / in_wheel
    return packed if packed.is_dir() else _PACKAGE.parent / in_checkout
