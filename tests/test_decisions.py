"""Model output becomes a decision: harmless noise is read, what would need guessing is never run."""

from __future__ import annotations

import json
from typing import Any

import pytest
from decided import LOGS, STRICT, WRITTEN, called, finished, problem

from hermes_bot.decisions import Action, Ask, CallTool, Finish, Malformed, NativeCall, SubGoal, decide


def test_a_strict_object_is_read_whole() -> None:
    plan = [{"goal": "find the upstream", "done_when": "one named", "status": "doing"}]
    assert decide(json.dumps(WRITTEN | {"plan": plan})) == CallTool(
        LOGS, "I need the log.", (SubGoal("find the upstream", "one named", "doing"),)
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Sure! ```json {'tool': 'now', 'arguments': {},} ```", id="the catalogue's own (B-73)"),
        pytest.param('```json\n{"action": {"name": "now", "args": {}}}\n```', id="fence"),
        pytest.param(
            '```\n{"action": {"name": "now", "args": {}},}\n```\nDone!', id="fence, comma, prose after"
        ),
        pytest.param('<think>Maybe {"tool": "rm"}?</think>{"tool": "now"}', id="thought with a call in it"),
        pytest.param('maybe {"tool": "rm"}\n</think>\n{"tool": "now"}', id="thought opened by the prompt"),
        pytest.param('For {service} I use {"tool": "now", "args": {}}', id="a placeholder in the prose"),
        pytest.param('{"action": {"name": "now", "args": {}}}}', id="one bracket too many"),
        pytest.param('`{"tool": "now"}`', id="the whole as inline code"),
        pytest.param("{'action': {'name': 'now', 'args': {}}, 'plan': None}", id="a Python literal"),
        pytest.param("{\u201ctool\u201d: \u201cnow\u201d}", id="curly quotes"),
        pytest.param('{"thought": "a\nb", "action": {"name": "now", "args": {}}}', id="a raw newline"),
        pytest.param('{"thought": "x" "action": {"name": "now", "args": {}}}', id="a missing comma"),
        pytest.param('{thought: "x", action: {name: "now", args: {}}}', id="bare keys"),
        pytest.param(
            '{"thought": "he said "go", so", "action": {"name": "now", "args": {}}}', id="inner quotes"
        ),
    ],
)
def test_harmless_noise_is_read_without_another_call(text: str) -> None:
    assert called(text) == Action("now")


@pytest.mark.parametrize(
    "value",
    [
        {"action": {"tool": "query_logs", "arguments": LOGS.args}},
        {"action": {"tool_name": "query_logs", "params": LOGS.args}},
        {"action": {"name": "query_logs", "parameters": LOGS.args}},
        {"action": {"name": "query_logs", "input": LOGS.args}},
        {"action": {"function": {"name": "query_logs", "arguments": json.dumps(LOGS.args)}}},
        {"action": {"query_logs": LOGS.args}},
        {"action": {"name": "query_logs", **LOGS.args}},
        {"action": "query_logs", "action_input": LOGS.args},
        {"action": "query_logs", "args": json.dumps(LOGS.args)},
        {"action": "query_logs", **LOGS.args},
        {"action": [{"name": "query_logs", "args": LOGS.args}]},
        {"action": json.dumps({"name": "query_logs", "args": LOGS.args})},
        {"name": "query_logs", "args": LOGS.args},
        {"name": "functions.query_logs", "arg": LOGS.args},
        {"function": "query_logs", "args": LOGS.args},
        {
            "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": "query_logs", "arguments": LOGS.args}}
            ]
        },
        {"type": "function", "function": {"name": "query_logs", "arguments": json.dumps(LOGS.args)}},
        {"function_call": {"name": "query_logs", "arguments": json.dumps(LOGS.args)}},
    ],
    ids=json.dumps,
)
def test_other_words_for_an_action_mean_the_same(value: dict[str, Any]) -> None:
    assert called(json.dumps(value)) == LOGS


@pytest.mark.parametrize("key", ["thought", "thoughts", "reasoning"])
def test_a_thought_has_several_names(key: str) -> None:
    assert decide(json.dumps({key: "Look.", "tool": "now"})) == CallTool(Action("now"), "Look.")


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name":"query_logs","arguments":{"service":"payments","limit":5}}</tool_call>',
        'I will look.\n<tool_call>\n{"name":"query_logs","arguments":{"service":"payments","limit":5}}',
        '[TOOL_CALLS] [{"name": "query_logs", "arguments": {"service": "payments", "limit": 5}}]',
        '<function=query_logs>{"service": "payments", "limit": 5}</function>',
        "<tool_use><tool>query_logs</tool><input>{'service': 'payments', 'limit': 5}</input></tool_use>",
    ],
)
def test_a_call_written_as_text_is_read(text: str) -> None:
    assert called(text) == LOGS


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call>\n<function=read_file>\n<parameter=path>\na.txt\n</parameter>\n</function>\n</tool_call>",
        '<calls><invoke name="read_file"><parameter name="path">a.txt</parameter></invoke></calls>',
        "<tool_call><name>read_file</name><arguments><path>a.txt</path></arguments></tool_call>",
    ],
)
def test_a_call_written_as_xml_is_read(text: str) -> None:
    assert called(text) == Action("read_file", {"path": "a.txt"})


@pytest.mark.parametrize(
    "text",
    [
        'The file says `<tool_call>{"name":"now","arguments":{}}</tool_call>`.',
        'It holds "{"tool": "now"}" and no more.',
        '> {"tool": "now"}',
        '<think>{"tool": "now"}</think>',
        '<think>{"tool": "now"}',
        "The service is called {'name': 'payments', 'status': 'down'}.",
    ],
)
def test_a_call_that_is_only_quoted_or_thought_of_is_none(text: str) -> None:
    assert "an action" in problem(text) or "No action" in problem(text)


def test_a_call_inside_an_answer_is_text() -> None:
    quoted = 'It says <tool_call>{"name":"rm","arguments":{}}</tool_call> and {"action": {"name": "rm"}}.'
    assert finished(answer=quoted).answer == quoted


def test_a_call_inside_an_argument_is_text() -> None:
    text = '<invoke name="write_file"><parameter name="text">{"name": "rm", "args": {}}</parameter></invoke>'
    assert called(text) == Action("write_file", {"text": '{"name": "rm", "args": {}}'})


def test_the_same_object_twice_counts_once() -> None:
    assert decide(f"{STRICT}\n{STRICT}") == CallTool(LOGS, "I need the log.")


def test_of_two_different_objects_the_first_runs_and_the_model_is_told() -> None:
    decision = decide(STRICT + '{"action": {"name": "now", "args": {}}}')
    assert decision == CallTool(LOGS, "I need the log.", note="one action a round")


def test_native_calls_follow_the_same_rules() -> None:
    now, logs = NativeCall("now", ""), NativeCall("query_logs", json.dumps(LOGS.args))
    assert decide("Let me see.", calls=[now]) == CallTool(Action("now"), "Let me see.")
    assert decide("", calls=[logs, logs]) == CallTool(LOGS)
    assert decide("", calls=[logs, now]) == CallTool(LOGS, note="one action a round")
    assert decide("", calls=[logs] + [now] * 999) == CallTool(LOGS, note="one action a round")


def test_a_native_call_can_finish() -> None:
    decision = decide(
        "", calls=[NativeCall("finish", '{"answer": "42", "confidence": 1}')], finish_reason="tool_calls"
    )
    assert decision == Finish("42", 1.0)


@pytest.mark.parametrize("answer", ["", " ", "NO_REPLY", "[SILENT]", "(empty)", "<think>x</think>", None])
def test_an_answer_that_says_nothing_is_malformed(answer: str | None) -> None:
    assert '"finish" needs "answer"' in problem(
        json.dumps({"action": {"name": "finish", "args": {"answer": answer}}})
    )


def test_a_thought_never_reaches_the_answer() -> None:
    assert finished(answer="<think>secret</think>It is DNS.").answer == "It is DNS."


@pytest.mark.parametrize(
    ("given_confidence", "read"),
    [
        (0.9, 0.9),
        ("0.9", 0.9),
        ("90%", 0.9),
        (90, 0.9),
        (1, 1.0),
        (7000, 1.0),
        (-1, 0.0),
        ("high", 0.0),
        (None, 0.0),
        (True, 1.0),
    ],
)
def test_confidence_is_a_share_however_it_is_written(given_confidence: Any, read: float) -> None:
    assert finished(answer="x", confidence=given_confidence).confidence == pytest.approx(read)


@pytest.mark.parametrize(
    ("evidence", "read"),
    [
        (["round 2", "query_logs"], ("round 2", "query_logs")),
        ("round 2, query_logs", ("round 2", "query_logs")),
        ("round 2 shows 5xx, many of them", ("round 2 shows 5xx, many of them",)),
        ([2, 3], ("round 2", "round 3")),
        (2, ("round 2",)),
        (None, ()),
    ],
)
def test_evidence_is_a_list_or_a_string(evidence: Any, read: tuple[str, ...]) -> None:
    assert finished(answer="x", evidence=evidence).evidence == read


@pytest.mark.parametrize(
    ("files", "read"),
    [
        (None, ()),
        (7, ()),
        ("out/a.csv", ("out/a.csv",)),
        (["a.csv", " a.csv ", "", 3, "b.csv"], ("a.csv", "b.csv")),
        ([{"path": "a.csv"}, {"name": "b.csv"}, {"about": "c"}], ("a.csv", "b.csv")),
        ([str(number) for number in range(1_000)], tuple(str(number) for number in range(32))),
    ],
)
def test_the_files_of_an_answer_are_paths(files: Any, read: tuple[str, ...]) -> None:
    assert finished(answer="x", files=files).files == read


@pytest.mark.parametrize(
    "value",
    [
        {"answer": "It is DNS.", "confidence": 0.8, "evidence": ["round 1"]},
        {"final_answer": "It is DNS.", "confidence": 0.8, "evidence": ["round 1"]},
        {"action": "finish", "answer": "It is DNS.", "confidence": 0.8, "evidence": ["round 1"]},
        {"action": "finish", "args": "It is DNS.", "confidence": 0.8, "evidence": ["round 1"]},
        {
            "action": {"name": "Finish", "args": {"answer": "It is DNS."}},
            "confidence": 0.8,
            "evidence": ["round 1"],
        },
        {"finish": {"answer": "It is DNS.", "confidence": 0.8, "evidence": ["round 1"]}},
    ],
    ids=json.dumps,
)
def test_an_answer_is_one_in_every_shape(value: dict[str, Any]) -> None:
    assert decide(json.dumps(value)) == Finish("It is DNS.", 0.8, ("round 1",))


def test_a_question_keeps_at_most_eight_options_as_strings() -> None:
    args = {
        "question": "Which?",
        "options": [1, "a", "a", {"label": "b"}, *"cdefghij"],
        "field": "service",
        "default": 1,
    }
    decision = decide(json.dumps({"thought": "t", "action": {"name": "request_info", "args": args}}))
    assert decision == Ask("Which?", ("1", "a", "b", "c", "d", "e", "f", "g"), "service", "1", "t")


def test_a_question_without_words_is_malformed() -> None:
    assert '"question"' in problem('{"action": {"name": "request_info", "args": {"options": ["a"]}}}')


@pytest.mark.parametrize("options", [None, "", 5, {}])
def test_odd_options_are_none(options: Any) -> None:
    args = {"question": "Which?", "options": options}
    assert decide(json.dumps({"action": {"name": "request_info", "args": args}})) == Ask("Which?")


def test_skills_and_delegation_stay_tool_calls() -> None:
    chain: dict[str, Any] = {"name": "log-diagnosis", "params": {"service": "checkout"}}
    for text in (
        json.dumps({"action": {"name": "run_skill", "args": chain}}),
        json.dumps({"action": "run_skill", **chain}),
        json.dumps({"run_skill": chain}),
    ):
        assert called(text) == Action("run_skill", chain)
    assert called('{"action": "delegate", "task": "look"}') == Action("delegate", {"task": "look"})


@pytest.mark.parametrize(
    ("plan", "read"),
    [
        (None, None),
        ([], None),
        ("first look, then fix", None),
        ({"goal": "x"}, None),
        (["look", "", {"status": "done"}], (SubGoal("look"),)),
        (
            [{"step": "look", "status": "In_Progress", "depends_on": "a"}],
            (SubGoal("look", "", "doing", ("a",)),),
        ),
        ([{"task": "look", "status": "odd", "done_when": 5}], (SubGoal("look", "5", "todo"),)),
    ],
)
def test_a_plan_is_optional_and_read_with_tolerance(plan: Any, read: tuple[SubGoal, ...] | None) -> None:
    assert decide(json.dumps({"tool": "now", "plan": plan})) == CallTool(Action("now"), plan=read)


@pytest.mark.parametrize(
    "text",
    ["}{", "{", "}", "[]", "[[[", "null", "5", '"text"', "It is DNS.", "{}", '{"a": 1}', '{"action": {}}'],
)
def test_what_holds_no_action_is_malformed_in_one_short_line(text: str) -> None:
    said = problem(text)
    assert len(said) < 120
    assert "\n" not in said


@pytest.mark.parametrize("depth", [40, 900, 200_000])
def test_deep_nesting_is_refused_and_harms_nothing(depth: int) -> None:
    deep = "[" * depth + "]" * depth
    assert isinstance(decide('{"tool": "now", "args": {"x": ' + deep + "}}"), Malformed)


@pytest.mark.parametrize("flood", ["x", "{", '{"a":', "}{", '{"a":1} ', "<think>", "<function=", "'\"", "\\"])
def test_a_megabyte_of_garbage_is_malformed(flood: str) -> None:
    assert isinstance(decide(flood * (1_000_000 // len(flood))), Malformed)


def test_half_a_surrogate_pair_and_infinities_can_be_stored() -> None:
    action = called('{"tool": "t", "args": {"a": "\\ud83d", "b": 1e999, "c": NaN, "\\ud800": "\ud83d"}}')
    assert action.args == {"a": "?", "b": "1e999", "c": "NaN", "?": "?"}
    assert action.hash
    assert decide("\ud83d").raw == "?"  # type: ignore[union-attr]
