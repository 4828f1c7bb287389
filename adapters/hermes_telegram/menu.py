"""Knows the menu of commands that Telegram shows: the bot's verbs, set where they differ."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hermes_telegram.api import SCOPES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_telegram.api import Api

MAX_COMMANDS = 100
MAX_ABOUT = 256
_NAME = re.compile(r"[a-z0-9_]{1,32}")


def menu(verbs: Mapping[str, str]) -> dict[str, str]:
    """Return the verbs as Telegram takes them: a name holds no "-", and each is described."""
    named = {verb.lower().replace("-", "_"): about for verb, about in verbs.items()}
    fitting = {name: (about or name)[:MAX_ABOUT] for name, about in named.items() if _NAME.fullmatch(name)}
    return dict(list(fitting.items())[:MAX_COMMANDS])


async def set_menu(api: Api, verbs: Mapping[str, str]) -> None:
    """Set the menu for every reader, where it is another one.

    Raises:
        AdapterError: not now.
    """
    wanted = menu(verbs)
    for scope in SCOPES:
        if wanted and await api.commands(scope) != wanted:
            await api.set_commands(scope, wanted)
