"""What is cut or broken is repaired where that is certain, and never run where it is not."""

from __future__ import annotations

import pytest
from decided import STRICT, called, problem

from hermes_bot.decisions import Action, Malformed, NativeCall, decide


@pytest.mark.parametrize(
    "arguments", ['{"path": "a', '{"path": "a"', "[1]", "nonsense", '{"a": "x"}{"b": 1}']
)
def test_a_native_call_with_unreadable_arguments_never_runs(arguments: str) -> None:
    assert isinstance(decide("", calls=[NativeCall("write_file", arguments)]), Malformed)


@pytest.mark.parametrize("reason", ["length", "max_tokens", "LENGTH"])
def test_a_cut_answer_never_runs_even_when_it_looks_whole(reason: str) -> None:
    assert "cut" in problem(STRICT, reason)
    assert "cut" in problem('{"action":{"name":"write_file","args":{"path":"a', reason)
    assert isinstance(decide("", finish_reason=reason, calls=[NativeCall("now", "{}")]), Malformed)


@pytest.mark.parametrize(
    "text",
    [
        '{"action":{"name":"write_file","args":{"path":"a',
        '{"action":{"name":"write_file","args":{"path":"a"',
        '{"action":{"name":"write_file","args":{"path":"a"}}',
        '{"action":{"name":"write_file","args":{"path":"a"}',
        f'{STRICT} {{"action": {{"name": "now"',
        "<function=write_file><parameter=path>a",
        "<function=write_file><parameter=path>a</function>",
        '{"action": {"name": "write_file", "args": [{"path": "a"}}}',
    ],
)
def test_an_object_that_is_not_closed_never_runs(text: str) -> None:
    assert isinstance(decide(text), Malformed)


@pytest.mark.parametrize(
    "args",
    [
        '{"text": "a "b", "c": "d"}',
        '{"text": """x"""}',
        '{"text": "a", "b"}',
        '{"text": "a" // and more\n}',
        '{"count": 007}',
        '{"text": "say "x" now"}',
        '{"path": "a" "text": "says "x, y""}',
        '{"text": "a\n" "path": "b"}',
        '{"text": "a", "text": "b"}',
    ],
)
def test_a_repair_that_would_drop_or_invent_an_argument_never_runs(args: str) -> None:
    assert isinstance(decide('{"action": {"name": "write_file", "args": ' + args + "}}"), Malformed)


def test_a_file_text_comes_through_repair_to_the_byte() -> None:
    args = "{'text': 'a\n\n  b\\t\\'c\\' \"d\" é \\u00e9\n', 'n': 1.50,}"
    assert called("{'action': {'name': 'write_file', 'args': " + args + ",},}") == Action(
        "write_file", {"text": "a\n\n  b\t'c' \"d\" é é\n", "n": 1.5}
    )


def test_a_repaired_text_keeps_its_quotes() -> None:
    text = '{"tool": "write_file" "args": {"text": "say \\"x\\"\n!" "path": "a b",}}'
    assert called(text) == Action("write_file", {"text": 'say "x"\n!', "path": "a b"})


@pytest.mark.parametrize(
    ("pattern", "read"),
    [
        (r"\d+\.\w", r"\d+\.\w"),
        (r"\\d+ \[", r"\d+ \["),
        (r"it\'s", "it's"),
        (r"\\\d", r"\\d"),
        (r"\u00e9\d", r"é\d"),
    ],
)
def test_backslashes_of_a_pattern_come_through(pattern: str, read: str) -> None:
    text = '{"tool": "search", "args": {"pattern": "' + pattern + '"}}'
    assert called(text) == Action("search", {"pattern": read})


def test_a_backslash_that_could_mean_two_things_is_asked_again() -> None:
    assert "backslashes" in problem(r'{"tool": "search", "args": {"pattern": "\bfoo\d"}}')


@pytest.mark.parametrize(
    "args", ['"{\\"q\\": 1}"', '"\\"{\\\\\\"q\\\\\\": 1}\\""', '"```json\\n{\\"q\\": 1}\\n```"']
)
def test_arguments_as_json_in_a_string_are_opened(args: str) -> None:
    assert called('{"action": {"name": "query", "args": ' + args + "}}") == Action("query", {"q": 1})


@pytest.mark.parametrize("args", ['""', '"  "', "null", "[]", "{}", '"null"', '"{}"'])
def test_no_arguments_at_all_are_an_empty_object(args: str) -> None:
    assert called('{"action": {"name": "now", "args": ' + args + "}}") == Action("now", {})


@pytest.mark.parametrize("args", ["5", "true", '"payments"', '["payments"]', '"{\\"q\\": "'])
def test_arguments_that_are_no_object_are_refused_by_name(args: str) -> None:
    assert isinstance(decide('{"action": {"name": "query", "args": ' + args + "}}"), Malformed)


def test_arguments_in_two_places_are_refused_when_they_differ() -> None:
    assert "two places" in problem('{"tool": "query", "args": {"q": 1}, "input": {"q": 2}}')
    assert called('{"tool": "query", "args": {}, "input": {"q": 2}}') == Action("query", {"q": 2})


@pytest.mark.parametrize(
    "text", ["", "  \n", "(empty)", "NO_REPLY", "[SILENT]", "<think>hm</think>", "<think></think>(empty)"]
)
def test_nothing_and_its_tokens_are_malformed_with_a_useful_problem(text: str) -> None:
    assert "empty" in problem(text)
    assert "JSON object" in problem(text)
