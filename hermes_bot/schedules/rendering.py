"""Knows how a schedule is shown to people: asked back, created, in a list, by itself, its history. Pure.

What people wrote stands as code, so that nothing in it calls anybody or reads like a word of ours.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from hermes_bot import timing
from hermes_bot.errors import ScheduleError
from hermes_bot.markdown import escaped, inert
from hermes_bot.schedules.moments import moment
from hermes_bot.schedules.targets import channel_in, said_of
from hermes_bot.store.schedules import Terms
from hermes_bot.unseen import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hermes_bot.schedules.drafts import Past, Proposed
    from hermes_bot.store.firings import DeliveryRow, Firing
    from hermes_bot.store.schedules import Schedule

TASK_CHARS = 300
SHORT_CHARS = 80
_USUAL = asdict(Terms())
_MISSED = {
    "skip": "what falls into a time when I am not running is left out",
    "once": "what falls into a time when I am not running is made up for by one report",
    "all": "what falls into a time when I am not running is made up for, the last {most} of it",
}
_OVERLAP = {
    "skip": "left out while the last one is still at work",
    "queue": "waits while the last one is still at work",
    "parallel": "begins beside the last one while that is still at work",
}
WORK: Mapping[str, str] = {
    "claimed": "waits for the one before",
    "queued": "at work",
    "done": "✔ done",
    "failed": "✖ failed",
    "missed": "missed",
    "skipped": "left out",
}
DELIVERY: Mapping[str, str] = {
    "pending": "on its way",
    "sent": "✔ posted",
    "unknown": "not known whether posted",
    "dead": "✖ refused",
    "unchanged": "nothing new, not posted",
}


def rule_of(one: Schedule) -> str:
    """Return a schedule's rule in words; as it is stored where it cannot be read."""
    try:
        return timing.in_words(timing.Rule.parse(one.rule), one.zone)
    except (ScheduleError, ValueError):
        return one.rule


def places_of(one: Schedule, here: str) -> str:
    """Return where a schedule reports, as seen from a channel (``slack/T1/C1``)."""
    return ", ".join("here" if channel_in(target) == here else f"`{_id(target)}`" for target in one.targets)


def work_of(one: Schedule, chars: int = TASK_CHARS) -> str:
    """Return what a schedule does."""
    if not one.request.skill:
        return _quoted(one.text, chars)
    params = ", ".join(f"{name} = {_quoted(value, chars)}" for name, value in one.request.params.items())
    said = f", from {_quoted(one.text, chars)}" if one.text else ""
    return f"the skill **{one.request.skill}**{' with ' if params else ''}{params}{said}"


def echo_of(found: Proposed, here: str) -> str:
    """Return what is said back before a schedule is stored."""
    one = found.schedule
    coming = ", ".join(moment(at, one.zone) for at in found.next)
    lines = [
        f"**Shall I plan this?** As `{one.name}`:",
        f"- **When:** {rule_of(one)} ({one.zone})",
        f"- **What:** {work_of(one)}",
        f"- **Where:** {places_of(one, here)}",
        f"- **Next:** {coming}",
        *(f"- **{name}:** {said}" for name, said in _terms(one.terms)),
    ]
    return "\n".join(lines)


def created_of(one: Schedule, here: str) -> str:
    """Return what is said of a schedule that is stored."""
    coming = f" Next: {moment(one.planned_at, one.zone)}." if one.planned_at else ""
    return (
        f"Created: **{one.name}**, {rule_of(one)} ({one.zone}), {places_of(one, here)}.{coming}\n"
        f"`schedule pause {one.name}` holds it, `schedule remove {one.name}` ends it."
    )


def line_of(one: Schedule, here: str) -> str:
    """Return a schedule as one entry of a list."""
    head = f"- **{one.name}**: {rule_of(one)} ({one.zone}), {places_of(one, here)}"
    return f"{head}\n  {_standing(one)}; {work_of(one, SHORT_CHARS)}"


def details_of(one: Schedule, here: str, last: Past | None) -> str:
    """Return all that people may want to know of a schedule."""
    lines = [
        f"**{one.name}**: {_standing(one)}",
        f"- **When:** {rule_of(one)} ({one.zone})"
        + (f", asked for as {_quoted(one.said, SHORT_CHARS)}" if one.said else ""),
        f"- **What:** {work_of(one)}",
        f"- **Where:** {places_of(one, here)}",
        f"- **Owner:** {_quoted(one.owner_name or one.owner, SHORT_CHARS)}, since {moment(one.at, one.zone)}",
        *(f"- **{name}:** {said}" for name, said in _terms(one.terms)),
    ]
    if last is not None:
        became, seen = _became(last.firing), _seen(last.deliveries)
        lines.append(f"- **Last:** {_when(last.firing, one.zone)}: {became}; report: {seen}")
    if one.failures:
        lines.append(f"- **Failed in a row:** {one.failures}")
    return "\n".join(lines)


def history_of(one: Schedule, past: Sequence[Past]) -> str:
    """Return what became of a schedule's firings, the last first: of the work and of each report apart."""
    if not past:
        return f"**{one.name}** has not fired yet: {_standing(one)}."
    lines = [
        f"- **{_when(it.firing, one.zone)}**\n  work: {_became(it.firing)}; report: {_seen(it.deliveries)}"
        for it in past
    ]
    return "\n".join((f"**{one.name}**, the last first ({one.zone}):", *lines))


def _standing(one: Schedule) -> str:
    """Return how a schedule stands, and why."""
    if one.state == "active":
        return f"next {moment(one.planned_at, one.zone)}" if one.planned_at else "nothing more is planned"
    return f"{one.state}: {_plain(one.why)}" if one.why else one.state


def _terms(terms: Terms) -> list[tuple[str, str]]:
    """Return in words what is unusual about how a schedule behaves."""
    odd = {name for name, value in asdict(terms).items() if value != _USUAL[name]}
    said = {
        "missed": ("Missed", _MISSED[terms.missed].format(most=terms.most)),
        "overlap": ("Overlap", _OVERLAP[terms.overlap]),
        "jitter": ("Jitter", f"up to {terms.jitter:g} s later, by chance"),
        "quiet": ("Quiet hours", f"nothing is done {terms.quiet}"),
        "holidays": ("Holidays", f"nothing is done on public holidays ({terms.holidays})"),
        "only_on_change": ("Only on change", "what reads as it did last time is not posted"),
        "alert_after": ("Alert", f"its owner is told after {terms.alert_after} failures in a row"),
        "pause_after": ("Pause", f"it is paused after {terms.pause_after} failures in a row"),
    }
    return [told for name, told in said.items() if name in odd]


def _when(firing: Firing, zone: str) -> str:
    asked = ", asked for" if firing.kind == "asked" else ""
    return f"{moment(firing.planned_at, zone)}{asked}"


def _became(firing: Firing) -> str:
    late = f", for {firing.late:,} more" if firing.late else ""
    run = f" (run {firing.run})" if firing.run else ""
    why = f": {_plain(firing.why)}" if firing.why else ""
    return f"{WORK[firing.state]}{late}{run}{why}"


def _seen(deliveries: Sequence[DeliveryRow]) -> str:
    """Return what became of a report, place by place; once where it is the same everywhere."""
    if not deliveries:
        return "none"
    if len(deliveries) == 1:
        return _delivered(deliveries[0])
    return ", ".join(f"{_id(it.target)}: {_delivered(it)}" for it in deliveries)


def _id(target: str) -> str:
    """Return a target as ``[access]`` writes it; a platform without workspaces has none in it."""
    return said_of(target).replace(":-:", ":", 1)


def _delivered(one: DeliveryRow) -> str:
    return DELIVERY[one.state] + (f": {_plain(one.why)}" if one.why else "")


def _plain(text: str) -> str:
    """Return why something is so, without effect on what stands around it: names and errors are in it."""
    return escaped(visible(" ".join(text.split()))).rstrip(".")


def _quoted(text: str, chars: int) -> str:
    return inert(visible(" ".join(text.split())), chars)
