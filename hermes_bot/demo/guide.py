"""Knows what a newcomer is shown to try first: a few steps for each platform, each a click away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_bot.demo.world import BOT_NAME, BOT_USERNAME, FORUM, FORUM_INCIDENTS, GENERAL, GROUP, INCIDENTS

if TYPE_CHECKING:
    from hermes_bot.demo.desk import Json
    from hermes_bot.demo.world import Seat

QUESTION = "why is checkout failing?"
ALERT, OVER = "Have the monitor tell it of an alert", "a signed webhook; once more, and it is over"
PLAN, RUN_NOW = "every weekday at 9 post the error digest here", "schedule run error-digest"
RESTART = "restart checkout"  # dangerous, so a card asks first; nothing real is restarted


def steps(seat: Seat) -> dict[str, list[Json]]:
    """Return the steps by platform; each names a place, and what to write there or what the page asks for."""
    return {
        "slack": [
            _step("Ask in #incidents", f"@{BOT_NAME} {QUESTION}", INCIDENTS),
            _step("See its skills, for your eyes only", "/hermes skills", INCIDENTS),
            _step("Start a skill by name", "/hermes run log-diagnosis service=checkout", GENERAL),
            _step("See it ask before it acts", f"@{BOT_NAME} {RESTART}", INCIDENTS),
            _step("Have it report by itself", f"@{BOT_NAME} {PLAN}", INCIDENTS),
            _step("Not wait for nine o'clock", f"/hermes {RUN_NOW}", INCIDENTS),
            _step("Ask how it came to its answer", "/hermes why", INCIDENTS),
            _step(ALERT, OVER, INCIDENTS, act="alert"),
        ],
        "telegram": [
            _step("Ask in private", QUESTION, str(seat.telegram)),
            _step("Ask in a group", f"@{BOT_USERNAME} {QUESTION}", str(GROUP)),
            _step("Ask in a topic", f"@{BOT_USERNAME} {QUESTION}", str(FORUM), str(FORUM_INCIDENTS)),
            _step("See it ask before it acts", f"@{BOT_USERNAME} {RESTART}", str(GROUP)),
            _step("Have it report by itself", f"@{BOT_USERNAME} {PLAN}", str(GROUP)),
            _step("Not wait for nine o'clock", f"/{RUN_NOW}", str(GROUP)),
            _step("See its skills", "/skills", str(seat.telegram)),
            _step(ALERT, OVER, str(GROUP), act="alert"),
        ],
    }


def _step(title: str, text: str, channel: str, topic: str = "", act: str = "") -> Json:
    return {"title": title, "text": text, "channel": channel, "topic": topic, "act": act}
