"""An answer is checked before it is posted; profiles, skills and requests say how a run is judged."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from endpoint import Answer, act, fail, finish, held, say
from guarded import ended
from world import Bench, request, running, scripted

from hermes_bot.config import Profile
from hermes_bot.messages import Request

if TYPE_CHECKING:
    from pathlib import Path

from judging import CHECKED, NOT_OK, OK, judged, looking


async def test_an_answer_is_checked_once_before_it_is_posted_and_paid_for(tmp_path: Path) -> None:
    script = [act("echo", word="DNS fails"), finish("It is DNS.", evidence=["round 1"]), OK]
    async with scripted(tmp_path, script, tools=Bench().tools(), profiles=CHECKED) as bot:
        run, post = await ended(bot, "go there")
        assert (post.text, len(bot.prompts)) == ("It is DNS.", 3)
        assert "[task]\ngo there" in bot.prompts[2]
        assert "[answer]\nIt is DNS." in bot.prompts[2]
        assert "DNS fails" in bot.prompts[2]
        assert run.tokens == 2 * 15 + 320
        (_, last) = await judged(bot)
        assert (last.data["check"], last.tokens_in, last.tokens_out) == ("ok", 300, 20)


async def test_a_problem_is_told_once_and_the_second_answer_is_labelled(tmp_path: Path) -> None:
    again = finish("It is DNS.", evidence=["round 1"])
    script = [act("echo", word="a"), again, NOT_OK, again, NOT_OK]
    async with scripted(tmp_path, script, tools=Bench().tools(), profiles=CHECKED) as bot:
        run, post = await ended(bot)
    assert "Not accepted: a check found: no round says that `it` is DNS" in bot.prompts[3]
    assert post.text.startswith("_Unverified")
    assert post.text.endswith("_A check found:_ `no round says that 'it' is DNS`")
    assert (run.status, run.rounds, len(bot.prompts)) == ("finished", 3, 5)


async def test_a_better_second_answer_is_posted_without_a_label(tmp_path: Path) -> None:
    script = [
        act("echo", word="a"),
        finish("It is DNS.", evidence=["round 1"]),
        NOT_OK,
        finish("It is not known.", evidence=["round 1"]),
        OK,
    ]
    async with scripted(tmp_path, script, tools=Bench().tools(), profiles=CHECKED) as bot:
        _, post = await ended(bot)
    assert post.text == "It is not known."


@pytest.mark.parametrize(
    ("said", "note"),
    [
        (say("I would say yes."), "unreadable"),
        (say('{"ok": "perhaps"}'), "unreadable"),
        (say('{"ok": true'), "unreadable"),
        (fail(401, body={"error": {"message": "no"}}), "failed: unauthorized"),
    ],
)
async def test_a_checker_that_fails_holds_nothing_up(tmp_path: Path, said: Answer, note: str) -> None:
    script = [act("echo", word="a"), finish("It is DNS.", evidence=["round 1"]), said]
    async with scripted(tmp_path, script, tools=Bench().tools(), profiles=CHECKED) as bot:
        _, post = await ended(bot)
        assert post.text == "It is DNS."
        assert (await judged(bot))[-1].data["check"] == note


async def test_a_check_that_the_process_died_in_is_made_again_and_the_answer_posted_once(
    tmp_path: Path,
) -> None:
    bench = Bench()
    script = [act("echo", word="a"), finish("It is DNS.", evidence=["round 1"]), held(OK, asyncio.Event())]
    async with scripted(tmp_path, script, tools=bench.tools(), profiles=CHECKED) as bot:
        await bot.talk().say("go")
        await bot.until(lambda: len(bot.prompts) == 3)
    async with scripted(tmp_path, [OK], tools=bench.tools(), profiles=CHECKED) as bot:
        assert (await bot.talk().heard()).text == "It is DNS."
        await bot.quiet()
        assert (len(bot.world.posts), len(bot.prompts)) == (1, 1)
        assert "[answer]\nIt is DNS." in bot.prompts[0]
        (run,) = await bot.runs()
        assert (run.rounds, run.tokens) == (2, 2 * 15 + 320)
    assert bench.ran == ["a"]


async def test_what_the_rules_refuse_is_not_checked(tmp_path: Path) -> None:
    script = [act("echo", word="a"), finish("I restarted payments.", evidence=["round 1"])]
    async with scripted(
        tmp_path,
        script,
        otherwise=finish("It is DNS.", evidence=["round 1"]),
        tools=Bench().tools(),
        profiles=CHECKED,
    ) as bot:
        await ended(bot)
        assert [row.data.get("check") for row in await judged(bot)] == [None, None, "unreadable"]


async def test_a_long_answer_and_long_evidence_are_checked_within_the_context(tmp_path: Path) -> None:
    long = "字" * 40_000
    script = [act("echo", word="a" * 60_000), finish(long, evidence=["round 1"]), OK]
    async with scripted(tmp_path, script, tools=Bench().tools(), profiles=CHECKED) as bot:
        await ended(bot, "go " * 9_000)
    assert len(bot.endpoint.bodies[2]) <= 16_000 * 3


async def test_a_profile_says_which_tools_there_are(tmp_path: Path) -> None:
    script = [act("send", word="a"), finish("Cannot.", evidence=[])]
    profiles = {"narrow": Profile(tools=("ech*", "now"))}
    async with scripted(
        tmp_path, script, otherwise=finish("Cannot."), tools=Bench().tools(), profiles=profiles
    ) as bot:
        await ended(bot, request=request(profile="narrow"))
    system = str(bot.endpoint.requests[0]["messages"][0]["content"])
    assert "- echo:" in system
    assert "- now:" in system
    assert "- send:" not in system
    assert "- run_skill:" not in system
    assert "denied: The profile 'narrow' of this run does not offer send." in bot.prompts[1]


async def test_a_request_changes_limits_of_its_profile_and_continue_keeps_them(tmp_path: Path) -> None:
    wanted = Request(profile="chat", limits={"rounds": 2, "reflect_every": 0, "tools": ["echo"]})
    script = [looking(number) for number in range(1, 9)]
    async with scripted(tmp_path, script, tools=Bench().tools()) as bot:
        run, post = await ended(bot, request=wanted)
        assert (run.reason, run.rounds) == ("rounds", 2)
        await bot.talk().press(post.buttons[0].press.question, 0)
        await bot.quiet()
        second = (await bot.runs())[-1]
        limits = (await bot.state(second.id)).limits
    assert (second.rounds, limits.profile, limits.rounds, limits.tools) == (4, "chat", 2, ("echo",))


def skill_folder(folder: Path, head: str) -> Path:
    (folder / "look").mkdir(parents=True)
    steps = 'steps:\n  - {id: word, say: "All is well."}\n'
    (folder / "look" / "chain.yaml").write_text(steps)
    text = f"---\nname: look\ndescription: Look whether all is well.\nexample: run look\n{head}\n---\n"
    (folder / "look" / "SKILL.md").write_text(text)
    return folder


async def test_a_skill_brings_its_profile_and_limits(tmp_path: Path) -> None:
    folder = skill_folder(tmp_path / "skills", "profile: code\nlimits: {rounds: 7, seconds: 90}")
    async with running(tmp_path / "a", skills={"folders": (folder,)}) as bot:
        run, _ = await ended(bot, "run look")
        limits = (await bot.state(run.id)).limits
        assert (run.profile, limits.rounds, limits.seconds) == ("code", 7, 90)
        await bot.talk("2").say("run look", request=request("look", profile="chat"))
        await bot.quiet()
        limits = (await bot.state((await bot.runs())[-1].id)).limits
    assert (limits.profile, limits.rounds) == ("chat", 7)


@pytest.mark.parametrize("verdict", [OK, NOT_OK])
async def test_a_skill_may_want_its_report_checked(tmp_path: Path, verdict: Answer) -> None:
    folder = skill_folder(tmp_path / "skills", "verify: true")
    async with scripted(tmp_path / "a", [verdict], skills={"folders": (folder,)}) as bot:
        _, post = await ended(bot, "run look")
        assert len(bot.prompts) == 1
    assert "[answer]\nAll is well." in bot.prompts[0]
    if verdict is OK:
        assert post.text == "All is well."
    else:
        assert post.text.startswith("_Unverified")
        assert "All is well." in post.text


async def test_without_a_model_a_skill_that_wants_a_check_runs_unchecked(tmp_path: Path) -> None:
    folder = skill_folder(tmp_path / "skills", "verify: true")
    async with running(tmp_path / "a", skills={"folders": (folder,)}) as bot:
        _, post = await ended(bot, "run look")
    assert post.text == "All is well."


async def test_a_skill_the_model_chose_has_the_answer_checked(tmp_path: Path) -> None:
    folder = skill_folder(tmp_path / "skills", "verify: true")
    script = [act("run_skill", name="look"), finish("All is well.", evidence=["round 1"]), OK]
    async with scripted(tmp_path / "a", script, skills={"folders": (folder,)}) as bot:
        _, post = await ended(bot, "anything new?")
        assert (await judged(bot))[-1].data["check"] == "ok"
    assert post.text == "All is well."


async def test_a_channel_has_its_usual_profile_and_a_skill_or_a_caller_goes_over_it(tmp_path: Path) -> None:
    folder = skill_folder(tmp_path / "skills", "profile: code")
    profiles = {
        "brief": Profile(rounds=3, channels=("world:T1:*",)),
        "chat": Profile(channels=("world:T1:C1",)),
    }
    settings: dict[str, Any] = {"profiles": profiles, "skills": {"folders": (folder,)}}
    async with running(tmp_path / "a", **settings) as bot:
        for channel, text, asked in (
            ("C1", "hello", None),
            ("C2", "hello", None),
            ("C2", "run look", None),
            ("C2", "hello", request(profile="task")),
        ):
            await bot.talk(channel=channel).say(text, request=asked)
            await bot.quiet()
        await bot.talk(workspace="T2").say("hello")
        await bot.quiet()
        found = [(run.profile, (await bot.state(run.id)).limits.rounds) for run in await bot.runs()]
    assert found == [("chat", 5), ("brief", 3), ("code", 30), ("task", 20), ("task", 20)]


async def test_guards_are_set_by_a_profile(tmp_path: Path) -> None:
    profiles = {"strict": Profile(failures=2, repeats=2)}
    script = [act("nothing_like_it", number=number) for number in range(9)]
    async with scripted(tmp_path / "a", script, profiles=profiles) as bot:
        run, _ = await ended(bot, request=request(profile="strict"))
    assert (run.reason, run.rounds) == ("failures", 2)
    async with scripted(
        tmp_path / "b", [act("echo", word="a")] * 3, tools=Bench().tools(), profiles=profiles
    ) as bot:
        run, _ = await ended(bot, request=request(profile="strict"))
    assert (run.reason, run.rounds) == ("repetition", 2)
