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

from hermes_bot.state.asking import (
    APPROVE,
    CANCEL,
    CONFIRM,
    DENY,
    Consent,
    Note,
    Question,
    QuestionKind,
    Ruling,
    consent_key,
)
from hermes_bot.state.goal import Goal, Limits, Planned, Recalled, Share, Usage
from hermes_bot.state.past import (
    FOLDED_CHARS,
    MOST_KEPT,
    OLDER_CHARS,
    RECENT_ROUNDS,
    TRACES,
    Kept,
    Reflection,
    Round,
    Stale,
    StepDone,
    Trace,
)
from hermes_bot.state.rows import FORGOTTEN, SCHEMA, Phase, Row
from hermes_bot.state.run import MOST_ORIGINS, OVER, RunState, Status

__all__ = [
    "APPROVE",
    "CANCEL",
    "CONFIRM",
    "DENY",
    "FOLDED_CHARS",
    "FORGOTTEN",
    "MOST_KEPT",
    "MOST_ORIGINS",
    "OLDER_CHARS",
    "OVER",
    "RECENT_ROUNDS",
    "SCHEMA",
    "TRACES",
    "Consent",
    "Goal",
    "Kept",
    "Limits",
    "Note",
    "Phase",
    "Planned",
    "Question",
    "QuestionKind",
    "Recalled",
    "Reflection",
    "Round",
    "Row",
    "Ruling",
    "RunState",
    "Share",
    "Stale",
    "Status",
    "StepDone",
    "Trace",
    "Usage",
    "consent_key",
]
