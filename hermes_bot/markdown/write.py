"""Knows how the tree is written as Markdown again, so that whoever reads it gets the same tree.

What is written is CommonMark: Slack's markdown blocks and our own reader understand it alike. Only signs that
would be read as marks get a backslash, since most texts are looked at by people in some log, too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hermes_bot.markdown.parse import parse_inline
from hermes_bot.markdown.tree import (
    Break,
    Code,
    Fence,
    Heading,
    Item,
    Link,
    Listing,
    Paragraph,
    Quote,
    Rule,
    Styled,
    Table,
    Text,
    merged,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hermes_bot.markdown.tree import Alignment, Block, Inline, Inlines, Style

_MARKS: Mapping[Style, str] = {"strong": "**", "emphasis": "*", "strike": "~~"}
_DELIMITERS: Mapping[Alignment, str] = {"": "---", "left": ":--", "center": ":-:", "right": "--:"}
_PIPE = "\\|"
_PUNCTUATION = r"!-/:-@\[-`{-~"

_ESCAPED = re.compile(
    "|".join(
        (
            rf"\\(?=[{_PUNCTUATION}]|$)",
            "`",
            r"(?<!\s)\*|\*(?!\s)",
            r"(?<![^\W_])_|_(?![^\W_])",
            r"(?<![^\W_])~|~(?![^\W_])|~(?=~)|(?<=~)~",
            r"\](?=[(:\[]|$)|!$",
            r"<(?=(?:[A-Za-z][A-Za-z0-9_+.-]*:|[A-Za-z0-9_.!#$%&'*+/=?^`{|}~-]+@)[^\s<>]*>)",
            r"&(?=#?\w+;)",
        )
    )
)
_ENTITY = re.compile(r"&(?=#?\w+;)")
_LINE_START = re.compile(r"(?=#{1,6}(?:\s|$)|[-+*](?:\s|$)|>|~~~|[=|:-][\s|:=-]*$)")
_NUMBER_START = re.compile(r"(\d{1,9})(?=[.)](?:\s|$))")
_DELIMITER = re.compile(":?-+:?")  # a row of such cells would be read as another table's by simple readers
_CLOSING = re.compile(r"(?:^|(?<=\s))#+$")  # it would be read as the mark that may end a heading
_TASK_START = re.compile(r"(?=\[[ xX]\])")
_LABEL_ODD = re.compile(r"(?<!\\)[\[\]]")
_BARE = re.compile(r"https?://[A-Za-z0-9:/?#@.,;=&%+!$'()-]*[A-Za-z0-9/]")
_AUTOLINK = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,30}:[^\s<>\x00-\x20]*")
_AFTER = re.compile(r"[.,;:!?)]*(?:\s|$)")


def write(blocks: Sequence[Block]) -> str:
    """Return blocks as Markdown, without a line end at the end."""
    return "\n\n".join(_written(blocks))


def _written(blocks: Sequence[Block]) -> Iterable[str]:
    is_flipped = False
    for index, block in enumerate(blocks):
        before = blocks[index - 1] if index else None
        is_flipped = isinstance(block, Listing) and _would_join(before, block) and not is_flipped
        yield _list(block, is_flipped=is_flipped) if isinstance(block, Listing) else _block(block)


def _would_join(before: Block | None, block: Listing) -> bool:
    """Whether two lists in a row would be read as one unless their marks differ."""
    return isinstance(before, Listing) and before.is_ordered == block.is_ordered


def _block(block: Block) -> str:  # noqa: PLR0911 - one case a line
    match block:
        case Paragraph(children):
            return _paragraph(children)
        case Heading(level, children):
            return f"{'#' * level} {_heading(children)}".rstrip()
        case Quote(blocks):
            return _prefixed(write(blocks), ">", "> ")
        case Fence():
            return _fence(block)
        case Table():
            return _table(block)
        case Rule():
            return "___"
        case Listing():
            return _list(block, is_flipped=False)


def _prefixed(text: str, blank: str, prefix: str) -> str:
    return "\n".join(prefix + line if line else blank for line in text.split("\n"))


def _heading(children: Inlines) -> str:
    return _CLOSING.sub(r"\\\g<0>", sound(children))


def _fence(fence: Fence) -> str:
    char = "~" if "`" in fence.language else "`"
    runs = re.findall(rf"{char}{{3,}}", "\n".join(fence.lines))
    mark = char * max(3, *(len(run) + 1 for run in runs), 3)
    space = " " if fence.language.startswith("~") else ""
    return "\n".join((mark + space + fence.language, *fence.lines, mark))


def _table(table: Table) -> str:
    header = _row(table.header)
    delimiter = f"| {' | '.join(_DELIMITERS[one] for one in table.alignments)} |"
    return "\n".join((header, delimiter, *map(_row, table.rows)))


def _row(cells: Iterable[Inlines]) -> str:
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(children: Inlines) -> str:
    source = sound(children).replace("|", _PIPE)
    return f"\\{source}" if _DELIMITER.fullmatch(source) else source


def _list(listing: Listing, *, is_flipped: bool) -> str:
    bullet, dot = ("*", ")") if is_flipped else ("-", ".")
    items = (
        _item(item, bullet if item.number is None else f"{item.number}{dot}", is_tight=listing.is_tight)
        for item in listing.items
    )
    return ("\n" if listing.is_tight else "\n\n").join(items)


def _item(item: Item, mark: str, *, is_tight: bool) -> str:
    written = list(_written(item.blocks))
    text = "".join(
        piece if not index else _gap(item.blocks[index - 1], item.blocks[index], is_tight=is_tight) + piece
        for index, piece in enumerate(written)
    )
    if item.checked is not None:
        text = f"[{'x' if item.checked else ' '}] {text}"
    indent = " " * (len(mark) + 1)
    indented = _prefixed(text, "", indent)
    if item.blocks and _begins_anew(item.blocks[0]) and item.checked is None:
        return f"{mark}\n{indented}"
    return f"{mark} {indented[len(indent) :]}" if text else mark


def _begins_anew(block: Block) -> bool:
    """Whether a block stands below its item's mark: simple readers look for it at a line's begin alone."""
    return isinstance(block, Fence | Table)


def _gap(before: Block, block: Block, *, is_tight: bool) -> str:
    """Return the space between two blocks of an item: one line end where the second can follow directly."""
    if not is_tight or isinstance(before, Table | Quote | Listing):
        return "\n\n"
    match block:
        case Fence() | Quote():
            return "\n"
        case Listing((Item((first, *_), None | 1), *_)) if not _begins_anew(first):
            return "\n"
        case _:
            return "\n\n"


def _paragraph(children: Inlines) -> str:
    return _lines_safe(sound(children))


def sound(children: Inlines) -> str:
    """Return inlines as Markdown; styles that would not be read again as they are meant are left out."""
    source = inline_source(children)
    is_plain = not any(isinstance(child, Styled | Link) for child in children)
    return source if is_plain or parse_inline(source) == children else inline_source(_bare(children))


def _lines_safe(source: str) -> str:
    """Return a paragraph's source with a backslash before what would begin another block on its line."""
    return "\n".join(map(_line_safe, source.split("\n")))


def _line_safe(line: str) -> str:
    line = _NUMBER_START.sub(r"\1" + "\\\\", line, count=1) if _NUMBER_START.match(line) else line
    is_mark = _LINE_START.match(line) or _TASK_START.match(line)
    return "\\" + line if is_mark else line


def _bare(inlines: Iterable[Inline]) -> Inlines:
    """Return inlines without styles."""
    return merged(one for inline in inlines for one in _bared(inline))


def _bared(inline: Inline) -> Inlines:
    match inline:
        case Styled(_, children):
            return _bare(children)
        case Link(url, children):
            return (Link(url, _bare(children)),)
        case _:
            return (inline,)


def inline_source(inlines: Iterable[Inline]) -> str:
    """Return inlines as Markdown."""
    row = tuple(inlines)
    return "".join(_inline(inline, row[index + 1 : index + 2]) for index, inline in enumerate(row))


def _inline(inline: Inline, after: Inlines) -> str:
    match inline:
        case Text(text):
            return escaped(text)
        case Code(text):
            return _code(text)
        case Break():
            return "\n"
        case Styled(style, children):
            return f"{_MARKS[style]}{inline_source(children)}{_MARKS[style]}"
        case Link(url, children):
            return _address(url, after) if inline.is_bare else _link(url, children)


def escaped(text: str) -> str:
    """Return a text with a backslash before every sign that would be read as a mark."""
    return _ESCAPED.sub(r"\\\g<0>", text)


def _code(text: str) -> str:
    runs = {len(run) for run in re.findall("`+", text)}
    fence = "`" * next(length for length in range(1, len(runs) + 2) if length not in runs)
    is_padded = text[:1] == "`" or text[-1:] == "`" or (text[:1] == text[-1:] == " " and text.strip() != "")
    return f"{fence} {text} {fence}" if is_padded else f"{fence}{text}{fence}"


def _address(url: str, after: Inlines) -> str:
    """Return a bare address; in angle brackets where a mark in it or behind it would be misread."""
    ends = (
        not after
        or isinstance(after[0], Break)
        or (isinstance(after[0], Text) and _AFTER.match(after[0].text))
    )
    if ends and _BARE.fullmatch(url):
        return url
    return f"<{url}>" if _AUTOLINK.fullmatch(url) else _link(url, (Text(url),))


def _link(url: str, children: Inlines) -> str:
    label = _LABEL_ODD.sub(r"\\\g<0>", inline_source(children))
    return f"[{label}]({_destination(url)})"


def _destination(url: str) -> str:
    """Return an address for the brackets of a link: what would end it gets a backslash."""
    if url.count("(") != url.count(")"):
        url = url.replace("(", "\\(").replace(")", "\\)")
    return _ENTITY.sub(r"\\\g<0>", url)
