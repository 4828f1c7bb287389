"""Quiet hours and public holidays: when a schedule does nothing, and why."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from hermes_bot.errors import ScheduleError
from hermes_bot.timing import Calendar

BERLIN = ZoneInfo("Europe/Berlin")


def closed(calendar: Calendar, wall: str) -> str:
    return calendar.closed(datetime.fromisoformat(wall).replace(tzinfo=BERLIN), "Europe/Berlin")


@pytest.mark.parametrize(
    ("wall", "is_quiet"),
    [("21:59", False), ("22:00", True), ("23:00", True), ("00:00", True), ("06:59", True), ("07:00", False)],
)
def test_quiet_hours_may_run_over_midnight_and_leave_their_end_out(wall: str, is_quiet: bool) -> None:  # noqa: FBT001
    found = closed(Calendar.parse("22:00-07:00"), f"2026-11-03T{wall}")
    assert found == ("Quiet hours, 22:00 to 07:00." if is_quiet else "")


def test_several_quiet_spans_and_one_up_to_midnight() -> None:
    calendar = Calendar.parse("12:00 - 13:00, 20:00-24:00")
    assert [
        bool(closed(calendar, f"2026-11-03T{wall}")) for wall in ("12:30", "13:00", "23:59", "00:00")
    ] == [
        True,
        False,
        True,
        False,
    ]


def test_public_holidays_are_those_of_the_part_of_a_country() -> None:
    assert closed(Calendar.parse("", "de-by"), "2026-01-06T09:00").startswith("A public holiday (DE-BY): ")
    assert closed(Calendar.parse("", "DE"), "2026-01-06T09:00") == ""
    assert closed(Calendar.parse("", "DE"), "2027-12-25T09:00") != ""


@pytest.mark.parametrize(
    "quiet", ["22-7", "25:00-07:00", "22:00-07:60", "09:00-09:00", "nights", "22:00-07:00,"]
)
def test_what_is_no_span_of_the_day_is_refused(quiet: str) -> None:
    with pytest.raises(ScheduleError, match="22:00-07:00"):
        Calendar.parse(quiet)


@pytest.mark.parametrize(
    ("holidays", "says"), [("XX", "no public holidays of 'XX'"), ("DE-XX", "DE has no part 'XX'. It has BB")]
)
def test_a_country_that_is_unknown_is_refused(holidays: str, says: str) -> None:
    with pytest.raises(ScheduleError) as refused:
        Calendar.parse("", holidays)
    assert says in str(refused.value)
