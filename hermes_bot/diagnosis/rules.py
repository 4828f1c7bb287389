"""Knows the rule book: which words in a log stand for which common fault, and what to do about it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import yaml

from hermes_bot.diagnosis.values import Rule, RuleHit
from hermes_bot.errors import ConfigError

_LOOKED_AT = 6_000
_WORD_LENGTH = 80
_KINDS = ("cause", "symptom")
_UNSAFE = re.compile(r"[^\w .:/@%+=,-]")
_PLACEHOLDER = re.compile(r"\{(\w+)(?:\|([^{}]*))?\}")


@dataclass(frozen=True, slots=True)
class RuleBook:
    """The rules with their patterns, the weightiest first."""

    entries: tuple[tuple[Rule, re.Pattern[str]], ...]

    def match(self, text: str) -> RuleHit | None:
        """Give the weightiest rule that fits a record's text, a cause before a symptom, or None."""
        seen = text if len(text) <= _LOOKED_AT else text[: _LOOKED_AT // 2] + "\n" + text[-_LOOKED_AT // 2 :]
        for rule, pattern in self.entries:
            if found := pattern.search(seen):
                return _hit(rule, found, seen)
        return None

    def pattern(self, rule: Rule) -> re.Pattern[str] | None:
        """Give the pattern of a rule."""
        return next((pattern for entry, pattern in self.entries if entry.id == rule.id), None)

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
    return RuleBook(tuple(sorted(entries, key=lambda e: (-e[0].weight, e[0].kind != "cause"))))


def _entry(data: Mapping[str, Any]) -> tuple[Rule, re.Pattern[str]]:
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
    return rule, pattern
