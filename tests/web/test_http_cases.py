"""The promise of the HTTP door, case by case, through the tool, against a server that notes what it saw."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sharedcases import SHARED

HERE = Path(__file__).parent
GIVEN = SHARED / "cases" / "security" / "http.json"
MANY = HERE / "manycases.json"
HOLDS_NO_TEXT = ("error", "timeout")


def cases_of(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        return []
    held = json.loads(path.read_text())
    return [{**case, "public": held["world"]["public"]} for case in held["cases"] + held.get("more", [])]


def has_namespaces() -> bool:
    if not (shutil.which("unshare") and shutil.which("ip")):
        return False
    tried = ["unshare", "-rn", "ip", "addr", "add", "2620:4f:8000::77/128", "dev", "lo", "nodad"]
    return subprocess.run(tried, capture_output=True, check=False).returncode == 0  # noqa: S603 - our own words


class Town:
    """Plays a list of cases once, however many workers test its records."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.way = "real" if has_namespaces() else "seams"

    def records(self, cases: Path, way: str = "") -> dict[str, dict[str, Any]]:
        folder = self._folder / f"town-{cases.stem}-{way or self.way}"
        folder.mkdir(exist_ok=True)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            written = folder / "records"
            if not written.exists():
                written.write_text(self._play(cases, folder, way or self.way))
        return {record["id"]: record for record in map(json.loads, written.read_text().splitlines())}

    def _play(self, cases: Path, folder: Path, way: str) -> str:
        root = HERE.parent.parent
        command = [sys.executable, str(HERE / "town.py"), way, str(cases), str(folder)]
        if way != "seams":
            command = ["unshare", "-rn", *command]
        path = os.pathsep.join(str(root / name) for name in (".", "adapters", "tests"))
        done = subprocess.run(  # noqa: S603 - our own words
            command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}, check=False
        )
        assert done.returncode == 0, done.stderr[-2_000:]
        return done.stdout


@pytest.fixture(scope="session")
def town(tmp_path_factory: pytest.TempPathFactory) -> Town:
    base = tmp_path_factory.getbasetemp()
    return Town(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base)


def reached(record: dict[str, Any], case: dict[str, Any]) -> set[str]:
    """Return the addresses that were connected to and must not be."""
    return set(record["connections"]) - {*case["public"], *(one["address"] for one in case.get("allow", ()))}


def kept(record: dict[str, Any], case: dict[str, Any]) -> bool:
    return not reached(record, case) and any(
        {"allowed": is_allowed, "refused": is_refused, "capped": is_capped}[wanted](record, case)
        for wanted in (case["expect"], case.get("also"))
        if wanted
    )


def is_allowed(record: dict[str, Any], case: dict[str, Any]) -> bool:
    good = {*case["public"], *(one["address"] for one in case.get("allow", ()))}
    is_there = record["status"] == "ok" and record["text"].removeprefix("from ") in good
    stays = all(
        name not in asked["headers"]
        for host, names in case.get("absent_at", {}).items()
        for asked in record["requests"]
        if asked["headers"]["host"] == host
        for name in names
    )
    return is_there and stays and len(record["requests"]) <= case.get("limits", {}).get("requests", 99)


def is_refused(record: dict[str, Any], _case: dict[str, Any]) -> bool:
    return record["status"] in HOLDS_NO_TEXT and not record["text"]


def is_capped(record: dict[str, Any], case: dict[str, Any]) -> bool:
    limits = case.get("limits", {})
    says_so = record["status"] in HOLDS_NO_TEXT or (
        record["status"] == "partial" and "only the first" in record["truncated"]
    )
    return (
        says_so
        and record["seconds"] <= limits.get("total_s", 10.0) + limits.get("slack_s", 0.5)
        and len(record["requests"]) <= limits.get("requests", 99)
        and record["sent"] <= limits.get("server_sent_bytes", 1e12)
        and record["memory"] <= limits.get("memory_growth_bytes", 1e12)
    )


def played(town: Town, cases: Path, case: dict[str, Any]) -> dict[str, Any]:
    record = town.records(cases).get(case["id"])
    if record is None:
        pytest.skip("it needs a network namespace and openssl, for a server at port 443")
    return record


@pytest.mark.shared
@pytest.mark.parametrize("case", [pytest.param(one, id=one["id"]) for one in cases_of(GIVEN)])
def test_the_door_keeps_the_promise_of(case: dict[str, Any], town: Town) -> None:
    record = played(town, GIVEN, case)
    assert kept(record, case), record


@pytest.mark.parametrize("case", [pytest.param(one, id=one["id"]) for one in cases_of(MANY)])
def test_other_ways_in_and_other_floods_fail_as_well(case: dict[str, Any], town: Town) -> None:
    record = played(town, MANY, case)
    assert kept(record, case), record


@pytest.mark.shared
def test_a_plain_client_fails_the_list(town: Town) -> None:
    if town.way == "seams":
        pytest.skip("a plain client needs addresses that are really there: no network namespaces here")
    records = town.records(GIVEN, "plain")
    through = [
        one["id"] for one in cases_of(GIVEN) if one["id"] in records and reached(records[one["id"]], one)
    ]
    assert {"loopback", "decimal", "metadata", "redirect-to-metadata"} <= {*through}, through
    assert len(through) >= 15


@pytest.mark.shared
def test_what_came_from_outside_is_not_trusted_and_an_error_quotes_none_of_it(town: Town) -> None:
    for case in cases_of(GIVEN):
        record = town.records(GIVEN).get(case["id"], {})
        if record.get("status") in ("ok", "partial") and "request_headers" not in case:
            assert record["trust"] == "untrusted"
        assert "169.254" not in record.get("said", "")
