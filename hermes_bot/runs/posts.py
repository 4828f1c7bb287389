"""Knows what a run posts: its answer, its question, its report, in words and with buttons. Pure."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from hermes_bot.consent import CONFIRMED, what_was_asked, whole_arguments
from hermes_bot.loop.report import budget_text, progress_report, share_text, whose
from hermes_bot.markdown import hosts_in, inert, tamed
from hermes_bot.messages import Button, Outgoing, Press
from hermes_bot.ports import CONTINUE_PREFIX

if TYPE_CHECKING:
    from datetime import date

    from hermes_bot.messages import Attachment, ThreadKey
    from hermes_bot.state import Question, RunState, Share

QUESTION_PREFIX = "question/"
GO_ON, LEAVE = 0, 1  # what the buttons under a stopped run's report say
_STILL = ("Still waiting for an answer", "Still waiting for a yes or a no")
UNVERIFIED = "_Unverified: I could not back all of this with what I did._"


def question_post(state: RunState, question: Question, reply_to: str) -> Outgoing:
    """Return the post of a run's question."""
    return question_post_of(question, state.thread, reply_to)


def question_post_of(question: Question, thread: ThreadKey, reply_to: str = "") -> Outgoing:
    """Return a question's post: buttons for its options, or a line that says how to answer."""
    buttons = tuple(Button(label, Press(question.id, index)) for index, label in enumerate(question.options))
    return Outgoing(
        key=question_key(question.id),
        thread=thread,
        text=question.text + (f"\n\n_{_hint(question)}_" if buttons else ""),
        kind="question",
        buttons=buttons,
        files=whole_arguments(question.consent) if question.consent else (),
        reply_to=reply_to,
    )


def _hint(question: Question) -> str:
    if question.consent is not None and question.consent.rule == CONFIRMED:
        return "Choose one, or reply yes or no."
    if question.consent is not None:
        return "Choose one. A yes is for exactly this call, once."
    return "Choose one, or reply here." if question.open else "Choose one."


def counted_card(question: Question, thread: ThreadKey, number: int, say: str) -> Outgoing:
    """Return what takes the place of an approval's post after the n-th yes of several: it stays open."""
    card = question_post_of(question, thread)
    text = f"{question.text}\n\n_{say}_"
    # its files are there already
    return replace(card, key=f"{card.key}/vote-{number}", text=text, files=(), edits=card.key)


def reminder_post(question: Question, thread: ThreadKey, number: int, reply_to: str = "") -> Outgoing:
    """Return the n-th reminder of a question that nobody answered yet; its buttons are the question's.

    It answers the question's own post, which may be far above by now.
    """
    buttons = tuple(Button(label, Press(question.id, index)) for index, label in enumerate(question.options))
    return Outgoing(
        key=f"{question_key(question.id)}/reminder-{number}",
        thread=thread,
        text=f"{_STILL[question.consent is not None]}: {what_was_asked(question)}",
        kind="notice",
        buttons=buttons,
        reply_to=reply_to,
    )


def closed_reminder(question: Question, thread: ThreadKey, number: int, say: str) -> Outgoing:
    """Return what takes the place of the n-th reminder once its question is over."""
    reminder = reminder_post(question, thread, number)
    text = f"{reminder.text}\n\n_{say}_"
    return Outgoing(f"{reminder.key}/closed", thread, text, kind="notice", edits=reminder.key)


def question_key(question: str) -> str:
    """Return the outbox key of a question's post."""
    return QUESTION_PREFIX + question


def question_of(key: str) -> str:
    """Return the question whose post has this key; empty for other posts, its reminders too."""
    question = key.removeprefix(QUESTION_PREFIX)
    return question if key.startswith(QUESTION_PREFIX) and "/" not in question else ""


def final_post(state: RunState, reply_to: str) -> Outgoing:
    """Return the one post that ends a run."""
    is_stopped = state.status == "stopped"
    return Outgoing(
        key=f"{state.run}/answer",
        thread=state.thread,
        text=final_text(state),
        kind="report" if is_stopped else "answer",
        buttons=_stop_buttons(state.run) if is_stopped else (),
        files=final_files(state),
        reply_to=reply_to,
    )


def final_files(state: RunState) -> tuple[Attachment, ...]:
    """Return what goes with the post that ends a run; who stopped it by hand wants nothing more of it."""
    return () if state.status == "cancelled" else state.files


def _stop_buttons(run: str) -> tuple[Button, ...]:
    question = CONTINUE_PREFIX + run
    return Button("Continue", Press(question, GO_ON)), Button("Stop", Press(question, LEAVE))


def settled_card(state: RunState, say: str) -> Outgoing:
    """Return what takes the place of a stopped run's report once somebody decided what becomes of it."""
    text = f"{final_text(state)}\n\n_{say}_"
    key = f"{state.run}/answer"
    return Outgoing(f"{key}/settled", state.thread, text, kind="report", edits=key)


def closed_card(question: Question, thread: ThreadKey, say: str) -> Outgoing:
    """Return what takes the place of a question's post once it is over: no buttons, but who and what."""
    key = question_key(question.id)
    text = f"{what_was_asked(question)}\n\n_{say}_"
    return Outgoing(f"{key}/closed", thread, text, kind="question", edits=key)


def budget_post(state: RunState, number: int, reply_to: str) -> Outgoing:
    """Return the note that most of a run's budget is used."""
    text = f"This task has used {budget_text(state)}."
    key = f"{state.run}/budget-{number}"
    return Outgoing(key, state.thread, text, kind="notice", reply_to=reply_to)


def share_post(state: RunState, share: Share, day: date) -> Outgoing:
    """Return the note that most of a shared budget is used; its key lets a thread hear it once a day."""
    used = share_text(share.used, share.name)
    text = f"{whose(share.name)} is nearly used up: {used} of {share.limit:,g}."
    return Outgoing(f"budget/{share.name}/{day}/{state.thread}", state.thread, text, kind="notice")


def final_text(state: RunState) -> str:
    """Return what a run that is over says."""
    text = "\n\n".join(part for part in (*_said(state), _unknown(state), _covered(state)) if part.strip())
    return tame(state, text)


def tame(state: RunState, text: str) -> str:
    """Return a model's words as people may see them: of a tainted run no link that nobody asked for.

    A page can talk a model into an address that carries away what the run knows, or that people should not
    open. What the person named, and what the configuration lists, stays a link (reliability.md §3).
    """
    return _tame(state, text) if state.is_tainted else text


def _tame(state: RunState, text: str) -> str:
    said = (state.goal.text, *(note.text for note in state.notes))
    named = frozenset[str]().union(*map(hosts_in, said))
    return tamed(text, lambda host: host in named or any(fnmatchcase(host, one) for one in state.links))


def tame_question(state: RunState, question: Question) -> Question:
    """Return a run's question as people may see it; one for consent shows the exact arguments as they are."""
    if question.consent is not None or not (state.is_tainted or question.outside):
        return question
    return replace(question, text=_tame(state, question.text))


def _said(state: RunState) -> tuple[str, ...]:
    match state.status:
        case "finished":
            label = "" if state.is_verified else UNVERIFIED
            return label, state.answer if state.answer.strip() else f"Run `{state.run}` ended without a word."
        case "stopped":
            return state.answer, progress_report(state)
        case "cancelled":
            return f"Stopped as asked. Run `{state.run}` will do nothing more.", state.answer
        case _:
            why = inert(state.answer) if state.answer else "an internal error"
            return f"I could not finish this: {why}", f"Run `{state.run}`."


def _unknown(state: RunState) -> str:
    """Name the effects of which nobody knows whether they happened."""
    if not state.unknowns:
        return ""
    tools = ", ".join(dict.fromkeys(inert(tool) for tool in state.unknowns))
    return f"_Not known: whether {tools} took effect. Please check._"


def _covered(state: RunState) -> str:
    """Name the messages, beside the first, that the answer covers."""
    added = [note for note in state.notes if not note.question]
    if not added or state.status == "cancelled":
        return ""
    quoted = "; ".join(inert(note.text[:80]) for note in added)
    return f"_This also covers what was added: {quoted}._"
