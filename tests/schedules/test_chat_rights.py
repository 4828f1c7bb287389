"""Who may plan where, change whose, and see which schedules in chat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from clock import FakeClock
from scheduled import MONDAY, OWNER, draft
from world import World, running

from hermes_bot.config import Access
from hermes_bot.store import audit

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from world import Running, Talk

    from hermes_bot.messages import Outgoing
    from hermes_bot.schedules import Draft

YES = 0
ACCESS = Access(channels=("world:T1:*",), operators=("world:T1:boss",))


class Open(World):
    """A platform without private replies: everybody of a channel reads what is answered there."""

    has_private_replies: ClassVar[bool] = False


def team(folder: Path, **settings: Any) -> AbstractAsyncContextManager[Running]:
    given = {"clock": FakeClock(MONDAY), "access": ACCESS, **settings}
    return running(folder, **given)


def digest(**fields: Any) -> Draft:
    return draft("0 9 * * 1-5", text="", skill="error-digest", **fields)


async def told(talk: Talk, text: str, user: str = "u1", **fields: Any) -> str:
    reply = await talk.say(text, user, is_command=True, **fields)
    assert reply is not None
    return reply.text


async def asked(talk: Talk, text: str, user: str = "u1", **fields: Any) -> Outgoing:
    await talk.say(text, user, **fields)
    return await talk.heard()


async def test_a_member_changes_no_other_s_schedule_and_an_operator_does(tmp_path: Path) -> None:
    async with team(tmp_path) as bot:
        name = (await bot.app.schedules.add(digest())).name
        for verb in ("pause", "resume", "run", "remove"):
            said = await told(bot.talk("2"), f"schedule {verb} {name}", "u2")
            assert said.startswith("`error-digest` is not yours.")
            assert "operators" in said
        (one,) = await bot.app.schedules.all()
        assert one.state == "active"
        assert await bot.runs() == []
        assert "is paused" in await told(bot.talk("2"), f"schedule pause {name}", "boss")
        assert "goes on" in await told(bot.talk("2"), f"schedule resume {name}", "u1")
        rows = await bot.app.db.read(lambda db: audit.list_rows(db, 100))
        kept = [(row.entry.actor, row.entry.verb, row.entry.outcome) for row in rows]
        assert kept.count(("world:T1:u2", "access.manage", "refused")) == 4
        assert ("world:T1:boss", "schedule.pause", "done") in kept
        assert (OWNER, "schedule.resume", "done") in kept


async def test_what_reports_elsewhere_is_for_who_manages_schedules(tmp_path: Path) -> None:
    async with team(tmp_path) as bot:
        wish = "schedule add 0 9 * * 1-5 error-digest in world:T1:C2"
        refused = await asked(bot.talk(), wish, is_command=True)
        assert refused.text.startswith("Nothing was stored.")
        assert "operators" in refused.text
        card = await asked(bot.talk("2"), wish, "boss", is_command=True)
        assert "- **Where:** `world:T1:C2`" in card.text
        await bot.talk("2").press(card.buttons[YES].press.question, YES, "boss")
        await bot.talk("2").heard()
        (one,) = await bot.app.schedules.all()
        assert one.targets == ("world/T1/C2",)


class Second(World):
    name: ClassVar[str] = "telegram"


async def test_one_sentence_names_channels_on_both_platforms(tmp_path: Path) -> None:
    access = Access(channels=("world:T1:*", "telegram:-1001"), operators=(OWNER,))
    async with team(tmp_path, access=access, adapters={"telegram": Second()}) as bot:
        card = await asked(bot.talk(), "every weekday at 9 post the error digest here and in telegram:-1001")
        assert "- **Where:** here, `telegram:-1001`" in card.text
        await bot.talk().press(card.buttons[YES].press.question, YES)
        assert (await bot.talk().heard()).text.startswith("Created: ")
        (one,) = await bot.app.schedules.all()
        assert one.targets == ("world/T1/C1", "telegram/-/-1001")


async def test_nobody_without_an_identity_has_a_schedule(tmp_path: Path) -> None:
    async with team(tmp_path) as bot:
        said = await asked(bot.talk(), "every weekday at 9 post the error digest here", "")
        assert said.buttons == ()
        assert "Created" not in said.text
        said = await asked(bot.talk("2"), "schedule add 0 9 * * * error-digest", "", is_command=True)
        assert "Only a person can have a schedule" in said.text
        assert await bot.app.schedules.all() == []


async def test_what_is_planned_for_another_channel_is_listed_to_its_owner_alone(tmp_path: Path) -> None:
    async with team(tmp_path) as bot:
        await bot.app.schedules.add(digest(name="secret-plans", thread="world/T1/G1/1"))
        here = bot.talk()
        assert (await told(here, "schedule list", "u2")).startswith("Nothing is planned here.")
        for verb in ("show", "remove"):
            assert "Did you mean" not in await told(here, f"schedule {verb} secret-plan", "u2")
        assert "I know no schedule" in await told(here, "schedule history secret-plans", "u2")
        assert "`world:T1:G1`" in await told(here, "schedule list", "u1")
        assert "secret-plans" in await told(bot.talk(channel="G1"), "schedule list", "u2")


async def test_where_everybody_reads_the_answer_only_what_reports_there_is_listed(tmp_path: Path) -> None:
    async with team(tmp_path, world=Open()) as bot:
        await bot.app.schedules.add(digest(name="secret-plans", thread="world/T1/G1/1"))
        await bot.app.schedules.add(digest(name="for-all"))
        said = (await asked(bot.talk(), "schedule list", is_command=True)).text
        assert "for-all" in said
        assert "secret-plans" not in said
        assert "1 of yours report elsewhere; ask me in a private chat." in said
        every = (await asked(bot.talk("2"), "schedule list all", "boss", is_command=True)).text
        assert "secret-plans" not in every
        assert "private chat" in every


async def test_all_are_listed_to_who_manages_them_alone(tmp_path: Path) -> None:
    async with team(tmp_path) as bot:
        await bot.app.schedules.add(digest(name="far-away", thread="world/T1/C7/1"))
        assert "far-away" in await told(bot.talk(), "schedule list all", "boss")
        refused = await told(bot.talk(), "schedule list all", "u2")
        assert refused.startswith("`schedule list all` is for who manages schedules.")
        assert "far-away" not in refused


async def test_what_is_planned_in_a_private_place_reports_there_alone(tmp_path: Path) -> None:
    async with team(tmp_path) as bot:
        talk = bot.talk(channel="G1")
        wish = "schedule add 0 9 * * 1-5 error-digest"
        refused = await asked(talk, f"{wish} in world:T1:C2", "boss", is_command=True, place="private")
        assert "reports here alone" in refused.text
        card = await asked(talk, wish, is_command=True, place="private")
        assert "- **Where:** here" in card.text
        await talk.press(card.buttons[YES].press.question, YES)
        assert (await talk.heard()).text.startswith("Created: ")
