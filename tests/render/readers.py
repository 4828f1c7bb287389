"""Readers of what the renderers write, made from the platforms' own rules and from nothing of ours.

Each gives back what a person sees, and fails where the platform would refuse or where something is live.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markdown_it.token import Token

UNSEEN = "\u200b"
INLINE_TAGS = {"b", "i", "s", "u", "a"}
CODE_TAGS = {"code", "pre"}
PRIVATE = 0xF0000


def letters(text: str) -> list[str]:
    """Return the letters of a text in order, for comparing what is read with what was written."""
    return [char for char in text if char.isalpha()]


def seen(text: str) -> str:
    """Return a text without what nobody sees."""
    return text.replace(UNSEEN, "")


def utf16(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


@dataclass
class Telegram(HTMLParser):
    """Telegram's HTML mode (platforms.md §28.2): what is read, what it is made of, what is live in it."""

    source: str
    text: str = ""
    live: str = ""
    stack: list[str] = field(default_factory=list)
    entities: list[tuple[str, str]] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        assert not re.search(r"&(?!(?:amp|lt|gt|quot);)", self.source), "only these entities have names"
        self.feed(self.source)
        self.close()
        assert not self.stack, f"{self.stack} left open"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        assert tag in INLINE_TAGS | CODE_TAGS | {"blockquote"}, tag
        outer = set(self.stack)
        if tag == "code" and self.stack[-1:] == ["pre"]:
            assert set(values) <= {"class"}
            assert (values.get("class") or "").startswith("language-")
        else:
            assert not outer & CODE_TAGS, f"{tag} inside code"
            assert tag not in CODE_TAGS or not outer & INLINE_TAGS, f"{tag} inside {outer}"
            assert tag not in outer, f"{tag} inside itself"
            self.entities.append((tag, ""))
        if tag == "pre":
            self.code.append("")
        if tag == "a":
            assert set(values) == {"href"}
            self.links.append(values["href"] or "")
        self.stack.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        is_code = bool(set(self.stack) & CODE_TAGS)
        if "pre" in self.stack:
            self.code[-1] += data
        self.live += "\x00" if is_code or "a" in self.stack else data

    def check(self) -> None:
        """Fail where the message is refused, calls somebody, or offers a command or a bad link."""
        assert 0 < utf16(self.text.strip()) <= 4096
        assert len(self.entities) <= 100
        assert not re.search(r"(?<!\w)@\w", self.live), self.live
        assert not re.search(r"(?<![\w/<>])/\w+(?![\w/<>])", self.live), self.live
        assert not re.search(r"(?<![^\s(])[a-z]+://", self.live), self.live
        assert all(re.match(r"(https?://|mailto:)", link) for link in self.links), self.links


@dataclass
class Mrkdwn:
    """Slack's mrkdwn (platforms.md §13.1): what is read, and what was a token in it."""

    source: str
    text: str = ""
    live: str = ""
    tokens: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        for index, piece in enumerate(
            re.split(r"^```\n(.*?)\n```$", self.source, flags=re.DOTALL | re.MULTILINE)
        ):
            if index % 2:
                assert "```" not in piece
                self.code.append(self._plain(piece))
                self.text += self.code[-1]
            else:
                self.text += self._lines(piece)
        self.live = self.text
        self.text = self._shown(self.text)

    def _plain(self, text: str) -> str:
        """Return a text with its tokens as single signs of the private area, where no mark counts."""
        assert not re.search(r"&(?!amp;|lt;|gt;)", text), f"unescaped & in {text!r}"
        return unescape(re.sub(r"<([^>]*)>", self._token, text))

    def _token(self, match: re.Match[str]) -> str:
        self.tokens.append(match[1])
        return chr(PRIVATE + len(self.tokens) - 1)

    def _shown(self, text: str) -> str:
        """Put what tokens show in their places: the label, or the address."""
        for index, token in enumerate(self.tokens):
            address, _, label = token.partition("|")
            text = text.replace(chr(PRIVATE + index), unescape(label or address))
        return text

    def _lines(self, text: str) -> str:
        return "\n".join(self._line(line) for line in text.split("\n"))

    def _line(self, line: str) -> str:
        while line.startswith("> "):
            line = line[2:]
        assert not line.startswith("&gt;"), "a quote nobody meant"
        spans = re.split(r"(?<![^\W_])`([^`]+)`(?![^\W_])", line)
        return "".join(
            self._plain(span) if index % 2 else self._styled(span) for index, span in enumerate(spans)
        )

    def _styled(self, text: str) -> str:
        plain = self._plain(text)
        before = None
        while before != plain:
            before = plain
            for sign in map(re.escape, "*_~"):
                plain = re.sub(
                    rf"(?<![^\W_]){sign}(?![\s{UNSEEN}])([^\n]*?)(?<![\s{UNSEEN}]){sign}(?![^\W_])",
                    r"\1",
                    plain,
                )
        return plain

    def check(self) -> None:
        """Fail where something is live that nobody judged."""
        assert all(re.match(r"(https?://|mailto:)", token) for token in self.tokens), self.tokens
        assert not re.search(r"@(here|channel|everyone|group)\b(?!\.[A-Za-z])", self.live)


def commonmark() -> MarkdownIt:
    """Return a reader of Slack's markdown blocks: CommonMark with tables and strikethrough, HTML as text."""
    reader = MarkdownIt("commonmark", {"html": False})
    return reader.enable(["table", "strikethrough"]).disable(["html_block", "html_inline"])


def read_markdown(source: str) -> str:
    """Return what is read of a markdown block, line by line."""
    return "\n".join(_read(commonmark().parse(source)))


def tables(source: str) -> int:
    return sum(token.type == "table_open" for token in commonmark().parse(source))


def hrefs(source: str) -> list[str]:
    return [
        str(inner.attrs["href"])
        for token in commonmark().parse(source)
        for inner in token.children or ()
        if inner.type == "link_open"
    ]


def outside_links(source: str) -> str:
    """Return what is read of a markdown block, code too, without the labels of links."""
    kept: list[str] = []
    for token in commonmark().parse(source):
        depth = 0
        for child in token.children or ():
            depth += child.nesting if child.type.startswith("link") else 0
            kept.append("\n" if child.type == "softbreak" else "" if depth else child.content)
        kept.append("\n" if token.children else token.content)
    return "".join(kept)


def _read(tokens: Iterable[Token]) -> Iterable[str]:
    for token in tokens:
        if token.type in ("fence", "code_block"):
            yield token.content.removesuffix("\n")
        elif token.type == "inline":
            yield "".join(_inline(child) for child in token.children or ())


def _inline(token: Token) -> str:
    return "\n" if token.type in ("softbreak", "hardbreak") else token.content
