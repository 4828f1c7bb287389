"""Who may do what where, decided by ids alone (behaviours B-116 to B-118)."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.access import Pattern, Policy, Role, Verb, Where
from hermes_bot.config import Access
from hermes_bot.messages import ThreadKey

VERBS: tuple[Verb, ...] = get_args(Verb)
LISTED = Where("slack", "T1", "C1")
ELSEWHERE = Where("slack", "T1", "C9")
DIRECT = Where("slack", "T1", "D1", "direct")
CHAT = Where("telegram", "900", "-1001")


def policy(**lists: Any) -> Policy:
    given: dict[str, Any] = {"channels": ("slack:T1:C1", "telegram:-1001"), **lists}
    return Policy.of(Access(**given))


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("person", ["slack:T1:U1", "telegram:7", "", "slack:T1:console:local:you"])
@pytest.mark.parametrize("where", [LISTED, DIRECT, CHAT])
def test_an_empty_policy_lets_nobody_do_anything_and_says_nothing(
    verb: Verb, person: str, where: Where
) -> None:
    verdict = Policy.of(Access()).allowed(person, verb, where)
    assert (verdict.ok, verdict.is_silent) == (False, True)


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "post"])
@pytest.mark.parametrize("where", [Where("console", "local", "terminal"), LISTED, ELSEWHERE])
def test_who_owns_the_machine_owns_the_bot(verb: Verb, where: Where) -> None:
    assert Policy.of(Access()).allowed("console:local:anybody", verb, where).ok


def test_even_the_owner_posts_to_listed_channels_only() -> None:
    assert policy().allowed("console:local:you", "post", LISTED).ok
    assert not policy().allowed("console:local:you", "post", ELSEWHERE).ok


@pytest.mark.parametrize(
    ("person", "role"),
    [
        ("slack:T1:U1", Role.ADMIN),
        ("slack:T1:U2", Role.OPERATOR),
        ("slack:T1:U3", Role.MEMBER),
        ("slack:T1:U9", Role.NOBODY),
        ("slack:T2:U1", Role.NOBODY),  # the same id in another team is somebody else
        ("telegram:U1", Role.NOBODY),
        ("slack:U1", Role.NOBODY),
        ("U1", Role.NOBODY),
        ("", Role.NOBODY),
    ],
)
def test_the_highest_list_that_names_an_id_gives_the_role(person: str, role: Role) -> None:
    lists = policy(
        admins=("slack:T1:U1",),
        operators=("slack:T1:U1", "slack:T1:U2"),
        members=("slack:T1:U2", "slack:T1:U3"),
    )
    assert lists.role(person, LISTED) == role


@pytest.mark.parametrize(
    ("verb", "least"),
    [
        ("ask", Role.GUEST),
        ("command", Role.GUEST),
        ("answer", Role.GUEST),
        ("stop", Role.MEMBER),
        ("continue", Role.MEMBER),
        ("post", Role.MEMBER),
        ("approve", Role.OPERATOR),
    ],
)
def test_each_verb_needs_a_role_and_every_higher_one_may_too(verb: Verb, least: Role) -> None:
    lists = policy(admins=("slack:T1:A",), operators=("slack:T1:O",), bots=("slack:T1:B",))
    for person, role in (
        ("slack:T1:A", Role.ADMIN),
        ("slack:T1:O", Role.OPERATOR),
        ("slack:T1:M", Role.MEMBER),
        ("slack:T1:B", Role.GUEST),
        ("", Role.GUEST),
        ("slack:T2:X", Role.NOBODY),
    ):
        assert lists.role(person, LISTED) == role
        assert lists.allowed(person, verb, LISTED).ok == (role >= least), (person, verb)


def test_without_a_list_of_members_everybody_in_a_listed_channel_is_one() -> None:
    assert policy().allowed("slack:T1:U7", "stop", LISTED).ok
    assert policy().allowed("telegram:7", "stop", CHAT).ok
    assert policy(members=("slack:T1:U1",)).role("slack:T1:U7", LISTED) == Role.NOBODY


@pytest.mark.parametrize("verb", VERBS)
def test_people_from_another_workspace_are_no_members_unless_named(verb: Verb) -> None:
    assert not policy().allowed("slack:T2:U5", verb, LISTED).ok
    named = policy(admins=("slack:T2:U5",))
    assert named.allowed("slack:T2:U5", verb, LISTED).ok


def test_a_channel_id_counts_in_its_own_workspace_only() -> None:
    assert not policy().allowed("slack:T2:U1", "ask", Where("slack", "T2", "C1")).ok
    assert not policy().allowed("telegram:7", "ask", Where("slack", "T1", "-1001")).ok


def test_a_star_is_every_channel_of_its_workspace_direct_ones_too() -> None:
    lists = policy(channels=("slack:T1:*",))
    assert lists.allowed("slack:T1:U1", "ask", ELSEWHERE).ok
    assert lists.allowed("slack:T1:U1", "ask", DIRECT).ok
    assert not lists.allowed("slack:T2:U1", "ask", Where("slack", "T2", "C1")).ok


@pytest.mark.parametrize("named", ["admins", "operators", "members"])
def test_who_is_named_may_speak_with_the_bot_alone_in_their_own_workspace(named: str) -> None:
    lists = policy(**{named: ("slack:T1:U1",)})
    assert lists.allowed("slack:T1:U1", "ask", DIRECT).ok
    assert lists.allowed("slack:T1:U9", "ask", DIRECT).is_silent
    assert lists.allowed("slack:T1:U1", "ask", Where("slack", "T2", "D1", "direct")).is_silent
    assert lists.allowed("slack:T1:U1", "ask", Where("slack", "T1", "G1", "private")).is_silent


def test_nothing_is_posted_into_a_chat_that_is_not_listed() -> None:
    lists = policy(admins=("slack:T1:U1",))
    assert not lists.allowed("slack:T1:U1", "post", DIRECT).ok


def test_who_has_no_identity_may_ask_but_nothing_that_needs_a_right() -> None:
    assert policy().allowed("", "ask", CHAT).ok
    refused = policy().allowed("", "stop", CHAT)
    assert not refused.is_silent
    assert refused.why == (
        "Only members may stop my work. I cannot tell who you are. Write under your own name, or ask one "
        "of the members."
    )


def test_where_members_are_listed_to_ask_is_a_right_too() -> None:
    assert not policy(members=("telegram:7",)).allowed("", "ask", CHAT).ok


@pytest.mark.parametrize("verb", VERBS)
def test_a_listed_program_is_a_guest_whatever_else_names_it_and_is_never_answered_a_refusal(
    verb: Verb,
) -> None:
    lists = policy(bots=("slack:T1:B2",), admins=("slack:T1:B2",))
    verdict = lists.allowed("slack:T1:B2", verb, LISTED)
    assert verdict.ok == (verb in ("ask", "command", "answer", "use"))
    assert verdict.is_silent != verdict.ok


@pytest.mark.parametrize(
    ("person", "verb", "who", "whom"),
    [
        ("slack:T1:U9", "ask", "members", "an admin"),
        ("slack:T1:U9", "answer", "members", "an admin"),
        ("slack:T1:U9", "approve", "operators and admins", "an admin"),
        ("slack:T1:U1", "approve", "operators and admins", "one of them"),
    ],
)
def test_a_refusal_names_the_role_that_may_and_nobody_in_person(
    person: str, verb: Verb, who: str, whom: str
) -> None:
    lists = policy(admins=("slack:T1:UADMIN",), members=("slack:T1:U1",))
    verdict = lists.allowed(person, verb, LISTED)
    assert f"Only {who} may" in verdict.why
    assert f"Ask {whom}" in verdict.why
    assert "UADMIN" not in verdict.why
    assert not verdict.is_silent


_words = st.text(st.sampled_from("abT1U:*9-"), max_size=12)


@given(person=_words, verb=st.sampled_from(VERBS), channel=_words, workspace=_words)
def test_no_odd_id_gets_in_where_only_one_is_named(
    person: str, verb: Verb, channel: str, workspace: str
) -> None:
    lists = policy(channels=("slack:T1:C1",), members=("slack:T1:U1",))
    verdict = lists.allowed(person, verb, Where("slack", workspace, channel))
    assert not verdict.ok
    assert verdict.why


def test_a_pattern_is_read_and_written_alike() -> None:
    for text in ("slack:T1:C1", "telegram:-1001", "slack:T1:*"):
        assert str(Pattern.parse(text)) == text


def test_a_place_is_that_of_its_thread() -> None:
    fields: dict[str, Any] = {"platform": "slack", "workspace": "T1", "channel": "D1"}
    assert Where.of(ThreadKey(**fields, thread="1.1"), "direct") == Where(**fields, kind="direct")


def test_a_place_keeps_its_right_when_the_platform_gives_it_another_id() -> None:
    moved: dict[str, str] = {}
    lists = Policy.of(Access(channels=("telegram:-5", "slack:T1:C1")), moved)
    after = Where("telegram", "900", "-1005")
    assert not lists.allowed("telegram:7", "ask", after).ok
    moved[str(after)] = "-5"
    assert lists.allowed("telegram:7", "ask", after).ok
    assert lists.allowed("telegram:7", "post", after).ok
    assert not lists.allowed("telegram:7", "ask", Where("telegram", "900", "-1006")).ok
    moved |= {"telegram:900:a": "b", "telegram:900:b": "a"}  # nonsense must not hang
    assert not lists.allowed("telegram:7", "ask", Where("telegram", "900", "a")).ok
