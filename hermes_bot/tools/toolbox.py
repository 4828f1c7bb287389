"""Knows the one door to all tools: find, validate, permit, run in time. Nothing a tool does raises out."""

import asyncio
import difflib
import hashlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from hermes_bot.decisions import Action
from hermes_bot.errors import StoreError
from hermes_bot.masking import masked_question, masked_result, scope_of
from hermes_bot.messages import Json, Result, failed
from hermes_bot.ports import Prepared, ToolCard, ToolContext
from hermes_bot.redaction import Redactor, Vault, Withheld
from hermes_bot.state import Question, RunState
from hermes_bot.tools.arguments import BadArgumentsError
from hermes_bot.tools.cards import card_of
from hermes_bot.tools.declare import Call, Tool
from hermes_bot.tools.outcome import outcome_of, outcome_of_error, timed_out
from hermes_bot.tools.workers import Workers

Allow = Callable[[str, RunState], str]
"""Says why a run may not use a tool, in a sentence; empty where it may."""


class Walls(Protocol):
    """What stands between a decided action and its run."""

    def judge(
        self, tool: Tool, action: Action, state: RunState, step: str, item: int
    ) -> Question | Result | None:
        """Return what people must agree to first, or why it may not run at all; None where it may."""
        ...


def _allow_all(_name: str, _state: RunState) -> str:
    return ""


class _NobodyAgrees:
    """Stands where nobody can be asked: what needs consent does not run."""

    def judge(self, tool: Tool, action: Action, state: RunState, step: str, item: int) -> Result | None:
        """Refuse what is dangerous."""
        del action, state, step, item
        return _needs_approval(tool) if tool.risk == "danger" else None


class Source(Protocol):
    """Where tools come and go while the program runs: MCP servers, say."""

    def find(self, name: str) -> Tool | None:
        """Return the tool of this name, where it is there now and may be used."""
        ...

    def shown(self, state: RunState) -> Sequence[Tool]:
        """Return the tools that this run's prompt shall show; stable while nothing changed."""
        ...


class CoreToolbox:
    """The tools of the core, of plug-ins and whatever else is handed over; ``ports.Toolbox``.

    Attributes:
        tools: as they are shown, in order; a later one of the same name is left out.

    ``off`` says of tools that exist but not here why that is so: whoever calls one is told.
    """

    def __init__(  # noqa: PLR0913 - each is one part of the door, by name
        self,
        tools: Sequence[Tool],
        *,
        sources: Sequence[Source] = (),
        allow: Allow | None = None,
        walls: Walls | None = None,
        workers: Workers | None = None,
        off: Mapping[str, str] | None = None,
        vault: Vault | None = None,
    ) -> None:
        self._tools: dict[str, Tool] = {}
        for one in tools:
            self._tools.setdefault(one.name, one)
        self._cards = {name: card_of(one) for name, one in self._tools.items()}
        self._sources = tuple(sources)
        self._allow = allow or _allow_all
        self._walls = walls or _NobodyAgrees()
        self._workers = workers or Workers()
        self._off = off or {}
        self._vault = vault or Vault(Redactor())

    @property
    def tools(self) -> tuple[Tool, ...]:
        """All tools that are always there, in the order they are shown in."""
        return tuple(self._tools.values())

    def replace(self, tool: Tool) -> None:
        """Put a tool in the place of the one of its name, because what it says of itself changed."""
        self._tools[tool.name] = tool
        self._cards[tool.name] = card_of(tool)

    def cards(self, state: RunState) -> tuple[ToolCard, ...]:
        """Return the cards of the tools this run may use."""
        found = [one for source in self._sources for one in source.shown(state)]
        cards = self._cards | {one.name: card_of(one) for one in found if one.name not in self._cards}
        return tuple(card for name, card in cards.items() if not self._allow(name, state))

    def find(self, name: str) -> Tool | None:
        """Return the tool of this name; one that is always there comes before one that was discovered."""
        if (tool := self._tools.get(name)) is not None:
            return tool
        return next((tool for one in self._sources if (tool := one.find(name)) is not None), None)

    def prepare(self, action: Action, state: RunState, *, step: str = "", item: int = 0) -> Prepared | Result:
        """Find the tool, validate the arguments, check permission; a ``Result`` is the refusal."""
        tool = self.find(action.name)
        if tool is None:
            return self._unknown(action.name, state)
        refusal = self._allow(tool.name, state)
        if refusal:
            return failed("denied", refusal, status="denied")
        try:
            args = tool.read_arguments(action.args)
        except BadArgumentsError as error:
            return failed("invalid_args", f"{tool.name}: {error}")
        except Exception as raised:  # noqa: BLE001 - a plug-in's own type may raise anything as it validates
            return outcome_of_error(raised, replace(tool, risk="read"))
        canonical = Action(tool.name, args)
        asks = self._walls.judge(tool, canonical, state, step, item)
        if isinstance(asks, Result):
            return asks
        key = "" if tool.risk == "read" else effect_key(canonical, state, step=step, item=item)
        return replace(_prepared(tool, canonical, key), asks=asks)

    async def run(self, prepared: Prepared, context: ToolContext) -> Result | Question:
        """Run a prepared action inside its time-out, retried where that is safe.

        Raises:
            StoreError: the run's own journal failed under a tool that writes to it (a chain).
        """
        tool = self.find(prepared.action.name)
        if tool is None:
            return self._unknown(prepared.action.name, context.state)
        # looked at once more, so that no way to a tool leads past the walls
        walls = self._walls.judge(tool, prepared.action, context.state, context.step, context.item)
        if walls is not None:
            return walls if isinstance(walls, Result) else _needs_approval(tool)
        return await self._timed(tool, tool.call, prepared, context)

    async def reconcile(self, prepared: Prepared, context: ToolContext) -> Result | None:
        """Ask whether an effect whose outcome is not known took place; None where that cannot be told."""
        tool = self.find(prepared.action.name)
        if tool is None or tool.reconcile is None:
            return None
        found = await self._timed(tool, tool.reconcile, prepared, context)
        is_told = isinstance(found, Result) and found.status != "unknown"
        return found if is_told and isinstance(found, Result) else None

    async def _timed(
        self, tool: Tool, call: Call, prepared: Prepared, context: ToolContext
    ) -> Result | Question:
        started, scope = context.clock.monotonic(), scope_of(context.state)
        try:
            async with asyncio.timeout(prepared.timeout) as limit:
                came = await self._attempts(tool, call, prepared, context, limit)
        except TimeoutError:
            came = timed_out(tool, prepared.timeout)
        if isinstance(came, Question):
            asked = masked_question(came, self._vault, scope)
            return replace(asked, outside=True) if tool.outside else asked
        came = masked_result(came, self._vault, scope)
        return replace(came, duration_ms=round((context.clock.monotonic() - started) * 1000))

    async def _attempts(
        self, tool: Tool, call: Call, prepared: Prepared, context: ToolContext, limit: asyncio.Timeout
    ) -> Result | Question:
        tries = 1 + (tool.retries if tool.is_idempotent else 0)
        for number in range(1, tries):
            came = await self._once(tool, call, prepared, context, limit)
            if isinstance(came, Question) or came.error is None or not came.error.retryable:
                return came
            await context.clock.sleep(0.2 * 2**number)
        return await self._once(tool, call, prepared, context, limit)

    async def _once(
        self, tool: Tool, call: Call, prepared: Prepared, context: ToolContext, limit: asyncio.Timeout
    ) -> Result | Question:
        args = prepared.action.args
        try:
            if not tool.keeps_masks:
                args = self._revealed(args, context.state)
            if tool.is_blocking:
                raw = await self._workers.call(lambda: call(args, context), limit)
            else:
                raw = call(args, context)
            return outcome_of(await raw if inspect.isawaitable(raw) else raw, tool)
        except (StoreError, GeneratorExit):
            raise
        except Withheld as withheld:
            return _withheld(withheld)
        except asyncio.CancelledError as raised:
            if _is_being_cancelled():
                raise
            return outcome_of_error(raised, tool)
        except BaseException as raised:  # noqa: BLE001 - the tools' wide net: exits and bugs become Results
            return outcome_of_error(raised, tool)

    def _revealed(self, args: Mapping[str, Json], state: RunState) -> Mapping[str, Json]:
        """Put the values in the place of their numbers, at the last moment.

        Raises:
            Withheld: one is not held any more, or is the program's own.
        """
        revealed = self._vault.reveal(args, scope_of(state))
        return revealed if isinstance(revealed, Mapping) else args

    def _unknown(self, name: str, state: RunState) -> Result:
        if (why := self._off.get(name)) is not None:
            return failed("tool_off", f"{name} is off. {why}")
        names = [card.name for card in self.cards(state)]
        near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
        hint = f"Nearest: {', '.join(near)}." if near else f"There are: {', '.join(names) or 'none'}."
        return failed("unknown_tool", f"There is no tool {name[:60]!r}. {hint}")


def effect_key(action: Action, state: RunState, *, step: str = "", item: int = 0) -> str:
    """Return the key under which an effect of this action happens at most once (design §5)."""
    parts = (state.root or state.run, action.hash, step, str(item))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def _prepared(tool: Tool, action: Action, key: str) -> Prepared:
    return Prepared(
        action,
        tool.risk,
        key=key,
        timeout=tool.timeout,
        is_idempotent=tool.is_idempotent,
        max_chars=tool.max_chars,
        is_private=tool.private,
        fresh_seconds=tool.fresh_seconds,
        fresher=tool.fresher,
    )


def _withheld(withheld: Withheld) -> Result:
    if withheld.is_own:
        said = f"{withheld.mask} is a secret of this bot's own, which no tool gets. Do without it."
        return failed("denied", said, status="denied")
    said = (
        f"I do not hold the value of {withheld.mask} any more. Read it again, or ask for it; nothing was run."
    )
    return failed("secret_gone", said)


def _needs_approval(tool: Tool) -> Result:
    said = f"{tool.name} needs a person's approval, which cannot be asked for here. Nothing was run."
    return failed("needs_approval", said, status="needs_confirmation")


def _is_being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
