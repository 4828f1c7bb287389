"""What no schedule is made of: refused before anything is stored, with what would work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from clock import FakeClock
from endpoint import finish
from scheduled import MONDAY, OPERATED, draft
from schedules.bothplaces import ANN, BOB, both
from world import running

from hermes_bot.errors import ScheduleError
from hermes_bot.schedules import Draft
from hermes_bot.store.schedules import Terms

if TYPE_CHECKING:
    from pathlib import Path

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "a day that never comes": ({"when": "0 9 31 2 *"}, "never"),
    "a time that is over": ({"when": "2020-01-01 09:00"}, "over"),
    "words that mean nothing": ({"when": "every blue moon"}, "weekdays at 9"),
    "nothing": ({"when": ""}, "weekdays at 9"),
    "too often": ({"when": "every 10s"}, "a minute is the least"),
    "a zone that is none": ({"zone": "Mars/Base"}, "Mars/Base"),
    "no work": ({"text": ""}, "name a skill, or say the task in words"),
    "too much to read": ({"text": "x" * 4_001}, "4,001 characters; 4,000 is the most"),
    "an unknown skill": ({"skill": "eror-digest"}, "error-digest"),
    "a skill's unknown parameter": (
        {"skill": "error-digest", "params": {"servics": "checkout"}},
        "has no parameter 'servics'. It takes: ",
    ),
    "a parameter that is missing": ({"skill": "log-diagnosis", "text": ""}, "say "),
    "parameters of no skill": ({"params": {"a": "b"}}, "no skill that takes them"),
    "no place": ({"thread": "", "targets": ()}, "name a channel, such as slack:T1:C1"),
    "too many places": (
        {"targets": tuple(f"world:T1:C{number}" for number in range(21))},
        "21 channels; 20 is the most",
    ),
    "a place that is no id": ({"targets": ("#general",)}, "is no channel's id"),
    "a pattern": ({"targets": ("world:T1:*",)}, "is no channel's id"),
    "a platform that is not on": ({"targets": ("irc:T1:C1",)}, "'irc' is not on here. Those that are: world"),
    "a place it may not post in": ({"targets": ("world:T9:C1",)}, "T9"),
    "a name that is none": ({"name": "My Digest!"}, "lower-case letters, digits and hyphens"),
    "a name too long": ({"name": "x" * 41}, "up to 40"),
    "quiet hours that are none": ({"terms": Terms(quiet="soon")}, "22:00-07:00"),
    "quiet all day": ({"terms": Terms(quiet="00:00-23:59")}, "every planned time is left out"),
    "holidays of nowhere": ({"terms": Terms(holidays="ZZ")}, "ZZ"),
    "an unknown profile": ({"profile": "nobody"}, "nobody"),
}


@pytest.mark.parametrize(("fields", "says"), REFUSED.values(), ids=REFUSED)
async def test_what_cannot_be_is_refused_and_nothing_is_stored(
    tmp_path: Path, fields: dict[str, Any], says: str
) -> None:
    wanted = dict(fields)
    when = wanted.pop("when", "0 9 * * *")
    async with running(tmp_path, clock=FakeClock(MONDAY), access=OPERATED) as bot:
        for act in (bot.app.schedules.check, bot.app.schedules.add):
            with pytest.raises(ScheduleError) as caught:
                await act(draft(when, **wanted))
            assert says in str(caught.value)
            assert len(str(caught.value)) < 600
        assert await bot.app.schedules.all() == []


ALLOWED: dict[str, dict[str, Any]] = {
    "twenty places": {"targets": tuple(f"world:T1:C{number}" for number in range(20))},
    "four thousand characters": {"text": "x" * 4_000},
    "foreign scripts": {"text": "每天早上 検査 صباح 👩‍👩‍👧 \u202eabc\u202c `code` <@U1> *bold*"},
    "a nul and half a character": {"text": "a\x00b\ud800c"},
    "the same place twice": {"targets": ("world:T1:C1", "world/T1/C1")},
}


@pytest.mark.parametrize("fields", ALLOWED.values(), ids=ALLOWED)
async def test_what_is_odd_but_possible_is_stored_and_read_back(
    tmp_path: Path, fields: dict[str, Any]
) -> None:
    async with running(tmp_path, clock=FakeClock(MONDAY), access=OPERATED) as bot:
        made = await bot.app.schedules.add(draft("0 9 * * *", **fields))
        assert await bot.app.schedules.all() == [made]
        assert made.text == fields.get("text", "say hello").replace("\ud800", "\ufffd")
        assert len(made.targets) == len({it.replace("/", ":") for it in fields.get("targets", ("x",))})


async def test_a_name_that_is_taken_is_refused_and_one_that_is_made_gets_a_number(tmp_path: Path) -> None:
    async with running(tmp_path, clock=FakeClock(MONDAY), access=OPERATED) as bot:
        await bot.app.schedules.add(draft("0 9 * * *", name="say-hello"))
        with pytest.raises(ScheduleError, match="There is a schedule `say-hello` already"):
            await bot.app.schedules.add(draft("0 9 * * *", name="say-hello"))
        assert (await bot.app.schedules.add(draft("0 9 * * *"))).name == "say-hello-2"


def planned(target: str) -> Draft:
    owner = ANN if target.startswith("slack") else BOB
    return Draft(when="0 9 * * *", owner=owner, targets=(target,), text="say hello", origin="config")


async def test_a_place_out_of_reach_is_refused_with_what_would_work(tmp_path: Path) -> None:
    async with both(tmp_path, otherwise=finish("hi")) as bot:
        bot.slack.add_channel("C5", name="strangers", members=("U1",))
        bot.slack.add_channel("C6", name="old", members=("U1", "UBOT"), is_archived=True)
        refused = {
            "slack:T1:C404": "slack:T1:C404",
            "slack:T1:C5": "Invite me there with /invite",
            "slack:T1:C6": "archived",
        }
        for target, says in refused.items():
            with pytest.raises(ScheduleError) as caught:
                await bot.app.schedules.add(planned(target))
            assert str(caught.value).startswith(f"I cannot post in {target}:")
            assert says in str(caught.value)
        bot.telegram.kick(-1001)
        with pytest.raises(ScheduleError, match="I cannot post in telegram:"):
            await bot.app.schedules.add(planned("telegram:-1001"))
        bot.telegram.state.chats.pop(-1002)
        with pytest.raises(ScheduleError, match="I cannot post in telegram:"):
            await bot.app.schedules.add(planned("telegram:-1002"))
        assert await bot.app.schedules.all() == []
        made = await bot.app.schedules.add(planned("slack:T1:C1"))
        assert made.targets == ("slack/T1/C1",)
