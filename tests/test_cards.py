"""What has buttons is settled: by whom and how stands there, and nothing can be pressed again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from endpoint import act, finish
from world import Bench, scripted

from hermes_bot.ports import STOP_PREFIX

if TYPE_CHECKING:
    from pathlib import Path


async def test_an_answered_card_loses_its_buttons_and_names_who_chose(tmp_path: Path) -> None:
    script = [act("request_info", question="Which service?", options=["checkout", "search"]), finish("ok")]
    async with scripted(tmp_path, script) as bot:
        talk = bot.talk()
        await talk.say("go")
        asked = await talk.heard()
        await talk.press(asked.buttons[1].press.question, 1, "u2")
        await talk.heard()
        await bot.quiet()
    ((posted, card),) = bot.world.edits
    assert posted == f"id-{asked.key}"
    assert not card.buttons
    assert "Which service?" in card.text
    assert "✔ `u2` chose `search`" in card.text


async def test_an_expired_card_says_so(tmp_path: Path) -> None:
    script = [act("request_info", question="Which service?", options=["checkout", "search"])]
    async with scripted(tmp_path, script) as bot:
        await bot.talk().say("go")
        await bot.talk().heard()
        await bot.pass_time(73 * 3600, step=3600)
        await bot.quiet()
    assert "Nobody answered in time" in bot.world.edits[-1][1].text


async def test_the_stop_button_of_a_status_line_stops_its_run_and_no_other(tmp_path: Path) -> None:
    bench = Bench()
    bench.gate.clear()
    async with scripted(tmp_path, [finish("first"), act("echo", word="x")], tools=bench.tools()) as bot:
        talk = bot.talk()
        await talk.say("one")
        await talk.heard()
        (old,) = await bot.runs()
        await talk.say("two")
        await bench.begun.wait()
        (_, new) = await bot.runs()
        refused = await talk.press(STOP_PREFIX + old.id, 0)
        assert refused
        assert "over already" in refused.text
        assert await talk.press(STOP_PREFIX + new.id, 0) is None
        assert "Stopped as asked" in (await talk.heard()).text
        bench.gate.set()
        assert (await bot.runs())[1].status == "cancelled"


async def test_a_stopped_run_can_be_left_as_it_is(tmp_path: Path) -> None:
    async with scripted(tmp_path, otherwise=act("now")) as bot:
        talk = bot.talk()
        await talk.say("go")
        report = await talk.heard()
        going, leaving = report.buttons
        await talk.press(leaving.press.question, leaving.press.option)
        await bot.quiet()
        assert "left it as it is" in bot.world.edits[-1][1].text
        assert len(await bot.runs()) == 1
        assert going.label == "Continue"
