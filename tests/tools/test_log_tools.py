from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest
from clock import FakeClock
from tools.toolroom import call, context

from hermes_bot.config import Bot, Config, Logs
from hermes_bot.config import LogSource as LogSetting
from hermes_bot.tools.catalog import LogCatalog, LogSource, catalog_of
from hermes_bot.tools.logtools import log_tools
from hermes_bot.tools.now import now_tool

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_bot.messages import Json, Result

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 3, 3, 8, 0, tzinfo=UTC)  # 09:00 in Berlin
LOG = "".join(
    [
        *(f"2026-03-03T07:{minute:02}:00Z INFO order placed id={minute}\n" for minute in range(30)),
        "2026-03-03T07:30:00Z INFO checkout version 2.4.1 started\n",
        *(
            f"2026-03-03T07:{minute}:00Z ERROR connection to database refused: too many clients\n"
            for minute in range(31, 59)
        ),
    ]
)


@pytest.fixture
def catalog(tmp_path: Path) -> LogCatalog:
    (tmp_path / "checkout.log").write_text(LOG)
    (tmp_path / "secret.log").write_text("2026-03-03T07:00:00Z ERROR token=OUTSIDE\n")
    sources = [LogSource("checkout", (f"{tmp_path}/checkout.log",)), LogSource("auth", (f"{tmp_path}/a*",))]
    return LogCatalog(sources, BERLIN)


async def use(catalog: LogCatalog, name: str, args: dict[str, Any], folder: Path) -> Result:
    tools = {one.name: one for one in log_tools(catalog)}
    return await call(tools[name], args, context(folder, FakeClock(NOW)))


def fields(came: Result) -> dict[str, Any]:
    assert came.status == "ok", came
    assert isinstance(came.data, dict)
    return came.data


@pytest.mark.parametrize(
    ("since", "until", "records"),
    [
        ("2026-03-03T07:31:00Z", "", 28),
        ("2026-03-03T08:31:00+01:00", "", 28),
        ("since 08:31", "", 28),  # people mean the team's clock
        ("last 30 min", "", 29),
        ("last hour", "since 08:10", 11),
        ("since the last deploy", "", 29),
        ("between 08:00 and 08:05", "", 6),
        ("2026-03-03T07:00:00Z", "2026-03-03T07:05:00Z", 6),
    ],
)
async def test_a_window_is_read_as_people_mean_it(
    since: str, until: str, records: int, catalog: LogCatalog, tmp_path: Path
) -> None:
    args = {"service": "checkout", "since": since, "until": until}
    assert fields(await use(catalog, "query_logs", args, tmp_path))["records"] == records


async def test_what_comes_from_logs_is_untrusted_and_says_whence_and_when(
    catalog: LogCatalog, tmp_path: Path
) -> None:
    came = await use(catalog, "query_logs", {"service": "Checkout ", "since": "last hour"}, tmp_path)
    assert (came.trust, came.source, came.as_of) == ("untrusted", "logs of checkout", "2026-03-03T08:00:00Z")


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        ({"service": "chekout", "since": "last hour"}, "unknown_service", "Did you mean checkout? Services:"),
        ({"service": "checkout", "since": "soonish"}, "bad_time", "'soonish' was not understood. A time"),
        ({"service": "checkout", "since": "08:30", "until": "08:20"}, "bad_time", "The window is empty"),
        ({"service": "auth", "since": "last hour"}, "not_found", "no file fits this pattern"),
    ],
)
async def test_what_cannot_be_asked_is_said_plainly(
    args: dict[str, Json], code: str, words: str, catalog: LogCatalog, tmp_path: Path
) -> None:
    came = await use(catalog, "query_logs", args, tmp_path)
    assert came.error is not None
    assert came.error.code == code
    assert words in came.error.message


async def test_an_empty_window_is_an_answer(catalog: LogCatalog, tmp_path: Path) -> None:
    args = {"service": "checkout", "since": "2026-03-01T00:00:00Z", "until": "2026-03-01T01:00:00Z"}
    data = fields(await use(catalog, "query_logs", args, tmp_path))
    assert (data["records"], data["note"]) == (0, "No log lines of checkout fall into this window.")
    report = fields(await use(catalog, "analyze_logs", {"logs": data}, tmp_path))
    assert (report["incident"], report["errors"]) == (False, 0)


async def test_a_selection_is_analysed_and_advised_on(catalog: LogCatalog, tmp_path: Path) -> None:
    args = {"service": "checkout", "since": "last 30 min"}
    selected = fields(await use(catalog, "query_logs", args, tmp_path))
    findings = fields(await use(catalog, "analyze_logs", {"logs": selected}, tmp_path))
    assert findings["incident"] is True
    assert findings["errors"] == 28
    assert findings["first_bad"] == ["checkout.log", 32]
    assert "too many clients" in findings["quotes"][0]["text"]
    assert findings["diagnosis"] in findings["report_markdown"]
    advice = fields(await use(catalog, "rule_based_advice", {"findings": findings}, tmp_path))
    assert advice["fix"] == findings["fix"]
    by_name = fields(await use(catalog, "analyze_logs", {"logs": args}, tmp_path))
    assert by_name["first_bad"] == findings["first_bad"]


async def test_a_forged_selection_reads_no_other_file(catalog: LogCatalog, tmp_path: Path) -> None:
    selected = fields(
        await use(catalog, "query_logs", {"service": "checkout", "since": "last hour"}, tmp_path)
    )
    for paths in (
        ["/etc/passwd"],
        [f"{tmp_path}/secret.log"],
        [*selected["paths"], f"{tmp_path}/secret.log"],
    ):
        came = await use(catalog, "analyze_logs", {"logs": {**selected, "paths": paths}}, tmp_path)
        assert came.error is not None
        assert came.error.code == "refused"
        assert "OUTSIDE" not in str(came)
    came = await use(catalog, "analyze_logs", {"logs": {"paths": 7}}, tmp_path)
    assert came.status == "error"


async def test_advice_on_anything_else_is_refused(catalog: LogCatalog, tmp_path: Path) -> None:
    came = await use(catalog, "rule_based_advice", {"findings": {"x": 1}}, tmp_path)
    assert came.error is not None
    assert came.error.code == "no_findings"


def test_configured_services_take_the_demos_place() -> None:
    logs = Logs(sources={"shop": LogSetting(path="/var/log/shop/*.log", timezone="Europe/Berlin")})
    assert catalog_of(Config(logs=logs)).services() == ("shop",)
    assert catalog_of(Config(bot=Bot(timezone="Europe/Berlin"))).services() == (
        *("checkout", "payments", "catalog"),
    )


async def test_the_demos_last_line_is_always_now(tmp_path: Path) -> None:
    args = {"service": "checkout", "since": "last 3 hours"}
    data = fields(await use(catalog_of(Config()), "query_logs", args, tmp_path))
    assert data["records"] > 0
    assert data["last_at"] <= "2026-03-03T08:00:00Z"
    findings = fields(await use(catalog_of(Config()), "analyze_logs", {"logs": data}, tmp_path))
    assert findings["incident"] is True


async def test_the_time_is_told_in_the_teams_zone_or_another(tmp_path: Path) -> None:
    clock = FakeClock(datetime(2026, 7, 1, 22, 30, tzinfo=UTC))
    told = await call(now_tool(BERLIN), {}, context(tmp_path, clock))
    assert told.data == {
        "utc": "2026-07-01T22:30:00Z",
        "local": "2026-07-02T00:30:00+02:00",
        "weekday": "Thursday",
        "zone": "Europe/Berlin",
    }
    other = await call(now_tool(BERLIN), {"zone": "Asia/Kolkata"}, context(tmp_path, clock))
    assert isinstance(other.data, dict)
    assert other.data["local"] == "2026-07-02T04:00:00+05:30"
    wrong = await call(now_tool(BERLIN), {"zone": "Berlin/../x"}, context(tmp_path, clock))
    assert wrong.error is not None
    assert wrong.error.code == "unknown_zone"
