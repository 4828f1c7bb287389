"""What the demo's tests share: one Chromium for all that need it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest_asyncio
from demo.browsing import browser

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Browser


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chromium() -> AsyncIterator[Browser]:
    async with browser() as started:
        yield started
