"""What a person reads of a post and what is live in it, by the platforms' rules and nothing of ours."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import unescape
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt

from hermes_bot.simulator.telegram.entities import found, part

if TYPE_CHECKING:
    from stages import Stage

    from hermes_bot.simulator import Entry

UNSEEN = "\u200b"
_TOKEN = re.compile(r"<([^<>]*)>")
_CALL = re.compile(r"@(?:here|channel|everyone|group)\b(?!\.\w)")
_IS_CALL = re.compile(r"[@#]\w|![A-Za-z]+(?:[|^]|$)")
_CODE = re.compile(r"```\n?(.*?)\n?```|`([^`\n]+)`", re.DOTALL)
_MARK = re.compile(r"(?<![^\W_])([*_~])(?![\s\u200b])([^\n]*?)(?<![\s\u200b])\1(?![^\W_])")


@dataclass
class Read:
    """One post as it is read.

    Attributes:
        words: all of it, marks gone, cells and lines apart.
        code: what stands in code blocks, as it is copied from there.
        links: the addresses behind links.
        live: what calls somebody, or offers a command, in the form the platform sees.
    """

    words: str = ""
    code: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    live: list[str] = field(default_factory=list)


def read(entry: Entry) -> Read:
    """Return a post as a person reads it."""
    seen = _of_telegram(entry) if entry.platform == "telegram" else _of_slack(entry)
    seen.words = seen.words.replace(UNSEEN, "")
    seen.code = [one.replace(UNSEEN, "") for one in seen.code]
    return seen


def content(it: Stage, entry: Entry) -> str:
    """Return what is in the file that a post came with."""
    (file,) = entry.files
    if it.platform == "slack":
        data = it.sim._files.stored[file["id"]].content
    else:
        data = it.sim.state.files._stored[file["id"]].data
    return bytes(data).decode()


def _of_telegram(entry: Entry) -> Read:
    text = entry.text
    entities = entry.raw.get("entities", [])
    live = [one for one in found(text, entities) if one["type"] in ("mention", "text_mention", "bot_command")]
    links = [one["url"] for one in entities if one["type"] == "text_link"]
    links += [part(text, one) for one in found(text, entities) if one["type"] == "url"]
    code = [part(text, one) for one in entities if one["type"] == "pre"]
    return Read(text, code, links, [part(text, one) for one in live])


def _of_slack(entry: Entry) -> Read:
    seen = Read()
    blocks: list[dict[str, Any]] = entry.raw.get("blocks") or []
    for block in blocks:
        match block["type"]:
            case "markdown":
                _markdown(block["text"], seen)
            case "section":
                _mrkdwn(block["text"]["text"], seen)
            case "context":
                for element in block["elements"]:
                    _mrkdwn(element["text"], seen)
            case _:
                pass
    beside = Read()  # what notifications and screen readers have
    _mrkdwn(entry.text, beside, has_marks=entry.raw.get("mrkdwn") is not False)
    seen.live += beside.live
    seen.links += beside.links
    return seen if blocks else beside


def _markdown(source: str, seen: Read) -> None:
    reader = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    seen.live += [token for token in _TOKEN.findall(source) if _IS_CALL.match(token)]
    for token in reader.parse(source):
        if token.type in ("fence", "code_block"):
            seen.code.append(token.content)
            seen.words += token.content + "\n"
        for child in token.children or ():
            seen.words += "\n" if "break" in child.type else child.content
            seen.live += _CALL.findall(child.content)
            if child.type == "link_open":
                seen.links.append(str(child.attrs["href"]))
            elif child.type == "image":
                seen.links.append(str(child.attrs["src"]))
        if token.type == "inline":
            seen.words += "\n"


def _mrkdwn(source: str, seen: Read, *, has_marks: bool = True) -> None:
    def shown(token: re.Match[str]) -> str:
        address, _, label = token[1].partition("|")
        (seen.live if _IS_CALL.match(address) else seen.links).append(address)
        return label or address

    seen.live += _CALL.findall(source)
    text, at = "", 0
    for piece in _CODE.finditer(source) if has_marks else ():
        text += _unmarked(_TOKEN.sub(shown, source[at : piece.start()]))
        inside = unescape(_TOKEN.sub(shown, piece[1] if piece[1] is not None else piece[2]))
        if piece[1] is not None:
            seen.code.append(inside + "\n")
        text, at = text + inside, piece.end()
    rest = _TOKEN.sub(shown, source[at:])
    seen.words += text + (_unmarked(rest) if has_marks else unescape(rest)) + "\n"


def _unmarked(text: str) -> str:
    before = None
    while before != text:
        before, text = text, _MARK.sub(r"\2", text)
    return unescape(text)
