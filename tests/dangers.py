"""What waits for consent in the tests of approvals: a dangerous tool, its card, and those who may agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from endpoint import act, finish
from kinds import asked

from hermes_bot.config import Access
from hermes_bot.store import approvals
from hermes_bot.tools.declare import Tool, tool

if TYPE_CHECKING:
    from stages import Stage

    from hermes_bot.simulator import Entry
    from hermes_bot.store.approvals import Ballot

RESTART = act("restart", service="payments")
DONE = finish("It is back.", evidence=["restart"])
LEFT = finish("I left it.", evidence=[])
# a member, an admin, and an operator whom other tests know as a stranger
THREE = Access(
    channels=("slack:T1:*", "telegram:-1001"),
    members=("slack:T1:U1", "telegram:7"),
    operators=("slack:T1:U9", "telegram:9"),
    admins=("slack:T1:U2", "telegram:8"),
)
MEMBER, ADMIN, OPERATOR = "asker", "other", "stranger"
WHEN = r"20\d\d-\d\d-\d\d \d\d:\d\d UTC"


class Ran(list[str]):
    """What really happened, in order."""

    def tools(self) -> tuple[Tool, ...]:
        @tool(risk="danger", example={"service": "payments"})
        async def restart(service: str, why: str = "") -> str:
            """Restart a service."""
            del why
            self.append(service)
            return f"restarted {service}"

        return (restart,)


def settings(ran: Ran, **more: Any) -> dict[str, Any]:
    return {"tools": ran.tools(), "access": THREE, "otherwise": LEFT, **more}


def entry_of(it: Stage, card: int) -> Entry:
    """Return the n-th post of the bot as the platform has it, the newest for -1."""
    posts = [one for one in it.everything() if one.text or one.files]
    found: Entry = posts[card]
    return found


async def ballot(it: Stage, question: str) -> Ballot:
    found = await it.app.db.read(lambda db: approvals.get(db, question))
    assert found
    return found


async def card(it: Stage, text: str = "restart payments") -> tuple[str, str]:
    """Start a task that waits for consent; return its thread and the question's id, once it is posted."""
    thread, question = await asked(it, text)
    assert it.now(thread)[-1].buttons == ("Approve", "Deny")
    return thread, question


async def ended(it: Stage, thread: str, words: str) -> Any:
    """Wait until the run's last post has these words; return that post."""
    await it.until(lambda: words in it.now(thread)[-1].text)
    await it.settle()
    return it.now(thread)[-1]


async def told(it: Stage, thread: str, label: str, who: str) -> str:
    """Press a button; return what the presser alone is told, which Slack shows a little later."""
    if it.platform != "slack":
        return await it.press(thread, label, who)
    before = len(it.whispers(who))
    await it.press(thread, label, who)
    await it.until(lambda: len(it.whispers(who)) > before)
    return it.whispers(who)[-1]
