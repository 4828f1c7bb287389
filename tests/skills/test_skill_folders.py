"""Skills are folders; a bad one costs itself alone, with a reason that says what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hermes_bot.errors import SkillError
from hermes_bot.skills import read_registry

if TYPE_CHECKING:
    from pathlib import Path

GOOD = "---\nname: {name}\ndescription: Does a thing.\n---\nGuidance.\n"
CHAIN = "steps:\n  - {id: a, tool: now}\n"


def write(root: Path, name: str, head: str = GOOD, chain: str = "", **files: str) -> Path:
    folder = root / name
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(head.replace("{name}", name))
    if chain:
        (folder / "chain.yaml").write_text(chain)
    for file, text in files.items():
        (folder / file.replace("_", ".")).write_text(text)
    return folder


def reason(tmp_path: Path, head: str = GOOD, chain: str = "", **files: str) -> str:
    """Return why the skill ``bad`` is refused, having checked that the one beside it is not."""
    write(tmp_path, "good", chain=CHAIN)
    write(tmp_path, "bad", head, chain, **files)
    registry = read_registry([tmp_path])
    assert [skill.name for skill in registry.skills] == ["good"]
    (refused,) = registry.refused
    assert refused.folder.name == "bad"
    return refused.reason


def test_a_skill_is_read_with_its_examples_and_guidance(tmp_path: Path) -> None:
    described = "description: >\n  Does\n  a thing.\nexample: go\nexamples: [go, run]\nlicense: MIT\n"
    head = f"---\nname: one\n{described}---\n# Hi\n"
    write(tmp_path, "one", head)
    (skill,) = read_registry([tmp_path]).skills
    assert (skill.name, skill.description, skill.examples) == ("one", "Does a thing.", ("go", "run"))
    assert (skill.guidance, skill.chain) == ("# Hi", None)


@pytest.mark.parametrize(
    ("head", "why"),
    [
        ("no head at all", "has no head"),
        ("---\nname: bad\n description: x\n---\n", "line 2"),
        ("---\nname: ../x\ndescription: x\n---\n", "'../x' cannot be used"),
        ("---\nname: other\ndescription: x\n---\n", "differs from its folder"),
        ("---\nname: bad\n---\n", "description needs"),
        ("---\nname: bad\ndesciption: x\n---\n", "did you mean 'description'?"),
        ("---\nname: bad\nname: bad\ndescription: x\n---\n", "stands twice"),
        ("---\n- name\n---\n", "no mapping"),
        ("---\nname: bad\ndescription: [x]\n---\n", "description must be a text"),
    ],
)
def test_a_bad_head_costs_that_skill_alone(tmp_path: Path, head: str, why: str) -> None:
    assert why in reason(tmp_path, head)


@pytest.mark.parametrize(
    ("chain", "why"),
    [
        ("steps:\n  - id: a\n   tool: x\n", "line 3"),
        ("[]", "holds no mapping"),
        ("stepz: []", "the key 'stepz' is not known; did you mean 'steps'?"),
        ("steps: []", "steps"),
        (
            "steps:\n  - {id: a, toool: x}",
            "step 1, toool: the key 'toool' is not known; did you mean 'tool'?",
        ),
        ("steps:\n  - {id: a}", "exactly one of tool, model or say"),
        ("steps:\n  - {id: a, tool: x, model: y}", "exactly one of tool, model or say"),
        ("steps:\n  - {id: a, tool: x, say: y}", "needs stop_if"),
        ("steps:\n  - {id: a, tool: x, otherwise: y}", "otherwise belongs to a model step"),
        ("steps:\n  - {id: a, tool: x, retry: 6}", "less than or equal to 5"),
        ("steps:\n  - {id: a, tool: x, retry: soon}", "step 1, retry"),
        ("steps:\n  - {id: a, tool: x, on_error: explode}", "'stop', 'continue' or 'ask'"),
        ("steps:\n  - {id: a, tool: x, bound: 5000}", "less than or equal to 1000"),
        ("steps:\n  - {id: a, tool: x}\n  - {id: a, tool: x}", "stands twice"),
        ("steps:\n  - {id: A-b, tool: x}", "cannot be named so"),
        ("steps:\n  - {id: item, tool: x}", "cannot be named so"),
        ("steps:\n  - {id: a, tool: run_skill}", "cannot be a step"),
        ("steps:\n  - {id: a, tool: x}\nsteps: []\n", "stands twice"),
        ("parameters: {s: {typ: time}}\nsteps:\n  - {id: a, tool: x}", "did you mean 'type'?"),
        ("parameters: {s: {type: tim}}\nsteps:\n  - {id: a, tool: x}", "parameters.s.type"),
        ("parameters: {s: {type: choice}}\nsteps:\n  - {id: a, tool: x}", "a choice needs options"),
        ("parameters: {a: {}}\nsteps:\n  - {id: a, tool: x}", "stands twice"),
        ("steps:\n  - {id: a, tool: x}\nreport: ../../secret", "no plain file name"),
        ("steps:\n  - {id: a, tool: x}\nreport: gone.j2", "not in the skill's folder"),
        ("a: &a [1]\nb: !!python/object:os.system x", "chain.yaml"),
    ],
)
def test_a_bad_chain_costs_that_skill_alone(tmp_path: Path, chain: str, why: str) -> None:
    assert why in reason(tmp_path, chain=chain)


def test_tools_of_a_skill_are_refused_with_what_to_do_instead(tmp_path: Path) -> None:
    assert "Install them as a plug-in" in reason(tmp_path, tools_py="")


def test_a_chain_that_is_no_text_costs_that_skill_alone(tmp_path: Path) -> None:
    folder = write(tmp_path, "bad")
    (folder / "chain.yaml").write_bytes(b"\xff\xfe\x00")
    assert "not UTF-8" in read_registry([tmp_path]).refused[0].reason


def test_a_report_that_leads_out_of_its_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hunter2")
    folder = write(tmp_path, "bad", chain="steps:\n  - {id: a, tool: x}\nreport: report.j2")
    (folder / "report.j2").symlink_to(tmp_path / "secret")
    assert "leads out" in read_registry([tmp_path]).refused[0].reason


def test_the_first_folder_keeps_a_name(tmp_path: Path) -> None:
    first, second = write(tmp_path / "bundled", "one"), write(tmp_path / "own", "one")
    registry = read_registry([tmp_path / "bundled", tmp_path / "own"])
    assert [skill.folder for skill in registry.skills] == [first]
    assert [(one.folder, "is taken by" in one.reason) for one in registry.refused] == [(second, True)]
    assert (second / "SKILL.md").is_file()


def test_a_folder_that_is_not_there_holds_no_skills(tmp_path: Path) -> None:
    assert read_registry([tmp_path / "nowhere"]).skills == ()


def test_a_wrong_name_leads_to_the_nearest_and_a_refused_one_to_its_reason(tmp_path: Path) -> None:
    write(tmp_path, "log-diagnosis")
    write(tmp_path, "bad", "no head")
    registry = read_registry([tmp_path])
    with pytest.raises(SkillError, match=r"Did you mean log-diagnosis\?"):
        registry.find("log-diagnosys")
    with pytest.raises(SkillError, match="has no head"):
        registry.find("bad")
    assert registry.find(" Log-Diagnosis ").name == "log-diagnosis"
