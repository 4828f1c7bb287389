"""Conversations in a terminal and in a pipe, as processes."""

from __future__ import annotations

import asyncio
import os
import pty
import re
import select
import signal
import subprocess
from typing import TYPE_CHECKING, Self

from cli.shell import COMMAND, SECONDS, read_until

if TYPE_CHECKING:
    from cli.shell import Shell

_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")
QUESTION = "why is checkout failing?"


def test_piped_lines_are_said_one_after_the_other(shell: Shell) -> None:
    done = shell.run("chat", stdin=f"status\n{QUESTION}\nlast hour\n")
    assert (done.code, done.err) == (0, "")
    nothing, question, *answer = done.out.split("\n\n")
    assert nothing == "Nothing is running in this thread."
    assert question == "Since when?"
    assert "postgres.log:249" in "".join(answer)


def test_nothing_said_is_no_conversation(shell: Shell) -> None:
    assert shell.run("chat").code == 0


async def test_a_question_outlives_a_kill_and_is_asked_again(shell: Shell) -> None:
    async with shell.start("chat", "--thread", "incident") as first:
        assert first.stdin is not None
        first.stdin.write(f"{QUESTION}\n".encode())
        await read_until(first.stdout, "3. since the last deploy")
        first.send_signal(signal.SIGKILL)
        await first.wait()
    again = await asyncio.to_thread(shell.run, "chat", "--thread", "incident", stdin="1\n")
    assert again.code == 0
    assert again.out.startswith("Since when?")
    assert again.out.count("1. last hour") == 1
    assert again.out.count("**Evidence**") == 1


class Person:
    """Somebody at a terminal: types, and reads what appears."""

    def __init__(self, shell: Shell, *words: str) -> None:
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(  # noqa: S603 - the words are the test's own
            [*COMMAND, *words],
            cwd=shell.folder,
            env={**shell.env, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self.raw = ""
        self._at = 0

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def wait_for(self, words: str, then: str = "main >") -> str:
        """Return what appeared up to these words and the prompt after them."""
        return self._up_to(words) + self._up_to(then)

    def _up_to(self, words: str) -> str:
        """Return what appeared from the last place up to these words, without what moves and colours."""
        while (end := (shown := _ESCAPE.sub("", self.raw)).find(words, self._at)) < 0:
            readable, _, _ = select.select([self.master], [], [], SECONDS)
            assert readable, f"no {words!r} in what appeared:\n{shown[self._at :]}"
            self.raw += os.read(self.master, 65_536).decode(errors="replace")
        begin, self._at = self._at, end + len(words)
        return shown[begin : self._at]

    def leave(self) -> int:
        """Leave, and return the exit code."""
        self.type("\x04")
        return self.process.wait(SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.master)


def test_a_person_at_a_terminal_is_asked_presses_a_number_and_reads_the_answer(shell: Shell) -> None:
    with Person(shell, "chat") as person:
        person.wait_for("/help shows")
        person.type(f"{QUESTION}\r")
        person.wait_for("since the last deploy")
        person.type("1\r")
        shown = person.wait_for("postgres.log")
        assert "Evidence" in shown
        person.type("/thread second\r")
        person.wait_for("thread second", "second >")
        person.type("/thread\r")
        person.wait_for("* second", "second >")
        assert person.leave() == 0


def test_what_a_log_holds_for_the_terminal_does_not_reach_it(shell: Shell) -> None:
    evil = "Jan  1 09:00:00 db pg[7]: FATAL: remaining connection slots are reserved \u202e\x1b]0;owned\x07\n"
    (shell.folder / "evil.log").write_text(evil * 3)
    with Person(shell, "logs", "diagnose", "evil.log") as person:
        person.wait_for("evil.log:1", "messages read")
        assert person.process.wait(SECONDS) == 0
        assert "\x1b]0;" not in person.raw
        assert "\x07" not in person.raw
        assert "\u202e" not in person.raw


def test_a_table_too_wide_for_the_terminal_is_shown_row_by_row(shell: Shell) -> None:
    shell.env["COLUMNS"] = "200"
    with Person(shell, "skills", "list") as wide:
        wide.wait_for("  chain(service, since, until)", "Finds out")
    shell.env["COLUMNS"] = "60"
    with Person(shell, "skills", "list") as narrow:
        narrow.wait_for("skill         log-diagnosis", "what it does  Finds out")


def test_ctrl_c_without_work_says_how_to_leave(shell: Shell) -> None:
    with Person(shell, "chat") as person:
        person.wait_for("/help shows")
        person.type("\x03")
        person.wait_for("Ctrl-D leaves")
        assert person.leave() == 0


def test_the_typed_lines_are_kept_for_their_owner_alone(shell: Shell) -> None:
    with Person(shell, "chat") as person:
        person.wait_for("/help shows")
        person.type("status\r")
        person.wait_for("Nothing is running")
        assert person.leave() == 0
        kept = shell.folder / ".local/state/hermes-bot/chat_history"
        assert "+status" in kept.read_text()
        assert kept.stat().st_mode & 0o077 == 0
