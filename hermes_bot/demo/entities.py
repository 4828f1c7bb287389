"""Knows how Telegram shows a text with its entities (https://core.telegram.org/bots/api#messageentity). Pure.

Offsets count UTF-16 code units. Entities nest; one that overlaps another without nesting ends with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_bot.demo.nodes import Kind, Node, element, link

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Entity = dict[str, Any]

_KINDS: Mapping[str, Kind] = {
    "bold": "strong",
    "italic": "emphasis",
    "underline": "underline",
    "strikethrough": "strike",
    "spoiler": "spoiler",
    "code": "code",
    "pre": "pre",
    "blockquote": "quote",
    "expandable_blockquote": "quote",
    "mention": "mention",
    "text_mention": "mention",
    "hashtag": "mention",
    "bot_command": "mention",
}
_BLOCKS = frozenset({"pre", "quote"})


def read_entities(text: str, entities: Sequence[Entity]) -> list[Node]:
    """Return a text as nodes; line ends stay in it, but for the one beside a block."""
    units = text.encode("utf-16-le", "surrogatepass")
    inside = sorted(entities, key=lambda one: (one["offset"], -one["length"]))
    return _tidied(_span(units, 0, len(units) // 2, inside))


def _span(units: bytes, start: int, end: int, entities: list[Entity]) -> list[Node]:
    nodes: list[Node] = []
    at = start
    while entities:
        one = entities.pop(0)
        begin = max(int(one["offset"]), at)
        stop = min(int(one["offset"]) + int(one["length"]), end)
        if begin >= stop:
            continue
        nodes += _text(units, at, begin)
        inner = [other for other in entities if other["offset"] < stop]
        del entities[: len(inner)]
        nodes.append(_entity(one, _span(units, begin, stop, inner)))
        at = stop
    return nodes + _text(units, at, end)


def _text(units: bytes, start: int, end: int) -> list[Node]:
    said = units[2 * start : 2 * end].decode("utf-16-le", "replace")
    return [said] if said else []


def _entity(one: Entity, inner: list[Node]) -> Node:
    match one["type"]:
        case "text_link":
            return link(str(one.get("url", "")), *inner)
        case "url":
            said = "".join(node for node in inner if isinstance(node, str))
            return link(said if "://" in said else f"https://{said}", *inner)
        case "email":
            return link(f"mailto:{''.join(node for node in inner if isinstance(node, str))}", *inner)
        case "pre":
            return element("pre", *inner, language=str(one.get("language", "")))
        case kind if kind in _KINDS:
            return element(_KINDS[kind], *inner)
        case _:
            return element("emphasis", *inner) if one["type"] == "custom_emoji" else _plain(inner)


def _plain(inner: list[Node]) -> Node:
    return inner[0] if len(inner) == 1 else element("section", *inner, inline="yes")


def _tidied(nodes: list[Node]) -> list[Node]:
    """Take away the line ends beside blocks, which stand on lines of their own anyway."""
    tidy: list[Node] = []
    for at, node in enumerate(nodes):
        said = node
        if isinstance(said, str) and at + 1 < len(nodes) and _is_block(nodes[at + 1]):
            said = said.removesuffix("\n")
        if isinstance(said, str) and at and _is_block(nodes[at - 1]):
            said = said.removeprefix("\n")
        if said != "":
            tidy.append(said)
    return tidy


def _is_block(node: Node) -> bool:
    return not isinstance(node, str) and node.kind in _BLOCKS
