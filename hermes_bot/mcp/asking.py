"""Knows how a server's question in mid-call becomes a question of the run, and people's answers the server's.

No call waits for people. A server that asks (``elicitation/create``) and has no recorded answer yet is told
that nobody chose ("cancel"), the tool call ends with a ``Question`` and the run waits as a row. Once it is
answered the same call is made again, and what the server asks then is answered from the run's notes. The id
of a question holds the round, the step and a hash of what is asked: an answer is for exactly this one.

For a tool with an effect this is right because a server that asks waits for the answer before it acts (MCP
2025-11-25, client/elicitation: an accepted answer is what it needs to go on), and "cancel" has it do nothing.
What remains: a server that acts before it asks, or on "cancel", acts twice; the approval that tools with an
effect need, unless the operator says otherwise, is the wall against that.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import mcp_types as types

from hermes_bot.loop.noise import one_line
from hermes_bot.mcp.fields import CLOSED, Asked, Unreadable, fields_of
from hermes_bot.state import Question

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_bot.mcp.fields import Value
    from hermes_bot.ports import ToolContext

MAX_FIELDS = 12
_TEXT_CHARS = 600
_CANCEL = types.ElicitResult(action="cancel")


class Asking:
    """One call, as far as its server's questions go.

    Attributes:
        question: what people must say before the call can be made again; None while nothing is open.
    """

    def __init__(self, tool: str, context: ToolContext) -> None:
        self.question: Question | None = None
        self._tool = tool
        self._context = context
        self._said = {note.question: note.text for note in context.state.answers}
        self._seen: dict[str, int] = {}

    def is_open(self) -> bool:
        """Whether people must speak before the call can be made again."""
        return self.question is not None

    def answer(self, params: types.ElicitRequestParams) -> types.ElicitResult:
        """Return what people answered to this; "cancel" where they have not, and keep the question."""
        if self.question is not None:
            return _CANCEL
        asked = self._digest(params)
        if isinstance(params, types.ElicitRequestURLParams):
            where = one_line(params.url, 500)
            confirm = Asked("", f"Open {where} yourself, then say so here.", CLOSED, ("Done", "Decline"))
            return self._collect(asked, params.message, [confirm], is_form=False)
        fields = fields_of(params.requested_schema)[:MAX_FIELDS]
        return self._collect(asked, params.message, fields, is_form=True)

    def _collect(
        self, asked: str, message: str, fields: Sequence[Asked], *, is_form: bool
    ) -> types.ElicitResult:
        content: dict[str, Value] = {}
        for number, field in enumerate(fields):
            value = self._value(f"{asked}{number}", message, field)
            if self.question is not None:
                return _CANCEL
            if value is DECLINED:
                return types.ElicitResult(action="decline")
            if field.name and value is not None:
                content[field.name] = value
        return types.ElicitResult(action="accept", content=content if is_form else None)

    def _value(self, asked: str, message: str, field: Asked) -> Any:
        """Return the recorded value of a field; asks for it, again where what was said is none."""
        problem = ""
        for attempt in range(MAX_FIELDS):
            key = f"{asked}{'abcdefghijkl'[attempt]}"
            said = self._said.get(key)
            if said is None:
                self.question = self._question(key, message, field, problem)
                return None
            if field.is_declined(said):
                return DECLINED
            try:
                return field.read(said)
            except Unreadable as unreadable:
                problem = str(unreadable)
        return DECLINED

    def _question(self, key: str, message: str, field: Asked, problem: str) -> Question:
        told = one_line(message, _TEXT_CHARS)
        parts = (problem, f"`{self._tool}` asks: {told}", field.text)
        return Question(
            id=key,
            text="\n\n".join(part for part in parts if part),
            options=field.options,
            open=not field.options,
            field=field.name[:60],
        )

    def _digest(self, params: types.ElicitRequestParams) -> str:
        """Return how the ids of this question begin: its round, step and text, and how often it came."""
        state, context = self._context.state, self._context
        shape = params.model_dump(mode="json", by_alias=True, exclude={"meta", "task", "elicitation_id"})
        text = json.dumps([self._tool, context.step, context.item, shape], sort_keys=True)
        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:10]
        count = self._seen[digest] = self._seen.get(digest, 0) + 1
        return f"q-{state.run}-{state.round}-m{digest}{count}-"


class _Declined:
    """A person said no to a server's question."""


DECLINED = _Declined()
