"""Knows what of a text must not be live on any platform: links that lead where nobody should be led.

Mentions are each platform's own affair, as is the syntax that makes them live; its renderer breaks them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from hermes_bot.markdown import addresses
from hermes_bot.markdown.inlines import dead_link, linked
from hermes_bot.markdown.mapping import mapped
from hermes_bot.markdown.parse import parse
from hermes_bot.markdown.tree import Code, Link, Styled, Text, flat, merged
from hermes_bot.markdown.write import write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from hermes_bot.markdown.tree import Block, Blocks, Inline, Inlines


@lru_cache(maxsize=32)  # a text is measured, posted and perhaps posted again
def safe(text: str) -> Blocks:
    """Return the blocks of a Markdown text whose links may all be clicked."""
    return defuse(parse(text))


def defuse(blocks: Iterable[Block]) -> Blocks:
    """Return blocks whose links may all be clicked; the others are a label and its address in code."""
    return mapped(blocks, _safe)


def tamed(text: str, allowed: Callable[[str], bool]) -> str:
    """Return a Markdown text whose links all lead to hosts that are ``allowed``; the same text if they do.

    Others are their label and their address in code, with its query cut: what was read in one place may stand
    there. A name of a host without a scheme is in code too, since some platforms make a link of it.
    """
    blocks = parse(text)
    calm = mapped(blocks, lambda inlines: merged(it for one in inlines for it in _tame(one, allowed)))
    return text if calm == blocks else write(calm)


def _tame(inline: Inline, allowed: Callable[[str], bool]) -> Iterator[Inline]:
    match inline:
        case Styled(style, children):
            yield Styled(style, merged(it for one in children for it in _tame(one, allowed)))
        case Link(url, children) if not allowed(addresses.host_of(url)):
            label = () if inline.is_bare else merged(it for one in children for it in _tame(one, allowed))
            yield from dead_link(addresses.without_query(url), label)
        case Code(text) if (host := addresses.host_alone(text)) and not allowed(host):
            yield Code(addresses.without_query(text))
        case Text(text):
            yield from _tame_text(text, allowed)
        case _:
            yield inline


def _tame_text(text: str, allowed: Callable[[str], bool]) -> Iterator[Inline]:
    at = 0
    for begin, end in addresses.find_hosts(text):
        address = text[begin:end]
        if allowed(addresses.host_of(f"//{address}")):
            continue
        yield from (Text(text[at:begin]), Code(addresses.without_query(address)))
        at = end
    yield Text(text[at:])


def _safe(inlines: Inlines) -> Inlines:
    return merged(safe for inline in inlines for safe in _safe_inline(inline))


def _safe_inline(inline: Inline) -> Iterator[Inline]:
    match inline:
        case Styled(style, children):
            yield Styled(style, _safe(children))
        case Link(url, children) if not addresses.is_safe(url):
            yield from dead_link(url, children) if inline.is_bare else dead_link(url, _label(children))
        case Link(url, children) if _misleads(inline):
            yield from (*_label(children), Text(" ("), Link(url, (Text(url),)), Text(")"))
        case _:
            yield inline


def _label(children: Inlines) -> Inlines:
    """Return a label that has lost its link; an address in it would now be live by itself."""
    return _safe(linked(children))


def _misleads(link: Link) -> bool:
    """Whether a link's label is an address on another host than the one it leads to."""
    label = "".join(flat(link.children).split())
    if link.is_bare or "." not in label:
        return False
    found = [label[begin:end] for begin, end in addresses.find(label)]
    hosts = {addresses.host_of(one if addresses.scheme_of(one) else f"//{one}") for one in found}
    return bool(hosts - {addresses.host_of(link.url)})
