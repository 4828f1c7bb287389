"""Knows the commands about schedules: made, listed, changed, run, and what became of them."""

from __future__ import annotations

import asyncio
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any
from zoneinfo import ZoneInfo

import typer

from hermes_bot.cli.output import MISUSED, AsJson, complain, print_json, print_table
from hermes_bot.cli.settings import settings_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

app = typer.Typer(
    help="Schedules: skills and tasks at planned times, their reports posted to channels.",
    no_args_is_help=True,
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="A schedule's name, as `schedules list` shows it.")]
When = Annotated[
    str,
    typer.Argument(
        metavar="WHEN", help="'weekdays at 9', '0 9 * * 1-5', '@daily', 'every 90m', '2026-12-24 09:00'."
    ),
]
Channels = Annotated[
    list[str] | None,
    typer.Option(
        "--channel", metavar="ID", help="Where it reports: slack:T1:C1, telegram:-1001. Repeatable."
    ),
]
Skill = Annotated[str, typer.Option(help="What it runs, as `skills list` shows it.")]
Params = Annotated[
    list[str] | None,
    typer.Option("--param", metavar="NAME=VALUE", help="A parameter of the skill. Repeatable."),
]
Text = Annotated[str, typer.Option(help="The task in words, where it is no skill.")]
Profile = Annotated[str, typer.Option(help="The limits its runs have, as \\[profiles.NAME].")]
Zone = Annotated[str, typer.Option(help="Whose clock is meant: Europe/Berlin. Without it the team's.")]
Called = Annotated[str, typer.Option("--name", help="How it is called. Without it, made of what it does.")]
Missed = Annotated[
    str, typer.Option(metavar="skip|once|all", help="What becomes of times at which no daemon ran.")
]
Most = Annotated[
    int, typer.Option(min=1, max=100, help="How many at most are made up for with `--missed all`.")
]
Overlap = Annotated[
    str,
    typer.Option(metavar="skip|queue|parallel", help="What becomes of a time at which the last still works."),
]
Jitter = Annotated[
    float, typer.Option(min=0, max=3_600, help="Put each off by chance, up to so many seconds.")
]
Quiet = Annotated[str, typer.Option(metavar="22:00-07:00", help="Nothing is done in these hours.")]
Holidays = Annotated[
    str, typer.Option(metavar="DE-BY", help="Nothing is done on public holidays of a country.")
]
OnlyOnChange = Annotated[
    bool, typer.Option("--only-on-change", help="Post only what reads otherwise than last.")
]
AlertAfter = Annotated[
    int, typer.Option(min=0, help="Tell the owner after so many failures in a row; 0 never.")
]
PauseAfter = Annotated[int, typer.Option(min=0, help="Pause it after so many; 0 never.")]
EscalateTo = Annotated[
    list[str] | None,
    typer.Option(metavar="ID", help="Who is told where nobody answers what it asks. Repeatable."),
]
Owner = Annotated[
    str, typer.Option(metavar="ID", help="Whose rights it has. Without it, yours on this machine.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask back.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be stored, and store nothing.")]
Limit = Annotated[int, typer.Option(min=1, max=100, help="How many, newest first.")]

_TASK_CHARS = 40


@app.command(
    epilog="Example: hermes-bot schedules add 'weekdays at 9' --skill error-digest --channel slack:T1:C1"
)
def add(
    context: typer.Context,
    when: When,
    *,
    channel: Channels = None,
    skill: Skill = "",
    param: Params = None,
    text: Text = "",
    profile: Profile = "",
    zone: Zone = "",
    name: Called = "",
    missed: Missed = "once",
    most: Most = 5,
    overlap: Overlap = "skip",
    jitter: Jitter = 0.0,
    quiet: Quiet = "",
    holidays: Holidays = "",
    only_on_change: OnlyOnChange = False,
    alert_after: AlertAfter = 3,
    pause_after: PauseAfter = 10,
    escalate_to: EscalateTo = None,
    owner: Owner = "",
    yes: Yes = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Plan a skill or a task: show what it means and when it comes next, ask back, store it.

    Exit code 2: nobody is there to be asked, and --yes is not given.
    """
    terms = {
        "missed": _one_of("--missed", missed, ("skip", "once", "all")),
        "most": most,
        "overlap": _one_of("--overlap", overlap, ("skip", "queue", "parallel")),
        "jitter": jitter,
        "quiet": quiet,
        "holidays": holidays,
        "only_on_change": only_on_change,
        "alert_after": alert_after,
        "pause_after": pause_after,
        "escalate_to": escalate_to or [],
    }
    wanted = {"when": when, "channels": channel or [], "skill": skill, "params": _params(param), "text": text}
    wanted |= {"profile": profile, "zone": zone, "name": name, "owner": owner, "terms": terms}
    found = _call(context, "schedules.check", wanted)
    if dry_run and as_json:
        print_json(found)
        return
    if not as_json:
        _show(found["schedule"], found["warning"])
    if dry_run:
        return
    if not yes:
        _ask()
    stored = _call(context, "schedules.add", wanted | {"name": found["schedule"]["name"]})
    if as_json:
        print_json(stored)
    else:
        complain(f"Created `{stored['schedule']['name']}`.")


@app.command("list")
def list_schedules(context: typer.Context, *, as_json: AsJson = False) -> None:
    """List what is planned, also what is paused."""
    found = _call(context, "schedules.list", {})
    if as_json:
        print_json(found)
        return
    if not found["schedules"]:
        complain("Nothing is planned. What hermes.toml plans counts once `hermes-bot run` has started.")
    heads = ("schedule", "state", "next", "when", "does", "reports to")
    print_table(heads, [_row(one) for one in found["schedules"]])


@app.command(epilog="Example: hermes-bot schedules show error-digest")
def show(context: typer.Context, name: Name, *, as_json: AsJson = False) -> None:
    """Show all about one: its terms, its next times, how its last time ended."""
    found = _call(context, "schedules.show", {"name": name})
    if as_json:
        print_json(found)
        return
    one = found["schedule"]
    last = [f"{_at(it['planned_at'], one['zone'])}: {_work(it)}; {_posted(it)}" for it in found["last"]]
    _show(one, "", *last)


@app.command(epilog="Example: hermes-bot schedules history error-digest --limit 5")
def history(context: typer.Context, name: Name, limit: Limit = 20, *, as_json: AsJson = False) -> None:
    """Tell what became of its times: of the work, and apart from it of the report."""
    found = _call(context, "schedules.history", {"name": name, "limit": limit})
    if as_json:
        print_json(found)
        return
    zone = found["schedule"]["zone"]
    rows = [
        (
            _at(it["planned_at"], zone) + (" (asked for)" if it["kind"] == "asked" else ""),
            it["run"] or "-",
            _work(it),
            _posted(it),
        )
        for it in found["firings"]
    ]
    print_table(("planned", "run", "work", "report"), rows)


@app.command()
def pause(context: typer.Context, name: Name, *, as_json: AsJson = False) -> None:
    """Have it do nothing until it is resumed."""
    _change(context, name, "pause", as_json=as_json)


@app.command()
def resume(context: typer.Context, name: Name, *, as_json: AsJson = False) -> None:
    """Have it go on from its next time; what was passed over is not made up for."""
    _change(context, name, "resume", as_json=as_json)


@app.command()
def remove(context: typer.Context, name: Name, *, as_json: AsJson = False) -> None:
    """End it for good; its history stays."""
    _change(context, name, "remove", as_json=as_json)


@app.command(epilog="Example: hermes-bot schedules run error-digest")
def run(context: typer.Context, name: Name, *, as_json: AsJson = False) -> None:
    """Do it now, beside what is planned; where no daemon runs, as soon as one does."""
    found = _call(context, "schedules.run", {"name": name})
    if as_json:
        print_json(found)
    elif found["is_local"]:
        complain(f"Stored. No daemon runs: `{name}` is done when `hermes-bot run` starts.")
    else:
        complain(f"`{name}` runs now; its report comes where it always does.")


def _change(context: typer.Context, name: str, to: str, *, as_json: bool) -> None:
    found = _call(context, "schedules.change", {"name": name, "to": to})
    if as_json:
        print_json(found)
        return
    one = found["schedule"]
    said = {"pause": "is paused", "remove": "is removed"}.get(to, "goes on")
    coming = f" Next: {_at(one['planned_at'], one['zone'])}." if one["planned_at"] else ""
    complain(f"`{one['name']}` {said}.{coming}")


def _call(context: typer.Context, op: str, args: Mapping[str, Any]) -> Mapping[str, Any]:
    from hermes_bot.cli.hosting import call

    return asyncio.run(call(settings_of(context).start("error"), op, args))


def _one_of(option: str, value: str, known: tuple[str, ...]) -> str:
    if value not in known:
        raise typer.BadParameter(f"{value!r} is none of {', '.join(known)}.", param_hint=option)
    return value


def _params(given: list[str] | None) -> dict[str, str]:
    found = {}
    for text in given or ():
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise typer.BadParameter(f"{text!r} is no NAME=VALUE.", param_hint="--param")
        found[name.strip()] = value
    return found


def _ask() -> None:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        complain("Nothing is stored: nobody is there to be asked. Add --yes.")
        raise typer.Exit(MISUSED)
    if not typer.confirm("Store it?", default=True, err=True):
        complain("Nothing is stored.")
        raise typer.Exit(1)


def _show(one: Mapping[str, Any], warning: str, *last: str) -> None:
    rows = [*_about(one), *(("last", text) for text in last)]
    print_table(("what", "value"), [*rows, *([("warning", warning)] if warning else [])])


def _about(one: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what there is to say of a schedule, the usual left out."""
    yield "schedule", one["name"]
    yield "state", f"{one['state']}: {one['why']}" if one["why"] else one["state"]
    yield "when", f"{one['when']} ({one['zone']})"
    if one["rule"].startswith("cron "):  # the others are stored in a form that "when" says better
        yield "rule", one["rule"]
    yield "does", _does(one)
    if one["skill"] and one["text"]:
        yield "asked for as", one["text"]
    for channel in one["channels"]:
        yield "reports to", channel
    for at in one["next"]:
        yield "next", _at(at, one["zone"])
    yield "owner", f"{one['owner']}, made in {_ORIGINS[one['origin']]}"
    if one["profile"]:
        yield "profile", one["profile"]
    yield from _how(one, one["terms"])


def _how(one: Mapping[str, Any], terms: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what there is to say of how a schedule behaves."""
    yield "missed", terms["missed"] + (f", at most {terms['most']}" if terms["missed"] == "all" else "")
    yield "overlap", terms["overlap"]
    for name in ("quiet", "holidays"):
        if terms[name]:
            yield name, terms[name]
    if terms["jitter"]:
        yield "jitter", f"up to {terms['jitter']:g} s"
    if terms["only_on_change"]:
        yield "posts", "only on change"
    alert, pauses = (terms[name] or "none" for name in ("alert_after", "pause_after"))
    yield "failures", f"{one['failures']} in a row; alert after {alert}, pause after {pauses}"
    if terms["escalate_to"]:
        yield "escalates to", ", ".join(terms["escalate_to"])


_ORIGINS = {"chat": "a chat", "shell": "a shell", "model": "a run", "config": "hermes.toml"}


def _row(one: Mapping[str, Any]) -> tuple[object, ...]:
    state = f"{one['state']}: {one['why']}" if one["state"] != "active" and one["why"] else one["state"]
    coming = _at(one["planned_at"], one["zone"]) if one["planned_at"] else "-"
    when = f"{one['when']} ({one['zone']})"
    return one["name"], state, coming, when, _does(one), ", ".join(one["channels"])


def _does(one: Mapping[str, Any]) -> str:
    from hermes_bot.markdown import clip_line

    if not one["skill"]:
        return clip_line(one["text"], _TASK_CHARS)
    params = " ".join(f"{name}={value}" for name, value in one["params"].items())
    return f"{one['skill']} {params}".strip()


def _at(text: str, zone: str) -> str:
    return f"{datetime.fromisoformat(text).astimezone(ZoneInfo(zone)):%a %Y-%m-%d %H:%M}"


def _work(one: Mapping[str, Any]) -> str:
    from hermes_bot.schedules.rendering import WORK

    late = f", for {one['late']:,} more" if one["late"] else ""
    why = f": {one['why']}" if one["why"] else ""
    is_waiting = one["work"] == "queued" and not one["run"]  # before the run, nothing is at work
    return f"{'waits' if is_waiting else WORK[one['work']]}{late}{why}"


def _posted(one: Mapping[str, Any]) -> str:
    from hermes_bot.schedules.rendering import DELIVERY

    said = [
        f"{it['target']}: {DELIVERY[it['state']]}" + (f": {it['why']}" if it["why"] else "")
        for it in one["deliveries"]
    ]
    return ", ".join(said) or "no report"
