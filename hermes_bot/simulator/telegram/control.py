"""Knows what of the simulator is open to its control door."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_bot.simulator.door import Door, Verb

if TYPE_CHECKING:
    from hermes_bot.simulator.telegram.simulator import TelegramSimulator


def door(sim: TelegramSimulator) -> Door:
    """Return the door of one simulator."""
    verbs: tuple[Verb, ...] = (
        sim.say,
        sim.edit,
        sim.delete,
        sim.press,
        sim.push,
        sim.add_user,
        sim.add_topic,
        sim.close_topic,
        sim.reopen_topic,
        sim.delete_topic,
        sim.set_status,
        sim.kick,
        sim.invite,
        sim.block,
        sim.unblock,
        sim.migrate,
        sim.redeliver_next,
        sim.conflict_for,
        sim.hang_polls,
        sim.shuffle,
        sim.jump_update_ids,
    )

    def add_chat(chat: int, topics: dict[str, str] | None = None, **details: Any) -> None:
        sim.add_chat(chat, topics={int(number): name for number, name in (topics or {}).items()}, **details)

    return Door(sim.ledger, sim.faults, (*verbs, add_chat), lambda: _state(sim))


def _state(sim: TelegramSimulator) -> dict[str, Any]:
    """Return what there is beside the messages, as JSON values."""
    state = sim.state
    return {
        "base_url": sim.base_url,
        "file_base_url": sim.file_base_url,
        "token": sim.token,
        "bot": state.bot.to_json(),
        "privacy": state.privacy,
        "people": [person.to_json() for person in state.people.values()],
        "chats": [
            chat.to_json()
            | {
                "members": {str(user): status for user, status in chat.members.items()},
                "topics": {str(number): topic.name for number, topic in chat.topics.items()},
            }
            for chat in state.chats.values()
        ],
        "pending_updates": len(state.updates),
        "confirmed": state.updates.confirmed,
        "open_polls": state.polls.waiting,
        "webhook": state.webhook.url,
        "commands": state.commands,
        "calls": len(state.calls),
        "faults": dict(sim.faults.hits),
        "complaints": state.complaints,
    }
