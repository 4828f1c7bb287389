"""The prompt is a workbench: bounded at any age and size, and it keeps what later rounds need."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loop.rounds import AT, begun, called, row

from hermes_bot.decisions import SubGoal, decide
from hermes_bot.errors import ModelError
from hermes_bot.fold import apply
from hermes_bot.loop import folding
from hermes_bot.loop.context import BYTES_PER_TOKEN, Built, Frame, build
from hermes_bot.loop.remarks import counted
from hermes_bot.messages import Result
from hermes_bot.ports import ToolCard
from hermes_bot.state import OLDER_CHARS, RunState
from hermes_bot.written import write_decision

CARDS = (
    ToolCard("read_file", "Read a file (first 200 lines).", {"properties": {"path": {"type": "string"}}}),
    ToolCard("now", "The time.", {}),
)
FRAME = Frame()


def built(state: RunState, frame: Frame = FRAME) -> tuple[Built, str]:
    """Return a prompt and its user message, checked to be JSON of a bounded size."""
    made = build(state, CARDS, AT, frame)
    assert len(made.prompt.messages) <= (frame.context_tokens - frame.output_tokens) * BYTES_PER_TOKEN
    system, user = json.loads(made.prompt.messages)
    assert (system["role"], user["role"]) == ("system", "user")
    return made, user["content"]


awkward = st.text(
    st.sampled_from(["a", "字", "\x00", "\ud800", "😀", '"', "\\", "\n", "\u2028", " "]), max_size=40
).flatmap(lambda text: st.integers(1, 400).map(lambda times: text * times))


@settings(max_examples=60, deadline=None)
@given(
    goal=awkward,
    said=st.lists(awkward, max_size=8),
    results=st.lists(awkward, max_size=12),
    tokens=st.integers(4_000, 20_000),
)
def test_any_content_makes_valid_json_within_the_context(
    goal: str, said: list[str], results: list[str], tokens: int
) -> None:
    state = begun(goal, transcript=said)
    for number, text in enumerate(results):
        state = called(state, f"tool{number % 3}", {"q": text[:50], "n": number}, Result("ok", text))
        note = {"user": "u2", "name": text[:20], "text": text, "message": ""}
        state = apply(state, row(state.round, "person", note))
    built(state, Frame(context_tokens=tokens))


def test_three_hundred_messages_and_two_megabytes_of_results_fit() -> None:
    state = begun("the goal", transcript=[f"u{number}: {'word ' * 50}" for number in range(300)])
    for number in range(60):
        data: Any = (
            [f"line {number} {index} " + "x" * 80 for index in range(20_000)] if number % 20 == 0 else number
        )
        state = called(state, "read_file", {"path": f"f{number}"}, Result("ok", data))
    _, content = built(state)
    assert "the goal" in content


def test_a_prompt_of_one_age_is_as_long_as_that_of_another() -> None:
    state, sizes = begun(), []
    for number in range(200):
        words = " ".join(f"{number * 37 % 101}{letter}" for letter in "abcdefghij")
        state = called(state, "read_file", {"path": f"f{number}"}, Result("ok", words * 10))
        sizes.append(len(build(state, CARDS, AT, FRAME).prompt.messages))
    assert max(sizes[100:]) <= 1.1 * max(sizes[20:100])


def test_the_last_six_rounds_are_whole_and_older_ones_one_line_each() -> None:
    state = begun()
    for number in range(1, 11):
        state = called(
            state, "read_file", {"path": f"f{number}"}, Result("ok", f"first {number}\nlast {number}")
        )
    _, content = built(state)
    for number in range(5, 11):
        assert f"[round {number}]\nthought: I need read_file.\n" in content
        assert f"first {number}\nlast {number}\n" in content
    for number in range(1, 5):
        assert f'{number}. read_file {{"path":"f{number}"}} -> ok: first {number}' in content
        assert f"[round {number}]" not in content


def test_a_value_found_in_round_one_is_there_in_round_fifteen_and_after_folding() -> None:
    state = begun("find the incident")
    state = called(state, "search", {"q": "x" * 110}, Result("ok", {"incident": "INC-4711", "open": True}))
    for number in range(2, 60):
        found = {"note": f"nothing {number} " + "y" * 200, "ticket": f"OPS-{number}"}
        state = called(state, "search", {"q": f"{number} " + "x" * 110}, Result("ok", found))
        _, content = built(state)
        assert "INC-4711" in content, number
    assert state.folded


def test_folding_shrinks_and_quotes_no_earlier_fold() -> None:
    state, sizes = begun(), []
    for number in range(1, 400):
        result = Result("ok", {"ticket": f"OPS-{number}", "text": "Word " * 60})
        state = called(state, "search", {"q": f"{number} " + "x" * 110}, result)
        sizes.append(len(state.folded) + sum(len(line) for _, _, line in state.older))
    assert max(sizes) <= OLDER_CHARS + 2_000 + 400
    lines = state.folded.splitlines()
    assert all(line.count(":") <= 2 for line in lines)
    assert len({line.split(":")[0] for line in lines}) == len(lines)


def test_a_repeated_read_supersedes_the_older_copy() -> None:
    state = called(begun(), "read_file", {"path": "a"}, Result("ok", "the old text"))
    state = called(state, "now", {}, Result("ok", "09:00"))
    state = called(state, "read_file", {"path": "a"}, Result("ok", "the new text"))
    _, content = built(state)
    assert "the old text" not in content
    assert "the new text" in content
    assert '[round 1] read_file {"path":"a"}: obsolete, read again in round 3' in content


def test_a_superseded_read_leaves_the_older_rounds_too() -> None:
    state = called(begun(), "read_file", {"path": "a"}, Result("ok", "OLD-1"))
    for number in range(8):
        state = called(state, "now", {"n": number}, Result("ok", f"0{number}:00"))
    assert "OLD-1" in built(state)[1]
    state = called(state, "read_file", {"path": "a"}, Result("ok", "NEW-2"))
    _, content = built(state)
    assert "OLD-1" not in content
    assert "NEW-2" in content


def test_a_failed_read_supersedes_nothing() -> None:
    state = called(begun(), "read_file", {"path": "a"}, Result("ok", "the text"))
    state = called(state, "read_file", {"path": "a"}, Result("error"))
    assert "the text" in built(state)[1]


def test_the_stable_prefix_is_the_same_bytes_in_every_round() -> None:
    first, later = begun(), called(begun(), "now", {}, Result("ok", "x"))
    one, two = build(first, CARDS, AT, FRAME), build(later, CARDS, AT, FRAME)
    assert one.prefix_hash == two.prefix_hash
    head = one.prompt.messages.split(b'{"role":"user"')[0]
    assert two.prompt.messages.startswith(head)
    assert b"read_file: Read a file (first 200 lines)." in head


def test_the_goal_stays_word_for_word_while_results_are_cut() -> None:
    goal = "Compare " + " ".join(f"item-{number}" for number in range(1_000))
    state = begun(goal)
    for number in range(6):
        state = called(state, "read_file", {"path": str(number)}, Result("ok", "x" * 10_000))
    assert goal in built(state)[1]


def test_the_plan_is_shown_with_its_states() -> None:
    state = begun()
    plan = (SubGoal("find the upstream", "one service named", "doing"), SubGoal("advise", "", "todo"))
    data: dict[str, Any] = {"kind": "call", "name": "now", "args": {}, "thought": ""}
    data["plan"] = [{"goal": one.goal, "done_when": one.done_when, "status": one.status} for one in plan]
    state = apply(state, row(1, "reason", {"decision": data}))
    _, content = built(state)
    assert "1. [doing] find the upstream (done when one service named) <- next\n2. [todo] advise" in content


def test_tools_that_leave_no_room_are_refused_with_what_to_do() -> None:
    cards = tuple(ToolCard(f"tool{number}", "word " * 100, {}) for number in range(200))
    with pytest.raises(ModelError, match="Raise \\[model\\] context_tokens or offer fewer tools") as caught:
        build(begun(), cards, AT, FRAME)
    assert caught.value.code == "context"


def grown(rounds: int, state: RunState | None = None) -> RunState:
    state = state or begun()
    for number in range(state.round, rounds):
        words = " ".join(f"{number * 37 % 101}{letter}" for letter in "abcdefghijklmnopqrstuvwxyz")
        state = called(state, "read_file", {"path": f"f{number}"}, Result("ok", words))
    return state


def test_before_rounds_are_folded_the_model_says_what_it_needs_of_them() -> None:
    state, asked_at = begun(), 0
    while "will leave this prompt" not in built(state)[1]:
        state = grown(state.round + 1, state)
        assert state.round < 60
    asked_at = state.round
    rounds = f"Rounds 1 to {len(state.older) // 2} will leave this prompt"
    assert rounds in built(state)[1]
    assert "will leave this prompt" in built(grown(asked_at + 1, state))[1]  # asked until it is said
    text = '{"kept": {"text": "f1 names the culprit."}, "action": {"name": "now", "args": {}}}'
    decision, data = counted(state, decide(text))
    assert data["kept"] == {"first": 1, "last": len(state.older) // 2, "text": "f1 names the culprit."}
    said = apply(state, row(state.round + 1, "observe", {}))
    said = apply(said, row(said.round, "reason", {**data, "decision": write_decision(decision)}))
    said = apply(said, row(said.round, "judge", {"verdict": "continue"}, status="ok"))
    assert "in your words" not in built(said)[1]
    assert "will leave this prompt" not in built(said)[1]
    folded = grown(asked_at + 12, said)
    assert folded.folded
    assert f"rounds 1 to {len(state.older) // 2}, in your words: f1 names the culprit." in built(folded)[1]


def test_what_was_kept_stays_within_bounds_however_long_the_run() -> None:
    state, sizes = begun(), []
    for _ in range(200):
        if folding.about(state):
            text = json.dumps({"kept": "k" * 5_000, "action": {"name": "now", "args": {}}})
            decision, data = counted(state, decide(text))
            state = apply(state, row(state.round + 1, "observe", {}))
            state = apply(state, row(state.round, "reason", {**data, "decision": write_decision(decision)}))
            state = apply(state, row(state.round, "judge", {"verdict": "continue"}, status="ok"))
        state = grown(state.round + 1, state)
        sizes.append(len(built(state)[1]))
    assert max(sizes[150:]) <= 1.1 * max(sizes[50:150])
    assert len(state.kept) == 3
