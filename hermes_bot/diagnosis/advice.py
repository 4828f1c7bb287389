"""Knows how to say what was found: the rule book's sentences with place, time and consequences."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from hermes_bot.diagnosis.rules import clean, fill
from hermes_bot.diagnosis.values import Advice, Finding, Findings, Place

_MOST_CONSEQUENCES = 3
_MOMENT = timedelta(seconds=2)
_FOLLOWS = timedelta(minutes=15)
_PLACEHOLDER = re.compile(r"<[a-z*]+>")
_GO_FRAME = re.compile(r"(?P<call>[\w./()*-]+)\([^()\n]*\)\n\s*(?P<file>/[^\s:]+\.go):(?P<line>\d+)")
_PYTHON_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<call>[\w<>]+)')
_JAVA_FRAME = re.compile(r"\bat (?P<call>[\w.$<>]+)\((?P<file>\w+\.(?:java|kt|scala)):(?P<line>\d+)\)")
_NODE_FRAME = re.compile(r"\bat (?P<call>[\w.<> ]+) \((?P<file>[^()\s:]+\.[jt]s):(?P<line>\d+)")
_FOREIGN = re.compile(
    r"^(?:runtime|panic|net/http|reflect|java|javax|jdk|sun|org\.springframework|org\.apache)\b"
    r"|/usr/local/go/src/|site-packages|dist-packages|/lib/python\d|node_modules|node:internal|\(internal/"
)
_NOTHING = (
    "No incident: nothing new or growing was found; the error-looking lines are background noise "
    "at the usual rate."
)
_QUIET = "No incident: no errors and no warnings were found."


def advise(findings: Findings) -> Advice:
    """Put findings into plain sentences, by rule alone. Words out of the log are cleaned of all markup."""
    if not findings.records:
        return Advice(_nothing_read(findings), "None needed; ask for a longer window or another source.")
    if not findings.incident:
        return Advice(_NOTHING if findings.noise else _QUIET, "None needed.")
    best = findings.candidates[0]
    sentences = [_what(findings), _when(best, findings), _change(findings), _consequences(findings)]
    return Advice(" ".join(s for s in sentences if s), _fix(best))


def _nothing_read(findings: Findings) -> str:
    if findings.lines:
        return f"No log lines fall into this window ({_window(findings)}), so there is nothing to diagnose."
    return "The logs are empty, so there is nothing to diagnose."


def _window(findings: Findings) -> str:
    since = minute(findings.since) if findings.since else "the beginning"
    until = minute(findings.until) if findings.until else "the end"
    return f"{since} to {until}"


def minute(at: datetime) -> str:
    """Write an instant as people read it, with its zone: ``2026-03-03 07:01:13 UTC``."""
    return at.strftime("%Y-%m-%d %H:%M:%S UTC")


def _what(findings: Findings) -> str:
    best = findings.candidates[0]
    if best.hit is None:
        said = clean(_PLACEHOLDER.sub("...", best.template))
        return f'The first thing that went wrong and is not usual here: "{said}".'
    words = dict(best.hit.words)
    if frame := next(filter(None, map(own_frame, _at_once(findings))), ""):
        words["frame"] = clean(frame)
    return fill(best.hit.rule.diagnosis, words)


def _at_once(findings: Findings) -> Iterator[str]:
    """The best candidate's text, and what was logged in the same moment: often its trace."""
    best = findings.candidates[0]
    for finding in findings.candidates:
        if finding is best or (best.onset and finding.onset and abs(finding.onset - best.onset) <= _MOMENT):
            yield finding.sample


def _when(best: Finding, findings: Findings) -> str:
    where = _where(best.first)
    times = "once" if best.count == 1 else f"{best.count} times"
    if best.onset is None:
        return f"It is first seen in {where}, {times} in all; the lines carry no times."
    text = f"It began at {minute(best.onset)} ({where}) and was logged {times}"
    if best.last and best.last != best.onset:
        text += f" until {minute(best.last)}"
    if findings.since and best.onset < findings.since:
        text += ", so it began before the window that was asked about"
    return text + "."


def _change(findings: Findings) -> str:
    change = findings.change
    if change is None or change.at is None:
        return ""
    return f"A version was deployed or started shortly before, at {minute(change.at)} ({_where(change)})."


def _where(place: Place) -> str:
    name = clean(place.file)  # standard input has none
    return f"{name}, line {place.line}" if name else f"line {place.line}"


def _consequences(findings: Findings) -> str:
    best = findings.candidates[0]
    later = [
        f"{f.hit.rule.label} ({f.count})"
        for f in findings.candidates[1:]
        if f.hit and f.is_symptom and _follows(f, best)
    ]
    return f"Seen as a consequence: {', '.join(later[:_MOST_CONSEQUENCES])}." if later else ""


def _follows(finding: Finding, best: Finding) -> bool:
    if best.onset is None or finding.onset is None:
        return True
    return best.onset <= finding.onset <= (best.last or best.onset) + _FOLLOWS


def _fix(best: Finding) -> str:
    if best.hit is None:
        return (
            "This message is in no rule. Look at the quoted lines and at what changed right before "
            "(a deploy, a configuration, a dependency), and undo that first."
        )
    return fill(best.hit.rule.fix, best.hit.words)


def own_frame(text: str) -> str:
    """Name the innermost frame of a trace that is the program's own, or "" where no trace is found."""
    unescaped = text.replace("\\n", "\n").replace("\\t", "\t")
    for pattern in (_GO_FRAME, _JAVA_FRAME, _NODE_FRAME, _PYTHON_FRAME):
        frames = [m for m in pattern.finditer(unescaped) if not _FOREIGN.search(m["call"] + " " + m["file"])]
        if frames:
            # Python writes the innermost frame last, the others first.
            frame = frames[-1] if pattern is _PYTHON_FRAME else frames[0]
            call = frame["call"].rsplit("/", 1)[-1].replace("(*", "").replace(")", "")
            return f"{call} {'/'.join(frame['file'].split('/')[-3:])}:{frame['line']}"
    return ""
