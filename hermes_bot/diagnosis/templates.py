"""Knows which records say the same: drain3 groups their masked text, the rule book names what is known."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from drain3.drain import Drain

from hermes_bot.diagnosis.levels import sounds_bad
from hermes_bot.diagnosis.masks import mask
from hermes_bot.diagnosis.rules import RuleBook
from hermes_bot.diagnosis.values import Level, Place, Record, RuleHit, Template

_KEPT_PLACES = 50_000
_MOST_TEXTS = 200_000
_MOST_CLUSTERS = 1_000
_OVERFLOW = 0
_GAP = "<*>"
_OVERFLOW_TEXT = "(one of very many different messages)"
_AGREEING = 6
_EXTRA_WORDS = 400


@dataclass(slots=True)
class _Group:
    stream: str
    level: Level
    hit: RuleHit | None
    sample: str
    places: list[Place] = field(default_factory=list)
    heads: list[Place] = field(default_factory=list)
    count: int = 0


@dataclass(frozen=True, slots=True)
class _Kind:
    """What one masked text turned out to be."""

    cluster: int
    hit: RuleHit | None
    suspicious: bool


class TemplateMiner:
    """Counts records by what they say. Harmless records are only counted, not kept.

    drain3's tree is used without its persistence and configuration: texts are masked before, and equal
    masked texts ask it once. A log so wild that it makes a thousand templates is left to the rule book from
    there on.
    """

    def __init__(self, rules: RuleBook) -> None:
        self._rules = rules
        self._drain = Drain(depth=5, sim_th=0.5, max_children=100)
        self._kinds: dict[tuple[str, Level], _Kind] = {}
        self._groups: dict[tuple[str, int, Level, str], _Group] = {}
        self._hits: dict[tuple[int, Level], list[RuleHit | None]] = {}
        self._texts: dict[int, str] = {_OVERFLOW: _OVERFLOW_TEXT}

    def add(self, record: Record) -> Literal["harmless", "suspicious", "error"]:
        """Count a record and tell what it is; an error is what calls itself one, or a known fault."""
        level = record.level
        head = speaking_text(record)
        kind = self._kind(head, record, known=level >= Level.WARNING)
        if not kind.suspicious:
            return "harmless"
        if level == Level.NONE:
            level = Level.WARNING
        rule_id = kind.hit.rule.id if kind.hit else ""
        key = (record.stream, kind.cluster, level, rule_id)
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = _Group(record.stream, level, kind.hit, record.message)
        group.count += 1
        if len(group.places) < _KEPT_PLACES:
            self._keep(group, record)
        return "error" if level >= Level.ERROR or kind.hit is not None else "suspicious"

    def _keep(self, group: _Group, record: Record) -> None:
        head = Place(record.file, record.line, record.at)
        group.heads.append(head)
        if group.hit is None or len(record.lines) == 1:
            group.places.append(head)
            return
        offset = self._rules.locate(group.hit.rule, record.message)
        group.places.append(
            Place(record.file, record.lines[min(offset, len(record.lines) - 1)].number, record.at)
        )

    def _kind(self, head: str, record: Record, *, known: bool) -> _Kind:
        masked = mask(head)
        kind = self._kinds.get((masked, record.level))
        if kind is None:
            kind = self._learn(masked, record, known=known)
            if len(self._kinds) < _MOST_TEXTS:
                self._kinds[masked, record.level] = kind
        return kind

    def _learn(self, masked: str, record: Record, *, known: bool) -> _Kind:
        # What calls itself debug is for its programmers, whatever words it uses.
        looks_bad = known or (record.level != Level.DEBUG and sounds_bad(record.message))
        if not looks_bad:
            return _Kind(_OVERFLOW, None, suspicious=False)
        if self._drain.clusters_counter >= _MOST_CLUSTERS:
            hit = self._rules.match(record.message)
            return _Kind(_OVERFLOW, hit, suspicious=known or hit is not None)
        cluster, _ = self._drain.add_log_message(masked)
        self._texts[cluster.cluster_id] = cluster.get_template()
        hit = self._verdict(cluster.cluster_id, record)
        if hit is not None and hit.rule.kind == "noise":
            return _Kind(_OVERFLOW, None, suspicious=False)
        suspicious = known or hit is not None or record.level == Level.NONE
        return _Kind(cluster.cluster_id, hit, suspicious=suspicious)

    def _verdict(self, cluster: int, record: Record) -> RuleHit | None:
        """Ask the rule book about a record, until the first texts of its template have agreed."""
        hits = self._hits.setdefault((cluster, record.level), [])
        if len(hits) >= _AGREEING and len({hit.rule.id if hit else "" for hit in hits}) == 1:
            return hits[0]
        hit = self._rules.match(record.message)
        if len(hits) < _AGREEING:
            hits.append(hit)
        return hit

    def templates(self) -> list[Template]:
        """Give what was counted, each with its places in order of time."""
        return [_template(text, parts) for text, parts in self._alike()]

    def _alike(self) -> Iterator[tuple[str, list[_Group]]]:
        """Put the groups together that one template with gaps covers.

        drain3 keeps messages apart that differ in their first words, until there are too many; from then on
        they look like something new.
        """
        kinds: dict[tuple[str, Level, str, int], list[tuple[list[str], _Group]]] = {}
        for key, group in self._groups.items():
            if key[1] != _OVERFLOW or group.hit:
                words = self._texts[key[1]].split(" ")
                kinds.setdefault((*key[0:1], *key[2:], len(words)), []).append((words, group))
        for members in kinds.values():
            rest = sorted(members, key=lambda member: -member[0].count(_GAP))
            while rest:
                words = rest[0][0]
                yield " ".join(words), [group for other, group in rest if _covers(words, other)]
                rest = [member for member in rest if not _covers(words, member[0])]


def _covers(template: list[str], words: list[str]) -> bool:
    return all(mine in (_GAP, other) for mine, other in zip(template, words, strict=True))


def _template(text: str, groups: list[_Group]) -> Template:
    first = groups[0]
    return Template(
        stream=first.stream,
        text="".join(c for c in text if c.isprintable()),
        level=first.level,
        hit=first.hit,
        places=_by_time(place for group in groups for place in group.places),
        heads=_by_time(place for group in groups for place in group.heads),
        count=sum(group.count for group in groups),
        sample=first.sample,
    )


def _by_time(places: Iterable[Place]) -> tuple[Place, ...]:
    return tuple(sorted(places, key=_instant))


def _instant(place: Place) -> float:
    return place.at.timestamp() if place.at else 0.0


def speaking_text(record: Record) -> str:
    """The head line, and what a trace says besides its frames: its exceptions."""
    head, _, rest = record.message.partition("\n")
    if not rest:
        return head
    said = [line for line in rest.split("\n") if line and line[0] not in " \t"]
    return head + " " + " ".join(said)[:_EXTRA_WORDS]
