"""Knows how a draft becomes a skill in a folder, and the chain that asks for consent between the two."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from hermes_bot.errors import SkillError
from hermes_bot.skills.chain import Chain, Parameter, Step, ToolWork
from hermes_bot.skills.check import nearest_valid, troubles_of
from hermes_bot.skills.registry import Skill, read_skill

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_bot.skills.check import Bed
    from hermes_bot.skills.registry import Registry

SAVE_SKILL = "save-skill"
DRAFT_TOOL, SAVE_TOOL = "draft_skill", "save_skill"
MOST_CHARS = 100_000  # of all files together
_FILES = frozenset({"SKILL.md", "chain.yaml", "report.md.j2"})
_REPORT = """{% if not drafted.ok %}I could not make a skill of it: {{ drafted.error.message }}
{% elif saved.ok %}The skill **{{ name }}** is saved and active: `run {{ name }}`.
{% for one in drafted.data.left_out %}
- Left out: {{ one }}
{% endfor %}
{% else %}The skill {{ name }} was not saved: {{ saved.error.message }}
{% endif %}"""

SAVING = Skill(
    name=SAVE_SKILL,
    description="Makes a skill of a finished run, once somebody who may has agreed to it.",
    folder=Path(),
    chain=Chain(
        parameters=(
            Parameter("name", is_required=True, ask="What shall the skill be called?"),
            Parameter("run", is_required=True, ask="Of which run shall it be made?"),
        ),
        steps=(
            Step(
                "drafted",
                ToolWork(DRAFT_TOOL, {"name": "{{ name }}", "run": "{{ run }}"}),
                on_error="continue",
                status="drafting {{ name }}…",
            ),
            Step(
                "saved",
                ToolWork(SAVE_TOOL, {"name": "{{ name }}", "files": "{{ drafted.data.files }}"}),
                when="drafted.ok",
                on_error="continue",
                status="saving {{ name }}…",
            ),
        ),
        report=_REPORT,
        report_name="its report",
    ),
)
"""The program's own chain behind ``/hermes save-skill``: it is found by name and in no list."""


def hash_of(files: Mapping[str, str]) -> str:
    """Return what tells one draft from another."""
    return hashlib.sha256(json.dumps(dict(files), sort_keys=True).encode()).hexdigest()[:16]


def name_problem(name: str, registry: Registry, folder: Path) -> str:
    """Return why a new skill cannot be called so; empty where it can. Nothing that is there is touched."""
    if not name or nearest_valid(name) != name:
        near = nearest_valid(name) or "my-skill"
        return f"{name[:60]!r} is no skill name: use lower-case words joined by hyphens, {near!r} say."
    if registry.get(name) is not None or any(one.folder.name == name for one in registry.refused):
        return f"There is a skill {name} already; it is left as it is. Choose another name."
    if (folder / name).exists():
        return f"There is a folder {name} among the saved skills already; it is left as it is."
    return ""


def checked(name: str, files: Mapping[str, str], bed: Bed) -> Skill:
    """Return the skill that these files make, read from a folder that is gone when this returns.

    Raises:
        SkillError: they make no skill that ``skills check`` would pass.
    """
    _check_files(files)
    with TemporaryDirectory() as scratch:
        home = Path(scratch) / name
        home.mkdir()
        _write(home, files)
        skill = read_skill(home)
    if troubles := troubles_of(skill, bed):
        raise SkillError(" ".join(one.text for one in troubles[:3]))
    return skill


def install(name: str, files: Mapping[str, str], folder: Path) -> Path:
    """Write a skill's folder, whole or not at all; one that is there is never written to.

    Raises:
        SkillError: it is there, or cannot be written.
    """
    _check_files(files)
    home, part = folder / name, folder / f".{name}.part"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(mode=0o700)
        _write(part, files)
        if home.exists():
            raise SkillError(f"There is a folder {name} already; it is left as it is.")
        part.rename(home)  # refused by the system too where a folder with something in it is there
    except OSError as error:
        raise SkillError(f"The skill {name} cannot be written ({error.strerror}).") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return home


def _check_files(files: Mapping[str, str]) -> None:
    if not files or not files.keys() <= _FILES:
        raise SkillError(f"A saved skill has the files {', '.join(sorted(_FILES))}, and no others.")
    if sum(map(len, files.values())) > MOST_CHARS:
        raise SkillError(
            f"The draft has over {MOST_CHARS:,} characters; that is no chain to read and agree to."
        )


def _write(home: Path, files: Mapping[str, str]) -> None:
    for file, text in files.items():
        (home / file).write_text(text, encoding="utf-8")
