"""Consent as people give and refuse it: B-31, B-35, B-41 and B-42, on Slack and on Telegram.

B-31: a card outlives the process. B-35: presses at once, late, by others. B-41: nothing but a yes is one.
B-42: the card can be read, and is over when it is over. The rest of consent is in ``test_kinds_gate.py``.
"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

import pytest
from clock import JumpClock
from dangers import (
    ADMIN,
    DONE,
    LEFT,
    MEMBER,
    OPERATOR,
    RESTART,
    WHEN,
    Ran,
    ballot,
    card,
    ended,
    entry_of,
    settings,
    told,
)
from endpoint import act
from eyes import content, read
from kinds import asked, open_questions, press_again, presses, ticked
from places import CHAT
from stages import stage

from hermes_bot.config import Approval, Approvals
from hermes_bot.simulator import FaultPlan
from hermes_bot.simulator.faults import Fault
from hermes_bot.store import audit

if TYPE_CHECKING:
    from pathlib import Path

each_chat = pytest.mark.parametrize("platform", CHAT)
TWICE = Approvals(default=Approval(approvers=2))
APART = Approvals(default=Approval(separate=True))


CARDS = {
    "slack": Fault("chat.postMessage", "refuse", error="invalid_blocks"),
    "telegram": Fault("editMessageText", "refuse", error="400", description="BUTTON_DATA_INVALID"),
}


@each_chat
async def test_a_card_says_what_will_run_why_and_who_may_and_ends_with_who_and_when(
    platform: str, tmp_path: Path
) -> None:
    ran = Ran()
    async with stage(platform, tmp_path, [RESTART, DONE], **settings(ran)) as it:
        thread, _ = await card(it)
        lines = [line for line in read(entry_of(it, -1)).words.splitlines() if line.strip()]
        assert lines == [
            "May I run this? restart",
            'service: "payments"',
            "Why I ask: it is marked as dangerous.",
            "Who may agree: one operator or admin, within 24 h.",
            "Choose one. A yes is for exactly this call, once.",
        ]
        assert ran == []
        await it.press(thread, "Approve", ADMIN)
        await ended(it, thread, "It is back.")
        over, answer = it.now(thread)
        assert (over.buttons, answer.text, ran) == ((), "It is back.", ["payments"])
        words = read(entry_of(it, 0)).words
        assert words.startswith("May I run this? restart")
        assert re.search(rf"✔ (bob|Bob) approved this, {WHEN}\.", words)
        assert "Who may" not in words
        rows = (await it.app.db.read(lambda db: audit.list_rows(db, 10)))[::-1]
        assert [(row.entry.verb, row.entry.object, row.entry.outcome) for row in rows] == [
            ("approval.ask", "restart", "asked"),
            ("approval.approve", "restart", "done"),
            ("tool.run", "restart", "done"),
        ]


@each_chat
async def test_the_whole_of_a_long_argument_is_there_before_the_card_and_comes_once(
    platform: str, tmp_path: Path
) -> None:
    ran, why = Ran(), f"{'a' * 3_997}MIDDLE{'b' * 3_997}"
    script = [act("restart", service="payments", why=why), DONE]
    more = settings(ran, approvals=TWICE)
    async with stage(platform, tmp_path, script, **more) as it:
        thread, _ = await card(it)
        file, shown = it.now(thread)
        assert (file.files, file.buttons, shown.files) == (("arguments.json",), (), ())
        assert why in content(it, entry_of(it, 0))
        words = read(entry_of(it, 1)).words
        assert "7,700 of 8,000 characters left out" in words
        assert "MIDDLE" not in words
        assert len(words) < 1_000
        await it.press(thread, "Approve", ADMIN)
        await it.until(lambda: "1 of 2" in it.now(thread)[-1].text)
        await it.press(thread, "Approve", OPERATOR)
        await ended(it, thread, "It is back.")
        assert [post.files for post in it.now(thread)] == [("arguments.json",), (), ()]


@each_chat
@pytest.mark.parametrize("sly", ["`a` *b* _c_ <d>", "```\n*b* <@U2> @here\n```", "&lt;<!channel> ``x``"])
async def test_marks_in_an_argument_are_shown_as_they_are_and_call_nobody(
    platform: str, sly: str, tmp_path: Path
) -> None:
    ran = Ran()
    script = [act("restart", service="payments", why=sly), DONE]
    async with stage(platform, tmp_path, script, **settings(ran)) as it:
        thread, _ = await card(it)
        seen = read(entry_of(it, -1))
        assert sly in "".join(seen.code)
        assert seen.live == []
        await it.press(thread, "Approve", ADMIN)
        await ended(it, thread, "It is back.")
        assert sly in "".join(read(entry_of(it, 0)).code)


@each_chat
async def test_a_card_of_signs_that_take_much_room_is_still_one_that_ends(
    platform: str, tmp_path: Path
) -> None:
    ran = Ran()
    script = [act("restart", service="payments", why="&<>`" * 70), act("restart", service="&\n" * 800), LEFT]
    async with stage(platform, tmp_path, script, **settings(ran)) as it:
        thread, _ = await card(it)
        await it.press(thread, "Deny", ADMIN)
        await it.until(lambda: it.now(thread)[-1].buttons and it.now(thread)[-1].edits < 3)
        await it.until(lambda: sum(bool(post.buttons) for post in it.now(thread)) == 1)
        await it.settle()
        await it.press(thread, "Deny", ADMIN)
        await ended(it, thread, "I left it.")
        assert all(post.buttons == () for post in it.now(thread))
        assert ran == []


@each_chat
async def test_a_no_is_told_to_the_model_and_the_same_call_is_refused_without_a_card(
    platform: str, tmp_path: Path
) -> None:
    ran = Ran()
    async with stage(platform, tmp_path, [RESTART, RESTART, LEFT], **settings(ran)) as it:
        thread, question = await card(it)
        await it.press(thread, "Deny", ADMIN)
        await ended(it, thread, "I left it.")
        assert re.search(rf"✖ (bob|Bob) denied this, {WHEN}\.", read(entry_of(it, 0)).words)
        assert [post.buttons for post in it.now(thread)] == [(), ()]
        assert "said no to exactly this" in it.prompts[1]
        assert "said no to exactly this" in it.prompts[2]
        assert ((await ballot(it, question)).state, ran) == ("denied", [])


@each_chat
@pytest.mark.parametrize("labels", [("Approve", "Deny"), ("Approve", "Approve")])
async def test_of_two_presses_in_one_instant_one_decides(
    platform: str, labels: tuple[str, str], tmp_path: Path
) -> None:
    ran = Ran()
    async with stage(platform, tmp_path, [RESTART, DONE], **settings(ran)) as it:
        thread, question = await card(it)
        actions, post = presses(it, thread), it.now(thread)[0].id

        async def press(label: str, who: str) -> None:
            if platform == "slack":
                await it.sim.press(it.people[who], "C1", post, actions[label])
            else:
                await it.sim.press(int(it.people[who]), -1001, int(post), actions[label])

        async with asyncio.TaskGroup() as group:
            group.create_task(press(labels[0], ADMIN))
            group.create_task(press(labels[1], OPERATOR))
        await it.until(lambda: len(it.now(thread)) == 2)
        await it.settle()
        decided = await ballot(it, question)
        assert ran == (["payments"] if decided.state == "granted" else [])
        assert decided.state in ({"granted"} if labels[1] == "Approve" else {"granted", "denied"})
        assert len(decided.votes) <= 1
        assert it.now(thread)[0].buttons == ()
        assert len(it.endpoint.requests) == 2


@each_chat
async def test_who_may_not_agree_is_told_in_private_who_may(platform: str, tmp_path: Path) -> None:
    ran = Ran()
    usual: dict[str, Any] = {"tools": ran.tools(), "otherwise": LEFT}
    async with stage(platform, tmp_path, [RESTART], **usual) as it:
        thread, question = await card(it)
        action, shown = presses(it, thread)["Approve"], it.now(thread)
        for who in ("asker", "stranger"):
            said = await press_again(it, thread, 0, "Approve", action, who)
            assert "operators and admins" in said
            assert len(said) <= 200
        await it.settle()
        assert it.now(thread) == shown
        assert ((await ballot(it, question)).state, ran) == ("open", [])
        noted = await it.app.db.read(lambda db: audit.list_rows(db, 2))
        assert {(one.entry.verb, one.entry.outcome) for one in noted} == {("access.approve", "refused")}


@each_chat
async def test_two_people_are_counted_and_the_card_keeps_its_buttons_until_the_second(
    platform: str, tmp_path: Path
) -> None:
    ran = Ran()
    async with stage(platform, tmp_path, [RESTART, DONE], **settings(ran, approvals=TWICE)) as it:
        thread, question = await card(it)
        assert "2 different operators or admins" in read(entry_of(it, 0)).words
        assert "1 of 2" in await told(it, thread, "Approve", ADMIN)
        await it.settle()
        (counted,) = it.now(thread)
        assert counted.buttons == ("Approve", "Deny")
        words = read(entry_of(it, 0)).words
        assert re.search("✔ 1 of 2 agreed: (bob|Bob)", words)
        assert 'service: "payments"' in words
        assert "agreed already" in await told(it, thread, "Approve", ADMIN)
        assert ran == []
        await it.press(thread, "Approve", OPERATOR)
        await ended(it, thread, "It is back.")
        assert re.search(r"✔ (bob, eve|Bob, Eve) approved this", read(entry_of(it, 0)).words)
        assert (it.now(thread)[0].buttons, ran) == ((), ["payments"])
        assert len((await ballot(it, question)).votes) == 2


@each_chat
async def test_a_list_of_what_waits_names_the_call_in_one_line(platform: str, tmp_path: Path) -> None:
    ran = Ran()
    async with stage(platform, tmp_path, [RESTART], **settings(ran)) as it:
        thread, _ = await card(it)
        (run,) = await it.runs()
        said = (await it.verb("questions", thread=thread)).replace("`", "").replace("• ", "")
        assert said == f'May I run this? restart {{"service":"payments"}} (run {run.id})'


@each_chat
async def test_whoever_asked_cannot_agree_where_somebody_else_must(platform: str, tmp_path: Path) -> None:
    ran = Ran()
    async with stage(platform, tmp_path, [RESTART, DONE], **settings(ran, approvals=APART)) as it:
        thread = await it.mention("restart payments", ADMIN)
        await it.heard(thread)
        await it.settle()
        assert "but not whoever asked for it" in read(entry_of(it, 0)).words
        assert "somebody else must approve" in await told(it, thread, "Approve", ADMIN)
        assert ran == []
        await it.press(thread, "Approve", OPERATOR)
        await ended(it, thread, "It is back.")
        assert ran == ["payments"]


@each_chat
async def test_silence_is_reminded_of_then_over_and_no_button_stays(platform: str, tmp_path: Path) -> None:
    ran, clock = Ran(), JumpClock()
    async with stage(platform, tmp_path, [RESTART], **settings(ran, clock=clock)) as it:
        thread, question = await card(it)
        action = presses(it, thread)["Approve"]
        clock.advance(11 * 60)
        await ticked(it)
        reminder = (await it.heard(thread, 2))[1]
        assert reminder.buttons == ("Approve", "Deny")
        words = read(entry_of(it, 1)).words
        assert words.startswith("Still waiting for a yes or a no: May I run this? restart")
        assert 'service: "payments"' in words
        assert "Why I ask" not in words
        clock.advance(24 * 3_600)
        await ticked(it)
        await ended(it, thread, "in time, so it was not run")
        for number in (0, 1):
            assert it.now(thread)[number].buttons == ()
            assert "Nobody answered in time" in read(entry_of(it, number)).words
        assert "expired" in await press_again(it, thread, 0, "Approve", action, ADMIN)
        await it.settle()
        assert ((await ballot(it, question)).state, ran) == ("expired", [])


@each_chat
@pytest.mark.parametrize("said", ["Approve", "1", " approve "])
async def test_an_approver_may_type_it_and_a_bystanders_same_words_are_none(
    platform: str, said: str, tmp_path: Path
) -> None:
    ran = Ran()
    async with stage(platform, tmp_path, [RESTART, DONE], **settings(ran)) as it:
        thread, question = await card(it)
        await it.follow(thread, said, MEMBER)
        await it.until(lambda: len(it.whispers()) + len(it.now(thread)) == 2)
        assert "operators and admins" in (it.whispers() or [post.text for post in it.now(thread)])[-1]
        assert ((await ballot(it, question)).state, ran) == ("open", [])
        await it.follow(thread, said, ADMIN)
        await ended(it, thread, "It is back.")
        assert ran == ["payments"]


@each_chat
@pytest.mark.parametrize("said", ["ok", "yes, do it", "👍", "continue", "Approve it all"])
async def test_other_words_are_no_consent_whoever_says_them(platform: str, said: str, tmp_path: Path) -> None:
    ran = Ran()
    async with stage(platform, tmp_path, [RESTART], **settings(ran)) as it:
        thread, question = await card(it)
        for who in (MEMBER, ADMIN):
            await it.follow(thread, said, who)
        await it.stored(3)
        await it.settle()
        assert ((await ballot(it, question)).state, ran) == ("open", [])
        assert it.now(thread)[0].buttons == ("Approve", "Deny")


@each_chat
async def test_a_yes_to_another_question_is_no_consent(platform: str, tmp_path: Path) -> None:
    ran = Ran()
    sure = act("request_info", question="Sure?", options=["yes", "no"])
    async with stage(platform, tmp_path, [sure, RESTART], **settings(ran)) as it:
        thread, _ = await asked(it)
        action = presses(it, thread)["yes"]
        await it.press(thread, "yes", ADMIN)
        await it.until(lambda: it.now(thread)[-1].buttons == ("Approve", "Deny"))
        await it.settle()
        await press_again(it, thread, 0, "yes", action, ADMIN)
        await it.settle()
        (still,) = await open_questions(it)
        assert ((await ballot(it, still.question.id)).state, ran) == ("open", [])


@each_chat
async def test_a_refused_card_is_asked_in_plain_text_with_the_same_arguments(
    platform: str, tmp_path: Path
) -> None:
    ran, sly = Ran(), "`a` *b* _c_ <d>"
    script = [act("restart", service="payments", why=sly), DONE]
    more = settings(ran, faults=FaultPlan(CARDS[platform]))
    async with stage(platform, tmp_path, script, **more) as it:
        thread, question = await asked(it, "restart payments")
        (plain,) = it.now(thread)
        words = read(entry_of(it, 0)).words
        assert plain.buttons == ()
        assert f'service: "payments"\nwhy: "{sly}"' in words
        assert re.sub(r"[*`]", "", words.splitlines()[0]) == "May I run this? restart"
        assert words.splitlines()[-2:] == ["1. Approve", "2. Deny"]
        await it.follow(thread, "1", MEMBER)
        await it.stored(2)
        await it.settle()
        assert ((await ballot(it, question)).state, ran) == ("open", [])
        await it.follow(thread, "1", ADMIN)
        await ended(it, thread, "It is back.")
        assert ran == ["payments"]
