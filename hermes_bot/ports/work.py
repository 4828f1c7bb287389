"""Knows the seams of a run: what it asks of models, tools and the journal."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from hermes_bot.decisions import Action, NativeCall
    from hermes_bot.messages import Result
    from hermes_bot.ports.time import Clock
    from hermes_bot.state import Note, Question, Row, RunState, Share

Risk = Literal["read", "write", "danger"]


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request to a model, finished.

    Attributes:
        messages: the JSON array of chat messages, encoded.
        tools: the JSON array of native tool declarations, encoded; empty where not asked for.
        schema: the JSON schema of the one object the model shall write, encoded; empty for plain text.
        tokens: an estimate of the size of ``messages``.
    """

    messages: bytes
    tools: bytes = b""
    schema: bytes = b""
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model answered.

    Attributes:
        cost: in the unit of the configured prices; 0 where none are.
        model: the endpoint's name of the model that answered.
    """

    text: str
    calls: tuple[NativeCall, ...] = ()
    finish_reason: str = "stop"
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    latency_ms: int = 0
    model: str = ""


class Model(Protocol):
    """Whoever decides: an endpoint, or the offline decider."""

    async def complete(self, prompt: Prompt, state: RunState) -> Completion:
        """Return one completion of the prompt.

        ``state`` is what the prompt was built from: the offline decider reads it instead of the prompt.

        Raises:
            ModelError: the endpoint and its fallbacks failed; the code and text say how.
        """
        ...


@dataclass(frozen=True, slots=True)
class ToolCard:
    """A tool as the model is told of it: one line, and the schema of its arguments."""

    name: str
    summary: str
    schema: Mapping[str, Any] = field(hash=False)  # a mapping has no hash, and the prompt is cached by card
    risk: Risk = "read"


_NATIVE_CHARS = 64
_NOT_NATIVE = re.compile(r"[^A-Za-z0-9_-]")


def native_name(name: str) -> str:
    """Return a tool's name as endpoints take it for native calls: letters, digits, ``_``, ``-``; at most 64.

    ``files.read_file`` becomes ``files__read_file``. Source: OpenAI API reference, chat completions,
    ``tools[].function.name``.
    """
    plain = _NOT_NATIVE.sub("__", name)
    if len(plain) <= _NATIVE_CHARS:
        return plain
    return f"{plain[: _NATIVE_CHARS - 9]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"


@dataclass(frozen=True, slots=True)
class Prepared:
    """An action that may run: found, its arguments validated and canonical.

    Attributes:
        key: the effect key; empty for a read.
        timeout: seconds.
        max_chars: what of its result the model gets to see.
        asks: what people must agree to first; nothing runs before they have.
        is_private: what it gives is the team's, and not for everybody.
        fresh_seconds: how long its data counts as fresh; 0 where the tool does not say.
        fresher: how newer data is had, in a few words; empty where reading again is the way.
    """

    action: Action
    risk: Risk
    key: str = ""
    timeout: float = 30.0
    is_idempotent: bool = False
    max_chars: int = 4_000
    asks: Question | None = None
    is_private: bool = False
    fresh_seconds: float = 0.0
    fresher: str = ""


@dataclass(frozen=True, slots=True)
class Prior:
    """What the effect ledger already holds for a key.

    Attributes:
        result: the stored outcome; None where the intent stands without one, so that it is unknown.
    """

    state: Literal["intent", "done", "failed", "unknown"]
    result: Result | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an effect ended, for the ledger; without a result nothing was done, and it may be begun anew."""

    key: str
    result: Result | None = None


def taken_back(prepared: Prepared) -> Outcome:
    """Return the outcome of an effect whose tool asks a person first: nothing was done, it may begin anew."""
    return Outcome(prepared.key)


class Journal(Protocol):
    """One run's record: what is committed is safe, whatever dies after."""

    def added(self) -> tuple[Note, ...]:
        """Return what people wrote to the run since the last call; each note is handed over once."""
        ...

    async def commit(
        self,
        state: RunState,
        rows: Sequence[Row],
        *,
        intent: Prepared | None = None,
        outcome: Outcome | None = None,
    ) -> Prior | None:
        """Append rows, and all that follows from them, in one transaction.

        ``state`` is the state after the rows: a question it waits for and an answer it ends with are stored
        with them. With an ``intent`` the ledger is asked first, and what it already holds is returned.

        Raises:
            RunOver: the run was ended by someone else meanwhile; nothing was stored.
        """
        ...

    def keep_prefix(self, digest: str, text: str) -> None:
        """Have a prompt's stable prefix stored with the next commit, once for all runs."""
        ...

    def shares(self) -> tuple[Share, ...]:
        """Return what was used at the last commit of the budgets that runs share; empty without such."""
        ...

    def show(self, text: str) -> None:
        """Show what the run is doing right now in its status line; returns at once."""
        ...


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a call knows beside its arguments.

    Attributes:
        workspace: the thread's own folder, mode 0700.
        key: the effect key of this call; empty for a read.
    """

    state: RunState
    journal: Journal
    clock: Clock
    model: Model
    workspace: Path
    key: str = ""
    step: str = ""
    item: int = 0


class Toolbox(Protocol):
    """All tools of a run behind one door. Nothing a tool does raises out of it."""

    def cards(self, state: RunState) -> tuple[ToolCard, ...]:
        """Return the tools that are shown to the model for this run."""
        ...

    def prepare(self, action: Action, state: RunState, *, step: str = "", item: int = 0) -> Prepared | Result:
        """Find the tool, coerce and validate its arguments, check permission; a ``Result`` is the refusal.

        ``step`` and ``item`` name a chain's step, so that its effect has a key of its own.
        """
        ...

    async def reconcile(self, prepared: Prepared, context: ToolContext) -> Result | None:
        """Find out how an effect ended whose outcome is not known; None where the tool cannot say."""
        ...

    async def run(self, prepared: Prepared, context: ToolContext) -> Result | Question:
        """Run a prepared action inside its time-out; a ``Question`` means a person must speak first."""
        ...
