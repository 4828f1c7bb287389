"""A visitor of the demo's page with a real browser: Chromium, driven by Playwright."""

from __future__ import annotations

from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hermes_bot.config import Config
from hermes_bot.demo import Demo, open_demo

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Browser, Page

CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WIDE = {"width": 1280, "height": 800}
PHONE = {"width": 360, "height": 740}
needs_chromium = pytest.mark.skipif(
    not Path(CHROMIUM).exists(), reason=f"{CHROMIUM} is not installed: apt-get install chromium"
)


@asynccontextmanager
async def browser() -> AsyncIterator[Browser]:
    """Start Chromium."""
    from playwright.async_api import async_playwright  # noqa: PLC0415 - not needed where Chromium is not there

    async with async_playwright() as playwright:
        started = await playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS), headless=True)
        try:
            yield started
        finally:
            await started.close()


@asynccontextmanager
async def looking(
    chromium: Browser, folder: Path, yours: Config | None = None, **context: Any
) -> AsyncIterator[tuple[Page, Demo]]:
    """Run the demo and open its page; an error in its scripts, or one of the policy, fails the test."""
    troubles: list[str] = []
    async with open_demo(yours or Config(), folder) as demo:
        page = await chromium.new_page(**{"viewport": WIDE, "locale": "en-GB", **context})
        page.set_default_timeout(15_000)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("console", lambda said: troubles.append(said.text) if said.type == "error" else None)
        await page.goto(demo.url)
        await page.get_by_role("heading", name="incidents", level=1).wait_for()
        yield page, demo
        await page.close()
        assert not troubles, troubles
