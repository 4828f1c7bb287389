"""Knows Telegram's HTML: which tags there are, how they nest, and which mistakes there are."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hermes_bot.simulator.telegram.markup import Parse, link_of
from hermes_bot.simulator.telegram.refusal import bad_request

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_bot.simulator.telegram.entities import Entity

_TYPES: Mapping[str, str] = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strikethrough",
    "strike": "strikethrough",
    "del": "strikethrough",
    "tg-spoiler": "spoiler",
    "span": "spoiler",
    "a": "text_link",
    "code": "code",
    "pre": "pre",
    "blockquote": "blockquote",
    "tg-emoji": "custom_emoji",
    "tg-time": "date_time",
}
_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"'}
_START = re.compile(r"<([^\s>]*)")
_END = re.compile(r"</([^\s>]*)\s*(>?)")
_SPECIAL = re.compile(r"[<&]")
_CHARACTER = re.compile(r"&(?:#[xX](?P<hex>[0-9a-fA-F]{1,8})|#(?P<dec>[0-9]{1,8})|(?P<name>[A-Za-z]+));?")
_ATTRIBUTE = re.compile(
    r"\s*(?P<name>[^\s=>]*)\s*(?P<equals>=?)\s*(?:(?P<quote>[\"'])(?P<quoted>.*?)(?P=quote)|(?P<bare>[^\s>\"']*))",
    re.DOTALL,
)
_TOKEN = re.compile(r"[A-Za-z0-9.-]*\Z")
_LAST_CODE_POINT = 0x10FFFF


@dataclass(slots=True)
class _Open:
    tag: str
    values: dict[str, str]
    offset: int
    written: int  # pieces of plain text before it


@dataclass(slots=True)
class _Html(Parse):
    opened: list[_Open] = field(default_factory=list)


def parse_html(source: str) -> tuple[str, list[Entity]]:
    """Return the text people see and its entities, outer ones first.

    Raises:
        Refused: a tag that does not exist, is not closed, or is closed in the wrong order.
    """
    parse = _Html(source)
    while special := _SPECIAL.search(source, parse.at):
        if special.start() > parse.at:
            parse.write(source[parse.at : special.start()])
        parse.at = special.start()
        if special.group() == "&":
            _read_character(parse)
        elif source.startswith("</", parse.at):
            _read_end(parse)
        else:
            _read_start(parse)
    parse.write(source[parse.at :])
    if parse.opened:
        raise bad_request(
            f"can't parse entities: Can't find end tag corresponding to start tag \"{parse.opened[-1].tag}\""
        )
    return parse.result()


def _read_character(parse: _Html) -> None:
    match = _CHARACTER.match(parse.source, parse.at)
    written = _character(match) if match else None
    if match is None or written is None:  # any other ampersand stands for itself
        parse.write("&")
        parse.at += 1
        return
    parse.write(written)
    parse.at = match.end()


def _character(match: re.Match[str]) -> str | None:
    if match["name"]:
        return _NAMED.get(match["name"])
    code = int(match["hex"], 16) if match["hex"] else int(match["dec"])
    return chr(code) if 0 < code <= _LAST_CODE_POINT else None


def _read_start(parse: _Html) -> None:
    begin = parse.at
    name = _START.match(parse.source, begin)
    if name is None or name.end() >= len(parse.source):
        raise parse.wrong("Unclosed start tag", begin)
    tag = name[1].lower()
    if tag not in _TYPES:
        raise parse.wrong(f'Unsupported start tag "{tag}"', begin)
    parse.at = name.end()
    values = _read_attributes(parse, tag, begin)
    if tag == "span" and values.get("class") != "tg-spoiler":
        raise parse.wrong('Tag "span" must have class "tg-spoiler"', begin)
    if tag == "tg-emoji" and not values.get("emoji-id", "").isdigit():
        raise bad_request("can't parse entities: Invalid custom emoji identifier specified")
    parse.opened.append(_Open(tag, values, parse.offset, len(parse.pieces)))


def _read_attributes(parse: _Html, tag: str, begin: int) -> dict[str, str]:
    """Read up to and over the ``>`` of a start tag."""
    values: dict[str, str] = {}
    source = parse.source
    while True:
        while parse.at < len(source) and source[parse.at].isspace():
            parse.at += 1
        if parse.at >= len(source):
            raise parse.wrong("Unclosed start tag", begin)
        if source[parse.at] == ">":
            parse.at += 1
            return values
        match = _ATTRIBUTE.match(source, parse.at)
        if match is None or not match["name"]:
            raise parse.wrong(f'Empty attribute name in the tag "{tag}"', begin)
        if not match["equals"] and match["name"] != "expandable":
            raise parse.wrong(f'Expected equal sign in declaration of an attribute of the tag "{tag}"', begin)
        _take_value(parse, match, values, begin)


def _take_value(parse: _Html, match: re.Match[str], values: dict[str, str], begin: int) -> None:
    name = match["name"].lower()
    if not match["equals"]:
        values[name], parse.at = "1", match.end("name")
        return
    if match["quote"] is None:
        if parse.source.startswith(('"', "'"), match.end()):
            raise parse.wrong("Unclosed start tag", begin)
        if not _TOKEN.match(match["bare"]):
            raise parse.wrong("Unexpected end of name token", match.start("bare"))
        values[name] = match["bare"].lower()
    else:
        values[name] = _CHARACTER.sub(lambda one: _character(one) or one.group(), match["quoted"])
    parse.at = match.end()


def _read_end(parse: _Html) -> None:
    begin = parse.at
    if not parse.opened:
        raise parse.wrong("Unexpected end tag", begin)
    match = _END.match(parse.source, begin)
    if match is None or not match[2]:
        raise parse.wrong("Unclosed end tag", begin)
    opened = parse.opened.pop()
    if match[1] and match[1].lower() != opened.tag:
        raise parse.wrong(
            "Unmatched end tag", begin, f', expected "</{opened.tag}>", found "</{match[1].lower()}>"'
        )
    parse.at = match.end()
    if parse.offset > opened.offset:
        _close(parse, opened)


def _close(parse: _Html, opened: _Open) -> None:
    entity: Entity = {
        "type": _TYPES[opened.tag],
        "offset": opened.offset,
        "length": parse.offset - opened.offset,
    }
    last = parse.entities[-1] if parse.entities else {}
    match opened.tag:
        case "a":
            href = opened.values.get("href") or "".join(parse.pieces[opened.written :])
            if not link_of(href):
                return
            entity["url"] = link_of(href)
        case "code" if opened.values.get("class", "").startswith("language-"):
            entity["language"] = opened.values["class"].removeprefix("language-")
        case "pre" if last.get("type") == "code" and _is_same_place(last, entity):
            if "language" in last:
                entity["language"] = last["language"]
            parse.entities.pop()
        case "blockquote" if "expandable" in opened.values:
            entity["type"] = "expandable_blockquote"
        case "tg-emoji":
            entity["custom_emoji_id"] = opened.values["emoji-id"]
        case "tg-time":
            entity["unix_time"] = int(opened.values.get("unix", "0") or 0)
        case _:
            pass
    parse.entities.append(entity)


def _is_same_place(one: Entity, other: Entity) -> bool:
    return bool(one["offset"] == other["offset"] and one["length"] == other["length"])
