"""Knows what goes wrong on purpose: which call of which method fails, how, and how often."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Self

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

FaultKind = Literal[
    "rate_limited",  # 429 with Retry-After, not carried out
    "server_error",  # 5xx with an HTML body, not carried out
    "lost_answer",  # carried out, then the connection is closed
    "error_after",  # carried out, then 5xx
    "refuse",  # the platform's error ``error``/``description``, not carried out
    "slow",  # ``delay`` seconds, then as usual
    "hang",  # never answered, not carried out
    "garbage",  # 200 with HTML, not carried out
]

ALWAYS = -1  # for ``Fault.times``


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong with calls of a method.

    Attributes:
        method: an API method, or ``*`` for all.
        times: how many calls it hits; ``ALWAYS`` for all from then on.
        after: matching calls that come through first.
        retry_after: what ``rate_limited`` says to wait, in the platform's seconds: sent as it stands,
            whatever the simulator's ``speed``.
        where: hits calls for this channel only.
        error: the platform's code for ``refuse``: ``channel_not_found`` in Slack, ``400`` in Telegram.
        delay: seconds that ``slow`` waits.
    """

    method: str
    kind: FaultKind
    times: int = 1
    after: int = 0
    retry_after: float = 1.0
    where: str = ""
    error: str = ""
    description: str = ""
    delay: float = 0.0

    def matches(self, method: str, channel: str) -> bool:
        """Return whether it concerns this call."""
        return self.method in ("*", method) and self.where in ("", channel)


@dataclass(slots=True)
class _Armed:
    fault: Fault
    passed: int = 0
    hits: int = 0

    def is_spent(self) -> bool:
        return self.fault.times != ALWAYS and self.hits >= self.fault.times


class FaultPlan:
    """What goes wrong with API calls, in the order of adding.

    A plan can be extended while it is in use, and shared by no two simulators.
    """

    def __init__(self, *faults: Fault) -> None:
        self._armed = [_Armed(fault) for fault in faults]
        self._random: _Random | None = None
        self.hits: Counter[str] = Counter()
        """How often each kind hit."""

    @classmethod
    def seeded(
        cls,
        seed: int,
        methods: Collection[str],
        rate: float,
        kinds: Sequence[FaultKind] = ("rate_limited", "server_error", "lost_answer", "error_after"),
    ) -> Self:
        """Return a plan by which each call of ``methods`` fails with probability ``rate``.

        The same seed and the same row of calls give the same faults.
        """
        plan = cls()
        plan._random = _Random(random.Random(seed), frozenset(methods), rate, tuple(kinds))  # noqa: S311 - to be reproducible is the point
        return plan

    def add(self, fault: Fault) -> None:
        """Add a fault; its ``after`` counts from now."""
        self._armed.append(_Armed(fault))

    def clear(self) -> None:
        """Let everything succeed from now on."""
        self._armed.clear()
        self._random = None

    def take(self, method: str, channel: str) -> Fault | None:
        """Return what goes wrong with this call, or None; asked once for each call."""
        fault = self._planned(method, channel)
        if fault is None and self._random is not None:
            fault = self._random.draw(method)
        if fault is not None:
            self.hits[fault.kind] += 1
        return fault

    def _planned(self, method: str, channel: str) -> Fault | None:
        taken: Fault | None = None
        for armed in self._armed:
            if not armed.fault.matches(method, channel):
                continue
            armed.passed += 1
            if taken is None and armed.passed > armed.fault.after:
                armed.hits += 1
                taken = armed.fault
        if taken is not None:
            self._armed = [armed for armed in self._armed if not armed.is_spent()]
        return taken


@dataclass(frozen=True, slots=True)
class _Random:
    source: random.Random
    methods: frozenset[str]
    rate: float
    kinds: tuple[FaultKind, ...]

    def draw(self, method: str) -> Fault | None:
        if method not in self.methods and "*" not in self.methods:
            return None
        if self.source.random() >= self.rate:
            return None
        return Fault(method, self.source.choice(self.kinds))
