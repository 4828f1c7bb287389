"""Knows what each method takes: which arguments, of which type, and what is said where they are wrong."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from hermes_bot.simulator.slack.blocks import check_message, named
from hermes_bot.simulator.slack.site import Refusal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable, Iterator, Mapping

    from hermes_bot.simulator.limits import Rate
    from hermes_bot.simulator.slack.posting import Posting
    from hermes_bot.simulator.slack.site import Site
    from hermes_bot.simulator.slack.workspace import Team

Shape = Literal["text", "flag", "number", "list", "object", "names"]

FLAGS = {"true": True, "1": True, "false": False, "0": False}
ANYWHERE = frozenset({"team_id"})  # bolt's clients add it to every call
# the same word has the same type in every method; a word that is not here is text
WORDS: dict[str, Shape] = {
    "blocks": "list",
    "attachments": "list",
    "chunks": "list",
    "files": "list",
    "prompts": "list",
    "loading_messages": "list",
    "metadata": "object",
    "view": "object",
    "users": "names",
    "types": "names",
    "channels": "names",
    "file_ids": "names",
    "limit": "number",
    "length": "number",
    "count": "number",
    "page": "number",
}
FLAG_WORDS = frozenset({
    "as_user", "reply_broadcast", "unfurl_links", "unfurl_media", "mrkdwn", "link_names", "inclusive",
    "include_all_metadata", "include_locale", "include_num_members", "exclude_archived", "return_im",
    "prevent_creation",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Request:
    """One call that has passed every check on its outside.

    Attributes:
        team: whose token it carries.
        args: of the declared types.
        is_usable: whether a file, by its id, can be shown in a block.
    """

    site: Site
    posting: Posting
    team: Team
    args: Mapping[str, Any]
    is_usable: Callable[[str], bool]

    def need(self, scope: str) -> None:
        """Refuse where the app was not granted a scope."""
        if scope and scope not in self.site.scopes:
            raise Refusal("missing_scope", needed=scope, provided=",".join(sorted(self.site.scopes)))

    def blocks(self) -> list[dict[str, Any]]:
        """Return the blocks, each with ids, or refuse them."""
        given = self.args.get("blocks", [])
        check_message(given, self.is_usable)
        return named(given)

    def text(self, name: str) -> str:
        """Return a text argument, empty where it is absent."""
        return str(self.args.get(name) or "")


@dataclass(frozen=True, slots=True)
class Method:
    """One method of the Web API.

    Attributes:
        answer: carries it out and returns the answer's fields beside ``ok``.
        takes: names of its arguments, the required ones first, before a ``|``.
        scope: the scope it needs; empty where that depends on the arguments, or none is needed.
        rate: how often it may be called, by app and workspace.
        token: the kind of token.
        places: arguments that name a place with rates of its own, ``place_rates``.
    """

    answer: Callable[[Request], Mapping[str, Any] | Awaitable[Mapping[str, Any]]]
    takes: str
    rate: Rate
    scope: str = ""
    token: Literal["xoxb", "xapp"] = "xoxb"  # noqa: S105 - a kind of token
    places: tuple[str, ...] = ()
    place_rates: tuple[Rate, ...] = ()
    required: tuple[str, ...] = field(init=False)
    known: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        needed, _, optional = self.takes.partition("|")
        object.__setattr__(self, "required", tuple(needed.split()))
        object.__setattr__(self, "known", frozenset((*needed.split(), *optional.split())))

    def claims(self, name: str, request: Request) -> Iterator[tuple[Hashable, Rate]]:
        """Yield what one call counts against."""
        yield (name, request.team.id), self.rate
        place = tuple(request.text(part) for part in self.places)
        for rate in self.place_rates:
            yield (name, request.team.id, place, rate), rate

    def read(self, given: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """Return the arguments in their types, and what is wrong with them in words of the platform."""
        read: dict[str, Any] = {}
        wrong = []
        for name, value in given.items():
            if value is None:
                continue
            try:
                read[name] = _typed(name, value)
            except (ValueError, TypeError) as error:
                wrong.append(f"[ERROR] {error} [json-pointer:/{name}]")
        wrong += [f"[ERROR] missing required field: {name}" for name in self.required if name not in read]
        return read, wrong

    def unknown(self, given: Mapping[str, Any]) -> list[str]:
        """Return the arguments that it does not take."""
        return [name for name in given if name not in self.known and name not in ANYWHERE]


def decoded(text: str) -> Any:
    """Return the value of a JSON text.

    Raises:
        Refusal: it is none.
    """
    try:
        return json.loads(text)
    except ValueError as error:
        raise Refusal("invalid_json") from error


def _typed(name: str, value: Any) -> Any:
    shape: Shape = "flag" if name in FLAG_WORDS else WORDS.get(name, "text")
    match shape:
        case "text":
            return _text(value)
        case "flag":
            return _flag(value)
        case "number":
            return _number(value)
        case "names":
            return [part.strip() for part in _text(value).split(",") if part.strip()]
        case "list" | "object":
            return _parsed(value, list if shape == "list" else dict)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("must be a string")
    return value


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if (flag := FLAGS.get(str(value).lower())) is None:
        raise TypeError("must be a boolean")
    return flag


def _number(value: Any) -> int:
    if isinstance(value, bool) or not (isinstance(value, int) or str(value).lstrip("-").isdigit()):
        raise TypeError("must be an integer")
    return int(value)


def _parsed(value: Any, kind: type[list[Any] | dict[str, Any]]) -> Any:
    found = json.loads(value) if isinstance(value, str) and value else value
    if not isinstance(found, kind):
        raise TypeError("must be an array" if kind is list else "must be an object")
    return found
