"""Knows whether the bot can post in a channel, before anything is posted there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_bot.errors import PlaceGone

if TYPE_CHECKING:
    from hermes_bot.messages import ThreadKey
    from hermes_slack.workspaces import Workspaces


async def reach(workspaces: Workspaces, thread: ThreadKey) -> str:
    """Return why nothing can be posted in a thread's channel; empty where it can.

    Raises:
        AdapterError: Slack cannot be asked, or not now.
    """
    workspace = workspaces.find(thread.workspace)
    if workspace is None:
        return f"I am not installed in the workspace {thread.workspace}."
    try:
        found = await workspace.api.call("conversations.info", {"channel": thread.channel})
    except PlaceGone as error:
        return str(error)
    channel = found.get("channel") or {}
    if channel.get("is_archived"):
        return "the channel is archived."
    if not (channel.get("is_im") or channel.get("is_member")):
        return "I am not in that channel. Invite me there with /invite, then say it again."
    return ""
