"""``hermes-bot eval`` plays tasks through the whole bot, and says what became of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cli.shell import Shell
from endpoint import Endpoint, act, finish, in_thread

SMALL = str(Path(__file__).parent / "small.yaml")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_without_faults_all_is_done_and_all_else_is_stopped(shell: Shell) -> None:
    done = shell.run("eval", "--script", SMALL, "--fault", "0", "--tool-fault", "0", "--json")
    figures = done.object
    assert (done.code, figures["completion"], figures["guarded"]) == (0, 1.0, 1.0)
    assert (figures["duplicates"], figures["stray"], figures["missed"]) == (0, 0, [])
    assert [kind["name"] for kind in figures["kinds"]] == ["single", "chain", "write", "stop"]
    assert figures["rounds"] == pytest.approx((2 + 4 + 2 + 3) / 4, abs=0.01)


def test_with_faults_the_same_seed_gives_the_same_and_the_strict_reader_fails(shell: Shell) -> None:
    def figures(*words: str) -> tuple[int, dict[str, Any]]:
        asked = ("eval", "--script", SMALL, "--fault", "0.3", "--tool-fault", "0.2", "--seed", "3", "--json")
        done = shell.run(*asked, *words)
        found = done.object
        for one in (found, *found["kinds"]):
            del one["seconds"]
        return done.code, found

    first, again = figures("--seeds", "2"), figures("--seeds", "2")
    assert first == again
    assert first[1]["completion"] == 1.0
    assert first[1]["duplicates"] == 0
    assert first[1]["faults"]
    assert first[1]["token_ratio"] > 1
    _, strict = figures("--seeds", "4", "--strict")
    assert strict["completion"] < 0.8  # short tasks; the whole set falls lower
    assert "token_ratio" not in {name for name, value in strict.items() if value is not None}


def test_a_missed_target_is_said_and_exits_with_1(shell: Shell) -> None:
    wrong = Path(SMALL).read_text().replace(r"4\.2\.0", r"5\.0\.0")
    (shell.folder / "wrong.yaml").write_text(wrong)
    done = shell.run(
        "eval", "--script", "wrong.yaml", "--fault", "0", "--tool-fault", "0", "--kind", "single"
    )
    assert done.code == 1
    assert "Wrong: read with seed 1: the answer lacks '5" in done.out
    assert "Completion is under 97%." in done.err


def test_a_task_that_nobody_wrote_and_a_model_that_is_not_set_are_misuse(shell: Shell) -> None:
    assert shell.run("eval", "--script", SMALL, "--task", "nothing").code == 2
    no_model = shell.run("eval", "--script", SMALL, "--model")
    assert no_model.code == 2
    assert "[model]" in no_model.err


def test_a_real_endpoint_is_measured_with_the_same_tasks_and_tools(shell: Shell) -> None:
    script = [act("release", service="shop"), finish("4.2.0 runs.", evidence=["round 1"])]
    with in_thread(Endpoint(script, otherwise=finish("I cannot tell."))) as endpoint:
        env = {"HERMES_MODEL__BASE_URL": endpoint.url, "HERMES_MODEL__NAME": "real"}
        words = ("--model", "--tool-fault", "0", "--jobs", "1", "--json")
        one = shell.run("eval", "--script", SMALL, "--task", "read", *words, **env)
        all_of_them = shell.run("eval", "--script", SMALL, *words, **env)
    assert (one.code, one.object["completion"], one.object["token_ratio"]) == (0, 1.0, None)
    assert (all_of_them.code, all_of_them.object["completion"]) == (1, 0.0)
    assert endpoint.requests[0]["model"] == "real"


def test_a_kept_folder_can_be_looked_into(shell: Shell) -> None:
    words = ("--task", "read", "--keep", "kept", "--fault", "0.3", "--tool-fault", "0")
    assert shell.run("eval", "--script", SMALL, *words).code in (0, 1)
    kept = shell.run("runs", "list", "--json", HERMES_BOT__STATE_DIR=str(shell.folder / "kept/read-1"))
    assert kept.object["runs"][0]["status"] == "finished"
