"""Knows what a message is: a command, an answer, a press, a task, or not for us. Pure."""

from __future__ import annotations

import difflib
import re
import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from hermes_bot.messages import Request
from hermes_bot.schedules.planning import SCHEDULE, WISH
from hermes_bot.state import CANCEL, CONFIRM

if TYPE_CHECKING:
    from hermes_bot.messages import Incoming, Press
    from hermes_bot.store.questions import QuestionRecord

VERBS = {
    "help": "what I can do",
    "skills": "the skills you can run",
    "run": "run a skill: run NAME key=value …",
    "runs": "the latest runs of this thread",
    "why": "the decisions and evidence of the last answer, or of a run: why [RUN]",
    "questions": "what is waiting for an answer here",
    "memory": "what I keep here across tasks, and why",
    "forget": "take away what I keep: forget NUMBER, or words of it",
    "schedule": "what is planned, and to plan more: schedule add WHEN WHAT, schedule help",
    "status": "what I am doing right now",
    "budget": "what this task, you, this channel and all have used today, and the limits",
    "save-skill": "make a skill of a finished run: save-skill NAME [RUN]",
    "stop": "stop what is running here",
}
_STOP_WORDS = frozenset({"stop", "cancel", "never mind", "nevermind"})
_GO_ON_WORDS = frozenset({"continue", "go on", "carry on"})
_NAMES_SOMEBODY = re.compile(r"(?<![\w.@/])<?@\w")
_MARKS = " ,.:;!"  # "<@UBOT>!" says as little as "<@UBOT>"
_NOTE = re.compile(
    r"#?[0-9]{1,12}\Z"
)  # "forget 3" is a command in any words; "forget about it" is for the run
_NOT_ALONE = frozenset(
    {"run", "why", "forget"}
)  # these are verbs with arguments too; the others only stand alone
# phones write curly quotes and no-break spaces, where a command means the plain ones
_QUOTES = str.maketrans("\u201c\u201d\u201e\u2018\u2019\u00a0\u202f", '"""\'\'  ')
_ADDS = re.compile(r"(?:/?hermes\s+)?/?schedule\s+add\b(.*)\Z", re.IGNORECASE | re.DOTALL)
_FORGET_WORDS = 2
_RUN_WORDS = 2  # "why RUN" asks for a run; "why is checkout failing" is a task
_OF_SCHEDULE = frozenset({"show", "history", "pause", "resume", "run", "remove"})  # each with one name
_NAME_WORDS = 3  # "schedule show NAME", "schedule list all"
# said to what is only asked back, and to nothing dangerous
_SPOKEN = {
    **dict.fromkeys(("yes", "y", "yes please", "ok", "confirmed", "是", "好", "好的", "确认"), "confirm"),
    **dict.fromkeys(("no", "n", "nope", "no thanks", "不", "不要", "取消"), "cancel"),
}
_SAVE_WORDS = 3  # "save-skill NAME RUN"
_SKILL_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Command:
    """A verb with its arguments; answered from storage, at once."""

    verb: str
    args: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UnknownCommand:
    """Something written as a command that is none; ``nearest`` may be empty."""

    verb: str
    nearest: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to an open question of this thread."""

    question: str
    text: str


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """Text while a question with fixed options is open that is none of them; the question stays open."""

    question: str
    say: str


@dataclass(frozen=True, slots=True)
class Pressed:
    """A button."""

    press: Press


@dataclass(frozen=True, slots=True)
class Task:
    """Work for a run, or something to tell the run at work here."""

    request: Request | None = None


@dataclass(frozen=True, slots=True)
class GoOn:
    """The word "continue": the thread's last run goes on, if a guard stopped it; a task otherwise."""


@dataclass(frozen=True, slots=True)
class NotForUs:
    """People talk to each other."""


Route: TypeAlias = Command | UnknownCommand | Answer | NoAnswer | Pressed | Task | GoOn | NotForUs


@dataclass(frozen=True, slots=True)
class View:
    """What the router may know of the thread.

    Attributes:
        question: the question that is open here.
        participants: who took part in this conversation with the bot.
    """

    question: QuestionRecord | None = None
    participants: tuple[str, ...] = ()


def route(message: Incoming, view: View) -> Route:  # noqa: PLR0911 - one answer for each kind of message
    """Say what a message is. A command is looked for first, so that no question can swallow it."""
    if message.press is not None:
        return Pressed(message.press)
    if message.request is not None:
        return Task(message.request)
    text = message.text.translate(_QUOTES).strip()
    if not message.addressed and not _continues_talk(message, text, view):
        return NotForUs()
    if command := _command(text, is_asked=view.question is not None, is_typed=message.is_command):
        return command
    if view.question is not None:
        return answer_to(view.question, text)
    if text.lower().rstrip(".!") in _GO_ON_WORDS:
        return GoOn()
    return Task() if text.strip(_MARKS) or message.files else Command("help")


def _continues_talk(message: Incoming, text: str, view: View) -> bool:
    """Whether words without a mention go on with our conversation; in doubt we stay silent."""
    says_something = bool(text or message.files)
    return says_something and message.user in view.participants and not _NAMES_SOMEBODY.search(text)


def _command(text: str, *, is_asked: bool, is_typed: bool = False) -> Command | UnknownCommand | None:
    """Return the command a text is; ``is_typed`` where the platform's own command was used."""
    if text.lower().rstrip(".!") in _STOP_WORDS:
        return Command("stop")
    is_slash = text.startswith("/") and not text.startswith("//")
    words = _words(text.removeprefix("/hermes ").removeprefix("/"))
    if not words:
        return None
    verb = words[0].lower()
    is_bare = (is_slash or is_typed) and not (verb == "why" and len(words) > _RUN_WORDS)
    if verb in VERBS and (is_bare or _stands_as_command(verb, words, is_asked=is_asked)):
        args = (words[1].lower(), *words[2:]) if verb == "schedule" and words[1:] else words[1:]
        return Command(verb, tuple(args))
    if (is_slash or (is_typed and len(words) == 1)) and re.fullmatch(r"[a-z-]+", verb):
        return UnknownCommand(verb, next(iter(difflib.get_close_matches(verb, VERBS, n=1)), ""))
    return None


def _stands_as_command(verb: str, words: list[str], *, is_asked: bool) -> bool:
    """Whether plain words are a command: the verb alone, or ``run NAME`` and ``why RUN``."""
    if len(words) == 1:
        return verb not in _NOT_ALONE or (verb == "why" and not is_asked)
    if verb == "forget":
        return len(words) == _FORGET_WORDS and bool(_NOTE.match(words[1]))
    if verb == "save-skill":
        return len(words) <= _SAVE_WORDS and all(map(_SKILL_NAME.match, words[1:]))
    if verb == "schedule":
        return _is_of_schedules(words[1].lower(), words)
    return verb == "run" and bool(_SKILL_NAME.match(words[1])) and all("=" in word for word in words[2:])


def _is_of_schedules(verb: str, words: list[str]) -> bool:
    """Whether words after ``schedule`` are a command's: "schedule the digest for nine" is a task."""
    if verb == "list":
        return len(words) == 2 or [word.lower() for word in words[2:]] == ["all"]  # noqa: PLR2004 - as it reads
    if verb == "add":
        return True
    is_slip = bool(difflib.get_close_matches(verb, (*_OF_SCHEDULE, "list", "add"), 1, 0.75))
    return len(words) <= _NAME_WORDS and (verb in _OF_SCHEDULE or is_slip)


def skill_task(said: Incoming, args: tuple[str, ...]) -> Incoming:
    """Return a ``run NAME key=value …`` as the task it asks for."""
    params = dict(pair.split("=", 1) for pair in args[1:] if "=" in pair)
    return replace(said, request=Request(skill=args[0], params=params), complete=True)


def planned_task(said: Incoming) -> Incoming:
    """Return a ``schedule add …`` as the task it asks for, as it was written but with plain quotes."""
    found = _ADDS.match(said.text.translate(_QUOTES).strip())
    wish = found[1].strip() if found else ""
    return replace(said, request=Request(skill=SCHEDULE, params={WISH: wish}), complete=True)


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # an open quote
        return text.split()


def answer_to(question: QuestionRecord, text: str) -> Answer | NoAnswer:
    """Say whether a text answers a question, and with what."""
    asked = question.question
    if chosen := chosen_option(asked.options, text):
        return Answer(asked.id, chosen)
    if asked.open:
        return Answer(asked.id, text)
    choices = ", ".join(f"{number}. {label}" for number, label in enumerate(asked.options, 1))
    if asked.consent is not None:
        wait = f"I am waiting for a yes or a no to `{asked.consent.tool}`"
        return NoAnswer(asked.id, f"{wait}: {choices}. Send its number or its name.")
    return NoAnswer(asked.id, f"I can take one of these: {choices}. Send its number or its name.")


def names_a_vote(question: QuestionRecord | None, text: str) -> bool:
    """Whether a text says exactly what an open card takes: its yes or its no, by label or number."""
    if question is None or question.question.kind != "approval":
        return False
    return bool(chosen_option(question.question.options, text))


def chosen_option(options: tuple[str, ...], text: str) -> str:
    """Return the option that a text names by number (from 1) or label; empty where it names none."""
    word = text.strip().casefold()
    if options == (CONFIRM, CANCEL):
        word = _SPOKEN.get(word.rstrip(".!。"), word)
    if word.isascii() and word.isdigit() and 1 <= int(word[:4]) <= len(options):
        return options[int(word) - 1]
    return next((option for option in options if option.casefold() == word), "")
