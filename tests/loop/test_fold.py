"""Rows become a state: every decision survives the journal, and what cannot be read is refused clearly."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loop.rounds import begun, called, decided, row

from hermes_bot.decisions import Action, Ask, CallTool, Decision, Finish, Malformed, SubGoal
from hermes_bot.errors import StoreError
from hermes_bot.fold import apply, fold
from hermes_bot.messages import Result
from hermes_bot.written import read_decision, write_decision

plans = st.none() | st.lists(
    st.builds(SubGoal, st.text(), st.text(), st.sampled_from(["todo", "doing", "done"])), max_size=3
).map(tuple)
args = st.dictionaries(st.text(max_size=5), st.text(max_size=5) | st.integers() | st.none(), max_size=3)
texts = st.lists(st.text()).map(tuple)
decisions = (
    st.builds(CallTool, st.builds(Action, st.text(min_size=1), args), st.text(), plans, st.text())
    | st.builds(Finish, st.text(), st.floats(0, 1), texts, st.text(), plans, texts)
    | st.builds(Ask, st.text(), st.lists(st.text()).map(tuple), st.text(), st.text(), st.text(), plans)
    | st.builds(Malformed, st.text(), st.text())
)


@given(decisions)
def test_a_decision_is_the_same_after_the_journal(decision: Decision) -> None:
    assert read_decision(json.loads(json.dumps(write_decision(decision)))) == decision


def test_a_row_of_a_later_schema_is_refused_with_what_to_do() -> None:
    newer = replace(row(1, "observe", {}), schema=2)
    with pytest.raises(StoreError, match="schema 2, this program reads up to 1"):
        apply(begun(), newer)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "no journal rows"),
        ([row(1, "observe", {})], "begins with 'observe' instead of an intake"),
    ],
)
def test_rows_that_are_no_run_are_refused(rows: list, said: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(StoreError, match=said):
        fold(rows)


@pytest.mark.parametrize("data", [{"verdict": "explode"}, {"verdict": ""}])
def test_an_unknown_verdict_is_refused(data: dict[str, str]) -> None:
    with pytest.raises(StoreError, match="which is not known"):
        apply(decided(begun(), Malformed("x")), row(1, "judge", data))


def test_an_effect_whose_outcome_is_not_known_is_remembered() -> None:
    state = called(begun(), "send", {}, Result("unknown"), effect=True)
    state = called(state, "send", {"n": 1}, Result("ok", "x"), effect=True)
    assert (state.effects, state.unknowns) == (("send",), ("send",))


def test_counters_follow_the_rounds() -> None:
    state = called(begun(), "read", {"n": 1}, Result("error"))
    state = called(state, "read", {"n": 2}, Result("error"))
    assert (state.failures, state.ok_rounds, state.used.rounds) == (2, frozenset(), 2)
    state = called(state, "read", {"n": 3}, Result("ok", "x"))
    assert (state.failures, state.ok_rounds, state.ok_tools) == (0, frozenset({3}), frozenset({"read"}))
