"""Knows how the webhooks are kept going: the server, what is told later, and how they stand."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from hermes_bot.errors import StoreError
from hermes_bot.ports import Finding
from hermes_bot.store import alerts, audit
from hermes_bot.store.audit import Entry
from hermes_bot.webhooks.settings import hooks_of, problems_of, refused
from hermes_bot.webhooks.taking import Desk, Rooms

if TYPE_CHECKING:
    from datetime import date, datetime

    from hermes_bot.config import Config
    from hermes_bot.skills import Registry
    from hermes_bot.webhooks.settings import Hook

log = logging.getLogger(__name__)

TICK_SECONDS = 15.0
AGAIN_SECONDS = (1.0, 5.0, 15.0, 60.0)
ONE_ROW = timedelta(hours=1)  # of the audit, for a webhook and a reason to refuse


@dataclass(frozen=True, slots=True)
class Listening:
    """How the server stands: ``off`` without a reason where there is no webhook."""

    state: str = "off"
    why: str = ""
    port: int = 0


class Hooks:
    """All webhooks.

    Attributes:
        listening: how the server stands.
    """

    def __init__(self, config: Config, registry: Registry, rooms: Rooms) -> None:
        self._config = config
        self._registry = registry
        self._rooms = rooms
        self._hooks = hooks_of(config)
        self._desk = Desk(rooms)
        self._refused: dict[str, tuple[date, int]] = {}
        self._noted: dict[tuple[str, str], datetime] = {}
        self.listening = Listening()

    def check(self) -> None:
        """See that each webhook can be used.

        Raises:
            ConfigError: one cannot; says why and what to do.
        """
        if problems := [it for one in self._hooks.values() for it in self._problems(one)]:
            raise refused(problems)

    def _problems(self, hook: Hook) -> list[str]:
        return list(problems_of(hook, self._config, self._rooms.policy, self._registry))

    async def run(self) -> None:
        """Serve until cancelled; returns at once where there is no webhook."""
        if not self._hooks:
            return
        async with asyncio.TaskGroup() as group:
            group.create_task(self._serve())
            group.create_task(self._tend())

    async def _serve(self) -> None:
        """Listen; an address that is taken costs nothing else, and is tried again."""
        from hermes_bot.webhooks.door import Door  # noqa: PLC0415 - the server takes long to load; few need it

        door, http, tries = (
            Door(self._hooks, self._desk, self._rooms.clock, self._note_refused),
            self._config.http,
            0,
        )
        while True:
            try:
                await door.serve(http.host, http.port, self._on_listening)
            except OSError as error:
                why = f"{http.host}:{http.port} cannot be listened on ({error.strerror or error})"
                if not tries:
                    log.error("hooks.deaf", extra={"why": why})  # noqa: TRY400 - no bug
                self.listening = Listening("degraded", f"{why}. Free it, or set [http] port.")
            await self._rooms.clock.sleep(AGAIN_SECONDS[min(tries, len(AGAIN_SECONDS) - 1)])
            tries += 1

    def _on_listening(self, port: int) -> None:
        self.listening = Listening("on", port=port)
        log.info("hooks.listening", extra={"host": self._config.http.host, "port": port})

    async def _tend(self) -> None:
        while True:
            await self._rooms.clock.sleep(TICK_SECONDS)
            for hook in self._hooks.values():
                try:
                    await self._desk.tend(hook)
                except StoreError:
                    log.exception("hook.untended")

    async def _note_refused(self, name: str, why: str) -> None:
        """Count what was refused; write it down once an hour for each webhook and reason."""
        now = self._rooms.clock.now()
        today = now.astimezone(self._config.zone).date()
        day, count = self._refused.get(name, (today, 0))
        self._refused[name] = (today, count + 1 if day == today else 1)
        last = self._noted.get((name, why))
        if last is not None and now - last < ONE_ROW:
            return
        self._noted[name, why] = now
        log.warning("hook.refused", extra={"hook": name or "(unknown)", "why": why})
        entry = Entry("nobody", "webhook.refused", name or "(unknown)", "refused", why)
        try:
            await self._rooms.db.transact("hook.refused", partial(audit.note, entry=entry, at=now))
        except StoreError:
            log.exception("hook.unnoted")

    async def standing(self) -> dict[str, Any]:
        """Return how the server and each webhook stand, for ``status``; empty where there is none."""
        if not self._hooks:
            return {}
        known = await self._rooms.db.read(alerts.standing)
        today = self._rooms.clock.now().astimezone(self._config.zone).date()
        rows = {}
        for name, hook in self._hooks.items():
            firing, last = known.get(name, (0, None))
            rows[name] = {
                "path": f"/hooks/{name}",
                "channel": hook.section.channel,
                "firing": firing,
                "last_at": last.isoformat() if last else None,
                "refused_today": self._count(name, today),
                "why": " ".join(self._problems(hook)),
            }
        http = self._config.http
        return {
            "host": http.host,
            "port": self.listening.port or http.port,
            "state": self.listening.state,
            "why": self.listening.why,
            "refused_unknown": self._count("", today),
            "hooks": rows,
        }

    def _count(self, name: str, today: date) -> int:
        day, count = self._refused.get(name, (today, 0))
        return count if day == today else 0

    def findings(self) -> list[Finding]:
        """Return what ``doctor`` says of the server and of each webhook."""
        if not self._hooks:
            return []
        found = []
        if self.listening.state == "degraded":
            found.append(Finding("bad", "webhooks", self.listening.why))
        for name, hook in self._hooks.items():
            what, problems = f"webhook {name}", self._problems(hook)
            found += [Finding("bad", what, one) for one in problems]
            if hook.section.bearer:
                say = "bearer = true: who reads the token on its way may send what they like. Sign instead."
                found.append(Finding("warning", what, say))
            if not problems:
                found.append(Finding("ok", what, f"/hooks/{name} leads to {hook.section.channel}."))
            if hook.place.platform not in self._rooms.adapters:
                say = f"{hook.place.platform} is off, so its events are shown nowhere until it is on."
                found.append(Finding("bad", what, say))
        return found
