"""Knows what must be right on Slack's side, and looks at it without receiving anything."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from slack_sdk.errors import SlackApiError

from hermes_bot.errors import AdapterError
from hermes_bot.ports import Finding
from hermes_slack.api import Api, code_of
from hermes_slack.connection import open_address
from hermes_slack.faults import refusal
from hermes_slack.intake import HEARD
from hermes_slack.manifest import EVENTS, SCOPES, scopes
from hermes_slack.workspaces import Identity

if TYPE_CHECKING:
    from collections.abc import Mapping

    import aiohttp

    from hermes_bot.ports import Records
    from hermes_slack.running import Means

MAX_SKEW = 60.0  # seconds; a signature is good for five minutes


async def examine(means: Means, web: aiohttp.ClientSession) -> list[Finding]:
    """Return what was found about each token, the app token, the clock and the scopes."""
    found: list[Finding] = []
    for token in means.credentials.bot_tokens:
        found += await _bot_token(Api(token, means.base_url, web))
    if means.credentials.mode == "socket":
        found.append(await _app_token(Api(means.credentials.app_token, means.base_url, web), web))
    else:
        found.append(
            Finding(
                "ok", "Slack signing secret", "It is set; only a request of Slack's shows whether it fits."
            )
        )
    return [*found, await _events(means.setup.records)]


async def _events(records: Records) -> Finding:
    """Look at which events came: Slack tells nobody but the app's owner which are subscribed."""
    what = "Slack events"
    heard = set(await records.all(HEARD))
    if not heard:
        return Finding(
            "warning", what, "None came yet. Mention the bot in a channel, and write to it directly."
        )
    silent = [name for name in ("app_mention", "message.channels", "message.im") if name not in heard]
    if not silent:
        return Finding("ok", what, f"These come: {', '.join(sorted(heard))}.")
    return Finding(
        "warning",
        what,
        f"Never came in the last 30 days: {', '.join(silent)}. If that is odd, see the app's page Event "
        "Subscriptions, and reinstall the app after a change.",
    )


async def _bot_token(api: Api) -> list[Finding]:
    what = "Slack bot token"
    try:
        answer = await api.ask("auth.test", {})
        me = Identity.of(answer)
    except SlackApiError as error:
        return [Finding("bad", what, str(refusal("auth.test", code_of(error))))]
    except (AdapterError, ValueError) as error:
        return [Finding("bad", what, f"{error} Is this machine online, and [adapters.slack] base_url right?")]
    return [Finding("ok", what, f"I am {me}."), _scopes(me), _clock(answer.headers)]


def _scopes(me: Identity) -> Finding:
    what = "Slack scopes"
    if not me.scopes:
        return Finding("warning", what, "Slack does not say which scopes the token has.")
    missing = sorted(set(scopes()) - me.scopes)
    if not missing:
        return Finding("ok", what, f"All {len(scopes())} are granted.")
    wanted = "; ".join(f"{scope} ({', '.join(_users_of(scope))})" for scope in missing)
    return Finding(
        "bad",
        what,
        f"Missing: {wanted}. Add them in the app's settings, or take the manifest of `hermes-bot init`, and "
        "reinstall the app.",
    )


def _users_of(scope: str) -> list[str]:
    """Return the calls and events a scope is for."""
    table = [*SCOPES.items(), *EVENTS.items()]
    return [name for name, needs in table if scope in needs] or ["commands and shortcuts"]


def _clock(headers: Mapping[str, str]) -> Finding:
    what = "Clock"
    try:
        theirs = parsedate_to_datetime(headers.get("Date") or "")
    except ValueError:
        return Finding("warning", what, "Slack does not say what time it has.")
    skew = abs((datetime.now(UTC) - theirs).total_seconds())
    if skew <= MAX_SKEW:
        return Finding("ok", what, f"It agrees with Slack's to {max(1, round(skew))} s.")
    return Finding(
        "bad", what, f"It differs from Slack's by {round(skew):,} s. Have this machine set its time."
    )


async def _app_token(app_api: Api, web: aiohttp.ClientSession) -> Finding:
    what = "Slack app token"
    try:
        address = await open_address(app_api)
        async with web.ws_connect(address, proxy=app_api.proxy) as socket:
            hello = await socket.receive_json(timeout=10)
    except AdapterError as error:
        return Finding("bad", what, str(error))
    except (OSError, TimeoutError, TypeError, ValueError) as error:
        return Finding("bad", what, f"A socket could not be opened ({type(error).__name__}).")
    others = int(hello.get("num_connections") or 1) - 1
    if others > 1:
        return Finding(
            "warning", what, f"It works, but {others} other receivers use it and share the messages."
        )
    return Finding("ok", what, "A socket could be opened.")
