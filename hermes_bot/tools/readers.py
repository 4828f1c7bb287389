"""Knows who somebody is to the memory: by their role, and by who else reads where they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_bot.access import Role, Where
from hermes_bot.memory import Reader

if TYPE_CHECKING:
    from hermes_bot.access import Policy
    from hermes_bot.messages import Place, ThreadKey
    from hermes_bot.state import RunState


@dataclass(frozen=True, slots=True)
class Readers:
    """Says it of people in threads."""

    policy: Policy

    def at(self, person: str, thread: ThreadKey, place: Place) -> Reader:
        """Return who somebody is in a thread of this kind of place."""
        role = self.policy.role(person, Where.of(thread, place))
        is_program = self.policy.is_bot(person)
        return Reader(
            person,
            thread,
            place,
            is_member=role >= Role.MEMBER and not is_program,
            is_operator=role >= Role.OPERATOR,
        )

    def of_run(self, state: RunState) -> Reader:
        """Return who asked for a run, where its thread is."""
        return self.at(state.asker, state.thread, state.place)
