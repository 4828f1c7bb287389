"""Every skill is tried before people rely on it, and the shipped ones end in a complete report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from skills.chain_fakes import BERLIN, SERVICES, FakeClock, FakeToolbox, failure, ok, skill_in

from hermes_bot.cli.skills import check_skills
from hermes_bot.config import Bot, Config
from hermes_bot.errors import SkillError
from hermes_bot.offline import OfflineModel
from hermes_bot.plugins import skills_dir
from hermes_bot.skills import Bed, Registry, check, read_registry, scaffold
from hermes_bot.tools.now import now_tool
from hermes_bot.tools.toolbox import CoreToolbox

if TYPE_CHECKING:
    from hermes_bot.ports import Toolbox


def bed(toolbox: Toolbox) -> Bed:
    options = {"list_services": lambda: SERVICES}
    return Bed(toolbox, FakeClock(), OfflineModel(lambda: ()), Path("unused"), BERLIN, options)


async def troubles(tmp_path: Path, chain: str, toolbox: Toolbox | None = None, **files: str) -> list[str]:
    skill = skill_in(tmp_path, chain, **files)
    head = "---\nname: trial\ndescription: A trial.\nexample: diagnose checkout\n---\n"
    (skill.folder / "SKILL.md").write_text(head)
    tools = toolbox or FakeToolbox(one=lambda _: ok({"errors": 0}), two=lambda _: ok(2))
    return [trouble.text for trouble in await check(read_registry([tmp_path]), bed(tools))]


async def test_a_good_skill_has_no_troubles(tmp_path: Path) -> None:
    chain = """
parameters: {service: {required: true, options_from: list_services}}
steps:
  - {id: a, tool: one, args: {service: "{{ service }}"}, stop_if: a.data.errors > 9, say: "{{ a.data }}"}
  - {id: b, tool: two, for_each: "[1, 2]", args: {n: "{{ item }}"}, when: a.ok, status: "{{ index }}"}
report: report.j2
"""
    assert await troubles(tmp_path, chain, report_j2="{{ service }} {{ b.data }}") == []


@pytest.mark.parametrize(
    ("step", "why"),
    [
        ('{id: b, tool: two, args: {x: "{{ aa.data }}"}}', "'aa' is not defined here; did you mean 'a'?"),
        ('{id: b, tool: two, args: {x: "{{ c.data }}"}}', "step b, args: 'c' is not defined here"),
        ('{id: b, tool: two, args: {x: "{{ a.dta }}"}}', "a step has no 'dta'"),
        ('{id: b, tool: two, args: {x: "{{ item }}"}}', "'item' is not defined here"),
        ('{id: b, tool: two, when: "nope > 1"}', "step b, when: 'nope' is not defined here"),
        ('{id: b, tool: two, when: "1 >"}', "step b, when:"),
        ('{id: b, tool: two, args: {x: "{{ a | shout }}"}}', "No filter named 'shout'"),
        ('{id: b, model: "say {{ nope }}", otherwise: two}', "step b, model: 'nope' is not defined here"),
        ("{id: b, tool: tow}", "There is no tool tow."),
        ('{id: b, model: "x", otherwise: tow}', "There is no tool tow."),
        ('{id: b, say: "{{ a.data.nope }}"}', "The example 'diagnose checkout' fails:"),
    ],
)
async def test_what_cannot_work_is_found(tmp_path: Path, step: str, why: str) -> None:
    found = await troubles(
        tmp_path, f"steps:\n  - {{id: a, tool: one}}\n  - {step}\n  - {{id: c, tool: two}}\n"
    )
    assert len(found) == 1
    assert why in found[0]


async def test_a_report_is_looked_at_too(tmp_path: Path) -> None:
    chain = "steps:\n  - {id: a, tool: one}\nreport: report.j2\n"
    (found,) = await troubles(tmp_path, chain, report_j2="{{ logz.data }}")
    assert found == "report.j2: 'logz' is not defined here."


async def test_an_unknown_source_of_options_is_found(tmp_path: Path) -> None:
    chain = "parameters: {s: {options_from: list_servces}}\nsteps:\n  - {id: a, tool: one}\n"
    assert "there are: list_services" in (await troubles(tmp_path, chain))[0]


async def test_an_example_that_leaves_something_open_is_found(tmp_path: Path) -> None:
    chain = "parameters: {since: {type: time, required: true}}\nsteps:\n  - {id: a, tool: one}\n"
    assert "leaves something open: Which since?" in (await troubles(tmp_path, chain))[0]


async def test_an_example_that_fails_is_found(tmp_path: Path) -> None:
    tools = FakeToolbox(one=lambda _: failure("no", "It is closed."))
    assert "It is closed." in (await troubles(tmp_path, "steps:\n  - {id: a, tool: one}\n", tools))[0]


async def test_an_unknown_argument_is_found(tmp_path: Path) -> None:
    tools = CoreToolbox((now_tool(BERLIN),))
    found = await troubles(tmp_path, "steps:\n  - {id: a, tool: now, args: {zoen: UTC}}\n", tools)
    assert found == ["chain.yaml: step a: now takes no argument 'zoen'; did you mean 'zone'?"]


async def test_a_check_makes_no_effect(tmp_path: Path) -> None:
    tools = FakeToolbox(one=lambda _: ok("posted"))
    tools.risks["one"] = "danger"
    assert await troubles(tmp_path, "steps:\n  - {id: a, tool: one}\n", tools) == []
    assert not tools.calls


async def test_refused_folders_are_troubles(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (found,) = await check(read_registry([tmp_path]), bed(FakeToolbox()))
    assert (found.skill, "SKILL.md is missing" in found.text) == ("empty", True)


async def test_every_shipped_skill_runs_its_example_without_a_model(tmp_path: Path) -> None:
    shipped = {folder.name for folder in skills_dir().iterdir() if (folder / "SKILL.md").is_file()}
    names, troubles = await check_skills(Config(bot=Bot(state_dir=tmp_path)))
    assert (set(names), list(troubles)) == (shipped, [])


async def test_a_tool_that_is_off_is_no_trouble_where_the_chain_can_do_without_it(tmp_path: Path) -> None:
    off = CoreToolbox((now_tool(BERLIN),), off={"draw": "Install it."})
    step = '{id: a, tool: draw%s}\n  - {id: b, say: "Done."}\n'
    assert await troubles(tmp_path, "steps:\n  - " + step % ", on_error: continue", off) == []
    (said,) = await troubles(tmp_path, "steps:\n  - " + step % "", off)
    assert said == "chain.yaml: step a: draw is off. Install it."


async def test_a_new_skill_passes_the_check(tmp_path: Path) -> None:
    skill = scaffold("team-clock", tmp_path)
    assert await check(Registry((skill,)), bed(CoreToolbox((now_tool(BERLIN),)))) == ()


@pytest.mark.parametrize("name", ["", "../x", "Team Clock", "a--b", "x/y"])
def test_a_new_skill_needs_a_name_that_stays_in_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(SkillError, match="is no skill name"):
        scaffold(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_new_skill_overwrites_nothing(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "SKILL.md").write_text("mine")
    with pytest.raises(SkillError, match="there already"):
        scaffold("mine", tmp_path)
    assert (tmp_path / "mine" / "SKILL.md").read_text() == "mine"


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("profile: chta", "SKILL.md: there is no profile 'chta'; there are: chat, code, task."),
        (
            "limits: {round: 5}",
            "SKILL.md: limits: round: Extra inputs are not permitted; did you mean 'rounds'?",
        ),
        ("limits: {rounds: 0}", "SKILL.md: limits: rounds: Input should be greater than or equal to 1."),
        ("limits: 5", "SKILL.md: limits must be a mapping, such as limits: {rounds: 8}."),
        ("verify: maybe", "SKILL.md: limits: verify: Input should be a valid boolean"),
        ("limit: {rounds: 5}", "SKILL.md: the key 'limit' is not known; did you mean 'limits'?"),
    ],
)
async def test_a_skills_profile_and_limits_are_looked_at(tmp_path: Path, head: str, said: str) -> None:
    (tmp_path / "trial").mkdir()
    text = f"---\nname: trial\ndescription: A trial.\n{head}\n---\nDo it well.\n"
    (tmp_path / "trial" / "SKILL.md").write_text(text)
    (trouble,) = await check(read_registry([tmp_path]), bed(FakeToolbox()))
    assert trouble.text.startswith(said)


async def test_good_limits_are_kept_with_the_skill(tmp_path: Path) -> None:
    (tmp_path / "trial").mkdir()
    head = "profile: code\nlimits: {rounds: 8, tools: [now]}\nverify: true"
    (tmp_path / "trial" / "SKILL.md").write_text(f"---\nname: trial\ndescription: A trial.\n{head}\n---\n")
    registry = read_registry([tmp_path])
    assert await check(registry, bed(FakeToolbox())) == ()
    assert registry.skills[0].limits == {"rounds": 8, "tools": ("now",), "verify": True}
