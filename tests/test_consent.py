"""Consent: what is dangerous, and what would carry data out, waits for the people who may agree to it."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from clock import FakeClock
from endpoint import act, finish, held

from hermes_bot.config import Access, Approval, Approvals
from hermes_bot.platforms import StoreRecords
from hermes_bot.state import APPROVE, DENY
from hermes_bot.store import approvals, audit

if TYPE_CHECKING:
    from pathlib import Path

from agreeing import NO, PEOPLE, RESTART, YES, Ran, bot, card_of


async def test_a_dangerous_action_waits_for_a_yes_and_then_runs_once(tmp_path: Path) -> None:
    ran = Ran()
    async with bot(tmp_path, ran, RESTART, finish("It is back.", evidence=["restart"])) as it:
        talk = it.talk()
        await talk.say("restart payments")
        card, asked = await card_of(it, talk)
        assert 'service: "payments"' in card.text
        assert "operator or admin" in card.text
        assert [button.label for button in card.buttons] == [APPROVE, DENY]
        assert ran == []
        await talk.press(asked, YES, "op")
        assert (await talk.heard()).text == "It is back."
        assert ran == ["payments"]
        (_, closed) = it.world.edits[-1]
        assert not closed.buttons
        assert "`op` approved this, 20" in closed.text


async def test_a_no_is_an_observation_and_the_same_call_is_not_asked_again(tmp_path: Path) -> None:
    ran = Ran()
    async with bot(tmp_path, ran, RESTART, RESTART, finish("They said no.", evidence=[])) as it:
        talk = it.talk()
        await talk.say("restart payments")
        _, asked = await card_of(it, talk)
        await talk.press(asked, NO, "op")
        assert "They said no." in (await talk.heard()).text
        assert ran == []
        assert sum(1 for post in it.world.posts if post.buttons) == 1
        assert "op said no to exactly this" in it.prompts[1]


async def test_a_changed_argument_needs_a_consent_of_its_own(tmp_path: Path) -> None:
    ran = Ran()
    other = act("restart", service="payments-db")
    async with bot(tmp_path, ran, RESTART, other) as it:
        talk = it.talk()
        await talk.say("restart payments")
        _, first = await card_of(it, talk)
        await talk.press(first, YES, "op")
        card, second = await card_of(it, talk)
        assert second != first
        assert '"payments-db"' in card.text
        assert ran == ["payments"]


async def test_a_yes_is_for_one_use(tmp_path: Path) -> None:
    ran = Ran()
    async with bot(tmp_path, ran, RESTART, finish("back", evidence=["restart"])) as it:
        talk = it.talk()
        await talk.say("restart payments")
        _, asked = await card_of(it, talk)
        await talk.press(asked, YES, "op")
        await talk.heard()
        (run,) = await it.runs()
        assert (await it.state(run.id)).rulings == ()
        late = await talk.press(asked, YES, "boss")
        assert late
        assert "already answered" in late.text
        assert ran == ["payments"]


@pytest.mark.parametrize("said", ["ok", "", "yes do it", "👍", "continue"])
async def test_what_others_say_in_passing_is_no_consent(tmp_path: Path, said: str) -> None:
    ran = Ran()
    async with bot(tmp_path, ran, RESTART) as it:
        talk = it.talk()
        await talk.say("restart payments")
        _, asked = await card_of(it, talk)
        await talk.say(said, "u2")
        await it.settle()
        ballot = await it.app.db.read(lambda db: approvals.get(db, asked))
        assert ballot
        assert (ballot.state, ran) == ("open", [])


@pytest.mark.parametrize(("user", "hint"), [("u1", "operators and admins"), ("u9", "operators and admins")])
async def test_who_may_not_approve_is_told_who_may(tmp_path: Path, user: str, hint: str) -> None:
    ran = Ran()
    async with bot(tmp_path, ran, RESTART) as it:
        talk = it.talk()
        await talk.say("restart payments")
        _, asked = await card_of(it, talk)
        reply = await talk.press(asked, YES, user)
        assert reply
        assert hint in reply.text
        rows = await it.app.db.read(lambda db: audit.list_rows(db, 3))
        assert (rows[0].entry.verb, rows[0].entry.outcome) == ("access.approve", "refused")
        assert ran == []


async def test_two_different_people_must_agree_where_the_terms_say_two(tmp_path: Path) -> None:
    ran = Ran()
    terms = Approvals(tools={"rest*": Approval(approvers=2)})
    async with bot(tmp_path, ran, RESTART, approvals=terms) as it:
        talk = it.talk()
        await talk.say("restart payments")
        card, asked = await card_of(it, talk)
        assert "2 different operators or admins" in card.text
        first = await talk.press(asked, YES, "op")
        assert first
        assert first.text == "Noted: 1 of 2 agreed."
        again = await talk.press(asked, YES, "op")
        assert again
        assert "agreed already" in again.text
        await it.quiet()
        (_, counted) = it.world.edits[-1]
        assert "1 of 2 agreed: `op`" in counted.text
        assert counted.buttons == card.buttons
        assert ran == []
        await talk.press(asked, YES, "boss")
        assert "done" in (await talk.heard()).text
        assert ran == ["payments"]


async def test_one_no_of_two_is_enough(tmp_path: Path) -> None:
    ran = Ran()
    terms = Approvals(default=Approval(approvers=2))
    async with bot(tmp_path, ran, RESTART, approvals=terms) as it:
        talk = it.talk()
        await talk.say("restart payments")
        _, asked = await card_of(it, talk)
        await talk.press(asked, YES, "op")
        await talk.press(asked, NO, "boss")
        await talk.heard()
        assert ran == []


async def test_who_asked_cannot_agree_where_it_must_be_somebody_else(tmp_path: Path) -> None:
    ran = Ran()
    terms = Approvals(default=Approval(separate=True))
    async with bot(tmp_path, ran, RESTART, approvals=terms) as it:
        talk = it.talk()
        await talk.say("restart payments", "op")
        _, asked = await card_of(it, talk)
        reply = await talk.press(asked, YES, "op")
        assert reply
        assert "somebody else must approve" in reply.text
        assert ran == []
        await talk.press(asked, YES, "op2")
        await talk.heard()
        assert ran == ["payments"]


async def test_who_added_the_wish_cannot_agree_to_it_where_it_must_be_somebody_else(tmp_path: Path) -> None:
    ran, go = Ran(), asyncio.Event()
    terms = Approvals(default=Approval(separate=True))
    async with bot(tmp_path, ran, held(act("page", page="1"), go), RESTART, approvals=terms) as it:
        talk = it.talk()
        await talk.say("look at payments")
        await it.until(lambda: len(it.prompts) == 1)
        await talk.say("and restart it", "op")
        go.set()
        _, asked = await card_of(it, talk)
        reply = await talk.press(asked, YES, "op")
        assert reply
        assert "somebody else must approve" in reply.text
        await talk.press(asked, YES, "op2")
        await talk.heard()
        assert ran == ["page 1", "payments"]


async def test_where_nobody_could_agree_nothing_is_asked_and_nothing_runs(tmp_path: Path) -> None:
    ran = Ran()
    alone = Access(channels=("world:T1:*",), operators=("world:T1:op",))
    terms = Approvals(default=Approval(separate=True))
    async with bot(tmp_path, ran, RESTART, access=alone, approvals=terms) as it:
        talk = it.talk()
        await talk.say("restart payments", "op")
        assert not (await talk.heard()).buttons
        assert "nobody_to_ask" in it.prompts[1]
        assert ran == []


async def test_the_operators_file_alone_can_say_always(tmp_path: Path) -> None:
    ran = Ran()
    terms = Approvals(tools={"restart": Approval(always=True)})
    async with bot(tmp_path, ran, RESTART, approvals=terms) as it:
        await it.talk().say("restart payments")
        await it.talk().heard()
        assert ran == ["payments"]


async def test_silence_is_no_consent_it_is_reminded_after_ten_minutes_and_over_after_a_day(
    tmp_path: Path,
) -> None:
    ran = Ran()
    async with bot(tmp_path, ran, RESTART) as it:
        talk = it.talk()
        await talk.say("restart payments")
        _, asked = await card_of(it, talk)
        await it.pass_time(11 * 60)
        assert "Still waiting" in (await talk.heard()).text
        await it.pass_time(timedelta(hours=24).total_seconds(), step=3600)
        assert "Nobody agreed to `restart` in time" in (await talk.heard()).text
        ballot = await it.app.db.read(lambda db: approvals.get(db, asked))
        assert ballot
        assert (ballot.state, ran) == ("expired", [])
        late = await talk.press(asked, YES, "op")
        assert late
        assert "expired" in late.text


async def test_a_consent_survives_the_process_and_the_action_runs_once(tmp_path: Path) -> None:
    ran, clock = Ran(), FakeClock()
    async with bot(tmp_path, ran, RESTART, clock=clock) as it:
        talk = it.talk()
        await talk.say("restart payments")
        _, asked = await card_of(it, talk)
    async with bot(tmp_path, ran, finish("back", evidence=["restart"]), clock=clock) as it:
        talk = it.talk()
        await talk.press(asked, YES, "op")
        assert (await talk.heard()).text == "back"
        assert ran == ["payments"]


async def test_what_somebody_else_wrote_is_no_consent_when_it_is_forwarded(tmp_path: Path) -> None:
    ran = Ran()
    async with bot(tmp_path, ran, RESTART) as it:
        talk = it.talk()
        await talk.say("restart payments")
        _, asked = await card_of(it, talk)
        reply = await talk.say(APPROVE, "op", quotes=True)
        assert reply
        assert "no consent of yours" in reply.text
        await it.quiet()
        assert ran == []
        await talk.press(asked, YES, "op")
        await talk.heard()
        assert ran == ["payments"]


async def test_the_terms_of_a_place_hold_when_it_gets_another_id(tmp_path: Path) -> None:
    ran = Ran()
    terms = Approvals(places={"world:T1:C1": Approval(approvers=2)})
    async with bot(tmp_path, ran, RESTART, approvals=terms) as it:
        moved = it.app.gate.policy.moved
        assert isinstance(moved, dict)
        await it.talk().say("restart payments")
        _, asked = await card_of(it, it.talk())
        await StoreRecords(it.app.db, it.clock, "world", moved).move_channel("T1", "C1", "C7")
        talk = it.talk(channel="C7")
        counted = await talk.press(asked, YES, "op")
        assert counted
        assert counted.text == "Noted: 1 of 2 agreed."
        assert ran == []
        await talk.press(asked, YES, "boss")
        await talk.heard()
        assert ran == ["payments"]


async def test_a_right_that_is_gone_when_the_action_would_run_is_none(tmp_path: Path) -> None:
    ran, clock = Ran(), FakeClock()
    terms = Approvals(default=Approval(approvers=2))
    async with bot(tmp_path, ran, RESTART, clock=clock, approvals=terms) as it:
        talk = it.talk()
        await talk.say("restart payments")
        _, asked = await card_of(it, talk)
        await talk.press(asked, YES, "op")
    now = PEOPLE.model_copy(update={"operators": ("world:T1:op2",)})
    async with bot(tmp_path, ran, clock=clock, approvals=terms, access=now) as it:
        talk = it.talk()
        await talk.press(asked, YES, "boss")
        await talk.heard()
        assert "consent_gone" in it.prompts[0]
        assert ran == []


MAIL = act("mail", to="all", text="hello")


@pytest.mark.parametrize(
    ("before", "asks"),
    [
        ((), False),
        ((act("page", page="1"),), True),
        ((act("ledger", name="a"),), True),
        ((act("page", page="1"), act("ledger", name="a")), True),
    ],
    ids=["clean", "tainted", "private", "both"],
)
async def test_a_way_out_is_open_only_to_a_run_that_read_nothing_from_outside_and_nothing_private(
    tmp_path: Path, before: tuple[Any, ...], *, asks: bool
) -> None:
    ran = Ran()
    async with bot(tmp_path, ran, *before, MAIL) as it:
        talk = it.talk()
        await talk.say("tell all")
        post = await talk.heard()
        assert bool(post.buttons) is asks
        assert ("all: hello" in ran) is not asks


async def test_an_address_may_not_carry_private_data_out_of_a_run_that_read_from_outside(
    tmp_path: Path,
) -> None:
    ran = Ran()
    script = act("page", page="1"), act("ledger", name="a"), act("page", page="owes-7")
    async with bot(tmp_path, ran, *script) as it:
        talk = it.talk()
        await talk.say("compare", place="private")
        card, _ = await card_of(it, talk)
        assert "owes-7" in card.text
        assert "`page: pages.example`" in card.text
        assert ran == ["page 1"]


async def test_what_outlives_a_run_that_read_from_outside_is_agreed_to_first(tmp_path: Path) -> None:
    ran = Ran()
    async with bot(tmp_path, ran, act("page", page="1"), act("keep", text="x")) as it:
        talk = it.talk()
        await talk.say("read")
        await card_of(it, talk)
        assert ran == ["page 1"]


@pytest.mark.parametrize("keeps", [False, True], ids=["told", "kept"])
async def test_what_a_task_told_of_private_data_is_private_to_the_next_one(
    tmp_path: Path, *, keeps: bool
) -> None:
    ran = Ran()
    note = act("remember", text="Ada owes 7.", scope="channel")
    first = [
        act("ledger", name="Ada"),
        *([note] if keeps else ()),
        finish("Ada owes 7.", evidence=["ledger"]),
    ]
    async with bot(tmp_path, ran, *first, MAIL) as it:
        await it.talk().say("who owes what?")
        await it.talk().heard()
        talk = it.talk("2" if keeps else "1")
        await talk.say("tell all what Ada owes")
        assert (await talk.heard()).buttons
        (*_, run) = await it.runs()
        assert (await it.state(run.id)).is_private
        assert ran == []
