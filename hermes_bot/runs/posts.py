"""Knows what a run posts: its answer, its question, its report, in words and with buttons. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_bot.loop.report import progress_report
from hermes_bot.messages import Button, Outgoing, Press

if TYPE_CHECKING:
    from hermes_bot.messages import ThreadKey
    from hermes_bot.state import Question, RunState

CONTINUE_PREFIX = "c-"


def question_post(state: RunState, question: Question, reply_to: str) -> Outgoing:
    """Return a question's post: buttons for its options, or a line that says how to answer."""
    buttons = tuple(Button(label, Press(question.id, index)) for index, label in enumerate(question.options))
    hint = ""
    if buttons:
        hint = "\n\n_Choose one, or reply here._" if question.open else "\n\n_Choose one._"
    return Outgoing(
        key=question_key(question.id),
        thread=state.thread,
        text=question.text + hint,
        kind="question",
        buttons=buttons,
        reply_to=reply_to,
    )


def reminder_post(question: Question, thread: ThreadKey, number: int) -> Outgoing:
    """Return the n-th reminder of a question that nobody answered yet; its buttons are the question's."""
    buttons = tuple(Button(label, Press(question.id, index)) for index, label in enumerate(question.options))
    return Outgoing(
        key=f"{question_key(question.id)}/reminder-{number}",
        thread=thread,
        text=f"Still waiting for an answer: {question.text}",
        kind="notice",
        buttons=buttons,
    )


def question_key(question: str) -> str:
    """Return the outbox key of a question's post."""
    return f"question/{question}"


def final_post(state: RunState, reply_to: str) -> Outgoing:
    """Return the one post that ends a run."""
    is_stopped = state.status == "stopped"
    return Outgoing(
        key=f"{state.run}/answer",
        thread=state.thread,
        text=final_text(state),
        kind="report" if is_stopped else "answer",
        buttons=(Button("Continue", Press(CONTINUE_PREFIX + state.run, 0)),) if is_stopped else (),
        reply_to=reply_to,
    )


def budget_post(state: RunState, number: int) -> Outgoing:
    """Return the note that most of a run's budget is used."""
    text = f"This task has used {state.spent.tokens:,} of its {state.limits.tokens:,} tokens."
    return Outgoing(f"{state.run}/budget-{number}", state.thread, text, kind="notice")


def final_text(state: RunState) -> str:
    """Return what a run that is over says."""
    match state.status:
        case "finished":
            label = (
                "" if state.is_verified else "_Unverified: I could not back all of this with what I did._\n\n"
            )
            return label + state.answer + _covered(state)
        case "stopped":
            return "\n\n".join(part for part in (state.answer, progress_report(state)) if part)
        case "cancelled":
            return f"Stopped as asked. Run `{state.run}` will do nothing more."
        case _:
            why = state.answer or "an internal error"
            return f"I could not finish this: {why}\n\nRun `{state.run}`."


def _covered(state: RunState) -> str:
    """Name the messages, beside the first, that the answer covers."""
    added = [note for note in state.notes if not note.question]
    if not added:
        return ""
    quoted = "; ".join(f"“{' '.join(note.text.split())[:80]}”" for note in added)
    return f"\n\n_This also covers what was added: {quoted}._"
