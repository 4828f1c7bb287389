"""A look back counts where its verdict is one of three words and its reason points at something."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from loop.rounds import begun, called, decided, row

from hermes_bot.asides import Aside
from hermes_bot.decisions import Action, CallTool, Finish, SubGoal
from hermes_bot.fold import apply
from hermes_bot.loop.pointing import rounds_in
from hermes_bot.loop.reflection import is_due, pivot_text, problem, stop_of
from hermes_bot.loop.remarks import counted
from hermes_bot.loop.sourcing import is_unsourced
from hermes_bot.messages import Result, failed

if TYPE_CHECKING:
    from hermes_bot.state import RunState


def worked(rounds: int, reflect_every: int = 4) -> RunState:
    """Return a run after so many good rounds, with a plan."""
    state = begun(reflect_every=reflect_every)
    for number in range(rounds):
        state = called(state, "query_logs", {"n": number}, Result("ok", f"line {number}"))
    plan = (SubGoal("find the failing upstream"), SubGoal("定位故障服务"))
    return state.changed(plan=plan)


@pytest.mark.parametrize(
    "reason",
    [
        "Round 3 showed the same errors as round 2.",
        "query_logs times out whenever the window is a day",
        "The query logs tool returns only old lines here",
        "the failing upstream is still not named by anything",
        "In Runde 3 kam dasselbe heraus wie vorher",
        "query_logs liefert seit zwei Anläufen nur alte Zeilen",
        "Die 2. Runde brachte keine neuen Fehler mehr",
        "第3轮的日志里没有新的错误,换一个数据源",
        "第三轮返回的数据和之前完全一样,没有进展",
        "query_logs 一直超时,应该换用别的工具",
        "定位故障服务还没有完成,需要更多日志",
        "En la ronda 2 no apareció nada nuevo",
        "Au tour 3 les lignes sont restées identiques",
    ],
)
def test_a_pointed_reason_counts_in_any_language(reason: str) -> None:
    assert problem(worked(4), Aside(verdict="continue", reason=reason)) == ""


@pytest.mark.parametrize(
    "reason",
    [
        "",
        "Good progress.",
        "Everything is going well so far and I should continue.",
        "Round 3.",
        "query_logs works",
        "Round 99 showed the same errors as before.",
        "Another tool might give better results than this one.",
        "Es läuft alles gut, ich mache einfach weiter so.",
        "Die bisherigen Schritte waren sinnvoll und brachten etwas.",
        "一切顺利,继续按照原来的方法进行下去就可以了",
        "第3轮",
        "我觉得目前的方向是正确的,应该继续",
    ],
)
def test_a_vague_reason_is_dropped_in_any_language(reason: str) -> None:
    assert problem(worked(4), Aside(verdict="continue", reason=reason))


@pytest.mark.parametrize("verdict", ["go on", "continue, mostly", "", "pivot|stop", "abort"])
def test_a_verdict_is_exactly_one_of_three(verdict: str) -> None:
    assert problem(worked(4), Aside(verdict=verdict, reason="Round 3 showed the same errors as round 2."))


@pytest.mark.parametrize(
    ("text", "rounds"),
    [
        ("round 2 and Round #3", (2, 3)),
        ("(rounds 4)", (4,)),
        ("Runde 12", (12,)),
        ("第12轮", (12,)),
        ("第十二轮", (12,)),
        ("第二十轮", (20,)),
        ("the 3rd round", (3,)),
        ("раунд 7", (7,)),
        ("라운드 5", (5,)),
        ("around 9 o'clock", ()),
        ("ground 5", ()),
    ],
)
def test_rounds_are_named_in_many_ways(text: str, rounds: tuple[int, ...]) -> None:
    assert rounds_in(text) == rounds


def test_it_is_due_after_four_rounds_and_when_ignored_after_four_more() -> None:
    state, due = begun(), []
    for number in range(12):
        if is_due(state):
            due.append(state.round)
            state = state.changed(reflected=state.round)  # as the observe row of the round that asks says
        state = called(state, "query_logs", {"n": number}, Result("ok", f"line {number}"))
    assert due == [4, 8]


def test_it_is_due_after_two_failures_of_one_tool_and_not_of_two() -> None:
    gone = failed("gone", "It is gone.")
    once = called(begun(), "query_logs", {"n": 1}, gone)
    assert not is_due(once)
    assert not is_due(called(once, "read_file", {"n": 1}, gone))
    assert is_due(called(called(once, "read_file", {"n": 1}, gone), "query_logs", {"n": 2}, gone))
    assert not is_due(called(called(once, "query_logs", {"n": 2}, gone), "read_file", {}, Result("ok", "x")))


def test_profiles_say_how_often_and_whether_at_all() -> None:
    assert is_due(worked(2, reflect_every=2))
    assert not is_due(worked(4, reflect_every=0))


def test_it_is_not_due_in_the_last_round() -> None:
    state = worked(4)
    assert not is_due(state.changed(limits=replace(state.limits, rounds=5)))
    assert is_due(state.changed(limits=replace(state.limits, rounds=6)))


def looked_back(state: RunState, verdict: str, reason: str) -> tuple[RunState, dict[str, object]]:
    call = CallTool(Action("query_logs", {"n": 9}), aside=Aside(verdict=verdict, reason=reason))
    decision, data = counted(state, call)
    state = apply(state, row(state.round + 1, "observe", {"due": "reflection"}))
    state = apply(state, row(state.round, "reason", {**data, "decision": _written(decision)}))
    return state, data


def _written(decision: object) -> dict[str, object]:
    assert isinstance(decision, CallTool)
    return {"kind": "call", "name": decision.action.name, "args": decision.action.args}


def test_a_pivot_is_told_in_the_next_prompts_and_a_vague_one_is_not() -> None:
    state, data = looked_back(worked(4), "pivot", "Round 3 showed that the logs are empty.")
    assert data["reflection"] == {"verdict": "pivot", "reason": "Round 3 showed that the logs are empty."}
    told = "In round 5 you decided to pivot: Round 3 showed that the logs are empty."
    assert pivot_text(state) == told
    state, data = looked_back(worked(4), "pivot", "This does not work at all for me.")
    assert "reflection" not in data
    assert "names no round" in str(data["dropped"])
    assert pivot_text(state) == ""


def test_a_look_back_nobody_asked_for_changes_nothing() -> None:
    state, data = looked_back(worked(2), "stop", "Round 2 showed that nothing can be found.")
    assert data == {}
    assert stop_of(state) is None


def test_stop_ends_the_run_unless_the_answer_is_there() -> None:
    state, _ = looked_back(worked(4), "stop", "Round 2 showed that nothing can be found.")
    look = stop_of(state)
    assert look is not None
    assert look.verdict == "stop"
    assert stop_of(state.changed(decision=Finish("It is DNS."))) is None


@pytest.mark.parametrize(
    "thought",
    [
        "The log shows errors since nine.",
        "Das Ergebnis zeigt, dass die Datenbank voll ist.",
        "Laut den Daten ist der Dienst seit neun weg.",
        "日志显示数据库连接已满。",
        "根据结果,问题在支付服务。",
        "Según los registros el servicio está caído.",
        "Les résultats montrent une panne.",
        "Логи показывают ошибки.",
    ],
)
def test_a_thought_on_a_result_without_its_source_is_noticed(thought: str) -> None:
    def after(words: str) -> RunState:
        state = called(begun(), "query_logs", {}, Result("ok", "x"))
        call = CallTool(Action("query_logs", {"n": 2}), thought=words)
        state = apply(decided(state, call), row(2, "act", {}, action="query_logs"))
        state = apply(state, row(2, "absorb", {"text": "t"}, status="ok", action="query_logs"))
        return apply(state, row(2, "judge", {"verdict": "continue"}, status="ok"))

    assert is_unsourced(after(thought))
    assert not is_unsourced(after(f"{thought} (query_logs)"))
    assert not is_unsourced(after(f"{thought} (Runde 1)"))
    assert not is_unsourced(after(f"第1轮 {thought}"))


def test_a_plan_ahead_and_a_first_thought_need_no_source() -> None:
    first = decided(begun(), CallTool(Action("look", {}), thought="The log shows what happened."))
    first = apply(first, row(1, "absorb", {"text": "t"}, status="ok", action="look"))
    first = apply(first, row(1, "judge", {"verdict": "continue"}, status="ok"))
    assert not is_unsourced(first)
