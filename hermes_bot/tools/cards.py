"""Knows how a tool is told to the model: one line with its example and error codes, and its schema."""

from hermes_bot.decisions import canonical
from hermes_bot.ports import ToolCard
from hermes_bot.tools.declare import Tool


def card_of(tool: Tool) -> ToolCard:
    """Return the card of a tool; its ``summary`` is the whole prompt line."""
    parts = [tool.summary if tool.summary.endswith((".", "!", "?")) else f"{tool.summary}."]
    if tool.risk != "read":
        parts.append("Changes something." if tool.risk == "write" else "Needs a person's approval.")
    if tool.example:
        parts.append(f"Example: {canonical(tool.example)}.")
    if tool.errors:
        parts.append("Errors: " + ", ".join(f"{code} ({why})" for code, why in tool.errors.items()) + ".")
    return ToolCard(tool.name, " ".join(parts), tool.schema, tool.risk)
