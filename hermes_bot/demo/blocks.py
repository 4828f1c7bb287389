"""Knows how Slack shows a message: its blocks and attachments, or its text where it has none. Pure.

https://docs.slack.dev/reference/block-kit/blocks
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hermes_bot.demo.marked import read_markdown
from hermes_bot.demo.mrkdwn import inline, read_mrkdwn
from hermes_bot.demo.nodes import Element, Node, element, link

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hermes_bot.simulator import Entry

Block = dict[str, Any]

_COLORS = {"danger": "bad", "warning": "warn", "good": "good"}


def read_message(entry: Entry, names: Mapping[str, str]) -> list[Node]:
    """Return what people see of a message; its files are shown apart."""
    blocks = _dicts(entry.raw.get("blocks"))
    reader = _Reader(names, deque(entry.buttons))
    body = reader.blocks(blocks) if blocks else read_mrkdwn(entry.text, names)
    return body + [reader.attachment(one) for one in _dicts(entry.raw.get("attachments"))]


@dataclass(slots=True)
class _Reader:
    """Reads one message; ``buttons`` are those to come, in the order in which they stand."""

    names: Mapping[str, str]
    buttons: deque[dict[str, Any]] = field(default_factory=deque)

    def blocks(self, blocks: Sequence[Block]) -> list[Node]:
        return [node for block in blocks for node in self.block(block)]

    def block(self, block: Block) -> Iterator[Node]:
        match block.get("type"):
            case "markdown":
                yield from read_markdown(str(block.get("text", "")), self.names)
            case "section":
                yield self._section(block)
            case "header":
                yield element("heading", *self._text(block.get("text")), level=str(block.get("level", 1)))
            case "context":
                yield element("context", *self._context(block))
            case "actions" | "context_actions":
                yield element("actions", *(self._button(one) for one in _dicts(block.get("elements"))))
            case "rich_text":
                yield from (self._rich(one) for one in _dicts(block.get("elements")))
            case "table" | "data_table":
                yield self._table(block)
            case "divider":
                yield element("rule")
            case "image":
                yield element("image", str(block.get("alt_text", "image")))
            case kind:
                yield element("unknown", f"A block of the kind “{kind}”, which this page does not draw.")

    def attachment(self, found: Block) -> Node:
        """Return an old-style attachment: a bar in a colour, and what stands beside it."""
        children: list[Node] = []
        for part in ("pretext", "author_name", "title", "text"):
            if said := str(found.get(part) or ""):
                read = read_mrkdwn(said, self.names)
                children += [element("strong", *inline(said, self.names))] if part == "title" else read
        pairs = [self._pair(one) for one in _dicts(found.get("fields"))]
        children += [element("columns", *pairs)] if pairs else []
        children += self.blocks(_dicts(found.get("blocks")))
        if footer := str(found.get("footer") or ""):
            children.append(element("context", *inline(footer, self.names)))
        if not children:
            children += read_mrkdwn(str(found.get("fallback") or ""), self.names)
        return element("attachment", *children, tone=_COLORS.get(str(found.get("color")), "plain"))

    def _pair(self, one: Block) -> Node:
        head = element("strong", *inline(str(one.get("title", "")), self.names))
        return element("pair", head, *inline(str(one.get("value", "")), self.names))

    def _section(self, block: Block) -> Node:
        children = self._text(block.get("text"))
        fields = [element("field", *self._text(one)) for one in _dicts(block.get("fields"))]
        children += [element("columns", *fields)] if fields else []
        if isinstance(block.get("accessory"), dict):
            children.append(element("actions", self._button(block["accessory"])))
        return element("section", *children)

    def _context(self, block: Block) -> Iterator[Node]:
        for one in _dicts(block.get("elements")):
            if one.get("type") == "image":
                yield element("image", str(one.get("alt_text", "image")))
            else:
                yield from self._text(one)

    def _text(self, found: Any) -> list[Node]:
        if not isinstance(found, dict):
            return []
        said = str(found.get("text", ""))
        return read_mrkdwn(said, self.names) if found.get("type") == "mrkdwn" else [said]

    def _button(self, one: Block) -> Node:
        known = self.buttons.popleft() if self.buttons else {}
        label = "".join(str(node) for node in self._text(one.get("text"))) or str(one.get("type", "button"))
        if one.get("type") != "button":
            return element("unknown", label)
        if one.get("url"):
            return link(str(one["url"]), label)
        action = str(known.get("action") or one.get("action_id") or "")
        return element("button", label, action=action, style=str(one.get("style", "")))

    def _table(self, block: Block) -> Node:
        found = block.get("rows")
        rows = found if isinstance(found, list) else []
        settings = _dicts(block.get("column_settings"))
        aligns = [str(one.get("align", "")) for one in settings]
        made = [self._row(row, aligns, is_head=at == 0) for at, row in enumerate(rows)]
        return element("table", *made)

    def _row(self, row: Any, aligns: list[str], *, is_head: bool) -> Node:
        cells = [
            element(
                "cell",
                *self._cell(cell),
                head="yes" if is_head else "",
                align=aligns[at] if at < len(aligns) else "",
            )
            for at, cell in enumerate(_dicts(row))
        ]
        return element("row", *cells)

    def _cell(self, cell: Block) -> Iterator[Node]:
        if cell.get("type") == "rich_text":
            for one in _dicts(cell.get("elements")):
                yield from (self._rich_inline(part) for part in _dicts(one.get("elements")))
        else:
            yield str(cell.get("text", cell.get("value", "")))

    def _rich(self, one: Block) -> Node:
        parts = _dicts(one.get("elements"))
        inside = tuple(self._rich_inline(part) for part in parts)
        match one.get("type"):
            case "rich_text_preformatted":
                return Element("pre", inside, {"language": str(one.get("language", ""))})
            case "rich_text_quote":
                return Element("quote", inside)
            case "rich_text_list":
                items = tuple(Element("item", (self._rich(part),)) for part in parts)
                return element("list", *items, start="1" if one.get("style") == "ordered" else "")
            case _:
                return Element("paragraph", inside)

    def _rich_inline(self, part: Block) -> Node:
        match part.get("type"):
            case "text":
                return _styled(str(part.get("text", "")), part.get("style"))
            case "link":
                return link(str(part.get("url", "")), str(part.get("text") or part.get("url", "")))
            case "user":
                return self._mention("@", str(part.get("user_id", "")))
            case "channel":
                return self._mention("#", str(part.get("channel_id", "")))
            case "broadcast":
                return element("mention", f"@{part.get('range', '')}")
            case _:
                name = part.get("name")
                return f":{name}:" if name else str(part.get("fallback") or part.get("text") or "")

    def _mention(self, sign: str, who: str) -> Node:
        return element("mention", f"{sign}{self.names.get(who, who)}", who=who)


def _styled(text: str, style: Any) -> Node:
    node: Node = text
    given = style if isinstance(style, dict) else {}
    if given.get("code"):
        node = element("code", node)
    if given.get("strike"):
        node = element("strike", node)
    if given.get("italic"):
        node = element("emphasis", node)
    return element("strong", node) if given.get("bold") else node


def _dicts(found: Any) -> list[Block]:
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
