"""Knows how a run's ``delegate`` is carried out: child runs inside the act phase of their parent.

A child has a row, a journal and limits of its own, and posts nothing: its result is the parent's
observation, its question the parent's question. Its id follows from its parent's, so whatever dies between
two commits, the child is found again: one that is over is not run again, another goes on from its rows.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_bot.errors import RunOver, RunPaused, StoreError
from hermes_bot.fold import fold
from hermes_bot.loop.engine import carry
from hermes_bot.loop.verdict import DELEGATE
from hermes_bot.markdown import clip_line
from hermes_bot.messages import Fault, Json, Result, failed
from hermes_bot.runs import rows as change
from hermes_bot.runs.errands import SCHEMA, SUMMARY, Errand, intake_of, read_errands
from hermes_bot.runs.journal import AT_WORK, RunJournal, StoreDesk
from hermes_bot.runs.limits import MAX_STARTS
from hermes_bot.runs.rows import WAITING
from hermes_bot.runs.view import view_of
from hermes_bot.state import OVER, Row
from hermes_bot.store import journal, runs
from hermes_bot.store.runs import RunRecord
from hermes_bot.tools.declare import Tool
from hermes_bot.tools.narrowed import NarrowToolbox

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence

    from hermes_bot.messages import Trust
    from hermes_bot.ports import ToolContext
    from hermes_bot.runs.hands import Hands
    from hermes_bot.runs.view import RunView
    from hermes_bot.state import Consent, Question, RunState

log = logging.getLogger(__name__)

LONGEST_SECONDS = 86_400.0  # what the parent has left of its working time is less, and bounds it
MAX_CHARS = 6_000
SHOWN_TASK = 80


@dataclass(frozen=True, slots=True)
class Child:
    """One delegated run as it is stored now."""

    record: RunRecord
    rows: Sequence[Row]


def child_id(parent: str, round_number: int, index: int) -> str:
    """Return the id of the n-th run that a parent delegates in a round; ``find`` knows the dots."""
    return f"{parent}.{round_number}.{index}"


class Delegation:
    """Makes the tool ``delegate``.

    Args:
        hands: what runs work with; the tool is one of them, so it asks for them only when it is called.
        is_closing: whether the program ends.
    """

    def __init__(self, desk: StoreDesk, hands: Callable[[], Hands], is_closing: Callable[[], bool]) -> None:
        self._desk = desk
        self._hands = hands
        self._is_closing = is_closing

    def tool(self) -> Tool:
        """Return the tool for the toolbox."""
        example: dict[str, Json] = {
            "task": "Find out when checkout was last deployed.",
            "max_rounds": 3,
            "tools": ["read_*"],
        }
        return Tool(
            DELEGATE,
            SUMMARY,
            SCHEMA,
            self._delegate,
            timeout=LONGEST_SECONDS,
            max_chars=MAX_CHARS,
            keeps_masks=True,
            example=example,
        )

    async def _delegate(self, args: Mapping[str, Json], context: ToolContext) -> Result | Question:
        """Carry the children as far as they come; called again with an answer in the state, it goes on.

        Raises:
            RunOver: the parent was ended meanwhile.
            RunPaused: the program ends.
        """
        parent = context.state
        if parent.parent or context.step:
            return failed("denied", "Only a task's own run may delegate: one level deep.", status="denied")
        hands = self._hands()
        first = child_id(parent.run, parent.round, 1)
        is_begun = await self._desk.db.read(lambda db: runs.get(db, first) is not None)
        known = {card.name for card in hands.tools.cards(parent)} - {DELEGATE}
        errands = read_errands(args, None if is_begun else known)
        if isinstance(errands, Result):
            return errands
        found = await self._desk.db.transact("run.delegate", lambda db: self._take_up(db, parent, errands))
        states = await self._carry_all(found, context, hands)
        if question := _question(states, parent, errands):
            await self._mark(states, context)
            return question
        ids = [child.record.id for child in found]
        return _result(
            errands, await self._desk.db.read(lambda db: [view_of(*_load(db, id_)) for id_ in ids])
        )

    async def _mark(self, states: Sequence[RunState], context: ToolContext) -> None:
        """Have the parent know what entered its children before it asks in their words."""
        parent = context.state
        origins = dict.fromkeys(
            name for one in states if one.is_tainted for name in one.origins or ("a part",)
        )
        outside = ", ".join(origins)
        is_private = any(one.is_private for one in states)
        if (not outside or parent.is_tainted) and (not is_private or parent.is_private):
            return
        data = {"step": DELEGATE, "item": 0, "data": None, "outside": outside, "private": is_private}
        row = Row(parent.run, parent.round, "step", self._desk.clock.now(), data, status="ok")
        await context.journal.commit(parent, [row])

    def _take_up(self, db: sqlite3.Connection, parent: RunState, errands: Sequence[Errand]) -> list[Child]:
        record = runs.get(db, parent.run)
        if record is None or record.status not in AT_WORK:
            raise RunOver(f"Run {parent.run} was ended meanwhile; nothing was delegated.")
        for index, errand in enumerate(errands, 1):
            self._make_ready(db, child_id(parent.run, parent.round, index), errand, parent, len(errands))
        ids = [child_id(parent.run, parent.round, index) for index in range(1, len(errands) + 1)]
        return [Child(*_load(db, id_)) for id_ in ids]

    def _make_ready(
        self, db: sqlite3.Connection, id_: str, errand: Errand, parent: RunState, count: int
    ) -> None:
        """Make a child where there is none yet; else count its start, or hand it the answer it waits for."""
        now = self._desk.clock.now()
        record = runs.get(db, id_)
        if record is None:
            root = parent.root or parent.run
            made = RunRecord(id_, parent.thread, parent.asker, errand.task, now, now, root, parent.run)
            runs.create(db, replace(made, profile=parent.limits.profile, status="running"))
            journal.append(db, [Row(id_, 0, "intake", now, intake_of(errand, parent, count))])
        elif record.status in AT_WORK:
            if (starts := runs.attempt(db, id_)) >= MAX_STARTS:  # before its parent is given up for it
                change.give_up(db, record, starts, now)
        elif record.status in WAITING and (data := _answer(fold(journal.of_run(db, id_)), parent)):
            change.append(db, id_, "person", data, WAITING, now)

    async def _carry_all(self, found: Sequence[Child], context: ToolContext, hands: Hands) -> list[RunState]:
        """Carry every child that can go on, all at once, until each is over or waits."""
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self._carry(child, context, hands, _label(index, len(found))))
                for index, child in enumerate(found, 1)
            ]
        came = [task.result() for task in tasks]
        if failed_one := next((one for one in came if isinstance(one, StoreError)), None):
            raise failed_one
        states = [one for one in came if not isinstance(one, StoreError)]
        if any(state.is_running for state in states):
            raise RunPaused(f"Run {context.state.run} waits for what it delegated; it goes on later.")
        return states

    async def _carry(
        self, child: Child, context: ToolContext, hands: Hands, label: str
    ) -> RunState | StoreError:
        """Carry one child; what the store refused is returned, so that no sibling is cut short by it."""
        state = fold(child.rows)
        if not state.is_running:
            return state
        globs = next((row.data.get("tools", ()) for row in child.rows if row.phase == "intake"), ())
        show = context.journal.show
        kept = RunJournal(self._desk, added=tuple, show=lambda text: show(f"{label}: {text}"))
        tools = NarrowToolbox(hands.tools, tuple(globs), frozenset({DELEGATE}))
        desk = replace(hands, tools=tools).desk(kept, context.clock, context.workspace, self._is_closing)
        try:
            state = await carry(state.changed(thread=child.record.thread), desk)
        except StoreError as error:
            return error
        log.info("run.delegated", extra={"run": state.run, "status": state.status, "reason": state.reason})
        return state


def _load(db: sqlite3.Connection, run: str) -> tuple[RunRecord, list[Row]]:
    return runs.find(db, run), journal.of_run(db, run)


def _label(index: int, count: int) -> str:
    return "delegated" if count == 1 else f"delegated {index}/{count}"


def _asked_as(child: RunState, parent: RunState) -> str:
    """Return the id under which the parent asks what a child asks; the same after a restart."""
    kind, _, rest = (child.question.id if child.question else "").partition("-")
    index = child.run.rpartition(".")[2]
    return f"{kind}-{parent.run}-{parent.round}-{index}-{rest.removeprefix(f'{child.run}-')}"


def _answer(child: RunState, parent: RunState) -> dict[str, Any] | None:
    """Return the row data of the answer a child waits for, where its parent has it."""
    if child.question is None:
        return None
    if child.question.consent is not None:
        return _ruling(child.question, child.question.consent, parent)
    given = next((note for note in parent.answers if note.question == _asked_as(child, parent)), None)
    if given is None:
        return None
    said = {"user": given.user, "name": given.name, "text": given.text, "message": given.message}
    marks = {"outside": given.outside} if given.outside else {}
    return {**said, "question": child.question.id, **marks}


def _ruling(asked: Question, consent: Consent, parent: RunState) -> dict[str, Any] | None:
    """Return the row data of what people decided of a child's action: they told its parent."""
    ruling = parent.ruling(consent.key)
    if ruling is None:
        return None
    text = asked.options[0 if ruling.is_yes else 1]
    by, names = list(ruling.by), list(ruling.names)
    return {"user": by[0], "name": names[0], "text": text, "question": asked.id, "by": by, "names": names}


def _question(states: Sequence[RunState], parent: RunState, errands: Sequence[Errand]) -> Question | None:
    """Return the first question that a child waits on; the others are asked after it."""
    for state, errand in zip(states, errands, strict=True):
        if state.question is not None:
            about = "" if len(errands) == 1 else f"For “{_short(errand.task)}”: "
            return replace(state.question, id=_asked_as(state, parent), text=about + state.question.text)
    return None


def _short(text: str) -> str:
    return clip_line(text, SHOWN_TASK)


def _result(errands: Sequence[Errand], views: Sequence[RunView]) -> Result:
    """Return what came of the children: one's answer, or the list of all."""
    told: list[dict[str, Any]] = [_told(view) for view in views]
    done = sum(view.state.status == "finished" for view in views)
    problems = [
        f"{_short(errand.task)}: {view.state.status} ({view.state.reason})"
        for errand, view in zip(errands, views, strict=True)
        if view.state.status != "finished"
    ]
    data: Json = told[0]
    if len(views) > 1:
        data = {"results": [{"task": one.task, **it} for one, it in zip(errands, told, strict=True)]}
    status = "ok" if done == len(views) else "partial" if done else "error"
    fault = Fault("child_stopped", f"Not finished: {'; '.join(problems)}.") if problems else None
    # who read from outside may say what was read there
    trust: Trust = "untrusted" if any(view.state.is_tainted for view in views) else "trusted"
    return Result(status, data, fault, trust=trust)  # type: ignore[arg-type] # one of the three


def _told(view: RunView) -> dict[str, Any]:
    """Return what a parent is told of a child that is over; an unfinished one's answer is its report."""
    assert view.state.status in OVER  # noqa: S101 - who waits or works is not told of
    state, used = view.state, view.state.used
    told: dict[str, Any] = {
        "answer": view.answer,
        "status": state.status,
        "reason": state.reason,
        "rounds": used.rounds,
        "tokens": used.tokens,
        "evidence": list(view.evidence),
        "run": state.run,
        "cost": used.cost,
        "ms": used.worked_ms,
        "effects": list(state.effects),
        "unknowns": list(state.unknowns),
        "outside": ", ".join(state.origins) if state.is_tainted else "",
        "private": state.is_private,
    }
    if view.files:
        told["files"] = [Path(file.path).name for file in view.files]
    return told
