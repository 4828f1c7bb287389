"""Commands, buttons and shortcuts: answered at once and to the asker alone; work begins in a thread."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from slackdesk import Core, desk, key_of, slack_with_people

from hermes_bot.errors import PlaceGone
from hermes_bot.messages import Button, Outgoing, Press, Reply
from hermes_bot.simulator import Fault, FaultPlan

if TYPE_CHECKING:
    from hermes_bot.messages import Incoming


def root_of(asked: Incoming) -> Outgoing:
    """Return the post that the core opens a command's thread with."""
    return Outgoing("opening/1", asked.thread, asked.opens, "notice")


async def test_a_list_comes_in_the_acknowledgement_and_to_the_asker_alone() -> None:
    core = Core(replies={"skills": Reply("log-diagnosis: finds what broke")})
    async with desk(core=core) as it:
        answer = await it.sim.slash("U1", "C1", "/hermes", "skills")
        asked = await it.core.next()
        assert (asked.text, asked.is_command, asked.user) == ("skills", True, "slack:T1:U1")
        assert answer.entry is not None
        assert (answer.entry.only_for, "log-diagnosis" in answer.entry.text) == ("U1", True)
        assert (answer.acked_ms or 0) < 500
        assert not [entry for entry in it.sim.ledger.entries if not entry.only_for]


async def test_a_long_list_comes_in_pages_to_the_asker_alone() -> None:
    lines = [f"run {number} " + "x" * 70 for number in range(150)]
    core = Core(replies={"runs": Reply("\n\n".join(lines))})
    async with desk(core=core) as it:
        await it.sim.slash("U1", "C1", "/hermes", "runs")
        await it.until(
            lambda: any("run 149 " in str(entry.raw) + entry.text for entry in it.sim.ledger.entries)
        )
        assert {entry.only_for for entry in it.sim.ledger.entries} == {"U1"}
        assert it.sim.complaints == []


async def test_a_bare_command_asks_for_help() -> None:
    async with desk() as it:
        await it.sim.slash("U1", "C1", "/hermes", "")
        assert (await it.core.next()).text == "help"


async def test_work_begins_with_a_post_that_names_who_asked_and_goes_on_in_its_thread() -> None:
    async with desk() as it:
        answer = await it.sim.slash("U1", "C1", "/hermes", "run log-diagnosis service=checkout")
        assert answer.entry is not None
        assert (answer.entry.only_for, answer.entry.text) == ("U1", "Starting in a thread…")
        asked = await it.core.next()
        assert asked.thread.is_new
        root = await it.adapter.post(root_of(asked))
        shown = await it.sim.ledger.wait_for(lambda entry: entry.id == root)
        assert shown.text == "<@U1> asked: run log-diagnosis service=checkout"
        assert shown.thread == ""
        await it.adapter.post(Outgoing("k2", replace(asked.thread, thread=root), "done"))
        assert [entry.text for entry in it.sim.ledger.seen("C1", root)][1:] == ["done"]


async def test_a_text_that_looks_like_an_opening_pings_nobody_else() -> None:
    async with desk() as it:
        await it.sim.slash("U1", "C1", "/hermes", "say <@U2> and <!channel>")
        asked = await it.core.next()
        await it.adapter.post(root_of(asked))
        forged = Outgoing("k2", key_of("new:schedule-7"), "@U2 asked: <@U3> @channel <!here>")
        await it.adapter.post(forged)
        one, two = [entry for entry in it.sim.ledger.entries if not entry.only_for]
        assert one.text.startswith("<@U1> asked: ")
        for alive in ("<@U2>", "<@U3>", "<!"):
            assert alive not in one.text + two.text


async def test_where_the_bot_is_not_the_asker_is_told_how_to_invite_it_and_nobody_else_anything() -> None:
    async with desk() as it:
        await it.sim.slash("U1", "C9", "/hermes", "run log-diagnosis service=checkout")
        asked = await it.core.next()
        with pytest.raises(PlaceGone, match="invite"):
            await it.adapter.post(root_of(asked))
        told = await it.sim.ledger.wait_for(lambda entry: "/invite" in entry.text)
        assert (told.channel, told.only_for) == ("C9", "U1")
        assert not [entry for entry in it.sim.ledger.entries if not entry.only_for]


async def test_a_command_that_cannot_be_stored_is_not_acknowledged() -> None:
    sim = slack_with_people()
    sim.windows.ack = 0.2
    async with desk(sim, core=Core(refusals=1)) as it:
        answer = await it.sim.slash("U1", "C1", "/hermes", "skills")
        assert answer.text is None or "failed" in str(answer.entry)
        assert it.core.heard.empty()


async def test_a_command_in_a_direct_message_is_read_by_one_person_alone() -> None:
    async with desk() as it:
        await it.sim.slash("U1", "D1", "/hermes", "skills")
        assert (await it.core.next()).place == "direct"


async def test_a_press_names_its_question_and_its_option_once_per_press() -> None:
    async with desk() as it:
        ts = await it.sim.say("U1", "C1", "<@UBOT> go")
        first = (await it.hear(2))[0]
        buttons = (Button("staging", Press("q1", 0)), Button("production", Press("q1", 1)))
        posted = await it.adapter.post(Outgoing("q", first.thread, "Where?", "question", buttons))
        await it.sim.press("U2", "C1", posted, label="production")
        await it.sim.press("U2", "C1", posted, label="production")
        one, two = await it.hear(2)
        assert (one.kind, one.press, one.user) == ("press", Press("q1", 1), "slack:T1:U2")
        assert one.thread == key_of(ts)
        assert one.event_id != two.event_id


async def test_the_answer_to_a_press_reaches_the_presser_alone_in_the_thread() -> None:
    core = Core(replies={"": Reply("Only ann can answer this.")})
    async with desk(core=core) as it:
        ts = await it.sim.say("U1", "C1", "<@UBOT> go")
        await it.hear(2)
        buttons = (Button("yes", Press("q1", 0)),)
        posted = await it.adapter.post(Outgoing("q", key_of(ts), "Sure?", "question", buttons))
        await it.sim.press("U2", "C1", posted, label="yes")
        told = await it.sim.ledger.wait_for(lambda entry: entry.only_for == "U2")
        assert (told.text, told.thread) == ("Only ann can answer this.", ts)
        assert [entry.text for entry in it.sim.ledger.seen("C1", ts)][-1:] != [told.text]


async def test_a_button_that_is_not_ours_gets_a_private_notice() -> None:
    async with desk() as it:
        ts = await it.sim.say("U1", "C1", "<@UBOT> go")
        await it.hear(2)
        posted = await it.adapter.post(
            Outgoing("q", key_of(ts), "Sure?", "question", (Button("yes", Press("q", 0)),))
        )
        body = {
            "type": "block_actions",
            "user": {"id": "U1", "team_id": "T1"},
            "team": {"id": "T1"},
            "container": {"type": "message", "message_ts": posted, "channel_id": "C1"},
            "channel": {"id": "C1"},
            "actions": [{"action_id": "x", "value": "who knows", "action_ts": "1.1"}],
            "response_url": "",
        }
        await it.sim.deliver(body)
        assert [message.kind for message in await it.hear_until()] == []


async def test_a_shortcut_asks_about_a_message_in_that_messages_thread() -> None:
    async with desk() as it:
        root = await it.sim.say("U2", "C1", "is db-3 down?")
        reply = await it.sim.say("U2", "C1", "it was at 97 %", thread_ts=root)
        await it.hear_until()
        await it.sim.shortcut("U1", "C1", reply, "ask_about")
        asked = (await it.hear_until())[-1]
        assert asked.text == "Please look at this message:\n> it was at 97 %"
        assert (asked.thread, asked.user, asked.joins, asked.addressed) == (
            key_of(root),
            "slack:T1:U1",
            True,
            True,
        )


async def test_a_shortcut_where_the_bot_is_not_tells_how_to_invite_it() -> None:
    async with desk() as it:
        ts = await it.sim.say("U2", "C9", "is db-3 down?")
        await it.sim.shortcut("U1", "C9", ts, "ask_about")
        asked = await it.core.next()
        with pytest.raises(PlaceGone):
            await it.adapter.post(Outgoing("k", asked.thread, "yes"))
        told = await it.sim.ledger.wait_for(lambda entry: "/invite" in entry.text)
        assert told.only_for == "U1"


async def test_an_answer_address_that_is_worn_out_costs_nothing_else() -> None:
    faults = FaultPlan(Fault("response_url", "server_error", times=-1))
    core = Core(replies={"": Reply("Only ann can answer this.")})
    async with desk(slack_with_people(faults), core=core) as it:
        ts = await it.sim.say("U1", "C1", "<@UBOT> go")
        await it.hear(2)
        posted = await it.adapter.post(
            Outgoing("q", key_of(ts), "Sure?", "question", (Button("yes", Press("q", 0)),))
        )
        await it.sim.press("U2", "C1", posted, label="yes")
        assert (await it.core.next()).kind == "press"
        assert await it.hear_until() == []
