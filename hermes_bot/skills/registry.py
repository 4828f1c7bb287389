"""Knows the skills there are: reads each folder, keeps what is good, and why the rest was refused."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from hermes_bot.errors import SkillError
from hermes_bot.offline import SkillCard
from hermes_bot.sections import Figures
from hermes_bot.skills.reading import nearest, read_chain, read_text, read_yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from hermes_bot.skills.chain import Chain

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_HEAD = re.compile(r"\A---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)(.*)\Z", re.DOTALL)
# name to metadata: the open SKILL.md form (agentskills.io); the last six are ours
_KEY_NAMES = """
name description license compatibility allowed-tools metadata example examples tools profile limits verify
"""
_KEYS = tuple(_KEY_NAMES.split())
MAX_NAME = 64
MAX_DESCRIPTION = 1_024


@dataclass(frozen=True, slots=True)
class Skill:
    """One packaged ability.

    Attributes:
        folder: where it was read from.
        guidance: the body of SKILL.md, Markdown for the model.
        examples: texts that call it; the first is what ``skills check`` runs.
        tools: names of tools that a run with this skill is shown.
        chain: its fixed sequence; None where the skill is guidance only.
        profile: the guards' profile it asks for; empty means the default.
        limits: figures of that profile that it changes, under a profile's keys.
    """

    name: str
    description: str
    folder: Path
    guidance: str = ""
    examples: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    chain: Chain | None = None
    profile: str = ""
    limits: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A folder that is no usable skill, and why."""

    folder: Path
    reason: str


@dataclass(slots=True)
class Registry:
    """All skills of a process; help, lists, runs and schedules read this one, each time anew.

    Attributes:
        folders: where ``reload`` looks; the first that has a name keeps it.
        own: skills of the program itself: they are found by name, and in no list.
        on_reload: called once the skills were read again.
    """

    skills: tuple[Skill, ...] = ()
    refused: tuple[Refusal, ...] = ()
    folders: tuple[Path, ...] = ()
    own: tuple[Skill, ...] = ()
    on_reload: Callable[[], None] = lambda: None

    def reload(self) -> None:
        """Read the folders again, so that a skill that came into one is there from now on."""
        fresh = read_registry(self.folders)
        self.skills, self.refused = fresh.skills, fresh.refused
        self.on_reload()

    def get(self, name: str) -> Skill | None:
        """Return the skill of this name, or None."""
        return next((skill for skill in (*self.own, *self.skills) if skill.name == name), None)

    def nearest(self, name: str) -> str:
        """Return the skill name that looks most like this one, empty where none does."""
        return nearest(name.lower(), [skill.name for skill in self.skills])

    def find(self, name: str) -> Skill:
        """Return the skill of this name.

        Raises:
            SkillError: there is none; the sentence names the nearest, or why that folder was refused.
        """
        if (skill := self.get(name.strip().lower())) is not None:
            return skill
        for refusal in self.refused:
            if refusal.folder.name == name:
                raise SkillError(f"The skill {name} cannot be used: {refusal.reason}")
        near = self.nearest(name)
        known = ", ".join(skill.name for skill in self.skills) or "none"
        hint = f"Did you mean {near}?" if near else f"There are: {known}."
        raise SkillError(f"There is no skill {name!r}. {hint}")

    def cards(self) -> tuple[SkillCard, ...]:
        """Return the skills as they are shown and matched."""
        return tuple(SkillCard(one.name, one.description, one.examples) for one in self.skills)


def read_registry(folders: Iterable[Path]) -> Registry:
    """Read every skill in these folders; the first folder that has a name keeps it.

    A folder that does not exist holds no skills. A bad skill costs itself alone.
    """
    skills: dict[str, Skill] = {}
    refused: list[Refusal] = []
    folders = tuple(folders)
    for root in folders:
        for folder in _folders(root):
            try:
                skill = read_skill(folder)
            except SkillError as error:
                refused.append(Refusal(folder, str(error)))
                continue
            if (other := skills.setdefault(skill.name, skill)) is not skill:
                reason = f"The name {skill.name} is taken by {other.folder}. Rename one of the two."
                refused.append(Refusal(folder, reason))
    return Registry(tuple(skills[name] for name in sorted(skills)), tuple(refused), folders)


def _folders(root: Path) -> Sequence[Path]:
    try:
        return sorted(one for one in root.iterdir() if one.is_dir() and not one.name.startswith((".", "_")))
    except OSError:
        return ()


def read_skill(folder: Path) -> Skill:
    """Read one skill's folder.

    Raises:
        SkillError: SKILL.md or chain.yaml is missing or malformed.
    """
    if not (folder / "SKILL.md").is_file():
        raise SkillError("SKILL.md is missing. Every skill's folder needs one, with name and description.")
    head, body = _split(read_text(folder / "SKILL.md"))
    name, description = _name(head, folder), _text(head, "description")
    if not description or len(description) > MAX_DESCRIPTION:
        raise SkillError(f"SKILL.md: description needs 1 to {MAX_DESCRIPTION:,} characters.")
    if (folder / "tools.py").exists():
        raise SkillError(
            "It brings tools.py, and tools of skills are not loaded yet. Install them as a plug-in (entry "
            "point hermes_bot.tools) and remove the file."
        )
    path = folder / "chain.yaml"
    return Skill(
        name=name,
        description=" ".join(description.split()),
        folder=folder,
        guidance=body.strip(),
        examples=tuple(dict.fromkeys((*_texts(head, "example"), *_texts(head, "examples")))),
        tools=_texts(head, "tools"),
        chain=read_chain(read_text(path), folder) if path.is_file() else None,
        profile=_text(head, "profile"),
        limits=_limits(head),
    )


def _limits(head: dict[str, Any]) -> dict[str, Any]:
    """Return the figures that a skill changes; ``verify`` may stand on its own."""
    given = head.get("limits") or {}
    if not isinstance(given, dict):
        raise SkillError("SKILL.md: limits must be a mapping, such as limits: {rounds: 8}.")
    alone = {"verify": head["verify"]} if "verify" in head else {}
    try:
        return Figures.model_validate({**given, **alone}).model_dump(exclude_none=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key, known = str(first["loc"][0]), list(Figures.model_fields)
        hint = f"; did you mean {near!r}?" if (near := nearest(key, known)) and near != key else ""
        raise SkillError(f"SKILL.md: limits: {key}: {first['msg']}{hint or '.'}") from error


def _split(text: str) -> tuple[dict[str, Any], str]:
    found = _HEAD.match(text)
    if found is None:
        raise SkillError("SKILL.md: has no head. It begins with ---, then name and description, then ---.")
    head = read_yaml(found[1], "SKILL.md")
    if not isinstance(head, dict):
        raise SkillError("SKILL.md: the head is no mapping of keys. It needs name and description.")
    for key in head:
        if str(key) not in _KEYS and (hint := nearest(str(key), _KEYS, cutoff=0.75)):
            raise SkillError(f"SKILL.md: the key {key!r} is not known; did you mean {hint!r}?")
    return head, found[2]


def _name(head: dict[str, Any], folder: Path) -> str:
    name = _text(head, "name")
    if len(name) > MAX_NAME or not _NAME.fullmatch(name):
        raise SkillError(
            f"SKILL.md: name {name!r} cannot be used. Use lower-case letters, digits and single hyphens, at "
            f"most {MAX_NAME}."
        )
    if name != folder.name:
        raise SkillError(
            f"SKILL.md: name {name!r} differs from its folder {folder.name!r}. Make them the same."
        )
    return name


def _text(head: dict[str, Any], key: str) -> str:
    value = head.get(key, "")
    if value is None or isinstance(value, dict | list):
        raise SkillError(f"SKILL.md: {key} must be a text.")
    return str(value).strip()


def _texts(head: dict[str, Any], key: str) -> tuple[str, ...]:
    value = head.get(key)
    if value is None:
        return ()
    if isinstance(value, dict):
        raise SkillError(f"SKILL.md: {key} must be a text or a list of texts.")
    return tuple(str(one).strip() for one in (value if isinstance(value, list) else [value]))
