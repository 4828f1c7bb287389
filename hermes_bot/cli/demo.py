"""Knows the command ``demo``: what it says in the terminal, where its state goes, and how it ends."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hermes_bot.cli import ending
from hermes_bot.cli.output import AsJson, print_json
from hermes_bot.cli.settings import settings_of

if TYPE_CHECKING:
    from hermes_bot.config import Config
    from hermes_bot.demo import Demo

Port = Annotated[
    int, typer.Option(metavar="N", min=0, max=65_535, help="The page's port; else 8765, or a free one.")
]
StateDir = Annotated[
    str, typer.Option(metavar="FOLDER", help="Keep the bot's state in this new folder; else it is removed.")
]
NoOpen = Annotated[bool, typer.Option("--no-open", help="Open no browser.")]


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo", epilog="Example: hermes-bot demo --state-dir /tmp/demo --port 9000")(demo)


def demo(
    context: typer.Context,
    port: Port = 0,
    state_dir: StateDir = "",
    *,
    no_open: NoOpen = False,
    as_json: AsJson = False,
) -> None:
    """Try the bot in the browser: a Slack-like and a Telegram-like workspace on this machine, no keys needed.

    The bot and its adapters are the real ones; only the two platforms are simulated. It works offline, or
    with the model of your configuration. Nothing is written outside its state folder. Ctrl-C ends it.
    """
    ending.hold()
    config = settings_of(context).start()
    with tempfile.TemporaryDirectory(prefix="hermes-demo-") as scratch:
        folder = Path(state_dir).resolve() if state_dir else Path(scratch)
        told = _Told(kept=str(folder) if state_dir else "", opens=not no_open, as_json=as_json)
        asyncio.run(_serve(config, folder, port, told))


class _Told:
    """What is said once the demo runs."""

    def __init__(self, *, kept: str, opens: bool, as_json: bool) -> None:
        self._kept = kept
        self._opens = opens
        self._as_json = as_json

    async def running(self, demo: Demo) -> None:
        """Say where the page is, and open it where a person sits before a screen."""
        model = demo.app.config.model
        if self._as_json:
            print_json({"url": demo.url, "state_dir": str(demo.app.config.state_dir), "pid": _pid()})
        else:
            mind = f"It asks {model.name}." if model else "It works offline: no model, no key."
            state = f"Its state stays in {self._kept}." if self._kept else "Nothing is kept when it ends."
            sys.stdout.write(f"\n  The demo is at  {demo.url}\n\n  {mind} {state} Ctrl-C ends it.\n\n")
        sys.stdout.flush()
        if self._opens and not self._as_json and sys.stdout.isatty():
            await asyncio.to_thread(_open, demo.url)


def _pid() -> int:
    import os

    return os.getpid()


def _open(url: str) -> None:
    """Open the page in a browser with windows; one that runs in the terminal would take it away."""
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return
    if type(browser) is not webbrowser.GenericBrowser:
        browser.open(url)


async def _serve(config: Config, folder: Path, port: int, told: _Told) -> None:
    from hermes_bot.demo import open_demo

    ended = asyncio.Event()
    ending.hear(ended.set)
    async with open_demo(config, folder, port) as demo:
        await told.running(demo)
        await ended.wait()
