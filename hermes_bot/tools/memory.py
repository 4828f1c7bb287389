"""Knows the tools on what is kept across runs: ``remember``, ``recall``, ``forget``."""

from typing import Annotated, Literal, cast

from pydantic import Field

from hermes_bot.errors import ToolError
from hermes_bot.memory import (
    Draft,
    Kept,
    Memories,
    NotAllowedError,
    Reader,
    forgotten_text,
    kept_text,
    note_line,
)
from hermes_bot.messages import Result, failed
from hermes_bot.ports import ToolContext
from hermes_bot.store import memories as table
from hermes_bot.store.memories import Memory, Scope
from hermes_bot.tools.declare import Arguments, Tool, tool
from hermes_bot.tools.readers import Readers

FOUND = 10
SCOPES = ("user", "thread", "channel", "workspace")
NOTHING = "Nothing that has to do with it is kept here."
EARLIER = "earlier experience, not this task"
_ERRORS = {"private": "it must not be known there", "not_allowed": "another's, or not for this role"}

Text = Annotated[str, Field(description="one fact, rule or wish, as a sentence", max_length=1_000)]
WhichScope = Annotated[
    str, Field(description="user, thread, channel or workspace; empty for the usual", max_length=200)
]
Kind = Literal["fact", "rule", "wish", "decision", "lesson"]


def memory_tools(kept: Memories, readers: Readers) -> tuple[Tool, ...]:
    """Return the three tools."""
    return _remember_tool(kept, readers), _recall_tool(kept, readers), _forget_tool(kept, readers)


def _remember_tool(kept: Memories, readers: Readers) -> Tool:
    async def was_kept(args: Arguments, ctx: ToolContext) -> Result:
        del args
        there = await kept.db.read(lambda db: table.by_key(db, ctx.key))
        if there is None:
            return failed("not_kept", "Nothing was kept.", retryable=True)
        return Result("ok", kept_text(Kept(there)))

    @tool(
        risk="write",
        lasting=True,
        keeps_masks=True,
        example={"text": "Our region is EU."},
        errors=_ERRORS,
        reconcile=was_kept,
    )
    async def remember(text: Text, ctx: ToolContext, scope: WhichScope = "", kind: Kind = "fact") -> Result:
        """Keep one sentence for later tasks: for the person, the thread, the channel or the workspace."""
        reader = readers.of_run(ctx.state)
        draft = Draft(
            text,
            _scope(scope, reader),
            kind,
            why="it came up in a task",
            run=ctx.state.run,
            key=ctx.key,
            # a person agreed to it (consent.rule_for), but where it came from is not forgotten
            trust="untrusted" if ctx.state.is_tainted else "trusted",
            is_private=ctx.state.is_private,
        )
        try:
            done = await kept.keep(draft, reader)
        except NotAllowedError as refusal:
            return failed(refusal.code, str(refusal), status="denied")
        return Result("ok", kept_text(done))

    return remember


def _recall_tool(kept: Memories, readers: Readers) -> Tool:
    @tool(example={"query": "region"}, errors=_ERRORS)
    async def recall(
        query: Annotated[str, Field(description="what about; empty lists the newest", max_length=1_000)],
        ctx: ToolContext,
        scope: WhichScope = "",
    ) -> Result:
        """Look up what earlier tasks and people had kept: at most 10 notes, with scope, date and trust."""
        reader = readers.of_run(ctx.state)
        try:
            wanted = _scope(scope, reader)
        except NotAllowedError as refusal:
            return failed(refusal.code, str(refusal), status="denied")
        found = (
            await kept.find(query, reader, FOUND, wanted)
            if query.strip()
            else (await kept.listed(reader, wanted))[:FOUND]
        )
        shown = await kept.show([one.id for one in found], reader, ctx.state.run)
        doubtful = any(one.trust == "untrusted" for one in shown)
        text = "\n".join((f"Kept earlier ({EARLIER}):", *map(note_line, shown))) if shown else NOTHING
        return Result("ok", text, source="memory", trust="untrusted" if doubtful else "trusted")

    return recall


def _forget_tool(kept: Memories, readers: Readers) -> Tool:
    @tool(
        risk="write",
        lasting=True,
        example={"what": "7"},
        errors={**_ERRORS, "unclear": "none or several are meant"},
    )
    async def forget(
        what: Annotated[str, Field(description="a note's number, or its words", max_length=1_000)],
        ctx: ToolContext,
    ) -> Result:
        """Remove one note for good, by its number or its words, and all that quotes it."""
        reader = readers.of_run(ctx.state)
        found = await kept.choices(what, reader)
        if len(found) != 1:
            raise ToolError("unclear", _unclear(what, found))
        try:
            gone = await kept.forget(found[0], reader, what, ctx.state.run)
        except NotAllowedError as refusal:
            return failed(refusal.code, str(refusal), status="denied")
        if gone is None:
            raise ToolError("unclear", _unclear(what, []))
        return Result("ok", forgotten_text(gone))

    return forget


def _scope(given: str, reader: Reader) -> Scope | None:
    """Return the scope that a word names, as seen by a reader.

    Raises:
        ToolError: it names none.
        NotAllowedError: it names another person's notes, or another place's.
    """
    name, _, owner = given.strip().partition(":")
    if not name:
        return None
    if name not in SCOPES:
        raise ToolError("unknown_scope", f"{given[:60]!r} is no scope. There are: {', '.join(SCOPES)}.")
    scope = cast("Scope", name)
    if owner and owner not in (reader.owner(scope), reader.owner(scope).rpartition(":")[2]):
        raise NotAllowedError("not_allowed", "One person's or place's notes are not shown to another.")
    return scope


def _unclear(what: str, found: list[Memory]) -> str:
    if not found:
        return f"Nothing is kept here under {what[:80]!r}."
    listed = "; ".join(f"{one.id}: {one.text[:80]}" for one in found[:FOUND])
    return f"{len(found)} notes are meant by {what[:80]!r}. Name one by its number: {listed}."
