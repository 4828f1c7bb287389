"""Knows what a sound sandbox looks like from inside, and what to tell a person whose host has none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_bot.sandbox.profile import VARIABLES, Allowance, Host

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_PROCESSES = 3
WANTED_VERSION = (0, 12, 0)
_OURS = {*VARIABLES, "PWD"}
_ROOT = {"bin", "lib", "lib64", "usr", "proc", "dev", "tmp", "etc", "in", "env", "work"}
_STREAMS = 3
_SETTINGS = Path("/proc/sys")


def misses(output: bytes, word: str, host: Host, allowance: Allowance) -> Iterator[str]:
    """Yield what the probe's answer shows that must not be so."""
    try:
        seen: dict[str, Any] = json.loads(output)
        answers = {"word": word}.items() <= seen.items()
        yield from _of_walls(seen) if answers else ["somebody else answered in the probe's place"]
        yield from _of_rights(seen, host, allowance) if answers else ()
    except (ValueError, KeyError, TypeError, AttributeError):
        said = output.decode("utf-8", "replace").strip()[-200:]
        yield f"the probe did not answer ({said or 'it said nothing'})"


def _of_walls(seen: dict[str, Any]) -> Iterator[str]:
    if extra := set(seen["variables"]) - _OURS:
        yield f"it has variables that are not ours: {', '.join(sorted(extra))[:200]}"
    if seen["first_environment"]:
        yield "the environment of the sandbox's first process can be read"
    if seen["processes"] > MOST_PROCESSES:
        yield f"it sees {seen['processes']} processes, not {MOST_PROCESSES} at most"
    if extra := set(seen["root"]) - _ROOT:
        yield f"its root holds {', '.join(sorted(extra))[:200]}"
    if seen["reached"] or set(seen["interfaces"]) - {"lo"}:
        yield "it has a network"
    if len(seen["files"]) > _STREAMS + 1:  # and the folder that was listed
        yield "it inherits open files"


def _of_rights(seen: dict[str, Any], host: Host, allowance: Allowance) -> Iterator[str]:
    status: dict[str, str] = seen["status"]
    if int(status["CapEff"], 16) or int(status["CapPrm"], 16) or status["NoNewPrivs"].strip() != "1":
        yield "it has rights of an administrator, or could gain them"
    if seen["settings"]:
        yield "it may change settings of the kernel"
    if seen["forks"] > allowance.processes:
        yield f"it could start {seen['forks']} processes, not {allowance.processes} at most"
    if host.has_filter and status["Seccomp"].strip() != "2":
        yield "its system calls are not filtered"


def advice(words: str) -> str:
    """Return what to do where bubblewrap failed with these words; empty where nothing better is known."""
    if any(word in words for word in ("ENOSPC", "No space left", "Resource temporarily")):
        return "This host's user namespaces are used up or set to none: see sysctl user.max_user_namespaces."
    if _setting("kernel/apparmor_restrict_unprivileged_userns") == "1":
        return (
            "AppArmor refuses user namespaces to ordinary programs here, as on Ubuntu 24.04 and later. Load "
            "the distribution's profile bwrap-userns-restrict: it comes with the package apparmor-profiles, "
            "in /usr/share/apparmor/extra-profiles; copy it to /etc/apparmor.d and call "
            "apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict."
        )
    if _setting("kernel/unprivileged_userns_clone") == "0":
        return "Allow user namespaces: sysctl -w kernel.unprivileged_userns_clone=1."
    if "not permitted" in words or "Permission denied" in words:
        return (
            "User namespaces are refused to this process: by its unit (RestrictNamespaces=, "
            "SystemCallFilter=; the shipped one allows what is needed) or by the container it runs in."
        )
    return ""


def is_old(version: str) -> bool:
    """Tell whether this is an older bubblewrap than wanted; one that does not say so counts as old."""
    numbers = tuple(int(part) for part in version.split(".") if part.isdigit())
    return numbers < WANTED_VERSION


def _setting(name: str) -> str:
    try:
        return (_SETTINGS / name).read_text(encoding="ascii").strip()
    except OSError:
        return ""
