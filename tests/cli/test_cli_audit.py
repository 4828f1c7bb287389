"""``audit`` as a process: a table for people, lines for pipes, one object for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cli.shell import Shell


def test_an_answer_given_on_the_shell_is_in_the_audit_and_the_chain_is_whole(shell: Shell) -> None:
    asked = shell.run("ask", "why is checkout failing?", "--answer", "last hour", "--json")
    listed = shell.run("audit")
    assert listed.code == 0
    assert listed.out.splitlines()[0] == "at\twho\tdid\tto\toutcome\trun\twhy"
    assert "console:local:you\tquestion.answer\t" in listed.out
    found = shell.run("audit", "--verb", "question.*", "--since", "1 hour ago", "--json").object
    assert [row["verb"] for row in found["rows"]] == ["question.answer"]
    assert asked.object["status"] == "finished"
    whole = shell.run("audit", "--verify")
    assert whole.code == 0
    assert "rows are as they were written." in whole.out
    assert shell.run("audit", "--since", "whenever").code == 1
