"""Knows what a digest says of counted lines: what is new, what grew, what went quiet, in which order."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hermes_bot.diagnosis.counting import HOUR, LAST_LINES, UNTIMED
from hermes_bot.diagnosis.quotes import cut
from hermes_bot.diagnosis.rules import rule_book
from hermes_bot.diagnosis.values import Level, Quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from hermes_bot.diagnosis.counting import Count, Span, Spotted, Tally, Wording

MANY = "many different messages"
_GAP = "<*>"
_ALIKE = 3  # texts that differ in one and the same word are shown as one
_FEWEST_WORDS = 4  # below which two texts that differ in one word say different things
_GREW, _FELL = 1.5, 2 / 3
_LEAST_CHANGE = 3  # lines that a count must differ by before it is called a change
_LEAST_QUIET = 3  # lines that must have been there before their absence is worth a word
_NEW_COUNTS = 20  # times as much as what is known
_BARS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class Earlier:
    """What is known of a source from earlier digests.

    Attributes:
        firsts: when each wording was first seen, by key.
        hours: counts of the window before by key and hour, for logs that no longer reach back there.
        texts: the wordings, by key.
        since: from when on something is known of the source; None where nothing is.
    """

    firsts: Mapping[str, datetime] = field(default_factory=dict)
    hours: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    texts: Mapping[str, Wording] = field(default_factory=dict)
    since: datetime | None = None

    def reaches(self, at: datetime) -> bool:
        """Whether anything that far back would be known."""
        return self.since is not None and self.since <= at


@dataclass(frozen=True, slots=True)
class Item:
    """What one entry of a digest rests on: a wording, or several that differ in one word.

    Attributes:
        count: lines in the window; ``before`` in the one before, None where nothing is known of that.
        is_new: nothing like it was seen before the window, where there is anything to compare with.
        hours: lines in the window by hours since 1970.
        quotes: lines of the window, the first and the last ones.
        files: lines in the window by file.
        keys: of the wordings it is made of.
    """

    source: str
    text: str
    level: Level
    label: str
    count: int
    before: int | None
    is_new: bool
    first_at: datetime | None
    last_at: datetime | None
    hours: Mapping[int, int]
    quotes: tuple[Quote, ...]
    files: Mapping[str, int]
    keys: tuple[str, ...] = ()

    @property
    def trend(self) -> str:
        """How it changed against the window before, in a word or two; empty where that is not known."""
        return "" if self.before is None or self.is_new else trend(self.count, self.before)


@dataclass(frozen=True, slots=True)
class Quiet:
    """A wording of the window before that is in this one no more."""

    source: str
    text: str
    level: Level
    before: int


@dataclass(frozen=True, slots=True)
class Told:
    """What a source's lines of a window say.

    Attributes:
        items: the weightiest first; ``quiet``: what was there before and is no more, the loudest first.
        before: all lines of the window before; None where nothing is known of it.
    """

    items: tuple[Item, ...]
    quiet: tuple[Quiet, ...]
    before: int | None


def trend(count: int, before: int) -> str:
    """Say how a count changed: grew by which factor, fell from what, or is steady."""
    if not before:
        return "↑ from none" if count else "steady"
    ratio = count / before
    if abs(count - before) < _LEAST_CHANGE or _FELL < ratio < _GREW:
        return "steady"
    if ratio < 1:
        return f"↓ from {before:,}"
    factor = f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}".removesuffix(".0")  # noqa: PLR2004
    return f"↑ ×{factor}"  # noqa: RUF001 - the sign itself


def bars(counts: Sequence[int]) -> str:
    """Draw counts as bars of one character each; the lowest stands for none."""
    most = max(counts, default=0)
    steps = len(_BARS) - 1
    return "".join(_BARS[0 if not one else max(1, round(one / most * steps))] for one in counts)


def items_of(source: str, found: Count, span: Span, earlier: Earlier) -> Told:
    """Return what a source's lines of the window say."""
    before = _before(found, span, earlier)
    knows = found.reaches_back or earlier.reaches(span.since)
    firsts = {key: _first(tally, earlier) for key, tally in found.tallies.items()}
    known = {key for key, first in firsts.items() if first is not None and first <= span.since}
    known |= {key for key, first in earlier.firsts.items() if first <= span.since}
    groups = grouped({**earlier.texts, **{key: one.wording for key, one in found.tallies.items()}}, known)
    items, quiet = [], []
    for text, keys in groups:
        tallies = [found.tallies[key] for key in keys if key in found.tallies]
        was = sum(before.get(key, 0) for key in keys) if before is not None else None
        if any(one.inside for one in tallies):
            is_new = knows and not known.intersection(keys)
            seen = [first for key in keys if (first := firsts.get(key) or earlier.firsts.get(key))]
            items.append(_item(source, text, tallies, was, min(seen, default=None), is_new=is_new))
        elif was is not None and was >= _LEAST_QUIET:
            level = max((one.wording.level for one in tallies), default=None)
            quiet.append(Quiet(source, text, level or earlier.texts[keys[0]].level, was))
    loudest = sorted(quiet, key=lambda one: (-one.before, one.text))
    total = sum(before.values()) if before is not None else None
    return Told(tuple(sorted(items, key=weight)), tuple(loudest), total)


def weight(item: Item) -> tuple[bool, int, str]:
    """Return what items are put in order by: errors first, then how often, where what is new counts more."""
    return item.level < Level.ERROR, -item.count * (_NEW_COUNTS if item.is_new else 1), item.text


def _before(found: Count, span: Span, earlier: Earlier) -> Mapping[str, int] | None:
    """Return the counts of the window before by key; None where nothing is known of it."""
    if not found.is_timed:
        return None
    if found.covers_before:
        return {key: tally.before for key, tally in found.tallies.items()}
    if earlier.reaches(span.before):
        stored = {key: sum(hours.values()) for key, hours in earlier.hours.items()}
        return {key: max(stored.get(key, 0), one.before) for key, one in found.tallies.items()} | {
            key: count for key, count in stored.items() if key not in found.tallies
        }
    return None


def merged(key: str, found: Count, earlier: Earlier) -> Mapping[int, int]:
    """Return the counts of a wording by hour, as they were read now or kept before, whichever is more."""
    hours = Counter(earlier.hours.get(key, {}))
    if (tally := found.tallies.get(key)) is not None:
        hours |= tally.hours
    return hours


def _first(tally: Tally, earlier: Earlier) -> datetime | None:
    """Return when a wording was first seen, as far as is known."""
    seen = [at for at in (earlier.firsts.get(tally.wording.key), tally.first_at) if at is not None]
    return min(seen, default=None)


# --- texts that are shown as one ------------------------------------------------------------------


def grouped(texts: Mapping[str, Wording], known: set[str]) -> list[tuple[str, list[str]]]:
    """Put together the wordings of one level that differ in one and the same word, three or more of them.

    Known ones first, so that what is new makes nothing known look new; what is new joins them where it fits.
    """
    groups: list[tuple[str, list[str]]] = []
    rest = dict(texts)
    for part in (known, texts.keys()):
        for text, keys in _families({key: one for key, one in rest.items() if key in part}):
            members = [key for key in keys if key in rest]
            if members and part is known:
                members += _fitting(text, members, rest)
            for key in members:
                del rest[key]
            groups += [(text, members)] if members else []
    return groups + [(wording.text, [key]) for key, wording in rest.items()]


def _families(texts: Mapping[str, Wording]) -> Iterable[tuple[str, list[str]]]:
    """Yield the groups of at least three, the largest first; no text is in two."""
    holed: dict[tuple[Level, str], list[str]] = defaultdict(list)
    for key, wording in texts.items():
        words = wording.text.split(" ")
        if len(words) >= _FEWEST_WORDS:
            for place in range(len(words)):
                holed[wording.level, " ".join((*words[:place], _GAP, *words[place + 1 :]))].append(key)
    taken: set[str] = set()
    for (_, text), keys in sorted(holed.items(), key=lambda one: (-len(one[1]), one[0])):
        free = [key for key in keys if key not in taken]
        if len(free) >= _ALIKE:
            taken.update(free)
            yield text, free


def _fitting(text: str, keys: Sequence[str], texts: Mapping[str, Wording]) -> list[str]:
    """Return what else a text with a gap covers."""
    level, (head, _, tail) = texts[keys[0]].level, text.partition(_GAP)
    size = text.count(" ")
    return [
        key
        for key, one in texts.items()
        if key not in keys
        and one.level == level
        and one.text.count(" ") == size
        and one.text.startswith(head)
        and one.text.endswith(tail)
    ]


# --- one item -------------------------------------------------------------------------------------


def _item(
    source: str,
    text: str,
    tallies: Sequence[Tally],
    before: int | None,
    first_at: datetime | None,
    *,
    is_new: bool,
) -> Item:
    inside = [one for one in tallies if one.inside]
    hit = next((one.wording.rule for one in inside if one.wording.rule), None)
    lines = [line for one in inside for line in (*one.first, *one.last)]
    hours, files = Counter[int](), Counter[str]()
    for one in inside:
        hours.update(one.inside)
        files.update(one.files)
    about = rule_book().pattern(hit.rule) if hit else None
    quotes = (Quote(line.file, line.line, cut(line.text, about)) for line in ends(lines))
    return Item(
        source=source,
        text=text,
        level=max(one.wording.level for one in inside),
        label=hit.rule.label if hit else MANY if any(one.wording.is_wide for one in inside) else "",
        count=sum(one.inside.total() for one in inside),
        before=before,
        is_new=is_new,
        first_at=first_at,
        last_at=max((line.at for line in lines if line.at), default=None),
        hours=hours,
        quotes=tuple(one for one in quotes if one.text),
        files=files,
        keys=tuple(one.wording.key for one in tallies),
    )


def ends(lines: Sequence[Spotted]) -> list[Spotted]:
    """Return the first and the last of some lines in the order of their times, 20 at most."""
    ordered = sorted(lines, key=lambda one: (one.at.timestamp() if one.at else 0.0, one.file, one.line))
    most = LAST_LINES + 5
    return ordered if len(ordered) <= most else [*ordered[:5], *ordered[-LAST_LINES:]]


def hours_between(span: Span) -> range:
    """Return the hours that a window touches."""
    return range(int(span.since.timestamp()) // HOUR, int(span.until.timestamp()) // HOUR + 1)


def by_hour(items: Iterable[Item], span: Span) -> list[tuple[int, int]]:
    """Return how many lines of the window were read in each hour that it touches."""
    total = Counter[int]()
    for one in items:
        total.update(one.hours)
    del total[UNTIMED]
    return [(hour, total[hour]) for hour in hours_between(span)] if total else []
