"""The demo system tells its stories as if they happened just now."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hermes_bot.diagnosis import DemoSystem, LogQuery, Report, diagnose, last_deploy, load_demo, select
from hermes_bot.errors import ConfigError

NOW = datetime(2027, 3, 1, 9, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
FOLDER = Path(__file__).resolve().parents[2] / "data" / "demo"


@pytest.fixture(scope="module")
def demo() -> DemoSystem:
    return load_demo(FOLDER)


def ask(demo: DemoSystem, service: str, since: timedelta, until: timedelta = timedelta(0)) -> Report:
    return diagnose(demo.query(service, NOW, NOW - since, NOW - until), NOW)


def rule(report: Report) -> str:
    hit = report.findings.candidates[0].hit
    return hit.rule.id if hit else ""


@pytest.mark.parametrize("since", [HOUR, HOUR / 2, 36 * HOUR])
def test_checkout_fails_since_35_minutes_for_lack_of_database_connections(
    demo: DemoSystem, since: timedelta
) -> None:
    report = ask(demo, "checkout", since)
    assert rule(report) == "db-connections"
    assert report.findings.candidates[0].first.file == "payments/postgres.log"
    onset = report.findings.candidates[0].onset
    assert onset is not None
    assert timedelta(minutes=34) < NOW - onset < timedelta(minutes=36)


def test_checkouts_own_logs_tell_it_too(demo: DemoSystem) -> None:
    query = demo.query("checkout", NOW, NOW - HOUR)
    own = LogQuery(query.paths[:1], query.since, shift=query.shift)
    assert rule(diagnose(own, NOW)) == "db-connections"


def test_catalogs_disk_was_full_twenty_hours_ago(demo: DemoSystem) -> None:
    assert rule(ask(demo, "catalog", 30 * HOUR)) == "disk-full"


@pytest.mark.parametrize(
    ("service", "since", "until"),
    [("catalog", 1, 0), ("catalog", 8, 0), ("checkout", 8, 2), ("payments", 12, 2)],
)
def test_between_the_stories_it_is_quiet(demo: DemoSystem, service: str, since: int, until: int) -> None:
    assert not ask(demo, service, since * HOUR, until * HOUR).findings.incident


def test_quotes_are_the_bytes_of_the_files_whatever_the_shift(demo: DemoSystem) -> None:
    report = ask(demo, "checkout", HOUR)
    assert len(report.quotes) >= 4
    for quote in report.quotes:
        lines = (FOLDER / "logs" / quote.file).read_text(encoding="utf-8").split("\n")
        assert quote.text in lines[quote.line - 1]


def test_the_last_line_is_now(demo: DemoSystem) -> None:
    last = [select(demo.query(service.name, NOW), NOW).last_at for service in demo.services]
    assert max(at for at in last if at) == NOW


def test_the_last_deploy_of_payments_is_known(demo: DemoSystem) -> None:
    assert last_deploy(demo.query("payments", NOW), NOW) == NOW - timedelta(minutes=39)


def test_the_demo_is_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) < 400_000


def test_a_folder_without_a_demo_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"demo\.toml"):
        load_demo(tmp_path)
