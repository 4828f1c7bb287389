"""What every call is checked for, how its arguments are read, and how it fails on purpose."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from simulator.slackside import client, refused, workspace
from slack_sdk.errors import SlackApiError

from hermes_bot.simulator import Fault, FaultPlan
from hermes_bot.simulator.faults import ALWAYS

if TYPE_CHECKING:
    from hermes_bot.simulator.slack import SlackSimulator


async def raw(slack: SlackSimulator, method: str, **request: Any) -> dict[str, Any]:
    """Call a method without the client library."""
    headers = {"Authorization": f"Bearer {slack.bot_token}"} | request.pop("headers", {})
    async with (
        aiohttp.ClientSession() as session,
        session.post(slack.base_url + method, headers=headers, **request) as response,
    ):
        answer: dict[str, Any] = await response.json()
        return answer


async def test_an_unknown_method_is_refused_and_told() -> None:
    async with workspace() as slack:
        answer = await refused(client(slack).api_call("chat.shout", json={"channel": "C1"}))
        assert answer["error"] == "unknown_method"
        assert slack.complaints == ["chat.shout: no such method."]


@pytest.mark.parametrize(
    "args",
    [
        {"channel": "C1", "text": "x", "thread": "1.1"},
        {"text": "x"},
        {"channel": "C1", "text": 7},
        {"channel": "C1", "text": "x", "thread_ts": 1767225600.0001},
        {"channel": "C1", "text": "x", "blocks": {}},
        {"channel": "C1", "text": "x", "blocks": "[{"},
        {"channel": "C1", "text": "x", "metadata": []},
        {"channel": "C1", "text": "x", "link_names": "perhaps"},
    ],
)
async def test_a_wrong_argument_is_refused_and_told(args: dict[str, Any]) -> None:
    async with workspace() as slack:
        answer = await raw(slack, "chat.postMessage", json=args)
        assert (answer["ok"], answer["error"]) == (False, "invalid_arguments")
        assert answer["response_metadata"]["messages"][0].startswith("[ERROR] ")
        assert len(slack.complaints) == 1
        assert slack.ledger.entries == []


async def test_where_it_is_not_strict_an_unknown_argument_passes() -> None:
    async with workspace(is_strict=False) as slack:
        assert (await raw(slack, "chat.postMessage", json={"channel": "C1", "text": "x", "thread": "1"}))[
            "ok"
        ]
        assert slack.complaints == []


@pytest.mark.parametrize(
    "request_",
    [
        {"json": {"channel": "C1", "text": "x", "blocks": [{"type": "divider"}]}},
        {"data": {"channel": "C1", "text": "x", "blocks": json.dumps([{"type": "divider"}])}},
        {"params": {"channel": "C1", "text": "x", "blocks": json.dumps([{"type": "divider"}])}},
        {"params": {"channel": "C1", "text": "x"}, "json": {"blocks": [{"type": "divider"}]}},
    ],
)
async def test_arguments_come_from_query_json_and_form_alike(request_: dict[str, Any]) -> None:
    async with workspace() as slack:
        assert (await raw(slack, "chat.postMessage", **request_))["ok"]
        (entry,) = slack.ledger.entries
        assert (entry.text, entry.raw["blocks"]) == ("x", [{"type": "divider"}])


async def test_arguments_come_from_multipart_too() -> None:
    async with workspace() as slack:
        form = aiohttp.FormData()
        form.add_field("channel", "C1", content_type="text/plain")
        form.add_field("text", "x", content_type="text/plain")
        assert (await raw(slack, "chat.postMessage", data=form))["ok"]


@pytest.mark.parametrize(("body", "error"), [("{", "invalid_json"), ("[]", "json_not_object")])
async def test_a_body_that_is_no_json_object_is_refused(body: str, error: str) -> None:
    async with workspace() as slack:
        headers = {"Content-Type": "application/json"}
        assert (await raw(slack, "chat.postMessage", data=body, headers=headers))["error"] == error


async def test_each_token_is_good_for_its_own_methods() -> None:
    async with workspace() as slack:
        bad = await refused(client(slack, "xoxb-bad").auth_test())
        app = await refused(client(slack, slack.app_token).auth_test())
        bot = await refused(client(slack).apps_connections_open(app_token=slack.bot_token))
        none = await raw(slack, "auth.test", headers={"Authorization": ""})
        assert [answer["error"] for answer in (bad, app, bot, none)] == [
            "invalid_auth",
            "not_allowed_token_type",
            "not_allowed_token_type",
            "not_authed",
        ]


async def test_auth_test_says_who_the_bot_is_and_what_it_was_granted() -> None:
    async with workspace() as slack:
        answer = await client(slack).auth_test()
        assert (answer["user_id"], answer["bot_id"], answer["team_id"]) == ("UBOT", "BBOT", "T1")
        assert answer.headers["x-oauth-scopes"].split(",") == sorted(slack.scopes)


async def test_a_revoked_token_is_refused() -> None:
    async with workspace() as slack:
        await slack.revoke()
        assert (await refused(client(slack).auth_test()))["error"] == "token_revoked"


@pytest.mark.parametrize(
    ("scope", "method", "args"),
    [
        ("chat:write", "chat.postMessage", {"channel": "C1", "text": "x"}),
        ("channels:history", "conversations.history", {"channel": "C1"}),
        ("groups:history", "conversations.history", {"channel": "G1"}),
        ("channels:read", "conversations.info", {"channel": "C1"}),
        ("im:write", "conversations.open", {"users": "U1"}),
        ("channels:join", "conversations.join", {"channel": "C9"}),
        ("users:read", "users.info", {"user": "U1"}),
        ("files:write", "files.getUploadURLExternal", {"filename": "a", "length": 1}),
        (
            "assistant:write",
            "assistant.threads.setTitle",
            {"channel_id": "D1", "thread_ts": "1", "title": "t"},
        ),
    ],
)
async def test_a_missing_scope_is_named(scope: str, method: str, args: dict[str, Any]) -> None:
    async with workspace() as slack:
        slack.scopes.discard(scope)
        answer = await raw(slack, method, json=args)
        assert (answer["error"], answer["needed"]) == ("missing_scope", scope)
        assert answer["provided"].split(",") == sorted(slack.scopes)


async def test_posts_are_limited_by_channel_with_a_small_burst() -> None:
    async with workspace() as slack:
        api = client(slack)
        for _ in range(5):
            await api.chat_postMessage(channel="C1", text="x")
        with pytest.raises(SlackApiError) as caught:
            await api.chat_postMessage(channel="C1", text="too soon")
        assert caught.value.response.status_code == 429
        assert caught.value.response["error"] == "ratelimited"
        assert 1 <= int(caught.value.response.headers["Retry-After"]) <= 3
        assert len(slack.ledger.entries) == 5
        assert (await api.chat_postMessage(channel="G1", text="another channel"))["ok"]


async def test_updates_are_limited_for_all_channels_together_and_speed_divides() -> None:
    for speed, expected in ((1.0, 50), (math.inf, 60)):
        async with workspace(speed=speed) as slack:
            api = client(slack)
            ts = {
                channel: (await api.chat_postMessage(channel=channel, text="x"))["ts"]
                for channel in ("C1", "G1")
            }
            for n in range(60):
                channel = ("C1", "G1")[n % 2]
                with contextlib.suppress(SlackApiError):
                    await api.chat_update(channel=channel, ts=ts[channel], text=str(n))
            statuses = Counter(call.status for call in slack.calls if call.method == "chat.update")
            assert statuses == Counter({200: expected, 429: 60 - expected})


async def test_every_call_is_recorded_with_how_it_went() -> None:
    async with workspace() as slack:
        await client(slack).chat_postMessage(channel="C1", text="x")
        await refused(client(slack).chat_postMessage(channel="C404", text="x"))
        good, bad = slack.calls
        assert (good.method, good.args["text"], good.status, good.error, good.team) == (
            "chat.postMessage",
            "x",
            200,
            "",
            "T1",
        )
        assert (bad.status, bad.error) == (200, "channel_not_found")


async def test_a_planned_rate_limit_says_when_to_come_back_and_posts_nothing() -> None:
    plan = FaultPlan(Fault("chat.postMessage", "rate_limited", retry_after=7, where="C1"))
    async with workspace(faults=plan) as slack:
        with pytest.raises(SlackApiError) as caught:
            await client(slack).chat_postMessage(channel="C1", text="x")
        assert caught.value.response.headers["Retry-After"] == "7"
        assert slack.ledger.entries == []
        assert (await client(slack).chat_postMessage(channel="C1", text="x"))["ok"]


async def test_a_lost_answer_leaves_the_post_there() -> None:
    async with workspace(faults=FaultPlan(Fault("chat.postMessage", "lost_answer"))) as slack:
        with pytest.raises(aiohttp.ClientError):
            await client(slack).chat_postMessage(channel="C1", text="x")
        assert [entry.text for entry in slack.ledger.seen("C1")] == ["x"]


@pytest.mark.parametrize(("kind", "posts"), [("server_error", 0), ("error_after", 1), ("garbage", 0)])
async def test_an_answer_that_is_no_json_is_html(kind: Any, posts: int) -> None:
    async with workspace(faults=FaultPlan(Fault("chat.postMessage", kind))) as slack:
        with pytest.raises(SlackApiError):
            await client(slack).chat_postMessage(channel="C1", text="x")
        assert len(slack.ledger.entries) == posts
        assert slack.calls[-1].error == kind


async def test_a_planned_refusal_has_the_code_that_was_planned() -> None:
    async with workspace(faults=FaultPlan(Fault("*", "refuse", error="fatal_error", times=ALWAYS))) as slack:
        for _ in range(3):
            assert (await refused(client(slack).auth_test()))["error"] == "fatal_error"


async def test_a_call_that_hangs_is_never_answered_and_a_slow_one_is() -> None:
    plan = FaultPlan(Fault("auth.test", "hang"), Fault("auth.test", "slow", delay=0.01))
    async with workspace(faults=plan) as slack:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client(slack).auth_test(), 0.2)
        assert slack.calls[-1].error == "hang"
        assert (await client(slack).auth_test())["ok"]
