"""Knows the rule book: which words in a log stand for which common fault, and what to do about it."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import yaml

from hermes_bot.diagnosis.values import Rule, RuleHit
from hermes_bot.errors import ConfigError

_LOOKED_AT = 6_000
_WORD_LENGTH = 80
_KINDS = ("cause", "symptom", "noise")
_UNSAFE = re.compile(r"[^\w .:/%+=,-]|:(?=//)")  # no markup, no mention of people, no link
_GAP = "\0"
_SHORTEST = 3
_PLAIN_ESCAPES = ".()[]{}/\\-\"'`@$ "
_COUNT = r"(?:[?*+]|\{[^{}]*\})?\??"
_GROUP = re.compile(rf"(?<!\\)(?:\((?:[^()\\]|\\.)*\)|\[(?:[^\[\]\\]|\\.)+\]){_COUNT}")
_ESCAPED = re.compile(r"\\(.)")
_BETWEEN = re.compile(r"[\0.^$+]")
_OPTIONAL = re.compile(r"[^\0](?:[?*]|\{[^{}]*\})\??")
_PLACEHOLDER = re.compile(r"\{(\w+)(?:\|([^{}]*))?\}")


@dataclass(frozen=True, slots=True)
class _Entry:
    """A rule with its pattern, and words of which one stands in every text that fits (none: always look)."""

    rule: Rule
    pattern: re.Pattern[str]
    words: tuple[str, ...]

    def search(self, text: str, lower: str) -> re.Match[str] | None:
        if self.words and not any(word in lower for word in self.words):
            return None
        return self.pattern.search(text)


@dataclass(frozen=True, slots=True)
class RuleBook:
    """The rules with their patterns, the weightiest first.

    Attributes:
        hint: finds nothing in a text that no rule fits; None where each rule has to be asked.
    """

    entries: tuple[_Entry, ...]
    hint: re.Pattern[str] | None = None

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All rules, the weightiest first."""
        return tuple(entry.rule for entry in self.entries)

    def match(self, text: str) -> RuleHit | None:
        """Give the weightiest rule that fits a record's text, a cause before a symptom, or None."""
        half = _LOOKED_AT // 2
        seen = text if len(text) <= _LOOKED_AT else text[:half] + "\n" + text[-half:]
        lower = seen.lower()
        if self.hint is not None and self.hint.search(lower) is None:
            return None
        for entry in self.entries:
            if found := entry.search(seen, lower):
                return _hit(entry.rule, found, seen)
        return None

    def pattern(self, rule: Rule) -> re.Pattern[str] | None:
        """Give the pattern of a rule."""
        return next((entry.pattern for entry in self.entries if entry.rule.id == rule.id), None)

    def locate(self, rule: Rule, text: str) -> int:
        """Give the line, from 0, at which a rule's words stand in a record's text."""
        pattern = self.pattern(rule)
        found = pattern.search(text[:_LOOKED_AT]) if pattern else None
        return text.count("\n", 0, found.start()) if found else 0


def _hit(rule: Rule, found: re.Match[str], text: str) -> RuleHit:
    # A pattern's groups must differ in name, so a second way to find a word has a number behind it.
    words = {name.rstrip("0123456789"): clean(value) for name, value in found.groupdict().items() if value}
    return RuleHit(rule, words, text.count("\n", 0, found.start()), found[0])


def clean(words: str) -> str:
    """Make words out of a log fit for a sentence: no markup, no controls, 80 characters at most."""
    return " ".join(_UNSAFE.sub(" ", words).split())[:_WORD_LENGTH].strip(" .,-")


def fill(sentence: str, words: Mapping[str, str]) -> str:
    """Put a match's words into a rule's sentence; ``{name|else}`` says what stands there without the word."""
    return _PLACEHOLDER.sub(lambda m: words.get(m[1]) or m[2] or "it", sentence)


@cache
def rule_book() -> RuleBook:
    """Read the rule book that ships with the program.

    Raises:
        ConfigError: the book is malformed.
    """
    text = resources.files("hermes_bot.diagnosis").joinpath("rules.yaml").read_text(encoding="utf-8")
    return parse_rules(text)


def parse_rules(text: str) -> RuleBook:
    """Read a rule book from YAML.

    Raises:
        ConfigError: a rule lacks a part or a pattern does not compile.
    """
    try:
        entries = [_entry(data) for data in yaml.safe_load(text)]
    except (yaml.YAMLError, KeyError, TypeError, ValueError, re.error) as error:
        raise ConfigError(
            f"rules.yaml: a rule cannot be read ({error}). Compare it with the rules beside it."
        ) from error
    # Ties keep the book's order, so the more particular rule is written first.
    ordered = tuple(sorted(entries, key=lambda e: (-e.rule.weight, e.rule.kind != "cause")))
    words = {word for entry in ordered for word in entry.words}
    return RuleBook(ordered, any_of(words) if all(entry.words for entry in ordered) else None)


def any_of(words: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that finds any of some words, folded by their beginnings.

    One after the other, five hundred words take twenty times as long in a text that holds none.
    """
    tree: dict[str, Any] = {}
    for word in words:
        branch = tree
        for char in word:
            branch = branch.setdefault(char, {})
        branch[""] = {}
    return re.compile(_folded(tree))


def _folded(tree: Mapping[str, Any]) -> str:
    if "" in tree:  # a word ends here, and a longer one that begins so is found with it
        return ""
    parts = [re.escape(char) + _folded(rest) for char, rest in sorted(tree.items())]
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"


def _entry(data: Mapping[str, Any]) -> _Entry:
    if data["kind"] not in _KINDS:
        raise ValueError(f"{data['id']}: kind must be one of {_KINDS}")
    pattern = re.compile("|".join(f"(?:{p})" for p in data["match"]), re.IGNORECASE)
    rule = Rule(
        id=str(data["id"]),
        kind=str(data["kind"]),
        weight=int(data["weight"]),
        label=str(data["label"]),
        diagnosis=str(data["diagnosis"]),
        fix=str(data["fix"]),
        source=str(data.get("source", "")),
    )
    words = [sure_words(p) for p in data["match"]]
    return _Entry(rule, pattern, tuple(words) if all(words) else ())


def sure_words(pattern: str) -> str:
    """Give the longest plain text, in small letters, that every match of a pattern contains; "" for none.

    A rule book is asked about every new text, and looking for plain words first is ten times as fast.
    """
    bare = _ESCAPED.sub(lambda m: m[1] if m[1] in _PLAIN_ESCAPES else _GAP, _without_groups(pattern))
    if "|" in bare:
        return ""
    longest = max(_BETWEEN.split(_OPTIONAL.sub(_GAP, bare)), key=len).lower()
    return longest if len(longest) >= _SHORTEST else ""


def _without_groups(pattern: str) -> str:
    """Put a gap for each group and each set of characters, with the count that follows it."""
    before = None
    while before != pattern:
        before = pattern
        pattern = _GROUP.sub(_GAP, pattern)
    return pattern
