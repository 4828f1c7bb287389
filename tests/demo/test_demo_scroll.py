"""The demo's page keeps what is new in sight, in a real Chromium."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from demo.browsing import looking, needs_chromium
from playwright.async_api import expect

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.async_api import Browser

pytestmark = [needs_chromium, pytest.mark.asyncio(loop_scope="module")]


async def test_what_was_just_written_stays_in_sight_when_its_thread_opens(
    chromium: Browser, tmp_path: Path
) -> None:
    async with looking(chromium, tmp_path) as (page, _):
        await page.get_by_role("button", name="Ask in #incidents").click()
        await page.get_by_role("button", name="Send").click()
        await page.get_by_role("complementary").get_by_role("button", name="last hour").wait_for()
        asked = page.get_by_role("main").get_by_role("log").get_by_role("button", name="1 reply")
        await expect(asked).to_be_in_viewport(ratio=1)
