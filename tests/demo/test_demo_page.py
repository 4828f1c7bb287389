"""The demo's page in a real Chromium: what a newcomer does first, by mouse and by keyboard."""

from __future__ import annotations

import asyncio
import json
import re
from typing import TYPE_CHECKING

import pytest
from demo.browsing import PHONE, looking, needs_chromium
from endpoint import Endpoint, finish, held
from playwright.async_api import expect

from hermes_bot.config import Config, ModelSection
from hermes_bot.demo import open_demo

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.async_api import Browser, FilePayload, Locator, Page

pytestmark = [needs_chromium, pytest.mark.asyncio(loop_scope="module")]
CAUSE = "too many connections"
EVIDENCE = "diagnosis-checkout.md"
NAMELESS = """() => [...document.querySelectorAll("button, a[href], select, textarea")]
    .filter((one) => !one.getAttribute("aria-label") && !one.textContent.trim() && !one.labels?.length)
    .map((one) => one.outerHTML)"""


async def write(page: Page, text: str, box: str = "#composer-text") -> None:
    await page.locator(box).fill(text)
    await page.locator(box).press("Enter")


async def sit(page: Page, name: str) -> None:
    await page.get_by_label("Write as").first.select_option(label=name)


async def expect_its_file(where: Locator, page: Page) -> None:
    """Look into the diagnosis' file, which stands above the answer, and take it along."""
    files = where.get_by_role("list", name="Files")
    await expect(files.get_by_role("link")).to_have_text(EVIDENCE)
    answer = where.get_by_role("listitem").filter(has_text=CAUSE).last
    above, below = await files.bounding_box(), await answer.bounding_box()
    assert above
    assert below
    assert above["y"] < below["y"]
    await files.get_by_text("Preview").click()
    await expect(files.get_by_role("region")).to_contain_text("payments/postgres.log:249")
    async with page.expect_download() as waiting:
        await files.get_by_role("link").click()
    downloaded = await waiting.value
    assert downloaded.suggested_filename == EVIDENCE
    text = (await downloaded.path()).read_text()
    assert text.startswith("# checkout: the evidence\n")
    assert "Lines a minute (UTC)" in text


async def test_a_mention_is_answered_by_a_button_in_the_slack_like_view(
    chromium: Browser, tmp_path: Path
) -> None:
    async with looking(chromium, tmp_path) as (page, _):
        await page.get_by_role("button", name="Ask in #incidents").click()
        await expect(page.locator("#composer-text")).to_have_value("@hermes why is checkout failing?")
        await page.get_by_role("button", name="Send").click()
        await page.get_by_role("button", name="1 reply").click()
        thread = page.get_by_role("complementary", name="Thread")
        await expect(thread).to_contain_text("Since when?")
        await thread.get_by_role("button", name="last hour").click()
        await expect(thread).to_contain_text(CAUSE)
        await expect(thread.get_by_role("button", name="since yesterday")).to_have_count(0)
        await expect(thread).to_contain_text("Engineer on call chose last hour")
        await expect(thread.locator("pre:visible").first).to_contain_text("FATAL")
        await expect(page.get_by_role("button", name="3 replies")).to_be_visible()
        await expect_its_file(thread, page)


async def test_a_question_is_answered_by_typing_in_the_telegram_like_view(
    chromium: Browser, tmp_path: Path
) -> None:
    async with looking(chromium, tmp_path) as (page, _):
        await page.get_by_role("button", name="Telegram-like").click()
        await page.get_by_role("navigation").get_by_role("button", name="hermes").click()
        await write(page, "why is checkout failing?")
        log = page.get_by_role("log", name="Messages")
        await expect(log.get_by_role("button", name="last hour")).to_be_visible()
        await write(page, "last hour")
        await expect(log).to_contain_text(CAUSE)
        await expect(log.get_by_role("button", name="last hour")).to_have_count(0)
        await expect_its_file(log, page)


async def test_a_group_is_answered_where_the_bot_is_replied_to(chromium: Browser, tmp_path: Path) -> None:
    async with looking(chromium, tmp_path) as (page, _):
        await page.get_by_role("button", name="Telegram-like").click()
        await page.get_by_role("button", name="Shop team").click()
        await write(page, "@hermes_bot why is checkout failing?")
        asked = page.get_by_role("listitem").filter(has_text="Since when?")
        await asked.hover()
        await asked.get_by_role("button", name="Reply").click()
        await expect(page.locator(".answering")).to_contain_text("Reply to hermes")
        await write(page, "last hour")
        await expect(page.get_by_role("log")).to_contain_text(CAUSE)


async def test_the_skills_are_seen_by_the_asker_alone(chromium: Browser, tmp_path: Path) -> None:
    async with looking(chromium, tmp_path) as (page, _):
        await write(page, "/hermes skills")
        only_you = page.get_by_role("listitem").filter(has_text="Only visible to you")
        await expect(only_you).to_contain_text("log-diagnosis")
        await sit(page, "Support lead (member)")
        await expect(page.get_by_text("Shop monitor").first).to_be_visible()
        await expect(page.locator("#composer .may")).to_contain_text("Member")
        await expect(only_you).to_have_count(0)
        await sit(page, "Engineer on call (admin)")
        await expect(only_you).to_have_count(1)


async def test_who_has_no_access_is_told_so(chromium: Browser, tmp_path: Path) -> None:
    async with looking(chromium, tmp_path) as (page, _):
        await sit(page, "Product manager (no access)")
        await expect(page.get_by_role("button", name="payments-team")).to_have_count(0)
        await write(page, "@hermes why is checkout failing?")
        await expect(page.get_by_role("button", name="1 only visible to you")).to_be_visible()
        await expect(page.get_by_role("complementary")).to_contain_text("Only members may give me work here.")


async def test_a_waiting_run_is_stopped_by_a_word(chromium: Browser, tmp_path: Path) -> None:
    async with looking(chromium, tmp_path) as (page, _):
        await write(page, "@hermes why is checkout failing?")
        await page.get_by_role("button", name="1 reply").click()
        await page.get_by_role("button", name="What the bot records").click()
        records = page.get_by_role("complementary", name="What the bot records")
        await expect(records).to_contain_text("waits for an answer")
        await records.get_by_role("button", name="Close").click()
        await page.get_by_role("button", name="1 reply").click()
        await write(page, "stop", "#thread-text")
        await expect(page.get_by_role("complementary")).to_contain_text("Stopped as asked.")


async def test_a_run_at_work_is_stopped_by_a_word(chromium: Browser, tmp_path: Path) -> None:
    never = asyncio.Event()
    async with Endpoint([held(finish("Never said."), never)]) as endpoint:
        model = ModelSection(base_url=endpoint.url, name="m")
        async with looking(chromium, tmp_path, Config(model=model)) as (page, _):
            await write(page, "@hermes count all stars")
            await page.get_by_role("button", name="working on it").click()
            await expect(page.get_by_role("complementary")).to_contain_text("hermes working on it")
            async with asyncio.timeout(15):
                await endpoint.arrived.wait()
            await write(page, "stop", "#thread-text")
            await expect(page.get_by_role("complementary")).to_contain_text("Stopped as asked.")
            await expect(page.get_by_role("complementary")).not_to_contain_text("working on it")
            await expect(page.get_by_role("complementary")).not_to_contain_text("Never said.")


async def test_all_of_it_works_without_a_mouse(chromium: Browser, tmp_path: Path) -> None:
    async with looking(chromium, tmp_path) as (page, _):
        await page.keyboard.press("Tab")
        await expect(page.get_by_role("link", name="Skip to the message box")).to_be_focused()
        await page.keyboard.press("Enter")
        await page.keyboard.type("@he")
        await expect(page.get_by_role("option", name="@hermes")).to_be_visible()
        await page.keyboard.press("Tab")
        await page.keyboard.type("why is checkout failing?")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("button", name="1 reply")).to_be_visible()
        await page.keyboard.press("Shift+Tab")
        await expect(page.locator("#log [data-key]").last.locator(":focus")).to_have_count(1)
        await page.get_by_role("button", name="1 reply").focus()
        await page.keyboard.press("Enter")
        await expect(page.locator("#thread-text")).to_be_focused()
        choice = page.get_by_role("complementary").get_by_role("button", name="last hour")
        for _ in range(8):
            await page.keyboard.press("Shift+Tab")
            if await choice.evaluate("one => one === document.activeElement"):
                break
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("complementary")).to_contain_text(CAUSE)
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("complementary")).to_have_count(0)
        await expect(page.locator("#log [data-key]:focus")).to_contain_text("why is checkout failing?")


async def test_a_menu_opens_moves_and_closes_by_keys(chromium: Browser, tmp_path: Path) -> None:
    async with looking(chromium, tmp_path) as (page, _):
        alert = page.get_by_role("listitem").filter(has_text="Shop monitor").last
        await alert.focus()
        await alert.get_by_role("button", name="More actions").focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("menuitem", name="Ask about this")).to_be_focused()
        await page.keyboard.press("ArrowDown")
        await expect(page.get_by_role("menuitem", name="Reply in thread")).to_be_focused()
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("menu")).to_have_count(0)
        await expect(alert.get_by_role("button", name="More actions")).to_be_focused()
        await page.keyboard.press("Enter")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("button", name=re.compile(r"^\d repl"))).to_be_visible()


async def test_shortcuts_are_listed_and_go_places(chromium: Browser, tmp_path: Path) -> None:
    async with looking(chromium, tmp_path) as (page, _):
        await page.keyboard.press("?")
        await expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_contain_text("Alt + R")
        await page.keyboard.press("Escape")
        await page.keyboard.press("Alt+2")
        await expect(page.get_by_role("heading", level=1)).to_have_text("hermes")
        await page.keyboard.press("Alt+ArrowDown")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Shop team")
        await page.keyboard.press("/")
        await expect(page.locator("#composer-text")).to_be_focused()


async def test_what_a_message_says_is_never_markup(chromium: Browser, tmp_path: Path) -> None:
    evil = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> </textarea>"
    async with looking(chromium, tmp_path) as (page, demo):
        for platform in ("Slack-like", "Telegram-like"):
            await page.get_by_role("button", name=platform).click()
            await write(page, evil)
            await expect(page.get_by_role("log")).to_contain_text(evil)
        await page.get_by_role("button", name="Slack-like").click()
        block = {"type": "section", "text": {"type": "mrkdwn", "text": evil}}
        await demo.slack.post_as_bot(
            "BMONITOR", "CINCIDENTS", evil, attachments=[{"title": evil, "blocks": [block]}]
        )
        await expect(page.locator(".attachment").last).to_contain_text("<script>")
        assert await page.locator("#log script, #log img[src=x]").count() == 0
        assert "owned" not in await page.title()


async def test_an_edit_and_a_deletion_are_shown_as_they_happen(chromium: Browser, tmp_path: Path) -> None:
    async with looking(chromium, tmp_path) as (page, demo):
        await write(page, "frist")
        own = page.get_by_role("listitem").filter(has_text="Engineer on call")
        await expect(own).to_contain_text("frist")
        await page.locator("#composer-text").press("ArrowUp")
        await expect(page.locator("#composer-text")).to_have_value("frist")
        await write(page, "first")
        await expect(own).to_contain_text("first (edited)")
        ts = demo.slack.ledger.entries[-1].id
        await demo.slack.delete("UENGINEER", "CINCIDENTS", ts)
        await expect(own).to_have_count(0)


async def test_a_file_is_attached_looked_into_and_downloaded(chromium: Browser, tmp_path: Path) -> None:
    async with looking(chromium, tmp_path) as (page, _):
        note: FilePayload = {"name": "note.txt", "mimeType": "text/plain", "buffer": b"line <b>1</b>\n"}
        await page.locator("#composer input[type=file]").set_input_files([note])
        await expect(page.locator(".pending")).to_contain_text("note.txt")
        await write(page, "see")
        await page.get_by_text("Preview").click()
        await expect(page.get_by_label("Beginning of note.txt")).to_have_text("line <b>1</b>\n")
        async with page.expect_download() as waiting:
            await page.get_by_role("link", name="note.txt").click()
        downloaded = await waiting.value
        assert downloaded.suggested_filename == "note.txt"
        assert (await downloaded.path()).read_bytes() == b"line <b>1</b>\n"


async def test_what_is_too_long_for_a_post_comes_as_a_file(chromium: Browser, tmp_path: Path) -> None:
    whole = "# Findings\n\n" + "\n\n".join(f"Line {number} of what was found." for number in range(500))
    async with Endpoint([finish(whole), finish(whole)]) as endpoint:
        model = ModelSection(base_url=endpoint.url, name="m")
        async with looking(chromium, tmp_path, Config(model=model)) as (page, _):
            for platform in ("Slack-like", "Telegram-like"):
                await page.get_by_role("button", name=platform).click()
                await page.get_by_role("navigation").get_by_role("button", name="hermes").click()
                await write(page, "tell me all of it")
                files = page.get_by_role("list", name="Files").last
                await expect(files.get_by_role("link")).to_have_text("findings.md")
                await files.get_by_text("Preview").click()
                await expect(files.get_by_role("region")).to_contain_text("Line 499 of what was found.")
                await page.keyboard.press("Escape")


async def test_the_colours_follow_the_system_until_somebody_chooses(
    chromium: Browser, tmp_path: Path
) -> None:
    async with looking(chromium, tmp_path, color_scheme="dark") as (page, _):
        background = "getComputedStyle(document.body).backgroundColor"
        dark = await page.evaluate(background)
        await page.get_by_role("button", name="Light colours").click()
        light = await page.evaluate(background)
        assert light == "rgb(255, 255, 255)" != dark
        await page.reload()
        await expect(page.get_by_role("button", name="Dark colours")).to_be_visible()
        assert await page.evaluate(background) == light


async def test_a_phone_shows_all_of_it_without_scrolling_sideways(chromium: Browser, tmp_path: Path) -> None:
    async with looking(chromium, tmp_path, viewport=PHONE, has_touch=True) as (page, _):
        width = "Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)"
        await write(page, "@hermes why is checkout failing?")
        await page.get_by_role("button", name="1 reply").click()
        await page.get_by_role("complementary").get_by_role("button", name="last hour").click()
        await expect(page.get_by_role("complementary")).to_contain_text("Evidence")
        assert await page.evaluate(width) == 360
        await page.get_by_role("button", name="Close thread").click()
        await page.get_by_role("button", name="Channels").click()
        await page.get_by_role("navigation").get_by_role("button", name="general").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("#general")
        await page.get_by_role("button", name="Telegram-like").click()
        await write(page, "why is checkout failing? " + "x" * 200)
        await expect(page.get_by_role("log").get_by_role("button", name="last hour")).to_be_visible()
        assert await page.evaluate(width) == 360


async def test_a_page_left_open_goes_on_with_the_next_start(chromium: Browser, tmp_path: Path) -> None:
    page = await chromium.new_page()
    async with open_demo(Config(), tmp_path / "one") as demo:
        port = int(demo.url.rstrip("/").rpartition(":")[2])
        await page.goto(demo.url)
        await write(page, "from before")
        await expect(page.get_by_role("log")).to_contain_text("from before")
    await expect(page.locator("body.lost")).to_have_count(1)
    async with open_demo(Config(), tmp_path / "two", port):
        await expect(page.locator("body.lost")).to_have_count(0)
        await expect(page.get_by_role("log")).not_to_contain_text("from before")
        await write(page, "from now on")
        await expect(page.get_by_role("log")).to_contain_text("from now on")
        await page.close()


async def test_what_was_missed_is_there_once_the_page_is_connected_again(
    chromium: Browser, tmp_path: Path
) -> None:
    async with looking(chromium, tmp_path) as (page, demo):
        demo.feed.close()
        await demo.slack.say("USUPPORT", "CINCIDENTS", "said meanwhile")
        await expect(page.get_by_role("log")).to_contain_text("said meanwhile")


async def test_what_is_said_elsewhere_is_counted_until_it_is_seen(chromium: Browser, tmp_path: Path) -> None:
    async with looking(chromium, tmp_path) as (page, demo):
        await demo.slack.say("USUPPORT", "CGENERAL", "news")
        general = page.get_by_role("navigation").get_by_role("button", name="general")
        await expect(general).to_contain_text("1 unread")
        await general.click()
        await expect(general).not_to_contain_text("unread")
        await expect(page.get_by_role("log")).to_contain_text("news")


async def test_every_control_has_a_name_and_every_region_a_label(chromium: Browser, tmp_path: Path) -> None:
    async with looking(chromium, tmp_path) as (page, _):
        await write(page, "@hermes why is checkout failing?")
        await page.get_by_role("button", name="1 reply").click()
        nameless = await page.evaluate(NAMELESS)
        assert nameless == []
        missing = await page.evaluate(
            "[...document.querySelectorAll('img')].filter((one) => !one.hasAttribute('alt')).length"
        )
        assert missing == 0
        for role in ("banner", "navigation", "main", "complementary"):
            await expect(page.get_by_role(role)).to_have_count(1)
        shown = json.dumps(await page.evaluate("[...document.querySelectorAll('[id]')].map((one) => one.id)"))
        ids = json.loads(shown)
        assert len(ids) == len(set(ids))
