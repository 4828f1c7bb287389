"""Knows what is said of a look at a service: how it stands, since when, what changed, what is usual."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from hermes_bot.messages import Json
from hermes_bot.skills.expanding import ITEMS
from hermes_bot.tools.moments import Moments, lasting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_bot.sections import HealthCheck
    from hermes_bot.store.health import Before
    from hermes_bot.web import Look

LOOKED_BACK = timedelta(days=7)
Grade = Literal["down", "warning", "back", "well"]

_ORDER: dict[Grade, int] = {"down": 0, "warning": 1, "back": 2, "well": 3}
_UNSTEADY = 5  # changes in the last looks
_SETTLED = 3  # looks alike, after which it is as it is, however often it changed before
_DAYS_LEFT = (1, 3, 7)  # of a certificate: each is news once
_HOUR = 3_600
NONE = "\N{EN DASH}"  # of what is not known
_MOST_HOURS = 24 * 7


@dataclass(frozen=True)  # no slots: what is worked out is kept
class Checked:
    """One service, as it is now and was before."""

    name: str
    check: HealthCheck
    seen: Look
    before: Before
    now: datetime

    @cached_property
    def since(self) -> datetime:
        """Since when it is well, or is not."""
        return self.before.same_since or self.now if self._is_as_before else self.now

    @property
    def looks(self) -> int:
        """How many looks in a row ended like this one, this one included."""
        return self.before.same + 1 if self._is_as_before else 1

    @property
    def _is_as_before(self) -> bool:
        return self.before.last is not None and self.before.last.ok == self.seen.is_well

    @property
    def turned(self) -> bool:
        """Whether it was otherwise at the look before."""
        return self.before.last is not None and not self._is_as_before

    @cached_property
    def changes(self) -> int:
        """How often it turned in the last looks."""
        return sum(one != other for one, other in pairwise((*self.before.recent, self.seen.is_well)))

    @property
    def is_unsteady(self) -> bool:
        """Whether it comes and goes."""
        return self.changes >= _UNSTEADY and self.looks < _SETTLED

    @property
    def is_slow(self) -> bool:
        """Whether it took longer than it should."""
        limit = self.check.warn_latency_ms
        return self.seen.is_well and bool(limit) and self.seen.latency_ms > limit

    @property
    def days_left(self) -> int | None:
        """How many whole days its certificate has left; None where none was shown."""
        ends = self.seen.expires_at
        return None if ends is None else (ends - self.now) // timedelta(days=1)

    @property
    def ends_soon(self) -> bool:
        """Whether its certificate ends within the time of which people want to be warned."""
        left = self.days_left
        return left is not None and left < self.check.warn_cert_days

    @property
    def grade(self) -> Grade:
        """How it stands."""
        if not self.seen.is_well:
            return "down"
        if self.is_slow or self.ends_soon or self.is_unsteady:
            return "warning"
        return "back" if self.turned else "well"

    @property
    def order(self) -> tuple[int, datetime, str]:
        """Worst first, and of these the longest."""
        return _ORDER[self.grade], self.since, self.name

    @property
    def state(self) -> str:
        """How it stands, for a table."""
        if not self.seen.is_well:
            return "BAD CERTIFICATE" if self.seen.trouble == "certificate" else "DOWN"
        signs = [("slow", self.is_slow), ("certificate", self.ends_soon), ("unsteady", self.is_unsteady)]
        return ", ".join(word for word, holds in signs if holds) or "ok"

    @property
    def counts(self) -> list[Json]:
        """What of it makes a change: how it stands and why, and no figure that differs each time."""
        if self.is_unsteady:
            return [self.name, "unsteady"]
        if not self.seen.is_well:
            return [self.name, "down", self.seen.trouble]
        left = self.days_left if self.ends_soon else None
        step = next(
            (days for days in _DAYS_LEFT if left is not None and left < days),
            "soon" if self.ends_soon else "",
        )
        return [self.name, "slow" if self.is_slow else "", step]


def told(checked: Sequence[Checked], zone_show: Moments, named: str = "") -> dict[str, Json]:
    """Return what a report's template and "expand item 2" read, worst first; times in words."""
    ordered = sorted(checked, key=lambda one: one.order)
    grades = Counter(one.grade for one in ordered)
    states: list[Json] = [one.counts for one in sorted(ordered, key=lambda one: one.name)]
    return {
        "verdict": _verdict(ordered, grades) if ordered else NOTHING_SET_UP,
        "total": len(ordered),
        "down": grades["down"],
        "warnings": grades["warning"],
        "service": named,
        ITEMS: [_item(number, one, zone_show) for number, one in enumerate(ordered, 1)],
        "has_certificates": any(one.seen.expires_at for one in ordered),
        "zone": zone_show.zone.key,
        "states": states,
    }


NOTHING_SET_UP = (
    "There are no services to look at yet. Name them in hermes.toml, each in a section such as "
    '`[health.checks.shop]` with `url = "https://shop.example/health"`.'
)


def _verdict(ordered: Sequence[Checked], grades: Counter[Grade]) -> str:
    number, down, warned = len(ordered), grades["down"], grades["warning"]
    if not down and not warned:
        return f"{ordered[0].name} is well." if number == 1 else f"All {number} services are well."
    if number == 1:
        return f"{ordered[0].name} is down." if down else f"{ordered[0].name} is up, and to look at."
    parts = [f"{down} of {number} services {'is' if down == 1 else 'are'} down"] if down else []
    if warned:
        parts.append(
            f"{warned} to look at" if down else f"{warned} of {number} services to look at, none down"
        )
    return f"{', '.join(parts)}."


def _item(number: int, one: Checked, show: Moments) -> dict[str, Json]:
    return {
        "number": number,
        "name": one.name,
        "label": f"{one.name}: {one.state}",
        "state": one.state,
        "grade": one.grade,
        "sentence": _sentence(one, show),
        "latency": f"{one.seen.latency_ms:,}" if one.seen.status else NONE,
        "usual": _usual(one.before.latencies),
        "certificate": NONE if one.days_left is None else f"{one.days_left} d",
        "text": f"{one.check.method} {_address(one.check.url)}",
        "facts": _facts(one, show),
        "counts": _fails(one.before.fails, show),
        "counts_title": "Looks that did not find it well, by hour",
    }


def _sentence(one: Checked, show: Moments) -> str:
    """Return what is to be said of it; empty where all is as it should be."""
    parts = [_standing(one, show)] if not one.seen.is_well else _warnings(one, show)
    if one.turned and one.seen.is_well and one.before.same_since is not None:
        parts.insert(0, f"back after {lasting(one.now - one.before.same_since)}")
    if one.is_unsteady:
        parts.append(
            f"it comes and goes: {one.changes} changes in the last {len(one.before.recent) + 1} looks"
        )
    return "; ".join(parts)


def _standing(one: Checked, show: Moments) -> str:
    since = f"down since {show.short(one.since)}, {one.looks} looks in a row"
    if one.looks == 1:
        since = f"down since {show.short(one.since)}, new" if one.turned else "down at the first look"
    ended = one.before.expires_at
    is_over = one.seen.trouble == "certificate" and ended is not None and ended <= one.now
    when = f", it ended {show.short(ended)}" if is_over else ""
    return f"{since}: {one.seen.why}{when}"


def _warnings(one: Checked, show: Moments) -> list[str]:
    said = []
    if one.is_slow:
        limit = one.check.warn_latency_ms
        said.append(f"slow: {one.seen.latency_ms:,} ms, more than {limit:,} ms")
    if one.ends_soon and one.seen.expires_at is not None:
        left = one.days_left or 0
        when = f"in {_days(left)}" if left else "today"
        said.append(f"its certificate ends {when}, {show.short(one.seen.expires_at)}")
    return said


def _usual(latencies: Sequence[int]) -> str:
    if not latencies:
        return NONE
    return f"{percentile(latencies, 50):,}/{percentile(latencies, 95):,}"


def percentile(values: Sequence[int], per_cent: int) -> int:
    """Return the smallest of sorted values that so many of them do not exceed (nearest rank)."""
    return values[max(0, -(-per_cent * len(values) // 100) - 1)]


def _days(left: int) -> str:
    return f"{left} {'day' if left == 1 else 'days'}"


def _address(url: str) -> str:
    """Return an address without its query, which may hold a key."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path}" + ("?…" if parts.query else "")


def _facts(one: Checked, show: Moments) -> list[Json]:
    """Return what is to be said of a service beside the table, in sentences."""
    seen, facts = one.seen, list[Json]()
    if one.looks > 1:
        standing = "Well" if seen.is_well else "Down"
        facts.append(f"{standing} since {show.long(one.since)}, {one.looks:,} looks in a row")
    if not seen.is_well:
        facts.append(f"{seen.why[:1].upper()}{seen.why[1:]}")
    if seen.status:
        hops = f", after {seen.redirects} {'redirect' if seen.redirects == 1 else 'redirects'}"
        facts.append(
            f"Status {seen.status}, first byte after {seen.latency_ms:,} ms, of which {seen.connect_ms:,} ms "
            f"to connect{hops if seen.redirects else ''}"
        )
    if one.before.looks:
        well = 100 * (one.before.looks - len(one.before.fails)) / one.before.looks
        facts.append(f"In the last 7 days {one.before.looks:,} looks, {well:.4g} % found it well")
    if usual := one.before.latencies:
        half, most = percentile(usual, 50), percentile(usual, 95)
        facts.append(f"Half of its answers were there within {half:,} ms, 95 % within {most:,} ms")
    if one.changes:
        facts.append(f"{one.changes} changes in the last {len(one.before.recent) + 1} looks")
    if seen.expires_at:
        facts.append(f"Its certificate ends {show.long(seen.expires_at)} ({_days(one.days_left or 0)} left)")
    return facts


def _fails(fails: Sequence[datetime], show: Moments) -> list[Json]:
    hours = Counter(int(at.timestamp()) // _HOUR for at in fails)
    return [[show.hour(hour * _HOUR), count] for hour, count in sorted(hours.items())[-_MOST_HOURS:]]
