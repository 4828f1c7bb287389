"""Makes the README's pictures of the demo: ``python tests/demo/screenshots.py [FOLDER] [--png]``.

Each scene is the demo itself, started anew, with somebody using it in Chromium.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters"), str(ROOT / "tests")]

from demo.browsing import PHONE, browser, looking  # noqa: E402 - the path is set above

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from playwright.async_api import Browser, Page

    Scene: TypeAlias = Callable[[Page], Awaitable[None]]

Format = Literal["webp", "png"]
FOLDER = ROOT / "data" / "screenshots"
SIZE = {"width": 1240, "height": 780}
QUALITY = 90


async def slack(page: Page) -> None:
    """Show a question that was answered by its button, and the diagnosis, in a thread."""
    await _ask(page, "Ask in #incidents")
    thread = page.get_by_role("complementary")
    await thread.get_by_role("button", name="last hour").click()
    await thread.get_by_text("Evidence", exact=True).wait_for()
    await page.get_by_role("button", name="Hide what to try").click()
    await thread.locator(".scroller").evaluate("one => one.scrollTo(0, 0)")


async def telegram(page: Page) -> None:
    """Show the same in a private chat, answered by typing, with what the bot recorded."""
    await page.get_by_role("button", name="Telegram-like").click()
    await _ask(page, "Ask in private")
    await page.get_by_role("log").get_by_role("button", name="last hour").wait_for()
    await page.locator("#composer-text").fill("last hour")
    await page.locator("#composer-text").press("Enter")
    await page.get_by_text("Evidence", exact=True).first.wait_for()
    await page.get_by_role("button", name="What the bot records").click()
    await page.locator("details[data-run]").first.click()
    await page.locator(".rounds ol").wait_for()
    await page.get_by_role("list", name="Files").evaluate("one => one.scrollIntoView({block: 'start'})")


async def start(page: Page) -> None:
    """Show what a newcomer sees first."""
    await page.get_by_role("button", name="Ask in #incidents").wait_for()


async def phone(page: Page) -> None:
    """Show a question in a thread on a phone."""
    await _ask(page, "Ask in #incidents")
    await page.get_by_role("button", name="1 reply").click()
    await page.get_by_role("complementary").get_by_role("button", name="last hour").wait_for()


async def _ask(page: Page, step: str) -> None:
    await page.get_by_role("button", name=step).click()
    await page.get_by_role("button", name="Send").click()


SCENES: dict[str, tuple[Scene, dict[str, Any]]] = {
    "start": (start, {"viewport": SIZE, "color_scheme": "light"}),
    "slack": (slack, {"viewport": SIZE, "color_scheme": "light"}),
    "slack-dark": (slack, {"viewport": SIZE, "color_scheme": "dark"}),
    "telegram": (telegram, {"viewport": SIZE, "color_scheme": "dark"}),
    "telegram-light": (telegram, {"viewport": SIZE, "color_scheme": "light"}),
    "phone": (phone, {"viewport": PHONE, "color_scheme": "light", "has_touch": True}),
}
SHOWN = ("slack", "telegram")  # in the README


async def shoot(chromium: Browser, name: str, form: Format = "webp") -> bytes:
    """Play one scene and return its picture."""
    scene, context = SCENES[name]
    async with AsyncExitStack() as stack:
        scratch = stack.enter_context(tempfile.TemporaryDirectory())
        page, _ = await stack.enter_async_context(looking(chromium, Path(scratch), **context))
        await scene(page)
        await page.mouse.move(0, 0)
        await page.evaluate("document.activeElement?.blur()")
        asked = {"format": form} | ({"quality": QUALITY} if form == "webp" else {})
        session = await page.context.new_cdp_session(page)
        picture = await session.send("Page.captureScreenshot", asked)
    return base64.b64decode(picture["data"])


async def shoot_all(names: list[str], form: Format) -> dict[str, bytes]:
    """Return the pictures of several scenes by their names."""
    async with browser() as chromium:
        return {name: await shoot(chromium, name, form) for name in names}


def main() -> None:
    """Write the pictures into a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    parser.add_argument("--png", action="store_true", help="write PNG instead of WebP")
    parser.add_argument("--all", action="store_true", help="those that the README does not show, too")
    given = parser.parse_args()
    form: Format = "png" if given.png else "webp"
    given.folder.mkdir(parents=True, exist_ok=True)
    for name, picture in asyncio.run(shoot_all(list(SCENES if given.all else SHOWN), form)).items():
        target = given.folder / f"{name}.{form}"
        target.write_bytes(picture)
        sys.stdout.write(f"{target}: {len(picture):,} bytes\n")


if __name__ == "__main__":
    main()
