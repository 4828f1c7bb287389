"""The rule book: each rule is whole, and common faults are known by their usual words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.diagnosis.rules import any_of, clean, fill, parse_rules, rule_book, sure_words
from hermes_bot.errors import ConfigError


def test_every_rule_is_whole_and_has_a_name_of_its_own() -> None:
    rules = rule_book().rules
    assert len(rules) >= 30
    assert len({rule.id for rule in rules}) == len(rules)
    assert all(rule.diagnosis and rule.fix and rule.label and 1 <= rule.weight <= 6 for rule in rules)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("write failed: No space left on device", "disk-full"),
        ("nf_conntrack: table full, dropping packet", "conntrack"),
        ("accept4() failed (24: Too many open files)", "too-many-files"),
        ("dial tcp: lookup db on 192.0.2.1:53: no such host", "dns"),
        ("x509: certificate is valid for a.example, not b.example", "cert-hostname"),
        ("x509: certificate has expired or is not yet valid", "cert-expired"),
        ('FATAL: password authentication failed for user "shop"', "db-auth"),
        ('ERROR: relation "orders" does not exist', "missing-relation"),
        ("Deadlock found when trying to get lock", "deadlock"),
        ("EXT4-fs error (device sda1): reading directory", "disk-io"),
        ("remounting filesystem read-only", "read-only-fs"),
        ("OOM command not allowed when used memory > 'maxmemory'.", "redis-maxmemory"),
        ("Error: Cannot find module 'left-pad'", "module-missing"),
        ('Failed to pull image "registry.example/shop:2": not found', "image-pull"),
        ("The node was low on resource: ephemeral-storage.", "evicted"),
        ("java.lang.OutOfMemoryError: Java heap space", "java-heap"),
        ("worker 3 (pid 7) died: segfault at 0 ip 0", "segfault"),
        ("listen tcp :8080: bind: address already in use", "port-in-use"),
        ("HTTP 429 Too Many Requests", "rate-limited"),
        ("upstream prematurely closed connection", "upstream-closed"),
    ],
)
def test_a_fault_is_known_by_its_usual_words(text: str, rule: str) -> None:
    hit = rule_book().match(text)
    assert hit is not None
    assert hit.rule.id == rule


@pytest.mark.parametrize("text", ["request answered in 20 ms", "user logged in", "0 errors, 0 warnings"])
def test_harmless_words_fit_no_rule(text: str) -> None:
    assert rule_book().match(text) is None


def test_named_words_go_into_the_sentence_cleaned() -> None:
    assert fill("ended {victim|a process}", {"victim": clean("`db`\n*x*")}) == "ended db x"
    assert fill("ended {victim|a process}", {}) == "ended a process"


@pytest.mark.parametrize(
    "text",
    ["- {id: a}", "[", "- {id: a, kind: cause, weight: 1, label: b, match: ['('], diagnosis: c, fix: d}"],
)
def test_a_malformed_book_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="a rule cannot be read"):
        parse_rules(text)


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"no space left on device", "no space left on device"),
        (r"read-only file ?system", "read-only file"),
        (r"(?:a|b) \bname resolution\b", "name resolution"),
        (r"disk watermark \[[^\]]*\] exceeded", "disk watermark ["),
        (r"ab+cdef{0,3}", "cde"),
        (r"one|two", ""),
        (r"\d+", ""),
    ],
)
def test_the_sure_words_of_a_pattern_stand_in_all_it_matches(pattern: str, words: str) -> None:
    assert sure_words(pattern).strip() == words


def test_no_rule_has_to_be_tried_on_every_text() -> None:
    assert [entry.rule.id for entry in rule_book().entries if not entry.words] == []


@given(st.lists(st.text("abc", min_size=1, max_size=5), min_size=1), st.text("abcd", max_size=30))
def test_the_folded_words_find_what_one_of_them_finds(words: list[str], text: str) -> None:
    assert bool(any_of(words).search(text)) == any(word in text for word in words)
