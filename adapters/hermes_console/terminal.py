"""Knows how a person sees a conversation: a line editor, Markdown above it, a status line at the foot."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import Completer, Completion
from prompt_toolkit.formatted_text import HTML
from prompt_toolkit.history import FileHistory
from prompt_toolkit.patch_stdout import patch_stdout
from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text

from hermes_console.conversation import LOCAL, Conversation, Line, clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document

    from hermes_console.conversation import Client

HISTORY = "chat_history"
WELCOME = "Ask in your own words. /help shows what can be typed, Ctrl-C stops the work, Ctrl-D leaves."


class Commands(Completer):
    """Completes a first word that begins with a slash."""

    def __init__(self, verbs: Mapping[str, str]) -> None:
        self._verbs = {**{f"/{verb}": what for verb, what in verbs.items()}, **LOCAL}

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Return the commands that begin with what is typed."""
        del complete_event
        typed = document.text_before_cursor
        for verb, what in sorted(self._verbs.items()):
            if typed.startswith("/") and verb.startswith(typed):
                yield Completion(verb, start_position=-len(typed), display_meta=what)


class Terminal:
    """The screen and the keyboard of one conversation."""

    def __init__(self, verbs: Mapping[str, str], state_dir: Path) -> None:
        self._console = Console(force_terminal=True, highlight=False)
        self._status = ""
        history = state_dir / HISTORY
        history.touch(mode=0o600)
        self.session: PromptSession[str] = PromptSession(
            history=FileHistory(str(history)), completer=Commands(verbs), complete_while_typing=True
        )

    def show(self, line: Line) -> None:
        """Show what somebody said."""
        style = "bold cyan" if line.from_bot else "bold green"
        self._console.print(Text(line.name, style=style))
        self._console.print(Markdown(line.text) if line.from_bot else Text(line.text))
        for number, label in enumerate(line.choices, 1):
            self._console.print(Text(f"  {number}  ", style="bold yellow") + Text(label))
        self._console.print()

    def note(self, text: str) -> None:
        """Show a word of the terminal's own."""
        self._console.print(Text(text, style="dim"))

    def set_status(self, text: str) -> None:
        """Show what the bot does right now at the foot."""
        self._status = text
        self.session.app.invalidate()

    async def read(self, thread: str) -> str:
        """Return the next typed line.

        Raises:
            KeyboardInterrupt: Ctrl-C.
            EOFError: Ctrl-D.
        """
        prompt = HTML("<ansigreen><b>{}</b></ansigreen> &gt; ").format(clean(thread))
        return await self.session.prompt_async(prompt, bottom_toolbar=lambda: self._foot(thread))

    def _foot(self, thread: str) -> str:
        return f" {self._status}  (Ctrl-C stops it)" if self._status else f" thread {clean(thread)}"


async def converse(
    client: Client, *, thread: str, bot: str, verbs: Mapping[str, str], state_dir: Path
) -> None:
    """Hold a conversation in this terminal until the person leaves.

    ``verbs`` are the bot's commands with what they do, for completion; ``state_dir`` is where the history of
    typed lines is kept.
    """
    terminal = Terminal(verbs, state_dir)
    conversation = Conversation(client, terminal, thread=thread, bot=bot)
    terminal.note(WELCOME)
    with patch_stdout(raw=True):
        async with asyncio.TaskGroup() as group:
            follow = group.create_task(conversation.follow())
            await conversation.attached.wait()
            while await _turn(terminal, conversation):
                pass
            follow.cancel()


async def _turn(terminal: Terminal, conversation: Conversation) -> bool:
    try:
        return await conversation.enter(await terminal.read(conversation.thread))
    except EOFError:
        return False
    except KeyboardInterrupt:
        if conversation.status:
            await conversation.say("stop")
        else:
            terminal.note("Nothing is running here. Ctrl-D leaves.")
        return True
