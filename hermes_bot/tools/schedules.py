"""Knows the tools on schedules: one reads what was asked for, one stores it once confirmed, one lists."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Any, cast

from pydantic import Field

from hermes_bot.access import HOOK
from hermes_bot.errors import HermesError, ScheduleError, ToolError
from hermes_bot.messages import Json, Result, ThreadKey, failed
from hermes_bot.ports import ToolContext
from hermes_bot.redaction import holds_mask
from hermes_bot.schedules import Schedules
from hermes_bot.schedules.drafts import Draft
from hermes_bot.schedules.moments import moment
from hermes_bot.schedules.planning import ADD_TOOL, PLAN_TOOL, SCHEDULE, WISH
from hermes_bot.schedules.rendering import created_of, echo_of, places_of, rule_of, work_of
from hermes_bot.schedules.rights import BY_SCHEDULE
from hermes_bot.schedules.sentences import Book, is_wish, read_wish, terms_of
from hermes_bot.state import Question, RunState
from hermes_bot.store.columns import channel_of
from hermes_bot.store.schedules import Schedule, Terms
from hermes_bot.tools.declare import Arguments, Tool, tool

NO_MODEL = (
    "No model is set, so a task in words cannot be done; name a skill, such as `error-digest`. `skills` "
    "lists them."
)
ONLY_HERE = (
    "What is known here is not for everybody, so what is planned from here reports here alone. Ask for it in "
    "the other channel."
)
MOST_LISTED = 50
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}")
_USUAL = asdict(Terms())
PLAN_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {WISH: {"type": "string"}},
    "required": [WISH],
    "additionalProperties": False,
}
When = Annotated[
    str,
    Field(
        description="cron in five fields, every 90m, a moment (ISO 8601), or words such as weekdays at 9",
        max_length=200,
    ),
]
Task = Annotated[str, Field(description="the task in words, where no skill is named", max_length=4_000)]
Channels = Annotated[
    list[str], Field(description="ids such as slack:T1:C1; none is this channel", max_length=20)
]
Options = Annotated[
    dict[str, str],
    Field(
        description="missed skip|once|all, most, overlap skip|queue|parallel, jitter, quiet, holidays, "
        "only_on_change"
    ),
]
Zone = Annotated[str, Field(description="an IANA name; empty for the team's", max_length=60)]


@dataclass(frozen=True, slots=True)
class Planning:
    """Makes the tools; as a source it has ``plan_schedule``, which is found and never shown.

    Attributes:
        book: what a sentence in a thread is read with.
        has_model: whether a task in words can be done at all.
    """

    door: Schedules
    book: Callable[[ThreadKey], Book]
    has_model: bool

    def plans(self, said: str, thread: ThreadKey) -> bool:
        """Whether what is said in a thread plainly asks for something at a time to come."""
        return is_wish(said, self.book(thread))

    def find(self, name: str) -> Tool | None:
        """Return the tool of this name."""
        if name != PLAN_TOOL:
            return None
        summary = "Read a schedule out of a sentence, and look whether it can be."
        return Tool(PLAN_TOOL, summary, PLAN_SCHEMA, self._plan, keeps_masks=True)

    def shown(self, state: RunState) -> Sequence[Tool]:
        """Show nothing."""
        del state
        return ()

    def tools(self) -> tuple[Tool, ...]:
        """Return the tools that a model is shown."""
        return _add_tool(self), _list_tool(self)

    async def _plan(self, args: Mapping[str, Json], context: ToolContext) -> Result | Question:
        state = context.state
        # as it was written: a chain's parameter loses the quotes at its ends
        said = str(state.goal.params.get(WISH) or args[WISH])
        try:
            wish = read_wish(said, self.book(state.thread))
            given: dict[str, Json] = {
                "when": wish.when,
                "task": wish.text,
                "skill": wish.skill,
                "params": dict(wish.params),
                "channels": list(wish.targets),
                "name": wish.name,
                "zone": wish.zone,
                "profile": wish.profile,
                "options": _odd(wish.terms),
            }
            if isinstance(whole := self._with_answers(given, state), Question):
                return whole
            found = await self.door.check(self.draft(whole, state))
            if not (wish.skill or self.has_model):
                return failed("not_planned", NO_MODEL)
        except HermesError as error:
            return failed("not_planned", str(error))
        return Result("ok", {**whole, "name": found.schedule.name, "warning": found.warning})

    def _with_answers(self, given: Mapping[str, Json], state: RunState) -> Mapping[str, Json] | Question:
        """Return the arguments with what people answered to what the skill lacks, or the next question."""
        said = {note.question: note.text for note in state.answers}
        params = dict(cast("Mapping[str, Json]", given["params"]))
        while (asked := self.door.lacks(self.draft({**given, "params": params}, state))) is not None:
            key = f"q-{state.run}-{state.round}-w-{asked.field[:24]}"
            if key not in said:
                return replace(asked, id=key)
            if asked.field in params:  # an empty answer is none
                break
            params[asked.field] = said[key]
        return {**given, "params": params}

    def draft(self, args: Arguments, state: RunState) -> Draft:
        """Return what a call asks for, in the name of whoever gave the task.

        Raises:
            ScheduleError: nobody can have it, or it may not be asked for from here.
        """
        given = _Given(**args)  # type: ignore[arg-type] # as the schema has it
        if state.planned is not None:
            raise ScheduleError(BY_SCHEDULE)
        if not state.asker or state.asker.startswith(HOOK):
            raise ScheduleError("Only a person can have a schedule, and this task is nobody's.")
        if holds_mask(dict(args)):
            raise ScheduleError("It holds a secret, and I keep none in a schedule. Ask for it without.")
        here = channel_of(state.thread)
        channels = tuple(self._channel(one, state) for one in given.channels) or (here,)
        if state.is_private and any(one not in (here, here.replace("/", ":")) for one in channels):
            raise ScheduleError(ONLY_HERE)
        return Draft(
            when=given.when,
            owner=state.asker,
            zone=given.zone,
            targets=channels,
            skill=given.skill,
            params={name: str(value) for name, value in given.params.items()},
            text=given.task,
            profile=given.profile,
            terms=terms_of(given.options),
            name=given.name,
            owner_name=state.goal.author,
            origin="chat" if state.goal.skill == SCHEDULE else "model",
            thread=str(state.thread),
        )

    def _channel(self, said: str, state: RunState) -> str:
        if said.strip().lower() in ("here", "this channel"):
            return channel_of(state.thread)
        return self.book(state.thread).called(said.removeprefix("#")) or said

    def echo(self, args: Arguments, state: RunState) -> str:
        """Say back what a call would store.

        Raises:
            ScheduleError: it cannot be.
        """
        draft = self.draft(args, state)
        found = self.door.propose(draft)
        if found.schedule.rule.startswith("once") and not _ISO.match(draft.when):
            raise ScheduleError(
                "Say the moment itself, which does not move while it waits to be confirmed: "
                f"{draft.when!r} is {found.next[0].isoformat()} now."
            )
        return echo_of(found, channel_of(state.thread))

    async def add(self, args: Arguments, context: ToolContext) -> Result:
        """Store it, unless this very call did before.

        Raises:
            ToolError: it cannot be, or was not stored.
        """
        state = context.state
        try:
            draft = self.draft(args, state)
            await self.door.refuse_fired(state.root)
            one = await self.door.add(draft, key=context.key)
        except ScheduleError as error:
            raise ToolError("not_created", str(error)) from error
        coming = one.planned_at.isoformat() if one.planned_at else ""
        said = created_of(one, channel_of(state.thread))
        return Result(
            "ok", {"name": one.name, "rule": one.rule, "zone": one.zone, "next": coming, "say": said}
        )


@dataclass(frozen=True, slots=True)
class _Given:
    """The arguments of ``add_schedule``."""

    when: str
    task: str = ""
    skill: str = ""
    params: Mapping[str, Json] = field(default_factory=dict)
    channels: Sequence[str] = ()
    name: str = ""
    zone: str = ""
    profile: str = ""
    options: Mapping[str, str] = field(default_factory=dict)


def _add_tool(planning: Planning) -> Tool:
    async def became(args: Arguments, ctx: ToolContext) -> Result:
        return await planning.add(args, ctx)  # its key lets it be stored once, so what is missing may be done

    @tool(
        risk="write",
        lasting=True,
        is_idempotent=True,
        keeps_masks=True,
        example={"when": "weekdays at 9", "skill": "error-digest"},
        errors={"not_created": "it cannot be as it was asked for; the text says what would work"},
        echo=planning.echo,
        reconcile=became,
    )
    async def add_schedule(  # noqa: PLR0913 - each is one thing that people say of a schedule
        when: When,
        ctx: ToolContext,
        *,
        task: Task = "",
        skill: str = "",
        params: dict[str, str] | None = None,
        channels: Channels | None = None,
        name: str = "",
        zone: Zone = "",
        profile: str = "",
        options: Options | None = None,
    ) -> Result:
        """Plan a skill or a task for later, once or again and again; the asker sees and confirms it first."""
        given = {
            "when": when,
            "task": task,
            "skill": skill,
            "params": params or {},
            "channels": channels or (),
            "name": name,
            "zone": zone,
            "profile": profile,
            "options": options or {},
        }
        return await planning.add(cast("Arguments", given), ctx)

    assert add_schedule.name == ADD_TOOL  # noqa: S101 - the chain calls it by this
    return add_schedule


def _list_tool(planning: Planning) -> Tool:
    @tool(example={})
    async def list_schedules(ctx: ToolContext) -> Result:
        """List what is planned for this channel: at most 50, with rule, next time, places, state and why."""
        here = channel_of(ctx.state.thread)
        found = await planning.door.all(here)
        listed: list[Json] = [_listed(one, here) for one in found[:MOST_LISTED]]
        cut = f"first {MOST_LISTED} of {len(found):,}" if len(found) > MOST_LISTED else ""
        return Result("ok", {"schedules": listed}, truncated=cut, source="schedules")

    return list_schedules


def _listed(one: Schedule, here: str) -> dict[str, Json]:
    return {
        "name": one.name,
        "when": f"{rule_of(one)} ({one.zone})",
        "next": moment(one.planned_at, one.zone) if one.planned_at else "",
        "does": work_of(one),
        "reports": places_of(one, here),
        "state": one.state,
        "why": one.why,
        "owner": one.owner_name or one.owner,
    }


def _odd(terms: Terms) -> dict[str, Json]:
    """Return what is unusual of some terms, as people write it."""
    return {
        name: str(value)
        for name, value in asdict(terms).items()
        if value != _USUAL[name] and name != "escalate_to"
    }
