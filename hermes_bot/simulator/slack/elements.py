"""Knows what Slack refuses in text objects and in what can be pressed.

https://docs.slack.dev/reference/block-kit/block-elements and …/composition-objects
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

LONGEST_ID = 255
LONGEST_LABEL = 75
LONGEST_VALUE = 2000
LONGEST_URL = 3000
LONGEST_OPTION = 150
MOST_OPTIONS = 100
ANY_TEXT = ("mrkdwn", "plain_text")
PLAIN = ("plain_text",)
STYLES = ("primary", "danger")
SELECTS = frozenset({"static_select", "multi_static_select", "radio_buttons", "checkboxes", "overflow"})
PICKERS = frozenset({
    "external_select", "users_select", "conversations_select", "channels_select", "multi_external_select",
    "multi_users_select", "multi_conversations_select", "multi_channels_select", "datepicker", "timepicker",
    "datetimepicker", "plain_text_input", "email_text_input", "number_input", "url_text_input", "file_input",
    "rich_text_input", "workflow_button", "feedback_buttons", "icon_button",
})  # fmt: skip
BUTTON = frozenset({
    "type", "text", "action_id", "url", "value", "style", "confirm", "accessibility_label",
    "visible_to_user_ids",
})  # fmt: skip
CONFIRM = {"title": 100, "text": 300, "confirm": 30, "deny": 30}


@dataclass(slots=True)
class Checker:
    """Collects what is wrong, each with the place of it."""

    problems: list[str] = field(default_factory=list)

    def wrong(self, what: str, path: str) -> None:
        """Note one thing."""
        self.problems.append(f"[ERROR] {what} [json-pointer:{path}]")

    def object(self, value: Any, path: str) -> dict[str, Any]:
        """Return the value where it is an object; note it and return an empty one where it is none."""
        if isinstance(value, dict):
            return value
        self.wrong("must be an object", path)
        return {}

    def items(self, value: Any, path: str, most: int, least: int = 1) -> list[Any]:
        """Return the value where it is a list; note it where it is none, or not of a length allowed."""
        if not isinstance(value, list):
            self.wrong("must be an array", path)
            return []
        if len(value) < least:
            self.wrong(f"no fewer than {least} items allowed", path)
        if len(value) > most:
            self.wrong(f"no more than {most} items allowed", path)
        return value

    def string(self, value: Any, path: str, most: int, least: int = 1) -> None:
        """Check a string's length, in characters."""
        if not isinstance(value, str):
            self.wrong("must be a string", path)
        elif len(value) < least:
            self.wrong(f"must be more than {least - 1} characters", path)
        elif len(value) > most:
            self.wrong(f"must be less than {most + 1} characters", path)

    def text(self, value: Any, path: str, most: int, kinds: tuple[str, ...] = ANY_TEXT) -> None:
        """Check a text object."""
        found = self.object(value, path)
        if not found:
            return
        if found.get("type") not in kinds:
            self.wrong(f"must be one of {', '.join(kinds)}", f"{path}/type")
        self.string(found.get("text"), f"{path}/text", most)
        self.only(found, {"type", "text", "emoji", "verbatim"}, path)

    def only(self, value: dict[str, Any], known: set[str] | frozenset[str], path: str) -> None:
        """Note every key that is not known."""
        for key in value:
            if key not in known:
                self.wrong(f"invalid additional property: {key}", path)

    def element(self, value: Any, path: str) -> None:
        """Check what can be pressed, chosen or filled in."""
        found = self.object(value, path)
        if "action_id" in found:
            self.string(found["action_id"], f"{path}/action_id", LONGEST_ID)
        kind = str(found.get("type"))
        if kind == "button":
            self._button(found, path)
        elif kind in SELECTS:
            self._select(found, path)
        elif kind not in PICKERS and kind != "image":
            self.wrong(f"unsupported type: {kind}", f"{path}/type")
        if "confirm" in found:
            self._confirm(found["confirm"], f"{path}/confirm")

    def _button(self, button: dict[str, Any], path: str) -> None:
        self.only(button, BUTTON, path)
        self.text(button.get("text"), f"{path}/text", LONGEST_LABEL, PLAIN)
        for key, most in (
            ("value", LONGEST_VALUE),
            ("url", LONGEST_URL),
            ("accessibility_label", LONGEST_LABEL),
        ):
            if key in button:
                self.string(button[key], f"{path}/{key}", most)
        if "style" in button and button["style"] not in STYLES:
            self.wrong("must be primary or danger", f"{path}/style")

    def _select(self, select: dict[str, Any], path: str) -> None:
        if "placeholder" in select:
            self.text(select["placeholder"], f"{path}/placeholder", LONGEST_OPTION, PLAIN)
        options = select.get("options")
        if options is None and "option_groups" in select:
            self.items(select["option_groups"], f"{path}/option_groups", MOST_OPTIONS)
            return
        for at, option in enumerate(self.items(options, f"{path}/options", MOST_OPTIONS)):
            place = f"{path}/options/{at}"
            found = self.object(option, place)
            self.text(found.get("text"), f"{place}/text", LONGEST_LABEL)
            self.string(found.get("value"), f"{place}/value", LONGEST_OPTION)

    def _confirm(self, value: Any, path: str) -> None:
        found = self.object(value, path)
        for key, most in CONFIRM.items():
            if key in found:
                self.text(found[key], f"{path}/{key}", most, ANY_TEXT if key == "text" else PLAIN)
