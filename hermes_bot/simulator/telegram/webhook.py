"""Knows webhooks: where updates are sent, in order per chat, again until they are taken."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hermes_bot.simulator.telegram.refusal import bad_request
from hermes_bot.simulator.telegram.state import Webhook

if TYPE_CHECKING:
    from hermes_bot.simulator.telegram.arguments import Arguments
    from hermes_bot.simulator.telegram.state import Telegram

MOST_CONNECTIONS = 100
_SECRET = re.compile(r"[A-Za-z0-9_-]{1,256}")
_URL = re.compile(
    r"https://[^/:]+(?::(?:443|80|88|8443))?(?:/.*)?|http://(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?(?:/.*)?"
)


def set_webhook(telegram: Telegram, args: Arguments) -> bool:
    """``setWebhook``; beside https, http is taken on loopback."""
    url = args.text("url")
    if not url:
        return delete_webhook(telegram, args)
    if not _URL.fullmatch(url):
        raise bad_request("bad webhook: An HTTPS URL must be provided for webhook")
    secret = args.text("secret_token")
    if secret and not _SECRET.fullmatch(secret):
        raise bad_request("secret token contains unallowed characters")
    connections = args.number("max_connections", 40)
    if not 1 <= connections <= MOST_CONNECTIONS:
        raise bad_request("max_connections must be between 1 and 100")
    telegram.floods.take_webhook()
    telegram.updates.set_kinds(args.nested("allowed_updates", "allowed updates"))
    if args.flag("drop_pending_updates"):
        telegram.updates.drop()
    telegram.webhook = Webhook(url, secret, connections)
    telegram.polls.interrupt(telegram)
    telegram.hook_changed.set()
    return True


def delete_webhook(telegram: Telegram, args: Arguments) -> bool:
    """``deleteWebhook``."""
    if args.flag("drop_pending_updates"):
        telegram.updates.drop()
    telegram.webhook = Webhook()
    telegram.hook_changed.set()
    return True


def get_webhook_info(telegram: Telegram, _args: Arguments) -> dict[str, Any]:
    """``getWebhookInfo``."""
    hook = telegram.webhook
    info: dict[str, Any] = {
        "url": hook.url,
        "has_custom_certificate": False,
        "pending_update_count": len(telegram.updates),
        "max_connections": hook.max_connections,
        "allowed_updates": sorted(telegram.updates.kinds),
    }
    if hook.last_error_at:
        info |= {"last_error_date": hook.last_error_at, "last_error_message": hook.last_error}
    return info
