"""Knows reactions, modals, and the agent surface: status, title, suggested prompts.

https://docs.slack.dev/reference/methods/assistant.threads.setStatus
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hermes_bot.simulator.slack.elements import PLAIN, Checker
from hermes_bot.simulator.slack.site import Refusal, entered, reachable

if TYPE_CHECKING:
    from hermes_bot.simulator.slack.arguments import Request
    from hermes_bot.simulator.slack.workspace import Channel, Message

Answer = dict[str, Any]

MOST_LOADING, LONGEST_LOADING = 10, 50
MOST_PROMPTS = 4
LONGEST_TITLE = 24
LONGEST_CALLBACK = 255
LONGEST_PRIVATE = 3000
MOST_VIEW_BLOCKS = 100
SESSION_STATES = ("active", "processing", "suspended", "closed")


def set_status(request: Request) -> Answer:
    """Show what the bot is at, under a thread."""
    channel = entered(request.team, request.text("channel_id"))
    loading = request.args.get("loading_messages", [])
    if len(loading) > MOST_LOADING or any(len(str(text)) > LONGEST_LOADING for text in loading):
        raise Refusal("invalid_arguments", "[ERROR] at most 10 loading messages of at most 50 characters")
    request.posting.show_status(channel.id, request.text("thread_ts"), request.text("status"))
    return {}


def set_title(request: Request) -> Answer:
    """Name a thread of a direct message."""
    if entered(request.team, request.text("channel_id")).kind != "im":
        raise Refusal("channel_not_found")
    return {}


def set_suggested_prompts(request: Request) -> Answer:
    """Suggest what could be asked."""
    entered(request.team, request.text("channel_id"))
    prompts = request.args["prompts"]
    if len(prompts) > MOST_PROMPTS or any({"title", "message"} - set(prompt) for prompt in prompts):
        raise Refusal("invalid_arguments", "[ERROR] at most 4 prompts, each with title and message")
    return {}


def set_session_status(request: Request) -> Answer:
    """Say how a session of an agent stands."""
    entered(request.team, request.text("channel_id"))
    if request.text("status") not in SESSION_STATES:
        raise Refusal("invalid_status")
    return {}


def rename_session(request: Request) -> Answer:
    """Name a session of an agent."""
    entered(request.team, request.text("channel_id"))
    return {}


def add_reaction(request: Request) -> Answer:
    """React to a message."""
    channel, message = _reacted(request)
    name = request.text("name").strip(":")
    reactions = [dict(reaction) for reaction in message.body.get("reactions", [])]
    mine = next((reaction for reaction in reactions if reaction["name"] == name), None)
    if mine is not None and request.team.bot_user in mine["users"]:
        raise Refusal("already_reacted")
    if mine is None:
        reactions.append({"name": name, "users": [request.team.bot_user], "count": 1})
    else:
        mine |= {"users": [*mine["users"], request.team.bot_user], "count": mine["count"] + 1}
    message.body = message.body | {"reactions": reactions}
    request.posting.react(request.team, channel, message, request.team.bot_user, name)
    return {}


def remove_reaction(request: Request) -> Answer:
    """Take a reaction back."""
    _channel, message = _reacted(request)
    name, bot = request.text("name").strip(":"), request.team.bot_user
    reactions = message.body.get("reactions", [])
    if not any(reaction["name"] == name and bot in reaction["users"] for reaction in reactions):
        raise Refusal("no_reaction")
    kept = [
        reaction | {"users": [user for user in reaction["users"] if reaction["name"] != name or user != bot]}
        for reaction in reactions
    ]
    message.body = message.body | {
        "reactions": [reaction | {"count": len(reaction["users"])} for reaction in kept if reaction["users"]]
    }
    return {}


def _reacted(request: Request) -> tuple[Channel, Message]:
    channel = reachable(request.team, request.text("channel"))
    message = channel.messages.get(request.text("timestamp"))
    if message is None:
        raise Refusal("message_not_found")
    return channel, message


@dataclass(slots=True)
class Views:
    """Modals that are open, and the right to open one.

    Attributes:
        open: each as it was last sent, by its id.
    """

    open: dict[str, Answer] = field(default_factory=dict)
    _triggers: dict[str, float | None] = field(default_factory=dict)

    def trigger(self, number: str, until: float) -> str:
        """Let a modal be opened until a monotonic moment, once."""
        self._triggers[number] = until
        return number

    def opened(self, request: Request) -> Answer:
        """Open a modal, or lay one over another."""
        number = request.text("trigger_id")
        if number not in self._triggers:
            raise Refusal("invalid_trigger_id")
        until = self._triggers[number]
        if until is None:
            raise Refusal("exchanged_trigger_id")
        if until < time.monotonic():
            raise Refusal("expired_trigger_id")
        view = self._kept(request, request.site.number("V"))
        self._triggers[number] = None
        return {"view": view}

    def updated(self, request: Request) -> Answer:
        """Replace an open modal."""
        view = self.open.get(request.text("view_id"))
        if view is None:
            raise Refusal("not_found")
        if request.text("hash") not in ("", view["hash"]):
            raise Refusal("hash_conflict")
        return {"view": self._kept(request, view["id"])}

    def published(self, request: Request) -> Answer:
        """Show the home tab to one person."""
        if request.text("user_id") not in request.team.people:
            raise Refusal("user_not_found")
        return {"view": self._kept(request, f"V{request.text('user_id')}")}

    def _kept(self, request: Request, view: str) -> Answer:
        check = Checker()
        sent = request.args["view"]
        is_home = sent.get("type") == "home"
        for name in ("title", "submit", "close"):
            if name in sent or (name == "title" and not is_home):
                check.text(sent.get(name), f"/view/{name}", LONGEST_TITLE, PLAIN)
        for name, most in (("callback_id", LONGEST_CALLBACK), ("private_metadata", LONGEST_PRIVATE)):
            check.string(sent.get(name, ""), f"/view/{name}", most, least=0)
        check.items(sent.get("blocks"), "/view/blocks", MOST_VIEW_BLOCKS)
        if check.problems:
            raise Refusal("invalid_arguments", *check.problems)
        self.open[view] = sent | {"id": view, "hash": request.site.number("h"), "team_id": request.team.id}
        return self.open[view]
