"""Knows how to tell a change of rate from noise: a scan for the stretch that is most over the usual rate.

The score is the log-likelihood ratio of two constant rates (inside and outside the stretch) against one, as
in Kulldorff's scan statistic (1997).
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

_BINS = 120
_TRAFFIC_LEAST = 100
_REACH = 2.0
_CLEAR_RATIO = 2.5
_PEER_SHARE = 0.5
_LEAST = 3
_SHORT_PAUSES = 20  # pauses under a twentieth of the time say nothing
_LONGER = 1.3


@dataclass(frozen=True, slots=True)
class Stretch:
    """Where events are dense: indices into the sorted times, end exclusive.

    Attributes:
        gain: log-likelihood ratio; what chance gives lies under about 10.
        recurs: whether such stretches come again and again, so that this one is no change.
    """

    start: int
    end: int
    gain: float
    recurs: bool = False


class Traffic:
    """How much harmless traffic there was when: what follows its ups and downs is no change."""

    def __init__(self, times: Iterable[float], since: float, until: float) -> None:
        """Count times (seconds) between two of them."""
        self.since = since
        self.length = until - since
        counts = Counter(self.bin(time) for time in times)
        self._before = [0, *accumulate(counts[place] for place in range(_BINS))]

    def bin(self, time: float) -> int:
        """Tell which of the equal parts of the whole time an instant lies in."""
        return min(max(int((time - self.since) / self.length * _BINS), 0), _BINS - 1)

    def share(self, first: int, last: int) -> float:
        """Give the share of the whole that some parts have, by time or by traffic, whichever is more."""
        by_time = (last - first + 1) / _BINS
        total = self._before[-1]
        if total < _TRAFFIC_LEAST:
            return by_time
        return max(by_time, (self._before[last + 1] - self._before[first]) / total)


def find_stretch(times: Sequence[float], traffic: Traffic) -> Stretch:
    """Find the stretch of sorted times (seconds) that stands out most from the rate of the whole."""
    total = len(times)
    if total < _LEAST:
        return Stretch(0, total, 0.0)
    firsts, ends = _filled_bins(times, traffic)
    best = Stretch(0, total, 0.0)
    for start, first in firsts.items():
        for end, last in ends.items():
            if end < start:
                continue
            gain = _gain(last - first, total, traffic.share(start, end))
            if gain > best.gain:
                best = Stretch(first, last, gain)
    return _discounted(_widened(best, times), times, traffic)


def _filled_bins(times: Sequence[float], traffic: Traffic) -> tuple[dict[int, int], dict[int, int]]:
    """Give each filled bin's first index, and the index after its last."""
    firsts: dict[int, int] = {}
    ends: dict[int, int] = {}
    for index, time in enumerate(times):
        place = traffic.bin(time)
        firsts.setdefault(place, index)
        ends[place] = index + 1
    return firsts, ends


def _gain(inside: int, total: int, share: float) -> float:
    outside = total - inside
    # In much traffic the daily ups and downs are significant too, but small.
    if share >= 1 or inside / share < _CLEAR_RATIO * outside / (1 - share):
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


def _discounted(best: Stretch, times: Sequence[float], traffic: Traffic) -> Stretch:
    """Noise that comes in clumps all day is no change, though each clump and any few of them stand out."""
    if _has_peers(best, times, traffic) or _is_no_longer_quiet_around(best, times, traffic):
        return Stretch(best.start, best.end, best.gain, recurs=True)
    return best


def _has_peers(best: Stretch, times: Sequence[float], traffic: Traffic) -> bool:
    """Whether outside the stretch there are several bins about as full as its fullest."""

    def fullness(part: Sequence[float]) -> Counter[int]:
        return Counter(traffic.bin(time) for time in part)

    peak = max(fullness(times[best.start : best.end]).values(), default=0)
    outside = fullness([*times[: best.start], *times[best.end :]])
    return peak > 1 and sum(count >= peak * _PEER_SHARE for count in outside.values()) >= _LEAST


def _is_no_longer_quiet_around(best: Stretch, times: Sequence[float], traffic: Traffic) -> bool:
    """Whether the pauses inside the stretch are as long as the quiet before and after it."""
    inside = times[best.start : best.end]
    pause = max((later - earlier for earlier, later in pairwise(inside)), default=0.0)
    before = inside[0] - (times[best.start - 1] if best.start else traffic.since)
    end = traffic.since + traffic.length
    after = (times[best.end] if best.end < len(times) else end) - inside[-1]
    return pause > traffic.length / _SHORT_PAUSES and max(before, after) < pause * _LONGER
