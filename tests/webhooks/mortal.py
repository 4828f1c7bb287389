"""Runs the real program with one webhook so that it dies at a named point. A command: one JSON argument."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from crash.launcher import MortalDatabase, Points
from hooking import with_hook
from places import settings_for

from hermes_bot.alongside import Alongside
from hermes_bot.app import App, Parts
from hermes_bot.config import Adapters, Config, SlackSection
from hermes_bot.sections import Secrets


async def main(spec: dict[str, Any]) -> None:
    points = Points(spec["point"], 1)

    async def open_store(path: Path) -> MortalDatabase:
        database = await MortalDatabase.open(path)
        assert isinstance(database, MortalDatabase)
        database.points = points
        return database

    hook = with_hook("slack:T1:C1", form="alertmanager", skill="log-diagnosis", params=spec["params"])
    tokens = {**spec["tokens"], "webhooks": hook.pop("secrets").webhooks}
    plain = settings_for(Path(spec["folder"]), **hook)
    slack = Adapters(slack=SlackSection(base_url=spec["slack"]))
    settings = Config(**{**dict(plain), "adapters": slack, "secrets": Secrets.model_validate(tokens)})
    async with App(settings, parts=Parts(open_store=open_store)) as app, Alongside(app.run(recover=True)):
        while not app.hooks.listening.port:  # noqa: ASYNC110 - it has no event
            await asyncio.sleep(0.01)
        sys.stdout.write(f"{app.hooks.listening.port}\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)  # until whoever started it closes it, or is gone


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
