"""The plan is a queue that grows; nothing unfinished is lost without a cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loop.rounds import begun, called, decided, row

from hermes_bot.decisions import Action, CallTool, Malformed, SubGoal, decide
from hermes_bot.fold import apply
from hermes_bot.loop.planning import (
    MOST_GOALS,
    Standing,
    checklist,
    merged,
    next_goal,
    plan_text,
    standing,
    waits_for,
)
from hermes_bot.loop.remarks import counted
from hermes_bot.messages import Result, failed

if TYPE_CHECKING:
    from hermes_bot.state import RunState

FIND = SubGoal("find the failing upstream", "one service named", "doing", since=1)
READ = SubGoal("read its log", since=1)
TELL = SubGoal("name the cause", since=1)
PLAN = (FIND, READ, TELL)
LATER = Standing(round=3, last_ok=2)
CAUSE = Standing(round=3, last_ok=2, may_replan=True)


def goals(*named: str) -> list[SubGoal]:
    """Return sub-goals of texts like "read its log=done"."""
    return [
        SubGoal(text, status=status or "todo")  # type: ignore[arg-type]
        for text, _, status in (one.partition("=") for one in named)
    ]


def states(plan: tuple[SubGoal, ...]) -> list[str]:
    return [f"{goal.goal}={goal.status}" for goal in plan]


def test_a_plan_begins_with_three_and_grows_by_three() -> None:
    wanted = goals(*(f"part {letter}" for letter in "abcdefg"))
    first = merged((), wanted, Standing(1))
    assert [goal.goal for goal in first.plan] == ["part a", "part b", "part c"]
    assert "Only 3 new sub-goals were taken" in first.said[0]
    second = merged(first.plan, wanted, Standing(2))
    assert [goal.goal for goal in second.plan] == [f"part {letter}" for letter in "abcdef"]


def test_states_move_freely_and_what_is_not_named_stays() -> None:
    after = merged(PLAN, goals("Find the failing upstream.=done", "read its log=doing"), LATER)
    assert states(after.plan) == [
        "find the failing upstream=done",
        "read its log=doing",
        "name the cause=todo",
    ]
    assert after.said == ()
    again = merged(after.plan, goals("find failing upstream", "read its log=blocked"), LATER)
    assert states(again.plan)[:2] == ["find the failing upstream=done", "read its log=blocked"]


def test_a_bare_number_means_the_goal_of_that_place() -> None:
    assert states(merged(PLAN, goals("1=done", "goal 2=doing"), LATER).plan)[:2] == [
        "find the failing upstream=done",
        "read its log=doing",
    ]


@pytest.mark.parametrize("wanted", ["find the failing upstream=done", "something new=done"])
def test_nothing_is_done_before_a_result_that_came_after_it_was_planned(wanted: str) -> None:
    after = merged((FIND,), goals("find the failing upstream", wanted), Standing(1, last_ok=0))
    assert all(goal.status == "doing" for goal in after.plan)


def test_unfinished_goals_are_not_dropped_or_replaced_without_a_cause() -> None:
    dropped = merged(PLAN, goals("find the failing upstream=dropped"), LATER)
    assert dropped.plan == PLAN
    assert "stays" in dropped.said[0]
    replaced = merged(PLAN, goals("ask the owner=doing"), LATER)
    assert states(replaced.plan) == [*states(PLAN), "ask the owner=doing"]
    assert "unfinished goals stay" in replaced.said[0]


def test_with_a_cause_they_are_dropped_and_replaced() -> None:
    assert states(merged(PLAN, goals("read its log=dropped"), CAUSE).plan)[1] == "read its log=dropped"
    replaced = merged(PLAN, goals("name the cause", "ask the owner=doing"), CAUSE)
    assert states(replaced.plan) == [
        "find the failing upstream=dropped",
        "read its log=dropped",
        "name the cause=todo",
        "ask the owner=doing",
    ]
    assert replaced.said == ()


def test_twenty_goals_are_the_most_and_old_ones_make_room() -> None:
    plan: tuple[SubGoal, ...] = ()
    for number in range(30):
        plan = merged(plan, goals(f"part {number} of it"), Standing(number + 1, last_ok=number)).plan
    assert len(plan) == MOST_GOALS
    full = merged(plan, goals("one more thing"), Standing(40, last_ok=39))
    assert "holds 20 sub-goals" in full.said[-1]
    done = merged(plan, goals("part 0 of it=done"), Standing(40, last_ok=39)).plan
    grown = merged(done, goals("one more thing"), Standing(41, last_ok=40)).plan
    assert len(grown) == MOST_GOALS
    assert (grown[0].goal, grown[-1].goal) == ("part 1 of it", "one more thing")


def test_a_goal_waits_for_what_it_depends_on() -> None:
    read = SubGoal("read its log", status="doing", depends_on=("1",))
    tell = SubGoal("name the cause", depends_on=("read its log", "nothing known"))
    plan = merged((), [SubGoal("find the upstream"), read, tell], Standing(1)).plan
    assert plan[1].depends_on == ("find the upstream",)
    assert plan[2].depends_on == ("read its log",)
    assert [waits_for(goal, plan) for goal in plan] == [(), (1,), (2,)]
    assert next_goal(plan) == plan[0]  # the one under way cannot go on yet
    assert "1. [todo] find the upstream <- next\n2. [doing, waits for 1] read its log" in plan_text(plan)
    later = merged(plan, goals("find the upstream=done"), LATER).plan
    assert next_goal(later) == later[1]
    dropped = merged(plan, goals("1=dropped"), CAUSE).plan
    assert waits_for(dropped[1], dropped) == ()


def test_a_cycle_is_broken_where_it_would_close_and_said() -> None:
    wanted = [
        SubGoal("one", depends_on=("three",)),
        SubGoal("two", depends_on=("one", "two")),
        SubGoal("three", depends_on=("two",)),
    ]
    after = merged((), wanted, Standing(1))
    assert [goal.depends_on for goal in after.plan] == [("three",), ("one",), ()]
    assert "“three” cannot depend on “two”" in after.said[0]
    assert next_goal(after.plan) == after.plan[2]


@given(
    st.lists(
        st.lists(
            st.builds(
                SubGoal,
                st.sampled_from(["a b", "b c", "c", "1", "二", "", "…"]) | st.text(max_size=4),
                st.just(""),
                st.sampled_from(["todo", "doing", "done", "blocked", "dropped"]),
                st.lists(st.sampled_from(["a b", "b c", "c", "1", "2", "二"]), max_size=3).map(tuple),
            ),
            max_size=6,
        ),
        max_size=6,
    ),
    st.booleans(),
)
def test_whatever_a_model_plans_the_queue_can_be_worked_off(plans: list[list[SubGoal]], may: bool) -> None:  # noqa: FBT001
    plan: tuple[SubGoal, ...] = ()
    for number, wanted in enumerate(plans, 1):
        plan = merged(plan, wanted, Standing(number, number - 1, may)).plan
    assert len(plan) <= MOST_GOALS
    assert len({goal.goal for goal in plan}) == len(plan)
    if any(goal.status in ("todo", "doing") for goal in plan) and all(g.status != "blocked" for g in plan):
        assert next_goal(plan) is not None
    assert checklist(plan).count("▸") <= 1


# --- what counts as a cause ------------------------------------------------------------------------


def planned() -> RunState:
    """Return a run whose first round made a plan and went well."""
    state = decided(begun(), CallTool(Action("look", {}), plan=(SubGoal("read its log", since=1),)))
    return finished(state, Result("ok", "x"))


def finished(state: RunState, result: Result, *, outside: bool = False) -> RunState:
    data = {
        "text": f"[labels]\n{result.data or ''}",
        "summary": "",
        **({"hindered": True} if outside else {}),
    }
    state = apply(state, row(state.round, "absorb", data, status=result.status, action="look"))
    return apply(state, row(state.round, "judge", {"verdict": "continue"}, status=result.status))


def malformed(state: RunState) -> RunState:
    state = decided(state, Malformed("no"))
    return apply(state, row(state.round, "judge", {"verdict": "refuse", "reason": "no"}, status="malformed"))


def test_two_misses_in_a_row_are_a_cause_and_one_is_none() -> None:
    once = malformed(planned())
    assert not standing(once).may_replan
    assert standing(malformed(once)).may_replan
    assert not standing(called(malformed(once), "look", {}, Result("ok", "x"))).may_replan


def test_results_without_data_are_misses() -> None:
    empty = called(called(planned(), "look", {"n": 1}, Result("ok")), "look", {"n": 2}, Result("ok"))
    assert standing(empty).may_replan


def test_an_error_from_outside_is_a_cause_and_a_slip_in_the_call_is_none() -> None:
    state = planned()
    call = decided(state, CallTool(Action("look", {})))
    assert standing(finished(call, failed("gone", "It is gone."), outside=True)).may_replan
    assert not standing(finished(call, failed("invalid_args", "n: what?"))).may_replan


def test_a_persons_word_is_a_cause_until_the_plan_has_changed() -> None:
    said = apply(planned(), row(1, "person", {"user": "u1", "text": "look at payments instead"}))
    assert standing(said).may_replan
    decision = CallTool(Action("look", {}), plan=(SubGoal("read the log of payments", "", "doing"),))
    decision_counted, data = counted(said, decision)
    assert isinstance(decision_counted, CallTool)
    assert decision_counted.plan is not None
    assert states(decision_counted.plan) == ["read its log=dropped", "read the log of payments=doing"]
    assert "hint" not in data
    after = finished(decided(said, decision_counted), Result("ok", "x"))
    assert not standing(after).may_replan


# --- the checklist ---------------------------------------------------------------------------------


def test_the_checklist_shows_each_goal_with_its_mark() -> None:
    plan = (
        SubGoal("find the upstream", status="done"),
        SubGoal("ask *the* owner of a_service", status="dropped"),
        SubGoal("read its log", status="doing"),
        SubGoal("name the cause"),
    )
    assert checklist(plan).splitlines() == [
        "✔ find the upstream",
        r"✖ ask \*the\* owner of a_service (dropped)",
        "▸ read its log",
        "○ name the cause",
    ]


def test_a_long_checklist_counts_what_is_far_from_the_work() -> None:
    done = tuple(SubGoal(f"part {number}", status="done") for number in range(9))
    ahead = tuple(SubGoal(f"part {number}") for number in range(9, 20))
    lines = checklist((*done, *ahead)).splitlines()
    assert lines[:3] == ["✔ 9 done", "▸ part 9", "○ part 10"]
    assert lines[-1] == "○ 5 more"
    assert len(lines) == 8


def test_a_decision_that_repeats_the_plan_does_not_write_it_again() -> None:
    state = planned()
    text = '{"action": {"name": "look", "args": {}}, "plan": [{"goal": "read its log"}]}'
    decision, data = counted(state, decide(text))
    assert isinstance(decision, CallTool)
    assert (decision.plan, data) == (None, {})
