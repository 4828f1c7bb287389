"""Knows the tool that posts into another channel than the run's own."""

from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from hermes_bot.access import Policy, Where
from hermes_bot.errors import ToolError
from hermes_bot.messages import NEW, Outgoing, Result, ThreadKey, failed
from hermes_bot.ports import DELIVER_SECONDS, POSTED, Delivered, Poster, ToolContext
from hermes_bot.store import audit, outbox, threads
from hermes_bot.store.audit import Entry
from hermes_bot.store.database import Database
from hermes_bot.tools.declare import Arguments, Tool, tool

MAX_CHARS = 40_000
SHOWN_TARGETS = 10
QUEUED = "queued; it will be shown in order"
ERRORS = {
    "own_thread": "this conversation's own channel",
    "unknown_channel": "no such channel, or several",
    "unreachable": "the platform does not take it there",
    "private": "what is said here stays here",
    "empty": "no text",
}

Channel = Annotated[str, Field(description="its id, such as slack:T1:C1 or telegram:-1001", max_length=300)]
Text = Annotated[str, Field(description="Markdown", max_length=MAX_CHARS)]


def post_tools(policy: Policy, poster: Poster, db: Database) -> tuple[Tool, ...]:
    """Return ``post_message``; nothing where no channel is listed that it could post to."""
    if not policy.channels:
        return ()
    desk = _Desk(policy, poster, db)

    @tool(
        risk="write",
        outward=True,
        elsewhere=True,
        timeout=DELIVER_SECONDS + 10,
        keeps_masks=True,
        reconcile=desk.became,
        example={"channel": "slack:T1:C1", "text": "checkout is back."},
        errors=ERRORS,
    )
    async def post_message(channel: Channel, text: Text, ctx: ToolContext) -> Result:
        """Post one message at the top of another channel; your answer is posted here in any case."""
        return await desk.post(channel, text, ctx)

    named = [str(one) for one in policy.channels][:SHOWN_TARGETS]
    return (replace(post_message, summary=f"{post_message.summary} Allowed: {', '.join(named)}."),)


@dataclass(frozen=True, slots=True)
class _Desk:
    policy: Policy
    poster: Poster
    db: Database

    async def post(self, channel: str, text: str, ctx: ToolContext) -> Result:
        """Post, unless the channel is the run's own, cannot be told or is not allowed."""
        state = ctx.state
        if not text.strip():
            raise ToolError("empty", "There is no text to post.")
        target = await self._target(channel.strip(), state.thread)
        if refusal := await self._refusal(state.asker, state.thread, target):
            await self._note(ctx, target, "refused")
            return refusal
        thread = ThreadKey(target.platform, target.workspace, target.channel, NEW + ctx.key)
        message = Outgoing(_post_key(ctx), thread, text, kind="notice")
        done = await self.poster.deliver(message, state.run)
        await self._note(ctx, target, done.state)
        return _result(done, target)

    async def became(self, args: Arguments, ctx: ToolContext) -> Result:
        """Tell after a crash what became of a post; what is stored will be sent, and only once."""
        row = await self.db.read(lambda db: outbox.get(db, _post_key(ctx)))
        if row is None:
            return failed("not_posted", f"Nothing was posted to {args['channel']!s:.100}.", retryable=True)
        place = row.message.thread
        match row.state:
            case "sent":
                done = Delivered("sent", row.platform_id)
            case "dead":
                done = Delivered("dead", why=row.error)
            case "pending" | "sending" | "unknown":
                done = Delivered("waiting", why=row.error)
        return _result(done, Where.of(place))

    async def _target(self, named: str, here: ThreadKey) -> Where:
        """Return the place that a name means, as seen from a thread."""
        target = await self._read(named, here)
        if target is None:
            given = ", ".join(str(one) for one in self.policy.channels)
            said = f"{named[:100]!r} names no one channel. Give its id; allowed are: {given}."
            raise ToolError("unknown_channel", said)
        if named == str(here) or target == Where.of(here):
            said = "This conversation is there, and your answer is posted to it anyway: finish with it."
            raise ToolError("own_thread", said)
        return target

    async def _read(self, named: str, here: ThreadKey) -> Where | None:
        if named == str(here):
            return Where.of(here)
        match named.split(":"):
            case [platform, workspace, channel] if platform and workspace and channel:
                return Where(platform, workspace, channel)
            case [platform, channel] if platform and channel:
                return await self._without_workspace(platform, channel, here)
            case [channel] if channel and not channel.startswith(("#", "@", "*")):
                return await self._bare(channel, here)
            case _:
                return None

    async def _without_workspace(self, platform: str, channel: str, here: ThreadKey) -> Where:
        """Return a place of a platform whose ids need no workspace; its threads carry one all the same."""
        if platform == here.platform:
            return Where(platform, here.workspace, channel)
        known = await self.db.read(lambda db: threads.list_recent(db, platform, 1))
        if not known:
            said = (
                f"Nobody has written to me on {platform[:60]!r} yet, which has to happen once before I can."
            )
            raise ToolError("unknown_channel", said)
        return Where(platform, known[0].key.workspace, channel)

    async def _bare(self, channel: str, here: ThreadKey) -> Where | None:
        """Return the one listed channel of this id, those of the run's platform first; else one beside it."""
        listed = [one for one in self.policy.channels if one.id == channel]
        near = [one for one in listed if one.platform == here.platform] or listed
        if not near:
            return Where(here.platform, here.workspace, channel)
        if len(near) > 1:
            return None
        [found] = near
        if found.workspace is None:
            return await self._without_workspace(found.platform, channel, here)
        return Where(found.platform, found.workspace, channel)

    async def _refusal(self, asker: str, here: ThreadKey, target: Where) -> Result | None:
        verdict = self.policy.allowed(asker, "post", target)
        if not verdict.ok:
            return failed("denied", verdict.why, status="denied")
        known = await self.db.read(lambda db: threads.get(db, here))
        if known is not None and known.place != "channel":
            said = (
                "This conversation is private, and nothing of it is posted elsewhere. Ask me in that channel."
            )
            return failed("private", said, status="denied")
        return None

    async def _note(self, ctx: ToolContext, target: Where, outcome: str) -> None:
        entry = Entry(ctx.state.asker or "nobody", "access.post", str(target), outcome, ctx.state.run)
        await self.db.transact("access.post", lambda db: audit.note(db, entry, ctx.clock.now()))


def _post_key(ctx: ToolContext) -> str:
    return POSTED + ctx.key


def _result(done: Delivered, target: Where) -> Result:
    match done.state:
        case "sent":
            return Result("ok", {"channel": str(target), "posted": done.posted})
        case "waiting":
            why = {"why": done.why} if done.why else {}
            return Result("partial", {"channel": str(target), "state": QUEUED, **why})
        case "dead":
            said = done.why.rstrip(".") or "the platform refused it"
            return failed("unreachable", f"{target}: {said}. Nothing was posted, there or elsewhere.")
