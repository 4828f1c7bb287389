"""The checker itself: it accepts a true story, and sees each way in which one can be false."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from crash.checker import check
from crash.outside import Ledger, Line

if TYPE_CHECKING:
    from collections.abc import Callable

THREAD = "outside/T1/C1/1"


def post(key: str, reply_to: str, text: str, kind: str = "answer") -> Line:
    return {"key": key, "thread": THREAD, "text": text, "kind": kind, "reply_to": reply_to, "buttons": []}


def true_story() -> Ledger:
    first = "Errand writes-1 over.\n* push writes-1.1 ok\n* peek writes-1.2 ok\n* push writes-1.3 unknown\n"
    return Ledger(
        tasks=[
            {"message_id": "m1", "label": "writes-1", "thread": THREAD},
            {"message_id": "m2", "label": "asks-2", "thread": THREAD},
        ],
        posts=[
            post("r1/answer", "m1", first),
            post("question/q1", "m2", "What?", "question"),
            post("r2/answer", "m2", "Errand asks-2 over.\nHeard: word1."),
        ],
        ran=[
            {"tool": "push", "word": "writes-1.1", "key": "k1"},
            {"tool": "peek", "word": "writes-1.2", "key": ""},
        ],
        asked=[{"label": "writes-1", "round": number} for number in (1, 2, 3, 3, 4)],
        answered={"question/q1": "word1"},
        kills=1,
    )


def answered_twice(story: Ledger) -> None:
    story.posts.append({**story.posts[0], "key": "r9/answer"})


def never_answered(story: Ledger) -> None:
    del story.posts[0]


def posted_twice(story: Ledger) -> None:
    story.posts.append(story.posts[1])


def out_of_order(story: Ledger) -> None:
    story.posts.reverse()


def effect_twice(story: Ledger) -> None:
    story.ran.append(story.ran[0])


def effect_twice_under_two_keys(story: Ledger) -> None:
    story.ran.append({**story.ran[0], "key": "k2"})


def claimed_but_never_done(story: Ledger) -> None:
    del story.ran[0]


def done_but_unsaid(story: Ledger) -> None:
    story.ran.append({"tool": "push", "word": "writes-1.9", "key": "k9"})


def unknown_without_a_kill(story: Ledger) -> None:
    story.kills = 0


def asked_again_for_a_finished_round(story: Ledger) -> None:
    story.asked.append({"label": "writes-1", "round": 1})


def answer_of_a_person_lost(story: Ledger) -> None:
    story.answered["question/q1"] = "word2"


def chain_from_the_top(story: Ledger) -> None:
    words = ("first", "second", "first")
    story.ran.extend({"tool": "peek", "word": f"chains-3.{word}", "key": ""} for word in words)


def told_of_nothing(story: Ledger) -> None:
    story.posts.append(post("notice/1", "", "That question was already answered.", "notice"))


def test_a_true_story_is_accepted() -> None:
    found = check(true_story())
    assert found.wrong == ()
    assert found.unknown == 1


@pytest.mark.parametrize(
    "spoil",
    [
        answered_twice,
        never_answered,
        posted_twice,
        out_of_order,
        effect_twice,
        effect_twice_under_two_keys,
        claimed_but_never_done,
        done_but_unsaid,
        unknown_without_a_kill,
        asked_again_for_a_finished_round,
        answer_of_a_person_lost,
        chain_from_the_top,
        told_of_nothing,
    ],
)
def test_a_broken_promise_is_seen(spoil: Callable[[Ledger], None]) -> None:
    story = true_story()
    spoil(story)
    assert check(story).wrong
