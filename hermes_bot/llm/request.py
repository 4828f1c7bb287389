"""Knows how a request is written: finished JSON, in the strongest form that the endpoint takes. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hermes_bot.config import ModelSection
    from hermes_bot.ports import Prompt

Output: TypeAlias = Literal["tools", "json_schema", "json_object", "plain"]

_WEAKER: dict[Output, Output] = {"tools": "json_schema", "json_schema": "json_object", "json_object": "plain"}
_OUTPUT_WORDS: dict[str, tuple[Output, ...]] = {  # a word in a refusal, and the outputs that it is about
    "response_format": ("json_schema", "json_object"),
    "json_schema": ("json_schema",),
    "json_object": ("json_object",),
    "grammar": ("json_schema", "json_object"),
    "tool_choice": ("tools",),
    "tools": ("tools",),
}
_OPTIONAL = ("temperature", "reasoning_effort", "stream_options")
KNOWN = ("max_completion_tokens", "max_tokens", *_OPTIONAL, *_OUTPUT_WORDS)


@dataclass(frozen=True, slots=True)
class Form:
    """What of the protocol an endpoint takes; it only ever gets weaker.

    Attributes:
        limit: the key for the output's limit: ``max_tokens`` is the one that every server knows, OpenAI's
            reasoning models take only ``max_completion_tokens``; empty where neither is taken.
        left_out: parameters that the endpoint refused.
    """

    output: Output
    limit: str = "max_tokens"
    left_out: frozenset[str] = frozenset()

    def asks(self, prompt: Prompt) -> Output:
        """Return the output mode that this prompt can be asked in."""
        if self.output == "tools" and prompt.tools:
            return "tools"
        if not prompt.schema:
            return "plain"
        return "json_schema" if self.output == "tools" else self.output

    def without(self, words: Iterable[str], asked: Output) -> Form | None:
        """Return the form without the first of the refused ``words`` that it has; None where it has none."""
        for word in words:
            if word in _OUTPUT_WORDS and asked in _OUTPUT_WORDS[word]:
                return self.weaker(asked)
            if word == self.limit:
                return replace(self, limit="max_completion_tokens" if word == "max_tokens" else "")
            if word in _OPTIONAL and word not in self.left_out:
                return replace(self, left_out=self.left_out | {word})
        return None

    def weaker(self, asked: Output) -> Form | None:
        """Return the form with the next weaker output mode; None below plain text."""
        return replace(self, output=_WEAKER[asked]) if asked in _WEAKER else None


def strongest(section: ModelSection) -> Form:
    """Return the form to begin with: the configured output mode, or the best there is."""
    return Form("json_schema" if section.output == "auto" else section.output)


def head(name: str) -> bytes:
    """Return the request up to its messages."""
    return b'{"model":' + json.dumps(name).encode() + b',"messages":'


def tail(section: ModelSection, form: Form) -> bytes:
    """Return the request's constant end, after messages and output mode."""
    optional = {
        "temperature": section.temperature,
        "reasoning_effort": section.reasoning or None,
        "stream_options": {"include_usage": True} if section.stream else None,
    }
    fields = {key: value for key, value in optional.items() if value is not None and key not in form.left_out}
    if form.limit:
        fields[form.limit] = section.max_output_tokens
    if section.stream:
        fields["stream"] = True
    return b"," + json.dumps(fields).encode()[1:] if fields else b"}"


def output(prompt: Prompt, asked: Output) -> bytes:
    """Return the part of the request that names the output mode."""
    match asked:
        case "tools":
            return b',"tools":' + prompt.tools
        case "json_schema":
            named = b'{"name":"decision","schema":' + prompt.schema + b"}"
            return b',"response_format":{"type":"json_schema","json_schema":' + named + b"}"
        case "json_object":
            return b',"response_format":{"type":"json_object"}'
        case "plain":
            return b""
