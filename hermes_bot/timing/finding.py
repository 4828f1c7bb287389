"""Knows when a task is asked for at a time to come: the words of time in it, and the task without them.

It errs on the side of seeing none: a question, or a look back, is a task for now. What it sees is shown for
confirmation before anything is stored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_bot.timing import chinese, english
from hermes_bot.timing.plain import lowered
from hermes_bot.timing.said import Said, made
from hermes_bot.timing.zones import zone_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from datetime import datetime

    from hermes_bot.timing.rule import Rule

MOST_READ = 300  # characters at either end of a text in which a time is looked for
MOST_TASK = 4_000

_POLITE = re.compile(
    r"(?:(?:hi|hey|hello|ok|okay|please|pls|kindly|hermes|bot|and|so|now)\b[\s,.:!]*|请你?|麻烦你?|你好[\s,]*|帮我们?"
    r"|在(?=[每明后今工周下])"
    r"|(?:can|could|would|will) you(?: please)?\b\s*|(?:i|we)(?:'d| would) like you to\s+"
    r"|(?:i|we) want you to\s+)*"
)
_DO = """
    post send run remind report check tell show give share publish announce write make create generate
    summarise summarize list look compare diagnose analyse analyze ask ping notify update deliver prepare
    produce do start query fetch collect count review watch alert say let expand print read test verify
    measure plot draw chart email message inform warn note schedule
"""
_VERBS = frozenset(_DO.split())
_POSTING = frozenset(("post", "send", "remind", "announce", "publish", "message"))
_SURE_VERBS = _POSTING | {"run", "report", "notify", "ping", "schedule"}
_CHINESE_VERBS = re.compile(
    "(?:在(?:这里|这儿|本频道|此处)|给(?:我们?|大家)|向(?:我们?|大家)|把.{1,20}?|都)?"
    "(?:发送|发布|发(?![生现])|推送|提醒|运行|执行|跑|报告|汇报|检查|查看|查|生成|总结|统计|通知|诊断|告诉|看|做|列出|汇总|对比|比较|写|画|更新|播报)"
    "(?!失败|出错|报错|超时|变慢|异常)"
)
_QUESTION = re.compile(
    r"(?:why|what|how|when|who|which|where|whose|did|does|do (?:we|you|they|i)|is|are|was|were|has|have|had"
    r"|should|am)\b"
)
_ASKS = re.compile(r"\b(?:why|which|whether|that|who|when|what|how)\b")
_CHINESE_ASKS = re.compile("为什么|怎么|为何|多少|什么|哪|吗|几次|是否|有没有")
_DANGLES = re.compile(
    r"(?:\b(?:at|from|of|since|until|till|for|during|between|before|after|by|the|a|an|and|or|about|around|last|past"
    r"|happen(?:s|ed|ing)?|occur(?:s|red|ring)?|fail(?:s|ed|ing)?|crash(?:es|ed|ing)?|spike[sd]?|appear(?:s|ed|ing)?"
    r"|[a-z]*[^\We]ed|come[s]?|came|seen|vs|versus|than|starts?|started|began|begins|runs|running|was|were|is|are))\s*\Z"
)
_REMINDS = re.compile(r"remind\s+(?:the\s+)?(?:\S+)\s*\Z|提醒(?:我们?|大家|一下)?\s*\Z")
_THANKS = re.compile(r"(?:\b(?:please|pls|thanks|thank you|thx)|谢谢|多谢)[\s.!]*\Z")
# a thing of which something is said, not a task: "every Monday at 9 check fails"
_FAILS = re.compile(
    r"[a-z]+\s+(?:fails?|failed|crash(?:es|ed)|breaks|broke|dies|died|is|are|was|were|has|had|took|takes)\b"
)
_ADJECTIVES = frozenset(("daily", "hourly"))
_PLACE = re.compile(r"(?:in|into|here|to|on|for)\b")


@dataclass(frozen=True, slots=True)
class Found:
    """A time in a text.

    Attributes:
        said: its words, as they were written.
        rest: the text without them: the task.
    """

    rule: Rule
    said: str
    rest: str


@dataclass(frozen=True, slots=True)
class _Place:
    said: Said
    start: int
    end: int


def find_rule(text: str, zone: str, now: datetime, names: Collection[str] = ()) -> Found | None:
    """Return the time at which a text asks for a task; None where it asks for one now.

    Args:
        text: what somebody wrote.
        zone: whose clock is meant.
        now: what lengths are counted from.
        names: of skills, which stand for having them run.

    Raises:
        ScheduleError: it plainly asks for something at a time, but which time has no reading, or two.
    """
    if len(text) > MOST_TASK:
        return None
    plain = lowered(text)
    if thanks := _THANKS.search(plain):
        text, plain = text[: thanks.start()], plain[: thanks.start()]
    begins = _POLITE.match(plain)
    first = begins.end() if begins else 0
    if plain.rstrip().endswith("?") and first == 0:
        return None
    if _QUESTION.match(plain, first) or _CHINESE_ASKS.search(plain):
        return None
    wall = now.astimezone(zone_of(zone))
    for place in _places(plain, first, wall):
        rest = _rest(text, plain, first, place, names)
        if rest:
            said = text[place.start : place.end].strip(" ,;.")
            return Found(made(place.said, zone, now), said, rest)
    return None


def _places(plain: str, first: int, wall: datetime) -> Iterator[_Place]:
    """Yield where time is spoken of, each once, from the beginning on."""
    at = first
    for start in _starts(plain, first):
        if start < at:
            continue
        for scan in (english.scan, chinese.scan):
            said, end = scan(plain, start, wall)
            is_time = said.comes_again or said.later or said.dates or said.times
            if end > start and _is_whole(plain, end) and is_time:
                yield _Place(said, start, end)
                at = end
                break


def _starts(plain: str, first: int) -> Iterator[int]:
    """Yield where a word begins, near either end of a text; of Chinese, any sign."""
    for match in re.finditer(r"(?<![a-z0-9_@#`/:.-])[a-z0-9]|[\u4e00-\u9fff]", plain):
        start = match.start()
        if start >= first and (start < MOST_READ or start > len(plain) - MOST_READ):
            yield start


def _is_whole(plain: str, end: int) -> bool:
    """Whether what was read does not end within a word."""
    return end == len(plain) or not (
        plain[end - 1 : end + 1].isascii() and plain[end - 1 : end + 1].isalnum()
    )


def _rest(text: str, plain: str, first: int, place: _Place, names: Collection[str]) -> str:
    """Return the task of a text; empty where it is none that is asked for at that time."""
    before, after = plain[first : place.start].strip(" ,;:-"), plain[place.end :].strip(" ,;:.-!")
    if _names_a_thing(before, after, plain[place.start : place.end]):
        return ""
    if not before:
        return _tidy(text[place.end :]) if _is_task(after, place.said, names) else ""
    if not _is_task(before, place.said, names) or _DANGLES.search(before) or _ASKS.search(before):
        return ""
    if _REMINDS.search(before + " "):
        kept = re.sub(r"\A(?:to|that|about)\s+", "", _tidy(text[place.end :]), flags=re.IGNORECASE)
        return _tidy(text[first : place.start]) + f": {kept}" if kept else ""
    if after and not place.said.comes_again:
        return ""
    return _tidy(f"{text[first : place.start].rstrip(' ,;')} {_tidy(text[place.end :])}")


def _names_a_thing(before: str, after: str, words: str) -> bool:
    """Whether words of time only say which: ``daily report``, ``report daily users``, ``每天9点的日志``."""
    if after.startswith(("的", "vs ", "versus ")) or words.startswith("after "):
        return True
    if words.strip() not in _ADJECTIVES or not after:
        return False
    return not _PLACE.match(after) if before else " " not in after


def _is_task(words: str, said: Said, names: Collection[str]) -> bool:
    """Whether words ask for something to be done."""
    if _FAILS.match(words):
        return False
    if _CHINESE_VERBS.match(words):
        return bool(said.comes_again or said.later or said.dates)
    polite = _POLITE.match(words)
    words = words[polite.end() :] if polite else words
    verb = re.match(r"[a-z]+", words)
    if verb and verb[0] in _verbs_for(said):
        return True
    named = re.match(r"(?:the\s+|an?\s+)?([a-z0-9-]+)", words)
    return bool(named and named[1] in names)


def _verbs_for(said: Said) -> frozenset[str]:
    """Return what asks for something at such a time: the less plainly it is to come, the fewer words do."""
    if said.comes_again or said.later:
        return _VERBS
    return _SURE_VERBS if said.dates else _POSTING


def _tidy(text: str) -> str:
    return text.strip().strip(",;:，；：、。.?？! -\u2013\u2014").strip()  # noqa: RUF001 - signs of Chinese
