"""One completion from an endpoint on loopback: what is asked, and what is read."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from asked import KEY, MESSAGES, PROMPT, SCHEMA, model
from clock import FakeClock
from endpoint import (
    MODEL,
    Answer,
    calls,
    completion,
    drop,
    fail,
    held,
    refuse,
    say,
    sse,
    stream,
)
from pydantic import SecretStr

from hermes_bot.config import ModelSection, Price
from hermes_bot.decisions import CallTool, Malformed, NativeCall, decide
from hermes_bot.errors import ConfigError
from hermes_bot.llm import EndpointModel
from hermes_bot.ports import Completion, Prompt

TOOLS = [{"type": "function", "function": {"name": "now", "parameters": {"type": "object"}}}]


# --- what is asked


async def test_the_request_is_the_finished_messages_with_limits_and_output_mode() -> None:
    async with model(say("x")) as asked:
        await asked.ask()
    assert PROMPT.messages in asked.endpoint.bodies[0]
    assert asked.endpoint.requests == [
        {
            "model": "m1",
            "messages": MESSAGES,
            "response_format": {"type": "json_schema", "json_schema": {"name": "decision", "schema": SCHEMA}},
            "temperature": 0.3,
            "max_tokens": 1500,
        }
    ]


async def test_a_prompt_without_a_schema_asks_for_plain_text() -> None:
    async with model(say("x")) as asked:
        await asked.ask(Prompt(PROMPT.messages))
    assert asked.forms() == ["plain"]


async def test_the_strongest_output_mode_is_found_once_and_remembered() -> None:
    refusals = [refuse("response_format"), refuse("response_format.type")]
    async with model(*refusals, say("x"), say("y")) as asked:
        assert [(await asked.ask()).text, (await asked.ask()).text] == ["x", "y"]
    assert asked.forms() == ["json_schema", "json_object", "plain", "plain"]


async def test_a_server_that_names_the_mode_only_in_a_sentence_is_understood() -> None:
    said = fail(400, body={"error": "json_schema is not supported, use json_object"})
    async with model(said, say("x")) as asked:
        await asked.ask()
    assert asked.forms() == ["json_schema", "json_object"]


async def test_a_refusal_that_names_nothing_is_about_the_mode_until_the_mode_has_worked() -> None:
    async with model(fail(400), say("x"), fail(400, body="no")) as asked:
        await asked.ask()
        assert (await asked.fails()).code == "refused"
    assert asked.forms() == ["json_schema", "json_object", "json_object"]


async def test_a_configured_output_mode_is_where_the_search_begins() -> None:
    async with model(say("x"), output="json_object") as asked:
        await asked.ask()
    assert asked.forms() == ["json_object"]


async def test_native_tool_calls_are_a_setting_and_give_way_like_any_mode() -> None:
    prompt = Prompt(PROMPT.messages, json.dumps(TOOLS).encode(), PROMPT.schema)
    async with model(calls([("now", {})]), refuse("tools"), say("x"), output="tools") as asked:
        assert (await asked.ask(prompt)).calls == (NativeCall("now", "{}"),)
        assert asked.endpoint.requests[0]["tools"] == TOOLS
        await asked.ask(prompt)
    assert asked.forms() == ["tools", "tools", "json_schema"]


async def test_parameters_the_model_does_not_know_are_left_out_once_and_for_all() -> None:
    refusals = [refuse("temperature"), refuse("max_tokens"), refuse("reasoning_effort")]
    async with model(*refusals, say("x"), say("y"), reasoning="low") as asked:
        await asked.ask()
        await asked.ask()
    first, *_, last = asked.endpoint.requests
    assert (first["temperature"], first["max_tokens"], first["reasoning_effort"]) == (0.3, 1500, "low")
    assert last["max_completion_tokens"] == 1500
    assert not {"temperature", "max_tokens", "reasoning_effort"} & set(last)
    assert len(asked.endpoint.requests) == 5


async def test_an_endpoint_that_refuses_everything_ends_in_a_stated_refusal() -> None:
    async with model(otherwise=refuse("temperature")) as asked:
        assert (await asked.fails()).code == "refused"
    assert len(asked.endpoint.requests) < 10


async def test_two_runs_that_are_refused_at_once_weaken_the_mode_once() -> None:
    both = asyncio.Event()

    def answer(request: dict[str, Any]) -> Answer:
        if request["response_format"]["type"] == "json_object":
            return say("x")
        if len(asked.endpoint.requests) == 2:
            both.set()
        return held(refuse("response_format"), both)

    async with model(otherwise=answer) as asked, asyncio.timeout(5), asyncio.TaskGroup() as runs:
        runs.create_task(asked.ask())
        runs.create_task(asked.ask())
    assert asked.forms() == ["json_schema", "json_schema", "json_object", "json_object"]


async def test_the_key_goes_into_the_header_and_nothing_comes_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-environment")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-environment")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    async with model(say("x")) as asked:
        await asked.ask()
    async with model(say("x"), key="") as keyless:
        await keyless.ask()
    assert asked.endpoint.headers[0]["authorization"] == f"Bearer {KEY}"
    assert "authorization" not in keyless.endpoint.headers[0]
    assert "environment" not in str(asked.endpoint.headers + keyless.endpoint.headers)


async def test_a_key_from_a_file_loses_its_newline() -> None:
    async with model(say("x"), key=f"{KEY}\n") as asked:
        await asked.ask()
    assert asked.endpoint.headers[0]["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("key", ["sk-é", "sk-1\nX: 2"])
def test_a_key_that_no_header_can_carry_is_bad_configuration(key: str) -> None:
    with pytest.raises(ConfigError, match="HERMES_MODEL_API_KEY") as caught:
        EndpointModel(
            ModelSection(base_url="http://127.0.0.1/v1", name="m1"), SecretStr(key), {}, FakeClock()
        )
    assert key not in str(caught.value)


# --- what is read


async def test_a_completion_carries_tokens_cost_time_and_model() -> None:
    rate = fail(429, {"Retry-After": "2"})
    price = Price(tokens_in=3, tokens_out=15)
    async with model(rate, say("hi", usage=(1_000_000, 200_000)), prices={"m1": price}) as asked:
        assert await asked.ask() == Completion("hi", (), "stop", 1_000_000, 200_000, 6.0, 2_000, MODEL)


async def test_the_price_of_the_model_that_answered_comes_first() -> None:
    prices = {"m1": Price(tokens_in=1), MODEL: Price(tokens_in=2)}
    async with model(say("hi", usage=(1_000_000, 0)), prices=prices) as asked:
        assert (await asked.ask()).cost == 2.0


async def test_tokens_are_estimated_where_the_endpoint_counts_none() -> None:
    async with model(say("x" * 400, usage=None), completion({"content": "x"}, "stop", (-1, 1))) as asked:
        answers = [await asked.ask(), await asked.ask(Prompt(b"[]" + b" " * 38))]
    assert [(one.tokens_in, one.tokens_out) for one in answers] == [(123, 100), (10, 1)]


async def test_a_count_that_no_answer_can_have_is_none() -> None:
    async with model(say("x" * 400, usage=(10**30, 2**63))) as asked:
        answer = await asked.ask()
    assert (answer.tokens_in, answer.tokens_out) == (123, 100)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": None}, ""),
        ({"content": "x", "reasoning_content": "secret", "reasoning": "secret"}, "x"),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab"),
        ({"content": None, "refusal": "I cannot."}, "I cannot."),
        ({"content": "half \ud83d"}, "half ?"),
        ({"content": "x", "tool_calls": None}, "x"),
    ],
)
async def test_a_message_is_read_in_every_shape_it_has(message: dict[str, Any], text: str) -> None:
    async with model(completion(message, None, None)) as asked:
        answer = await asked.ask()
    assert (answer.text, answer.calls, answer.finish_reason) == (text, (), "stop")


async def test_native_calls_keep_their_order_and_their_arguments_as_text() -> None:
    legacy = completion({"function_call": {"name": "now", "arguments": "{}"}}, "function_call", None)
    async with model(calls([("a", {"x": 1}), ("b", "")]), legacy) as asked:
        assert (await asked.ask()).calls == (NativeCall("a", '{"x": 1}'), NativeCall("b", ""))
        assert (await asked.ask()).calls == (NativeCall("now", "{}"),)


async def test_of_a_thousand_calls_in_one_answer_the_first_is_the_decision() -> None:
    async with model(calls([(f"tool{number}", {}) for number in range(1_000)])) as asked:
        answer = await asked.ask()
    decision = decide(answer.text, finish_reason=answer.finish_reason, calls=answer.calls)
    assert isinstance(decision, CallTool)
    assert (decision.action.name, decision.note) == ("tool0", "one action a round")


async def test_an_answer_cut_at_its_limit_says_so() -> None:
    async with model(say('{"tool": "now"}', finish_reason="length")) as asked:
        answer = await asked.ask()
    assert isinstance(decide(answer.text, finish_reason=answer.finish_reason), Malformed)


# --- streams


async def test_a_stream_is_joined_and_counted() -> None:
    async with model(stream("Hé", "llo", "", usage=(7, 3)), stream=True) as asked:
        answer = await asked.ask()
    assert (answer.text, answer.finish_reason, answer.tokens_in, answer.tokens_out) == ("Héllo", "stop", 7, 3)
    assert asked.endpoint.requests[0]["stream"] is True
    assert asked.endpoint.requests[0]["stream_options"] == {"include_usage": True}


async def test_native_calls_are_joined_from_their_pieces() -> None:
    pieces: list[dict[str, Any]] = [
        {"tool_calls": [{"index": 0, "id": "1", "function": {"name": "query", "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"q":'}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": " 1}"}}]},
        {"tool_calls": [{"index": 1, "function": {"name": "now", "arguments": "{}"}}]},
        {"tool_calls": [{"function": {"name": "last", "arguments": "{"}}]},
        {"tool_calls": [{"function": {"arguments": "}"}}, None, {"index": 10**9, "function": {"name": "x"}}]},
        {"tool_calls": 5},
        {"tool_calls": {"name": "y"}},
    ]
    async with model(stream(*pieces, finish_reason="tool_calls"), stream=True) as asked:
        answer = await asked.ask()
    wanted = [NativeCall("query", '{"q": 1}'), NativeCall("now", "{}"), NativeCall("last", "{}")]
    assert list(answer.calls[:3]) == wanted


@pytest.mark.parametrize(
    "cut",
    [
        stream('{"tool": "now"}', finish_reason=None),
        drop(stream('{"tool": ', '"now"}', finish_reason=None)),
    ],
    ids=["ends without a finish_reason", "the connection breaks"],
)
async def test_a_stream_that_just_ends_is_a_cut_answer_and_never_runs(cut: Answer) -> None:
    async with model(cut, stream=True) as asked:
        answer = await asked.ask()
    assert (answer.text, answer.finish_reason) == ('{"tool": "now"}', "length")
    assert isinstance(decide(answer.text, finish_reason=answer.finish_reason), Malformed)


async def test_a_server_that_does_not_stream_is_read_all_the_same() -> None:
    async with model(say("whole"), stream=True) as asked:
        assert (await asked.ask()).text == "whole"


async def test_comments_and_tight_fields_are_part_of_the_protocol() -> None:
    event = b'data:{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}\r\n\r\n'
    async with model(sse(b": keep-alive\n\nevent: message\n", event[:20], event[20:]), stream=True) as asked:
        assert (await asked.ask()).text == "x"


async def test_stream_options_are_left_out_where_they_are_refused() -> None:
    async with model(refuse("stream_options"), stream("x"), stream=True) as asked:
        assert (await asked.ask()).text == "x"
    assert "stream_options" not in asked.endpoint.requests[1]


async def test_an_error_inside_a_stream_is_no_answer() -> None:
    error = b'data: {"error": {"message": "overloaded", "code": 503}}\n\n'
    async with model(sse(error), stream("x"), stream=True) as asked:
        assert (await asked.ask()).text == "x"
    assert len(asked.clock.slept) == 1
