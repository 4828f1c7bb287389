"""Knows the command ``doctor``: what must be right before people meet the bot, and how to set it right."""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from hermes_bot.cli.output import FAILED, AsJson, complain, print_json, print_table
from hermes_bot.cli.settings import settings_of
from hermes_bot.errors import StateFolderHeld, StoreError
from hermes_bot.service.unit import UNIT_DIR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_bot.config import Config
    from hermes_bot.ports import Finding

UnitDir = Annotated[Path, typer.Option(metavar="FOLDER", help="Where the unit file would be.")]


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("doctor", epilog="Example: hermes-bot --config /etc/hermes-bot/hermes.toml doctor")(doctor)


def doctor(context: typer.Context, unit_dir: UnitDir = UNIT_DIR, *, as_json: AsJson = False) -> None:
    """Look at everything that must be right, on this host and on the platforms' side.

    A running bot is asked for what it alone can tell; without one, its parts are made for this moment and
    receive nothing. Exit code 1: something has to be set right; 78: the configuration cannot be used.
    """
    config = settings_of(context).start("error")
    found = asyncio.run(_look(config, unit_dir))
    is_bad = any(one.grade == "bad" for one in found)
    if as_json:
        listed = [{"grade": one.grade, "what": one.what, "say": one.say} for one in found]
        print_json({"status": "failed" if is_bad else "finished", "findings": listed})
    else:
        print_table(
            ("grade" if not sys.stdout.isatty() else "", "what", "finding"),
            [(_mark(one), one.what, one.say) for one in found],
        )
        complain(_summary(found))
    raise typer.Exit(FAILED if is_bad else 0)


async def _look(config: Config, unit_dir: Path) -> list[Finding]:
    from hermes_bot.service.host import host_findings

    return [
        *_configuration(config),
        *host_findings(config, datetime.now(UTC), unit_dir),
        *await _skills(config),
        *await _inside(config),
    ]


def _configuration(config: Config) -> list[Finding]:
    from hermes_bot.config import remarks
    from hermes_bot.ports import Finding

    what = "configuration"
    origin = f"{config.origin} is valid." if config.origin else "There is no file; the defaults are used."
    return [
        Finding("ok", what, origin),
        *(Finding("warning", what, remark) for remark in remarks(config)),
    ]


async def _skills(config: Config) -> list[Finding]:
    from hermes_bot.cli.skills import check_skills
    from hermes_bot.ports import Finding

    names, troubles = await check_skills(config)
    found = [Finding("bad", f"skill {one.skill}", one.text) for one in troubles]
    return found or [Finding("ok", "skills", f"{len(names)} checked, nothing wrong: {', '.join(names)}.")]


async def _inside(config: Config) -> list[Finding]:
    """Return what the bot itself finds: the running one, or its parts made for this moment."""
    from hermes_bot.admin import AdminClient, AdminError
    from hermes_bot.ports import Finding

    try:
        async with AdminClient(config.state_dir) as client:
            status, found = await client.call("status"), await client.call("doctor")
    except AdminError as error:
        if error.code in ("absent", "gone"):
            return [_free(config.state_dir), *await _alone(config)]
        say = f"The running bot cannot be asked ({error}). Is it of another version? Start it again."
        return [Finding("bad", "running bot", say)]
    running = [Finding("ok", "running bot", f"Process {status['pid']} was asked for what follows.")]
    troubles = [Finding("bad", "running bot", trouble) for trouble in status.get("troubles", ())]
    return [*running, *troubles, *(Finding(**one) for one in found["findings"])]


def _free(folder: Path) -> Finding:
    """Return whether a daemon could start: who has the folder's lock."""
    from hermes_bot.ports import Finding
    from hermes_bot.store.lock import StateLock

    if not (folder / "lock").exists():
        return Finding("ok", "running bot", "None runs.")
    try:
        with StateLock(folder):
            return Finding("ok", "running bot", "None runs, and one could be started.")
    except StateFolderHeld as error:
        say = f"Process {error.pid} has {folder}, but does not answer. See what it does, or end it."
        return Finding("bad", "running bot", say)
    except StoreError as error:
        return Finding("bad", "running bot", str(error))


async def _alone(config: Config) -> Sequence[Finding]:
    """Return what the parts find over a state folder of their own: the bot's is neither made nor changed."""
    from hermes_bot.app import App
    from hermes_bot.checkup import checkup

    with TemporaryDirectory(prefix="hermes-bot-") as folder:
        bot = config.bot.model_copy(update={"state_dir": Path(folder)})
        async with App(config.model_copy(update={"bot": bot})) as app:
            return await checkup(app)


def _mark(one: Finding) -> str:
    if not sys.stdout.isatty():
        return one.grade
    return {"ok": "✓", "warning": "!", "bad": "✗"}[one.grade]


def _summary(found: Sequence[Finding]) -> str:
    counts = {grade: sum(one.grade == grade for one in found) for grade in ("bad", "warning")}
    if not any(counts.values()):
        return "All is well."
    return f"{counts['bad']} to set right, {counts['warning']} to look at."
