"""Knows how a chain's files come about: filled in, named safely, kept in the thread's workspace.

A file that cannot be made or kept never costs the report; what is missing is said under it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from hermes_bot.errors import SkillError, ToolError
from hermes_bot.messages import Attachment
from hermes_bot.skills.templates import evaluate, render

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence
    from pathlib import Path

    from hermes_bot.skills.bench import Bench
    from hermes_bot.skills.chain import FileTemplate

OUT = "out"  # in the thread's workspace
MAX_BYTES = 200_000
_LONGEST_NAME, _LONGEST_ABOUT = 80, 300
_UNSAFE = re.compile(r"[^\w.-]+")


class Keep(Protocol):
    """Whoever writes files into a thread's workspace."""

    async def __call__(self, workspace: Path, path: str, text: str, *, copy_of: str = "") -> None:
        """Put a text file, or a copy of another file of the workspace, in place of what has the name.

        Raises:
            ToolError: it cannot be written; says why.
        """
        ...


@dataclass(frozen=True, slots=True)
class Made:
    """A chain's files.

    Attributes:
        files: with their path in the workspace.
        problems: what there is no file of, and why, in sentences.
    """

    files: tuple[Attachment, ...] = ()
    problems: tuple[str, ...] = ()


async def make_files(templates: Sequence[FileTemplate], names: Mapping[str, Any], bench: Bench) -> Made:
    """Fill in the files of a chain and keep them.

    Each round of a run has a folder of its own, so that a file that still waits to be sent is not replaced;
    a chain that is carried out again after a crash writes its own files again.
    """
    made = Made()
    folder = f"{OUT}/{bench.state.run}-{bench.state.round}"
    for one in templates:
        try:
            if one.when and not evaluate(one.when, names, where=f"chain.yaml: attach {one.file}, when"):
                continue
            file = _named(one, names, {other.name for other in made.files})
            path = f"{folder}/{file.name}"
            await _keep(one, path, names, bench)
        except (SkillError, ToolError) as error:
            made = Made(made.files, (*made.problems, str(error)))
        else:
            made = Made((*made.files, Attachment(file.name, path, about=file.about)), made.problems)
    return made


async def _keep(one: FileTemplate, path: str, names: Mapping[str, Any], bench: Bench) -> None:
    workspace = bench.context.workspace
    if one.path:
        made = render(one.path, names, where=f"chain.yaml: attach {one.file}, path").strip()
        await bench.keep(workspace, path, "", copy_of=made)
    else:
        await bench.keep(workspace, path, _bounded(render(one.text, names, where=one.file).strip() + "\n"))


def _named(one: FileTemplate, names: Mapping[str, Any], taken: Container[str]) -> Attachment:
    name = _UNSAFE.sub("-", render(one.name, names, where=f"{one.file}, name"))
    name = name.strip("._-")[-_LONGEST_NAME:].lstrip("._-")
    if not name:
        raise SkillError(f"{one.file}, name: {one.name!r} gives no file name.")
    if name in taken:
        raise SkillError(f"{name}: another file of this skill has the name already.")
    about = " ".join(render(one.about, names, where=f"{one.file}, about").split())
    return Attachment(name, about=about[:_LONGEST_ABOUT])


def _bounded(text: str) -> str:
    raw = text.encode("utf-8", "replace")
    if len(raw) <= MAX_BYTES:
        return text
    kept = raw[: MAX_BYTES - 100].decode("utf-8", "ignore")
    return f"{kept}\n\n(Cut here: the whole has {len(raw):,} bytes.)\n"
