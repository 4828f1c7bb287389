"""Knows the methods about who somebody is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_bot.simulator.slack.site import Refusal

if TYPE_CHECKING:
    from hermes_bot.simulator.slack.arguments import Request


def auth_test(request: Request) -> dict[str, Any]:
    """Return whose token it is."""
    team = request.team
    return {
        "url": f"{request.site.home}/",
        "team": team.id,
        "user": team.bot_name,
        "team_id": team.id,
        "user_id": team.bot_user,
        "bot_id": team.bot_id,
        "is_enterprise_install": False,
    }


def users_info(request: Request) -> dict[str, Any]:
    """Return what is known of a user."""
    person = request.team.people.get(request.text("user"))
    if person is None:
        raise Refusal("user_not_found")
    return {"user": person.to_json()}
