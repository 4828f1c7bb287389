"""Which tools a run may use: by its asker's role and its channel, when shown and when called (B-116)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from clock import FakeClock
from endpoint import act, finish
from world import Bench, scripted

from hermes_bot.access import Policy, Where
from hermes_bot.config import Access, Skills, read_config
from hermes_bot.errors import ConfigError
from hermes_bot.store import audit, questions

if TYPE_CHECKING:
    from pathlib import Path

    from world import Running

    from hermes_bot.store.audit import Entry

HERE = Where("world", "T1", "C1")
LISTS: dict[str, Any] = {
    "admins": ("world:T1:ad",),
    "operators": ("world:T1:op",),
    "members": ("world:T1:u1", "world:T1:u2"),
    "channels": ("world:T1:*",),
    "bots": ("world:T1:b2",),
}


def may(person: str, tool: str, risk: str = "read", where: Where = HERE, **lists: Any) -> bool:
    policy = Policy.of(Access(**(LISTS | lists)))
    return policy.may_use(f"world:T1:{person}" if person else "", tool, risk, where).ok


async def entries(bot: Running) -> list[Entry]:
    return [row.entry for row in await bot.app.db.read(lambda db: audit.list_rows(db, 100))]


@pytest.mark.parametrize("person", ["ad", "op", "u1", "b2"])
@pytest.mark.parametrize("risk", ["read", "write", "danger"])
def test_without_lists_whoever_may_give_work_may_use_every_tool(person: str, risk: str) -> None:
    assert may(person, "deploy.restart", risk)


def test_who_may_give_no_work_may_use_no_tool() -> None:
    assert not may("stranger", "now")
    assert not may("", "now")


@pytest.mark.parametrize(
    ("person", "tool", "ok"),
    [
        ("u1", "query_logs", True),
        ("u1", "deploy.restart", False),
        ("op", "deploy.restart", True),
        ("op", "sql_query", False),
        ("ad", "sql_query", True),
        ("b2", "query_logs", True),
        ("b2", "deploy.restart", False),
    ],
)
def test_a_role_has_the_tools_of_its_list_and_a_lower_no_more(person: str, tool: str, *, ok: bool) -> None:
    tools = {"member": ("query_*", "now"), "operator": ("query_*", "now", "deploy.*")}
    assert may(person, tool, tools=tools) is ok


def test_a_role_without_a_list_has_that_of_the_one_above_it() -> None:
    assert not may("u1", "sql_query", tools={"operator": ("now",)})
    assert may("ad", "sql_query", tools={"operator": ("now",)})


def test_a_role_may_be_held_to_a_risk() -> None:
    risks = {"guest": "read", "member": "write"}
    assert may("b2", "query_logs", "read", risks=risks)
    assert not may("b2", "write_file", "write", risks=risks)
    assert not may("u1", "deploy.restart", "danger", risks=risks)
    assert may("op", "deploy.restart", "danger", risks=risks)


def test_a_channel_has_the_tools_of_its_list_whoever_asks() -> None:
    places = {"world:T1:C1": ("query_logs", "now")}
    assert may("u1", "query_logs", places=places)
    assert not may("ad", "sql_query", places=places)
    assert may("u1", "sql_query", where=Where("world", "T1", "C2"), places=places)


def test_a_channels_list_follows_it_when_the_platform_gives_it_another_id() -> None:
    access = Access(**(LISTS | {"places": {"world:T1:C1": ("now",)}}))
    policy = Policy.of(access, {"world:T1:C7": "C1"})
    assert not policy.may_use("world:T1:u1", "sql_query", "read", Where("world", "T1", "C7")).ok


def test_managing_what_all_share_needs_an_operator() -> None:
    policy = Policy.of(Access(**LISTS))
    assert policy.allowed("world:T1:op", "manage", HERE).ok
    assert not policy.allowed("world:T1:u1", "manage", HERE).ok


def test_the_lists_are_read_from_the_file_and_a_wrong_role_or_place_is_named(tmp_path: Path) -> None:
    file = tmp_path / "hermes.toml"
    file.write_text('[access.tools]\nmember = ["*"]\n[access.places]\n"slack:T1:C1" = ["now"]\n')
    read = read_config(file, {}, cwd=tmp_path).access
    assert (read.tools["member"], read.places["slack:T1:C1"]) == (("*",), ("now",))
    file.write_text('[access.tools]\nboss = ["*"]\n')
    with pytest.raises(ConfigError, match="boss"):
        read_config(file, {}, cwd=tmp_path)
    file.write_text('[access.places]\n"C1" = ["now"]\n')
    with pytest.raises(ConfigError, match="Ids look like"):
        read_config(file, {}, cwd=tmp_path)


async def test_a_denied_tool_is_not_shown_not_run_and_written_down_with_its_rule(tmp_path: Path) -> None:
    bench = Bench()
    access = Access(**(LISTS | {"tools": {"member": ("echo",)}}))
    script = [act("send", word="a"), act("echo", word="b"), finish("ok", evidence=["round 2"])]
    async with scripted(tmp_path, script, tools=bench.tools(), access=access) as bot:
        await bot.talk().say("send it", user="u1")
        await bot.talk().heard()
        shown = str(bot.endpoint.requests[0]["messages"][0]["content"])
        assert "Return the word it was given." in shown
        assert "Send a word to where everybody sees it." not in shown
        assert bench.ran == ["b"]
        assert "[access.tools] does not let members use send" in bot.prompts[1]
        denied = [one for one in await entries(bot) if one.verb == "tool.denied"]
    (one,) = denied
    assert (one.actor, one.object, one.outcome) == ("world:T1:u1", "send", "refused")
    assert "rule=denied" in one.detail
    assert "run=" in one.detail


async def test_the_steps_of_a_skill_are_held_to_the_lists_too(tmp_path: Path) -> None:
    skill = tmp_path / "skills" / "send-it"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: send-it\ndescription: Send a word.\n---\nIt does.\n")
    (skill / "chain.yaml").write_text("parameters: {}\nsteps:\n  - {id: out, tool: send, args: {word: a}}\n")
    bench, state = Bench(), tmp_path / "state"
    state.mkdir()
    settings: dict[str, Any] = {"tools": bench.tools(), "skills": Skills(folders=(tmp_path / "skills",))}
    settings["access"] = Access(**(LISTS | {"places": {"world:T1:C1": ("echo",)}}))
    script = [act("run_skill", name="send-it", params={}), finish("I could not.")]
    async with scripted(state, script, **settings) as bot:
        await bot.talk().say("send it", user="u1")
        await bot.talk().heard()
        assert bench.ran == []
        assert [one.object for one in await entries(bot) if one.verb == "tool.denied"][-1] == "send"


async def test_where_only_the_asker_may_answer_others_are_told_and_change_nothing(
    tmp_path: Path,
) -> None:
    which = act("request_info", question="Which environment?", options=["staging", "production"])
    access = Access(**(LISTS | {"answers": "asker"}))
    async with scripted(tmp_path, [which, finish("ok")], access=access) as bot:
        talk = bot.talk()
        await talk.say("deploy", user="u1")
        await talk.heard()
        await bot.quiet()
        (asked,) = await bot.app.db.read(questions.list_open)
        reply = await talk.press(asked.question.id, 0, user="u2")
        assert reply is not None
        assert "gave me this task" in reply.text
        assert await bot.app.db.read(questions.list_open)
        await talk.say("production", user="u2", addressed=False)
        assert await bot.app.db.read(questions.list_open)
        await talk.press(asked.question.id, 0, user="u1")
        await talk.heard()
        assert not await bot.app.db.read(questions.list_open)
        assert [one.verb for one in await entries(bot) if one.outcome == "refused"] == ["access.answer"] * 2


async def test_an_operator_may_answer_for_the_asker(tmp_path: Path) -> None:
    which = act("request_info", question="Which environment?", options=["staging", "production"])
    access = Access(**(LISTS | {"answers": "asker"}))
    async with scripted(tmp_path, [which, finish("ok")], access=access) as bot:
        await bot.talk().say("deploy", user="u1")
        await bot.talk().heard()
        await bot.talk().say("production", user="op")
        assert (await bot.talk().heard()).text.endswith("ok")


async def test_who_may_not_is_told_a_few_times_and_then_for_a_while_no_more(tmp_path: Path) -> None:
    clock = FakeClock()
    async with scripted(tmp_path, clock=clock, access=Access(**LISTS)) as bot:
        told = [await bot.talk(str(number)).say("do it", user="stranger") for number in range(20)]
        assert len([one for one in told if one and one.text]) == 5
        clock.advance(timedelta(minutes=11).total_seconds())
        late = await bot.talk("later").say("do it", user="stranger")
        assert late is not None
        assert "Only members" in late.text
