"""Knows the files that hold what is too long for a post: their names, their content, what they show."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hermes_bot.markdown.graphemes import clip
from hermes_bot.markdown.tables import csv_of, names_of
from hermes_bot.markdown.tree import Fence, Heading, Listing, Paragraph, Quote, Rule, Table, flat
from hermes_bot.messages import Attachment

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from hermes_bot.markdown.tree import Block, Blocks

_LONGEST_NAME = 48
_LONGEST_ABOUT = 300
_WORD = re.compile(r"[^\W_]+")
_EXTENSIONS: Mapping[str, str] = {
    "bash": "sh", "c": "c", "c++": "cpp", "cpp": "cpp", "cs": "cs", "csharp": "cs", "css": "css", "csv":
    "csv", "diff": "diff", "dockerfile": "dockerfile", "go": "go", "golang": "go", "html": "html",
    "ini": "ini", "java": "java", "javascript": "js", "js": "js", "json": "json", "jsonl": "jsonl",
    "kotlin": "kt", "log": "log", "lua": "lua", "markdown": "md", "md": "md", "patch": "diff", "perl":
    "pl", "php": "php", "powershell": "ps1", "py": "py", "python": "py", "python3": "py", "rb": "rb",
    "rs": "rs", "ruby": "rb", "rust": "rs", "scala": "scala", "sh": "sh", "shell": "sh", "sql": "sql",
    "swift": "swift", "toml": "toml", "ts": "ts", "tsv": "tsv", "typescript": "ts", "xml": "xml",
    "yaml": "yaml", "yml": "yaml", "zsh": "sh",
}  # fmt: skip


def whole(text: str, blocks: Blocks) -> Attachment:
    """Return a whole message as a file; ``blocks`` are its first ones."""
    about = f"The whole text, {len(text):,} characters of Markdown"
    return Attachment(_name(title_of(blocks) or "answer", "md", ()), text=text, about=about)


def table(block: Table, title: str, taken: Collection[str]) -> Attachment:
    """Return a table as a file, named after what stands above it."""
    columns = names_of(block)
    shape = f"{counted(len(block.rows), 'row')}, {counted(len(block.header), 'column')}"
    about = clip(f"{shape}: {columns}" if columns else shape, _LONGEST_ABOUT)
    return Attachment(_name(title or columns or "table", "csv", taken), text=csv_of(block), about=about)


def code(block: Fence, title: str, taken: Collection[str]) -> Attachment:
    """Return a code block as a file with the ending of its language."""
    language = block.language.lower()
    name = _name(title or "code", _EXTENSIONS.get(language, "txt"), taken)
    about = counted(len(block.lines), f"{language} line" if language in _EXTENSIONS else "line")
    return Attachment(name, text="\n".join((*block.lines, "")), about=about)


def title_of(blocks: Blocks) -> str:
    """Return what blocks are about: their first heading, else their first words."""
    headings = (flat(block.children) for block in blocks if isinstance(block, Heading))
    return next(headings, "") or next((title for block in blocks if (title := _first_words(block))), "")


def _first_words(block: Block) -> str:
    match block:
        case Paragraph(children) | Heading(_, children):
            return flat(children)
        case Quote(blocks):
            return title_of(blocks)
        case Listing(items):
            return title_of(items[0].blocks)
        case Table():
            return names_of(block)
        case Fence() | Rule():
            return ""


def _name(title: str, extension: str, taken: Collection[str]) -> str:
    """Return a name of the first words of a title that no other file of the message has."""
    stem = ""
    for word in _WORD.findall(title.lower()):
        if len(stem) + len(word) >= _LONGEST_NAME:
            break
        stem = f"{stem}-{word}" if stem else word
    stem = stem or "answer"
    names = (
        f"{stem}{number}.{extension}" for number in ("", *(f"-{again}" for again in range(2, len(taken) + 3)))
    )
    return next(name for name in names if name not in taken)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, one or many."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
