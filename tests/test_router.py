"""What a message is: a command, an answer, a press, a task, or not for us."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hermes_bot.messages import Incoming, IncomingFile, Press, Request, ThreadKey
from hermes_bot.router import (
    Command,
    GoOn,
    NotForUs,
    Pressed,
    Route,
    Task,
    UnknownCommand,
    View,
    chosen_option,
    route,
)

NOW = datetime(2026, 11, 3, 8, 15, tzinfo=UTC)


def routed(text: str, *, addressed: bool = True, known: bool = False, **fields: object) -> Route:
    said = Incoming("e1", ThreadKey("w", "T", "C", "1"), "w:T:u1", text, NOW, addressed=addressed, **fields)  # type: ignore[arg-type]
    return route(said, View(participants=("w:T:u1",) if known else ()))


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("stop", Command("stop")),
        (" Cancel. ", Command("stop")),
        ("STOP!", Command("stop")),
        ("never mind", Command("stop")),
        ("skills", Command("skills")),
        ("/skills", Command("skills")),
        ("/hermes skills", Command("skills")),
        ("Help", Command("help")),
        ("status", Command("status")),
        ("why", Command("why")),
        ("schedule", Command("schedule")),
        ("Schedule List", Command("schedule", ("list",))),
        ("schedule list all", Command("schedule", ("list", "all"))),
        ("schedule lst", Command("schedule", ("lst",))),
        ("schedule pause error-digest", Command("schedule", ("pause", "error-digest"))),
        ("/hermes schedule run digest", Command("schedule", ("run", "digest"))),
        ("schedule add daily digest", Command("schedule", ("add", "daily", "digest"))),
        ("/why 7f3a", Command("why", ("7f3a",))),
        ("run log-diagnosis service=checkout", Command("run", ("log-diagnosis", "service=checkout"))),
        (
            "run log-diagnosis service=\u201ccheck\u00a0out\u201d",
            Command("run", ("log-diagnosis", "service=check out")),
        ),
    ],
)
def test_a_command_is_read_however_it_is_written(text: str, command: Command) -> None:
    assert routed(text) == command


@pytest.mark.parametrize(
    "text",
    [
        "stop the payments service and tell me",
        "run the report for May please",
        "why is checkout failing?",
        "status of checkout?",
        "schedule the error digest for weekdays at 9",
        "schedule a meeting about the outage",
        "schedule run of the tests was red",
        "help me to write a letter",
        "// a comment",
        "/var/log/syslog is full",
        'an open " quote',
    ],
)
def test_a_sentence_that_begins_like_a_command_is_a_task(text: str) -> None:
    assert routed(text) == Task()


def test_an_unknown_verb_gets_the_nearest() -> None:
    assert routed("/skils") == UnknownCommand("skils", "skills")
    assert routed("/xyzzy") == UnknownCommand("xyzzy", "")


def test_plain_words_agree_to_what_is_said_back_and_to_nothing_dangerous() -> None:
    for text in ("yes", "Yes.", "ok", "好的"):
        assert chosen_option(("Confirm", "Cancel"), text) == "Confirm"
        assert chosen_option(("Approve", "Deny"), text) == ""
    assert chosen_option(("Confirm", "Cancel"), "No!") == "Cancel"
    assert chosen_option(("Confirm", "Cancel"), "yes but at 10") == ""


@pytest.mark.parametrize("text", ["continue", "Continue.", "go on", "carry on!"])
def test_the_word_continue_goes_on(text: str) -> None:
    assert routed(text) == GoOn()


def test_nothing_but_a_mention_is_help() -> None:
    assert routed("  \u00a0 ") == Command("help")


@pytest.mark.parametrize(
    ("text", "known", "route_"),
    [
        ("and last month?", True, Task()),
        ("mail me at dana@example.com please", True, Task()),
        ("stop", True, Command("stop")),
        ("stop", False, NotForUs()),
        ("and last month?", False, NotForUs()),
        ("<@U3> lunch?", True, NotForUs()),
        ("@dana look", True, NotForUs()),
        ("", True, NotForUs()),
    ],
)
def test_words_without_a_mention_are_for_us_only_in_our_own_talk(
    text: str, route_: Route, *, known: bool
) -> None:
    assert routed(text, addressed=False, known=known) == route_


def test_a_press_and_a_request_are_what_they_are_whatever_the_text() -> None:
    press, request = Press("q1", 0), Request(skill="x")
    assert routed("stop", press=press) == Pressed(press)
    assert routed("stop", request=request) == Task(request)


def test_a_file_without_a_word_is_a_task_and_nothing_at_all_asks_for_help() -> None:
    file = IncomingFile("app.log", "F1")
    assert routed("", files=(file,)) == Task()
    assert routed("", files=(file,), addressed=False, known=True) == Task()
    assert routed("", files=(file,), addressed=False) == NotForUs()
    assert routed("") == Command("help")
