"""A newcomer meets consent in the demo, without a key: who may not is told so, a yes lets it go on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from demo.visiting import INCIDENTS, visiting

if TYPE_CHECKING:
    from pathlib import Path

GROUP = {"platform": "telegram", "channel": "-1001000000001"}
NAMES = {"slack": "@hermes", "telegram": "@hermes_bot"}


def words(message: dict[str, Any]) -> str:
    return json.dumps([message["body"], message.get("buttons")], ensure_ascii=False)


def action_of(found: Any, label: str) -> str:
    """Return what a button with a label sends, wherever it stands."""
    match found:
        case {"label": str(name), "action": str(action)} if name == label:
            return action
        case ["button", {"action": str(action)}, str(name)] if name == label:
            return action
        case dict():
            return next(filter(None, (action_of(one, label) for one in found.values())), "")
        case list():
            return next(filter(None, (action_of(one, label) for one in found)), "")
        case _:
            return ""


@pytest.mark.parametrize("place", [INCIDENTS, GROUP], ids=["slack", "telegram"])
async def test_a_restart_waits_on_its_card_for_one_who_may_agree(
    place: dict[str, str], tmp_path: Path
) -> None:
    async with visiting(tmp_path) as page, page.listening("support") as events:
        said = f"{NAMES[place['platform']]} restart checkout"
        await page.act("say", **place, seat="support", text=said)
        card = await events.until(lambda kind, told: kind == "message" and "Approve" in words(told))
        assert "restart_service" in words(card)
        assert 'service: \\"checkout\\"' in words(card)
        press = {**place, "message": card["id"], "action": action_of(card, "Approve")}
        _, told = await page.act("press", **press, seat="support")
        if place is GROUP:
            assert (told["alert"], "operators and admins" in told["notice"]) == (True, True)
        else:
            mine = await events.until(lambda kind, told: kind == "message" and told["onlyYou"])
            assert "operators and admins" in words(mine)
        assert not [one for one in await page.messages("support", "telegram") if one["onlyYou"]]
        await page.act("press", **press, seat="engineer")
        await events.until(
            lambda kind, told: kind == "message" and "nothing real was restarted" in words(told)
        )
