"""Knows how long the adapter waits for what."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pauses:
    """Seconds; tests hand over shorter ones.

    Attributes:
        answer: for one call of the Web API.
        ping: between two pings on the socket.
        look: between two looks at how the socket stands.
        silent: without a frame or a pong until the socket is given up; with ``look`` and ``connect`` that
            makes the next one come within a minute.
        connect: for opening a socket.
        close: for closing one; a ``close`` that hangs is not waited for longer.
        drain: for what is being stored when a socket is given up, so that it is still acknowledged.
        calm: a socket that lived so long is followed by the next at once.
        back_off: before the next try to connect or to call, the last for ever; each with jitter.
        share: for an uploaded file to be seen in its channel.
        look_again: between two looks for that.
        run_message: of work until a message with a Stop button is shown in its thread.
        run_edit: between two edits of that message.
        run_post: between two of those messages in one channel, which has answers to take too.
        refresh: between two sendings of an unchanged status; Slack clears it after two minutes.
        minute: in which Slack counts calls.
        learn: for learning names at the start.
        gap: without a connection, after which what was missed is read.
        life: between two notes of being alive.
        body: for a request's body to come, in HTTP mode.
        idle: for a whole request to come on a connection, from its opening or the last one.
        ready: that a post waits for the adapter to be connected.
    """

    answer: float = 30.0
    ping: float = 10.0
    look: float = 2.0
    silent: float = 40.0
    connect: float = 8.0
    close: float = 5.0
    drain: float = 1.0
    calm: float = 30.0
    back_off: tuple[float, ...] = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0)
    share: float = 10.0
    look_again: float = 0.5
    run_message: float = 10.0
    run_edit: float = 3.0
    run_post: float = 2.0
    refresh: float = 90.0
    minute: float = 60.0
    learn: float = 3.0
    gap: float = 300.0
    life: float = 60.0
    body: float = 10.0
    idle: float = 75.0
    ready: float = 10.0

    def before_try(self, tries: int) -> float:
        """Return how long to wait before a try, by the number of tries that failed, without jitter."""
        return self.back_off[min(tries, len(self.back_off)) - 1] if tries else 0.0
