"""Knows the command ``init``: a first configuration, what a platform wants to know, and what comes next."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hermes_bot.cli.output import complain
from hermes_bot.cli.settings import settings_of
from hermes_bot.errors import HermesError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hermes_bot.cli.answers import Answers

INTERRUPTED = 130
_SERVICE = "/var/lib/hermes-bot"  # where the shipped unit has its state

Platforms = Annotated[
    list[str] | None, typer.Option("--platform", metavar="NAME", help="slack or telegram; may be repeated.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing and take what is usual.")]
AnswersFile = Annotated[
    Path | None,
    typer.Option("--answers", metavar="FILE", help="A TOML file with the answers; nothing is asked."),
]


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("init", epilog="Example: hermes-bot init --platform slack")(init)


def init(
    context: typer.Context, platform: Platforms = None, answers: AnswersFile = None, *, yes: Yes = False
) -> None:
    """Write hermes.toml and what a platform needs to know of the bot, and say what comes next.

    It asks on a terminal; elsewhere, or with --yes or --answers, it never does. Nothing is overwritten.
    """
    target = settings_of(context).target()
    _look_for(target)  # before anything is asked
    given = {"platforms": tuple(platform)} if platform else {}
    try:
        found = _answers(given, answers, is_asking=not yes)
    except KeyboardInterrupt:
        complain("\nNothing was written.")
        raise typer.Exit(INTERRUPTED) from None
    files = {target: _configuration(found, target), **_manifests(found, target.parent)}
    _write(files)
    sys.stdout.write("\n".join([*(f"Wrote {file}" for file in files), "", *_next(found, files)]) + "\n")


def _answers(given: Mapping[str, Any], file: Path | None, *, is_asking: bool) -> Answers:
    from pydantic import ValidationError

    from hermes_bot.cli.answers import Answers, ask_for, read_answers

    usual = {"timezone": _zone_here(), **given}
    if file is not None:
        return read_answers(file, given, usual)
    try:
        start = Answers(**usual)
    except ValidationError as error:
        raise typer.BadParameter("--platform should be slack or telegram.") from error
    if not (is_asking and sys.stdin.isatty() and sys.stderr.isatty()):
        return start
    complain("An empty answer takes what stands in brackets. Ctrl-C ends this without a trace.\n")
    return ask_for(start, frozenset(given), _ask, complain)


def _ask(question: str, usual: str) -> str:
    sys.stderr.write(f"{question} [{usual}] " if usual else f"{question} ")
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        raise KeyboardInterrupt
    return line.strip()


def _zone_here() -> str:
    """Return this host's time zone by its name, where it has one."""
    from zoneinfo import available_timezones

    try:
        link = str(Path("/etc/localtime").resolve(strict=True))
        name = link.partition("/zoneinfo/")[2]
    except OSError:
        return "UTC"
    return name if name in available_timezones() and name != "Etc/UTC" else "UTC"


def _configuration(answers: Answers, target: Path) -> str:
    from hermes_bot.cli.draft import draft

    return draft(answers, _SERVICE if target.is_relative_to("/etc") else "")


def _manifests(answers: Answers, folder: Path) -> dict[Path, str]:
    """Return the file that describes the app to each platform that wants one."""
    import yaml

    from hermes_bot.plugins import MANIFESTS, discover

    found = discover(MANIFESTS)
    for reason in found.broken:
        complain(reason)
    files: dict[Path, str] = {}
    for plugin in found.plugins:
        if plugin.name in answers.platforms and callable(plugin.value):
            mode, url = getattr(answers, f"{plugin.name}_mode"), getattr(answers, f"{plugin.name}_url")
            described = yaml.safe_dump(plugin.value(answers.name, mode, url), sort_keys=False, width=110)
            files[folder / f"{plugin.name}-manifest.yaml"] = described
    return files


def _look_for(file: Path) -> None:
    if file.exists():
        raise HermesError(
            f"{file} is there already and is left as it is. Move it away, or use another folder."
        )


def _write(files: Mapping[Path, str]) -> None:
    for file in files:
        _look_for(file)
    for file, text in files.items():
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("x", encoding="utf-8") as out:
                out.write(text)
        except OSError as error:
            raise HermesError(f"{file} cannot be written ({error.strerror}).") from error


def _next(answers: Answers, files: Mapping[Path, str]) -> Iterator[str]:
    """Yield what is to be done now, in its order."""
    config = next(iter(files))
    steps = [
        *(_slack(answers, config.with_name("slack-manifest.yaml")) if "slack" in answers.platforms else ()),
        *(_telegram(answers) if "telegram" in answers.platforms else ()),
        *(("If the model wants a key, set HERMES_MODEL_API_KEY to it.",) if answers.model_url else ()),
        *(_access(answers, config) if answers.platforms else ()),
        f"See that all is right: hermes-bot --config {config} doctor",
        f"Start it: hermes-bot --config {config} run"
        + (f", or as a service: hermes-bot --config {config} install-service" if answers.platforms else ""),
    ]
    yield "Next:"
    yield from (f"{number:>2}. {step}" for number, step in enumerate(steps, 1))


def _slack(answers: Answers, manifest: Path) -> Iterator[str]:
    yield f"Open https://api.slack.com/apps, Create New App, From a manifest, and paste {manifest}."
    yield "Install the app to the workspace. Set HERMES_SLACK_BOT_TOKEN to its Bot User OAuth Token (xoxb-…)."
    if answers.slack_mode == "socket":
        yield (
            "Under Basic Information, App-Level Tokens, generate one with the scope connections:write. "
            "Set HERMES_SLACK_APP_TOKEN to it (xapp-…)."
        )
    else:
        yield "Set HERMES_SLACK_SIGNING_SECRET to the Signing Secret under Basic Information."
        yield _leads(answers.slack_url, "slack")
    yield f"In each channel where it shall work: /invite @{answers.name.lower()}"


def _telegram(answers: Answers) -> Iterator[str]:
    yield "Talk to @BotFather: /newbot. Set HERMES_TELEGRAM_TOKEN to the token it gives (123456:…)."
    yield (
        "For groups: with /setprivacy, Disable, it hears every message; with privacy on it hears commands, "
        "mentions and replies to it alone. Then add it to the group; after a change, once more."
    )
    if answers.telegram_mode == "webhook":
        yield _leads(answers.telegram_url, "telegram")


def _leads(url: str, platform: str) -> str:
    return f"Have {url or 'a public address'} lead to host, port and path of [adapters.{platform}]."


def _access(answers: Answers, config: Path) -> Iterator[str]:
    missing = [name for name in ("admins", "channels") if not getattr(answers, name)]
    if missing:
        yield (
            f"Set {' and '.join(missing)} under [access] in {config}: an empty list is nobody. Slack shows a "
            "person's id in their profile and a channel's in its details; doctor shows the workspace's."
        )
