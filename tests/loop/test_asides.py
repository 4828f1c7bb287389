"""What a model says beside its action is read tolerantly, and never spoils the action."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.asides import Aside, Missing
from hermes_bot.decisions import CallTool, NativeCall, decide

ACT = {"action": {"name": "now", "args": {}}}


def said(**beside: Any) -> Aside | None:
    decision = decide(json.dumps({**ACT, **beside}))
    assert isinstance(decision, CallTool)
    assert decision.action.name == "now"
    return decision.aside


def test_goal_and_reflection_are_read() -> None:
    goal = {
        "objective": "Find why\ncheckout fails.",
        "constraints": ["read only"],
        "missing": [{"question": "Since when?", "field": "since", "options": ["last hour", "today"]}],
    }
    assert said(goal=goal, reflection={"verdict": "Pivot", "reason": "Round 2 was empty."}) == Aside(
        "Find why checkout fails.",
        ("read only",),
        (Missing("Since when?", "since", ("last hour", "today")),),
        "pivot",
        "Round 2 was empty.",
    )


@pytest.mark.parametrize(
    ("missing", "read"),
    [
        ("Since when?", (Missing("Since when?"),)),
        (["Since when?", "Since when?", ""], (Missing("Since when?"),)),
        (
            {"since": "Since when?", "service": "Which one?"},
            (Missing("Since when?", "since"), Missing("Which one?", "service")),
        ),
        ({"question": "Which?", "name": "service"}, (Missing("Which?", "service"),)),
        ([{"field": "service"}], (Missing("service?", "service"),)),
        ([{"ask": "Which?", "choices": "a"}], (Missing("Which?", "", ("a",)),)),
        ([None, 5, {}, [], "x?"], (Missing("x?"),)),
        (7, ()),
        (None, ()),
    ],
)
def test_missing_facts_come_in_many_shapes(missing: Any, read: tuple[Missing, ...]) -> None:
    aside = said(goal={"objective": "o", "missing": missing})
    assert aside is not None
    assert aside.missing == read


def test_a_goal_in_plain_words_is_the_objective() -> None:
    assert said(goal="Find why checkout fails.") == Aside("Find why checkout fails.")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["objective", "constraints", "missing", "question", "field", "options", "verdict", "x"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(json_values, json_values)
def test_whatever_stands_there_the_action_is_read(goal: Any, reflection: Any) -> None:
    said(goal=goal, reflection=reflection)


def test_a_tools_own_argument_of_that_name_is_left_alone() -> None:
    decision = decide('{"action": "order", "goal": "two pizzas", "size": "big"}')
    assert isinstance(decision, CallTool)
    assert decision.action.args == {"goal": "two pizzas", "size": "big"}
    flat = decide('{"action": "order", "size": "big", "goal": {"objective": "Eat."}}')
    assert isinstance(flat, CallTool)
    assert flat.action.args == {"size": "big"}
    assert flat.aside == Aside("Eat.")


def test_beside_native_calls_the_text_may_hold_them() -> None:
    text = 'I look first. {"goal": {"objective": "Find it."}, "plan": [{"goal": "look"}], "name": "not this"}'
    decision = decide(text, calls=[NativeCall("now", "{}")])
    assert isinstance(decision, CallTool)
    assert decision.action.name == "now"
    assert decision.aside == Aside("Find it.")
    assert decision.plan is not None
    assert isinstance(decide("I { look", calls=[NativeCall("now", "{}")]), CallTool)
