"""Knows what lies behind a diagnosis: of each finding its first and last lines and its counts over time.

Everything is bounded, so that it can be kept in a journal row and written into a file.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hermes_bot.diagnosis.quotes import quote_places
from hermes_bot.diagnosis.rules import rule_book
from hermes_bot.diagnosis.values import Exhibit, iso_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hermes_bot.diagnosis.selection import LogQuery
    from hermes_bot.diagnosis.values import Finding, Findings, LogFile, Place, Quote, Report, Template

_FIRST, _LAST = 5, 3
_MOST_SPELLS = 120
_MOST_TEMPLATES = 60
_MOST_FILES = 100
_TEMPLATE_LENGTH = 160
_STEPS = (1, 5, 15, 60, 6 * 60, 24 * 60, 30 * 24 * 60)  # minutes


def exhibits_of(findings: Findings, files: Iterable[LogFile]) -> tuple[Exhibit, ...]:
    """Quote each finding's first and last lines, all read again in one pass over their files."""
    chosen = [(finding, *_ends(finding)) for finding in findings.candidates]
    places = [
        (place, rule_book().pattern(finding.hit.rule) if finding.hit else None)
        for finding, first, last in chosen
        for place in (*first, *last)
    ]
    quotes = {(quote.file, quote.line): quote for quote in quote_places(places, files)}
    return tuple(
        Exhibit(finding, _quoted(first, quotes), _quoted(last, quotes)) for finding, first, last in chosen
    )


def _ends(finding: Finding) -> tuple[list[Place], list[Place]]:
    first = list({(place.file, place.line): place for place in finding.evidence}.values())[:_FIRST]
    last = {(place.file, place.line): place for place in finding.latest if place not in first}
    return first, list(last.values())[-_LAST:]


def _quoted(places: Iterable[Place], quotes: Mapping[tuple[str, int], Quote]) -> tuple[Quote, ...]:
    found = (quotes.get((place.file, place.line)) for place in places)
    return tuple(quote for quote in found if quote is not None)


def exhibits_dict(report: Report, query: LogQuery, now: datetime) -> dict[str, Any]:
    """Give what lies behind a report as plain JSON; lines count from 1, times are ISO in UTC."""
    found = report.findings
    templates = sorted(found.templates, key=lambda one: (-one.count, one.text))
    return {
        "at": iso_text(now),
        "since": iso_text(query.since),
        "until": iso_text(query.until),
        "zone": query.tz or "",
        "lines": found.lines,
        "files": [{"file": name, "lines": lines} for name, lines in found.sources[:_MOST_FILES]],
        "more_files": max(0, len(found.sources) - _MOST_FILES),
        "findings": [_finding(exhibit) for exhibit in report.exhibits],
        "templates": [_template(one, found.candidates) for one in templates[:_MOST_TEMPLATES]],
        "more_templates": max(0, len(templates) - _MOST_TEMPLATES),
    }


def _finding(exhibit: Exhibit) -> dict[str, Any]:
    finding = exhibit.finding
    step, spells = spells_of(finding.heads)
    return {
        "template": finding.template[:_TEMPLATE_LENGTH],
        "label": finding.hit.rule.label if finding.hit else "",
        "is_symptom": finding.is_symptom,
        "level": finding.level.name.lower(),
        "count": finding.count,
        "outside": finding.outside,
        "first": [finding.first.file, finding.first.line],
        "onset": iso_text(finding.onset),
        "last": iso_text(finding.last),
        "first_lines": [_line(quote) for quote in exhibit.first],
        "last_lines": [_line(quote) for quote in exhibit.last],
        "minutes": step,
        "counts": [[iso_text(at), count] for at, count in spells],
        "counted": sum(count for _, count in spells),
        "peak": max((count for _, count in spells), default=0),
    }


def spells_of(heads: Iterable[Place]) -> tuple[int, list[tuple[datetime, int]]]:
    """Return how many minutes a count covers, and the counts, each with its begin.

    Lines are counted by the minute, or by as many minutes as make few enough rows; empty ones are left out.
    """
    minutes = Counter(int(place.at.timestamp()) // 60 for place in heads if place.at is not None)
    step, spells = _STEPS[0], minutes
    for step in _STEPS:
        spells = Counter[int]()
        for minute, count in minutes.items():
            spells[minute // step] += count
        if len(spells) <= _MOST_SPELLS:
            break
    rows = sorted(spells.items())[:_MOST_SPELLS]
    return step, [(datetime.fromtimestamp(spell * step * 60, UTC), count) for spell, count in rows]


def _template(template: Template, candidates: Sequence[Finding]) -> dict[str, Any]:
    first = template.heads[0]
    return {
        "template": template.text[:_TEMPLATE_LENGTH],
        "level": template.level.name.lower(),
        "count": template.count,
        "first": [first.file, first.line],
        "finding": next((rank for rank, one in enumerate(candidates, 1) if is_of(template, one)), 0),
    }


def is_of(template: Template, finding: Finding) -> bool:
    """Whether the messages of a template are among those of a finding."""
    if template.hit and finding.hit:
        return template.hit.rule.id == finding.hit.rule.id
    return template.hit is finding.hit is None and template.text == finding.template


def _line(quote: Quote) -> dict[str, Any]:
    return {"file": quote.file, "line": quote.line, "text": quote.text}
