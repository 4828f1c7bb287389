"""Knows what stands under a message: inline keyboards, and the markup that only opens something."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_bot.simulator.telegram.refusal import bad_request

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hermes_bot.simulator.telegram.arguments import Arguments
    from hermes_bot.simulator.telegram.state import Telegram

MOST_BUTTONS = 100
MOST_IN_ROW = 8
MOST_DATA = 64  # bytes
LONGEST_HINT = 64  # characters of a ForceReply's placeholder
_MARKUP_FIELDS = frozenset(
    {
        "inline_keyboard",
        "force_reply",
        "input_field_placeholder",
        "selective",
        "keyboard",
        "remove_keyboard",
        "is_persistent",
        "resize_keyboard",
        "one_time_keyboard",
    }
)
_BUTTON_FIELDS = frozenset(
    {
        "text",
        "style",
        "icon_custom_emoji_id",
        "callback_data",
        "url",
        "copy_text",
        "web_app",
        "login_url",
        "switch_inline_query",
        "switch_inline_query_current_chat",
        "switch_inline_query_chosen_chat",
        "callback_game",
        "pay",
    }
)
_ACTIONS = ("callback_data", "url", "copy_text", "web_app", "login_url", "switch_inline_query")


def read_markup(telegram: Telegram, args: Arguments) -> dict[str, Any] | None:
    """Return a call's ``reply_markup``, None where there is none or it holds nothing.

    Raises:
        Refused: Telegram would not take it.
    """
    markup = args.nested("reply_markup", "reply keyboard markup")
    if markup is None:
        return None
    if not isinstance(markup, dict):
        raise bad_request("object expected as reply markup")
    telegram.complain_of_fields(args.method, "reply_markup", markup, _MARKUP_FIELDS)
    if "inline_keyboard" in markup:
        for button in _each(markup["inline_keyboard"]):
            telegram.complain_of_fields(args.method, "a button", button, _BUTTON_FIELDS)
        return _checked(markup)
    if markup.get("force_reply") and len(str(markup.get("input_field_placeholder", ""))) > LONGEST_HINT:
        raise bad_request("input field placeholder is too long")
    return markup or None


def shown_under(markup: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return what a message carries of its markup: an inline keyboard or nothing."""
    return dict(markup) if markup and "inline_keyboard" in markup else None


def buttons_of(markup: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Return an inline keyboard's buttons with ``label``, ``action`` (the data), ``url`` and ``row``."""
    if not markup or "inline_keyboard" not in markup:
        return []
    return [
        {
            "label": button["text"],
            "action": button.get("callback_data", ""),
            "url": button.get("url", ""),
            "row": row,
        }
        for row, buttons in enumerate(markup["inline_keyboard"])
        for button in buttons
    ]


def _checked(markup: dict[str, Any]) -> dict[str, Any] | None:
    rows = markup["inline_keyboard"]
    count = 0
    for button in _each(rows):
        count += 1
        _check_button(button)
    if count > MOST_BUTTONS or any(len(row) > MOST_IN_ROW for row in rows):
        raise bad_request("reply markup is too long")
    return markup | {"inline_keyboard": [row for row in rows if row]} if count else None


def _each(rows: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise bad_request("can't parse inline keyboard button: inline keyboard must be an Array of Arrays")
    for row in rows:
        for button in row:
            if not isinstance(button, dict) or not isinstance(button.get("text"), str):
                raise bad_request('can\'t parse inline keyboard button: Field "text" must be of type String')
            yield button


def _check_button(button: dict[str, Any]) -> None:
    if not button["text"].strip():
        raise bad_request("BUTTON_TEXT_EMPTY")
    if not any(action in button for action in _ACTIONS):
        raise bad_request("text buttons are unallowed in the inline keyboard")
    data = button.get("callback_data")
    if data is not None and not 1 <= len(str(data).encode()) <= MOST_DATA:
        raise bad_request("BUTTON_DATA_INVALID")
    url = button.get("url")
    if url is not None and "://" not in str(url):
        raise bad_request("BUTTON_URL_INVALID")
