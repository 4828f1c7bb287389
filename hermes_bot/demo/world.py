"""Knows what the demo begins with: who sits there, which channels there are, and what was said before.

It is the shop of the demo system (``data/demo``): checkout has answered 502 for half an hour when the page
opens, a monitor has said so, and nobody has looked into it yet. People are named by what they do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from hermes_bot.simulator import SlackSimulator, TelegramSimulator

BOT_NAME = "hermes"
TEAM = "TDEMO"
GENERAL, INCIDENTS, PAYMENTS = "CGENERAL", "CINCIDENTS", "GPAYMENTS"
MONITOR = "BMONITOR"
MONITOR_NAME = "Shop monitor"

BOT_USERNAME = "hermes_bot"
GROUP, FORUM = -1_001_000_000_001, -1_001_000_000_002
FORUM_INCIDENTS, FORUM_REPORTS = 2, 3
MONITOR_USER = 900


@dataclass(frozen=True, slots=True)
class Seat:
    """Somebody to write as.

    Attributes:
        key: names the seat to the page.
        role: what the bot's access list makes of them.
        may: the same in words for the page.
    """

    key: str
    name: str
    slack: str
    telegram: int
    role: Literal["admin", "member", "nobody"]
    may: str


SEATS: tuple[Seat, ...] = (
    Seat(
        "engineer", "Engineer on call", "UENGINEER", 101, "admin", "Admin: may do everything, approvals too"
    ),
    Seat("support", "Support lead", "USUPPORT", 102, "member", "Member: may ask, answer and stop"),
    Seat("product", "Product manager", "UPRODUCT", 103, "nobody", "Not on the bot's access list: it says so"),
)


def seat_of(key: str) -> Seat:
    """Return a seat by its key.

    Raises:
        LookupError: there is none.
    """
    for seat in SEATS:
        if seat.key == key:
            return seat
    raise LookupError(f"There is no seat {key!r}; there are {', '.join(seat.key for seat in SEATS)}.")


def direct_of(seat: Seat) -> str:
    """Return the Slack conversation of a seat with the bot."""
    return f"D{seat.slack.removeprefix('U')}"


def furnish_slack(slack: SlackSimulator) -> None:
    """Put people and channels into the Slack-like workspace."""
    for seat in SEATS:
        slack.add_user(seat.slack, name=seat.name)
    everybody = {seat.slack for seat in SEATS}
    slack.add_channel(GENERAL, name="general", members=everybody)
    slack.add_channel(INCIDENTS, name="incidents", members=everybody)
    slack.add_channel(PAYMENTS, name="payments-team", members=everybody - {SEATS[2].slack}, kind="group")
    for seat in SEATS:
        slack.add_channel(direct_of(seat), name="hermes", members={slack.bot_user, seat.slack}, kind="im")


def furnish_telegram(telegram: TelegramSimulator) -> None:
    """Put people and chats into the Telegram-like account; private chats begin when somebody writes."""
    telegram.state.bot.name = BOT_NAME
    for seat in SEATS:
        telegram.add_user(seat.telegram, name=seat.name)
    telegram.add_user(MONITOR_USER, name=MONITOR_NAME, username="shop_monitor_bot", is_bot=True)
    everybody = [seat.telegram for seat in SEATS] + [MONITOR_USER]
    telegram.add_chat(GROUP, title="Shop team", members=everybody)
    topics = {FORUM_INCIDENTS: "Incidents", FORUM_REPORTS: "Reports"}
    telegram.add_chat(FORUM, title="Shop operations", members=everybody, is_forum=True, topics=topics)


ALERT = "Checkout is failing."
ALERT_TITLE = "checkout: 9 % of requests end in errors"
ALERT_TEXT = "`POST /checkout` answers 502. The limit is 1 %."


async def fill_slack(slack: SlackSimulator) -> None:
    """Say what was said before the bot was invited and the page opened."""
    engineer, support, product = (seat.slack for seat in SEATS)
    await slack.say(
        support, GENERAL, "Customers write that paying ends with an error page. Is somebody looking into it?"
    )
    await slack.say(
        product, GENERAL, "The newsletter goes out in two hours. I would like checkout to work by then."
    )
    await slack.post_as_bot(MONITOR, INCIDENTS, ALERT, attachments=[_alert()])
    await slack.say(engineer, PAYMENTS, "payments 2.8.0 is out. It starts with more workers than 2.7 did.")
    for channel in (GENERAL, INCIDENTS, PAYMENTS):
        await slack.invite(slack.bot_user, channel, by=engineer)


def _alert() -> dict[str, object]:
    return {
        "color": "danger",
        "title": ALERT_TITLE,
        "text": ALERT_TEXT,
        "fields": [
            {"title": "Service", "value": "checkout", "short": True},
            {"title": "For", "value": "35 minutes", "short": True},
        ],
        "footer": MONITOR_NAME,
        "fallback": ALERT_TITLE,
    }


async def fill_telegram(telegram: TelegramSimulator) -> None:
    """Say what was said before the page opened."""
    engineer, support, product = (seat.telegram for seat in SEATS)
    asked = await telegram.say(support, GROUP, "Customers cannot pay. Does anybody know more?")
    await telegram.say(product, GROUP, "The newsletter goes out in two hours…", reply_to=asked)
    await telegram.say(
        MONITOR_USER,
        FORUM,
        f"{ALERT}\n{ALERT_TITLE}, for 35 minutes. The limit is 1 %.",
        topic=FORUM_INCIDENTS,
    )
    await telegram.say(engineer, FORUM, "Weekly report comes on Monday.", topic=FORUM_REPORTS)
