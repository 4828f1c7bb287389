"""Knows how people and models read alerts: a thread's first post, the notes in it, a flood's list. Pure.

All of it was written elsewhere: titles and texts are escaped, labels are code, an address stands as a link of
its host alone, and everything has a length.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from hermes_bot.markdown import clip_line, escaped, inert, tamed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime, timedelta, tzinfo

    from hermes_bot.store.alerts import AlertRow
    from hermes_bot.webhooks.payloads import Alert, Event

MOST_SHOWN = 10
MOST_LISTED = 20
MOST_LABELS = 8
LABEL_CHARS = 60
TEXT_CHARS = 400
PLAIN_CHARS = 4_000
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def root(event: Event, alerts: Sequence[Alert], zone: tzinfo) -> str:
    """Return the post that begins a thread about alerts."""
    is_event = all(one.state == "event" for one in alerts)
    sign, how = ("\N{BELL}", "") if is_event else ("\N{FIRE}", " is firing")
    title = _said(event.title)
    many = f" ({len(alerts)} alerts)" if len(alerts) > 1 else ""
    head = f"{sign} **{title}**{how}{many}{_link(event.url)}"
    if len(alerts) == 1:
        return "\n".join((head, *_details(alerts[0], zone)))
    lines = [f"- {_one_line(one, zone)}" for one in alerts[:MOST_SHOWN]]
    return "\n".join((head, "", *lines, *_more(len(alerts) - MOST_SHOWN)))


def _details(alert: Alert, zone: tzinfo) -> list[str]:
    since = f"Since {_clock(alert.began_at, zone)}" if alert.began_at else ""
    facts = " · ".join(part for part in (since, _labels(alert)) if part)
    return [part for part in (_text(alert), facts) if part]


def _one_line(alert: Alert, zone: tzinfo) -> str:
    since = f"since {_clock(alert.began_at, zone)}" if alert.began_at else ""
    parts = (f"**{_said(alert.title)}**", _labels(alert), _text(alert), since)
    return " · ".join(part for part in parts if part)


def note(rows: Sequence[AlertRow], news: Sequence[AlertRow]) -> str:
    """Return what is said in a thread of the news of some of its alerts; ``rows`` are all of them."""
    if not any(one.state == "firing" for one in rows):
        over = max((one.resolved_at or one.at for one in rows), default=news[-1].at)
        lasted = _length(over - min(one.began_at for one in rows))
        all_of = f", all {len(rows)} of them," if len(rows) > 1 else ""
        return f"\N{WHITE HEAVY CHECK MARK} **Resolved**{all_of} after {lasted}."
    left = sum(one.state == "firing" for one in rows)
    begun = [one for one in news if one.state == "firing"]
    over_now = [one for one in news if one.state == "resolved"]
    parts = [
        *([f"\N{FIRE} Firing too: {_titles(begun)}."] if begun else []),
        *([f"\N{WHITE HEAVY CHECK MARK} Resolved: {_titles(over_now)}."] if over_now else []),
    ]
    return "\n".join((*parts, f"_{left} of {len(rows)} fire now._"))


def flood(news: Sequence[AlertRow], hook: str, most: int, *, is_first: bool) -> str:
    """Return the list of alerts that got no thread of their own."""
    sign = "\N{WARNING SIGN}\N{VARIATION SELECTOR-16}"
    head = f"{sign} **{len(news)} more {'alert' if len(news) == 1 else 'alerts'}** of `{hook}`"
    if over := sum(one.state == "resolved" for one in news):
        head += f" ({over} of them resolved)"
    if is_first:
        why = f"more than {most} threads in ten minutes"
        head += f": {why}, so I list the others here and look into none of them."
    counts = Counter((one.title, one.state) for one in news)
    lines = [
        f"- {inert(title)}{_times(count)}{' (resolved)' if state == 'resolved' else ''}"
        for (title, state), count in counts.most_common(MOST_LISTED)
    ]
    return "\n".join((head, "", *lines, *_more(len(counts) - MOST_LISTED)))


def plain(event: Event, alerts: Sequence[Alert]) -> str:
    """Return alerts as the transcript has them, for whoever works on them."""
    lines = [f"Alert: {event.title}"]
    for one in alerts[:MOST_LISTED]:
        began = f" since {one.began_at.isoformat()}" if one.began_at else ""
        lines.append(f"- {one.title}: {one.state}{began}")
        lines += [f"  {name}: {text[:TEXT_CHARS]}" for name, text in one.labels.items()]
        lines += [f"  {name}: {text[:TEXT_CHARS]}" for name, text in one.annotations.items()]
        lines += [f"  {one.text}"] if one.text and one.text not in one.annotations.values() else []
    return "\n".join(lines)[:PLAIN_CHARS]


def _labels(alert: Alert) -> str:
    told = [(name, text) for name, text in alert.labels.items() if text != alert.title]
    shown = ", ".join(inert(f"{name}={text}", LABEL_CHARS) for name, text in told[:MOST_LABELS])
    return f"{shown}, …" if len(told) > MOST_LABELS else shown


def _text(alert: Alert) -> str:
    return _said(clip_line(" ".join(alert.text.split()), TEXT_CHARS)) if alert.text else ""


def _said(text: str) -> str:
    """Return a sender's words: no mark in them counts, and no address is a link, for nobody checked it."""
    return tamed(escaped(text), lambda _host: False)


def _titles(rows: Iterable[AlertRow]) -> str:
    counts = Counter(one.title for one in rows)
    shown = [f"{inert(name)}{_times(count)}" for name, count in counts.most_common(10)]
    return ", ".join((*shown, *_more(len(counts) - len(shown), sign="")))


def _times(count: int) -> str:
    return f" \N{MULTIPLICATION SIGN}{count}" if count > 1 else ""


def _more(number: int, sign: str = "- ") -> list[str]:
    return [f"{sign}and {number:,} more"] if number > 0 else []


def _link(url: str) -> str:
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return ""
    return f" · [{escaped(host)}](<{url}>)" if host else ""


def _clock(at: datetime, zone: tzinfo) -> str:
    return f"{at.astimezone(zone):%Y-%m-%d %H:%M %Z}"


def _length(passed: timedelta) -> str:
    seconds = max(0, int(passed.total_seconds()))
    size, unit = next((it for it in _UNITS if seconds >= it[0]), _UNITS[-1])
    count, rest = divmod(seconds, size)
    hours = f" {rest // 60} min" if unit == "h" and rest >= 60 else ""  # noqa: PLR2004 - a minute
    return f"{count} {unit}{hours}"
