"""Knows how Markdown is read: CommonMark with tables, strikethrough and task lists, into our tree.

Nothing that was written is lost on the way. HTML and entities are text, as a model that writes ``&lt;`` means
to be read; references to links are text; what CommonMark would swallow (cells beyond a table's header, the
title of a link, words behind a fence's language, blocks nested too deep) is kept where it can be read.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, cast

from markdown_it import MarkdownIt

from hermes_bot.markdown import addresses
from hermes_bot.markdown.inlines import inlines_of, linked
from hermes_bot.markdown.tree import (
    Fence,
    Heading,
    Item,
    Listing,
    Paragraph,
    Quote,
    Rule,
    Table,
    Text,
    one_line,
    stripped,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

    from hermes_bot.markdown.tree import Alignment, Block, Blocks, Inlines

DEEPEST = 20  # markdown-it's levels: ten lists in one another; deeper text is read as a paragraph
_SHORT = 2_000  # characters: insides of paragraphs up to this length are remembered
_CELL_END = re.compile(r"(?<!\\)\|")
_INFO = re.compile(r"([\w+#.-]{0,30})(?:\s+(.*))?", re.DOTALL)
_TASK = re.compile(r"\[([ xX])\] ")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


@lru_cache(maxsize=8)  # a text is laid out, measured and shown; its tree is a value
def parse(text: str) -> Blocks:
    """Return the blocks of a Markdown text. Never fails; blank text has none."""
    tokens = _reader().parse(clean(text))
    return tuple(_blocks(tokens, 0, len(tokens)))


def parse_inline(text: str) -> Inlines:
    """Return the inlines of a text that is the inside of one paragraph."""
    return _short_inlines(text) if len(text) <= _SHORT else _read_inlines(text)


@lru_cache(maxsize=512)  # the search for a place to cut reads and writes the same paragraphs at each try
def _short_inlines(text: str) -> Inlines:
    return _read_inlines(text)


def _read_inlines(text: str) -> Inlines:
    reader = _reader()
    return stripped(inlines_of(reader.inline.parse(text, reader, {}, [])))


def clean(text: str) -> str:
    """Return text that every platform takes: line ends as LF, no lone surrogates, controls made visible."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _CONTROLS.sub("\ufffd", whole.replace("\r\n", "\n").replace("\r", "\n"))


@cache
def _reader() -> MarkdownIt:
    reader = _Reader("commonmark", {"html": False, "maxNesting": 2 * DEEPEST})
    reader.enable(["table", "strikethrough"])
    # "inline" is the step that reads paragraphs' insides: ``parse_inline`` does, and remembers them
    reader.disable(["entity", "reference", "html_block", "html_inline", "inline"])
    plain_table = next(rule.fn for rule in reader.block.ruler.__rules__ if rule.name == "table")

    def table(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 - markdown-it's
        first = len(state.tokens)
        if not plain_table(state, start, end, silent):
            return False
        if not silent:
            _keep_cells(state, state.tokens[first:])
        return True

    reader.block.ruler.at("table", table, {"alt": ["paragraph"]})
    reader.block.ruler.before("table", "too_deep", _too_deep)
    reader.inline.ruler.before("newline", "address", _address)
    return reader


class _Reader(MarkdownIt):
    """Takes every link as it was written: ``defuse`` judges them, for all renderers alike."""

    def validateLink(self, url: str) -> bool:  # noqa: N802 - markdown-it's
        return bool(url)

    def normalizeLink(self, url: str) -> str:  # noqa: N802 - markdown-it's
        return url

    def normalizeLinkText(self, link: str) -> str:  # noqa: N802 - markdown-it's
        return link


def _too_deep(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 - markdown-it's
    """Read the rest of a container as one paragraph: markdown-it would drop what is nested deeper."""
    if state.level < DEEPEST or silent:
        return False
    state.line = end
    state.push("paragraph_open", "p", 1).map = [start, end]
    token = state.push("inline", "", 0)
    lines = (state.src[state.bMarks[at] + state.tShift[at] : state.eMarks[at]] for at in range(start, end))
    token.content, token.map, token.children = "\n".join(lines).strip(), [start, end], []
    state.push("paragraph_close", "p", -1)
    return True


def _keep_cells(state: StateBlock, tokens: Sequence[Token]) -> None:
    """Put the cells of a row that its header has no column for into its last one."""
    columns = sum(token.type == "th_open" for token in tokens)
    row: list[str] = []
    cell = 0
    for token in tokens:
        if token.type == "tr_open":
            line = (token.map or [0])[0]
            row = _cells(state.getLines(line, line + 1, state.blkIndent, False))
            cell = 0
        elif token.type == "inline":
            cell += 1
            if cell == columns and len(row) > columns:
                token.content = " | ".join(row[columns - 1 :])


def _cells(line: str) -> list[str]:
    cells = [cell.strip().replace(r"\|", "|") for cell in _CELL_END.split(line.strip())]
    if cells and not cells[0]:
        cells = cells[1:]
    return cells[:-1] if cells and not cells[-1] else cells


def _address(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - markdown-it's
    """Take a bare address as one piece of text, so that the marks in it are no emphasis."""
    if state.src[state.pos] != ":" or not (rest := addresses.rest_at(state.src, state.pos)):
        return False
    if not silent:
        state.pending += rest
    state.pos += len(rest)
    return True


def _blocks(tokens: Sequence[Token], at: int, end: int) -> Iterator[Block]:
    while at < end:
        close = _close_of(tokens, at)
        yield from _block(tokens, at, close)
        at = close + 1


def _close_of(tokens: Sequence[Token], at: int) -> int:
    """Return where the block that begins at a token ends."""
    if tokens[at].nesting != 1:
        return at
    level, kind = tokens[at].level, tokens[at].type.removesuffix("open") + "close"
    while tokens[at].level != level or tokens[at].type != kind:
        at += 1
    return at


def _block(tokens: Sequence[Token], at: int, close: int) -> Iterator[Block]:
    token = tokens[at]
    match token.type:
        case "paragraph_open":
            if children := parse_inline(tokens[at + 1].content):
                yield Paragraph(children)
        case "heading_open":
            yield Heading(int(token.tag[1:]), one_line(parse_inline(tokens[at + 1].content)))
        case "blockquote_open":
            yield Quote(tuple(_blocks(tokens, at + 1, close)))
        case "bullet_list_open" | "ordered_list_open":
            yield _listing(tokens, at, close)
        case "fence" | "code_block":
            yield from _fence(token)
        case "hr":
            yield Rule()
        case "table_open":
            yield _table(tokens[at:close])
        case _:
            pass


def _fence(token: Token) -> Iterator[Block]:
    info = _INFO.fullmatch(token.info.strip())
    language, more = info.groups() if info else ("", token.info.strip())
    if more:  # a file's name, say: no platform shows it
        yield Paragraph(linked((Text(more),)))
    lines = token.content.removesuffix("\n").split("\n") if token.content else []
    yield Fence(tuple(lines), language)


def _listing(tokens: Sequence[Token], at: int, close: int) -> Listing:
    items: list[Item] = []
    is_tight = True
    at += 1
    while at < close:
        end = _close_of(tokens, at)
        is_tight &= all(
            one.hidden
            for one in tokens[at:end]
            if one.type == "paragraph_open" and one.level == tokens[at].level + 1
        )
        items.append(_item(tuple(_blocks(tokens, at + 1, end)), tokens[at].info))
        at = end + 1
    return Listing(_numbered(items), is_tight)


def _item(blocks: Blocks, number: str) -> Item:
    checked = None
    match blocks:
        case (Paragraph((Text(text), *others)), *more) if task := _TASK.match(text):
            checked = task[1] != " "
            rest = text[task.end() :].lstrip()
            children = cast("Inlines", (*([Text(rest)] if rest else []), *others))
            blocks = cast("Blocks", (*([Paragraph(children)] if children else []), *more))
        case _:
            pass
    return Item(blocks, int(number) if number else None, checked)


def _numbered(items: list[Item]) -> tuple[Item, ...]:
    """Count a list whose numbers are all the same, as lazy writers do; leave other numbers as they are."""
    numbers = {item.number for item in items}
    first = items[0].number
    if first is None or len(numbers) > 1:
        return tuple(items)
    return tuple(Item(item.blocks, first + index, item.checked) for index, item in enumerate(items))


def _table(tokens: Sequence[Token]) -> Table:
    rows: list[list[Inlines]] = []
    alignments: list[Alignment] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(one_line(parse_inline(token.content)))
        elif token.type == "th_open":
            style = str(token.attrGet("style") or "").removeprefix("text-align:")
            alignments.append(cast("Alignment", style))
    header, *body = [tuple(row) for row in rows]
    return Table(header, tuple(body), tuple(alignments))
