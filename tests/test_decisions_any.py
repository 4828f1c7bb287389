"""Whatever a model writes becomes a decision, and a cut one never runs another action: properties."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_bot.decisions import Ask, CallTool, Finish, Malformed, NativeCall, decide

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
words = st.sampled_from(
    [
        "name",
        "tool",
        "action",
        "args",
        "input",
        "thought",
        "plan",
        "answer",
        "finish",
        "function",
        "request_info",
        "options",
        "question",
        "tool_calls",
        "confidence",
        "evidence",
    ]
)
decisions = st.recursive(
    json_values | words,
    lambda inner: st.dictionaries(words, inner, max_size=4) | st.lists(inner, max_size=2),
    max_leaves=8,
)
noise = st.sampled_from(
    [
        "```json\n",
        "```",
        "<think>",
        "</think>",
        "<tool_call>",
        "</tool_call>",
        "{",
        "}",
        "'",
        '"',
        ",",
        "\\",
        "<function=a>",
        "</function>",
        '<invoke name="a">',
        "<parameter=b>",
        "\n",
        "{x}",
    ]
)


@st.composite
def outputs(draw: st.DrawFn) -> str:
    """Build text as models do: objects, well formed or mangled or cut, among prose and markup."""
    parts = draw(
        st.lists(noise | st.text(max_size=20) | decisions.map(json.dumps) | decisions.map(repr), max_size=4)
    )
    text = "".join(parts)
    for _ in range(draw(st.integers(0, 3))):  # lose, double or turn a character
        if text:
            at = draw(st.integers(0, len(text) - 1))
            text = text[:at] + draw(st.sampled_from(["", text[at] * 2, "'", '"', "}", "\n"])) + text[at + 1 :]
    return text[: draw(st.integers(0, len(text)))] if draw(st.booleans()) else text


@settings(max_examples=1_000, deadline=None, derandomize=True)
@given(
    text=st.text() | st.from_regex(r"\{.*") | outputs(),
    reason=st.sampled_from(["stop", "length", "", "tool_calls"]),
)
def test_any_model_output_becomes_a_decision(text: str, reason: str) -> None:
    decision = decide(text, finish_reason=reason)
    assert isinstance(decision, Finish | CallTool | Ask | Malformed)
    if isinstance(decision, CallTool):
        assert decision.action.hash
        assert decision.action.name
        json.dumps(decision.action.args, allow_nan=False).encode()


@settings(max_examples=300, deadline=None, derandomize=True)
@given(text=outputs() | json_values.map(json.dumps), name=st.text(max_size=5))
def test_any_native_call_becomes_a_decision(text: str, name: str) -> None:
    assert isinstance(decide("", calls=[NativeCall(name, text)]), Finish | CallTool | Ask | Malformed)


wraps = st.sampled_from(
    ["{}", "Sure!\n```json\n{}\n```", "<think>{{}} hm</think>{}", "<tool_call>{}</tool_call>", "{} Done."]
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    args=st.dictionaries(st.text(max_size=6), json_values, max_size=4),
    spell=st.sampled_from([json.dumps, repr]),
    wrap=wraps,
    data=st.data(),
)
def test_a_cut_decision_never_runs_another_action(
    args: dict[str, Any], spell: Any, wrap: str, data: st.DataObject
) -> None:
    written = spell({"thought": "I {need} it", "action": {"name": "write_file", "args": args}})
    text = wrap.replace("{{}}", '{"tool": "rm"}').replace("{}", written)
    whole = decide(text)
    assert isinstance(whole, CallTool) or spell is repr
    cut = decide(text[: data.draw(st.integers(0, len(text)))])
    assert isinstance(cut, Malformed) or cut == whole
