"""Knows the tool behind "expand item 2": what a report of this thread recorded of one of its items."""

from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import Field

from hermes_bot.messages import Json, Result
from hermes_bot.ports import ToolContext
from hermes_bot.skills.expanding import ITEM_PARTS, ITEMS
from hermes_bot.store import logcounts, reports
from hermes_bot.store.scratch import Ledger
from hermes_bot.tools.declare import Tool, tool
from hermes_bot.tools.now import stamp

_BAR = 40
_EMPTY: dict[str, Json] = {"label": "", "service": "", "text": "", **dict.fromkeys(ITEM_PARTS[3:], ())}
_EMPTY["counts_title"] = "By hour"


def item_tool(ledger: Ledger, zone: ZoneInfo) -> Tool:
    """Return ``report_item``."""

    @tool(private=True, example={"number": 2})
    async def report_item(
        number: Annotated[int, Field(description="the item's number in the report")], ctx: ToolContext
    ) -> Result:
        """Show all that the report of this thread recorded of one of its numbered items (20 lines)."""
        thread = ctx.state.thread
        found = await ledger.read(lambda db: reports.newest(db, thread, ITEMS))
        if found is None:
            said = "There is no report with numbered items in this thread."
            return Result("ok", {"found": False, "say": said, "total": 0})
        run, at, data = found
        items = {int(one["number"]): one for one in data[ITEMS]}
        if number not in items:
            return Result("ok", {"found": False, "say": _none(number, len(items), data), "total": len(items)})
        item = {**_EMPTY, **items[number]}
        since = await ledger.read(partial(_since, item=item, at=at, zone=zone))
        shown: dict[str, Json] = {
            "found": True,
            "total": len(items),
            "item": {name: item[name] for name in ITEM_PARTS},
            "chart": _chart(item["counts"]),
            "run": run,
            "at": _moment(at, zone),
            "since": since,
        }
        return Result("ok", shown, source=f"run {run}", as_of=stamp(at), trust="untrusted")

    return report_item


def _none(number: int, total: int, data: dict[str, Any]) -> str:
    if not total:
        return "The report of this thread has no items."
    more = data.get("unrecorded") or 0
    said = (
        f"The report of this thread has {total} {'item' if total == 1 else 'items'}, so there is no {number}."
    )
    return f"{said} {more:,} more were counted, but not recorded one by one." if more else said


def _chart(counts: Any) -> str:
    """Draw counts as bars, a line each."""
    most = max((count for _, count in counts), default=0)
    width = max((len(when) for when, _ in counts), default=0)
    return "\n".join(
        f"{when:<{width}}  {'#' * max(1, round(count / most * _BAR))} {count:,}" for when, count in counts
    )


def _since(db: Any, item: dict[str, Any], at: datetime, zone: ZoneInfo) -> str:
    """Say what later digests counted of it; empty where there were none."""
    service, keys = str(item["service"]), [str(key) for key in item.get("keys", ())]
    counted = logcounts.counted_since(db, service, keys, at) if service and keys else None
    if counted is None:
        return ""
    count, until = counted
    return f"Since then {count:,} more were counted, up to {_moment(until, zone)}."


def _moment(at: datetime, zone: ZoneInfo) -> str:
    return f"{at.astimezone(zone):%a %Y-%m-%d %H:%M} {'UTC' if zone == UTC else zone.key}"
