"""Commands, and the text that comes in: B-09 and B-91, on Slack and on Telegram.

B-09: what a command answers, to whom, and where its work stands. B-91: escapes, links, names, fences, quotes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from endpoint import act, finish
from onlookers import all_taken
from places import CHAT, FORUM, TEAM
from stages import stage

from hermes_bot.config import Logs

if TYPE_CHECKING:
    from pathlib import Path

    from stages import Stage

each_chat = pytest.mark.parametrize("platform", CHAT)
LOG = "2026-11-30T09:12:0{} ERROR checkout: upstream payments timed out\n"


def some_logs(folder: Path) -> Logs:
    """Return the log of one service, with errors in it."""
    path = folder / "checkout.log"
    path.write_text("".join(LOG.format(second) for second in range(5)), encoding="utf-8")
    return Logs.model_validate(
        {"sources": {"checkout": {"path": str(path)}, "check out": {"path": str(path)}}}
    )


@pytest.mark.parametrize(
    ("verb", "says"),
    [
        ("skills", "log-diagnosis"),
        ("help", "skills"),
        ("", "skills"),
        ("runs", "No runs"),
        ("status", "Nothing is running"),
        ("questions", "Nothing waits"),
        ("why", "No runs"),
        ("stop", "Nothing is running"),
        ("  SKILLS ", "log-diagnosis"),
    ],
)
async def test_a_list_on_slack_comes_at_once_with_the_acknowledgement_and_to_the_asker_alone(
    verb: str, says: str, tmp_path: Path
) -> None:
    async with stage("slack", tmp_path) as it:
        answer = await it.sim.slash("U1", "C1", "/hermes", verb)
        assert answer.acked_ms is not None
        assert says in (answer.text or "")
        await it.settle()
        assert it.everything() == []
        assert it.endpoint.requests == []
        assert len(it.whispers()) == 1
        assert it.whispers("other") == []


@pytest.mark.parametrize("verb", ["skills", "help", "runs", "status"])
@pytest.mark.parametrize("chat", [TEAM, 7, FORUM])
async def test_a_list_on_telegram_is_a_reply_to_who_asked(verb: str, chat: int, tmp_path: Path) -> None:
    async with stage("telegram", tmp_path) as it:
        asked = await it.sim.say(7, chat, f"/{verb}@my_bot" if chat < 0 else f"/{verb}")
        await it.until(it.everything)
        await all_taken(it)
        (told,) = it.everything()
        assert told.reply_to == str(asked) or chat == 7
        assert it.endpoint.requests == []
        assert await it.runs() == []


@each_chat
async def test_work_begins_with_a_root_that_names_who_asked(platform: str, tmp_path: Path) -> None:
    words = "run log-diagnosis service=checkout since=2026-11-30T09:00"
    async with stage(platform, tmp_path, otherwise=finish("noted"), logs=some_logs(tmp_path)) as it:
        if platform == "slack":
            answer = await it.sim.slash("U1", "C1", "/hermes", words)
            assert answer.acked_ms is not None
            await it.until(lambda: len(it.everything()) > 1)
            await it.settle()
            root, *posts = it.everything()
            assert root.thread == ""
            assert root.text.startswith("<@U1> asked: ")
            assert "log-diagnosis" in root.text
            assert {post.thread for post in posts} == {root.id}
        else:
            asked = await it.sim.say(7, TEAM, f"/{words.replace('run', 'run@my_bot', 1)}")
            await it.until(it.everything)
            await it.settle()
            assert it.everything()[0].reply_to == str(asked)
        (run,) = await it.runs()
        assert run.skill == "log-diagnosis"
        assert run.asker.endswith(f":{it.people['asker']}")
        shown = "\n".join(post.text for post in it.everything())
        assert "5 messages read" in shown


async def test_work_where_the_bot_is_not_tells_the_asker_how_to_invite_it(tmp_path: Path) -> None:
    async with stage("slack", tmp_path, otherwise=finish("noted"), logs=some_logs(tmp_path)) as it:
        it.sim.add_channel("C3", name="elsewhere", members=("U1", "U2"))
        await it.sim.slash("U1", "C3", "/hermes", "run log-diagnosis service=checkout since=09:00")
        await it.until(lambda: any("invite" in text for text in it.whispers()))
        await it.settle()
        (told,) = [text for text in it.whispers() if "invite" in text]
        assert "/invite @hermes" in told
        assert it.everything() == []
        assert await it.runs() == []
        uses = [call for call in it.sim.calls if call.method == "response_url"]
        assert len(uses) == 1


@each_chat
@pytest.mark.parametrize(
    ("slip", "meant"), [("skils", "skills"), ("hlep", "help"), ("statu", "status"), ("questons", "questions")]
)
async def test_an_unknown_verb_is_answered_with_the_nearest(
    platform: str, slip: str, meant: str, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path) as it:
        told = await it.verb(slip)
        assert meant in told
        assert slip in told
        await it.settle()
        assert it.endpoint.requests == []
        assert await it.runs() == []


@each_chat
async def test_an_unknown_skill_is_answered_with_the_nearest(platform: str, tmp_path: Path) -> None:
    async with stage(platform, tmp_path) as it:
        assert "log-diagnosis" in await it.verb("run log-diagnosys")
        await it.settle()
        assert await it.runs() == []


WRITTEN = {
    "slack": [
        ("is a &lt; b &amp;&amp; c &gt; d?", "is a < b && c > d?"),
        ("what is &amp;lt;?", "what is &lt;?"),
        ("see <https://x.y/a?b=1&amp;c=2|the page>", "see the page (https://x.y/a?b=1&c=2)"),
        ("see <https://x.y/a>", "see https://x.y/a"),
        ("ping <http://db-3.example|db-3.example>", "ping db-3.example"),
        ("write to <mailto:a@b.example|a@b.example>", "write to a@b.example"),
        ("ask <@U2|bob> and <@U2>", "ask @bob (U2) and @bob (U2)"),
        ("in <#C2|team-c2>?", "in #team-c2 (C2)?"),
        ("tell <!subteam^S1|@ops>", "tell @ops"),
        ("explain:```if a &lt; b:\n    go()```", "explain:\n```\nif a < b:\n    go()\n```"),
        ("say “check out” - don\u2019t", "say “check out” - don\u2019t"),
    ],
    "telegram": [
        ("is a < b && c > d?", "is a < b && c > d?"),
        ("what is &lt;?", "what is &lt;?"),
        ("see https://x.y/a?b=1&c=2", "see https://x.y/a?b=1&c=2"),
        ("ask @bob and @bob", "ask @bob and @bob"),
        ("explain if a < b:\n    go()", "explain if a < b:\n    go()"),
        ("say “check out” - don\u2019t", "say “check out” - don\u2019t"),
        ("the 😀 of 👩‍👩‍👧", "the 😀 of 👩‍👩‍👧"),
    ],
}


@pytest.mark.parametrize(
    ("platform", "written", "read"), [(name, *case) for name in CHAT for case in WRITTEN[name]]
)
async def test_what_people_wrote_is_what_the_model_reads(
    platform: str, written: str, read: str, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, otherwise=finish("noted")) as it:
        await it.say(f"{it.mark} {written}")
        await it.until(it.everything)
        (run,) = await it.runs()
        assert run.text == read
        assert read in it.prompts[0]


QUOTED = [
    "service=“check out”",
    "service=„check out“",
    "service=\u2018check out\u2019",
    'service="check out"',
]


@each_chat
@pytest.mark.parametrize("quoted", QUOTED)
@pytest.mark.parametrize("blank", [" ", "\u00a0", "\u202f"], ids=["blank", "no-break", "narrow"])
async def test_curly_quotes_and_odd_blanks_in_a_command_mean_the_plain_ones(
    platform: str, quoted: str, blank: str, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, otherwise=finish("noted"), logs=some_logs(tmp_path)) as it:
        words = f"run log-diagnosis {quoted} since=2026-11-30T09:00".replace(" ", blank)
        await command(it, words)
        await it.until(lambda: len(it.everything()) > (platform == "slack"))  # there a root comes first
        await it.settle()
        (run,) = await it.runs()
        assert run.skill == "log-diagnosis"
        asked = (await it.app.runs.view(run.id)).state.goal.params
        assert asked == {"service": "check out", "since": "2026-11-30T09:00"}


async def command(it: Stage, words: str) -> None:
    """Use a command as people type it."""
    if it.platform == "slack":
        await it.sim.slash("U1", "C1", "/hermes", words)
    else:
        await it.sim.say(7, TEAM, f"/{words.replace('run', 'run@my_bot', 1)}")


@each_chat
async def test_a_command_in_a_thread_is_understood_with_odd_blanks_too(platform: str, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, [act("request_info", question="How many?")]) as it:
        thread = await it.mention("set the retries")
        await it.heard(thread)
        await it.mention("\u00a0skills\u00a0", thread=thread)
        await it.until(
            lambda: any(
                "log-diagnosis" in text for text in (*it.whispers(), *(p.text for p in it.everything()))
            )
        )
        await it.settle()
        assert [run.status for run in await it.runs()] == ["waiting"]
