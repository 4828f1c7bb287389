"""Knows what of the simulated Slack is open to its control door."""

from __future__ import annotations

import statistics
from collections import Counter
from typing import TYPE_CHECKING, Any

from hermes_bot.simulator.door import Door

if TYPE_CHECKING:
    from hermes_bot.simulator.slack import SlackSimulator
    from hermes_bot.simulator.slack.workspace import Team

PERCENT = 100


def door(slack: SlackSimulator) -> Door:
    """Return the door of one simulator."""

    def add_team(team: str) -> dict[str, Any]:
        return _team(slack.add_team(team))

    def configure(request_url: str = "", pair_delay: float = 0.0, *, swap_pairs: bool = False) -> None:
        slack.request_url, slack.pair_delay, slack.swap_pairs = request_url, pair_delay, swap_pairs

    verbs = (
        slack.say,
        slack.post_as_bot,
        slack.edit,
        slack.delete,
        slack.slash,
        slack.press,
        slack.shortcut,
        slack.submit,
        slack.react,
        slack.unfurl,
        slack.invite,
        slack.remove,
        slack.archive,
        slack.revoke,
        slack.deliver,
        slack.add_user,
        slack.add_channel,
        slack.redeliver_next,
        slack.lose_next,
        slack.disconnect,
        slack.drop_sockets,
        slack.go_silent,
        slack.refuse_connects,
        slack.divert_files,
        slack.verify_request_url,
    )
    return Door(slack.ledger, slack.faults, (*verbs, add_team, configure), lambda: _state(slack))


def _state(slack: SlackSimulator) -> dict[str, Any]:
    """Return how the simulator stands, and what a bot needs to connect, as JSON values."""
    return {
        "base_url": slack.base_url,
        "app_token": slack.app_token,
        "signing_secret": slack.signing_secret,
        "request_url": slack.request_url,
        "teams": {team.id: _team(team) for team in slack.site.teams.values()},
        "complaints": slack.complaints,
        "num_sockets": slack.num_sockets,
        "unacked": len(slack.unacked),
        "lost": len(slack.delivery.lost),
        "acks": _acks([seconds for _id, seconds in slack.acks]),
        "calls": Counter(call.method for call in slack.calls),
        "errors": Counter(f"{call.method}: {call.error}" for call in slack.calls if call.error),
        "statuses": [
            {"channel": channel, "thread": thread, "status": shown[-1]}
            for (channel, thread), shown in slack.statuses.items()
            if shown
        ],
    }


def _team(team: Team) -> dict[str, Any]:
    return {
        "bot_token": team.bot_token,
        "bot_user": team.bot_user,
        "bot_id": team.bot_id,
        "users": {person.id: person.name for person in team.people.values()},
        "channels": {channel.id: channel.name for channel in team.channels.values()},
    }


def _acks(seconds: list[float]) -> dict[str, float]:
    """Return how many there were, and the median, the 99th percentile and the worst in milliseconds."""
    if not seconds:
        return {"count": 0}
    cuts = statistics.quantiles(seconds, n=PERCENT) if len(seconds) > 1 else seconds * (PERCENT - 1)
    figures = {"p50_ms": cuts[PERCENT // 2 - 1], "p99_ms": cuts[-1], "max_ms": max(seconds)}
    return {"count": len(seconds)} | {name: value * 1000 for name, value in figures.items()}
