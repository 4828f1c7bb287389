"""`hermes-bot schedules`: made with an echo, listed, changed, run; with a daemon and without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.shell import Shell

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = """[bot]
timezone = "Europe/Berlin"
[access]
channels = ["console:local:*"]
"""
ADD = ("schedules", "add", "0 9 * * 1-5", "--skill", "error-digest", "--channel", "console:local:ops")


def shell(tmp_path: Path, settings: str = SETTINGS) -> Shell:
    (tmp_path / "hermes.toml").write_text(settings)
    return Shell(tmp_path)


def test_it_is_shown_before_it_is_stored_and_stored_only_with_a_yes(tmp_path: Path) -> None:
    it = shell(tmp_path)
    asked = it.run(*ADD)
    assert asked.code == 2
    assert "Nothing is stored" in asked.err
    assert "weekdays at 09:00 (Europe/Berlin)" in asked.out
    assert asked.out.count("\nnext\t") == 3
    assert it.run("schedules", "list", "--json").object == {"schedules": []}
    made = it.run(*ADD, "--yes")
    assert (made.code, "Created `error-digest`." in made.err) == (0, True)
    (one,) = it.run("schedules", "list", "--json").object["schedules"]
    assert (one["name"], one["when"], one["channels"]) == (
        "error-digest",
        "weekdays at 09:00",
        ["console:local:ops"],
    )
    assert it.run("schedules", "list").out.splitlines()[0].split("\t")[:3] == ["schedule", "state", "next"]


def test_what_cannot_be_is_refused_with_what_would_work(tmp_path: Path) -> None:
    it = shell(tmp_path)
    head = ("schedules", "add")
    end = ("--channel", "console:local:ops", "--yes")
    for words, says in (
        ((*head, "every blue moon", "--text", "x", *end), "Try one of `weekdays at 9`"),
        ((*head, "@daily", "--text", "x", "--yes"), "name a channel"),
        ((*head, "@daily", "--skill", "eror-digest", *end), "Did you mean error-digest?"),
        ((*head, "@daily", "--text", "x", "--channel", "slack:T1:C1", "--yes"), "'slack' is not on here"),
    ):
        done = it.run(*words)
        assert (done.code, says in done.err) == (1, True), (words, done.err)
    done = it.run(*head, "@daily", "--text", "x", "--missed", "maybe", *end)
    assert (done.code, "skip, once, all" in done.err) == (2, True)
    assert it.run("schedules", "list", "--json").object == {"schedules": []}


def test_where_nothing_is_planned_it_says_so_and_what_would_change_that(tmp_path: Path) -> None:
    it = shell(tmp_path)
    assert "Nothing is planned." in it.run("schedules", "list").err
    assert "Nothing is planned yet." in it.run("schedules", "show", "morning").err


def test_only_cron_shows_its_rule_as_it_is_stored(tmp_path: Path) -> None:
    it = shell(tmp_path)
    end = ("--text", "x", "--channel", "console:local:ops", "--dry-run")
    assert "\nrule\tcron 0 9 * * *\n" in it.run("schedules", "add", "0 9 * * *", *end).out
    length = it.run("schedules", "add", "every 90m", *end).out
    assert ("every 90 minutes" in length, "\nrule\t" in length) == (True, False)


def test_history_says_in_words_how_far_it_is(tmp_path: Path) -> None:
    it = shell(tmp_path)
    it.run(*ADD, "--yes")
    it.run("schedules", "run", "error-digest")
    (row,) = it.run("schedules", "history", "error-digest").out.splitlines()[1:]
    assert row.split("\t")[1:] == ["-", "waits", "no report"]


def test_it_is_paused_resumed_run_and_removed_and_its_history_stays(tmp_path: Path) -> None:
    it = shell(tmp_path)
    it.run(*ADD, "--yes")
    assert "is paused" in it.run("schedules", "pause", "error-digest").err
    assert it.run("schedules", "show", "error-digest", "--json").object["schedule"]["state"] == "paused"
    assert "goes on. Next: " in it.run("schedules", "resume", "error-digest").err
    ran = it.run("schedules", "run", "error-digest")
    assert "No daemon runs" in ran.err
    (past,) = it.run("schedules", "history", "error-digest", "--json").object["firings"]
    assert (past["kind"], past["work"], past["deliveries"]) == ("asked", "queued", [])
    near = it.run("schedules", "show", "eror-digest")
    assert (near.code, "Did you mean `error-digest`?" in near.err) == (1, True)
    assert "is removed" in it.run("schedules", "remove", "error-digest").err
    gone = it.run("schedules", "pause", "error-digest")
    assert (gone.code, "is over: It was removed." in gone.err) == (1, True)


def test_holidays_without_their_package_are_refused_with_the_line_that_installs_it(tmp_path: Path) -> None:
    it = shell(tmp_path)
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "holidays.py").write_text("raise ImportError\n")
    path = f"{tmp_path / 'hidden'}:{it.env.get('PYTHONPATH', '')}"
    done = it.run(*ADD, "--holidays", "DE-BY", "--yes", PYTHONPATH=path)
    assert (done.code, "pip install 'hermes-bot[holidays]'" in done.err) == (1, True)


def test_doctor_names_a_section_that_makes_no_schedule(tmp_path: Path) -> None:
    planned = '[schedules.odd]\nwhen = "0 9 31 2 *"\nchannels = ["console:local:ops"]\ntext = "x"\n'
    done = shell(tmp_path, SETTINGS + planned).run("doctor")
    assert done.code == 1
    assert "schedule odd" in done.out
    assert "never comes" in done.out
