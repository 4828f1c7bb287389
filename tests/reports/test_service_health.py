"""What service-health says of services on loopback, over the real door, chain and store."""

from __future__ import annotations

import asyncio
import sys
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from clock import FakeClock
from reports.logroom import log_room
from tools.toolroom import a_run, call, context
from world import running

from hermes_bot.config import Health, HealthCheck, InnerHost, Web
from hermes_bot.offline import match_skill
from hermes_bot.plugins import skills_dir
from hermes_bot.skills import read_registry
from hermes_bot.store import runs
from hermes_bot.store.scratch import Ledger
from hermes_bot.tools.checks import Services, health_tool

pytest.importorskip("cryptography")
pytest.importorskip("httpx2")

from reports.servers import LOCAL, Authority, endless, garbage, mute, raw, serving

if TYPE_CHECKING:
    from pathlib import Path

    from world import Running

INNER = Web(allow=(InnerHost(host=LOCAL, address=LOCAL),))
MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0


@dataclass
class Room:
    """A bot that looks at services, and a thread for each report."""

    bot: Running
    asked: int = 0

    async def report(self, text: str = "run service-health", channel: str = "C1") -> str:
        self.asked += 1
        talk = self.bot.talk(f"t{self.asked}", channel)
        await talk.say(text)
        return (await talk.heard()).text

    async def in_thread(self, text: str) -> str:
        talk = self.bot.talk(f"t{self.asked}")
        await talk.say(text)
        return (await talk.heard()).text

    async def key(self) -> str:
        """Return the mark by which only-on-change compares the last report."""
        (last,) = await self.bot.app.db.read(lambda db: runs.list_runs(db, 1))
        return (await self.bot.state(last.id)).content_key

    def pass_time(self, seconds: float) -> None:
        assert isinstance(self.bot.clock, FakeClock)
        self.bot.clock.advance(seconds)


class World:
    """Everything one test opens, closed in the end."""

    def __init__(self, stack: AsyncExitStack, folder: Path) -> None:
        self.stack, self.folder = stack, folder
        self.clock = FakeClock()

    async def room(self, web: Web = INNER, /, **checks: dict[str, Any]) -> Room:
        health = Health(checks={name.replace("_", "-"): HealthCheck(**one) for name, one in checks.items()})
        bot = running(self.folder / "state", clock=self.clock, health=health, web=web)
        return Room(await self.stack.enter_async_context(bot))

    async def service(self, **of: Any) -> Any:
        return await self.stack.enter_async_context(serving(self.clock, **of))

    async def raw(self, way: Any) -> str:
        return await self.stack.enter_async_context(raw(way))


@pytest.fixture
async def world(tmp_path: Path) -> Any:
    async with AsyncExitStack() as stack:
        yield World(stack, tmp_path)


FOOT = (
    "_ms until the first byte; p50 and p95 are of the last 7 days. Times are UTC. "
    "Reply “expand item 1” for all of it._"
)


def lines(report: str) -> list[str]:
    return [line for line in report.splitlines() if line and not line.startswith(("|--", "| #"))]


async def test_services_that_are_well_are_one_line_and_a_table(world: World) -> None:
    shop, till = await world.service(), await world.service()
    room = await world.room(shop={"url": f"{shop.url}/health"}, till={"url": till.url})
    assert lines(await room.report()) == [
        "**All 2 services are well.**",
        "| 1 | shop | ok | 0 | \N{EN DASH} |",
        "| 2 | till | ok | 0 | \N{EN DASH} |",
        FOOT,
    ]
    assert shop.asked[0].path == "/health"


async def test_a_service_is_down_since_its_first_bad_look_and_back_after_that_time(world: World) -> None:
    shop, till = await world.service(), await world.service()
    room = await world.room(shop={"url": shop.url}, till={"url": till.url})
    await room.report()
    said = []
    shop.status = 503
    for _ in range(3):
        room.pass_time(5 * MINUTE)
        report = await room.report()
        assert "**1 of 2 services is down.**" in report
        assert "| 1 | shop | DOWN | 0 |" in report
        said.append(next(line for line in lines(report) if line.startswith("1. ")))
    assert said == [
        "1. **shop** down since 08:20, new: it answered 503 Service Unavailable",
        "1. **shop** down since 08:20, 2 looks in a row: it answered 503 Service Unavailable",
        "1. **shop** down since 08:20, 3 looks in a row: it answered 503 Service Unavailable",
    ]
    shop.status = 200
    room.pass_time(5 * MINUTE)
    report = await room.report()
    assert "**All 2 services are well.**" in report
    assert "1. **shop** back after 15 min" in report
    room.pass_time(5 * MINUTE)
    assert "back after" not in await room.report()


async def test_only_states_make_a_change_and_no_latency(world: World) -> None:
    shop = await world.service()
    room = await world.room(shop={"url": shop.url, "warn_latency_ms": 1_000})
    keys = []
    for takes, status in ((0.1, 200), (0.4, 200), (1.5, 200), (1.7, 200), (0.1, 503), (0.2, 500), (0.1, 404)):
        shop.takes, shop.status = takes, status
        room.pass_time(5 * MINUTE)
        await room.report()
        keys.append(await room.key())
    assert all(keys)
    assert [keys.index(one) for one in keys] == [0, 0, 2, 2, 4, 4, 4]


async def test_a_slow_answer_is_warned_of_and_the_usual_one_said(world: World) -> None:
    shop = await world.service()
    room = await world.room(shop={"url": shop.url, "warn_latency_ms": 1_000})
    for ms in (100, 110, 120, 130, 900):
        shop.takes = ms / 1_000
        await room.report()
        room.pass_time(HOUR)
    shop.takes = 1.25
    report = await room.report()
    assert "**shop is up, and to look at.**" in report
    assert "| 1 | shop | slow | 1,250 | 120/900 |" in report
    assert "1. **shop** slow: 1,250 ms, more than 1,000 ms" in report


async def test_a_service_that_comes_and_goes_is_unsteady_and_no_news_each_time(world: World) -> None:
    shop = await world.service()
    room = await world.room(shop={"url": shop.url})
    keys = []
    for status in (200, 503, 200, 503, 200, 503, 200, 503, 503, 503):
        shop.status = status
        report = await room.report()
        keys.append(await room.key())
        room.pass_time(MINUTE)
        if len(keys) == 7:
            assert "it comes and goes: 6 changes in the last 7 looks" in report
            assert "| 1 | shop | unsteady |" in report
    assert len({*keys[5:9]}) == 1
    assert keys[9] not in keys[5:9]
    assert "down since 08:22, 3 looks in a row" in report


async def test_every_kind_of_broken_server_costs_only_its_own_line(world: World) -> None:
    shop, circle = await world.service(), await world.service()
    circle.status, circle.location = 302, f"{circle.url}/again"
    quick = {"timeout_seconds": 0.3}
    room = await world.room(
        shop={"url": shop.url},
        circle={"url": circle.url},
        endless={"url": await world.raw(endless), "contains": "well", "timeout_seconds": 5},
        garbage={"url": await world.raw(garbage)},
        mute={"url": await world.raw(mute), **quick},
        nobody={"url": f"http://{LOCAL}:9"},
        text={"url": shop.url, "contains": "all is lost"},
    )
    report = await room.report()
    assert "**6 of 7 services are down.**" in report
    said = dict(line.split("** ", 1) for line in lines(report) if "** down" in line)
    assert {name.partition("**")[2]: text.partition(": ")[2] for name, text in said.items()} == {
        "circle": "it redirects in circles, or too often",
        "endless": "its page does not hold the text that is expected of it",
        "garbage": "what it sends is no HTTP, or broke off",
        "mute": "it did not answer in full within 0.3 s",
        "nobody": "nobody takes the connection",
        "text": "its page does not hold the text that is expected of it",
    }
    assert "| 7 | shop | ok |" in report


async def test_an_inner_host_is_looked_at_only_where_the_operator_opened_it(world: World) -> None:
    shop, hop = await world.service(), await world.service()
    hop.status, hop.location = 302, "http://127.0.0.2/"
    room = await world.room(Web(), shop={"url": shop.url})
    assert "not on the public internet" in await room.report()
    assert not shop.asked
    await world.stack.aclose()
    async with AsyncExitStack() as world.stack:
        hop = await world.service()
        hop.status, hop.location = 302, "http://127.0.0.2/"
        room = await world.room(hop={"url": hop.url})
        assert "not on the public internet" in await room.report()


async def test_a_certificate_is_warned_of_before_it_ends_and_called_by_its_fault(
    world: World, tmp_path: Path
) -> None:
    world.clock.at = datetime.now(UTC)
    authority = Authority(tmp_path)
    contexts = {
        "good": authority.context(45.5),
        "soon": authority.context(3.5),
        "over": authority.context(-2),
        "other": authority.context(45, "other.example"),
        "own": authority.context(45, is_its_own=True),
    }
    services = {name: await world.service(secure=one) for name, one in contexts.items()}
    checks = {name: {"url": one.url, "ca_file": authority.pem} for name, one in services.items()}
    checks["unknown"] = {"url": services["good"].url}
    room = await world.room(**checks)
    report = await room.report()
    assert "**4 of 6 services are down, 1 to look at.**" in report
    ends = (world.clock.at + timedelta(days=3.5)).strftime("%Y-%m-%d")
    for said in (
        "**over** down at the first look: its certificate has expired",
        "**other** down at the first look: its certificate is for another address",
        "**own** down at the first look: its certificate is self-signed",
        "**unknown** down at the first look: its certificate comes from an authority that is not believed",
        "**soon** its certificate ends in 3 days, ",
    ):
        assert said in report, report
    assert "| over | BAD CERTIFICATE |" in report
    (soon,) = (line for line in lines(report) if line.startswith("| 5 |"))
    assert soon.startswith("| 5 | soon | certificate | 0 |")
    assert soon.endswith("| 3 d |")
    assert "45 d |" in report
    assert ends in await room.in_thread("expand item 5")


async def test_the_certificate_of_a_redirect_counts_too(world: World, tmp_path: Path) -> None:
    world.clock.at = datetime.now(UTC)
    authority = Authority(tmp_path)
    first = await world.service(secure=authority.context(5.5))
    last = await world.service(secure=authority.context(60.5))
    first.status, first.location = 301, last.url
    web = INNER.model_copy(update={"ports": (80, 443, int(last.url.rpartition(":")[2]))})
    room = await world.room(web, shop={"url": first.url, "ca_file": authority.pem, "warn_cert_days": 7})
    report = await room.report()
    assert "1. **shop** its certificate ends in 5 days" in report


async def test_an_item_of_the_report_tells_all_of_its_service(world: World) -> None:
    shop = await world.service()
    shop.takes = 0.2
    room = await world.room(shop={"url": f"{shop.url}/health?key=abc"})
    for status in (200, 200, 500, 500):
        shop.status = status
        await room.report()
        room.pass_time(HOUR)
    shop.takes = 0.25
    await room.report()
    told = await room.in_thread("expand item 1")
    assert "**Item 1**: shop: DOWN" in told
    assert f"GET {shop.url}/health?…" in told
    assert "- Down since 2026-11-03 10:15:00 UTC, 3 looks in a row" in told
    assert "- Status 500, first byte after 250 ms" in told
    assert "- In the last 7 days 4 looks, 50 % found it well" in told
    assert "Tue 2026-11-03 11:00  ####" in told
    assert "abc" not in told


async def test_one_service_is_asked_for_by_name_and_an_unknown_one_named_back(world: World) -> None:
    shop, till = await world.service(), await world.service()
    room = await world.room(shop={"url": shop.url, "method": "HEAD"}, till={"url": till.url})
    report = await room.report("run service-health service=till")
    assert "**till is well.**" in report
    assert not shop.asked
    assert "shop" in await room.report("run service-health service=shopp")


async def test_looks_of_another_channel_are_another_story(world: World) -> None:
    shop = await world.service()
    shop.status = 500
    room = await world.room(shop={"url": shop.url})
    await room.report(channel="C1")
    room.pass_time(5 * MINUTE)
    assert "down at the first look" in await room.report(channel="C2")
    assert "2 looks in a row" in await room.report(channel="C1")


async def test_without_a_service_set_up_the_report_says_how(world: World) -> None:
    room = await world.room()
    assert "There are no services to look at yet. Name them in hermes.toml" in await room.report()


async def test_without_the_extra_the_skill_says_what_to_install(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)  # as where it is not installed
    room = await world.room(shop={"url": "https://shop.example"})
    said = await room.report()
    missing = "Services cannot be looked at: pip install 'hermes-bot[web]'."
    assert f"service-health stopped at step look (check_services): {missing}" in said


async def test_slow_services_are_looked_at_side_by_side(world: World) -> None:
    meeting = asyncio.Barrier(8)

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        async with asyncio.timeout(10):
            await meeting.wait()
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")

    checks = {f"s{n}": {"url": await world.raw(meet)} for n in range(8)}
    room = await world.room(**checks)
    assert "**All 8 services are well.**" in await room.report()


async def test_a_run_that_looks_again_after_a_crash_leaves_one_look(world: World, tmp_path: Path) -> None:
    shop = await world.service()
    async with log_room(tmp_path, clock=world.clock) as room:
        checks = {"shop": HealthCheck(url=shop.url)}
        tool = health_tool(Services(checks, INNER), Ledger(room.db), room.zone)
        for status in (200, 503):
            shop.status = status
            where = replace(context(tmp_path, world.clock), state=a_run("r1"))
            came = await call(tool, {}, where)
            assert came.status == "ok", came
        rows = await room.db.read(lambda db: db.execute("SELECT run, ok FROM health_checks").fetchall())
        assert [tuple(row) for row in rows] == [("r1", 0)]


@pytest.mark.parametrize(
    ("text", "skill"),
    [
        ("are all services up?", "service-health"),
        ("which service is down?", "service-health"),
        ("when do our certificates expire?", "service-health"),
        ("sql report of the signups", "sql-report"),
        ("incident timeline of checkout and payments for the last 2 hours", "incident-timeline"),
        ("timeline since 9", "incident-timeline"),
        ("what happened to checkout yesterday?", "log-diagnosis"),
        ("why is checkout down?", "log-diagnosis"),
        ("how many orders did we have yesterday?", ""),
        ("check checkout", ""),
        ("what is the status?", ""),
    ],
)
def test_the_words_of_these_reports_call_them_and_no_other(text: str, skill: str) -> None:
    cards = read_registry([skills_dir()]).cards()
    found = match_skill(text, cards, known=("checkout", "payments"), threshold=1.0)
    assert (found[0] if found else "") == skill
