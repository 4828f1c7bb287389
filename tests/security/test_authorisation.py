"""Who may what: every surface, role, moment and replay, against an independent reckoning.

The first table is about consent: who says yes, by which way, when, and how often the same event comes. What
is counted is how often the dangerous tool ran. The second is about everything else that people do.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from endpoint import act, finish
from world import Running, Talk, scripted

from hermes_bot.config import Access, Approval, Approvals
from hermes_bot.messages import Press
from hermes_bot.store import audit, questions
from hermes_bot.tools.declare import Tool, tool

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from hermes_bot.messages import Incoming

ACCESS = Access(
    channels=("world:T1:C1", "world:T1:C9"),
    members=("world:T1:u1", "world:T1:u2", "world:T1:named"),
    operators=("world:T1:op",),
    admins=("world:T1:boss",),
    bots=("world:T1:b1",),
)
TERMS = Approvals(default=Approval(people=("world:T1:named",), separate=True))
DAY = 86_400.0


class Ran(list[str]):
    def tool(self) -> Tool:
        @tool(risk="danger", example={"service": "payments"})
        async def restart(service: str) -> str:
            """Restart a service."""
            self.append(service)
            return "restarted"

        return restart


@asynccontextmanager
async def asking_bot(tmp_path: Path, cases: int) -> AsyncIterator[tuple[Running, Ran]]:
    """A bot whose runs, so many of them, want to restart the service that has their number."""
    ran = Ran()
    script = [act("restart", service=str(number)) for number in range(cases)]
    done = finish("done", evidence=[])
    async with scripted(
        tmp_path, script, otherwise=done, tools=[ran.tool()], access=ACCESS, approvals=TERMS
    ) as bot:
        yield bot, ran


async def ask(bot: Running, number: int, asker: str) -> tuple[Talk, str]:
    """Have a run wait for consent in a thread of its own; return the thread and the question."""
    talk = bot.talk(f"t{number}")
    await talk.say("restart it", asker)
    await talk.heard()
    await bot.settle()
    open_now = await bot.app.db.read(questions.list_open)
    (asked,) = [one for one in open_now if one.thread == talk.thread]
    return talk, asked.question.id


# --- consent: way x who x moment x replay ------------------------------------------------------------

# Who says yes, the task's asker, and whether the terms let them: an operator or admin, or a named person,
# and never who asked.
VOTERS = {
    "stranger": ("u9", "u1", False),
    "nobody": ("", "u1", False),
    "another workspace": ("T2/op", "u1", False),
    "program": ("b1", "u1", False),
    "member": ("u2", "u1", False),
    "asker": ("u1", "u1", False),
    "operator": ("op", "u1", True),
    "admin": ("boss", "u1", True),
    "named": ("named", "u1", True),
    "operator who asked": ("op", "op", False),
    "named who asked": ("named", "named", False),
}
WAYS = ("press", "label", "number")
MOMENTS = ("open", "expired", "denied", "stopped")
REPLAYS = ("once", "same event again", "said again")


async def to_moment(talk: Talk, asked: str, moment: str, voter: str) -> None:
    """Bring the approval to a moment; who denies is another one than the voter, who may."""
    if moment == "denied":
        await talk.press(asked, 1, "boss" if voter != "boss" else "named")
    elif moment == "stopped":
        await talk.say("stop", "boss")


def voice(talk: Talk, way: str, voter: str, asked: str) -> Incoming:
    workspace, _, user = voter.rpartition("/")
    said = talk.message({"press": "", "label": "Approve", "number": "1"}[way], user, is_bot=user == "b1")
    if way == "press":
        said = replace(said, kind="press", press=Press(asked, 0))
    return replace(said, user=f"world:{workspace}:{user}") if workspace else said


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("who", VOTERS)
async def test_consent_is_given_by_who_may_while_it_is_asked_and_once(
    tmp_path: Path, who: str, moment: str
) -> None:
    voter, asker, may = VOTERS[who]
    expected = 1 if may and moment == "open" else 0
    cases = list(product(WAYS, REPLAYS))
    async with asking_bot(tmp_path, len(cases)) as (bot, ran):
        waiting = [await ask(bot, number, asker) for number in range(len(cases))]
        if moment == "expired":
            await bot.pass_time(DAY + 60, step=7_200)
        for (way, replay), (talk, asked) in zip(cases, waiting, strict=True):
            await to_moment(talk, asked, moment, voter)
            await bot.settle()
            said = voice(talk, way, voter, asked)
            await bot.world.send(said)
            if replay != "once":
                await bot.world.send(said if replay == "same event again" else voice(talk, way, voter, asked))
        if expected:
            await bot.until(lambda: len(ran) >= len(cases))
        await bot.quiet()
    wrong = [
        f"{who}, {moment}, {case}: ran {ran.count(str(number))} times, not {expected}"
        for number, case in enumerate(cases)
        if ran.count(str(number)) != expected
    ]
    assert wrong == []


# --- everything else: verb x who x place --------------------------------------------------------------

RANK = {"u9": 0, "": 1, "b1": 1, "u1": 2, "u2": 2, "op": 3, "boss": 4}
# from which rank on; a guest is whoever has no identity that a right could hang on
NEEDS = {"task": 1, "skills": 1, "answer": 1, "stop": 2, "continue": 2}
PLACES = {"listed": ("C1", "channel"), "private": ("C9", "private"), "unlisted": ("C5", "channel")}


def may_do(user: str, verb: str, place: str) -> bool:
    """The independent reckoning: listed people in listed places, by rank; nobody else, nowhere else."""
    if place == "unlisted":
        return False
    rank = RANK[user]
    if user == "" and ACCESS.members:
        rank = 0  # where members are named, who has no identity is nobody
    return rank >= NEEDS[verb]


async def refused(bot: Running) -> int:
    rows = await bot.app.db.read(lambda db: audit.list_rows(db, 1_000))
    return sum(row.entry.outcome == "refused" for row in rows)


async def _works(bot: Running, talk: Talk, user: str) -> bool:
    before = len(bot.endpoint.requests)
    await talk.say("how is checkout?", user, is_bot=user == "b1", **place_of(talk))
    await bot.quiet()
    return len(bot.endpoint.requests) > before


def place_of(talk: Talk) -> dict[str, Any]:
    return {"place": dict(PLACES.values())[talk.thread.channel]}


async def _lists(bot: Running, talk: Talk, user: str) -> bool:
    del bot
    reply = await talk.say("skills", user, is_bot=user == "b1", **place_of(talk))
    return reply is not None and "log-diagnosis" in reply.text


WHICH = {"question": "Which service?", "options": ["checkout", "payments"]}


async def _answers(bot: Running, talk: Talk, user: str) -> bool:
    bot.endpoint.script.append(act("request_info", **WHICH))
    opener = "u1" if talk.thread.channel != "C5" else ""
    await talk.say("which?", opener or "u1", **place_of(talk))
    await bot.quiet()
    open_now = await bot.app.db.read(questions.list_open)
    mine = [one for one in open_now if one.thread == talk.thread]
    if not mine:
        return False
    await talk.say("payments", user, is_bot=user == "b1", **place_of(talk))
    await bot.quiet()
    found = await bot.app.db.read(lambda db: questions.get(db, mine[0].question.id))
    return found is not None and found.state == "answered"


async def _stops(bot: Running, talk: Talk, user: str) -> bool:
    bot.endpoint.script.append(act("request_info", **WHICH))
    await talk.say("which?", "u1", **place_of(talk))
    await bot.quiet()
    await talk.say("stop", user, is_bot=user == "b1", **place_of(talk))
    await bot.quiet()
    mine = [run for run in await bot.runs() if run.thread == talk.thread]
    return bool(mine) and mine[-1].status == "cancelled"


async def _continues(bot: Running, talk: Talk, user: str) -> bool:
    bot.endpoint.script.extend([act("now")] * 3)  # the third call of one kind stops the run
    await talk.say("go", "u1", **place_of(talk))
    await bot.quiet()
    stopped = [run for run in await bot.runs() if run.thread == talk.thread and run.status == "stopped"]
    if not stopped:
        return False
    bot.endpoint.script.clear()
    said = talk.message("", user, kind="press", press=Press(f"go-{stopped[0].id}", 0), **place_of(talk))
    await bot.world.send(replace(said, press=Press(_button(bot, talk), 0), is_bot=user == "b1"))
    await bot.quiet()
    return any(run.continues == stopped[0].id for run in await bot.runs())


def _button(bot: Running, talk: Talk) -> str:
    post = [one for one in bot.world.posts if one.thread == talk.thread and one.buttons][-1]
    return post.buttons[0].press.question


DEEDS = {"task": _works, "skills": _lists, "answer": _answers, "stop": _stops, "continue": _continues}


@pytest.mark.parametrize("verb", NEEDS)
@pytest.mark.parametrize("place", PLACES)
async def test_people_do_what_their_role_allows_where_the_bot_may_work(
    tmp_path: Path, verb: str, place: str
) -> None:
    wrong: list[str] = []
    async with scripted(tmp_path, otherwise=finish("fine", evidence=[]), access=ACCESS) as bot:
        for number, user in enumerate(RANK):
            talk = bot.talk(f"{number}", channel=PLACES[place][0])
            did = await DEEDS[verb](bot, talk, user)
            if did is not may_do(user, verb, place):
                wrong.append(f"{user or 'nobody'} {verb} in {place}: {did}")
        assert wrong == []
        if place == "unlisted":
            assert bot.world.posts == []
        else:
            assert await refused(bot) > 0


def test_the_tables_hold_as_many_cases_as_they_should() -> None:
    consent = len(VOTERS) * len(WAYS) * len(MOMENTS) * len(REPLAYS)
    rest = len(RANK) * len(NEEDS) * len(PLACES)
    assert consent + rest >= 200
