"""Knows what a chain has in hand while it runs: its state after each row, and what its steps gave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_bot.fold import apply
from hermes_bot.ports import taken_back
from hermes_bot.state import Row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hermes_bot.decisions import Action
    from hermes_bot.messages import Json, Result
    from hermes_bot.ports import Completion, Outcome, Prepared, Prior, Toolbox, ToolContext
    from hermes_bot.skills.attaching import Keep
    from hermes_bot.state import RunState, StepDone

MAX_FAULT_CHARS = 600


class Bench:
    """One run of a chain: where it commits, and the state after what it committed."""

    def __init__(self, context: ToolContext, toolbox: Toolbox, keep: Keep) -> None:
        self.context = context
        self.toolbox = toolbox
        self.keep = keep
        self.state: RunState = context.state
        self._held: list[Row] = []

    @property
    def prefix(self) -> str:
        """What the ids of this chain's questions begin with; the same after a restart."""
        return f"q-{self.state.run}-{self.state.round}-"

    def done(self, step: str, item: int) -> tuple[StepDone, ...]:
        """Return the recorded results of a step's item, oldest first; more than one only after a retry."""
        return tuple(one for one in self.state.steps if one.step == step and one.item == item)

    def row(self, data: Mapping[str, Any], *, status: str, action: Action | None = None, ms: int = 0) -> Row:
        """Return a step row of this round."""
        return Row(
            run=self.state.run,
            round=self.state.round,
            phase="step",
            at=self.context.clock.now(),
            data=data,
            action=action.name if action else "",
            action_hash=action.hash if action else "",
            status=status,
            latency_ms=ms,
        )

    def hold(self, row: Row) -> None:
        """Keep a row for the next commit, so that it costs none of its own."""
        self._held.append(row)

    async def commit(
        self, row: Row, *, intent: Prepared | None = None, outcome: Outcome | None = None
    ) -> Prior | None:
        """Append the held rows and this one in one transaction.

        Raises:
            RunOver: the run was ended meanwhile.
        """
        rows = [*self._held, row]
        self._held.clear()
        for one in rows:
            self.state = apply(self.state, one)
        return await self.context.journal.commit(self.state, rows, intent=intent, outcome=outcome)

    async def take_back(self, prepared: Prepared) -> None:
        """Take an effect's intent back: its tool asks a person first, and did nothing."""
        await self.context.journal.commit(self.state, (), outcome=taken_back(prepared))


def booked(row: Row, completion: Completion | None) -> Row:
    """Return the row with what a completion used."""
    if completion is None:
        return row
    return Row(
        run=row.run,
        round=row.round,
        phase=row.phase,
        at=row.at,
        data=row.data,
        action=row.action,
        action_hash=row.action_hash,
        status=row.status,
        tokens_in=completion.tokens_in,
        tokens_out=completion.tokens_out,
        cost=completion.cost,
        latency_ms=row.latency_ms,
    )


def kept(result: Result, *, may_retry: bool) -> Json:
    """Return what a step's row keeps: the data of a good result, the fault of another."""
    if result.is_ok:
        return result.data
    fault = result.error
    return {
        "code": fault.code if fault else result.status,
        "message": (fault.message if fault else f"It ended with {result.status}.")[:MAX_FAULT_CHARS],
        "retry": may_retry,
        "retryable": bool(fault and fault.retryable),
    }


def value_of_step(done: StepDone) -> dict[str, Any]:
    """Return a step as templates see it; without ``data`` where it failed, so that nothing builds on it."""
    if done.status in ("ok", "partial"):
        return {"ok": True, "status": done.status, "data": done.data}
    return {"ok": False, "status": done.status, "error": done.data}


def value_of_items(items: Sequence[Json], values: Sequence[dict[str, Any]], cut: str) -> dict[str, Any]:
    """Return a ``for_each`` step as templates see it: ``data`` holds what the good items gave, in order."""
    return {
        "ok": all(value["ok"] for value in values),
        "status": "ok" if all(value["ok"] for value in values) else "partial",
        "data": [value["data"] for value in values if value["ok"]],
        "results": [{"item": item, **value} for item, value in zip(items, values, strict=True)],
        "count": len(values),
        "cut": cut,
    }


SKIPPED: Mapping[str, Any] = {"ok": False, "status": "skipped"}
