"""Knows the unit file: the shipped one with the command, user and folders of this host put in. Pure.

A line ``# install-service: NAME`` in the shipped file marks the settings below it, up to an empty line or
a comment, as those to be put in. The first line of a written file is a checksum of the rest: a file that fits
its checksum is ours, and a later version may replace it; one that does not was changed by hand.
"""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_bot.errors import HermesError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

NAME = "hermes-bot.service"
UNIT_DIR = Path("/etc/systemd/system")
CREDENTIALS = Path("/etc/hermes-bot/credentials")
STATE_DIR = Path("/var/lib/hermes-bot")  # where systemd puts StateDirectory=hermes-bot
STOP_SECONDS = 15  # beyond the drain: posts are flushed, status lines cleared, the file closed

_MARKED = re.compile(r"^# install-service: (\w+)\n((?:[A-Z]\w*=.*\n)*)", re.MULTILINE)
_STAMP = re.compile(r"\A# Written by hermes-bot install-service; sha256 of the rest: (\w+)\n")
_PLAIN = re.compile(r"[\w@+=:,./-]+")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a unit file is written for.

    Attributes:
        command: what starts the bot, its first word an absolute path.
        secrets: the names of their variables.
        user: whom it runs as; empty for one that systemd makes up.
        groups: further groups, to read logs with say.
        state_dir: a state folder of the user's own; None for the one that systemd makes.
        sees_home: some of what it needs lies in a home folder.
    """

    command: Sequence[str]
    secrets: Iterable[str]
    credentials: Path = CREDENTIALS
    user: str = ""
    groups: Sequence[str] = ()
    state_dir: Path | None = None
    sees_home: bool = False
    shutdown_seconds: float = 60.0


def unit_text(template: str, wanted: Wanted) -> str:
    """Return the whole unit file, stamped.

    Raises:
        HermesError: systemd takes no program with such a path.
    """
    lines = {
        "command": [f"ExecStart={' '.join([_program(wanted.command[0]), *map(_word, wanted.command[1:])])}"],
        "user": [
            f"User={wanted.user}" if wanted.user else "DynamicUser=yes",
            *([f"SupplementaryGroups={' '.join(wanted.groups)}"] if wanted.groups else []),
        ],
        "folders": [f"ReadWritePaths={_word(str(wanted.state_dir))}"] if wanted.state_dir else [],
        "stop": [f"TimeoutStopSec={math.ceil(wanted.shutdown_seconds) + STOP_SECONDS}"],
        "credentials": [
            line
            for name in wanted.secrets
            for line in (
                f"LoadCredential={name}:{_percent(str(wanted.credentials / name))}",
                f"SetCredential={name}:\\n",
            )
        ],
        "home": ["ProtectHome=read-only" if wanted.sees_home else "ProtectHome=yes"],
    }
    rest = _MARKED.sub(lambda found: "".join(f"{line}\n" for line in lines[found[1]]), template)
    return f"# Written by hermes-bot install-service; sha256 of the rest: {_digest(rest)}\n{rest}"


def is_ours(text: str) -> bool:
    """Whether a unit file is as ``unit_text`` made it, by this version or an earlier one."""
    stamp = _STAMP.match(text)
    return stamp is not None and stamp[1] == _digest(text[stamp.end() :])


def command_of(text: str) -> tuple[str, ...]:
    """Return the words of a unit file's command, as ``unit_text`` writes them; empty where there is none."""
    found = re.search(r"^ExecStart=(.*)$", text, re.MULTILINE)
    if found is None:
        return ()
    words = re.findall(r'"((?:\\.|[^"\\])*)"|(\S+)', found[1])
    plain = [re.sub(r"\\(.)", r"\1", quoted or bare).replace("%%", "%") for quoted, bare in words]
    return (*plain[:1], *(word.replace("$$", "$") for word in plain[1:]))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _percent(text: str) -> str:
    return text.replace("%", "%%")  # systemd.unit(5): specifiers


def _program(path: str) -> str:
    """Return the first word of a command: no variables are put into it, and some characters are refused."""
    if re.search(r'["\\\x00-\x1f]', path):
        raise HermesError(
            f"{path}: systemd starts no program with such a path. Install hermes-bot elsewhere."
        )
    return _percent(path) if _PLAIN.fullmatch(path) else f'"{_percent(path)}"'


def _word(text: str) -> str:
    """Return a word as systemd.service(5) reads it back."""
    if _PLAIN.fullmatch(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("$", "$$")
    return f'"{_percent(escaped)}"'
