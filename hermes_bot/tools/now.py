"""Knows the tool that tells the time."""

from datetime import datetime
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field

from hermes_bot.errors import ToolError
from hermes_bot.messages import Json
from hermes_bot.ports import ToolContext
from hermes_bot.tools.declare import Tool, tool


def now_tool(team_zone: ZoneInfo) -> Tool:
    """Return the tool ``now``, which tells the time in the team's zone unless another is named."""

    @tool(example={"zone": "Europe/Berlin"}, errors={"unknown_zone": "no IANA name"})
    async def now(
        ctx: ToolContext,
        zone: Annotated[str, Field(description="IANA name of a time zone; empty for the team's")] = "",
    ) -> Json:
        """Tell the present date, time and weekday in UTC and in a time zone, to the second."""
        present = ctx.clock.now().replace(microsecond=0)
        local = present.astimezone(_zone(zone) if zone else team_zone)
        return {
            "utc": stamp(present),
            "local": local.isoformat(),
            "weekday": f"{local:%A}",
            "zone": zone or team_zone.key,
        }

    return now


def stamp(at: datetime) -> str:
    """Write an instant in UTC as results carry it: ``2026-03-03T07:01:13Z``."""
    return at.replace(microsecond=0).isoformat().replace("+00:00", "Z")


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ToolError("unknown_zone", f"{name[:60]!r} is no IANA zone, such as Europe/Berlin.") from error
