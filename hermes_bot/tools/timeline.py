"""Knows the tool behind ``incident-timeline``: it gathers what logs, alerts and people tell of a window."""

import asyncio
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Annotated

from pydantic import Field

from hermes_bot.diagnosis import LogQuery
from hermes_bot.diagnosis.timeline import Story, story_of
from hermes_bot.errors import ToolError
from hermes_bot.messages import Result
from hermes_bot.ports import ToolContext
from hermes_bot.skills.naming import ALL
from hermes_bot.store import incidents
from hermes_bot.store.columns import channel_of
from hermes_bot.tools.catalog import LogCatalog
from hermes_bot.tools.counted import SECONDS, Reporting, zone_of
from hermes_bot.tools.declare import Tool, tool
from hermes_bot.tools.logtools import TimeWords
from hermes_bot.tools.moments import Moments
from hermes_bot.tools.now import stamp
from hermes_bot.tools.timelined import Gathered, told
from hermes_bot.tools.workers import Workers

_ERRORS = {
    "unknown_service": "no such service",
    "bad_time": "the window was not understood",
    "not_found": "no deploy shows",
    "unreadable": "none of the logs can be read",
}


def timeline_tool(reporting: Reporting) -> Tool:
    """Return ``incident_timeline``."""
    workers = Workers(2)

    @tool(
        private=True,
        timeout=SECONDS,
        max_chars=6_000,
        example={"services": ["checkout"], "since": "last 2 hours"},
        errors=_ERRORS,
    )
    async def incident_timeline(
        ctx: ToolContext,
        since: TimeWords,
        services: Annotated[
            list[str] | None, Field(description="names; empty for all", max_length=200)
        ] = None,
        until: TimeWords = "",
    ) -> Result:
        """Order what logs, alerts and this thread tell of a window: begin, peak, end, deploys (first 20)."""
        now = ctx.clock.now()
        wanted = [name for name in services or () if name.casefold() != ALL]
        names = [reporting.catalog.source(name).name for name in wanted] or reporting.catalog.services()
        window = await _window(reporting.catalog, names, (since, until), now)
        stories, unread = await _stories(window, workers, now)
        if not stories:
            raise ToolError("unreadable", " ".join(f"{name}: {why}" for name, why in unread.items()))
        found = await _with_others(Gathered(window.since, window.until, stories, unread), reporting, ctx)
        data = told(found, Moments(now, zone_of(ctx.state, reporting.catalog.zone)))
        said = f"logs of {', '.join(stories)}"
        return Result("ok", data, source=said[:200], as_of=stamp(now), trust="untrusted")

    return incident_timeline


@dataclass(frozen=True, slots=True)
class _Window:
    """A stretch of time, the same for all, with each service's own logs to be read for it."""

    since: datetime
    until: datetime
    queries: Mapping[str, LogQuery]


async def _window(
    catalog: LogCatalog, names: Sequence[str], words: tuple[str, str], now: datetime
) -> _Window:
    """Return what since and until mean; a deploy of one service begins the window of all.

    Raises:
        ToolError: ``bad_time``; ``not_found`` where a deploy is meant and no log tells of one.
    """
    meant: list[LogQuery] = []
    problem: ToolError | None = None
    for name in names:
        try:
            meant.append(await asyncio.to_thread(catalog.query, name, *words, now))
        except ToolError as error:
            if error.code == "bad_time":
                raise
            problem = error
    if not meant:
        raise problem or ToolError("unknown_service", "There are no services; [logs.sources] names them.")
    since = min((one.since for one in meant if one.since), default=now)
    until = min(max((one.until or now) for one in meant), now)
    queries = {}
    for name in names:
        source = catalog.source(name)
        end = until if until < now else None
        queries[name] = LogQuery(source.paths, since, end, source.tz, source.shift(now))
    return _Window(since, until, queries)


async def _stories(
    window: _Window, workers: Workers, now: datetime
) -> tuple[dict[str, Story], dict[str, str]]:
    """Return what each log tells, and why others could not be read; these cost only themselves."""
    stories, unread, over = dict[str, Story](), dict[str, str](), threading.Event()
    try:
        async with asyncio.timeout(SECONDS) as limit:
            for name, query in window.queries.items():
                try:
                    stories[name] = await workers.call(partial(story_of, query, now, over.is_set), limit)
                except ToolError as error:
                    unread[name] = str(error)
    finally:
        over.set()
    return stories, unread


async def _with_others(found: Gathered, reporting: Reporting, ctx: ToolContext) -> Gathered:
    """Return it with what the store tells: alerts of this channel, and this thread's words and effects."""
    began = found.began
    since = min(found.since, began) if began else found.since
    span = incidents.Span(since, found.until)
    thread, run = ctx.state.thread, ctx.state.run
    ledger, channel = reporting.ledger, channel_of(ctx.state.thread)
    planned = ctx.state.planned
    is_for_others = planned is not None and len(planned.targets) > 1  # who were not told of these alerts
    return replace(
        found,
        since=since,
        alerts=() if is_for_others else await ledger.read(lambda db: incidents.alerted(db, channel, span)),
        said=await ledger.read(lambda db: incidents.said(db, thread, run, span)),
        did=await ledger.read(lambda db: incidents.did(db, thread, run, span)),
    )
