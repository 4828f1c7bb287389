"""Knows what a host may lack: room, rights, a true clock, a unit that fits. It looks, and changes nothing."""

from __future__ import annotations

import ctypes
import ipaddress
import os
import re
import shutil
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from hermes_bot.ports import Finding
from hermes_bot.service.unit import NAME, command_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from hermes_bot.config import Config

LEAST_BYTES, FEW_BYTES = 64 * 1024 * 1024, 1024 * 1024 * 1024
TIMEX_BYTES = 512  # more than struct timex has anywhere
TIME_ERROR = 5  # adjtimex(2): the clock is not synchronised
# SQLite's write-ahead log needs memory that all its users share (sqlite.org/wal.html)
_REMOTE = re.compile(r"nfs\d?|cifs|smb\d?|ceph|9p|afs|glusterfs|fuse\.(sshfs|glusterfs|s3fs|rclone)")


def host_findings(config: Config, now: datetime, unit_dir: Path) -> list[Finding]:
    """Return what was found of the state folder, the clock, the zone and the unit."""
    return [*_state(config.state_dir), _clock(now), _zone(config, now), *_unit(unit_dir / NAME, config)]


def _state(folder: Path) -> Iterator[Finding]:
    what = "state folder"
    there = next(place for place in (folder, *folder.parents) if place.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        yield Finding("bad", what, f"{there}: this user cannot write it. Give it to the bot's user.")
        return
    free = shutil.disk_usage(there).free
    room = f"{free / 1024**2:,.0f} MiB are free"
    if free < FEW_BYTES:
        grade: Literal["bad", "warning"] = "bad" if free < LEAST_BYTES else "warning"
        yield Finding(grade, what, f"{there}: only {room}. Make room.")
    if kind := _remote(there):
        yield Finding("bad", what, f"{there} is on {kind}; the database needs a disk of this host.")
    if folder.exists() and folder.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        yield Finding("warning", what, f"{folder}: others may look into it. chmod 700 {folder}")
    yield Finding("ok", what, f"{folder}{'' if there == folder else ' will be made'}; {room}.")


def _remote(folder: Path) -> str:
    """Return the kind of file system a folder is on where that is another host's."""
    try:
        lines = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    mounts = [line.split() for line in lines]
    inside = [(len(at), kind) for _, at, kind, *_ in mounts if folder.resolve().is_relative_to(at)]
    kind = max(inside, default=(0, ""))[1]
    return kind if _REMOTE.fullmatch(kind) else ""


def _clock(now: datetime) -> Finding:
    if now.timestamp() < Path(__file__).stat().st_mtime - 86_400:
        return Finding(
            "bad", "clock", f"It says {now:%Y-%m-%d %H:%M} UTC, before this program was installed."
        )
    timex = ctypes.create_string_buffer(TIMEX_BYTES)  # all zero: read, set nothing
    if ctypes.CDLL(None).adjtimex(timex) == TIME_ERROR:
        say = "The kernel does not know it as synchronised. Turn that on: timedatectl set-ntp true"
        return Finding("warning", "clock", f"It says {now:%Y-%m-%d %H:%M:%S} UTC. {say}")
    return Finding("ok", "clock", f"It says {now:%Y-%m-%d %H:%M:%S} UTC.")


def _zone(config: Config, now: datetime) -> Finding:
    name, here = config.bot.timezone, now.astimezone(config.zone)
    say = f"{name}, where it is {here:%H:%M} now."
    if here.utcoffset() != now.astimezone().utcoffset():
        say += f" This host's own clock shows {now.astimezone():%H:%M}: is [bot] timezone people's?"
        return Finding("warning" if name == "UTC" else "ok", "zone", say)
    return Finding("ok", "zone", say)


def _unit(unit: Path, config: Config) -> Iterator[Finding]:
    what = "service"
    try:
        text = unit.read_text(encoding="utf-8")
    except FileNotFoundError:
        yield Finding("ok", what, "It is not installed as a service; install-service does that.")
        return
    except (OSError, ValueError) as error:
        yield Finding("bad", what, f"{unit} cannot be read as text ({error}).")
        return
    command = command_of(text)
    if not command or not os.access(command[0], os.X_OK):
        lost = command[0] if command else "a command"
        yield Finding("bad", what, f"{unit}: {lost} cannot be started. Call install-service again.")
    named = Path(command[command.index("--config") + 1]) if "--config" in command[:-1] else None
    if named is not None and not named.exists():
        yield Finding("bad", what, f"{unit}: its configuration {named} is not there.")
    elif named is not None and named != config.origin:
        yield Finding("warning", what, f"{unit} has {named}; what is looked at here is {config.origin}.")
    yield from _credentials(
        [Path(path) for path in re.findall(r"^LoadCredential=\w+:(.+)$", text, re.MULTILINE)]
    )
    if "IPAddressDeny=link-local" in text and (servers := _local_resolvers()):
        say = (
            f"The unit denies {servers}, which resolves names here. Allow it by IPAddressAllow= in a drop-in."
        )
        yield Finding("bad", what, say)
    yield Finding("ok", what, f"{unit} starts {' '.join(command)}.")


def _credentials(files: Sequence[Path]) -> Iterator[Finding]:
    for place in dict.fromkeys((*(file.parent for file in files), *files)):
        try:
            mode = place.stat().st_mode
        except OSError:  # not there, which is no fault, or not this user's to see, which is how it should be
            continue
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            right = 700 if stat.S_ISDIR(mode) else 600
            yield Finding("bad", "credentials", f"{place}: others may read it. chmod {right} {place}")


def _local_resolvers() -> str:
    try:
        lines = Path("/etc/resolv.conf").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    servers = [line.split()[1] for line in lines if re.match(r"nameserver\s+\S", line)]
    return ", ".join(one for one in servers if _is_link_local(one))


def _is_link_local(address: str) -> bool:
    try:
        return ipaddress.ip_address(address.partition("%")[0]).is_link_local
    except ValueError:
        return False
