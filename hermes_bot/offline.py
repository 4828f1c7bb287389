"""Knows what to do without a model: pick a skill by its words, run it, hand on its report, else say so.

The offline decider is an ordinary ``Model``: it writes the decisions an endpoint would, always the same for
the same state. It decides, and writes no free text: a chain's ``model`` step has an ``otherwise`` for that.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from hermes_bot.errors import ModelError
from hermes_bot.ports import Completion
from hermes_bot.ranking import Ranking, stems

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hermes_bot.ports import Prompt
    from hermes_bot.state import RunState

THRESHOLD = 1.0
RUN_SKILL = "run_skill"
CONFIDENCE = 0.9
_CODE = re.compile(r"^[a-z_]+: ")  # of a fault; it is for programs


@dataclass(frozen=True, slots=True)
class SkillCard:
    """A skill as it is shown and matched: its name, what it does, texts that call it."""

    name: str
    description: str
    examples: tuple[str, ...] = ()


class OfflineModel:
    """Decides by rule; implements ``ports.Model``.

    Args:
        cards: returns the skills there are at this moment.
        known: returns names that belong to no skill's words, services say; they do not count against a match.
        threshold: the score from which a text calls a skill.
        wish: returns the tool and arguments of a text that plainly asks for something to be kept, forgotten
            or told of what is kept.
    """

    def __init__(
        self,
        cards: Callable[[], Sequence[SkillCard]],
        known: Callable[[], Sequence[str]] = tuple,
        threshold: float = THRESHOLD,
        wish: Callable[[str], tuple[str, dict[str, Any]] | None] = lambda _: None,
    ) -> None:
        self._wish = wish
        self._cards = cards
        self._known = known
        self._threshold = threshold

    async def complete(self, prompt: Prompt, state: RunState) -> Completion:
        """Return the decision for this state as its JSON text.

        Raises:
            ModelError: a text is wanted and no decision, or a skill failed and nothing is left to try.
        """
        if not prompt.schema:
            raise ModelError("offline", "No model is set, so nothing can be written freely.", retryable=False)
        action = self._decide(state)
        return Completion(json.dumps({"thought": "", "action": action}, ensure_ascii=False), model="offline")

    def _decide(self, state: RunState) -> dict[str, Any]:
        cards = self._cards()
        if any(one.call.startswith(RUN_SKILL) for one in state.recent):
            return _after_skill(state)
        if state.goal.skill:
            return _run(state.goal.skill, dict(state.goal.params))
        text = state.goal.text
        if wished := self._wish(text):
            name, args = wished
            return _after_wish(state) if state.recent else {"name": name, "args": args}
        if said := small_talk(text, cards):
            return _finish(said)
        found = match_skill(text, cards, known=self._known(), threshold=self._threshold)
        return _run(found[0], {}) if found else _finish(_needs_model(cards))


def _run(name: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"name": RUN_SKILL, "args": {"name": name, "params": params}}


def _finish(answer: str, evidence: Sequence[str] = ()) -> dict[str, Any]:
    return {
        "name": "finish",
        "args": {"answer": answer, "confidence": CONFIDENCE, "evidence": list(evidence)},
    }


def _after_wish(state: RunState) -> dict[str, Any]:
    """Hand on what became of a wish, word for word.

    Raises:
        ModelError: nothing became of it; the text says why.
    """
    last = state.recent[-1]
    if last.status in ("ok", "partial"):
        return _finish(last.text.partition("\n")[2], [f"round {last.number}"])
    raise ModelError("offline", _CODE.sub("", last.summary), retryable=False)


def _after_skill(state: RunState) -> dict[str, Any]:
    """Hand on the last report word for word; without one, say what failed."""
    if state.reports:
        number, report = state.reports[-1]
        return _finish(report, [f"round {number}"])
    last = next(one for one in reversed(state.recent) if one.call.startswith(RUN_SKILL))
    if last.status in ("ok", "partial"):
        raise ModelError(
            "offline", "That skill is guidance for a model, and no model is set ([model]).", retryable=False
        )
    said = _CODE.sub("", last.summary)
    raise ModelError("offline", said or f"The skill ended with {last.status}.", retryable=False)


# --- what is answered at once -----------------------------------------------------------------------

_HELLO = re.compile(r"(?:hi|hello|hey|hallo|moin|good (?:morning|afternoon|evening))(?: there| hermes| all)?")
_THANKS = re.compile(
    r"(?:many )?(?:thanks|thank you|thx|cheers|danke)(?: a lot| so much| very much| hermes)?"
)
_LIST = re.compile(
    r"(?:list |show |which |what )?(?:are )?(?:me )?(?:the |your |all )*skills(?: do you have| are there)?"
)
_HELP = re.compile(
    r"(?:help(?: me)?(?: please)?|usage|commands|what can you do(?: for (?:me|us))?|what do you do|"
    r"how do (?:i|you|we) (?:use|work)(?: with)?(?: you| this)?|who are you|what are you)"
)


def small_talk(text: str, cards: Sequence[SkillCard]) -> str:
    """Return the answer to a greeting, a thank-you, a call for help or a list; empty for other texts."""
    plain = " ".join(re.sub(r"[^\w' ]", " ", text.lower()).split())
    if _HELLO.fullmatch(plain):
        return f"Hello. {_offer(cards)}"
    if _THANKS.fullmatch(plain):
        return "You are welcome."
    if _HELP.fullmatch(plain):
        return _offer(cards)
    if _LIST.fullmatch(plain):
        return _list(cards) or "There are no skills here yet."
    return ""


def _offer(cards: Sequence[SkillCard]) -> str:
    listed = _list(cards)
    if not listed:
        return "No model is set and there are no skills, so I can do nothing yet. See `hermes-bot doctor`."
    return f"Without a model I can run these skills:\n\n{listed}"


def _needs_model(cards: Sequence[SkillCard]) -> str:
    listed = _list(cards)
    can = f" Without one I can run these skills:\n\n{listed}" if listed else ""
    return f"I need a model for that, and none is set (section `[model]` in hermes.toml).{can}"


def _list(cards: Sequence[SkillCard]) -> str:
    return "\n".join(_line(card) for card in cards)


def _line(card: SkillCard) -> str:
    example = f" For example: “{card.examples[0]}”" if card.examples else ""
    return f"- **{card.name}**: {card.description}{example}"


# --- which skill a text calls -----------------------------------------------------------------------

_READ_CHARS = 1_000  # a text says at its begin what it wants; the rest of a long one is pasted
_NAME_WEIGHT, _EXAMPLE_WEIGHT = 3, 2
_BACKGROUND = 20  # imagined other skills: with one skill in the list every word would be common to all
_SCALE = 0.55  # puts the threshold at 1
_ANY_SKILL = frozenset(stems("report reports skill"))  # said of many, so it calls none


def match_skill(
    text: str, cards: Sequence[SkillCard], *, known: Sequence[str] = (), threshold: float = THRESHOLD
) -> tuple[str, float] | None:
    """Return the skill that a text calls and its score, None where no skill reaches the threshold.

    BM25 over names, examples and descriptions, times the share of the text's own words that the skill knows,
    so that "write a poem about errors" calls nothing. ``known`` names do not count as the text's own. One
    word of a description alone calls nothing: "this came in" is no task for what says "how often each came".
    """
    names = {stem for name in known for stem in stems(name)} | _ANY_SKILL
    words = list(dict.fromkeys(stems(text[:_READ_CHARS])))
    documents = {card.name: _document(card, is_named=_names(card, words)) for card in cards}
    ranking = Ranking(documents, background=_BACKGROUND)
    scores = {
        name: _score(words, names, counts, partial(ranking.score, name=name))
        for name, counts in documents.items()
    }
    best = max(scores, key=lambda name: scores[name], default="")
    return (best, scores[best]) if best and scores[best] >= threshold else None


def _names(card: SkillCard, words: Sequence[str]) -> bool:
    """Whether a text has all words of a skill's name: a part of a name is a word like any other."""
    return set(stems(card.name)) <= set(words)


@lru_cache(maxsize=1_024)
def _document(card: SkillCard, *, is_named: bool) -> Counter[str]:
    """Return a skill's stems and their weights; read only: every task is matched against the same ones."""
    counts: Counter[str] = Counter()
    for text, weight in (
        (card.name, _NAME_WEIGHT if is_named else 1),
        (" ".join(card.examples), _EXAMPLE_WEIGHT),
        (card.description, 1),
    ):
        for stem in stems(text):
            counts[stem] += weight
    return counts


def _score(
    words: Sequence[str], known: set[str], counts: Counter[str], score: Callable[[Sequence[str]], float]
) -> float:
    own = [word for word in words if word in counts or word not in known]
    hits = [word for word in words if counts[word] and word not in known]
    if not hits or (len(hits) == 1 and counts[hits[0]] == 1):  # one word of what it says of itself
        return 0.0
    return _SCALE * score(hits) * len([word for word in own if word in counts]) / len(own)
