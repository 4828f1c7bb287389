"""What the bot knows of a conversation, and what people see of its work: B-03, B-10 and B-11.

B-03: what was said before the bot was asked, and since. B-10: who said what, and whose rights count. B-11:
one answer, one status line, nothing of the inside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from clock import JumpClock
from endpoint import act, finish
from onlookers import ever_shown, showing
from places import CHAT, TEAM, with_people
from stages import stage
from world import Bench

from hermes_bot.simulator import Fault, FaultPlan
from hermes_bot.simulator.faults import ALWAYS

if TYPE_CHECKING:
    from pathlib import Path

each_chat = pytest.mark.parametrize("platform", CHAT)

ALARMS = {
    "a text": {"text": "disk 97 % on db-3"},
    "a fallback": {"fallback": "disk 97 % on db-3"},
    "a field": {"title": "disk", "fields": [{"title": "host", "value": "db-3", "short": True}]},
    "blocks": {"blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "disk 97 % on *db-3*"}}]},
}


@pytest.mark.parametrize("alarm", ALARMS)
async def test_a_first_mention_on_slack_brings_what_was_said_and_a_later_one_what_was_said_since(
    alarm: str, tmp_path: Path
) -> None:
    async with stage("slack", tmp_path, [finish("db-3"), finish("db-4 now")]) as it:
        root = await it.sim.post_as_bot("B2", "C1", "", attachments=[ALARMS[alarm]])
        await it.mention("which host?", thread=root)
        await it.heard(root)
        assert "db-3" in it.prompts[0]
        await it.sim.say("U2", "C1", "moved to db-4", thread_ts=root)
        await it.mention("and now?", thread=root)
        await it.heard(root, 2)
        assert "db-3" in it.prompts[1]
        assert "bob: moved to db-4" in it.prompts[1]
        assert len(await it.runs()) == 2


async def test_a_caption_in_the_thread_counts_as_text(tmp_path: Path) -> None:
    async with stage("slack", tmp_path, [finish("db-3")]) as it:
        root = await it.sim.say("U2", "C1", "the disk of db-3", files=[("disk.png", b"\x89PNG")])
        await it.mention("which host?", thread=root)
        await it.heard(root)
        assert "bob: the disk of db-3" in it.prompts[0]


async def test_the_message_that_a_mention_answers_on_telegram_comes_along_and_so_does_what_follows(
    tmp_path: Path,
) -> None:
    async with with_people("telegram", privacy=False) as sim:
        sim.add_user(99, "Watch", "watch_bot", is_bot=True)
        sim.set_status(TEAM, 99, "member")
        async with stage("telegram", tmp_path, [finish("db-3"), finish("db-4 now")], sim=sim) as it:
            alarm = await sim.say(99, TEAM, caption="disk 97 % on db-3", files=[("a.png", b"\x89PNG")])
            root = str(await sim.say(7, TEAM, "@my_bot which host?", reply_to=alarm))
            await it.heard(root)
            assert "Watch: disk 97 % on db-3" in it.prompts[0]
            await sim.say(8, TEAM, "moved to db-4", reply_to=int(root))
            await it.mention("and now?", thread=root)
            await it.heard(root, 2)
            assert "db-3" in it.prompts[1]
            assert "Bob: moved to db-4" in it.prompts[1]
            assert len(await it.runs()) == 2


@each_chat
async def test_each_message_reaches_the_prompt_with_its_author(platform: str, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, otherwise=finish("noted")) as it:
        thread = await it.mention("my region is EU")
        await it.heard(thread)
        await it.mention("which region am I in?", "other", thread)
        await it.heard(thread, 2)
        assert "[goal] (asked by bob)\nwhich region am I in?" in it.prompts[1].replace("Bob", "bob")
        assert "\nann: my region is EU" in it.prompts[1].replace("Ann", "ann")
        one, two = await it.runs()
        assert one.asker.endswith(f":{it.people['asker']}")
        assert two.asker.endswith(f":{it.people['other']}")


async def test_a_person_whose_name_slack_did_not_tell_at_first_is_one_person_later(tmp_path: Path) -> None:
    unasked = [
        Fault(method, "refuse", times=ALWAYS, error="internal_error")
        for method in ("users.list", "users.info")
    ]
    async with stage("slack", tmp_path, otherwise=finish("noted"), faults=FaultPlan(*unasked)) as it:
        thread = await it.mention("my region is EU")
        await it.heard(thread)
        assert "(asked by slack:T1:U1)" in it.prompts[0]
        it.sim.faults.clear()
        await it.verb("skills")  # a command comes with its author's name
        await it.mention("which region am I in?", thread=thread)
        await it.heard(thread, 2)
        assert "[goal] (asked by ann)" in it.prompts[1]
        assert "\nann: my region is EU" in it.prompts[1]


@each_chat
async def test_rights_follow_who_wrote_and_not_who_opened_the_thread(platform: str, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, otherwise=finish("noted")) as it:
        thread = await it.mention("my region is EU")
        await it.heard(thread)
        await it.mention("and which is mine?", "stranger", thread)
        await it.mention("and which is mine?", "other", thread)
        await it.until(lambda: len(it.endpoint.requests) == 2)
        await it.settle()
        assert [run.asker.rpartition(":")[2] for run in await it.runs()] == [
            it.people["asker"],
            it.people["other"],
        ]


async def test_an_answer_on_telegram_replies_to_the_message_that_asked(tmp_path: Path) -> None:
    async with stage("telegram", tmp_path, [finish("one"), finish("two")]) as it:
        first = await it.mention("my region is EU")
        await it.heard(first)
        second = await it.sim.say(8, TEAM, "@my_bot and mine?", reply_to=int(it.now(first)[0].id))
        await it.heard(first, 2)
        assert [post.reply_to for post in it.everything()] == [first, str(second)]


@each_chat
@pytest.mark.parametrize("ends", ["answer", "question", "stop"])
async def test_people_see_one_status_line_and_one_answer_and_nothing_of_the_inside(
    platform: str, ends: str, tmp_path: Path
) -> None:
    bench, clock = Bench(), JumpClock()
    bench.gate.clear()
    last = {
        "answer": finish("the answer", evidence=["echo"]),
        "question": act("request_info", question="Which one?", options=["a", "b"]),
        "stop": act("echo", word="lime"),
    }[ends]
    script = [act("echo", word="kiwi"), act("send", word="plum"), last]
    async with stage(platform, tmp_path, script, tools=bench.tools(), clock=clock) as it:
        thread = await it.mention("work")
        await bench.begun.wait()
        clock.advance(12)  # long enough for people to be told what goes on
        await it.until(lambda: showing(it))
        assert len(showing(it)) == 1
        bench.lets = 2
        bench.gate.set()
        if ends == "stop":
            await it.until(lambda: bench.ran == ["kiwi", "plum", "lime"])
            await it.mention("stop", thread=thread)
        await it.heard(thread)
        clock.advance(12)  # a status message that no answer takes is taken away
        await it.until(lambda: not showing(it))
        await it.settle()
        assert len(it.everything()) == 1
        words = ever_shown(it)
        for inside in ('{"', "kiwi", "plum", "lime", "I need", "[goal]", "request_info", "thought"):
            assert [text for text in words if inside in text] == []
