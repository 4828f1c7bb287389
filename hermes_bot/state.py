"""Knows a run's state: one frozen value, the fold of the run's journal rows. Pure.

No state is stored beside the rows; ``fold.apply`` makes the state from them. A row carries the ``schema``
number of its data, and every schema ever written is read, so an upgrade never strands a waiting run.

The rows of a run, in order::

    intake                          the goal, its limits, what was said before
    ┌ person*                       what people added, or their answer to a question
    │ observe                       the prompt, by reference
    │ reason                        the decision                            ── first commit of the round
    │ act                           the intent, when the decision is a tool
    │ step*                         a chain's steps, each with its own commit
    │ absorb                        what came back
    └ judge                         go on, wait, finish or stop             ── second commit
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from hermes_bot.decisions import Decision, SubGoal
    from hermes_bot.messages import Attachment, Json, Place, ThreadKey, Trust

SCHEMA = 1
RECENT_ROUNDS = 6
TRACES = 5
OLDER_CHARS = 4_000  # what one-line summaries of older rounds may take before the oldest are folded
FORGOTTEN = "forgotten"  # the key that marks a row out of whose data something was taken
MOST_KEPT = 3
FOLDED_CHARS = 2_000  # what the values of still older rounds may take

Phase = Literal["intake", "person", "observe", "reason", "act", "step", "absorb", "judge"]
Status = Literal["queued", "running", "waiting", "finished", "stopped", "failed", "cancelled"]
QuestionKind = Literal["info", "approval", "budget", "overspend"]
"""``budget``: a run's own allowance; ``overspend``: one that it shares with others of the day."""
APPROVE, DENY = "Approve", "Deny"
MOST_ORIGINS = 8
OVER: frozenset[str] = frozenset({"finished", "stopped", "failed", "cancelled"})


@dataclass(frozen=True, slots=True)
class Row:
    """One journal row; appended, never rewritten.

    Attributes:
        data: what ``apply`` needs of this phase, in the form that ``schema`` names.
        action: the tool's name, where the phase is about one; ``action_hash`` is ``Action.hash``.
        cost: money in the unit of the configured prices.
        seq: the row's place in the journal, given by the store; 0 before it is stored.
    """

    run: str
    round: int
    phase: Phase
    at: datetime
    data: Mapping[str, Any] = field(default_factory=dict)
    action: str = ""
    action_hash: str = ""
    status: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    latency_ms: int = 0
    schema: int = SCHEMA
    seq: int = 0


@dataclass(frozen=True, slots=True)
class Goal:
    """What the run is for.

    Attributes:
        text: the person's own words, never shortened.
        objective: the task in one sentence, as the model understood it.
        skill: a skill the person named; the run then goes straight to its chain.
        params: what is known of the skill's parameters.
        transcript: what was said in the thread before, oldest first, each line with its author.
    """

    text: str
    objective: str = ""
    author: str = ""
    constraints: tuple[str, ...] = ()
    skill: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    transcript: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """The guards' figures of one run (design §4.5).

    Attributes:
        seconds: working time; waiting is not counted.
        money: 0 means no limit.
        reflect_every: after so many rounds the model looks back; 0 means never.
        verify: one more call checks an answer before it is posted.
        tools: patterns of the tools that may be used; empty means all.
    """

    profile: str = "task"
    rounds: int = 20
    seconds: int = 600
    tokens: int = 200_000
    money: float = 0.0
    confidence: float = 0.6
    repeats: int = 3
    stagnation: int = 3
    malformed: int = 3
    failures: int = 5
    reflect_every: int = 4
    verify: bool = False
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """What a run has used so far."""

    rounds: int = 0
    tokens: int = 0
    cost: float = 0.0
    worked_ms: int = 0


@dataclass(frozen=True, slots=True)
class Consent:
    """The one exact action that people are asked to consent to (design §5, reliability.md §3).

    Attributes:
        key: what a yes is bound to, see ``consent_key``.
        args: the canonical arguments, whole.
        rule: the rule that wants a person to speak: ``danger``, ``tainted``, ….
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
class Share:
    """What is used of a budget that runs share.

    Attributes:
        name: its key in ``[budgets]``, ``channel_tokens`` say.
    """

    name: str
    used: float
    limit: float


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
    """

    id: str
    text: str
    options: tuple[str, ...] = ()
    open: bool = True
    field: str = ""
    default: str = ""
    kind: QuestionKind = "info"
    consent: Consent | None = None


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


@dataclass(frozen=True, slots=True)
class Round:
    """One finished round as the workbench shows it.

    Attributes:
        call: ``name {canonical args}``, or the decision's kind where it called no tool.
        text: the absorbed observation, labels included, as the model sees it.
        summary: one line that keeps the values; what stays once the round is older.
        superseded: the later round that made the same read again; 0 where none did.
    """

    number: int
    thought: str
    call: str
    action_hash: str
    status: str
    text: str
    summary: str
    superseded: int = 0


@dataclass(frozen=True, slots=True)
class Trace:
    """What the guards remember of a round.

    Attributes:
        is_outside: its action failed for a reason outside the run, not by a slip in the call.
        result: the beginning of what came back.
        values: its values, on one line.
    """

    round: int
    tool: str
    action_hash: str
    args: str
    result: str
    is_ok: bool
    is_progress: bool
    values: str = ""
    is_outside: bool = False


@dataclass(frozen=True, slots=True)
class Reflection:
    """A look back that counted: ``continue``, ``pivot`` or ``stop``, decided in that round, and why."""

    round: int
    verdict: str
    reason: str


@dataclass(frozen=True, slots=True)
class Kept:
    """What the model said of rounds that are folded, in its own words; both rounds belong to it."""

    first: int
    last: int
    text: str


@dataclass(frozen=True, slots=True)
class Stale:
    """A round whose result is older than what was asked for.

    Attributes:
        tool: empty once a later round had fresh data of the same tool.
        as_of: the moment that the result describes, ISO 8601 UTC.
    """

    round: int
    tool: str
    as_of: str


@dataclass(frozen=True, slots=True)
class StepDone:
    """A chain step with a recorded result: it is not run again."""

    step: str
    item: int
    status: str
    data: Json


@dataclass(frozen=True, slots=True)
class Recalled:
    """What was kept earlier and has to do with this run.

    Attributes:
        id: the memory's; what is forgotten later is taken out by it.
        about: for whom it is kept and since when, in words.
    """

    id: int
    text: str
    about: str = ""
    trust: Trust = "trusted"


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
    used: Usage = Usage()
    base: Usage = Usage()
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
    def answers(self) -> tuple[Note, ...]:
        """What people answered to questions of this run, in order."""
        return tuple(note for note in self.notes if note.question)
