"""Knows the commands about skills."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hermes_bot.cli.output import FAILED, AsJson, complain, print_json, print_markdown, print_table
from hermes_bot.cli.settings import settings_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hermes_bot.config import Config
    from hermes_bot.skills import Trouble

app = typer.Typer(help="Skills: what the bot can do as a fixed sequence of steps.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="A skill's name, as `skills list` shows it.")]
Folders = Annotated[
    list[Path] | None,
    typer.Argument(metavar="FOLDER…", help="Folders with skills; without any, all that are used."),
]
NewName = Annotated[str, typer.Argument(metavar="NAME", help="Lower case, words joined by hyphens.")]
Folder = Annotated[Path, typer.Option(metavar="FOLDER", help="Where the skill's own folder is created.")]


@app.command("list")
def list_skills(context: typer.Context, *, as_json: AsJson = False) -> None:
    """List the skills, and the folders that were refused with the reason."""
    from hermes_bot.cli.hosting import call

    found = asyncio.run(call(settings_of(context).start("error"), "skills.list"))
    if as_json:
        print_json(found)
        return
    rows = [(one["name"], _form(one), one["description"]) for one in found["skills"]]
    rows += [(one["name"], "draft", f"of run {one['run']}; not active") for one in found["drafts"]]
    print_table(("skill", "form", "what it does"), rows)
    for refused in found["refused"]:
        complain(f"{refused['folder']}: refused: {refused['reason']}")


@app.command(epilog="Example: hermes-bot skills show log-diagnosis")
def show(context: typer.Context, name: Name, *, as_json: AsJson = False) -> None:
    """Show a skill: what it does, what it needs to know, its steps."""
    from hermes_bot.cli.hosting import call

    found = asyncio.run(call(settings_of(context).start("error"), "skills.show", {"name": name}))
    if as_json:
        print_json(found)
    else:
        print_markdown("\n\n".join(_story(found)))


@app.command(epilog="Example: hermes-bot skills check ./skills")
def check(context: typer.Context, folders: Folders = None, *, as_json: AsJson = False) -> None:
    """Check skills, running each chain's example; exit code 1 where something is wrong."""
    config = settings_of(context).start("error")
    for folder in folders or ():
        _must_hold_skills(folder)
    names, troubles = asyncio.run(check_skills(config, folders or ()))
    if as_json:
        listed = [{"skill": one.skill, "text": one.text} for one in troubles]
        print_json({"skills": names, "troubles": listed})
    else:
        for one in troubles:
            typer.echo(f"{one.skill}: {one.text}")
        if not troubles:
            typer.echo(f"{len(names)} checked, nothing wrong: {', '.join(names) or '-'}")
    raise typer.Exit(FAILED if troubles else 0)


@app.command(epilog="Example: hermes-bot skills new about-time --folder ./skills")
def new(name: NewName, folder: Folder = Path("skills"), *, as_json: AsJson = False) -> None:
    """Create a small skill that works, to be changed into yours."""
    from hermes_bot.skills import scaffold

    made = scaffold(name, folder.absolute())
    if as_json:
        print_json({"name": made.name, "folder": str(made.folder)})
    else:
        typer.echo(str(made.folder))


def _must_hold_skills(folder: Path) -> None:
    """Refuse a folder where there is nothing to check: "nothing wrong" would be no news of it."""
    if not folder.is_dir():
        raise typer.BadParameter(f"{folder}: there is no such folder.")
    if (folder / "SKILL.md").is_file():
        raise typer.BadParameter(f"{folder} is itself a skill. Name the folder it is in: {folder.parent}.")
    if not any(one.is_dir() for one in folder.iterdir()):
        raise typer.BadParameter(f"{folder}: no skills are in there. Each is a folder with a SKILL.md.")


async def check_skills(config: Config, folders: Sequence[Path] = ()) -> tuple[list[str], Sequence[Trouble]]:
    """Return the names of the skills in these folders, else of all that are used, and their troubles."""
    from tempfile import TemporaryDirectory

    from hermes_bot.build import Around, build_registry, build_toolbox
    from hermes_bot.clock import SystemClock
    from hermes_bot.offline import OfflineModel
    from hermes_bot.redaction import Redactor
    from hermes_bot.runs.limits import PROFILES
    from hermes_bot.skills import Bed, read_registry
    from hermes_bot.skills import check as look
    from hermes_bot.tools.catalog import catalog_of
    from hermes_bot.tools.reports import offers, report_tools

    registry = read_registry([folder.absolute() for folder in folders]) if folders else build_registry(config)
    catalog = catalog_of(config)
    reports = report_tools(catalog, None, Redactor().text, config)
    toolbox = build_toolbox(config, registry, catalog, (), Around(sources=(reports,)))
    model = OfflineModel(registry.cards, catalog.services, config.skills.threshold)
    with TemporaryDirectory() as workspace:
        options = offers(config, catalog)
        profiles = {*PROFILES, *config.profiles}
        bed = Bed(toolbox, SystemClock(), model, Path(workspace), config.zone, options, profiles)
        troubles = await look(registry, bed)
    return [skill.name for skill in registry.skills], troubles


def _form(skill: Mapping[str, Any]) -> str:
    if not skill["chain"]:
        return "guidance"
    saved = f", saved from run {skill['saved_from']}" if skill["saved_from"] else ""
    return f"chain({', '.join(skill['parameters'])}){saved}"


def _story(found: Mapping[str, Any]) -> list[str]:
    parts = [f"# {found['name']}", found["description"], found["body"]]
    if needs := [_need(it) for it in found["parameters"]]:
        parts += ["**Needs**", "\n".join(needs)]
    if steps := [f"{at}. `{it['id']}`: {it['does']}" for at, it in enumerate(found["steps"], 1)]:
        parts += ["**Steps**", "\n".join(steps)]
    return [part for part in parts if part]


def _need(parameter: Mapping[str, Any]) -> str:
    kind = f"{parameter['type']}, required" if parameter["required"] else parameter["type"]
    return f"- `{parameter['name']}` ({kind}): {parameter['ask']}"
