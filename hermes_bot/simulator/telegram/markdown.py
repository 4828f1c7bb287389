"""Knows Telegram's MarkdownV2: which marks there are, what must be escaped, and which mistakes there are."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hermes_bot.simulator.telegram.markup import Parse, link_of
from hermes_bot.simulator.telegram.refusal import bad_request

if TYPE_CHECKING:
    from hermes_bot.simulator.telegram.entities import Entity

_MARKS = {  # longer ones first: ``__`` is underline wherever it stands
    "```": "pre",
    "__": "underline",
    "||": "spoiler",
    "![": "custom_emoji",
    "*": "bold",
    "_": "italic",
    "~": "strikethrough",
    "`": "code",
    "[": "text_link",
}
_ENDS = {kind: mark for mark, kind in _MARKS.items()} | {"text_link": "]", "custom_emoji": "]"}
_NAMES = {"pre": "PreCode", "text_link": "TextUrl", "custom_emoji": "CustomEmoji"}
_RESERVED = "_*[]()~`>#+-=|{}.!"
_PLAIN = re.compile(rf"[^\\\n{re.escape(_RESERVED)}]+")
_PLAIN_IN_CODE = re.compile(r"[^\\`]+")
_LANGUAGE = re.compile(r"([^\s`]+)?\n")
_ADDRESS = re.compile(r"\(((?:\\.|[^)\\])*)\)", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_EMOJI = re.compile(r"tg://emoji\?id=(\d+)")
_LAST_ASCII = 126


@dataclass(slots=True)
class _Open:
    kind: str
    begin: int
    offset: int
    written: int
    language: str = ""


@dataclass(slots=True)
class _Markdown(Parse):
    opened: list[_Open] = field(default_factory=list)
    quote: _Open | None = None
    quote_ends: bool = False

    @property
    def is_code(self) -> bool:
        return bool(self.opened) and self.opened[-1].kind in ("pre", "code")


def parse_markdown(source: str) -> tuple[str, list[Entity]]:
    """Return the text people see and its entities, outer ones first.

    Raises:
        Refused: a reserved character that is not escaped, or a mark that is not closed.
    """
    parse = _Markdown(source)
    while parse.at < len(source):
        if not parse.is_code and _is_line_start(parse):
            _read_line_start(parse)
        else:
            _read(parse)
    if parse.opened:
        opened = parse.opened[-1]
        name = _NAMES.get(opened.kind, opened.kind.capitalize())
        raise parse.wrong(f"Can't find end of {name} entity", opened.begin)
    _end_quote(parse)
    return parse.result()


def _is_line_start(parse: _Markdown) -> bool:
    is_start = parse.at == 0 or parse.source[parse.at - 1] == "\n"
    return is_start and (parse.quote is not None or parse.source.startswith((">", "**>"), parse.at))


def _read_line_start(parse: _Markdown) -> None:
    """Begin, go on with, or end a quote; then read on behind its mark."""
    is_new = parse.source.startswith("**>", parse.at)
    if is_new or not parse.source.startswith(">", parse.at):
        _end_quote(parse)
    if parse.source.startswith((">", "**>"), parse.at):
        if parse.quote is None:
            parse.quote = _Open("blockquote", parse.at, parse.offset, len(parse.pieces))
        parse.at += 3 if is_new else 1
    if parse.at < len(parse.source):
        _read(parse)


def _end_quote(parse: _Markdown) -> None:
    quote = parse.quote
    if quote is None:
        return
    kind = "expandable_blockquote" if parse.quote_ends else "blockquote"
    ends_line = bool(parse.pieces) and parse.pieces[-1] == "\n"
    length = parse.offset - quote.offset - ends_line
    if length > 0:
        parse.entities.append({"type": kind, "offset": quote.offset, "length": length})
    parse.quote, parse.quote_ends = None, False


def _read(parse: _Markdown) -> None:
    """Read one stretch of plain text, one escape, or one mark."""
    source, at = parse.source, parse.at
    if plain := (_PLAIN_IN_CODE if parse.is_code else _PLAIN).match(source, at):
        parse.write(plain.group())
        parse.at = plain.end()
    elif source[at] == "\\" and at + 1 < len(source) and 0 < ord(source[at + 1]) <= _LAST_ASCII:
        parse.write(source[at + 1])
        parse.at += 2
    elif parse.opened and _closes(parse, parse.opened[-1]):
        _close(parse, parse.opened.pop())
    elif parse.is_code or source[at] in "\\\n":
        parse.write(source[at])
        parse.at += 1
    else:
        _open(parse)


def _closes(parse: _Markdown, opened: _Open) -> bool:
    if opened.kind == "italic" and parse.source.startswith("__", parse.at):
        return False
    return parse.source.startswith(_ENDS[opened.kind], parse.at)


def _open(parse: _Markdown) -> None:
    source, begin = parse.source, parse.at
    mark = next((mark for mark in _MARKS if source.startswith(mark, begin)), "")
    if mark == "||" and parse.quote is not None and source[begin + 2 : begin + 3] in ("", "\n"):
        parse.quote_ends = True  # a quote whose last line ends so can be folded
        parse.at += 2
        return
    if not mark:
        raise bad_request(
            f"can't parse entities: Character '{source[begin]}' is reserved and must be escaped with the "
            "preceding '\\'"
        )
    parse.at += len(mark)
    opened = _Open(_MARKS[mark], begin, parse.offset, len(parse.pieces))
    if mark == "```" and (line := _LANGUAGE.match(source, parse.at)):
        opened.language = line[1] or ""
        parse.at = line.end()
    parse.opened.append(opened)


def _close(parse: _Markdown, opened: _Open) -> None:
    parse.at += len(_ENDS[opened.kind])
    entity: Entity = {
        "type": opened.kind,
        "offset": opened.offset,
        "length": parse.offset - opened.offset,
    }
    address = ""
    if opened.kind in ("text_link", "custom_emoji") and (found := _ADDRESS.match(parse.source, parse.at)):
        address, parse.at = _ESCAPED.sub(r"\1", found[1]), found.end()
    if opened.kind == "text_link":
        address = link_of(address or "".join(parse.pieces[opened.written :]))
        entity["url"] = address
    elif opened.kind == "custom_emoji":
        if not (emoji := _EMOJI.fullmatch(address)):
            raise bad_request("can't parse entities: Custom emoji entity must contain a tg://emoji URL")
        entity["custom_emoji_id"] = emoji[1]
    elif opened.language:
        entity["language"] = opened.language
    if entity["length"] and (address or opened.kind != "text_link"):
        parse.entities.append(entity)
