"""Knows what a run asks people, and what people said to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

QuestionKind = Literal["info", "approval", "budget", "overspend"]
"""``budget``: a run's own allowance; ``overspend``: one that it shares with others of the day."""
APPROVE, DENY = "Approve", "Deny"
CONFIRM, CANCEL = "Confirm", "Cancel"  # of what somebody asked for, once it was said back to them


@dataclass(frozen=True, slots=True)
class Consent:
    """The one exact action that people are asked to consent to (design §5, reliability.md §3).

    Attributes:
        key: what a yes is bound to, see ``consent_key``.
        args: the canonical arguments, whole.
        rule: the rule that wants a person to speak: ``danger``, ``tainted``, ``confirm``, ….
        needed: how many different people must agree.
        seconds: after which the question expires.
    """

    key: str
    tool: str
    args: str
    rule: str
    needed: int = 1
    seconds: int = 86_400


def consent_key(action_hash: str, step: str = "", item: int = 0) -> str:
    """Return what binds a consent to an action: a changed argument, step or item makes another key."""
    return f"{action_hash}/{step}/{item}" if step else action_hash


@dataclass(frozen=True, slots=True)
class Ruling:
    """What people decided of one exact action.

    Attributes:
        by: who decided, by their stable ids: all who agreed, or the one who did not.
        names: what they are called.
    """

    key: str
    is_yes: bool
    by: tuple[str, ...]
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """What a run asks a person.

    Attributes:
        id: unique, short enough for a button (platforms allow 64 bytes).
        options: at most 8 labels.
        open: free text is an answer too; otherwise only an option is.
        field: the parameter the answer is for; empty where the question is the model's own.
        default: the answer on expiry; empty means the run stops then.
        consent: what an approval is about.
        outside: a program outside the team wrote it.
    """

    id: str
    text: str
    options: tuple[str, ...] = ()
    open: bool = True
    field: str = ""
    default: str = ""
    kind: QuestionKind = "info"
    consent: Consent | None = None
    outside: bool = False

    def is_yes(self, text: str) -> bool:
        """Whether an answer agrees, where this is for consent: its first option does."""
        return bool(self.options) and text == self.options[0]


@dataclass(frozen=True, slots=True)
class Note:
    """What a person said to a run: added while it worked (``question`` empty) or as an answer.

    Attributes:
        outside: what in it somebody else wrote; empty where nothing is.
    """

    user: str
    name: str
    text: str
    question: str = ""
    message: str = ""
    outside: str = ""
