"""Knows how a report looks: as one JSON object, and as Markdown for a chat."""

from collections.abc import Mapping
from typing import Any

from hermes_bot.diagnosis.advice import minute
from hermes_bot.diagnosis.rules import clean
from hermes_bot.diagnosis.values import Finding, Report
from hermes_bot.markdown.files import counted

_MOST_SHOWN = 3
_MOST_QUOTES = 5
_TEMPLATE_LENGTH = 120


def report_dict(report: Report) -> Mapping[str, Any]:
    """Give a report as the object that ``--json`` prints; lines count from 1, times are ISO in UTC."""
    best = report.findings.candidates[0] if report.findings.incident else None
    onset = best.onset if best else None
    return {
        "incident": report.findings.incident,
        "candidates": [_candidate(finding) for finding in report.findings.candidates],
        "first_bad": [best.first.file, best.first.line] if best else None,
        "first_bad_ts": onset.isoformat().replace("+00:00", "Z") if onset else None,
        "diagnosis": report.advice.diagnosis,
        "fix": report.advice.fix,
        "quotes": [{"file": q.file, "line": q.line, "text": q.text} for q in report.quotes],
        "errors": report.findings.errors,
        "notes": list(report.findings.notes),
    }


def _candidate(finding: Finding) -> Mapping[str, Any]:
    return {
        "template": finding.template,
        "evidence": [[place.file, place.line] for place in finding.evidence],
        "rule": finding.hit.rule.id if finding.hit else None,
        "count": finding.count,
    }


def render_report(report: Report) -> str:
    """Write a report as Markdown. Log text stands only in code spans that it cannot leave."""
    parts = [f"**Diagnosis.** {report.advice.diagnosis}"]
    if report.findings.incident:
        parts.append(f"**Fix.** {report.advice.fix}")
    if report.quotes:
        quotes = [
            f"- `{_span_safe(q.file)}:{q.line}` {code_span(q.text)}" for q in report.quotes[:_MOST_QUOTES]
        ]
        parts.append("**Evidence**\n" + "\n".join(quotes))
    if others := report.findings.candidates[1:_MOST_SHOWN]:
        parts.append("**Also seen**\n" + "\n".join(f"- {_other(finding)}" for finding in others))
    parts.append(_read(report))
    return "\n\n".join(parts)


def code_span(text: str) -> str:
    """Put text into a Markdown code span with a fence longer than any run of backticks in it."""
    longest = max((len(run) for run in "".join(c if c == "`" else " " for c in text).split()), default=0)
    fence = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _span_safe(name: str) -> str:
    return clean(name) or "-"


def _other(finding: Finding) -> str:
    what = finding.hit.rule.label if finding.hit else code_span(finding.template[:_TEMPLATE_LENGTH])
    since = f" since {minute(finding.onset)}" if finding.onset else ""
    place = f"`{_span_safe(finding.first.file)}:{finding.first.line}`"
    return f"{what}: {counted(finding.count, 'line')}{since} ({place})"


def _read(report: Report) -> str:
    found = report.findings
    text = f"_{counted(found.records, 'message')} read, {found.errors:,} of them errors or known faults"
    if found.first_at and found.last_at:
        text += f", {minute(found.first_at)} to {minute(found.last_at)}"
    if not found.timed:
        text += "; no times could be read, so the whole log was looked at"
    text += "._"
    return "\n\n".join([text, *(clean_note(note) for note in found.notes)])


def clean_note(note: str) -> str:
    """Show a note about a file; file names are data, so markup in them is taken out."""
    return "_Note: " + "".join(c for c in note if c.isprintable() and c not in "`*_<>[]|~") + "_"
