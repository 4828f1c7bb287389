"""Commands, presses, shortcuts, forms, and answers to them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from simulator.slackside import client, listening, refused, workspace
from slack_sdk.webhook.async_client import AsyncWebhookClient

from hermes_bot.simulator import Entry

if TYPE_CHECKING:
    from hermes_bot.simulator.slack import SlackSimulator

Block = dict[str, Any]
PROMPTS = "assistant.threads.setSuggestedPrompts"  # by its name: older clients want a thread for it


def question(*labels: str) -> list[Block]:
    elements = [
        {
            "type": "button",
            "action_id": f"answer:{n}",
            "value": f"q1:{n}",
            "text": {"type": "plain_text", "text": label},
        }
        for n, label in enumerate(labels)
    ]
    return [{"type": "actions", "block_id": "q1", "elements": elements}]


async def asked(slack: SlackSimulator, thread: str = "", channel: str = "C1") -> str:
    posted = await client(slack).chat_postMessage(
        channel=channel, text="Which?", blocks=question("This week", "Last week"), thread_ts=thread or None
    )
    return str(posted["ts"])


async def test_a_command_answered_with_its_acknowledgement_is_seen_by_the_asker_alone() -> None:
    async with workspace() as slack, listening(slack) as bot:
        bot.payload = {"text": "log-diagnosis"}
        got = await slack.slash("U1", "C1", "/hermes", "skills")
        request = await bot.request()
        assert (request.type, request.accepts_response_payload) == ("slash_commands", True)
        payload = request.payload
        assert (payload["command"], payload["text"], payload["user_id"]) == ("/hermes", "skills", "U1")
        assert "ts" not in payload
        assert got.acked_ms is not None
        assert (got.text, got.blocks) == ("log-diagnosis", [])
        assert [entry.text for entry in slack.ledger.seen("C1", viewer="U1")] == ["log-diagnosis"]
        assert slack.ledger.seen("C1") == []


async def test_a_command_answered_for_all_shows_the_command_too() -> None:
    async with workspace() as slack, listening(slack) as bot:
        bot.payload = {"response_type": "in_channel", "text": "done"}
        await slack.slash("U1", "C1", "/hermes", "run")
        assert [(e.author, e.text) for e in slack.ledger.seen("C1")] == [
            ("U1", "/hermes run"),
            ("UBOT", "done"),
        ]


async def test_a_command_nobody_takes_in_time_fails_visibly_and_never_comes_again() -> None:
    async with workspace(retry_seconds=(0, 0, 0)) as slack, listening(slack) as bot:
        slack.windows.ack = 0.05
        bot.acks = lambda _request: False
        got = await slack.slash("U1", "C1", "/hermes", "skills")
        assert got.acked_ms is None
        assert got.entry is not None
        assert (got.entry.author, got.entry.only_for) == ("USLACKBOT", "U1")
        assert "operation_timeout" in got.entry.text
        await bot.request()
        assert bot.heard.empty()


@pytest.mark.parametrize(
    ("channel", "name"), [("D1", "directmessage"), ("G9", "privategroup"), ("C9", "elsewhere")]
)
async def test_a_command_works_where_the_bot_is_not_and_only_its_response_url_does(
    channel: str, name: str
) -> None:
    async with workspace() as slack, listening(slack) as bot:
        await slack.slash("U1", channel, "/hermes", "run x")
        payload = (await bot.request()).payload
        assert payload["channel_name"] == name
        response = await AsyncWebhookClient(payload["response_url"]).send(text="invite me")
        assert (response.status_code, response.body) == (200, "ok")
        assert [entry.text for entry in slack.ledger.seen(channel, viewer="U1")] == ["invite me"]


async def test_a_response_url_is_good_for_five_uses_and_half_an_hour() -> None:
    async with workspace() as slack, listening(slack) as bot:
        await slack.slash("U1", "C1", "/hermes")
        hook = AsyncWebhookClient((await bot.request()).payload["response_url"])
        assert [(await hook.send(text=str(n))).status_code for n in range(6)] == [200] * 5 + [404]
        slack.windows.response = -1.0
        await slack.slash("U1", "C1", "/hermes")
        late = AsyncWebhookClient((await bot.request()).payload["response_url"])
        assert (await late.send(text="x")).status_code == 404
        assert len(slack.ledger.seen("C1", viewer="U1")) == 5
        assert [call.status for call in slack.calls if call.method == "response_url"] == [200] * 5 + [404] * 2


@pytest.mark.parametrize("body", ['{"text": ""}', '{"text": "x", "colour": "red"}', "[]", "{"])
async def test_a_response_that_says_nothing_or_nonsense_is_refused_and_told(body: str) -> None:
    async with workspace() as slack, listening(slack) as bot, aiohttp.ClientSession() as session:
        await slack.slash("U1", "C1", "/hermes")
        url = (await bot.request()).payload["response_url"]
        async with session.post(url, data=body) as response:
            assert response.status == 400
        assert len(slack.complaints) == 1


async def test_a_press_carries_button_message_and_thread() -> None:
    async with workspace() as slack, listening(slack) as bot:
        root = await slack.say("U1", "D1", "ask me")
        ts = await asked(slack, root, "D1")
        await bot.event(), await bot.event()
        answer = await slack.press("U1", "D1", ts, label="Last week")
        assert answer.acked_ms is not None
        request = await bot.request()
        payload = request.payload
        assert (request.type, request.accepts_response_payload) == ("interactive", False)
        assert (payload["type"], payload["user"]["id"], payload["team"]["id"]) == (
            "block_actions",
            "U1",
            "T1",
        )
        (action,) = payload["actions"]
        assert (action["action_id"], action["block_id"], action["value"]) == ("answer:1", "q1", "q1:1")
        container = payload["container"]
        assert (container["message_ts"], container["thread_ts"], container["is_ephemeral"]) == (
            ts,
            root,
            False,
        )
        assert payload["message"]["ts"] == ts


async def test_a_button_that_was_replaced_can_still_be_pressed_by_who_did_not_see_it() -> None:
    async with workspace() as slack, listening(slack) as bot:
        ts = await asked(slack)
        await client(slack).chat_update(channel="C1", ts=ts, text="Answered.", blocks=[])
        await bot.event(), await bot.event()
        assert slack.ledger.entries[0].buttons == []
        await slack.press("U2", "C1", ts, "answer:0")
        payload = (await bot.request()).payload
        assert payload["actions"][0]["value"] == "q1:0"
        assert payload["message"]["blocks"][0]["block_id"] == "q1"


async def test_two_people_can_press_in_one_instant() -> None:
    async with workspace() as slack, listening(slack) as bot:
        ts = await asked(slack)
        await bot.event()
        async with asyncio.TaskGroup() as group:
            for user in ("U1", "U2"):
                group.create_task(slack.press(user, "C1", ts, "answer:0"))
        users = {(await bot.request()).payload["user"]["id"] for _ in range(2)}
        assert users == {"U1", "U2"}


async def test_a_press_nobody_takes_is_seen_as_that() -> None:
    async with workspace() as slack:
        ts = await asked(slack)
        assert (await slack.press("U1", "C1", ts, "answer:0")).acked_ms is None


async def test_a_button_on_an_ephemeral_is_its_viewers_and_changes_by_response_url_alone() -> None:
    async with workspace() as slack, listening(slack) as bot:
        shown = await client(slack).chat_postEphemeral(
            channel="C1", user="U1", text="Which?", blocks=question("This week")
        )
        ts = shown["message_ts"]
        with pytest.raises(LookupError, match="for U1 alone"):
            await slack.press("U2", "C1", ts, "answer:0")
        await slack.press("U1", "C1", ts, "answer:0")
        payload = (await bot.request()).payload
        assert payload["container"]["is_ephemeral"]
        assert "message" not in payload
        hook = AsyncWebhookClient(payload["response_url"])
        await hook.send(text="This week.", replace_original=True)
        (entry,) = slack.ledger.seen("C1", viewer="U1")
        assert (entry.text, entry.buttons) == ("This week.", [])
        await hook.send(delete_original=True)
        assert slack.ledger.seen("C1", viewer="U1") == []


async def test_a_press_can_be_answered_in_place_or_to_the_presser_alone() -> None:
    async with workspace() as slack, listening(slack) as bot:
        ts = await asked(slack)
        await bot.event()
        await slack.press("U2", "C1", ts, "answer:0")
        hook = AsyncWebhookClient((await bot.request()).payload["response_url"])
        await hook.send(text="Only U1 may.", response_type="ephemeral", replace_original=False)
        assert [entry.text for entry in slack.ledger.seen("C1")] == ["Which?"]
        assert [entry.text for entry in slack.ledger.seen("C1", viewer="U2")] == ["Which?", "Only U1 may."]
        await hook.send(text="Settled.", replace_original=True)
        assert [entry.text for entry in slack.ledger.seen("C1")] == ["Settled."]
        assert (await bot.event())["subtype"] == "message_changed"


async def test_a_button_that_never_was_is_an_error_of_the_test() -> None:
    async with workspace() as slack:
        ts = await asked(slack)
        with pytest.raises(LookupError, match=r"answer:0 \(This week\)"):
            await slack.press("U1", "C1", ts, "nothing")


async def test_a_shortcut_carries_the_message_it_was_used_on() -> None:
    async with workspace() as slack, listening(slack) as bot:
        root = await slack.say("U1", "C9", "odd")
        await slack.shortcut("U1", "C9", root, "ask_about")
        payload = (await bot.request()).payload
        assert (payload["type"], payload["callback_id"]) == ("message_action", "ask_about")
        assert (payload["message"]["ts"], payload["channel"]["id"]) == (root, "C9")


async def test_a_trigger_opens_one_modal_within_three_seconds() -> None:
    view = {"type": "modal", "title": {"type": "plain_text", "text": "T"}, "blocks": [{"type": "divider"}]}
    async with workspace() as slack, listening(slack) as bot:
        api = client(slack)
        await slack.slash("U1", "C1", "/hermes")
        trigger = (await bot.request()).payload["trigger_id"]
        opened = (await api.views_open(trigger_id=trigger, view=view))["view"]
        again = await refused(api.views_open(trigger_id=trigger, view=view))
        slack.windows.trigger = -1.0
        await slack.slash("U1", "C1", "/hermes")
        late = await refused(
            api.views_open(trigger_id=(await bot.request()).payload["trigger_id"], view=view)
        )
        unknown = await refused(api.views_open(trigger_id="1.2.3", view=view))
        assert [answer["error"] for answer in (again, late, unknown)] == [
            "exchanged_trigger_id",
            "expired_trigger_id",
            "invalid_trigger_id",
        ]
        stale = api.views_update(view_id=opened["id"], view=view, hash="old")
        assert (await refused(stale))["error"] == "hash_conflict"
        assert (await api.views_update(view_id=opened["id"], view=view, hash=opened["hash"]))["ok"]
        bot.payload = {"response_action": "clear"}
        values = {"reason": {"text": {"type": "plain_text_input", "value": "because"}}}
        sent = await slack.submit("U1", opened["id"], values)
        request = await bot.request()
        assert sent.payload == {"response_action": "clear"}
        assert request.payload["view"]["state"]["values"] == values
        assert request.accepts_response_payload


async def test_a_modal_over_its_limits_is_refused() -> None:
    async with workspace() as slack, listening(slack) as bot:
        await slack.slash("U1", "C1", "/hermes")
        trigger = (await bot.request()).payload["trigger_id"]
        view = {
            "type": "modal",
            "title": {"type": "plain_text", "text": "T" * 25},
            "blocks": [{"type": "divider"}],
        }
        answer = await refused(client(slack).views_open(trigger_id=trigger, view=view))
        assert answer["error"] == "invalid_arguments"


async def test_a_status_stands_until_it_is_cleared_or_the_bot_posts_or_its_time_is_up() -> None:
    async with workspace() as slack:
        root = await slack.say("U1", "C1", "hi")
        api, key = client(slack), ("C1", root)
        await api.assistant_threads_setStatus(channel_id="C1", thread_ts=root, status="is thinking")
        await api.assistant_threads_setStatus(channel_id="C1", thread_ts=root, status="")
        await api.assistant_threads_setStatus(channel_id="C1", thread_ts=root, status="is reading")
        await api.chat_postMessage(channel="C1", text="done", thread_ts=root)
        assert slack.statuses[key] == ["is thinking", "", "is reading", ""]
        slack.windows.status = 0.01
        watch = slack.ledger.watch()
        await api.assistant_threads_setStatus(channel_id="C1", thread_ts=root, status="is slow")
        shown = [await anext(watch), await anext(watch)]
        about = [change.entry for change in shown if not isinstance(change.entry, Entry)]
        assert [entry["status"] for entry in about] == ["is slow", ""]


async def test_what_the_agent_surface_does_not_take_is_refused() -> None:
    async with workspace() as slack:
        slack.scopes.add("assistant:write")
        api = client(slack)
        prompts = [{"title": "t", "message": "m"}]
        assert (await api.assistant_threads_setTitle(channel_id="D1", thread_ts="1.1", title="t"))["ok"]
        assert (await api.api_call(PROMPTS, json={"channel_id": "D1", "prompts": prompts}))["ok"]
        many = api.api_call(PROMPTS, json={"channel_id": "D1", "prompts": prompts * 5})
        assert (await refused(many))["error"] == "invalid_arguments"
        outside = api.assistant_threads_setTitle(channel_id="C1", thread_ts="1.1", title="t")
        assert (await refused(outside))["error"] == "channel_not_found"
        odd = api.api_call("agents.sessions.setStatus", json={"channel_id": "D1", "status": "busy"})
        assert (await refused(odd))["error"] == "invalid_status"


async def test_a_reaction_is_added_and_taken_back_once() -> None:
    async with workspace() as slack:
        ts = await slack.say("U1", "C1", "x")
        api = client(slack)
        await api.reactions_add(channel="C1", timestamp=ts, name="eyes")
        again = await refused(api.reactions_add(channel="C1", timestamp=ts, name="eyes"))
        message = (await api.conversations_history(channel="C1"))["messages"][0]
        assert message["reactions"] == [{"name": "eyes", "users": ["UBOT"], "count": 1}]
        await api.reactions_remove(channel="C1", timestamp=ts, name="eyes")
        none = await refused(api.reactions_remove(channel="C1", timestamp=ts, name="eyes"))
        gone = await refused(api.reactions_add(channel="C1", timestamp="1.1", name="eyes"))
        assert [answer["error"] for answer in (again, none, gone)] == [
            "already_reacted",
            "no_reaction",
            "message_not_found",
        ]
