"""What lies behind a diagnosis: lines as they stand in their files, counts over time, all of it bounded."""

from __future__ import annotations

import json
import random
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from hermes_bot.diagnosis import LogQuery, diagnose, exhibit, exhibits_dict, load_demo, report_dict
from hermes_bot.diagnosis.sources import find_encoding
from hermes_bot.plugins import demo_dir, skills_dir
from hermes_bot.skills.templates import render

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 11, 3, 12, 0, tzinfo=UTC)
BREAK = NOW - timedelta(minutes=30)
CITED = re.compile(r"^(\S+?):(\d+): (.*)$", re.MULTILINE)


def quiet(minutes: int = 240) -> list[tuple[datetime, str]]:
    return [(NOW - timedelta(minutes=minute), f"INFO order {minute} placed") for minute in range(minutes)]


def behind(folder: Path, rows: list[tuple[datetime, str]], **query: Any) -> dict[str, Any]:
    """Write a log and return what lies behind its diagnosis."""
    path = folder / "app.log"
    path.write_text("".join(f"{at:%Y-%m-%d %H:%M:%S} {text}\n" for at, text in sorted(rows)))
    asked = LogQuery((str(path),), **query)
    return exhibits_dict(exhibit(asked, NOW), asked, NOW)


def test_each_finding_has_its_first_and_last_lines_and_none_twice(tmp_path: Path) -> None:
    bad = [(BREAK + timedelta(seconds=20 * n), f"ERROR gate {n} will not open") for n in range(30)]
    (found,) = behind(tmp_path, [*quiet(), *bad])["findings"]
    lines = (tmp_path / "app.log").read_text().splitlines()
    shown = [*found["first_lines"], *found["last_lines"]]
    assert [lines[it["line"] - 1] for it in shown] == [it["text"] for it in shown]
    gates = [int(it["text"].split("gate ")[1].split()[0]) for it in shown]
    assert gates == [0, 1, 2, 3, 4, 27, 28, 29]
    assert (found["count"], found["counted"]) == (30, 30)


def test_of_a_few_lines_all_are_first_lines(tmp_path: Path) -> None:
    bad = [
        (BREAK + timedelta(seconds=n), "ERROR kernel: Out of memory: Killed process 7 (x)") for n in range(3)
    ]
    (found,) = behind(tmp_path, [*quiet(), *bad])["findings"]
    assert (len(found["first_lines"]), found["last_lines"]) == (3, [])


def test_lines_are_counted_by_the_minute(tmp_path: Path) -> None:
    bad = [
        (BREAK + timedelta(seconds=seconds), "ERROR disk: No space left on device")
        for seconds in (0, 1, 59, 60, 185, 186, 187, 188)
    ]
    (found,) = behind(tmp_path, [*quiet(), *bad])["findings"]
    assert found["minutes"] == 1
    assert found["counts"] == [
        ["2026-11-03T11:30:00Z", 3],
        ["2026-11-03T11:31:00Z", 1],
        ["2026-11-03T11:33:00Z", 4],
    ]


def test_a_long_incident_is_counted_in_longer_spells_that_begin_on_the_hour(tmp_path: Path) -> None:
    start = NOW - timedelta(hours=20)
    bad = [(start + timedelta(minutes=n), "ERROR disk: No space left on device") for n in range(1_200)]
    (found,) = behind(tmp_path, [*quiet(4_000), *bad])["findings"]
    assert found["minutes"] == 15
    assert sum(count for _, count in found["counts"]) == found["count"] == 1_200
    assert all(at[14:] in ("00:00Z", "15:00Z", "30:00Z", "45:00Z") for at, _ in found["counts"])


def test_lines_without_times_have_no_counts(tmp_path: Path) -> None:
    (tmp_path / "app.log").write_text(
        "INFO fine\n" * 20 + "FATAL: remaining connection slots are reserved\n" * 9
    )
    asked = LogQuery((str(tmp_path / "app.log"),))
    found = exhibits_dict(exhibit(asked, NOW), asked, NOW)["findings"][0]
    assert (found["counts"], found["onset"], found["count"]) == ([], None, 9)


def test_noise_is_listed_and_belongs_to_no_finding(tmp_path: Path) -> None:
    noise = [(NOW - timedelta(minutes=3 * n), f"ERROR lamp {n} flickers") for n in range(80)]
    bad = [(BREAK + timedelta(seconds=n), f"ERROR write {n}: No space left on device") for n in range(40)]
    all_of_it = behind(tmp_path, [*quiet(), *noise, *bad])
    assert [(it["count"], it["finding"]) for it in all_of_it["templates"]] == [(80, 0), (40, 1)]


def test_window_zone_and_files_are_told(tmp_path: Path) -> None:
    bad = [(BREAK, "ERROR disk: No space left on device")] * 9
    told = behind(tmp_path, [*quiet(), *bad], since=NOW - timedelta(hours=1), tz="UTC")
    assert (told["at"], told["since"], told["until"], told["zone"]) == (
        *("2026-11-03T12:00:00Z", "2026-11-03T11:00:00Z", None, "UTC"),
    )
    assert told["files"] == [{"file": "app.log", "lines": 249}]
    assert told["lines"] == 249


def test_a_diagnosis_is_the_same_with_and_without_what_lies_behind_it() -> None:
    demo = load_demo(demo_dir())
    query = demo.query("checkout", demo.last)
    assert report_dict(exhibit(query, demo.last)) == report_dict(diagnose(query, demo.last))
    assert diagnose(query, demo.last).exhibits == ()


def written(all_of_it: dict[str, Any]) -> str:
    """Return the file of the shipped skill over these exhibits."""
    data = {"diagnosis": "It is full.", "fix": "Empty it.", "errors": 7, "notes": ["a `note`"]}
    logs = {"records": 7, "first_at": "2026-11-03T11:00:00Z", "last_at": "2026-11-03T11:30:00Z"}
    names = {
        "service": "checkout",
        "logs": {"data": logs},
        "findings": {"data": {**data, "exhibits": all_of_it}},
    }
    source = (skills_dir() / "log-diagnosis" / "evidence.md.j2").read_text()
    return render(source, names, where="evidence.md.j2")


def test_the_file_quotes_lines_as_they_stand_and_names_window_zone_and_files(tmp_path: Path) -> None:
    bad = [(BREAK + timedelta(seconds=20 * n), f"ERROR gate {n} will | not `open` ```") for n in range(30)]
    text = written(behind(tmp_path, [*quiet(), *bad], since=NOW - timedelta(hours=1), tz="UTC"))
    lines = (tmp_path / "app.log").read_text().splitlines()
    cited = CITED.findall(text)
    assert len(cited) == 8
    assert all(said in lines[int(number) - 1] for _, number, said in cited)
    for said in (
        "2026-11-03 11:00:00 UTC to 2026-11-03 12:00:00 UTC",
        "read as UTC",
        "`app.log`: 270",
    ):
        assert said in text
    assert "finding 1" in text


def test_however_much_went_wrong_the_file_stays_readable_in_size(tmp_path: Path) -> None:
    dice = random.Random(1)
    words = ["".join(dice.choice("字öäbcdefgh") for _ in range(9)) for _ in range(400)]
    rows = quiet(20_000)
    for kind in range(200):
        what = " ".join(dice.sample(words, 30))
        for n in range(dice.randrange(5, 60)):
            at = BREAK + timedelta(seconds=kind + dice.randrange(1_700), minutes=-n * 7 * (kind % 3))
            rows.append((at, f"ERROR {what} {n}"))
    all_of_it = behind(tmp_path, rows)
    text = written(all_of_it)
    assert len(all_of_it["findings"]) > 3
    assert len(text.encode()) < 200_000
    assert len(json.dumps(all_of_it, ensure_ascii=False).encode()) < 200_000
    assert all_of_it["more_templates"] > 0


@given(st.lists(st.text(max_size=60), min_size=1, max_size=12))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_a_log_says_the_file_can_be_written(tmp_path: Path, said: list[str]) -> None:
    path = tmp_path / "app.log"
    text = "".join(f"2026-11-03 11:3{n % 10}:00 ERROR {one}\n" for n, one in enumerate(said))
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    assume(find_encoding(path.read_bytes()))  # so many control characters are no text log
    asked = LogQuery((str(path),))
    assert written(exhibits_dict(exhibit(asked, NOW), asked, NOW)).startswith("# checkout: the evidence")


@pytest.mark.parametrize("count", [100, 101])
def test_of_very_many_files_the_first_are_named_and_the_rest_counted(tmp_path: Path, count: int) -> None:
    for number in range(count):
        (tmp_path / f"{number:03}.log").write_text(
            "2026-11-03 11:00:00 ERROR disk: No space left on device\n"
        )
    asked = LogQuery((str(tmp_path),))
    told = exhibits_dict(exhibit(asked, NOW), asked, NOW)
    assert (len(told["files"]), told["more_files"]) == (100, count - 100)
