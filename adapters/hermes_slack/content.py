"""Knows what a Slack message says: its text, and what stands in blocks, attachments and captions instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_bot.messages import IncomingFile
from hermes_slack.texts import decoded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hermes_slack.wire import Message

    Node = Mapping[str, Any]

MAX_CHARS = 40_000  # as Slack's own limit of a message


def content(message: Message, raw: str, names: Mapping[str, str]) -> str:
    """Return all of a message that people read, as text; ``raw`` is its own text as Slack writes it.

    A person's text is whole and their blocks repeat it; programs write a summary there, or nothing.
    """
    text = decoded(raw, names).strip()
    if text and not (message.bot_id or message.attachments or message.files):
        return text[:MAX_CHARS]
    found = [text] if text else []
    if not text or message.bot_id:
        found += _fresh(_blocks(message.blocks or (), names), text)
    found += _fresh(_attachments(message.attachments or (), names), text)
    found += [_caption(file) for file in _nodes(message.files)]
    return "\n".join(line for line in found if line)[:MAX_CHARS]


def files(message: Message, team: str) -> tuple[IncomingFile, ...]:
    """Return the files of a message; a deleted one is none."""
    return tuple(
        IncomingFile(
            name=str(file.get("name") or file.get("title") or file["id"]),
            ref=f"{team}/{file['id']}",
            size=size if isinstance(size := file.get("size"), int) else 0,
            kind=str(file.get("mimetype") or ""),
        )
        for file in _nodes(message.files)
        if isinstance(file.get("id"), str) and file.get("mode") != "tombstone"
    )


def _fresh(lines: Iterator[str], text: str) -> list[str]:
    return [line for line in lines if line and line not in text]


def _nodes(found: Any) -> Iterator[Node]:
    for node in found if isinstance(found, list | tuple) else ():
        if isinstance(node, dict):
            yield node


def _caption(file: Node) -> str:
    """Return a file's title where it says more than its name; ``alt_txt`` is for who cannot see it."""
    title, name = str(file.get("title") or ""), str(file.get("name") or "")
    about = [said for said in (title, str(file.get("alt_txt") or "")) if said and said != name]
    return "; ".join(about)


def _attachments(found: Any, names: Mapping[str, str]) -> Iterator[str]:
    for one in _nodes(found):
        said = [_text(one.get(part), names) for part in ("pretext", "author_name", "title", "text")]
        said += [
            f"{_text(pair.get('title'), names)}: {_text(pair.get('value'), names)}".strip(": ")
            for pair in _nodes(one.get("fields"))
        ]
        said += list(_blocks(one.get("blocks"), names))
        said.append(_text(one.get("footer"), names))
        shown = [line for line in said if line]
        yield "\n".join(shown) if shown else _text(one.get("fallback"), names)


def _text(found: Any, names: Mapping[str, str]) -> str:
    return decoded(found, names).strip() if isinstance(found, str) else ""


def _blocks(found: Any, names: Mapping[str, str]) -> Iterator[str]:
    for block in _nodes(found):
        kind = block.get("type")
        if kind == "rich_text":
            yield "\n".join(_rich(part, names).strip("\n") for part in _nodes(block.get("elements")))
        elif kind == "table":
            rows = block.get("rows")
            for row in rows if isinstance(rows, list) else ():
                yield " | ".join(_said(cell, names) for cell in _nodes(row))
        elif kind in ("section", "header", "context", "markdown", "image", "alert", "card"):
            yield _said(block, names)


def _said(block: Node, names: Mapping[str, str]) -> str:
    """Return the text of a block or of one of its parts, wherever it keeps it."""
    if block.get("type") in ("rich_text", "rich_text_section"):
        return "".join(_rich(part, names) for part in _nodes(block.get("elements")))
    found = [_plain(block.get(part), names) for part in ("title", "text", "subtitle", "body", "alt_text")]
    for part in ("fields", "elements"):
        found += [_said(one, names) for one in _nodes(block.get(part))]
    return "\n".join(line for line in found if line)


def _plain(found: Any, names: Mapping[str, str]) -> str:
    if isinstance(found, dict):
        return _plain(found.get("text"), names)
    return _text(found, names)


def _rich(part: Node, names: Mapping[str, str]) -> str:
    """Return a piece of rich text; its text is not escaped, unlike everywhere else."""
    inner = [_rich(one, names) for one in _nodes(part.get("elements"))]
    match part.get("type"):
        case "rich_text_list":
            return "".join(f"- {line}\n" for line in inner)
        case "rich_text_preformatted":
            return f"```\n{''.join(inner)}\n```\n"
        case "rich_text_quote":
            return "".join(f"> {line}\n" for line in "".join(inner).splitlines())
        case kind:
            return "".join(inner) or _leaf(str(kind), part, names)


def _leaf(kind: str, part: Node, names: Mapping[str, str]) -> str:
    token = {
        "user": f"<@{part.get('user_id', '')}>",
        "channel": f"<#{part.get('channel_id', '')}>",
        "broadcast": f"<!{part.get('range', '')}>",
    }.get(kind)
    if token is not None:
        return decoded(token, names)
    return f":{part.get('name', '')}:" if kind == "emoji" else str(part.get("text") or part.get("url") or "")
