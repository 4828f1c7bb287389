"""Knows how results look: tables and Markdown for people, plain text for pipes, one object for programs."""

from __future__ import annotations

import contextlib
import json
import re
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

DONE, FAILED, MISUSED, WAITING, HELD, BAD_CONFIG = 0, 1, 2, 3, 75, 78

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")  # the last turn text
_GAP = 2
_LAST_COLUMN = 16  # characters it must have to be read with ease
_EXIT = {"finished": DONE, "waiting": WAITING}


def print_json(result: Mapping[str, Any]) -> None:
    """Print the one object of ``--json``."""
    sys.stdout.write(json.dumps(result, ensure_ascii=False) + "\n")


def complain(text: str) -> None:
    """Say something that is no result; where nobody can hear it, the result counts all the same."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"{text}\n")


def print_markdown(text: str) -> None:
    """Print an answer: rendered for a person, as it is for a pipe."""
    if not sys.stdout.isatty():
        sys.stdout.write(f"{text}\n")
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console(highlight=False).print(Markdown(harmless(text)))


def print_table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print rows: a table for a person, tab-separated lines under one line of heads for a pipe.

    Only the last column is broken into lines; where that makes it too narrow, each row is a block of its own.
    """
    if not sys.stdout.isatty():
        for row in (heads, *rows):
            sys.stdout.write("\t".join(" ".join(str(cell).split()) for cell in row) + "\n")
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    cells = [[Text(harmless(str(cell))) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    if sum(widths[:-1]) + _GAP * len(widths[:-1]) + min(_LAST_COLUMN, widths[-1]) > console.width:
        for row in cells:
            block = Table.grid(padding=(0, _GAP, 0, 0))
            for head, cell in zip(heads, row, strict=True):
                block.add_row(Text(head, "bold"), cell)
            console.print(block, "")
        return
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, _GAP, 0, 0))
    for head in heads:
        table.add_column(head, no_wrap=head is not heads[-1])
    for row in cells:
        table.add_row(*row)
    console.print(table)


def harmless(text: str) -> str:
    """Return a text without what a terminal would act on: answers quote logs, and a log may hold anything."""
    return _CONTROL.sub("", text)


@contextlib.contextmanager
def working(text: str) -> Iterator[Callable[[str], None]]:
    """Show a status line on standard error while the block lasts, where a person watches."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True, highlight=False).status(text) as status:
        yield status.update


def print_outcome(outcome: Mapping[str, Any], *, as_json: bool) -> int:
    """Print how a run ended or what it asks, and return the exit code.

    Where its files lie is said to a person only; the one object of ``--json`` has keys of its own.
    """
    files = outcome.get("files", ())
    outcome = {name: value for name, value in outcome.items() if name != "files"}
    code = _EXIT.get(outcome["status"], FAILED)
    if as_json:
        print_json(outcome)
    elif code == WAITING:
        for question in outcome["questions"]:
            options = [f"{number}. {label}" for number, label in enumerate(question["options"], 1)]
            print_markdown("\n".join([question["text"], *([""] if options else []), *options]))
        complain(f"The run waits. Answer with: hermes-bot runs answer {outcome['run']} TEXT")
    else:
        print_markdown(outcome["answer"])
        for file in files:
            complain(harmless(f"{file['name']}: {file['path']}"))
    return code
