"""Who is meant, and where the answer goes: B-01, B-02, B-04, B-05 and B-06, on Slack and on Telegram.

B-01: the answers of two threads at once; each thing that is posted. B-02: threads, channels, workspaces,
private chats. B-04: follow-ups. B-05: people's talk. B-06: mentions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from endpoint import act, fail, finish
from places import CHAT, TEAM, slack_with_people, with_people
from stages import stage
from world import Bench

from hermes_bot.config import Access

if TYPE_CHECKING:
    from pathlib import Path

    from endpoint import Answer
    from stages import Stage

each_chat = pytest.mark.parametrize("platform", CHAT)


def echo_task(request: dict[str, Any]) -> Answer:
    """Answer with the last line of the task; first run a tool where the task says "slow"."""
    prompt = str(request["messages"][-1]["content"])
    task = prompt.split("[goal]", 1)[1].split("\n\n", 1)[0].splitlines()[-1]
    if "slow" in task and "[round 1]" not in prompt:
        return act("echo", word=task)
    return finish(f"done: {task}", evidence=["echo"] if "slow" in task else [])


async def talk_of_two(it: Stage) -> str:
    """Let two people talk where the bot is, and return the thread; the bot takes no part in it."""
    root = await it.say("numbers of May?", "other")
    if it.platform == "slack":
        await it.sim.say("U2", "C1", "I have them somewhere", thread_ts=root)
    return root


def hearing_all(platform: str) -> Any:
    """Return a platform where the bot hears all that is said in its chats."""
    return with_people(platform, privacy=False) if platform == "telegram" else with_people(platform)


@each_chat
async def test_two_threads_at_work_at_once_are_each_answered_in_themselves(
    platform: str, tmp_path: Path
) -> None:
    bench = Bench()
    bench.gate.clear()
    async with stage(platform, tmp_path, echo_task, tools=bench.tools()) as it:
        first = await it.mention("the slow one")
        await bench.begun.wait()
        second = await talk_of_two(it)
        await it.mention("the quick one", thread=second)
        assert [post.text for post in await it.heard(second)] == ["done: the quick one"]
        assert it.now(first) == []
        bench.gate.set()
        assert [post.text for post in await it.heard(first)] == ["done: the slow one"]
        await it.settle()
        assert len(it.everything()) == 2
        if platform == "slack":
            assert {post.thread for post in it.everything()} == {first, second}


@each_chat
@pytest.mark.parametrize("what", ["answer", "question", "card", "parts", "file", "failure", "report"])
async def test_whatever_is_posted_stands_in_the_thread_and_nothing_at_the_top(
    platform: str, what: str, tmp_path: Path
) -> None:
    long = "\n\n".join(f"paragraph {number} " + "word " * 150 for number in range(12))
    script: dict[str, list[Answer]] = {
        "answer": [finish("short")],
        "question": [act("request_info", question="Which month?")],
        "card": [act("request_info", question="Which month?", options=["May", "June"])],
        "parts": [finish(long[:9_000])],
        "file": [finish(long * 5)],
        "failure": [],
        "report": [act("now"), act("now"), act("now")],
    }
    async with stage(platform, tmp_path, script[what], otherwise=fail(401)) as it:
        root = await talk_of_two(it)
        await it.mention("go on", thread=root)
        await it.heard(root)
        await it.settle()
        shown = it.everything()
        assert len(shown) >= (2 if what in ("parts", "file") else 1)
        assert len(it.now(root)) == len(shown)
        if platform == "slack":
            assert {post.thread for post in shown} == {root}
        if what == "file":
            assert [post for post in shown if post.files]


@each_chat
async def test_a_word_said_in_one_thread_is_unknown_in_another(platform: str, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, otherwise=finish("noted")) as it:
        one = await it.mention("the code word is AMBER")
        await it.heard(one)
        two = await it.mention("what is the code word?")
        await it.heard(two)
        if platform == "slack":
            it.sim.add_channel("D1", name="ann", members=("U1", "UBOT"), kind="im")
            await it.sim.say("U1", "D1", "what is the code word?")
            await it.sim.say("U1", "C2", "<@UBOT> what is the code word?")
        else:
            await it.sim.say(7, 7, "what is the code word?")
            await it.sim.say(7, -1002, "@my_bot what is the code word?")
        await it.until(lambda: len(it.everything()) == 4)
        assert "AMBER" in it.prompts[0]
        assert [prompt for prompt in it.prompts[1:] if "AMBER" in prompt] == []
        await it.follow(one, "and what was it?")
        await it.heard(one, 2)
        assert "AMBER" in it.prompts[-1]


async def test_the_same_channel_id_in_two_workspaces_is_two_places(tmp_path: Path) -> None:
    async with slack_with_people() as slack:
        other = slack.add_team("T2")
        slack.add_user("U5", name="cid", team="T2")
        slack.add_channel("C1", name="theirs", members=("U5", other.bot_user), team="T2")
        access = Access(channels=("slack:T1:*", "slack:T2:*"))
        async with stage("slack", tmp_path, otherwise=finish("noted"), sim=slack, access=access) as it:
            await it.mention("the code word is AMBER")
            await it.until(lambda: len(it.everything()) == 1)
            await slack.say("U5", "C1", f"<@{other.bot_user}> what is the code word?", team="T2")
            await it.until(lambda: len(it.everything()) == 2)
            assert "AMBER" not in it.prompts[1]
            assert [post.workspace for post in it.everything()] == ["T1", "T2"]
            assert len({run.thread for run in await it.runs()}) == 2


@each_chat
async def test_whoever_took_part_goes_on_without_a_mention(platform: str, tmp_path: Path) -> None:
    script = [finish("May: 4711 EUR"), finish("Bob too"), finish("April: less"), finish("the year: more")]
    async with stage(platform, tmp_path, script) as it:
        thread = await it.mention("revenue in May?")
        await it.heard(thread)
        await it.mention("me too, please", "other", thread)
        await it.heard(thread, 2)
        await it.follow(thread, "and last month?")
        await it.heard(thread, 3)
        await it.follow(thread, "and the year?", "other")
        said = [post.text for post in await it.heard(thread, 4)]
        assert said == ["May: 4711 EUR", "Bob too", "April: less", "the year: more"]
        assert all("4711" in prompt for prompt in it.prompts[1:])
        assert [run.asker.rpartition(":")[2] for run in await it.runs()] == [
            it.people[who] for who in ("asker", "other", "asker", "other")
        ]


TALK: dict[str, list[tuple[Any, str]]] = {
    "slack": [
        ("U1", "<@U2> lunch?"),  # names somebody else
        ("U2", "<@U1> lunch?"),
        ("U1", "ask <!subteam^S1> about that"),
        ("U2", "looks fine to me"),  # of somebody who took no part
    ],
    "telegram": [
        (7, "@colleague please look"),
        (8, "@bob lunch?"),
        (8, "looks fine to me"),
        (7, "/weekly@other_bot"),
    ],
}


async def test_people_talk_to_each_other_in_a_thread_of_the_bot(tmp_path: Path) -> None:
    async with stage("slack", tmp_path, [finish("May: 4711 EUR")]) as it:
        thread = await it.mention("revenue in May?")
        await it.heard(thread)
        for user, text in TALK["slack"]:
            await it.sim.say(user, "C1", text, thread_ts=thread)
        await it.sim.wait_until(lambda: len(it.sim.acks) >= 2 + len(TALK["slack"]))
        await it.settle()
        assert len(it.everything()) == 1
        assert len(it.endpoint.requests) == 1
        assert len(await it.runs()) == 1


@pytest.mark.parametrize("answers", [False, True], ids=["beside", "answering"])
async def test_people_talk_to_each_other_in_a_group_where_the_bot_hears_all(
    answers: bool,  # noqa: FBT001 - a case of the test
    tmp_path: Path,
) -> None:
    async with (
        with_people("telegram", privacy=False) as sim,
        stage("telegram", tmp_path, [finish("May: 4711 EUR")], sim=sim) as it,
    ):
        root = await it.mention("revenue in May?")
        await it.heard(root)
        for user, text in TALK["telegram"]:
            await sim.say(user, TEAM, text, reply_to=int(root) if answers else 0)
        await it.until(lambda: not len(sim.state.updates))
        await it.settle()
        assert len(it.everything()) == 1
        assert len(it.endpoint.requests) == 1
        assert len(await it.runs()) == 1


@each_chat
async def test_chatter_at_the_top_where_nobody_asked_anything_is_nobody_s_business(
    platform: str, tmp_path: Path
) -> None:
    async with hearing_all(platform) as sim, stage(platform, tmp_path, sim=sim) as it:
        for text in ("good morning", "the bot is called hermes", "stop", "is my_bot down? UBOT?"):
            await it.say(text)
        asked = await it.mention("and you?")
        await it.heard(asked)
        assert len(it.endpoint.requests) == 1
        assert len(it.everything()) == 1
        assert "good morning" not in it.prompts[0]


MENTIONS: dict[str, list[tuple[str, str | None]]] = {
    "slack": [
        ("<@UBOT> list the hosts", "list the hosts"),
        ("<@UBOT|hermes>: list the hosts", "list the hosts"),
        ("can you, <@UBOT>, list the hosts", "can you, list the hosts"),
        ("list the hosts <@UBOT>", "list the hosts"),
        ("list the hosts of <@U2>, <@UBOT>", "list the hosts of @bob (U2)"),
    ],
    "telegram": [
        ("@my_bot list the hosts", "list the hosts"),
        ("@MY_Bot: list the hosts", "list the hosts"),
        ("😀 @my_bot hi", "😀 hi"),  # offset 3 in UTF-16 units
        ("👩‍👩‍👧 𝄞 can you, @my_bot, list the hosts", "👩‍👩‍👧 𝄞 can you, list the hosts"),
        ("list the hosts @my_bot", "list the hosts"),
        ("/run@MY_BOT with the big hosts", None),
    ],
}


@pytest.mark.parametrize(
    ("platform", "said", "task"), [(name, *case) for name in CHAT for case in MENTIONS[name]]
)
async def test_a_mention_anywhere_is_heard_and_leaves_the_task(
    platform: str, said: str, task: str | None, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, otherwise=finish("ok")) as it:
        await it.say(said)
        await it.until(it.everything)
        if task is None:
            assert "I know no skill" in it.everything()[0].text
            assert it.endpoint.requests == []
            return
        (prompt,) = it.prompts
        asked, goal = prompt.split("[goal] ", 1)[1].split("\n\n", 1)[0].split("\n", 1)
        assert asked.lower() == "(asked by ann)"  # which says that the bot was addressed
        assert goal == task


NOBODY = {
    "slack": ["<@UBOTTOM> list the hosts", "UBOT list the hosts", "`@hermes` is a name", "&lt;@UBOT&gt; hi"],
    "telegram": ["/run@other_bot weekly", "@my_bot_2 hi", "mail me at hi@my_bot.example", "my_bot: hi"],
}


@each_chat
async def test_what_only_looks_like_a_mention_is_none(platform: str, tmp_path: Path) -> None:
    async with hearing_all(platform) as sim, stage(platform, tmp_path, sim=sim) as it:
        for said in NOBODY[platform]:
            await it.say(said)
        asked = await it.mention("and you?", "other")
        await it.heard(asked)
        await it.settle()
        assert len(it.everything()) == 1
        assert len(await it.runs()) == 1


@each_chat
@pytest.mark.parametrize("said", ["{}", " {}  ", "{}!", "{},", "{}\n"])
async def test_a_mention_alone_is_answered_with_short_help_and_no_model_call(
    platform: str, said: str, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path) as it:
        await it.say(said.format("<@UBOT>" if platform == "slack" else "@my_bot"))

        def told() -> list[str]:
            return [*it.whispers(), *(post.text for post in it.everything())]

        (text,) = await it.until(told)
        assert "`skills`" in text or "skills" in text
        assert len(text) < 1_500
        assert it.endpoint.requests == []
        assert await it.runs() == []
