"""Knows which methods there are, what each takes and needs, and how often it may be called.

Rates: https://docs.slack.dev/apis/web-api/rate-limits
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_bot.simulator.limits import Rate
from hermes_bot.simulator.slack import chat, people
from hermes_bot.simulator.slack.arguments import Method

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_bot.simulator.slack.arguments import Request
    from hermes_bot.simulator.slack.sockets import Sockets

TIER_2 = Rate(20, 60)
TIER_3 = Rate(50, 60)
TIER_4 = Rate(100, 60)
OFTEN = Rate(600, 60)
"""Hundreds per minute; also what a workspace takes of posts in all its channels."""
PER_CHANNEL = (Rate(12, 10), Rate(5, 3))
"""About one post a second, and a small burst."""
POST = "channel | text blocks attachments markdown_text thread_ts reply_broadcast mrkdwn parse link_names"


def methods(sockets: Sockets) -> Mapping[str, Method]:
    """Return every method by its name."""

    def open_connection(request: Request) -> dict[str, Any]:
        del request
        return {"url": sockets.ticket()}

    return {
        "apps.connections.open": Method(open_connection, "", TIER_3, token="xapp"),  # noqa: S106 - a kind of token
        "auth.test": Method(people.auth_test, "", OFTEN),
        "chat.postMessage": Method(
            chat.post_message,
            f"{POST} unfurl_links unfurl_media metadata username icon_emoji icon_url as_user",
            OFTEN,
            "chat:write",
            places=("channel",),
            place_rates=PER_CHANNEL,
        ),
        "chat.update": Method(
            chat.update,
            "channel ts | text blocks attachments markdown_text parse link_names metadata reply_broadcast",
            TIER_3,
            "chat:write",
        ),
        "chat.delete": Method(chat.delete, "channel ts |", TIER_3, "chat:write"),
        "chat.postEphemeral": Method(chat.post_ephemeral, f"{POST} user", TIER_4, "chat:write"),
        "chat.getPermalink": Method(chat.get_permalink, "channel message_ts |", OFTEN),
    }
