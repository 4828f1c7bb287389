"""Knows what a text is once it is parsed: what people see, its entities, and whether it may be sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hermes_bot.simulator.telegram.entities import Entity, found, units
from hermes_bot.simulator.telegram.html import parse_html
from hermes_bot.simulator.telegram.markdown import parse_markdown
from hermes_bot.simulator.telegram.refusal import bad_request

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_bot.simulator.telegram.arguments import Arguments
    from hermes_bot.simulator.telegram.state import Telegram

LONGEST_TEXT = 4096  # UTF-16 code units, after parsing
LONGEST_CAPTION = 1024
_ENTITY_FIELDS: Mapping[str, type] = {"type": str, "offset": int, "length": int}
_PREVIEW_FIELDS = frozenset(
    {"is_disabled", "url", "prefer_small_media", "prefer_large_media", "show_above_text"}
)
_MONOSPACE = frozenset({"code", "pre"})


@dataclass(frozen=True, slots=True)
class Content:
    """A text as people see it, and its entities."""

    text: str = ""
    entities: list[Entity] = field(default_factory=list)


def read_text(telegram: Telegram, args: Arguments) -> Content:
    """Return the text of a message.

    Raises:
        Refused: blank, too long, or its markup is wrong.
    """
    content = _parsed(telegram, args, "text", "entities")
    preview = args.nested("link_preview_options", "link preview options")
    if isinstance(preview, dict):
        telegram.complain_of_fields(args.method, "link_preview_options", preview, _PREVIEW_FIELDS)
    if not content.text:
        raise bad_request("message text is empty")
    if units(content.text) > LONGEST_TEXT:
        raise bad_request("message is too long")
    return content


def read_draft(telegram: Telegram, args: Arguments) -> Content:
    """Return the text of a draft; it may be empty, which shows that the bot thinks.

    Raises:
        Refused: its markup is wrong.
    """
    return _parsed(telegram, args, "text", "entities")


def read_caption(telegram: Telegram, args: Arguments) -> Content:
    """Return the caption of media; it may be empty.

    Raises:
        Refused: too long, or its markup is wrong.
    """
    content = _parsed(telegram, args, "caption", "caption_entities")
    if units(content.text) > LONGEST_CAPTION:
        raise bad_request("message caption is too long")
    return content


def _parsed(telegram: Telegram, args: Arguments, name: str, entities_name: str) -> Content:
    source, mode = args.text(name), args.text("parse_mode").lower()
    match mode:
        case "html":
            text, entities = parse_html(source)
        case "markdownv2":
            text, entities = parse_markdown(source)
        case "":
            text, entities = source, _given(telegram, args, entities_name)
        case _:  # the old Markdown mode among them, which nobody should use any more
            telegram.complain(f"{args.method}: parse_mode {mode} is not simulated.")
            raise bad_request("unsupported parse_mode")
    _watch_nesting(telegram, args.method, entities)
    text, entities = _trimmed(text, entities)
    return Content(text, found(text, entities))


def _given(telegram: Telegram, args: Arguments, name: str) -> list[Entity]:
    entities = args.nested(name, "entities") or []
    if not isinstance(entities, list) or not all(isinstance(one, dict) for one in entities):
        raise bad_request("can't parse entities: expected an Array of MessageEntity")
    length = units(args.text("text" if name == "entities" else "caption"))
    kept = []
    for one in entities:
        for field_name, kind in _ENTITY_FIELDS.items():
            if not isinstance(one.get(field_name), kind):
                raise bad_request(
                    f"can't parse MessageEntity: field {field_name} must be of type {kind.__name__}"
                )
        if one["offset"] >= 0 and 0 < one["length"] <= length - one["offset"]:
            kept.append(dict(one))
        else:
            telegram.complain(f"{args.method}: entity {one} lies outside of the text and is lost.")
    return sorted(kept, key=lambda one: (one["offset"], -one["length"]))


def _watch_nesting(telegram: Telegram, method: str, entities: list[Entity]) -> None:
    """Complain where the platform silently drops formatting: inside and around code, quotes in quotes."""
    for number, outer in enumerate(entities):
        for inner in entities[number + 1 :]:
            if inner["offset"] >= outer["offset"] + outer["length"]:
                break
            kinds = (str(outer["type"]), str(inner["type"]))
            is_quote = ["blockquote" in kind for kind in kinds]
            if all(is_quote) or (_MONOSPACE & set(kinds) and not is_quote[0]):
                telegram.complain(f"{method}: {kinds[1]} inside {kinds[0]}: one of them is lost.")


def _trimmed(text: str, entities: list[Entity]) -> tuple[str, list[Entity]]:
    """Cut blanks at both ends as the server does; in front only up to the first entity."""
    text = text.rstrip()
    if not text:
        return "", []
    front = len(text) - len(text.lstrip())
    front = min([front, *(one["offset"] for one in entities)])
    length = units(text) - front
    moved = []
    for one in entities:
        start = one["offset"] - front
        if start < length:
            moved.append(one | {"offset": start, "length": min(one["length"], length - start)})
    return text[front:], moved
