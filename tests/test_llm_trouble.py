"""Every way an endpoint can go wrong for one call, on loopback: tried again, given up, or said."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from email.utils import format_datetime

import pytest
from asked import KEY, model, pair
from clock import FakeClock
from endpoint import (
    Answer,
    Endpoint,
    act,
    drop,
    endless,
    fail,
    hang,
    raw,
    refuse,
    say,
    sse,
)

from hermes_bot.config import Endpoint as Fallback
from hermes_bot.decisions import CallTool, decide

OVERFLOW = {"message": "This model's maximum context length is 4096 tokens.", "code": 400}


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
    [hang(), hang(raw("{")), hang(sse(b": hello\n\n")), hang(fail(500, body="x"))],
    ids=["from the start", "in a body", "in a stream", "in an error"],
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
        assert "it cannot be reached (Connection refused). Check" in str(await alone.fails())


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
