"""Knows what must hold of planned tasks however often the program was killed, by the ledger only."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from crash.outside import Ledger, Line

EACH = (
    "steady",
    "nightly",
    "asks",
)  # each of their moments has a report; of the others' one may stand for more
_FOOT = re.compile(r"^_From the schedule `([\w-]+)`\._$", re.MULTILINE)
_MOMENT = re.compile(r"\bfor (\d{4}-\d\d-\d\dT[\d:+]+)")
_CLAIM = re.compile(r"^\* (\w+) (\S+) (\w+)$", re.MULTILINE)
_STANDS = re.compile(r"stands for (an|\d+) earlier planned times?")
_LATE = re.compile(r"^_Planned for ")
_RUN = re.compile(r"Run `(\w+)`")
_ANSWER = ("answer", "report")


def reports_of(ledger: Ledger, name: str) -> dict[str, list[Line]]:
    """Return the reports of a schedule by the moment that they say they are for."""
    found: dict[str, list[Line]] = defaultdict(list)
    for post in ledger.posts:
        if post["kind"] in _ANSWER and _FOOT.findall(post["text"]) == [name]:
            said = _MOMENT.search(post["text"])
            found[said[1] if said else ""].append(post)
    return found


def check(
    ledger: Ledger, places: Mapping[str, Sequence[str]], moments: Mapping[str, bool | None]
) -> Iterator[str]:
    """Yield a sentence for each promise that was broken.

    Args:
        places: the channels of each schedule, the first of them where it works.
        moments: what came, each with whether it was late for certain; None where nobody can tell.
    """
    yield from _once_each(ledger, places, moments)
    yield from _stand_for_all(ledger, places, len(moments))
    yield from _ailing(ledger, places["ailing"])
    yield from _effects(ledger)
    yield from _nothing_else(ledger, places)


def _once_each(
    ledger: Ledger, places: Mapping[str, Sequence[str]], moments: Mapping[str, bool | None]
) -> Iterator[str]:
    """Each moment has one report in each place, and it says whether it is late."""
    for name in EACH:
        found = reports_of(ledger, name)
        for moment in moments.keys() | found.keys():
            posts = found.get(moment, [])
            seen = sorted(map(_channel, posts))
            if seen != sorted(places[name] if moment in moments else ()):
                yield f"{name} of {moment or 'no moment'} was reported in {seen}"
            is_late, said = moments.get(moment), {bool(_LATE.match(post["text"])) for post in posts}
            if is_late is not None and said - {is_late}:
                yield f"{name} of {moment} is called late: {said}, and is: {is_late}"
            if len({post["text"] for post in posts}) > 1:
                yield f"{name} of {moment} reads differently in its places"


def _stand_for_all(ledger: Ledger, places: Mapping[str, Sequence[str]], count: int) -> Iterator[str]:
    """The moments of a schedule that makes up for missed ones with one report are each stood for, once."""
    stood: Counter[str] = Counter()
    for moment, posts in reports_of(ledger, "once").items():
        if not moment:
            yield f"a report of no moment: {posts[0]['text']!r}"
        for post in posts:
            said = _STANDS.search(post["text"])
            more = 0 if said is None else 1 if said[1] == "an" else int(said[1])
            stood[_channel(post)] += 1 + more
    for place in places["once"]:
        if stood[place] != count:
            yield f"of {count} moments, the reports of once in {place} stand for {stood[place]}"


def _ailing(ledger: Ledger, places: Sequence[str]) -> Iterator[str]:
    """What fails says so once in each place; its owner is told after two, and of the pause after four."""
    runs: dict[str, list[str]] = defaultdict(list)
    for posts in reports_of(ledger, "ailing").values():
        for post in posts:
            runs["".join(_RUN.findall(post["text"]))].append(_channel(post))
    for run, seen in runs.items():
        if sorted(seen) != sorted(places):
            yield f"the failed run {run or '?'} was reported in {seen}"
    told = [post["text"] for post in ledger.posts if _channel(post) == "Dann"]
    wanted = [word for word, least in (("It failed 2 times", 2), ("I paused it", 4)) if len(runs) >= least]
    if len(runs) > 4 or len(told) != len(wanted) or not all(map(str.__contains__, told, wanted)):
        yield f"after {len(runs)} failures its owner was told {told}"


def _effects(ledger: Ledger) -> Iterator[str]:
    """No effect happened twice, and each is what the report says of it."""
    effects = [one for one in ledger.ran if one["tool"] != "peek"]
    for name in ("key", "word"):
        for value, count in Counter(one[name] for one in effects).items():
            if count > 1 or not value:
                yield f"the effect with {name} {value!r} happened {count} times"
    happened = Counter(one["word"] for one in ledger.ran)
    for name in (*EACH, "once"):
        for moment, posts in reports_of(ledger, name).items():
            for tool, word, status in _CLAIM.findall(posts[0]["text"]):
                many = happened[f"{word} for {moment}"]
                if not {"ok": many >= 1, "error": many == 0, "unknown": many <= 1}.get(status, False):
                    yield f"{tool} {word} for {moment} is claimed to be {status}, and happened {many} times"


def _nothing_else(ledger: Ledger, places: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Each report opens a thread, unless its question did; beside these only questions are posted."""
    for key, count in Counter(post["key"] for post in ledger.posts).items():
        if count > 1:
            yield f"the post {key} was made {count} times"
    opened = {f"outside/T1/{_channel(post)}/{post['id']}" for post in ledger.posts if _is_asked(post)}
    asked = sum(map(_is_asked, ledger.posts))
    if asked != len(reports_of(ledger, "asks")):
        yield f"{asked} questions were asked for {len(reports_of(ledger, 'asks'))} reports"
    for post in ledger.posts:
        names = _FOOT.findall(post["text"])
        if _is_asked(post) or _channel(post) == "Dann":
            continue
        if post["kind"] not in _ANSWER or len(names) != 1 or names[0] not in places:
            yield f"somebody was told {post['text']!r}"
        elif names[0] == "asks" and _channel(post) == places["asks"][0]:
            if post["thread"] not in opened:
                yield f"{post['key']} is not in the thread of its question but in {post['thread']}"
        elif "/new:" not in post["thread"]:
            yield f"{post['key']} opens no thread but is in {post['thread']}"


def _is_asked(post: Line) -> bool:
    return bool(post["kind"] == "question")


def _channel(post: Line) -> str:
    return str(post["thread"].split("/")[2])
