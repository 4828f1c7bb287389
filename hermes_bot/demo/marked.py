"""Knows how Markdown is shown, where a message is written in it: Slack's markdown blocks. Pure.

https://docs.slack.dev/reference/block-kit/blocks/markdown-block
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from hermes_bot.demo.mrkdwn import read_token
from hermes_bot.demo.nodes import Element, Kind, Node, element, link

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_TOKEN = re.compile(r"<([@#!][^<>\s]+)>")
_TASK = re.compile(r"\[([ xX])\] ")
_ALIGN = re.compile(r"text-align:(left|center|right)")
_SIMPLE: Mapping[str, Kind] = {
    "paragraph": "paragraph",
    "strong": "strong",
    "em": "emphasis",
    "s": "strike",
    "blockquote": "quote",
    "list_item": "item",
    "table": "table",
    "tr": "row",
}
_TRANSPARENT = frozenset({"thead", "tbody", "inline"})


@lru_cache(maxsize=1)
def _reader() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def read_markdown(text: str, names: Mapping[str, str]) -> list[Node]:
    """Return a Markdown text as nodes; HTML in it is text, and an image is a link to it."""
    tree = SyntaxTreeNode(_reader().parse(text))
    return list(_all(tree.children, names))


def _all(found: Sequence[SyntaxTreeNode], names: Mapping[str, str]) -> Iterator[Node]:
    for one in found:
        yield from _node(one, names)


def _node(one: SyntaxTreeNode, names: Mapping[str, str]) -> Iterator[Node]:
    if one.type in _TRANSPARENT:
        yield from _all(one.children, names)
    elif (kind := _SIMPLE.get(one.type)) is not None:
        yield from _simple(one, kind, names)
    else:
        yield from _leaf(one, names)


def _simple(one: SyntaxTreeNode, kind: Kind, names: Mapping[str, str]) -> Iterator[Node]:
    children = tuple(_all(one.children, names))
    if kind == "paragraph" and one.hidden:  # the paragraph of a tight list
        yield from children
    elif kind == "item":
        ticked = _ticked(children)
        yield element("item", *ticked, task="" if ticked is children else "yes")
    else:
        yield Element(kind, children)


def _leaf(one: SyntaxTreeNode, names: Mapping[str, str]) -> Iterator[Node]:
    match one.type:
        case "text":
            yield from _words(one.content, names)
        case "fence" | "code_block":
            yield element("pre", one.content.removesuffix("\n"), language=one.info.split(" ")[0])
        case "heading":
            yield element("heading", *_all(one.children, names), level=one.tag[1:])
        case "bullet_list" | "ordered_list":
            start = str(one.attrs.get("start", 1)) if one.type == "ordered_list" else ""
            yield element("list", *_all(one.children, names), start=start)
        case "th" | "td":
            align = _ALIGN.search(str(one.attrs.get("style", "")))
            is_head = "yes" if one.type == "th" else ""
            yield element("cell", *_all(one.children, names), head=is_head, align=align[1] if align else "")
        case "hr":
            yield element("rule")
        case _:
            yield _inline(one, names)


def _inline(one: SyntaxTreeNode, names: Mapping[str, str]) -> Node:
    match one.type:
        case "code_inline":
            return element("code", one.content)
        case "softbreak" | "hardbreak":
            return "\n"
        case "link":
            return link(str(one.attrs.get("href", "")), *_all(one.children, names))
        case "image":
            return link(str(one.attrs.get("src", "")), one.content or "image")
        case _:
            return one.content


def _words(text: str, names: Mapping[str, str]) -> Iterator[Node]:
    """Yield a text with its mentions, which Slack reads in Markdown too."""
    at = 0
    for found in _TOKEN.finditer(text):
        if at < found.start():
            yield text[at : found.start()]
        yield read_token(found[1], names)
        at = found.end()
    if at < len(text):
        yield text[at:]


def _ticked(children: tuple[Node, ...]) -> tuple[Node, ...]:
    """Return an item whose task box is a sign."""
    first = children[0] if children else None
    if not isinstance(first, str) or not (box := _TASK.match(first)):
        return children
    return (f"{'☐' if box[1] == ' ' else '☑'} {first[box.end() :]}", *children[1:])
