"""A run with a workspace, and a way to call a tool as the loop does: prepare, then run."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from clock import FakeClock

from hermes_bot.decisions import Action
from hermes_bot.messages import Result, ThreadKey
from hermes_bot.ports import Journal, Model, Prepared, ToolContext
from hermes_bot.state import Goal, Limits, RunState
from hermes_bot.tools.toolbox import CoreToolbox

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from hermes_bot.messages import Json
    from hermes_bot.tools.declare import Tool

THREAD = ThreadKey("console", "local", "desk", "1")


def a_run(name: str = "r1", root: str = "r1") -> RunState:
    return RunState(name, THREAD, "console:local:u1", Goal("find out"), Limits(), root=root)


def context(folder: Path, clock: FakeClock | None = None, key: str = "") -> ToolContext:
    nobody = None  # the tools under test write no journal and ask no model
    return ToolContext(
        a_run(), cast("Journal", nobody), clock or FakeClock(), cast("Model", nobody), folder, key
    )


def ready(box: CoreToolbox, name: str, args: Mapping[str, Json]) -> Prepared:
    prepared = box.prepare(Action(name, args), a_run())
    assert isinstance(prepared, Prepared), prepared
    return prepared


async def call(tool: Tool, args: Mapping[str, Json], where: ToolContext) -> Result:
    box = CoreToolbox([tool])
    prepared = box.prepare(Action(tool.name, args), where.state)
    if isinstance(prepared, Result):
        return prepared
    came = await box.run(prepared, where)
    assert isinstance(came, Result)
    return came
