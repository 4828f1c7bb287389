"""Planned tasks and a program that is killed: a share of the programme, and what its check finds wrong."""

from __future__ import annotations

import asyncio
import copy
import random
import re
from typing import TYPE_CHECKING

import pytest
from crash.driver import Kill, staged
from crash.firingcheck import check
from crash.firings import PLACES, Course, lead, programme
from crash.outside import Ledger

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from crash.outside import Line

MOMENT = "2026-11-03T09:00:00+00:00"


@pytest.mark.parametrize("seed", [1, 2])
async def test_each_planned_moment_has_one_report_in_each_place_however_often_it_is_killed(
    seed: int, tmp_path: Path
) -> None:
    async with asyncio.timeout(150):
        course, wrong = await programme(tmp_path, 12, seed)
    assert not wrong
    assert course.stage.outside.ledger.kills == 12
    assert len(set(course.moments.values())) > 1  # some were met, some came late


@pytest.mark.parametrize(
    ("point", "says"),
    [
        ("run.decided:before", "it brought the program down 3 times, so I gave it up."),
        ("run.begin:before", "I could not begin the planned `steady`: it was tried 3 times"),
    ],
)
async def test_a_firing_that_brings_the_program_down_each_time_is_tried_three_times_then_failed_and_told(
    point: str, says: str, tmp_path: Path
) -> None:
    async with asyncio.timeout(60), staged(tmp_path, 1) as stage:
        course = Course(stage, random.Random(1), names=("steady",))
        course.begin()
        await lead(course, Kill())
        course.hop()
        assert [await lead(course, Kill(point)) for _ in range(3)] == ["dead"] * 3
        assert stage.outside.ledger.posts == []
        course.moments.clear()  # it has no report of its moment
        await lead(course, Kill(point))
        await lead(course, Kill())
        posts = stage.outside.ledger.posts
    assert all(says in one["text"] for one in posts), posts
    assert sorted({one["thread"].split("/")[2] for one in posts}) in (["C1"], ["C1", "C2", "C3"])
    assert len({one["key"] for one in posts}) == len(posts) > 0
    ran = [one for one in stage.outside.ledger.ran if one["tool"] != "peek"]
    assert len({one["key"] for one in ran}) == len(ran)


def post(channel: str, name: str, text: str, kind: str = "answer", **more: str) -> Line:
    """Return one report in the ledger."""
    number = f"{name}-{channel}"
    text = f"{text}\n\n_From the schedule `{name}`._" if name else text
    thread = f"outside/T1/{channel}/new:{number}"
    return {"id": number, "key": number, "thread": thread, "text": text, "kind": kind, **more}


def right() -> Ledger:
    """Return the ledger of one moment at which all went well."""
    ledger = Ledger()
    for name in ("steady", "nightly", "asks", "once"):
        said = f"* push {name}.1 ok\nHeard. for {MOMENT}"
        ledger.posts += [post(channel, name, said) for channel in PLACES[name]]
        word = f"{name}.1 for {MOMENT}"
        ledger.ran.append({"tool": "push", "word": word, "key": name})
    ledger.posts += [post(channel, "ailing", "No. Run `a1`.", "report") for channel in PLACES["ailing"]]
    asked = post("C3", "", "What?", "question") | {"id": "q1", "key": "question/1"}
    _of(ledger, "asks")["thread"] = "outside/T1/C3/q1"
    ledger.posts.append(asked)
    return ledger


def _of(ledger: Ledger, name: str) -> Line:
    return next(one for one in ledger.posts if one["id"].startswith(name))


def _twice(ledger: Ledger) -> None:
    ledger.posts.append(copy.deepcopy(_of(ledger, "steady")) | {"key": "other"})


def _lost(ledger: Ledger) -> None:
    ledger.posts.remove(_of(ledger, "nightly"))


def _unplanned(ledger: Ledger) -> None:
    _of(ledger, "steady")["text"] = _of(ledger, "steady")["text"].replace("T09", "T10")


def _not_late(ledger: Ledger) -> None:
    for one in ledger.posts:
        if one["id"].startswith("steady"):
            one["text"] = f"_Planned for 09:00, 5 minutes late: I was not running then._\n\n{one['text']}"


def _half_late(ledger: Ledger) -> None:
    _of(ledger, "steady")["text"] = f"More. {_of(ledger, 'steady')['text']}"


def _stands_for_more(ledger: Ledger) -> None:
    said = "It also stands for 2 earlier planned times at which I was not running."
    _of(ledger, "once")["text"] = f"{said}\n\n{_of(ledger, 'once')['text']}"


def _failed_half(ledger: Ledger) -> None:
    ledger.posts.remove(_of(ledger, "ailing"))


def _told_for_nothing(ledger: Ledger) -> None:
    ledger.posts.append(post("Dann", "", "I paused it.", "notice"))


def _effect_twice(ledger: Ledger) -> None:
    ledger.ran.append(ledger.ran[0])


def _effect_claimed(ledger: Ledger) -> None:
    ledger.ran.pop(0)


def _noise(ledger: Ledger) -> None:
    ledger.posts.append(post("C1", "", "done", "notice"))


def _asked_twice(ledger: Ledger) -> None:
    ledger.posts.append(ledger.posts[-1] | {"key": "question/2"})


def _elsewhere(ledger: Ledger) -> None:
    _of(ledger, "asks")["thread"] = "outside/T1/C3/new:other"


def _in_a_thread(ledger: Ledger) -> None:
    _of(ledger, "nightly")["thread"] = "outside/T1/C2/17.1"


def test_a_ledger_in_which_all_went_well_is_right() -> None:
    assert list(check(right(), PLACES, {MOMENT: False})) == []


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (_twice, "steady of .* was reported in .'C1', 'C1', 'C2', 'C3'"),
        (_lost, "nightly of .* was reported in .'C1'"),
        (_unplanned, "steady of 2026-11-03T10"),
        (_not_late, "is called late"),
        (_half_late, "reads differently"),
        (_stands_for_more, "stand for 3"),
        (_failed_half, "the failed run a1"),
        (_told_for_nothing, "its owner was told"),
        (_effect_twice, "happened 2 times"),
        (_effect_claimed, "claimed to be ok, and happened 0 times"),
        (_noise, "somebody was told 'done'"),
        (_asked_twice, "2 questions were asked for 1 reports"),
        (_elsewhere, "not in the thread of its question"),
        (_in_a_thread, "opens no thread"),
    ],
)
def test_each_broken_promise_is_found(spoil: Callable[[Ledger], None], says: str) -> None:
    ledger = right()
    spoil(ledger)
    found = list(check(ledger, PLACES, {MOMENT: False}))
    assert any(re.search(says, one) for one in found), found
