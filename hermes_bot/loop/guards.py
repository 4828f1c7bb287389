"""Knows the rules outside the model that refuse a finish or stop a run (design §4.5). Pure."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hermes_bot.decisions import Action, Finish
    from hermes_bot.state import RunState, Trace

REPEAT_WINDOW = 5
ALIKE = 0.9
SAY_AT = 0.8

# What an answer may claim to have done, and what a recorded effect's tool is called when it bears that out.
# Making and changing are claims only where they are about something outside the answer itself.
_THING = (
    r"(?:\W+\w+){0,4}?\W+(?:files?|tickets?|issues?|schedules?|reminders?|channels?|records?|rows?|tables?|"
    r"documents?|pages?|branch(?:es)?|users?|accounts?|backups?|entry|entries|config(?:uration)?s?|settings?|"
    r"services?|servers?|deployments?|databases?|disks?|caches?|folders?)\b"
)
_CLAIMS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"(?:restarted|rebooted)\b", ("restart", "reboot")),
    (r"(?:redeployed|deployed|rolled back)\b", ("deploy", "roll")),
    (r"scaled\b", ("scale",)),
    (
        r"(?:sent|posted|notified|emailed|messaged|announced)\b",
        ("send", "post", "notify", "mail", "message", "announce"),
    ),
    (
        rf"(?:created|wrote|written|saved|added|uploaded)\b{_THING}",
        ("create", "write", "save", "add", "upload", "remember"),
    ),
    (rf"(?:deleted|removed|cleared|dropped)\b{_THING}", ("delete", "remove", "clear", "drop", "forget")),
    (
        rf"(?:changed|updated|edited|fixed|patched)\b{_THING}",
        ("change", "update", "edit", "fix", "patch", "write", "set"),
    ),
)
_BY_US = (  # "I restarted", "we have now sent", "Done: deployed"; not "payments was restarted at 09:12"
    r"(?:\b(?:I|we)(?:['\u2019]ve| have)?(?: (?:now|just|also|already|successfully|then))*|"
    r"\A\W*done\b)[\s:.,!]*\b"
)
_CLAIM_PATTERNS = tuple((re.compile(_BY_US + verbs, re.IGNORECASE), tools) for verbs, tools in _CLAIMS)
# what else a tool's name may say that it does, so that it bears out none of the claims above
_OTHER_DEEDS = frozenset(
    {
        *("approve", "archive", "assign", "block", "book", "cancel", "close", "comment", "grant", "invite"),
        *("lock", "merge", "move", "open", "order", "pause", "pay", "refund", "rename", "reply", "reserve"),
        *("resolve", "revoke", "schedule", "start", "stop", "tag", "transfer", "unlock"),
    }
)
# An answer that begins with what will be done is no answer: after it nothing is done any more.
_SOON = r"(?:look|check|find|search|investigate|get back|report|take a look|see|start|begin|try)\b"
_PROMISE = re.compile(
    r"\W*(?:(?:sure|okay|ok|certainly|gerne|\u597d\u7684)\W+)?(?:"
    rf"I(?:['\u2019]ll| will| am going to|['\u2019]m going to)\s+(?:(?:now|first|then|just)\s+)?{_SOON}|"
    rf"let me\s+{_SOON}|ich (?:werde|schaue|sehe|pr\u00fcfe|suche|melde mich)\b|lass mich\b|"
    r"\u6211(?:\u4f1a|\u5c06|\u5148|\u8fd9\u5c31|\u9a6c\u4e0a)|\u8ba9\u6211|\u8bf7\u7a0d\u7b49)",
    re.IGNORECASE,
)
_SAID_BY_TOOLS = frozenset(word for _, tools in _CLAIMS for word in tools) | _OTHER_DEEDS
_WORD = re.compile(r"\w+")
_SIZE = re.compile(r"\S+: [\d,]+ (?:characters|fields|items)\b")  # how summaries tell of long values
_ROUND = re.compile(r"\bround\s*#?\s*(\d+)", re.IGNORECASE)


def same_calls(state: RunState, action: Action) -> tuple[int, ...]:
    """Return the numbers of the recent rounds that made this very call, the round at hand left out."""
    first, digest = state.round - REPEAT_WINDOW + 1, action.hash
    return tuple(
        trace.round for trace in state.traces if trace.round >= first and trace.action_hash == digest
    )


def may_not_run(state: RunState, action: Action) -> bool:
    """Whether this call would be the third of its kind in five rounds."""
    return len(same_calls(state, action)) >= state.limits.repeats - 1


def tripped(state: RunState) -> str:
    """Return the name of the guard that stops the run, empty where none does.

    ``state`` is the state with the round at hand closed.
    """
    limits, spent = state.limits, state.spent
    if _is_repeating(state):
        return "repetition"
    if state.malformed >= limits.malformed or state.failures >= limits.failures:
        return "failures"
    if _is_stagnant(state):
        return "stagnation"
    if spent.worked_ms >= limits.seconds * 1000:
        return "time"
    return "rounds" if spent.rounds >= limits.rounds else ""


def budget_used(state: RunState) -> float:
    """Return the share of the run's tokens or money that is used, whichever is larger."""
    shares = [state.spent.tokens / state.limits.tokens]
    if state.limits.money:
        shares.append(state.spent.cost / state.limits.money)
    return max(shares)


def _is_repeating(state: RunState) -> bool:
    if not state.traces or not (last := state.traces[-1]).action_hash:
        return False
    first = last.round - REPEAT_WINDOW + 1
    same = [t for t in state.traces if t.round >= first and t.action_hash == last.action_hash]
    return len(same) >= state.limits.repeats


def _is_stagnant(state: RunState) -> bool:
    last = state.traces[-state.limits.stagnation :]
    if len(last) < state.limits.stagnation or not all(_may_stagnate(trace) for trace in last):
        return False
    if len({trace.tool for trace in last}) > 1:
        return False
    return all(_resembles(one, two) for one, two in pairwise(last))


def _may_stagnate(trace: Trace) -> bool:
    """Whether a round brought a result and nothing else; failed actions have a guard of their own."""
    return bool(trace.tool) and trace.is_ok and not trace.is_progress


def _resembles(one: Trace, two: Trace) -> bool:
    have_data = bool(one.result.strip()) and bool(two.result.strip())
    is_alike = (not have_data or _alike(one.args, two.args)) and _alike(one.result, two.result)
    return is_alike and _same_news(one, two)


def _same_news(one: Trace, two: Trace) -> bool:
    """Whether two results hold the same values, but for those that their calls gave: a page's own number.

    Two pages of one list look alike letter by letter, and yet each brings counts of its own.
    """
    first, second = _news(one), _news(two)
    return SequenceMatcher(None, first, second, autojunk=False).ratio() >= ALIKE


def _news(trace: Trace) -> list[str]:
    given = set(_WORD.findall(trace.args))
    return [word for word in _WORD.findall(_SIZE.sub("", trace.values)) if word not in given]


def _alike(one: str, two: str) -> bool:
    if one == two:
        return True
    matcher = SequenceMatcher(None, one, two, autojunk=False)
    # the two cheap upper bounds first: an exact ratio of unlike texts is never needed
    return matcher.real_quick_ratio() >= ALIKE and matcher.quick_ratio() >= ALIKE and matcher.ratio() >= ALIKE


def finish_problem(state: RunState, finish: Finish) -> str:
    """Return why this finish is refused, empty where it is accepted."""
    if not finish.answer.strip():
        return "finish needs an answer: say in plain words what you found."
    if claim := unsupported_claim(state, finish.answer):
        return (
            f'The answer says "{claim}", but this run has no recorded effect that bears it out. '
            "Do it with a tool, or do not claim it."
        )
    if not state.effects and (promise := _PROMISE.match(finish.answer)):
        return (
            f'The answer begins with "{promise[0].strip()}", but nothing happens after a finish. '
            "Do it now with a tool, or say what you know."
        )
    if finish.confidence < state.limits.confidence:
        return (
            f"Confidence {finish.confidence:g} is under {state.limits.confidence:g}. Gather what is missing, "
            "ask with request_info, or finish with what is certain."
        )
    return _evidence_problem(state, finish)


def _evidence_problem(state: RunState, finish: Finish) -> str:
    if (
        not state.tried_tools
    ):  # a task that used no tool needs no evidence; what is none is refused all the same
        made_up = [item for item in finish.evidence if _names_later_round(state, item)]
        return f"Evidence {', '.join(made_up)}: there is no such round." if made_up else ""
    ok = ", ".join(f"round {number}" for number in sorted(state.ok_rounds)[-8:]) or "none yet"
    if not finish.evidence:
        return (
            'finish needs evidence: the rounds or tools it rests on, such as ["round 2"]. '
            f"With status ok: {ok}."
        )
    wrong = [item for item in finish.evidence if not _is_evidence(state, item)]
    if not wrong:
        return ""
    return (
        f"Evidence {', '.join(wrong)}: no such round or tool of this run has status ok. With status ok: {ok}."
    )


def _names_later_round(state: RunState, item: str) -> bool:
    return any(int(number) > state.round for number in _ROUND.findall(item[:200]))


def _is_evidence(state: RunState, item: str) -> bool:
    rounds = [int(number) for number in _ROUND.findall(item[:200])]
    if rounds:
        return all(number in state.ok_rounds for number in rounds)
    return any(re.search(rf"\b{re.escape(tool)}\b", item) for tool in state.ok_tools)


def unsupported_claim(state: RunState, answer: str) -> str:
    """Return the words that claim an effect which no recorded effect bears out, empty without such."""
    for pattern, tools in _CLAIM_PATTERNS:
        found = pattern.search(answer)
        if found and not any(_bears_out(effect.lower(), tools) for effect in state.effects):
            return " ".join(found.group(0).split())[:80]
    return ""


def _bears_out(effect: str, tools: tuple[str, ...]) -> bool:
    """Whether a tool's name fits a claim; one that says nothing of what it does fits every claim."""
    return any(word in effect for word in tools) or not any(word in effect for word in _SAID_BY_TOOLS)
