"""Knows what other commands may ask of the process that holds the state folder, over the admin socket."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from hermes_bot.access import Where
from hermes_bot.admin import AdminError
from hermes_bot.auditing import audit_ops
from hermes_bot.checkup import checkup
from hermes_bot.errors import HermesError
from hermes_bot.following import Settled, Showing
from hermes_bot.gate import TO_ANSWER
from hermes_bot.messages import Incoming, Request, ThreadKey
from hermes_bot.router import Answer, answer_to
from hermes_bot.schedule_ops import schedule_ops
from hermes_bot.standing import Standee, standing
from hermes_bot.state import OVER
from hermes_bot.store import care, messages, questions, runs, skillstates, threads

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping

    from hermes_bot.access import Verb
    from hermes_bot.following import Event, Followers
    from hermes_bot.gate import Gate
    from hermes_bot.ports import Emit, Op
    from hermes_bot.reception import Reception
    from hermes_bot.runs import Runs, RunView
    from hermes_bot.schedules import Schedules
    from hermes_bot.store.runs import RunRecord

Json = dict[str, Any]
USER = "console:local:you"
HISTORY_CHARS = 40_000
MOST_LISTED = 10_000
_KINDS: Mapping[str, type] = {
    **dict.fromkeys(
        ("text", "skill", "profile", "run", "name", "thread", "target", "since", "until", "actor", "verb"),
        str,
    ),
    **dict.fromkeys(("params", "terms"), dict),
    **dict.fromkeys(("answers", "channels"), list),
    "limit": int,
}
_NAMES = {str: "a text", dict: "an object", list: "a list of texts", int: "a whole number"}


class Host(Standee, Protocol):
    """The program, as far as operations see it."""

    runs: Runs
    reception: Reception
    followers: Followers
    gate: Gate
    schedules: Schedules
    is_local: bool


class Operations:
    """Operations by name; each takes JSON and returns JSON."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._settling = 0
        self._all_settled = asyncio.Event()

    @property
    def is_settling(self) -> bool:
        """Whether somebody waits for a run."""
        return self._settling > 0

    async def settled(self) -> None:
        """Return once nobody waits for a run any more."""
        while self.is_settling:
            self._all_settled.clear()
            await self._all_settled.wait()

    @contextlib.contextmanager
    def _waiting(self) -> Iterator[None]:
        self._settling += 1
        try:
            yield
        finally:
            self._settling -= 1
            if not self._settling:
                self._all_settled.set()

    def table(self) -> Mapping[str, Op]:
        """Return every operation by its name; arguments of a wrong kind get none of them."""
        return {name: _checking(op) for name, op in self._ops().items()}

    def _ops(self) -> Mapping[str, Op]:
        return {
            "ask": self._ask,
            "runs.list": self._list_runs,
            "runs.show": self._show_run,
            "runs.answer": self._answer_run,
            "skills.list": self._list_skills,
            "skills.show": self._show_skill,
            "threads.list": self._list_threads,
            "threads.history": self._history,
            "status": self._status,
            "doctor": self._doctor,
            **audit_ops(self._host),
            **schedule_ops(self._host, USER),
            "db.check": self._check,
            "db.backup": self._backup,
            "db.vacuum": self._vacuum,
        }

    async def _ask(self, args: Mapping[str, Any], emit: Emit) -> Json:
        """Carry one task to its end or to a question that no given answer settles."""
        thread = ThreadKey("console", "local", "ask", secrets.token_hex(4))
        request = None
        if args.get("skill") or args.get("params") or args.get("profile"):
            request = Request(args.get("skill", ""), dict(args.get("params", {})), args.get("profile", ""))
        said = self._said(thread, str(args["text"]), request)
        with self._waiting(), self._host.followers.following(thread) as events:
            reply = await self._host.reception.accept(said)
            if reply is not None:
                return _plain_answer(reply.text)
            await emit({"status": "accepted"})
            return await self._until_settled(events, deque(args.get("answers", ())), emit)

    async def _answer_run(self, args: Mapping[str, Any], emit: Emit) -> Json:
        """Answer what a run waits for, or continue a stopped one, and wait until it settles again."""
        view = await self._host.runs.view(str(args["run"]))
        thread, run, text = view.record.thread, view.record.id, str(args["text"])
        with self._waiting(), self._host.followers.following(thread) as events:
            if view.record.status == "stopped" and text.strip().lower() == "continue":
                await self._permit("continue", thread, run)
                if await self._host.reception.continue_run(run, USER) is None:
                    raise HermesError(f"Run {run} was continued already.")
            else:
                await self._settle(run, text, thread)
            return await self._until_settled(events, deque(args.get("answers", ())), emit)

    async def _settle(self, run: str, text: str, thread: ThreadKey) -> None:
        if refusal := await self._take(run, text, thread):
            raise HermesError(refusal)

    async def _take(self, run: str, text: str, thread: ThreadKey) -> str:
        """Answer what a run waits for; return why the text is no answer to it, where it is none."""
        asked = await self._host.db.read(lambda db: questions.open_of_run(db, run))
        if asked is None:
            raise HermesError(
                f"Run {run} waits for no answer. `hermes-bot runs show {run}` says where it is."
            )
        await self._permit(TO_ANSWER[asked.question.kind], thread, run)
        match answer_to(asked, text):
            case Answer(question, chosen):
                settled = await self._host.reception.answer(question, chosen, self._said(thread, text))
                if settled is None:
                    raise HermesError(f"The question of run {run} was answered already, or has expired.")
                if settled.then == "waits":
                    raise HermesError(f"{settled.say} Run {run} waits still.")
                return ""
            case refused:
                return refused.say

    async def _permit(self, verb: Verb, thread: ThreadKey, run: str) -> None:
        """Ask the gate as every surface does, so that there is no door beside it."""
        verdict = await self._host.gate.may(USER, verb, Where.of(thread), run)
        if not verdict.ok:
            raise HermesError(verdict.why)

    async def _until_settled(self, events: asyncio.Queue[Event], answers: deque[str], emit: Emit) -> Json:
        """Return the outcome of the thread's run once it is over, or waits with no answer left for it."""
        while True:
            match await events.get():
                case Showing(text):
                    await emit({"status": text})
                case Settled(""):
                    raise HermesError("The task could not be begun: something broke. The log says where.")
                case Settled(run):
                    view = await self._host.runs.view(run)
                    if view.record.status == "waiting" and answers:
                        if not await self._take(run, answers.popleft(), view.record.thread):
                            continue
                        answers.clear()  # they were meant in their order: none after it fits either
                    if view.record.status == "waiting" or view.record.status in OVER:
                        files = [{"name": one.name, "path": one.path} for one in view.files]
                        return {**await self._outcome(view), "files": files}

    async def _outcome(self, view: RunView) -> Json:
        asked = await self._host.db.read(lambda db: questions.open_of_run(db, view.record.id))
        question = asked.question if asked else None
        return {
            "run": view.record.id,
            "status": view.record.status,
            "reason": view.record.reason,
            "answer": view.answer,
            "rounds": view.record.rounds,
            "tokens": view.record.tokens,
            "cost": view.record.cost,
            "questions": [
                {"id": one.id, "text": one.text, "options": list(one.options), "field": one.field}
                for one in ([question] if question else [])
            ],
        }

    def _said(self, thread: ThreadKey, text: str, request: Request | None = None) -> Incoming:
        return Incoming(
            event_id=secrets.token_hex(8),
            thread=thread,
            user=USER,
            text=text,
            sent_at=self._host.clock.now(),
            user_name="you",
            complete=True,
            request=request,
        )

    async def _list_runs(self, args: Mapping[str, Any], emit: Emit) -> Json:
        del emit
        limit = int(args.get("limit", 20))

        def load(db: sqlite3.Connection) -> list[Json]:
            found = runs.list_runs(db, limit)
            return [
                {**_run_line(run), "children": list(map(_run_line, runs.children(db, run.id)))}
                for run in found
            ]

        return {"runs": await self._host.db.read(load)}

    async def _show_run(self, args: Mapping[str, Any], emit: Emit) -> Json:
        del emit
        view = await self._host.runs.view(str(args["run"]))
        outcome = await self._outcome(view)
        children = await self._host.db.read(lambda db: runs.children(db, view.record.id))
        rounds = [
            {
                "round": one.number,
                "thought": one.thought,
                "call": one.call,
                "status": one.status,
                "observation": one.observation,
                "steps": list(one.steps),
                "tokens": one.tokens,
                "cost": one.cost,
                "ms": one.ms,
            }
            for one in view.rounds
        ]
        told = {"goal": view.state.goal.text, "rounds": rounds, "children": list(map(_run_line, children))}
        return {**outcome, "run": _run_line(view.record), **told}

    async def _list_skills(self, args: Mapping[str, Any], emit: Emit) -> Json:
        del args, emit
        registry = self._host.registry
        known = {one.name: one for one in await self._host.db.read(skillstates.list_all)}
        return {
            "drafts": [
                {"name": one.name, "run": one.run, "at": one.at.isoformat()}
                for one in known.values()
                if one.state == "draft"
            ],
            "skills": [
                {
                    "name": skill.name,
                    "saved_from": known[skill.name].run if skill.name in known else "",
                    "description": skill.description,
                    "chain": skill.chain is not None,
                    "parameters": [one.name for one in skill.chain.parameters] if skill.chain else [],
                }
                for skill in registry.skills
            ],
            "refused": [{"folder": one.folder.name, "reason": one.reason} for one in registry.refused],
        }

    async def _show_skill(self, args: Mapping[str, Any], emit: Emit) -> Json:
        del emit
        skill = self._host.registry.find(str(args["name"]))
        chain = skill.chain
        return {
            "name": skill.name,
            "description": skill.description,
            "body": skill.guidance,
            "examples": list(skill.examples),
            "chain": chain is not None,
            "parameters": [
                {"name": one.name, "type": one.type, "required": one.is_required, "ask": one.ask}
                for one in (chain.parameters if chain else ())
            ],
            "steps": [{"id": step.id, "does": step.verb} for step in (chain.steps if chain else ())],
        }

    async def _list_threads(self, args: Mapping[str, Any], emit: Emit) -> Json:
        del emit
        limit = int(args.get("limit", 20))
        found = await self._host.db.read(lambda db: threads.list_recent(db, "console", limit))
        return {
            "threads": [
                {"thread": one.key.thread, "channel": one.key.channel, "last_at": one.last_at.isoformat()}
                for one in found
            ]
        }

    async def _history(self, args: Mapping[str, Any], emit: Emit) -> Json:
        """Return a terminal thread's transcript, oldest first, and the question that is open in it."""
        del emit
        thread = ThreadKey("console", "local", "terminal", str(args["thread"]))
        limit = int(args.get("limit", 50))
        lines = (await self._host.db.read(lambda db: messages.recent(db, thread, HISTORY_CHARS)))[-limit:]
        asked = await self._host.db.read(lambda db: questions.open_of_thread(db, thread))
        return {
            "lines": [
                {
                    "author": line.author,
                    "name": line.name,
                    "text": line.text,
                    "at": line.at.isoformat(),
                    "key": line.key,
                    "from_bot": line.from_bot,
                }
                for line in lines
            ],
            "question": {
                "id": asked[-1].question.id,
                "text": asked[-1].question.text,
                "options": list(asked[-1].question.options),
            }
            if asked
            else None,
        }

    async def _status(self, args: Mapping[str, Any], emit: Emit) -> Json:
        del args, emit
        return await standing(self._host)

    async def _doctor(self, args: Mapping[str, Any], emit: Emit) -> Json:
        del args, emit
        found = await checkup(self._host)
        return {"findings": [{"grade": one.grade, "what": one.what, "say": one.say} for one in found]}

    async def _check(self, args: Mapping[str, Any], emit: Emit) -> Json:
        del args, emit
        return {"problems": await self._host.db.read(care.check)}

    async def _backup(self, args: Mapping[str, Any], emit: Emit) -> Json:
        del emit
        target = Path(str(args["target"]))
        await self._host.db.read(lambda db: care.backup(db, target))
        return {"target": str(target)}

    async def _vacuum(self, args: Mapping[str, Any], emit: Emit) -> Json:
        del args, emit
        await self._host.db.alone("db.vacuum", care.vacuum)
        return {}


def _checking(op: Op) -> Op:
    async def checked(args: Mapping[str, Any], emit: Emit) -> Mapping[str, Any]:
        for name, value in args.items():
            kind = _KINDS.get(name, object)
            is_list_of_others = isinstance(value, list) and not all(isinstance(one, str) for one in value)
            if not isinstance(value, kind) or is_list_of_others:
                raise AdminError("bad_request", f"{name} should be {_NAMES[kind]}.")
        if not 0 <= args.get("limit", 0) <= MOST_LISTED:
            raise AdminError("bad_request", f"limit should be from 0 to {MOST_LISTED:,}.")
        return await op(args, emit)

    return checked


def _plain_answer(text: str) -> Json:
    """Return the outcome of a command that needed no run."""
    done: Json = {"run": "", "status": "finished", "reason": "command", "answer": text}
    return {**done, "rounds": 0, "tokens": 0, "cost": 0.0, "questions": []}


def _run_line(run: RunRecord) -> Json:
    return {
        "id": run.id,
        "status": run.status,
        "reason": run.reason,
        "text": run.text,
        "skill": run.skill,
        "rounds": run.rounds,
        "tokens": run.tokens,
        "cost": run.cost,
        "created_at": run.created_at.isoformat(),
        "thread": str(run.thread),
    }
