"""Knows what a run may do by itself, and what people must agree to first. Pure.

Two rules meet here (reliability.md §3). What is dangerous always waits for a person. And of three things a
run may have by itself only two: the word of outsiders, what is not for everybody, and a way out; the call
that would make it three waits for a person, whatever the model says.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Protocol

from hermes_bot.access import Where
from hermes_bot.errors import HermesError
from hermes_bot.markdown import fence, inert
from hermes_bot.messages import Attachment, failed
from hermes_bot.redaction import holds_mask
from hermes_bot.sections import Approval
from hermes_bot.state import APPROVE, CANCEL, CONFIRM, DENY, Consent, Question, consent_key
from hermes_bot.unseen import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from hermes_bot.access import Policy
    from hermes_bot.config import Approvals
    from hermes_bot.decisions import Action
    from hermes_bot.messages import Json, Result
    from hermes_bot.ports import Risk
    from hermes_bot.state import RunState

SHOWN_CHARS = 300  # of one value on a card; the whole of a longer one is attached
SHOWN_CARD_CHARS = 1_800  # of all values
SHOWN_NAME = 60  # of whoever asked
MOST_TEXTS = 4  # of several lines, each in a block of its own
MOST_ORIGINS = 5  # named on a card
WHOLE_NAME = "arguments.json"
_READ = "the task has read text from outside, which may give orders"
_KNOWS = "the task knows what not everybody may read"
RULES: Mapping[str, str] = {
    "danger": "it is marked as dangerous.",
    "tainted": f"it is seen outside this thread, and {_READ}.",
    "private": f"it is seen outside this thread, and {_KNOWS}.",
    "lasting": f"its effect stays, and {_READ}.",
    "carries": f"its arguments leave the team; {_KNOWS}, and {_READ}.",
    "secret": f"it would give a secret to somebody outside the team, and {_READ}.",
}


CONFIRMED = "confirm"  # the rule of what is said back to whoever asked for it before it is done
WHO_CONFIRMS = "**Who may confirm:**"
PRIVATE_PLACE = (
    "This conversation is private, and nothing of it is posted elsewhere; no consent changes that. Ask me in "
    "that channel."
)
_PEOPLE: Mapping[str, tuple[str, str]] = {
    "member": ("member", "members"),
    "operator": ("operator or admin", "operators or admins"),
    "admin": ("admin", "admins"),
}


class Deed(Protocol):
    """What a tool declares of itself, as far as consent goes by it."""

    @property
    def name(self) -> str: ...  # noqa: D102 - the declaration's
    @property
    def risk(self) -> Risk: ...  # noqa: D102
    @property
    def outside(self) -> bool: ...  # noqa: D102
    @property
    def outward(self) -> bool: ...  # noqa: D102
    @property
    def elsewhere(self) -> bool: ...  # noqa: D102
    @property
    def lasting(self) -> bool: ...  # noqa: D102
    @property
    def keeps_masks(self) -> bool: ...  # noqa: D102
    @property
    def echo(self) -> Callable[[Mapping[str, Json], RunState], str] | None: ...  # noqa: D102


def rule_for(tool: Deed, state: RunState, args: Mapping[str, Json]) -> str:
    """Return the rule by which people must agree to a call of this tool now; empty where none does.

    A secret that stands in the arguments as its number is no thread's common knowledge, whatever else the run
    knows.
    """
    if tool.risk == "danger":
        return "danger"
    if tool.risk == "read":
        return _rule_for_read(tool, state, args)
    if tool.outward and state.is_tainted:
        return "tainted"
    if tool.outward and state.is_private:
        return "private"
    if tool.lasting and state.is_tainted:
        return "lasting"
    return CONFIRMED if tool.echo is not None else ""


def _rule_for_read(tool: Deed, state: RunState, args: Mapping[str, Json]) -> str:
    if not (tool.outside and state.is_tainted):  # an address or a query can carry data out
        return ""
    if state.is_private:
        return "carries"
    return "secret" if not tool.keeps_masks and holds_mask(dict(args)) else ""


def terms_for(
    config: Approvals, tool: str, where: Where, policy: Policy, rule: str = "", asker: str = ""
) -> Approval:
    """Return who must agree to a tool's call: as its name says, else its place, else the default.

    What is only said back is for whoever asked for it to confirm, or an operator. A place that got another id
    is still the one that was configured.
    """
    for pattern, terms in config.tools.items():
        if fnmatchcase(tool, pattern):
            return terms
    if rule == CONFIRMED:
        return Approval(people=(asker,) if asker else ())
    names = map(str, policy.names_of(where))
    return next((config.places[name] for name in names if name in config.places), config.default)


@dataclass(frozen=True, slots=True)
class ConsentWalls:
    """Judges each call by the rules, the lists of people, and what was agreed to; ``tools.toolbox.Walls``."""

    policy: Policy
    config: Approvals

    def judge(
        self, tool: Deed, action: Action, state: RunState, step: str, item: int
    ) -> Question | Result | None:
        """Return what people must agree to first, or why it may not run at all; None where it may.

        A yes is looked at again here, when the action is about to run: who gave it must still be one who
        may, and there must be as many of them as are needed now.
        """
        if tool.elsewhere and state.place != "channel":
            return failed("private", PRIVATE_PLACE, status="denied")
        rule = rule_for(tool, state, action.args)
        where = Where.of(state.thread, state.place)
        terms = terms_for(self.config, tool.name, where, self.policy, rule, state.asker)
        if not rule or terms.always:
            return None
        key = consent_key(action.hash, step, item)
        ruling = state.ruling(key)
        if ruling is None:
            consent = Consent(key, tool.name, action.text, rule, terms.approvers, self._seconds)
            return self._ask(consent, tool, action.args, state)
        names = ", ".join(ruling.names) or "A person"
        if not ruling.is_yes:
            return failed(
                "refused",
                f"{names} said no to exactly this. Do not ask again; find another way, or "
                "finish with what is certain.",
                status="denied",
            )
        valid = [one for one in ruling.by if self.policy.may_approve(one, where, terms, *state.askers).ok]
        if len(set(valid)) < terms.approvers:
            return failed(
                "consent_gone",
                f"{names} agreed, but may not approve this any more, or more people "
                "must agree now. Nothing was run.",
                status="denied",
            )
        return None

    @property
    def _seconds(self) -> int:
        return max(1, round(self.config.expires_hours * 3600))

    def _ask(
        self, consent: Consent, tool: Deed, args: Mapping[str, Json], state: RunState
    ) -> Question | Result:
        where = Where.of(state.thread, state.place)
        terms = terms_for(self.config, consent.tool, where, self.policy, consent.rule, state.asker)
        try:
            echo = tool.echo(args, state) if tool.echo is not None else ""
        except HermesError as error:
            return failed("invalid_args", str(error))
        if self.policy.approvers(where, terms, *state.askers) < terms.approvers:
            return failed(
                "nobody_to_ask",
                f"{consent.tool} needs the consent of {people(terms)}, and there are not so many here. An "
                "admin can name them in [access] or [approvals].",
                status="denied",
            )
        number = f"{state.round}-{_short(consent.key)}"
        is_echo = consent.rule == CONFIRMED
        text = echo_text(consent, echo, state, terms) if is_echo else card_text(consent, state, terms, echo)
        options = (CONFIRM, CANCEL) if is_echo else (APPROVE, DENY)
        return Question(
            f"a-{state.run}-{number}", text, options, open=False, kind="approval", consent=consent
        )


def _short(key: str) -> str:
    """Return what stands for a key in a button, which has little room: another step has another one."""
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()[:12]


def people(terms: Approval) -> str:
    """Return in words who must agree."""
    one, many = _PEOPLE[terms.role]
    who = f"one {one}" if terms.approvers == 1 else f"{terms.approvers} different {many}"
    named = " or people named for it" if terms.people else ""
    return f"{who}{named}{', but not whoever asked for it' if terms.separate else ''}"


def echo_text(consent: Consent, echo: str, state: RunState, terms: Approval) -> str:
    """Return the card of what is said back to whoever asked for it: what would be done, in words."""
    is_usual = bool(state.asker) and terms == Approval(people=(state.asker,))
    who = f"{inert(state.goal.author, SHOWN_NAME)}, or an operator or admin" if is_usual else people(terms)
    return f"{echo}\n\n{WHO_CONFIRMS} {who}, within {consent.seconds / 3600:g} h."


def card_text(consent: Consent, state: RunState, terms: Approval, echo: str = "") -> str:
    """Return the card: what exactly will run, why people are asked, and who may agree.

    ``echo`` is what that means in words, where the tool says so.
    """
    why = f"**Why I ask:** {RULES.get(consent.rule, RULES['danger'])}{_read_so_far(state)}"
    who = f"**Who may agree:** {people(terms)}, within {consent.seconds / 3600:g} h."
    means = f"\n\n{echo}" if echo else ""
    return f"{card_head(consent)}{means}\n\n{why}\n{who}"


def card_head(consent: Consent) -> str:
    """Return the card's beginning: what exactly will run, and nothing else."""
    shown, is_cut = shown_arguments(consent.args)
    whole = f"\n_Long values are shortened here; all of it is attached, in `{WHOLE_NAME}`._" if is_cut else ""
    return f"**May I run this?** `{consent.tool}`\n{shown}{whole}"


def what_was_asked(question: Question) -> str:
    """Return what a card says of its action alone, for when it is over, or asked again.

    A child's card begins with what the child is at; one that was stored in another form stays as it is.
    """
    if question.consent is not None and question.consent.rule == CONFIRMED:
        return question.text.partition(WHO_CONFIRMS)[0].rstrip()
    head = card_head(question.consent) if question.consent else question.text
    about, found, _ = question.text.partition(head)
    return about + found if found else question.text


def _read_so_far(state: RunState) -> str:
    if not state.origins:
        return ""
    named = ", ".join(_named(one) for one in state.origins[:MOST_ORIGINS])
    more = len(state.origins) - MOST_ORIGINS
    return f" Read so far: {named}{f' and {more:,} more' if more > 0 else ''}."


def whole_arguments(consent: Consent) -> tuple[Attachment, ...]:
    """Return what goes with a card whose values are shortened: all of it, and each longer text by itself."""
    _, is_cut = shown_arguments(consent.args)
    if not is_cut:
        return ()
    about = f"The whole arguments of {consent.tool}"
    value = json.loads(consent.args)
    text = visible(json.dumps(value, indent=2, ensure_ascii=False))
    own = [Attachment(_file_name(name), text=visible(one)) for name, one in _texts(value, "arguments")]
    return (Attachment(WHOLE_NAME, text=text, about=about), *own[:MOST_TEXTS])


def shown_arguments(args: str) -> tuple[str, bool]:
    """Return arguments as a card shows them, in Markdown, and whether something is shortened.

    What cannot be seen is written out, so that no sign can hide or turn around what is agreed to. A text of
    several lines stands in a block of its own: code is read as code.
    """
    value = json.loads(args)
    if value == {}:
        return "_Without arguments._", False
    texts = list(_texts(value, "arguments"))
    text = visible("\n".join(f"{_field(name)}: {_value(one)}" for name, one in value.items()))
    is_cut = len(text) > SHOWN_CARD_CHARS or _short_values(plain := _without_texts(value)) != plain
    blocks = [fence(text if len(text) <= SHOWN_CARD_CHARS else f"{text[:SHOWN_CARD_CHARS]}\n…")]
    room = max(SHOWN_CHARS, (SHOWN_CARD_CHARS - len(text)) // max(1, len(texts)))
    for name, one in texts[:MOST_TEXTS]:
        seen = visible(one)
        is_cut = is_cut or len(seen) > room
        shown = seen if len(seen) <= room else f"{seen[:room]}\n… ({len(seen):,} characters)"
        blocks.append(f"{_named(name)}:\n{fence(shown)}")
    return "\n".join(blocks), is_cut or len(texts) > MOST_TEXTS


def _field(name: str) -> str:
    """Return a field's name as it stands before its value; one that could be taken for more is quoted."""
    return name if re.fullmatch(r"[\w.-]+", name) else json.dumps(name, ensure_ascii=False)


def _value(value: Json) -> str:
    """Return a field's value as JSON; what is said about a text stands outside of quotes."""
    if isinstance(value, str) and "\n" in value.strip():
        return f"({len(value):,} characters, below)"
    if isinstance(value, str) and len(value) > SHOWN_CHARS:
        begin, end = value[: SHOWN_CHARS // 2], value[-SHOWN_CHARS // 2 :]
        left = len(value) - len(begin) - len(end)
        return f"{_json(begin)} … {left:,} of {len(value):,} characters left out … {_json(end)}"
    return _json(_short_values(_without_texts(value)))


def _json(value: Json) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _texts(value: Json, name: str) -> Iterator[tuple[str, str]]:
    """Yield the texts of several lines, each by the name of its field."""
    match value:
        case str() if "\n" in value.strip():
            yield name, value
        case dict():
            for key, one in value.items():
                yield from _texts(one, key)
        case list():
            for one in value:
                yield from _texts(one, name)
        case _:
            return


def _without_texts(value: Json) -> Json:
    match value:
        case str() if "\n" in value.strip():
            return f"({len(value):,} characters, below)"
        case dict():
            return {key: _without_texts(one) for key, one in value.items()}
        case list():
            return [_without_texts(one) for one in value]
        case _:
            return value


def _file_name(name: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", name)[:60].lstrip(".") or "text"
    return plain if "." in plain else f"{plain}.txt"


def _short_values(value: Json) -> Any:
    if isinstance(value, str):
        if len(value) <= SHOWN_CHARS:
            return value
        half = SHOWN_CHARS // 2
        return f"{value[:half]} (… {len(value) - 2 * half:,} of {len(value):,} characters …) {value[-half:]}"
    if isinstance(value, dict):
        return {name: _short_values(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_short_values(one) for one in value]
    return value


def _named(text: str) -> str:
    return inert(visible(" ".join(text.split())), 80)
