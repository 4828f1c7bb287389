"""One completion from an endpoint on loopback: what is asked, what is read, and every way it can go wrong."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any

import pytest
from clock import FakeClock
from endpoint import (
    MODEL,
    Answer,
    Endpoint,
    Scripted,
    act,
    calls,
    completion,
    drop,
    endless,
    fail,
    hang,
    held,
    raw,
    refuse,
    say,
    sse,
    stream,
)
from pydantic import SecretStr

from hermes_bot.config import Endpoint as Fallback
from hermes_bot.config import ModelSection, Price
from hermes_bot.decisions import CallTool, Malformed, NativeCall, decide
from hermes_bot.errors import ConfigError, ModelError
from hermes_bot.llm import EndpointModel
from hermes_bot.messages import ThreadKey
from hermes_bot.ports import Completion, Prompt
from hermes_bot.state import Goal, Limits, RunState

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

SCHEMA = {"type": "object", "required": ["action"]}
TOOLS = [{"type": "function", "function": {"name": "now", "parameters": {"type": "object"}}}]
MESSAGES = [{"role": "system", "content": "Bé brief."}, {"role": "user", "content": 'Why "5xx"?'}]
PROMPT = Prompt(json.dumps(MESSAGES).encode(), schema=json.dumps(SCHEMA).encode(), tokens=123)
STATE = RunState("r1", ThreadKey("console", "w", "c", "t"), "console:w:u", Goal("Why?"), Limits())
KEY = "sk-canary-1234567890"
OVERFLOW = {"message": "This model's maximum context length is 4096 tokens.", "code": 400}


class SkippingClock(FakeClock):
    """A clock on which every sleep is over at once, and the time has passed."""

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.advance(seconds)


@dataclass
class Asked:
    """A model before a scripted endpoint."""

    model: EndpointModel
    endpoint: Endpoint
    clock: SkippingClock

    async def ask(self, prompt: Prompt = PROMPT) -> Completion:
        return await self.model.complete(prompt, STATE)

    async def fails(self, prompt: Prompt = PROMPT) -> ModelError:
        with pytest.raises(ModelError) as caught:
            await self.ask(prompt)
        return caught.value

    def forms(self) -> list[str]:
        """Return the output mode of each request."""
        return [
            "tools" if "tools" in one else one.get("response_format", {"type": "plain"})["type"]
            for one in self.endpoint.requests
        ]


@asynccontextmanager
async def model(
    *script: Scripted,
    otherwise: Scripted | None = None,
    key: str = KEY,
    prices: Mapping[str, Price] | None = None,
    **section: Any,
) -> AsyncIterator[Asked]:
    clock = SkippingClock()
    async with Endpoint(script, otherwise=otherwise) as endpoint:
        where = ModelSection(**{"base_url": endpoint.url, "name": "m1", "timeout_seconds": 20, **section})
        asked = EndpointModel(where, SecretStr(key) if key else None, prices or {}, clock)
        try:
            yield Asked(asked, endpoint, clock)
        finally:
            await asked.close()


@asynccontextmanager
async def pair(*script: Scripted, **section: Any) -> AsyncIterator[tuple[Asked, Endpoint]]:
    """A model whose first endpoint is scripted, and whose fallback answers."""
    async with (
        Endpoint(otherwise=say("from the fallback")) as second,
        model(*script, fallbacks=(Fallback(base_url=second.url, name="m2"),), **section) as asked,
    ):
        yield asked, second


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


@pytest.mark.parametrize("base_url", ["localhost:8000/v1", "ftp://127.0.0.1/v1", "http://", ""])
def test_an_address_that_is_none_is_bad_configuration(base_url: str) -> None:
    with pytest.raises(ConfigError, match=r"\[model\] base_url"):
        EndpointModel(ModelSection(base_url=base_url, name="m1"), None, {}, FakeClock())


def test_a_password_in_the_address_is_refused_and_never_shown() -> None:
    section = ModelSection(base_url="http://user:hunter2@127.0.0.1/v1", name="m1")
    with pytest.raises(ConfigError, match="HERMES_MODEL_API_KEY") as caught:
        EndpointModel(section, None, {}, FakeClock())
    assert "hunter2" not in str(caught.value)


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


# --- trouble that passes


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "2"}, 2.0),
        ({"retry-after-ms": "1500", "Retry-After": "9"}, 1.5),
        ({"Retry-After": format_datetime(FakeClock().at + timedelta(seconds=30), usegmt=True)}, 30.0),
    ],
)
async def test_a_rate_limit_waits_as_told(headers: dict[str, str], seconds: float) -> None:
    async with model(fail(429, headers), say("x")) as asked:
        assert (await asked.ask()).text == "x"
    assert asked.clock.slept == [seconds]


@pytest.mark.parametrize("headers", [{}, {"Retry-After": "soon"}])
async def test_a_rate_limit_that_says_nothing_is_tried_three_times(headers: dict[str, str]) -> None:
    async with model(otherwise=fail(429, headers)) as asked:
        error = await asked.fails()
    assert (error.code, error.retryable, len(asked.endpoint.requests)) == ("rate_limited", True, 3)
    first, second = asked.clock.slept
    assert 1 <= first < second <= 3


async def test_a_wait_longer_than_a_minute_is_not_sat_out() -> None:
    async with pair(fail(429, {"Retry-After": "3600"})) as (asked, _):
        assert (await asked.ask()).text == "from the fallback"
    assert asked.clock.slept == []


async def test_an_empty_account_is_not_waited_for() -> None:
    async with model(fail(429, body={"error": {"message": "Pay.", "code": "insufficient_quota"}})) as asked:
        error = await asked.fails()
    assert (error.code, asked.clock.slept) == ("refused", [])
    assert "Pay." in str(error)


PASSING = {
    "503": fail(503),
    "500 with a page": fail(500, {"Content-Type": "text/html"}, "<html>no</html>"),
    "the connection is dropped": drop(),
    "a body that breaks off": drop(raw('{"choices": [{"message"')),
    "a web page": raw("<html>Log in</html>", content_type="text/html"),
    "truncated JSON": raw('{"choices": [{"message": {"content": "x'),
    "an empty body": raw(""),
    "a list": raw("[]"),
    "no choices": raw('{"choices": []}'),
    "choices of another kind": raw('{"choices": {"0": 1}}'),
    "no message": raw('{"choices": [{"text": "x"}]}'),
    "a megabyte of garbage": raw(b"\x00\xff" * 500_000),
    "a megabyte of brackets": raw("[" * 1_000_000),
    "an error inside 200": raw('{"error": {"message": "overloaded", "code": 529}}'),
    "an error text inside 200": raw('{"error": "overloaded"}'),
    "a stream of nothing": sse(b": hello\n\n"),
    "a stream of garbage": sse(b"data: {nonsense\n\n"),
    "a stream that breaks at once": drop(sse(b": hello\n\n")),
}


@pytest.mark.parametrize("trouble", PASSING.values(), ids=PASSING)
async def test_passing_trouble_is_tried_again(trouble: Answer) -> None:
    async with model(trouble, trouble, say("x")) as asked:
        assert (await asked.ask()).text == "x"
    first, second = asked.clock.slept
    assert 1 <= first < second <= 3


@pytest.mark.parametrize("trouble", PASSING.values(), ids=PASSING)
async def test_trouble_that_stays_goes_to_the_fallback_in_bounds(trouble: Answer) -> None:
    async with pair(trouble, trouble) as (asked, second):
        answer = await asked.ask()
    assert (answer.text, len(asked.endpoint.requests), len(second.requests)) == ("from the fallback", 2, 1)
    assert second.requests[0]["model"] == "m2"


@pytest.mark.parametrize("trouble", PASSING.values(), ids=PASSING)
async def test_trouble_without_a_fallback_ends_in_a_stated_failure(trouble: Answer) -> None:
    async with model(otherwise=trouble) as asked:
        error = await asked.fails()
    assert error.code in ("unavailable", "garbage")
    assert error.retryable
    assert len(asked.endpoint.requests) == 3
    assert asked.endpoint.url in str(error)
    assert "[model]" in str(error)
    assert "<html>" not in str(error)
    assert len(str(error)) < 500


@pytest.mark.parametrize(
    "flood",
    [
        endless("x"),
        endless(b" " * 65_536, content_type="application/json"),
        endless(b": ping\n\n" * 10_000),
        Answer((b"x" * 65_536,), 500, repeats=True),
    ],
    ids=["a stream", "a body", "comments", "an error page"],
)
async def test_an_answer_without_end_is_given_up(flood: Answer) -> None:
    async with model(otherwise=flood) as asked:
        error = await asked.fails()
    assert error.code == "garbage"
    assert "longer than 2,048 KiB" in str(error)


@pytest.mark.parametrize(
    "silence",
    [hang(), hang(raw("{")), hang(sse(b": hello\n\n"))],
    ids=["from the start", "in a body", "in a stream"],
)
async def test_silence_ends_at_the_deadline_and_goes_to_the_fallback(silence: Answer) -> None:
    async with pair(silence, timeout_seconds=0.2) as (asked, _), asyncio.timeout(5):
        assert (await asked.ask()).text == "from the fallback"
    async with model(silence, timeout_seconds=0.2) as alone, asyncio.timeout(5):
        error = await alone.fails()
    assert (error.code, error.retryable) == ("timeout", True)
    assert "within 0.2 s" in str(error)


async def test_an_endpoint_that_is_not_there_goes_to_the_fallback() -> None:
    async with Endpoint() as gone:
        pass
    async with pair(base_url=gone.url) as (asked, _):
        assert (await asked.ask()).text == "from the fallback"
    async with model(base_url=gone.url) as alone:
        assert "cannot be reached" in str(await alone.fails())


async def test_a_run_that_waits_for_its_model_holds_up_no_other() -> None:
    async with model(hang(), say("x")) as asked, asyncio.timeout(5):
        slow = asyncio.ensure_future(asked.ask())
        await asked.endpoint.arrived.wait()
        assert (await asked.ask()).text == "x"
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow


# --- trouble that stays


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_key_stops_at_once_with_the_true_cause(status: int) -> None:
    said = {"error": {"message": f"Incorrect API key provided: {KEY}."}}
    async with pair(fail(status, body=said)) as (asked, second):
        error = await asked.fails()
    assert (error.code, error.retryable) == ("unauthorized", False)
    assert (len(asked.endpoint.requests), second.requests, asked.clock.slept) == (1, [], [])
    assert "HERMES_MODEL_API_KEY" in str(error)
    assert "Incorrect API key provided: ***" in str(error)


async def test_a_missing_key_is_named_as_missing() -> None:
    async with model(fail(401), key="") as asked:
        assert "HERMES_MODEL_API_KEY is not set" in str(await asked.fails())


@pytest.mark.parametrize(
    "answer",
    [
        refuse("messages", code="context_length_exceeded"),
        fail(400, body={"error": OVERFLOW}),
        fail(400, body={"object": "error", **OVERFLOW}),
        fail(400, body={"error": {"message": "too big", "type": "exceed_context_size_error"}}),
        fail(413),
    ],
)
async def test_a_prompt_too_long_is_reported_at_once_for_the_loop_to_cut(answer: Answer) -> None:
    async with pair(answer) as (asked, second):
        error = await asked.fails()
    assert (error.code, error.retryable) == ("overflow", False)
    assert (len(asked.endpoint.requests), second.requests) == (1, [])
    assert "context_tokens" in str(error)


async def test_a_model_that_does_not_exist_is_said_with_its_name() -> None:
    async with model(fail(404, body={"error": {"message": "model 'm1' not found"}})) as asked:
        error = await asked.fails()
    assert (error.code, error.retryable, len(asked.endpoint.requests)) == ("refused", False, 1)
    assert "(m1): it answers 404: model 'm1' not found" in str(error)


async def test_a_redirect_is_not_followed_with_the_key() -> None:
    async with Endpoint() as elsewhere:
        async with model(otherwise=fail(307, {"Location": f"{elsewhere.url}/chat/completions"})) as asked:
            assert (await asked.fails()).code == "refused"
        assert elsewhere.requests == []


async def test_when_all_fail_each_cause_is_named() -> None:
    async with (
        Endpoint(otherwise=fail(500)) as second,
        model(otherwise=raw("<html>"), fallbacks=(Fallback(base_url=second.url, name="m2"),)) as asked,
    ):
        error = await asked.fails()
    assert error.code == "garbage"
    assert f"{asked.endpoint.url} (m1): it answers a web page" in str(error)
    assert f"{second.url} (m2): it answers 500" in str(error)


async def test_what_an_endpoint_says_is_cut_and_put_on_one_line() -> None:
    async with model(otherwise=fail(402, body={"error": {"message": "a\n\tb " + "x" * 5_000}})) as asked:
        said = str(await asked.fails())
    assert "a b xxx" in said
    assert "\n" not in said
    assert len(said) < 400


async def test_a_server_that_speaks_no_http_is_said_to_be_unreachable() -> None:
    async def babble(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(babble, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with model(base_url=f"http://127.0.0.1:{port}/v1") as asked:
            assert (await asked.fails()).code == "unavailable"


async def test_an_endpoint_that_recovers_is_used_again() -> None:
    async with pair(fail(503), fail(503), act("now")) as (asked, second):
        assert (await asked.ask()).text == "from the fallback"
        assert isinstance(decide((await asked.ask()).text), CallTool)
    assert len(second.requests) == 1
