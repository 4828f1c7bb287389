"""Knows the one thing the demo's bot can do to the demo's shop: restart a service, in play."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from hermes_bot.messages import Result
from hermes_bot.tools.declare import tool

SKILLS = Path(__file__).parent / "skills"
WORKERS = 4


@tool(risk="danger", example={"service": "checkout", "mode": "rolling"})
async def restart_service(service: str, mode: Literal["rolling", "at once"]) -> Result:
    """Restart all workers of a service of the shop; in the demo nothing real is restarted."""
    return Result("ok", {"service": service, "mode": mode, "workers": WORKERS, "real": False})
