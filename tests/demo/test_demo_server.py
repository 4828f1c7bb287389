"""The demo's server: who may use it, what a seat sees, what it can do, what it is told."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp
import pytest
from demo.visiting import INCIDENTS, visiting

from hermes_bot import demo
from hermes_bot.config import Bot, Config
from hermes_bot.demo import open_demo
from hermes_bot.errors import ConfigError

if TYPE_CHECKING:
    from typing import Any

STATIC = Path(demo.__file__).parent / "static"


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def words(message: dict[str, Any]) -> str:
    return json.dumps(message["body"], ensure_ascii=False)


async def test_the_page_lets_nothing_in_from_elsewhere(tmp_path: Path) -> None:
    async with visiting(tmp_path) as page:
        status, text, headers = await page.see("/")
        assert status == 200
        assert "default-src 'self'" in headers["Content-Security-Policy"]
        assert "http://" not in text.replace(page.demo.url, "")
        assert "https://" not in text
        for path in ("/static/app.js", "/static/style.css", "/static/mark.svg"):
            assert (await page.see(path))[0] == 200
        assert (await page.see("/static/app.js"))[2]["Content-Security-Policy"] == headers[
            "Content-Security-Policy"
        ]
        assert (await page.see("/nothing"))[0] == 404


def test_no_script_of_the_page_reads_a_text_as_markup() -> None:
    scripts = sorted(STATIC.glob("*.js"))
    assert len(scripts) > 10
    for script in scripts:
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", script.read_text()
        )


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1:1"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
async def test_another_sites_page_is_refused(headers: dict[str, str], tmp_path: Path) -> None:
    async with visiting(tmp_path) as page:
        for path in ("/", "/api/state", "/api/events", "/static/app.js"):
            status, text, _ = await page.see(path, **headers)
            assert status == 403
            assert page.token not in text
        said = {**INCIDENTS, "seat": "engineer", "text": "hello"}
        given = {**headers, "X-Demo-Token": page.token}
        async with page.session.post(page.address("/api/say"), json=said, headers=given) as refused:
            assert refused.status == 403
        assert not [one for one in page.demo.slack.ledger.entries if one.text == "hello"]


@pytest.mark.parametrize("token", ["", "guessed", "ümlaut"])
async def test_nothing_is_done_without_the_pages_token(token: str, tmp_path: Path) -> None:
    async with visiting(tmp_path) as page:
        page.token = token
        status, answer = await page.act("say", **INCIDENTS, text="hello")
        assert status == 403
        assert "Load it again" in answer["error"]


async def test_a_mention_is_answered_in_its_thread_and_the_page_is_told(tmp_path: Path) -> None:
    async with visiting(tmp_path) as page, page.listening() as events:
        kind, state = await events.next()
        assert kind == "state"
        assert {one["name"] for one in state["platforms"]["slack"]["channels"]} == {
            "general",
            "incidents",
            "payments-team",
            "hermes",
        }
        _, done = await page.act("say", **INCIDENTS, text="@hermes why is checkout failing?")
        asked = await events.until(lambda kind, told: kind == "message" and told["thread"] == done["id"])
        assert asked["author"]["kind"] == "bot"
        assert "Since when?" in words(asked)
        await events.until(lambda kind, told: kind == "runs" and told["runs"][0]["status"] == "waiting")
        await page.act("press", **INCIDENTS, message=asked["id"], action=_action(asked, "last hour"))
        answer = await events.until(
            lambda kind, told: kind == "message" and "too many connections" in words(told)
        )
        assert answer["thread"] == done["id"]
        runs = await events.until(
            lambda kind, told: kind == "runs" and told["runs"][0]["status"] == "finished"
        )
        rounds = json.loads((await page.see(f"/api/runs/{runs['runs'][0]['id']}"))[1])["rounds"]
        assert rounds[0]["status"] == "ok"
        assert any("query_logs" in step for step in rounds[0]["steps"])


def _action(message: dict[str, Any], label: str) -> str:
    """Return the id of a button somewhere in a message's body."""
    found = [node for node in _all(message["body"]) if node[0] == "button" and node[2] == label]
    return str(found[0][1]["action"])


def _all(nodes: list[Any]) -> list[Any]:
    return [one for node in nodes if isinstance(node, list) for one in (node, *_all(node[2:]))]


async def test_what_one_seat_alone_is_told_no_other_sees(tmp_path: Path) -> None:
    async with visiting(tmp_path) as page, page.listening("support") as others, page.listening() as own:
        await page.act("slash", **INCIDENTS, text="/hermes skills")
        told = await own.until(lambda kind, told: kind == "message" and "log-diagnosis" in words(told))
        assert told["onlyYou"]
        await page.act("say", **INCIDENTS, text="that is all")
        seen = await others.until(lambda kind, _: kind == "message")
        assert "that is all" in words(seen)
        assert not [one for one in await page.messages("support") if one["onlyYou"]]
        assert [one for one in await page.messages("engineer") if one["onlyYou"]]


async def test_a_private_channel_is_unknown_to_who_is_not_in_it(tmp_path: Path) -> None:
    async with visiting(tmp_path) as page:
        private = {"platform": "slack", "channel": "GPAYMENTS"}
        assert [one for one in await page.messages("engineer") if one["channel"] == "GPAYMENTS"]
        state = await page.state("product")
        assert "GPAYMENTS" not in json.dumps(state)
        status, answer = await page.act("say", **private, seat="product", text="hello")
        assert (status, answer["error"]) == (400, "Product manager sees no such channel.")


async def test_who_is_on_no_list_is_refused_and_told_so_alone(tmp_path: Path) -> None:
    async with visiting(tmp_path) as page, page.listening("product") as events:
        await page.act("say", **INCIDENTS, seat="product", text="@hermes why is checkout failing?")
        told = await events.until(lambda kind, told: kind == "message" and told["author"]["kind"] == "bot")
        assert told["onlyYou"]
        assert "Only members" in words(told)
        assert (await page.state())["runs"] == []


async def test_a_press_on_telegram_brings_back_what_the_bot_says(tmp_path: Path) -> None:
    async with visiting(tmp_path) as page, page.listening() as events:
        place = {"platform": "telegram", "channel": "101"}
        await page.act("say", **place, text="why is checkout failing?")
        asked = await events.until(lambda kind, told: kind == "message" and told.get("buttons"))
        action = asked["buttons"][0][0]["action"]
        assert await page.act("press", **place, message=asked["id"], action=action) == (
            200,
            {"notice": "", "alert": False},
        )
        await events.until(lambda kind, told: kind == "message" and "too many connections" in words(told))
        _, late = await page.act("press", **place, message=asked["id"], action=action)
        assert "expired" in late["notice"]


async def test_a_message_can_be_edited_and_deleted_by_its_author_only(tmp_path: Path) -> None:
    async with visiting(tmp_path) as page:
        for place in (INCIDENTS, {"platform": "telegram", "channel": "-1001000000001"}):
            _, done = await page.act("say", **place, text="frist")
            assert (await page.act("edit", **place, message=done["id"], text="first & <b>"))[0] == 200
            [kept] = [
                one for one in await page.messages(platform=place["platform"]) if one["id"] == done["id"]
            ]
            assert kept["source"] == "first & <b>"
            assert kept["edited"]
            for act in ("edit", "delete"):
                status, answer = await page.act(act, **place, seat="support", message=done["id"], text="mine")
                assert status == 400
                assert answer["error"]
            assert (await page.act("delete", **place, message=done["id"]))[0] == 200
            assert done["id"] not in [one["id"] for one in await page.messages(platform=place["platform"])]


@pytest.mark.parametrize("place", [INCIDENTS, {"platform": "telegram", "channel": "101"}])
async def test_a_file_goes_up_and_comes_down(place: dict[str, str], tmp_path: Path) -> None:
    async with visiting(tmp_path) as page:
        form = aiohttp.FormData(quote_fields=False)
        form.add_field("said", json.dumps({**place, "seat": "engineer", "text": "look"}))
        form.add_field("file", b"<script>1</script>", filename="../../a b.html", content_type="text/html")
        token = {"X-Demo-Token": page.token}
        async with page.session.post(page.address("/api/upload"), data=form, headers=token) as sent:
            assert sent.status == 200
            number = (await sent.json())["id"]
        messages = await page.messages(platform=place["platform"])
        [message] = [one for one in messages if (one["channel"], one["id"]) == (place["channel"], number)]
        [file] = message["files"]
        assert file["name"] == "a b.html"
        path = f"/api/files/{place['platform']}/{place['channel']}/{number}/{file['id']}"
        status, text, headers = await page.see(path)
        assert (status, text) == (200, "<script>1</script>")
        assert headers["Content-Type"] == "application/octet-stream"
        assert headers["Content-Disposition"].startswith("attachment")
        _, looked, headers = await page.see(f"{path}?look=1")
        assert looked == "<script>1</script>"
        assert headers["Content-Type"].startswith("text/plain")
        if place["platform"] == "telegram":
            assert (await page.see(f"{path}?seat=support"))[0] == 404
        await page.act("delete", **place, message=number)
        assert (await page.see(path))[0] == 404


@pytest.mark.parametrize(
    ("act", "asked", "say"),
    [
        ("say", {"text": "  "}, "nothing to send"),
        ("say", {"text": "x", "seat": "root"}, "no seat"),
        ("say", {"text": "x", "colour": "red"}, "colour"),
        ("say", {"text": "x", "thread": "1.1"}, "1.1"),
        ("say", {"text": "x", "platform": "irc"}, "no such channel"),
        ("say", {"text": "x", "channel": "C404"}, "no such channel"),
        ("slash", {"text": "/deploy now"}, "not a command"),
        ("slash", {"text": "/hermes skills", "thread": "1.1"}, "cannot be used in threads"),
        ("press", {"message": "1.1", "action": "x"}, "1.1"),
        ("say", {"text": "x", "platform": "telegram", "channel": "C1"}, "no such channel"),
        ("say", {"text": "x", "platform": "telegram", "channel": "-5"}, "no such channel"),
        ("say", {"text": "x", "platform": "telegram", "channel": "101", "reply_to": "x"}, "no message"),
        ("shortcut", {"platform": "telegram", "channel": "101", "message": "1"}, "no shortcuts"),
    ],
)
async def test_what_cannot_be_done_is_said_in_a_sentence(
    act: str, asked: dict[str, str], say: str, tmp_path: Path
) -> None:
    async with visiting(tmp_path) as page:
        status, answer = await page.act(act, **{**INCIDENTS, **asked})
        assert status == 400
        assert say in answer["error"]


async def test_a_request_that_is_no_json_is_refused(tmp_path: Path) -> None:
    async with visiting(tmp_path) as page:
        token = {"X-Demo-Token": page.token}
        for body in ("", "[]", "{", '{"seat": 1}'):
            async with page.session.post(page.address("/api/say"), data=body, headers=token) as refused:
                assert refused.status == 400


async def test_the_shortcut_asks_about_a_message_in_its_thread(tmp_path: Path) -> None:
    async with visiting(tmp_path) as page, page.listening() as events:
        [alert] = [one for one in await page.messages() if one["channel"] == "CINCIDENTS"]
        await page.act("shortcut", **INCIDENTS, message=alert["id"])
        file = await events.until(lambda kind, told: kind == "message" and told["author"]["kind"] == "bot")
        assert [one["name"] for one in file["files"]] == ["diagnosis-checkout.md"]
        told = await events.until(  # service and time stand in the alert
            lambda kind, told: kind == "message" and "too many connections" in words(told)
        )
        assert file["thread"] == told["thread"] == alert["id"]


async def test_a_topic_keeps_what_is_said_in_it(tmp_path: Path) -> None:
    async with visiting(tmp_path) as page, page.listening() as events:
        place = {"platform": "telegram", "channel": "-1001000000002", "thread": "2"}
        await page.act("say", **place, text="@hermes_bot why is checkout failing?")
        told = await events.until(lambda kind, told: kind == "message" and told["author"]["kind"] == "bot")
        assert told["thread"] == "2"


async def test_the_menu_of_commands_is_the_one_the_bot_set(tmp_path: Path) -> None:
    async with visiting(tmp_path) as page:
        commands = (await page.state())["platforms"]["telegram"]["commands"]
        assert "/skills" in [one["text"] for one in commands["101"]]
        assert "/skills@hermes_bot" in [one["text"] for one in commands["-1001000000001"]]


async def test_a_folder_with_a_bots_state_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "hermes.db").write_bytes(b"mine")
    with pytest.raises(ConfigError, match="holds a bot's state already"):
        async with open_demo(Config(), tmp_path):
            pass
    assert names_in(tmp_path) == ["hermes.db"]


async def test_your_state_folder_and_platforms_stay_out_of_it(tmp_path: Path) -> None:
    yours = Config(bot=Bot(state_dir=tmp_path / "yours", timezone="Asia/Tokyo"))
    async with open_demo(yours, tmp_path / "demo") as demo:
        assert demo.app.config.bot.timezone == "Asia/Tokyo"
        assert demo.app.config.state_dir == tmp_path / "demo"
    assert not (tmp_path / "yours").exists()


@pytest.mark.parametrize(("platform", "channel"), [("slack", "CINCIDENTS"), ("telegram", "-1001000000001")])
async def test_an_alert_by_webhook_is_looked_into_and_its_end_is_noted(
    tmp_path: Path, platform: str, channel: str
) -> None:
    async with visiting(tmp_path) as page:
        there = {"platform": platform, "channel": channel}
        assert await page.act("alert", **there) == (200, {"status": "firing"})

        async def until_shown(word: str) -> None:
            async with asyncio.timeout(20):
                while not any(word in words(one) for one in await page.messages(platform=platform)):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)

        await until_shown("too many connections")
        assert await page.act("alert", **there) == (200, {"status": "resolved"})
        await until_shown("Resolved")
