"""Knows what a message's text is made of once it is read: nodes that the page makes elements of. Pure.

Everything in a message is untrusted. What leaves here is a tree of kinds from a fixed list; the page makes
an element for each kind it knows and puts words in as text, so no markup of a message ever reaches a parser
of HTML.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Kind = Literal[
    "actions",
    "attachment",
    "button",
    "cell",
    "code",
    "columns",
    "context",
    "emphasis",
    "field",
    "heading",
    "image",
    "item",
    "link",
    "list",
    "mention",
    "pair",
    "paragraph",
    "pre",
    "quote",
    "row",
    "rule",
    "section",
    "spoiler",
    "strike",
    "strong",
    "table",
    "underline",
    "unknown",
]

_SAFE = re.compile(r"(?:https?://|mailto:|tel:|tg://)\S", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Element:
    """One piece of structure around others."""

    kind: Kind
    children: tuple[Node, ...] = ()
    attrs: Mapping[str, str] = field(default_factory=dict)


Node: TypeAlias = "str | Element"


def element(kind: Kind, *children: Node, **attrs: str) -> Element:
    """Return an element; attributes that are empty are left out."""
    return Element(kind, children, {name: value for name, value in attrs.items() if value})


def is_safe(address: str) -> bool:
    """Return whether an address leads somewhere and does nothing else."""
    return _SAFE.match(address) is not None


def link(address: str, *children: Node) -> Node:
    """Return a link, or its words alone where the address may do more than lead somewhere."""
    if is_safe(address):
        return element("link", *(children or (address,)), href=address)
    return element("code", address) if not children else Element("paragraph", children, {"inline": "yes"})


def to_json(nodes: Iterable[Node]) -> list[object]:
    """Return nodes as JSON: a text, or ``[kind, attributes, child, …]``."""
    return [
        node if isinstance(node, str) else [node.kind, dict(node.attrs), *to_json(node.children)]
        for node in nodes
    ]
