"""Knows how people ask for a schedule in a sentence: when, what, where, and how it shall behave. Pure.

weekdays at 9 run error-digest service=checkout in #ops missed=all
every Monday at 8:30 post the weekly report here
"0 9 * * 1-5" error-digest service=checkout
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import ValidationError

from hermes_bot import timing
from hermes_bot.errors import ScheduleError
from hermes_bot.schedules.phrases import asks_for_later, phrase_of
from hermes_bot.schedules.places import places_in, without_here
from hermes_bot.sections import ScheduleSection
from hermes_bot.skills import naming
from hermes_bot.store.schedules import Terms
from hermes_bot.timing.reading import read_length

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from hermes_bot.skills import Registry
    from hermes_bot.skills.registry import Skill

HELP = """Say when, what and where:
- `schedule add weekdays at 9 run error-digest service=checkout in #ops`
- `schedule add "30 8 * * 1" weekly-report`

When: plain words, cron in five fields, `every 90m`, or a moment such as `2026-12-24 09:00`. Without a \
channel it reports here. It may also say `name=…`, `zone=Europe/Berlin`, `missed=skip|once|all` with \
`most=3`, `overlap=skip|queue|parallel`, \
`jitter=5m`, `quiet=22:00-07:00`, `holidays=DE`, `only_on_change=yes`."""
_OF_TERMS = ("missed", "most", "overlap", "jitter", "quiet", "holidays", "only_on_change", "alert_after",
             "pause_after")  # fmt: skip
MOST_SAID = 2_000  # characters of a message that may ask for a schedule
OPTIONS = ("name", "zone", "profile", *_OF_TERMS)
_PAIR = re.compile(r"""(?<![\w-])([a-z][a-z_-]*)\s*=\s*(?:"([^"]*)"|'([^']*)'|(\S+))""", re.IGNORECASE)
_OPENERS = re.compile(
    r"(?:please|pls|hey|and|then|to|can you|could you|would you|i want you to|schedule(?: me)?|plan"
    r"|set up|请)[\s,:]+",
    re.IGNORECASE,
)
_ENDS = " \t,;:.!。，、-"  # noqa: RUF001 - what sentences in Chinese end with
_DANGLING = re.compile(r"[\s,]+(?:on|at|in|for|to|and|then|please)\Z", re.IGNORECASE)
_NAMED = re.compile(
    r"(?:(run|执行|运行)\s*)?(?:the\s+)?(?:skill\s+)?([a-z0-9]+(?:-[a-z0-9]+)*)(?![\w-])(.*)\Z",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """What a sentence is read with.

    Attributes:
        zone: the team's, by its IANA name.
        choose: says which skill a text plainly asks for; empty where none.
        called: returns the channel of a name, as an id like those of ``[access]``; empty where there is none.
        here: the channel it is said in, as such an id.
    """

    zone: str
    now: datetime
    registry: Registry
    choose: Callable[[str], str]
    called: Callable[[str], str] = lambda _: ""
    here: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the skills there are."""
        return tuple(one.name for one in self.registry.skills)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A schedule as a sentence asks for it; ``when`` means the same whenever it is read.

    Attributes:
        targets: channels' ids; empty for where it is said.
        text: the task in words; beside a skill, what its parameters are read from too.
    """

    when: str
    skill: str = ""
    params: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    targets: tuple[str, ...] = ()
    name: str = ""
    zone: str = ""
    profile: str = ""
    terms: Terms = field(default_factory=Terms)


def read_wish(said: str, book: Book) -> Wish:
    """Return the schedule that a sentence asks for.

    Raises:
        ScheduleError: it names no time, two, nothing to do, or a channel that cannot be told; says what would
            work.
        SkillError: it names a skill that is not there.
    """
    text = " ".join(naming.tidy(said).split())
    options, text = _options(text)
    zone = options.pop("zone", "") or book.zone
    timing.zone_of(zone)
    targets, text = places_in(text, book.here, book.called)
    phrase = phrase_of(text, zone, book.now, book.names)
    if phrase is None:
        raise ScheduleError(_no_time(text))
    skill, params, task = _work(_bare(phrase.rest), book)
    name, profile = options.pop("name", "").lower(), options.pop("profile", "")
    return Wish(
        when=phrase.when,
        skill=skill,
        params=params,
        text=task,
        targets=targets,
        name=name,
        zone=zone,
        profile=profile,
        terms=terms_of(options),
    )


def is_wish(said: str, book: Book) -> bool:
    """Whether a message plainly asks for something at a time to come, understood or not."""
    if len(said) > MOST_SAID:
        return False
    _, text = _options(" ".join(naming.tidy(said).split()))
    _, text = places_in(text, book.here, lambda name: name)
    return asks_for_later(text, book.zone, book.now, book.names)


def terms_of(options: Mapping[str, str]) -> Terms:
    """Return how a schedule shall behave, by words like those of ``[schedules.NAME]``.

    Raises:
        ScheduleError: one of them is none.
    """
    given = dict(options)
    if (length := read_length(given.get("jitter", ""))) is not None:
        given["jitter"] = str(length.total_seconds())
    try:
        read = ScheduleSection.model_validate({"when": "", **given})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        name = str(first["loc"][0]) if first["loc"] else "an option"
        raise ScheduleError(f"{name}={given.get(name, '')[:40]}: {first['msg'].lower()}.") from None
    return Terms(**{name: getattr(read, name) for name in given})


def _options(text: str) -> tuple[dict[str, str], str]:
    """Return the ``name=value`` pairs that say how it behaves, and the text without them."""
    found: dict[str, str] = {}

    def take(pair: re.Match[str]) -> str:
        name = pair[1].lower().replace("-", "_")
        if name not in OPTIONS:
            return pair[0]
        found[name] = next(part for part in pair.groups()[1:] if part is not None).strip().rstrip(",;")
        return " "

    return found, " ".join(_PAIR.sub(take, text).split())


def _bare(text: str) -> str:
    """Return what is to be done, without the words that stood around its time and its place."""
    text = text.strip(_ENDS)
    while (
        rest := _DANGLING.sub("", _OPENERS.sub("", f"{text} ", count=1) if _OPENERS.match(text) else text)
    ) != text:
        text = rest.strip(_ENDS)
    return without_here(text).strip(_ENDS)


def _work(text: str, book: Book) -> tuple[str, dict[str, str], str]:
    """Return the skill a text asks for, its parameters, and the task in words."""
    named = _NAMED.match(text)
    if named is not None and (skill := book.registry.get(named[2].lower())) in book.registry.skills:
        params, tail = _params(named[3], skill)
        return skill.name, params, f"{skill.name} {tail}" if tail else ""
    if named is not None and _means_a_skill(named):
        book.registry.find(named[2])
    if chosen := book.choose(_PAIR.sub(" ", text)):
        params, tail = _params(text, book.registry.find(chosen))
        return chosen, params, tail
    return "", {}, text


def _means_a_skill(named: re.Match[str]) -> bool:
    """Whether a word can only be meant as a skill's name: ``run error-digst``, or such a word alone."""
    is_alone = not _PAIR.sub("", named[3]).strip()
    return "-" in named[2] and (bool(named[1]) or is_alone)


def _params(text: str, skill: Skill) -> tuple[dict[str, str], str]:
    """Return the ``name=value`` pairs of a text, and the rest; a time may have several words."""
    kinds = {one.name: one.type for one in skill.chain.parameters} if skill.chain else {}
    pairs, rest = naming.stated(text, tuple(kinds))
    params: dict[str, str] = {}
    for one in pairs:
        is_long = bool(one.run) and (
            kinds[one.name] == "time" or (kinds[one.name] == "names" and one.value[-1:] == ",")
        )
        params[one.name] = one.run if is_long else one.value.rstrip(",;")
        if is_long:
            rest = rest.replace(one.run.removeprefix(one.value), " ", 1)
    others = {
        pair[1]: next(part for part in pair.groups()[1:] if part is not None) for pair in _PAIR.finditer(rest)
    }
    return {**others, **params}, " ".join(_PAIR.sub(" ", rest).split()).strip(_ENDS)


def _no_time(text: str) -> str:
    if not text:
        return HELP
    return f"I find no time in {text[:80]!r}. {HELP}"
