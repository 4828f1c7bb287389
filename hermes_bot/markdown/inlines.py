"""Knows how the inside of a paragraph is read: markdown-it's flat tokens into our nested inlines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hermes_bot.markdown import addresses
from hermes_bot.markdown.tree import Break, Code, Link, Styled, Text, edged, merged

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from markdown_it.token import Token

    from hermes_bot.markdown.tree import Inline, Inlines, Style

_STYLES: Mapping[str, Style] = {"strong": "strong", "em": "emphasis", "s": "strike"}


@dataclass(slots=True)
class _Frame:
    """What is open: a style or a link; ``inside`` are all styles that are, ``link`` is the link that is."""

    style: Style | None = None
    url: str = ""
    title: str = ""
    inside: frozenset[Style] = frozenset()
    link: _Frame | None = None
    children: list[Inline] = field(default_factory=list)

    def closed(self) -> Iterator[Inline]:
        """Yield what was open as inlines; line ends at its edges stand outside."""
        before, children, after = edged(merged(self.children))
        yield from before
        if self.style:
            yield Styled(self.style, children)
        else:
            yield from link(self.url, children or (Text(self.url),))
        if self.title:  # no platform shows what hovers over a link
            yield Text(f" ({self.title})")
        yield from after


def inlines_of(tokens: Sequence[Token]) -> Inlines:
    """Return the inlines of a paragraph's tokens; addresses that stand bare in it are links."""
    frames = [_Frame()]
    for token in tokens:
        if token.nesting == 1:
            frames.append(_opened(token, frames[-1]))
        elif token.nesting == -1:
            done = frames.pop()
            if done is not frames[-1]:
                frames[-1].children.extend(done.closed())
        else:
            frames[-1].children.extend(_leaf(token, frames[-1]))
    return linked(merged(frames[0].children))


def _opened(token: Token, outer: _Frame) -> _Frame:
    """Return a frame for what opens here; a style inside itself goes on in the outer one."""
    if token.tag == "a":
        url, title = addresses.normal(str(token.attrs.get("href", ""))), str(token.attrs.get("title", ""))
        frame = _Frame(url=url, title=title, inside=outer.inside)
        frame.link = frame
        return frame
    style = _STYLES[token.tag]
    return outer if style in outer.inside else _Frame(style, inside=outer.inside | {style}, link=outer.link)


def _leaf(token: Token, frame: _Frame) -> Iterator[Inline]:
    match token.type:
        case "code_inline":
            yield Code(token.content)
        case "softbreak" | "hardbreak":
            yield Break()
        case "image":
            yield from _image(token, frame.link)
        case _:
            yield Text(token.content)


def _image(token: Token, outer: _Frame | None) -> Iterator[Inline]:
    """Show an image as a link; one whose address is not plain is none, nor is one inside a link."""
    url, title = addresses.normal(str(token.attrs.get("src", ""))), str(token.attrs.get("title", ""))
    label = (Text(token.content.replace("\n", " ") or url),)
    if outer:
        yield from label
        outer.title = " ".join(filter(None, (outer.title, url, title)))
        return
    yield from link(url, label) if addresses.is_safe_image(url) else dead_link(url, label)
    if title:
        yield Text(f" ({title})")


def link(url: str, label: Inlines) -> Inlines:
    """Return a link, or what stands for it where its address is too long to be one on any platform."""
    return (Link(url, label),) if 0 < len(url) <= addresses.LONGEST else dead_link(url, label)


def dead_link(url: str, label: Inlines) -> Inlines:
    """Return a link as its label and its address in a code span, which no platform makes clickable."""
    if not url or label == (Text(url),):
        return (Code(url),) if url else label
    return (*label, Text(" ("), Code(url), Text(")"))


def linked(inlines: Iterable[Inline]) -> Inlines:
    """Return inlines in which every bare address outside a link is one, or code where it must not be."""
    found: list[Inline] = []
    for inline in inlines:
        match inline:
            case Text(text):
                found.extend(_linked_text(text))
            case Styled(style, children):
                found.append(Styled(style, linked(children)))
            case _:
                found.append(inline)
    return merged(found)


def _linked_text(text: str) -> Iterator[Inline]:
    at = 0
    for begin, end in addresses.find(text):
        address = text[begin:end]
        yield Text(text[at:begin])
        if addresses.scheme_of(address):
            yield from link(address, (Text(address),))
        else:
            yield Code(address) if addresses.carries_data(address) else Text(address)
        at = end
    yield Text(text[at:])
