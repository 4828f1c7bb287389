"""The command line: ``hermes-bot``. One file a family of commands; ``main`` is the script's entry.

Nothing heavy is imported before a command needs it: the help must come at once. Results go to standard
output alone, everything else to standard error.
"""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from typer.exceptions import TyperException

from hermes_bot import __version__
from hermes_bot.cli import (
    audit,
    daemon,
    db,
    demo,
    doctor,
    evals,
    init,
    logs,
    mcp,
    runs,
    schedules,
    service,
    simulate,
    skills,
    status,
    talk,
)
from hermes_bot.cli.output import BAD_CONFIG, FAILED, HELD, MISUSED, complain, print_json
from hermes_bot.cli.settings import Settings
from hermes_bot.cli.streams import finish, is_output_lost, open_closed
from hermes_bot.errors import ConfigError, HermesError, StateFolderHeld

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="To try it, without any set-up: hermes-bot ask 'why is checkout failing?'",
)
talk.add_to(app)
init.add_to(app)
doctor.add_to(app)
daemon.add_to(app)
demo.add_to(app)
simulate.add_to(app)
evals.add_to(app)
status.add_to(app)
audit.add_to(app)
service.add_to(app)
app.add_typer(runs.app, name="runs")
app.add_typer(skills.app, name="skills")
app.add_typer(schedules.app, name="schedules")
app.add_typer(logs.app, name="logs")
app.add_typer(mcp.app, name="mcp")
app.add_typer(db.app, name="db")

Config = Annotated[
    str, typer.Option(metavar="FILE", help="The configuration file, else $HERMES_CONFIG, else ./hermes.toml.")
]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Tell on standard error what happens.")]
Version = Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)]


@app.callback(invoke_without_command=True)
def hermes_bot(
    context: typer.Context, config: Config = "", *, verbose: Verbose = False, version: Version = False
) -> None:
    """A chat-bot for teams: works on a task in its thread until it is done, or says why not."""
    if version:
        sys.stdout.write(f"{__version__}\n")
        raise typer.Exit
    context.obj = Settings(config, is_verbose=verbose)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and exit with its code (design §15)."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    wants_json = "--json" in given
    open_closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a letter must not end a run
    sys.excepthook = _on_bug if wants_json else sys.excepthook
    code = 0
    try:
        code = app(given, prog_name="hermes-bot", standalone_mode=False) or 0
    except* (HermesError, TyperException) as group:
        code = _refuse(_first(group), wants_json=wants_json)
    except* OSError as group:
        if not is_output_lost(group):
            raise
        code = FAILED
    sys.exit(finish(code, FAILED))


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _refuse(error: BaseException, *, wants_json: bool) -> int:
    """Say an error on standard error, and as the one object where a program reads; return its exit code."""
    from hermes_bot.redaction import Redactor

    said = Redactor().text(_said(error))
    if said:
        complain(said)
    if wants_json:
        print_json({"error": said, "status": "failed"})
    match error:
        case ConfigError():
            return BAD_CONFIG
        case StateFolderHeld():
            return HELD
        case TyperException():
            return MISUSED
        case _:
            return FAILED


def _said(error: BaseException) -> str:
    if not isinstance(error, TyperException):
        return str(error)
    said = error.format_message().removeprefix("Invalid value: ").strip()
    context = getattr(error, "ctx", None)
    if not said or context is None:  # without a word where the help was shown instead
        return said
    return f"{said}{'' if said[-1] in '.?' else '.'} Try: {context.command_path} --help"


def _on_bug(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    print_json({"error": f"{kind.__name__} inside hermes-bot: this is a bug.", "status": "failed"})
    sys.__excepthook__(kind, error, trace)
