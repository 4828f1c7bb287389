"""Knows how to tell a change of rate from noise: a scan for the stretch that is most over the usual rate.

The score is the log-likelihood ratio of two constant rates (inside and outside the stretch) against one, as
in Kulldorff's scan statistic (1997).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

_BINS = 120
_REACH = 2.0
_RECURRING_SHARE = 0.5
_RECURRING_LEAST = 3


@dataclass(frozen=True, slots=True)
class Stretch:
    """Where events are dense: indices into the sorted times, end exclusive.

    Attributes:
        gain: log-likelihood ratio; what chance gives lies under about 10.
    """

    start: int
    end: int
    gain: float


def find_stretch(times: Sequence[float], since: float, until: float) -> Stretch:
    """Find the stretch of sorted times (seconds) that stands out most from the rate in ``[since, until]``."""
    total = len(times)
    length = until - since
    if total < _RECURRING_LEAST or length <= 0:
        return Stretch(0, total, 0.0)
    firsts, ends = _filled_bins(times, since, length)
    best = Stretch(0, total, 0.0)
    for start, first in firsts.items():
        for end, last in ends.items():
            if end < start:
                continue
            gain = _gain(last - first, total, (end - start + 1) / _BINS)
            if gain > best.gain:
                best = Stretch(first, last, gain)
    return _discounted(_widened(best, times), times, since, length)


def _filled_bins(
    times: Sequence[float], since: float, length: float
) -> tuple[dict[int, int], dict[int, int]]:
    """Give each filled bin's first index, and the index after its last."""
    firsts: dict[int, int] = {}
    ends: dict[int, int] = {}
    for index, time in enumerate(times):
        place = min(max(int((time - since) / length * _BINS), 0), _BINS - 1)
        firsts.setdefault(place, index)
        ends[place] = index + 1
    return firsts, ends


def _gain(inside: int, total: int, share: float) -> float:
    outside = total - inside
    if share >= 1 or inside / share <= outside / (1 - share):
        return 0.0
    gain = inside * math.log(inside / (total * share))
    if outside:
        gain += outside * math.log(outside / (total * (1 - share)))
    return gain


def _widened(stretch: Stretch, times: Sequence[float]) -> Stretch:
    """Take in the neighbours that the bins' edges cut off: those hardly further than the events inside."""
    start, end = stretch.start, stretch.end
    reach = _REACH * (times[end - 1] - times[start]) / max(1, end - start - 1)
    while start > 0 and times[start] - times[start - 1] <= reach:
        start -= 1
    while end < len(times) and times[end] - times[end - 1] <= reach:
        end += 1
    return Stretch(start, end, stretch.gain)


def _discounted(best: Stretch, times: Sequence[float], since: float, length: float) -> Stretch:
    """Noise that comes in clumps all day has its peers outside the stretch; then the peak means little."""
    counts: dict[int, int] = {}
    for time in (*times[: best.start], *times[best.end :]):
        place = int((time - since) / length * _BINS)
        counts[place] = counts.get(place, 0) + 1
    inside: dict[int, int] = {}
    for time in times[best.start : best.end]:
        place = int((time - since) / length * _BINS)
        inside[place] = inside.get(place, 0) + 1
    peak = max(inside.values(), default=0)
    peers = sum(count >= peak * _RECURRING_SHARE for count in counts.values())
    if peers >= _RECURRING_LEAST and peak > 1:
        return Stretch(best.start, best.end, best.gain * 0.3)
    return best
