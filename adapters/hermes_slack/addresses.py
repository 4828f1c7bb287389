"""Knows which addresses are Slack's own: what we fetch, send to and answer by must be there.

An address comes in JSON, and the bot token or what people said goes where it points: a forged one must not
have us call this machine's neighbours, or hand the token to a stranger.
"""

from __future__ import annotations

from yarl import URL  # as the client that will call reads it: another reader might see another host

from hermes_bot.errors import ContentRefused

OUTSIDE = "it lies outside Slack, or is gone"


def is_slacks(address: str, base_url: str) -> bool:
    """Return whether an address has the Web API's origin, or is on a host below its name."""
    try:
        here, there = URL(base_url).origin(), URL(address).origin()
    except ValueError:
        return False
    is_below = there.scheme == "https" and there.is_default_port()
    return there == here or (is_below and str(there.host).endswith(f".{here.host}"))


def of_slack(address: str, base_url: str) -> str:
    """Return an address of Slack's.

    Raises:
        ContentRefused: it is none.
    """
    if not is_slacks(address, base_url):
        raise ContentRefused(OUTSIDE)
    return address


def followed(address: str, location: str, base_url: str) -> str:
    """Return where an answer of Slack's sends us on to.

    Raises:
        ContentRefused: out of Slack, or nowhere.
    """
    try:
        found = URL(address).join(URL(location))
    except ValueError as error:
        raise ContentRefused(OUTSIDE) from error
    return of_slack(str(found), base_url)
