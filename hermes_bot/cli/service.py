"""Knows the command ``install-service``: the bot as a unit of systemd."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hermes_bot.cli.output import complain
from hermes_bot.cli.settings import settings_of
from hermes_bot.errors import ConfigError, HermesError
from hermes_bot.service.unit import CREDENTIALS, NAME, STATE_DIR, UNIT_DIR, Wanted, is_ours, unit_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_bot.config import Config
SYSTEM_CONFIG = Path("/etc/hermes-bot/hermes.toml")
TRIAL_SECONDS = 60

DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the unit and change nothing.")]
ConfigFile = Annotated[
    str,
    typer.Option(
        "--config", metavar="FILE", help="The service's configuration, else what every command would read."
    ),
]
User = Annotated[str, typer.Option("--user", metavar="NAME", help="Run as this user.")]
Dynamic = Annotated[bool, typer.Option("--dynamic", help="Run as a user that systemd makes up (default).")]
Groups = Annotated[
    list[str] | None, typer.Option("--group", metavar="NAME", help="A further group, to read logs with: adm.")
]
UnitDir = Annotated[Path, typer.Option(metavar="FOLDER", help="Where the unit file goes.")]
CredentialsDir = Annotated[Path, typer.Option(metavar="FOLDER", help="Where a file for each secret lies.")]
Force = Annotated[
    bool,
    typer.Option(
        "--force", help="Write it over a file changed by hand, and where it looks as if it cannot start."
    ),
]


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    example = "Example: sudo .venv/bin/hermes-bot install-service --config /etc/hermes-bot/hermes.toml"
    app.command("install-service", epilog=example)(install_service)


def install_service(
    context: typer.Context,
    config: ConfigFile = "",
    user: User = "",
    group: Groups = None,
    unit_dir: UnitDir = UNIT_DIR,
    credentials_dir: CredentialsDir = CREDENTIALS,
    *,
    dynamic: Dynamic = False,
    dry_run: DryRun = False,
    force: Force = False,
) -> None:
    """Write the unit that runs the bot under systemd, with this interpreter; doing it again changes nothing.

    Secrets are files in the folder of credentials, each named as its variable; those that are missing are
    secrets that are not set. What a host needs beyond that belongs into a drop-in: systemctl edit hermes-bot.
    """
    if user and dynamic:
        raise typer.BadParameter("--user and --dynamic exclude each other.")
    found = _configuration(config or settings_of(context).config)
    target = unit_dir.absolute() / NAME
    before = _existing(target, is_guarded=not (force or dry_run))
    wanted = _wanted(found, user, group or [], credentials_dir.absolute())
    if doubt := _doubt(wanted, found):
        if not (force or dry_run):
            raise HermesError(doubt)
        complain(doubt)
    text = unit_text(_template(), wanted)
    if dry_run:
        sys.stdout.write(text)
        return
    said = _write(target, before, text)
    _make_private(wanted.credentials)
    sys.stdout.write("\n".join([said, "", *_next(found, wanted)]) + "\n")


def _configuration(named: str) -> Config:
    """Return the configuration as the service will read it: with nothing of this shell's."""
    from hermes_bot.config import read_config

    environ = {name: os.environ[name] for name in ("HERMES_CONFIG",) if name in os.environ}
    environ |= {"STATE_DIRECTORY": str(STATE_DIR), "HOME": "/"}
    config = read_config(Path(named) if named else None, environ, cwd=Path.cwd())
    if config.origin is None and SYSTEM_CONFIG.exists():
        config = read_config(SYSTEM_CONFIG, environ, cwd=Path.cwd())
    if config.origin is None:
        raise ConfigError(
            f"There is no configuration for the service. Write one: hermes-bot --config {SYSTEM_CONFIG} init"
        )
    return config


def _wanted(config: Config, user: str, groups: list[str], credentials: Path) -> Wanted:
    from hermes_bot.config import variables_for
    from hermes_bot.service.reach import HOMES, is_in

    own_state = config.state_dir if config.state_dir != STATE_DIR else None
    if own_state is not None and not user:
        raise ConfigError(
            f"{config.origin}: [bot] state_dir is {own_state}, which is not a made-up user's. "
            f"Set it to {STATE_DIR}, or name its owner with --user."
        )
    return Wanted(
        (sys.executable, "-P", "-m", "hermes_bot", "--config", str(config.origin), "run"),
        variables_for(config),
        credentials,
        user,
        tuple(groups),
        own_state,
        bool(user) and any(is_in(path, HOMES) for path in _needed(config)),
        config.bot.shutdown_seconds,
    )


def _needed(config: Config) -> list[Path]:
    """Return what the service cannot start without: interpreter, library, configuration."""
    import hermes_bot

    own = [path for path in (config.origin, config.bot.state_dir) if path and path != STATE_DIR]
    prefixes = (Path(sys.executable), Path(sys.prefix), Path(sys.base_prefix))
    return [*prefixes, Path(hermes_bot.__file__).absolute(), *own]


def _doubt(wanted: Wanted, config: Config) -> str:
    """Return why the service would not start, with what to do; empty where it would."""
    from hermes_bot.service.reach import barrier, who

    user = who(wanted.user, wanted.groups)
    for path in _needed(config):
        if why := barrier(path, user):
            return (
                f"{path} {why}. Put hermes-bot where every user can read it, /opt/hermes-bot/.venv say, its "
                f"configuration into {SYSTEM_CONFIG.parent}, or name a user who can with --user."
            )
    words = [*wanted.command[:4], "--version"]
    try:
        subprocess.run(  # noqa: S603 - the interpreter that runs this
            words, env={}, cwd="/", check=True, capture_output=True, timeout=TRIAL_SECONDS
        )
    except (OSError, subprocess.SubprocessError):
        return (
            f"`{shlex.join(words)}` does not work outside this shell. Install hermes-bot into a virtual "
            "environment and call that one's hermes-bot."
        )
    return ""


def _template() -> str:
    from hermes_bot.plugins import systemd_dir

    return (systemd_dir() / NAME).read_text(encoding="utf-8")


def _existing(target: Path, *, is_guarded: bool) -> str:
    """Return the unit that is there; one that was changed by hand is not to be lost where it is guarded."""
    try:
        before = target.read_text(encoding="utf-8") if target.exists() else ""
    except (OSError, ValueError) as error:
        raise HermesError(f"{target} cannot be read as text ({error}). Move it away.") from error
    if before and not is_ours(before) and is_guarded:
        raise HermesError(
            f"{target} was changed by hand and is left as it is. Move the changes into a drop-in (systemctl "
            "edit hermes-bot) and call this again with --force; --dry-run shows the new file."
        )
    return before


def _write(target: Path, before: str, text: str) -> str:
    """Write the unit whole or not at all, and return what was done."""
    if before == text:
        return f"{target} is as it should be; nothing was changed."
    part = target.with_name(f".{target.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.chmod(0o644)
        part.replace(target)
    except OSError as error:
        raise HermesError(
            f"{target}: this user may not write it ({error.strerror}). Call this as root (sudo), or see the "
            "unit with --dry-run."
        ) from error
    return f"{'Replaced' if before else 'Wrote'} {target}"


def _make_private(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        complain(f"{folder} could not be made ({error.strerror}); make it, with mode 0700, for the secrets.")


def _next(config: Config, wanted: Wanted) -> Iterator[str]:
    folder, origin = wanted.credentials, shlex.quote(str(config.origin))
    set_ones = [name for name in wanted.secrets if _is_file(folder / name)]
    yield f"Secrets: {', '.join(set_ones) or 'none'} in {folder}. One more is set with:"
    yield f"  install -m 600 /dev/stdin {shlex.quote(str(folder))}/HERMES_…   (paste it, then Ctrl-D)"
    if config.bot.state_dir == STATE_DIR and not _names_state(config):
        yield f'Add state_dir = "{STATE_DIR}" to [bot] in {config.origin}, so that commands find the service.'
    yield ""
    yield "Next:"
    command = shlex.quote(str(Path(sys.executable).with_name("hermes-bot")))
    yield f"  CREDENTIALS_DIRECTORY={shlex.quote(str(folder))} {command} --config {origin} doctor"
    yield "  systemctl daemon-reload && systemctl enable --now hermes-bot"
    yield f"  {command} --config {origin} status"


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # root's, and this is not root
        return False


def _names_state(config: Config) -> bool:
    from hermes_bot.config import read_config

    return read_config(config.origin, {"HOME": "/"}, cwd=Path("/")).state_dir == STATE_DIR
