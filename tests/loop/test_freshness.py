"""Data that is older than what was asked for says so, and names the fresher way."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from loop.rounds import AT, begun, decided, row

from hermes_bot.decisions import Action, CallTool
from hermes_bot.fold import apply
from hermes_bot.loop.absorb import absorb
from hermes_bot.loop.freshness import Age, age_of, age_words, as_of_note, rests_on
from hermes_bot.messages import Json, Result
from hermes_bot.ports import Prepared

if TYPE_CHECKING:
    from hermes_bot.state import RunState


def aged(task: str, old: timedelta, args: dict[str, Json] | None = None, *, fresh: float = 0.0) -> Age | None:
    """Return what is said of a result so old."""
    prepared = Prepared(
        Action("sample", args or {}), "read", fresh_seconds=fresh, fresher="sample with live=true"
    )
    return age_of(Result("ok", 1, as_of=(AT - old).isoformat()), prepared, task, AT)


HOURS = timedelta(hours=3)
MINUTES = timedelta(minutes=10)


@pytest.mark.parametrize(
    ("task", "old", "args"),
    [
        ("what is failing right now?", HOURS, {}),
        ("Wie ist der aktuelle Stand?", HOURS, {}),
        ("现在有多少错误", HOURS, {}),
        ("how many orders today?", timedelta(hours=20), {}),
        ("errors", HOURS, {"until": AT.isoformat()}),
        ("what is failing right now?", HOURS, {"until": "now"}),
        ("errors", HOURS, {"since": "2 hours ago"}),
        ("errors", HOURS, {"since": (AT - timedelta(hours=1)).isoformat()}),
    ],
)
def test_older_than_asked_for_is_stale(task: str, old: timedelta, args: dict[str, Json]) -> None:
    age = aged(task, old, args)
    assert age is not None
    assert "sample with live=true" in age.said


@pytest.mark.parametrize(
    ("task", "old", "args"),
    [
        ("what failed on Monday?", HOURS, {}),
        ("what is failing right now?", MINUTES, {}),
        ("how many orders today?", HOURS, {}),
        ("what is failing right now?", HOURS, {"until": (AT - HOURS).isoformat()}),
        ("errors", HOURS, {"since": "4h"}),
        ("errors", HOURS, {"since": "since the last deploy"}),
        ("errors", HOURS, {"since": 5}),
        ("what is failing right now? compare it", HOURS, {"until": "yesterday at nine"}),
    ],
)
def test_as_old_as_what_was_asked_for_is_not(task: str, old: timedelta, args: dict[str, Json]) -> None:
    assert aged(task, old, args) is None


def test_a_tool_may_say_how_long_its_data_is_fresh() -> None:
    assert aged("the price", MINUTES, fresh=60) is not None
    assert aged("the price", MINUTES, fresh=3_600) is None
    assert aged("the price now", HOURS, fresh=86_400) is None


@pytest.mark.parametrize("as_of", ["", "yesterday", "2026-13-45", "9" * 400])
def test_a_moment_that_cannot_be_read_says_nothing(as_of: str) -> None:
    result = Result("ok", 1, as_of=as_of)
    assert age_of(result, Prepared(Action("sample"), "read", fresh_seconds=1), "now", AT) is None


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (timedelta(seconds=20), "1 min old"),
        (timedelta(minutes=90), "90 min old"),
        (timedelta(hours=3), "3 h old"),
        (timedelta(days=5), "5 d old"),
    ],
)
def test_an_age_is_told_in_the_unit_people_use(age: timedelta, words: str) -> None:
    assert age_words(age) == words


def test_the_observation_says_it_in_label_sentence_and_summary() -> None:
    age = aged("now", HOURS)
    taken = absorb(
        Result("ok", {"count": 7}, as_of="2026-11-03T05:15:00Z"), Action("sample"), 1, max_chars=500, age=age
    )
    labels, said, *_ = taken.text.splitlines()
    assert "| stale: 3 h old |" in labels
    assert said == (
        "Stale: this is 3 h old, older than what was asked for. For fresher data: sample with live=true."
    )
    assert taken.summary.startswith("(3 h old) ")


def read(state: RunState, tool: str, stale: str = "") -> RunState:
    """Return the state after a good round of a tool, stale or fresh."""
    state = decided(state, CallTool(Action(tool, {"n": state.round})))
    state = apply(state, row(state.round, "act", {}, action=tool))
    data = {"text": "x", "summary": "x", **({"stale": stale} if stale else {})}
    state = apply(state, row(state.round, "absorb", data, status="ok", action=tool))
    return apply(state, row(state.round, "judge", {"verdict": "continue"}, status="ok"))


EARLY, LATE = "2026-11-03T02:15:00Z", "2026-11-03T05:15:00Z"


def test_an_answer_on_stale_evidence_alone_is_known() -> None:
    state = read(read(read(begun(), "sample", EARLY), "sample", LATE), "other")
    for evidence in (["round 1", "round 2"], ["sample"], ["sample (round 2)"], ["rounds 1", "sample"]):
        found = rests_on(state, evidence)
        assert found is not None
        assert found.as_of == LATE
        assert as_of_note(found, AT) == "_As of 2026-11-03 05:15 UTC: what this rests on is 3 h old._"


@pytest.mark.parametrize(
    "evidence", [[], ["round 3"], ["other"], ["sample", "other"], ["round 1", "round 3"]]
)
def test_an_answer_with_anything_fresh_under_it_is_not(evidence: list[str]) -> None:
    state = read(read(begun(), "sample", EARLY), "sample", LATE)
    assert rests_on(read(state, "other"), evidence) is None


def test_a_fresh_read_clears_the_tool_and_not_the_old_round() -> None:
    state = read(read(begun(), "sample", EARLY), "sample")
    assert rests_on(state, ["sample"]) is None
    assert rests_on(state, ["round 1"]) is not None
