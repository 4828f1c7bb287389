"""Knows what of all the bad-looking messages is the incident: what changed, and what came first.

A message that comes at its usual rate before and after is noise however loud. What is left is ranked: known
causes before symptoms, early before late, severe before mild, much before little.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from hermes_bot.diagnosis.bursts import Stretch, Traffic, find_stretch
from hermes_bot.diagnosis.values import Finding, Level, Place, RuleHit, Template

CHANCE = 10.0
"""The gain below which a change of rate is taken for chance."""

_FEW = 5
_SEVERAL = 3
_ENDING = 20
_STRONG = 4
_STEPS = 2  # scores closer than half a point are no difference
_NEVER_HARMLESS = 6
_MOST_OF_IT = 0.25
_KEPT_EVIDENCE = 200
_KEPT_LATEST = 10
_MOST_CANDIDATES = 8
_NEAR = timedelta(seconds=60)
_BEFORE = timedelta(hours=2)
_FOLLOWS = timedelta(minutes=15)
_SHORT_LOG = 300
_LEVEL_SCORE = {Level.CRITICAL: 2.5, Level.ERROR: 2.0, Level.WARNING: 1.0}


@dataclass(frozen=True, slots=True)
class Span:
    """What was read, as far as it matters for judging a rate.

    Attributes:
        since: begin of the window asked about; what ended before it is another story.
        until: end of the window.
        traffic: when harmless records were written; None where nothing carries times that differ.
    """

    first: datetime | None
    last: datetime | None
    records: int
    since: datetime | None = None
    until: datetime | None = None
    traffic: Traffic | None = None


def find(templates: Sequence[Template], span: Span) -> tuple[tuple[Finding, ...], int]:
    """Rank what changed, best candidate first, and count the templates that are noise.

    An empty result means that nothing is wrong beyond the usual.
    """
    found = [_finding(group, span) for group in _grouped(templates)]
    changed = [f for f in found if f is not None and _in_window(f, span)]
    solid = [f for f in changed if f.solid]
    if not any(_opens(f, span) for f in solid):
        return (), len(found)
    anchor = _anchor(solid)
    related = [f for f in changed if (f.solid and _opens(f, span)) or _is_related(f, anchor)]
    scored = [replace(f, score=_score(f, anchor, related)) for f in related]
    ranked = sorted(scored, key=_rank)
    return tuple(ranked[:_MOST_CANDIDATES]), len(found) - len(changed)


def _rank(finding: Finding) -> tuple[float, float, str, int]:
    """Best first; of those hardly apart, what was logged first."""
    onset, file, line = _order(finding.first)
    return -round(finding.score * _STEPS), onset, file, line


def _grouped(templates: Iterable[Template]) -> list[list[Template]]:
    """Templates under one rule are one thing seen in several wordings; others stand alone."""
    groups: dict[str, list[Template]] = defaultdict(list)
    for index, template in enumerate(templates):
        groups[template.hit.rule.id if template.hit else f"#{index}"].append(template)
    return list(groups.values())


def _finding(group: list[Template], span: Span) -> Finding | None:
    """Tell when a group began to be more than noise; None where it is noise."""
    judged = [(template, _stretch(template, span)) for template in _with_few_joined(group)]
    loud = [pair for pair in judged if not _is_noise(*pair, span)]
    if not loud:
        return None
    evidence = sorted((p for t, s in loud for p in t.places[s.start : s.end]), key=_order)
    heads = sorted((p for t, s in loud for p in t.heads[s.start : s.end]), key=_order)
    lead = min(loud, key=lambda pair: _order(pair[0].heads[pair[1].start]))[0]
    level = max(t.level for t, _ in loud)
    gain = max(s.gain for _, s in loud)
    finding = Finding(
        template=lead.text,
        level=level,
        hit=_joined_hit([t for t, _ in loud]),
        onset=heads[0].at,
        last=heads[-1].at,
        first=heads[0],
        evidence=tuple(evidence[:_KEPT_EVIDENCE]),
        latest=tuple(evidence[-_KEPT_LATEST:]),
        heads=tuple(heads),
        count=sum(max(s.end - s.start, t.count - len(t.places)) for t, s in loud),
        outside=sum(t.count - (s.end - s.start) for t, s in loud),
        gain=gain,
        sample="\n".join(t.sample for t, _ in loud[:4]),
    )
    return replace(finding, solid=_is_solid(finding, span))


def _with_few_joined(group: list[Template]) -> list[Template]:
    """Rare wordings of one thing are judged together: many rare ones make a steady noise."""
    few = [template for template in group if template.count < _FEW]
    if len(few) < 2:  # noqa: PLR2004 - one is not joined with itself
        return group
    joined = replace(
        max(few, key=lambda template: template.count),
        level=max(template.level for template in few),
        places=tuple(sorted((p for template in few for p in template.places), key=_order)),
        heads=tuple(sorted((p for template in few for p in template.heads), key=_order)),
        count=sum(template.count for template in few),
    )
    return [*(template for template in group if template.count >= _FEW), joined]


def _joined_hit(templates: Sequence[Template]) -> RuleHit | None:
    """One wording names the victim, another the asker; the sentences may use both."""
    hits = [t.hit for t in templates if t.hit]
    if not hits:
        return None
    words = {name: word for hit in reversed(hits) for name, word in hit.words.items()}
    return replace(hits[0], words=words)


def _stretch(template: Template, span: Span) -> Stretch:
    if span.traffic is None:
        return Stretch(0, len(template.heads), 0.0)
    times = [p.at.timestamp() for p in template.heads if p.at is not None]
    if len(times) < len(template.heads):
        return Stretch(0, len(template.heads), 0.0)
    stretch = find_stretch(times, span.traffic)
    return stretch if stretch.gain >= CHANCE else Stretch(0, len(times), stretch.gain)


def _order(place: Place) -> tuple[float, str, int]:
    return (place.at.timestamp() if place.at else math.inf, place.file, place.line)


def _is_noise(template: Template, stretch: Stretch, span: Span) -> bool:
    """Steady messages are noise, unless the rule book says that they are hardly ever harmless."""
    if template.count < _FEW or (stretch.gain >= CHANCE and not stretch.recurs):
        return False
    rule = template.hit.rule if template.hit else None
    if rule is None or rule.kind == "symptom" or template.level < Level.WARNING:
        return True
    if stretch.recurs:
        return rule.weight < _STRONG
    is_most = template.count > span.records * _MOST_OF_IT
    return rule.weight < (_STRONG if is_most else _NEVER_HARMLESS)


def _is_solid(finding: Finding, span: Span) -> bool:
    """Whether a finding is more than a passing trifle."""
    if _weight(finding) >= _STRONG:
        return True
    if finding.gain >= CHANCE:
        return finding.gain >= _clear_gain(finding, span)
    return finding.hit is None and (
        finding.level >= Level.CRITICAL or (finding.level >= Level.ERROR and span.records < _SHORT_LOG)
    )


def _clear_gain(finding: Finding, span: Span) -> float:
    """A handful of errors that soon ended was a blip, unless they are hardly ever harmless."""
    if _weight(finding) >= _NEVER_HARMLESS:
        return CHANCE
    if finding.level < Level.ERROR and finding.hit is None:
        return 4 * CHANCE
    return CHANCE if _goes_on(finding, span) else 2.5 * CHANCE


def _goes_on(finding: Finding, span: Span) -> bool:
    """Whether something new was still happening when the log ends."""
    if finding.outside or finding.last is None or span.last is None or span.first is None:
        return False
    return span.last - finding.last <= (span.last - span.first) / _ENDING


def _opens(finding: Finding, span: Span) -> bool:
    """Whether a finding may be the reason to speak of an incident at all."""
    if span.records < _SHORT_LOG or finding.hit is None:
        return True
    if finding.gain >= CHANCE:
        return finding.gain >= _clear_gain(finding, span)
    weight = _weight(finding)
    several = finding.level >= Level.ERROR and finding.count >= _SEVERAL
    return weight >= _NEVER_HARMLESS or (weight == _NEVER_HARMLESS - 1 and several)


def _in_window(finding: Finding, span: Span) -> bool:
    """What ended before the window began is not what is asked about; what still goes on is."""
    if finding.last is None:
        return True
    return (span.since is None or finding.last >= span.since) and (
        span.until is None or finding.onset is None or finding.onset <= span.until
    )


def _anchor(solid: Sequence[Finding]) -> Finding:
    """The finding that marks when the incident is: the clearest change of rate."""
    return max(solid, key=lambda f: (f.gain, _weight(f), f.count))


def _weight(finding: Finding) -> int:
    return finding.hit.rule.weight if finding.hit and not finding.is_symptom else 0


def _is_related(finding: Finding, anchor: Finding) -> bool:
    if finding.onset is None or anchor.onset is None:
        return True
    end = anchor.last or anchor.onset
    return anchor.onset - _BEFORE <= finding.onset <= end


def _score(finding: Finding, anchor: Finding, others: Sequence[Finding]) -> float:
    score = _LEVEL_SCORE.get(finding.level, 0.0)
    score += -3.0 if finding.is_symptom else float(_weight(finding))
    score += min(3.0, finding.gain / 15)
    score += 0.5 if not finding.outside else 0.0
    return score + _time_score(finding, anchor) + _explains(finding, others)


def _time_score(finding: Finding, anchor: Finding) -> float:
    """Causes come first; what comes later than the clearest symptom can hardly be its cause."""
    if finding.onset is None or anchor.onset is None:
        return 0.0
    late = finding.onset - anchor.onset
    if late > _NEAR:
        return -min(3.0, late / timedelta(minutes=10))
    return 2.0 if -late <= _FOLLOWS else 0.0


def _explains(finding: Finding, others: Sequence[Finding]) -> float:
    """How much of what went wrong began soon after."""
    if finding.onset is None:
        return 0.0
    after = sum(
        other.count
        for other in others
        if other is not finding
        and other.onset is not None
        and timedelta(0) <= other.onset - finding.onset <= _FOLLOWS
    )
    return min(2.0, math.log10(1 + after))
