"""People's words about time, as the exact instants they mean in Berlin on 3 November 2026, 09:15."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.timewords import TIME_EXAMPLES, Window, find_window, mentions_deploy, parse_time

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 3, 9, 15, tzinfo=BERLIN)
DIALOGUE = Path(__file__).resolve().parents[2] / "shared" / "cases" / "logs" / "dialogue.jsonl"


def window(text: str, now: datetime = NOW) -> str | None:
    found = find_window(text, now, BERLIN)
    return None if found is None else f"{found.since:%m-%d %H:%M} {found.until:%m-%d %H:%M}"


@pytest.mark.parametrize("text", ["last 30 min", "30m", "errors in the last 30 minutes?", "past half hour"])
def test_elapsed_time_counts_back_from_now(text: str) -> None:
    assert window(text) == "11-03 07:45 11-03 08:15"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("last hour", "11-03 07:15 11-03 08:15"),
        ("diagnose checkout 2h", "11-03 06:15 11-03 08:15"),
        ("past two hours", "11-03 06:15 11-03 08:15"),
        ("2 hours ago", "11-03 06:15 11-03 08:15"),
        ("1 day", "11-02 08:15 11-03 08:15"),
        ("since yesterday", "11-01 23:00 11-03 08:15"),
        ("yesterday", "11-01 23:00 11-02 23:00"),
        ("today", "11-02 23:00 11-03 08:15"),
        ("this morning", "11-03 04:00 11-03 08:15"),
        ("last night", "11-02 19:00 11-03 05:00"),
        ("since monday", "11-01 23:00 11-03 08:15"),
        ("since 09:12", "11-03 08:12 11-03 08:15"),
        ("since 9", "11-03 08:00 11-03 08:15"),
        ("since 2026-11-02", "11-01 23:00 11-03 08:15"),
        ("around 14:00", "11-02 12:45 11-02 13:15"),
        ("from 8 to 9:10", "11-03 07:00 11-03 08:10"),
        ("yesterday between 14:00 and 15:30", "11-02 13:00 11-02 14:30"),
        ("between 14:00 and 15:30 yesterday", "11-02 13:00 11-02 14:30"),
        ("yesterday 22:00 to 02:00", "11-02 21:00 11-03 01:00"),
        ("2026-11-02 10:00/2026-11-02 11:00", "11-02 09:00 11-02 10:00"),
        ("since 2026-11-02T14:00Z", "11-02 14:00 11-03 08:15"),
        ("seit gestern", "11-01 23:00 11-03 08:15"),
        ("in den letzten 2 Stunden", "11-03 06:15 11-03 08:15"),
    ],
)
def test_a_phrase_means_these_instants(text: str, expected: str) -> None:
    assert window(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *(
            "why is checkout failing?",
            "tomorrowish",
            "tomorrow",
            "9",
            "port 8080 on 10.0.0.1",
            "since 25:00",
            "",
        ),
        *(
            "status 500 from 5 pods",
            "since the last deploy",
            "last 99999999999 hours",
            "the server sat idle",
            "v2h",
        ),
    ],
)
def test_what_is_no_time_gives_no_window(text: str) -> None:
    assert window(text) is None


def test_a_clock_time_that_has_not_come_yet_was_yesterdays() -> None:
    assert parse_time("10:00", NOW, BERLIN) == datetime(2026, 11, 2, 9, tzinfo=UTC)


def test_the_words_found_are_those_at_the_span() -> None:
    text = "what happened to auth yesterday between 14:00 and 15:30?"
    found = find_window(text, NOW, BERLIN)
    assert isinstance(found, Window)
    assert text[slice(*found.span)] == found.words == "yesterday between 14:00 and 15:30"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-02T14:00+01:00", "2026-11-02 13:00"),
        ("yesterday", "2026-11-01 23:00"),
        ("30m", "2026-11-03 07:45"),
        ("last 2 hours", "2026-11-03 06:15"),
        ("since 09:12", "2026-11-03 08:12"),
        ("now", "2026-11-03 08:15"),
    ],
)
def test_one_moment_is_read_from_a_since_value(text: str, expected: str) -> None:
    assert f"{parse_time(text, NOW, BERLIN):%Y-%m-%d %H:%M}" == expected


@pytest.mark.parametrize("text", ["tomorrowish", "9", "1700000000", "checkout since yesterday", "", "deploy"])
def test_other_words_are_no_moment_and_the_examples_say_what_is(text: str) -> None:
    assert parse_time(text, NOW, BERLIN) is None
    assert "since yesterday" in TIME_EXAMPLES


def test_each_example_told_to_people_is_understood() -> None:
    examples = TIME_EXAMPLES.removeprefix("A time looks like: ").rstrip(".").replace("or ", "").split(", ")
    assert len(examples) > 4
    assert all(window(example) for example in examples)


def test_a_named_time_keeps_the_wall_clock_and_elapsed_time_does_not_when_clocks_change() -> None:
    after_change = datetime(2026, 10, 25, 12, 0, tzinfo=BERLIN)  # clocks went back at 03:00 that night
    assert window("since yesterday", after_change) == "10-23 22:00 10-25 11:00"
    assert window("last 24 hours", after_change) == "10-24 11:00 10-25 11:00"
    assert window("since 01:30", after_change) == "10-24 23:30 10-25 11:00"


@pytest.mark.parametrize("text", ["since the last deploy", "after the latest release", "last rollout"])
def test_the_last_deploy_is_recognised(text: str) -> None:
    assert mentions_deploy(text)


def test_other_uses_of_deploy_are_not_the_last_one() -> None:
    assert not mentions_deploy("deploy checkout")


@given(
    st.text() | st.from_regex(r"(since|last|from|between|at) [0-9a-z:.\- ]{0,20}( (and|to|ago) [0-9:]{0,6})?")
)
def test_any_text_gives_a_sane_window_or_none(text: str) -> None:
    found = find_window(text, NOW, BERLIN)
    assert found is None or found.since < found.until <= NOW
    moment = parse_time(text, NOW, BERLIN)
    assert moment is None or moment.utcoffset() == timedelta(0)


@pytest.mark.shared
@pytest.mark.skipif(not DIALOGUE.exists(), reason="../shared/cases is not here")
def test_the_shared_dialogues_have_their_windows() -> None:
    for line in DIALOGUE.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        now, zone = datetime.fromisoformat(case["now"]), ZoneInfo(case["tz"])
        found = find_window(" ".join(case["thread"]), now, zone)
        if case["expect"]["action"] == "run":
            assert found is not None, case["id"]
            spoken = {"since": found.since, "until": found.until}
            for name, at in spoken.items():
                assert at == datetime.fromisoformat(case["expect"]["params"][name]), case["id"]
        assert ("window" in case["expect"]["missing"]) == (found is None), case["id"]
