"""Knows how a post is laid out in Slack's blocks: an answer's Markdown, a card's sections and buttons."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from hermes_bot import markdown
from hermes_bot.markdown.mapping import mapped
from hermes_bot.markdown.tables import aligned
from hermes_bot.markdown.tree import (
    Code,
    Fence,
    Item,
    Link,
    Listing,
    Paragraph,
    Quote,
    Styled,
    Table,
    Text,
    flat,
)
from hermes_bot.ports import CONTINUE_PREFIX, STOP_PREFIX
from hermes_slack import mrkdwn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_bot.markdown.tree import Block, Blocks, Inline, Inlines
    from hermes_bot.messages import Button

Json = dict[str, Any]

LONGEST_MARKDOWN = 11_500  # of 12,000 in all markdown blocks of a message
LONGEST_SECTION = 2_900  # of 3,000
LONGEST_LABEL = 75
LONGEST_HINT = 300
MOST_BUTTONS = 25
MOST_COLUMNS, MOST_ROWS = 20, 99  # of the one table a message may have, beside its header


def answer(text: str) -> list[Json]:
    """Return the blocks of a text that asks nothing."""
    return [{"type": "markdown", "text": source(text)}]


@lru_cache(maxsize=32)  # a text is measured, posted and perhaps posted again
def source(text: str) -> str:
    """Return a text as the Markdown that Slack is sent: links safe, mentions dead, one table at most."""
    blocks = _one_table(markdown.safe(text))
    return markdown.write(mapped(blocks, _quiet, mrkdwn.quiet))


def _quiet(inlines: Inlines) -> Inlines:
    return tuple(map(_quiet_inline, inlines))


def _quiet_inline(inline: Inline) -> Inline:
    match inline:
        case Text(text) | Code(text):
            return replace(inline, text=mrkdwn.quiet(text))
        case Styled(_, children) | Link(_, children) if not (isinstance(inline, Link) and inline.is_bare):
            return replace(inline, children=_quiet(children))
        case _:
            return inline


def card(text: str, buttons: Sequence[Button]) -> list[Json]:
    """Return the blocks of a text with buttons: sections, the buttons, and a closing hint below them."""
    blocks = markdown.safe(text)
    body, hint = (blocks[:-1], blocks[-1:]) if len(blocks) > 1 and _is_hint(blocks[-1]) else (blocks, ())
    context = (
        [{"type": "context", "elements": [{"type": "mrkdwn", "text": mrkdwn.written(hint)}]}] if hint else []
    )
    return [*_sections(body), *_actions(buttons), *context]


def _sections(blocks: Blocks) -> list[Json]:
    pieces = markdown.split(markdown.write(blocks), lambda piece: len(_mrkdwn(piece)) <= LONGEST_SECTION)
    return [{"type": "section", "text": {"type": "mrkdwn", "text": _mrkdwn(piece)}} for piece in pieces]


def _mrkdwn(text: str) -> str:
    return mrkdwn.written(markdown.safe(text))


def _is_hint(block: Block) -> bool:
    """Whether a paragraph is short and all in italics, as the line is that says how to answer."""
    match block:
        case Paragraph((Styled("emphasis", children),)):
            return len(flat(children)) <= LONGEST_HINT
        case _:
            return False


def _actions(buttons: Sequence[Button]) -> list[Json]:
    elements = [_button(index, button) for index, button in enumerate(buttons)]
    return [
        {"type": "actions", "elements": elements[at : at + MOST_BUTTONS]}
        for at in range(0, len(elements), MOST_BUTTONS)
    ]


def _button(index: int, button: Button) -> Json:
    label = markdown.clip(" ".join(button.label.split()) or str(index + 1), LONGEST_LABEL)
    style = _style(button)
    return {
        "type": "button",
        "action_id": f"press:{index}",
        "value": str(button.press),
        "text": {"type": "plain_text", "text": label, "emoji": False},
        **({"style": style} if style else {}),
    }


def _style(button: Button) -> str:
    """Return how a button stands out: what ends a run is red, what goes on with it is not."""
    question = button.press.question
    if question.startswith(CONTINUE_PREFIX):
        return "primary" if button.press.option == 0 else "danger"
    return "danger" if question.startswith(STOP_PREFIX) else ""


def _one_table(blocks: Blocks) -> Blocks:
    """Return blocks in which every table but the first is aligned text: Slack refuses a second one."""
    seen = [False]
    return tuple(_table_as_code(block, seen) for block in blocks)


def _table_as_code(block: Block, seen: list[bool]) -> Block:
    match block:
        case Table() if seen[0]:
            return Fence(aligned(block))
        case Table():
            seen[0] = True
            return block
        case Quote(blocks):
            return Quote(tuple(_table_as_code(one, seen) for one in blocks))
        case Listing(items, is_tight):
            return Listing(
                tuple(
                    Item(tuple(_table_as_code(one, seen) for one in item.blocks), item.number, item.checked)
                    for item in items
                ),
                is_tight,
            )
        case _:
            return block
