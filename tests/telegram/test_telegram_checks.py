"""The menu, and what ``doctor`` looks at."""

from __future__ import annotations

import subprocess
import sys

from telegram_desk import ANN, Desk, desk_at, made, place, running, with_faults

from hermes_bot.simulator import Fault, FaultPlan
from hermes_telegram.menu import menu

SCOPES = ("default", "all_private_chats", "all_group_chats")


async def test_the_menu_is_set_for_every_reader_and_only_where_it_differs() -> None:
    async with place() as sim:
        desk = Desk(sim)
        for times in (3, 3):
            async with running(desk):
                await desk.until(lambda: sim.state.polls.waiting)
            assert len(desk.called("setMyCommands")) == times
        names = [[one["command"] for one in sim.commands[scope]] for scope in SCOPES]
        assert names == [["help", "skills", "run", "save_skill"]] * len(SCOPES)


async def test_a_menu_that_cannot_be_set_keeps_nobody_from_speaking() -> None:
    async with desk_at(with_faults(FaultPlan(Fault("setMyCommands", "server_error")))) as desk:
        await desk.sim.say(ANN, ANN, "/skills")
        await desk.hear(1)


def test_a_menu_holds_what_telegram_takes() -> None:
    verbs = {"save-skill": "x" * 300, "Run": "", "bad name": "x", "v" * 40: "x", "why": "because"}
    assert menu(verbs) == {"save_skill": "x" * 256, "run": "run", "why": "because"}
    assert len(menu({f"v{number}": "x" for number in range(150)})) == 100


async def findings(desk: Desk) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for one in await desk.adapter.check():
        found.setdefault(one.what, []).append((one.grade, one.say))
    return found


async def test_the_doctor_sees_a_bot_that_is_well() -> None:
    async with place() as sim:
        desk = Desk(sim)
        await sim.say(ANN, ANN, "waiting")
        desk.adapter = made(sim, desk)
        found = await findings(desk)
        assert {grade for all_ in found.values() for grade, _ in all_} == {"ok"}
        assert "@my_bot (42)" in found["Telegram token"][0][1]
        assert "Privacy mode is on" in found["Telegram groups"][0][1]
        assert "1 wait" in found["Telegram updates"][0][1]
        assert len(sim.state.updates) == 1  # looking took nothing away


async def test_the_doctor_sees_a_wrong_token_and_nothing_else() -> None:
    async with place() as sim:
        desk = Desk(sim)
        desk.adapter = made(sim, desk, token="42:wrong")  # noqa: S106 - on purpose
        found = await findings(desk)
        ((grade, say),) = found["Telegram token"]
        assert grade == "bad"
        assert "HERMES_TELEGRAM_TOKEN" in say
        assert list(found) == ["Telegram token"]


async def test_the_doctor_sees_a_second_receiver_and_a_webhook_that_is_in_the_way() -> None:
    async with place() as sim:
        desk = Desk(sim)
        desk.adapter = made(sim, desk)
        sim.conflict_for(60)
        assert (await findings(desk))["Telegram receivers"][0][0] == "bad"
        sim.state.webhook.url = "https://elsewhere.example/x"
        found = await findings(desk)
        assert [grade for grade, _ in found["Telegram updates"]] == ["warning", "ok"]


async def test_the_doctor_says_that_telegram_is_away() -> None:
    async with place() as sim:
        desk = Desk(sim)
        desk.adapter = made(sim, desk)
    found = await findings(desk)
    assert [grade for grade, _ in found["Telegram"]] == ["bad"]


async def test_a_running_bot_answers_the_doctor_from_what_it_knows() -> None:
    async with desk_at() as desk:
        await desk.sim.say(ANN, ANN, "hi")
        await desk.quiet()
        polls = desk.sim.state.polls.waiting
        found = await findings(desk)
        assert found["Telegram receivers"] == [("ok", "This bot alone fetches updates.")]
        assert desk.sim.state.polls.waiting == polls


def test_the_package_is_imported_without_its_library() -> None:
    code = "import sys, hermes_telegram; print('telegram' in sys.modules, 'aiohttp' in sys.modules)"
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": path()}
    )
    assert done.stdout.split() == ["False", "False"]


def path() -> str:
    return ":".join(entry for entry in sys.path if entry)
