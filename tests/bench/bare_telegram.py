"""A bare python-telegram-bot bot: what our adapter is measured against. Polls, and does nothing."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from telegram import Update
from telegram.ext import ApplicationBuilder, TypeHandler


async def main(base_url: str, token: str) -> None:
    """Serve until killed."""
    app = ApplicationBuilder().token(token).base_url(base_url).job_queue(None).build()

    async def nothing(update: Update, context: Any) -> None:
        """Take every update."""

    app.add_handler(TypeHandler(Update, nothing))
    async with app:
        assert app.updater is not None
        await app.updater.start_polling(timeout=30)
        await app.start()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
