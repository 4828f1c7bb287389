"""Knows the state of a run as one frozen value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from hermes_bot.state.goal import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_bot.decisions import Decision, SubGoal
    from hermes_bot.messages import Attachment, Place, ThreadKey
    from hermes_bot.state.asking import Note, Question, Ruling
    from hermes_bot.state.goal import Goal, Limits, Planned, Recalled
    from hermes_bot.state.past import Kept, Reflection, Round, Stale, StepDone, Trace

Status = Literal["queued", "running", "waiting", "finished", "stopped", "failed", "cancelled"]
OVER: frozenset[str] = frozenset({"finished", "stopped", "failed", "cancelled"})
MOST_ORIGINS = 8
UNUSED = Usage()


@dataclass(frozen=True)  # no slots: changed() copies the whole dictionary at once
class RunState:
    """Everything the loop knows of one run.

    Attributes:
        root: the run whose effect keys this one shares; itself unless continued or delegated.
        parent: the run that delegated this one; it alone posts, asks and carries it. Empty for most.
        decision: decided in the round at hand and not yet judged.
        has_intent: the act row of the round is written: its tool may have run.
        came: the Result row data of the round at hand, absorbed and not yet judged.
        steps: recorded steps of the chain at hand.
        base: the usage that no longer counts, set by Continue.
        told_shares: shared budgets that the thread was told are nearly used up.
        allowed: up to which sum of a shared budget an operator let the run go on, by the budget's name.
        grant: what of it the open question asks for.
        reason: why the run ended or waits ("rounds", "repetition", …).
        reports: chains' reports, word for word, keyed by round; the last is the answer of a chain run.
        files: what goes with the post that ends the run; a later one takes the place of one of its name.
        effects: names of tools with a recorded, successful effect.
        refusals: how many finishes were refused; ``has_worked``: a tool was called since the last of them.
        unknowns: names of tools of whose effect nobody knows whether it happened.
        is_forward: the decision at hand marked a sub-goal as done that was not done before.
        recalled: what earlier runs and people left for this one.
        hint: what the next prompt must tell the model about its form.
        place: who reads the thread, as it was when the run began.
        is_tainted: something from outside the team has entered the run, which may give orders.
        is_private: the run holds what not everybody may read.
        links: hosts, or globs of them, that an answer may link to although the run is tainted.
        origins: where outside and private data came from, the first few.
        rulings: what people decided of single actions; a yes leaves with the action it was for.
        heard: the round after which a person last said something to the run.
        reflected: the round after which a look back was last asked for.
        reflection: the last one that counted.
        stale: rounds whose results were older than what was asked for.
        kept: what the model said of rounds before they were folded, the last few.
        content_key: the mark of what a finished chain's report is about, where its skill says what counts
            (``compare``): only-on-change looks at it instead of the text. Empty for most.
        planned: the firing of a schedule that this run is the work of.
    """

    run: str
    thread: ThreadKey
    asker: str
    goal: Goal
    limits: Limits
    root: str = ""
    parent: str = ""
    status: Status = "running"
    round: int = 0
    decision: Decision | None = None
    has_intent: bool = False
    came: Mapping[str, Any] | None = None
    steps: tuple[StepDone, ...] = ()
    recent: tuple[Round, ...] = ()
    older: tuple[tuple[int, str, str], ...] = ()
    folded: str = ""
    notes: tuple[Note, ...] = ()
    plan: tuple[SubGoal, ...] = ()
    ok_rounds: frozenset[int] = frozenset()
    ok_tools: frozenset[str] = frozenset()
    tried_tools: frozenset[str] = frozenset()
    effects: tuple[str, ...] = ()
    unknowns: tuple[str, ...] = ()
    traces: tuple[Trace, ...] = ()
    malformed: int = 0
    failures: int = 0
    refusals: int = 0
    has_worked: bool = True
    used: Usage = UNUSED
    base: Usage = UNUSED
    told_budget: bool = False
    told_shares: frozenset[str] = frozenset()
    allowed: Mapping[str, float] = field(default_factory=dict)
    grant: Mapping[str, float] = field(default_factory=dict)
    is_forward: bool = False
    question: Question | None = None
    reason: str = ""
    answer: str = ""
    confidence: float = 0.0
    is_verified: bool = True
    reports: tuple[tuple[int, str], ...] = ()
    files: tuple[Attachment, ...] = ()
    hint: str = ""
    place: Place = "channel"
    is_tainted: bool = False
    links: tuple[str, ...] = ()
    is_private: bool = False
    origins: tuple[str, ...] = ()
    rulings: tuple[Ruling, ...] = ()
    heard: int = 0
    reflected: int = 0
    reflection: Reflection | None = None
    stale: tuple[Stale, ...] = ()
    kept: tuple[Kept, ...] = ()
    recalled: tuple[Recalled, ...] = ()
    planned: Planned | None = None
    content_key: str = ""

    def changed(self, **fields: Any) -> RunState:
        """Return the state with some fields changed.

        What ``dataclasses.replace`` does, at a tenth of its time: a round makes half a dozen states.

        Raises:
            TypeError: there is no such field.
        """
        if not fields.keys() <= self.__dataclass_fields__.keys():
            raise TypeError(f"RunState has no {', '.join(fields.keys() - self.__dataclass_fields__.keys())}")
        state = object.__new__(RunState)
        state.__dict__.update(self.__dict__, **fields)
        return state

    @property
    def is_running(self) -> bool:
        """Whether the loop has work to do."""
        return self.status == "running"

    @property
    def spent(self) -> Usage:
        """What counts against the limits: everything since the start or the last Continue."""
        return Usage(
            self.used.rounds - self.base.rounds,
            self.used.tokens - self.base.tokens,
            self.used.cost - self.base.cost,
            self.used.worked_ms - self.base.worked_ms,
        )

    def ruling(self, key: str) -> Ruling | None:
        """Return what people last decided of an action; None where nobody has."""
        return next((one for one in reversed(self.rulings) if one.key == key), None)

    @property
    def askers(self) -> tuple[str, ...]:
        """Who asked for what the run does: who gave the task, and who added to it."""
        added = (note.user for note in self.notes if not note.question)
        return tuple(dict.fromkeys((self.asker, *added)))

    @property
    def answers(self) -> tuple[Note, ...]:
        """What people answered to questions of this run, in order."""
        return tuple(note for note in self.notes if note.question)
