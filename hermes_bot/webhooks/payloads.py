"""Knows how the bodies of events read: our own form, Alertmanager's (version 4) and Grafana's. Pure.

What a form does not know is left alone; what it knows must be of its kind. Everything in a body was written
elsewhere, so it is bounded here: depth, numbers of alerts, lengths.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from hermes_bot.errors import HermesError
from hermes_bot.unseen import without_unseen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MOST_ALERTS = 1_000  # in one body
DEEPEST = 32
TITLE_CHARS = 200
TEXT_CHARS = 2_000
LABELS = 30
LABEL_CHARS = 200
Form = Literal["generic", "alertmanager", "grafana"]
State = Literal["firing", "resolved", "event"]
Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
_COUNTED = re.compile(r"^\[(?:FIRING|RESOLVED)[^\]]*\]\s*")  # how Grafana's titles begin
ABOUT = 3  # labels that are said of an alert where its title is not enough
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class UnreadableError(HermesError):
    """A body is none of its form; the text says why and quotes nothing of it."""


@dataclass(frozen=True, slots=True)
class Alert:
    """One thing that is told.

    Attributes:
        key: the sender's own, the same as long as it is about the same thing.
        state: ``event``: it happened; there is nothing that could be over.
        about: what tells it from others of its title: ``service=payments``; may be empty.
        began_at: UTC; None where the sender does not say.
        url: where the sender shows more; ``http`` or ``https``, else empty.
    """

    key: str
    title: str
    state: State
    began_at: datetime | None = None
    ended_at: datetime | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    url: str = ""
    about: str = ""

    @property
    def name(self) -> str:
        """Its title with what tells it from others."""
        return f"{self.title} ({self.about})" if self.about else self.title


@dataclass(frozen=True, slots=True)
class Event:
    """What one body tells.

    Attributes:
        id: the sender's own of this telling; empty where it gives none.
        group: what belongs together, and into one thread.
        body: all of it, for templates.
    """

    id: str
    group: str
    title: str
    alerts: tuple[Alert, ...]
    body: Mapping[str, Json]
    url: str = ""


def read_event(form: Form, raw: bytes, redact: Callable[[Any], Any] = lambda it: it) -> Event:
    """Return what a body tells, once ``redact`` has taken the secrets out of it.

    Raises:
        UnreadableError: it is no JSON object, or none of its form.
    """
    body = redact(_object(raw))
    try:
        return _FORMS[form](body)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(part)[:40] for part in wrong["loc"])
        raise UnreadableError(f"{place or 'body'}: {wrong['msg']}.") from None


def _object(raw: bytes) -> dict[str, Json]:
    try:
        # RFC 8259: no NaN; a name twice has no one meaning, and who checks may read another than who acts
        read = json.loads(raw.decode("utf-8"), parse_constant=_no_number, object_pairs_hook=_once)
    except UnicodeDecodeError:
        raise UnreadableError("The body is not UTF-8.") from None
    except RecursionError:
        raise UnreadableError("The body is nested too deeply.") from None
    except ValueError as error:
        why = error.args[0] if isinstance(error, _ShownError) else "The body is no JSON."
        raise UnreadableError(why) from None
    if not isinstance(read, dict):
        raise UnreadableError("The body should be a JSON object.")
    cleaned = _cleaned(read, 0)
    return cleaned if isinstance(cleaned, dict) else {}


class _ShownError(ValueError):
    """Its text is our own."""


def _no_number(name: str) -> float:
    raise _ShownError(f"{name} is no JSON number.")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _ShownError("A name stands twice in one object.")
    return found


def _cleaned(value: Json, depth: int) -> Json:
    """Return a value without half characters, and with nothing in it that a person would not see."""
    if depth > DEEPEST:
        raise UnreadableError("The body is nested too deeply.")
    match value:
        case str():
            return _text(value)
        case dict():
            return {_text(key): _cleaned(one, depth + 1) for key, one in value.items()}
        case list():
            return [_cleaned(one, depth + 1) for one in value]
        case int() if abs(value) > 2**63:
            return str(float(value)) if abs(value) < 10**300 else "a very large number"
        case _:
            return value


def _text(text: str) -> str:
    return text if text.isascii() and text.isprintable() else without_unseen(text)


def _short(value: object) -> object:
    """Return what may stand for a text as one: numbers and booleans are common in labels."""
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    return "" if value is None else value


Text = Annotated[str, BeforeValidator(_short)]


def _pairs(value: object) -> object:
    """Return labels as texts; one that is itself an object or a list is JSON."""
    if not isinstance(value, dict):
        return {} if value is None else value
    shown = {
        str(name)[:LABEL_CHARS]: one if isinstance(one, str) else json.dumps(one, ensure_ascii=False)
        for name, one in list(value.items())[:LABELS]
    }
    return {name: text[:TEXT_CHARS] for name, text in shown.items()}


Pairs = Annotated[dict[str, str], BeforeValidator(_pairs)]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class _Generic(_Model):
    id: Text = ""
    title: Text = ""
    text: Text = ""
    key: Text = ""
    status: Literal["firing", "resolved"] | None = None
    labels: Pairs = Field(default_factory=dict)
    url: Text = ""


class _Firing(_Model):
    status: Literal["firing", "resolved"]
    labels: Pairs = Field(default_factory=dict)
    annotations: Pairs = Field(default_factory=dict)
    starts_at: Text = Field(default="", alias="startsAt")
    ends_at: Text = Field(default="", alias="endsAt")
    generator: Text = Field(default="", alias="generatorURL")
    panel: Text = Field(default="", alias="panelURL")
    dashboard: Text = Field(default="", alias="dashboardURL")
    fingerprint: Text = ""


class _Group(_Model):
    """What Alertmanager sends, and Grafana with more to it.

    https://prometheus.io/docs/alerting/latest/configuration/#webhook_config; Grafana's "webhook notifier".
    """

    key: Text = Field(alias="groupKey")
    alerts: list[_Firing] = Field(min_length=1, max_length=MOST_ALERTS)
    group_labels: Pairs = Field(default_factory=dict, alias="groupLabels")
    common_labels: Pairs = Field(default_factory=dict, alias="commonLabels")
    common_annotations: Pairs = Field(default_factory=dict, alias="commonAnnotations")
    external: Text = Field(default="", alias="externalURL")
    title: Text = ""


_TITLES = ("title", "subject", "summary", "name", "message", "text", "description", "event", "action")
_TEXTS = ("text", "message", "description", "details", "body", "summary")


def _generic(body: dict[str, Json]) -> Event:
    read = _Generic.model_validate(body)
    title = _line(read.title or _first(body, _TITLES) or "An event without a title")
    text = read.text or _first(body, _TEXTS)
    is_lasting = bool(read.key) or read.status is not None
    key = read.key or read.id or _digest(title)
    alert = Alert(
        key[:TITLE_CHARS],
        title,
        (read.status or "firing") if is_lasting else "event",
        labels=_bounded(read.labels),
        text="" if text == title else text[:TEXT_CHARS],
        url=_address(read.url),
    )
    return Event(read.id[:TITLE_CHARS], alert.key, title, (alert,), body, alert.url)


def _group(body: dict[str, Json]) -> Event:
    read = _Group.model_validate(body)
    alerts = tuple(_alert(one, read) for one in read.alerts)
    usual = read.group_labels.get("alertname") or read.common_labels.get("alertname") or alerts[0].title
    names = {one.title for one in alerts}
    whole = _COUNTED.sub("", read.title)
    title = _line(usual if len(names) == 1 or "alertname" in read.group_labels else whole or usual)
    url = next((one.url for one in alerts if one.url), "") or _address(read.external)
    return Event("", _digest(read.key), title, alerts, body, url)


def _alert(one: _Firing, group: _Group) -> Alert:
    annotations = {**group.common_annotations, **one.annotations}
    text = annotations.get("description") or annotations.get("summary") or annotations.get("message", "")
    summary = annotations.get("summary", "")
    is_over = one.status == "resolved"  # before, it is when the alert would be over if nobody sent it again
    return Alert(
        # a relay may leave the fingerprint out; it is made of the labels, as ours is
        one.fingerprint[:TITLE_CHARS] or _digest(json.dumps(one.labels, sort_keys=True)),
        _line(one.labels.get("alertname") or summary or "An alert without a name"),
        one.status,
        _moment(one.starts_at),
        _moment(one.ends_at) if is_over else None,
        _bounded({**group.common_labels, **one.labels}),
        _bounded(annotations),
        text[:TEXT_CHARS],
        next((url for it in (one.panel, one.dashboard, one.generator) if (url := _address(it))), ""),
        _about(one.labels, group.common_labels),
    )


def _about(labels: Mapping[str, str], common: Mapping[str, str]) -> str:
    """Return the labels that an alert does not share with all of its group, in words."""
    own = [f"{name}={text}" for name, text in labels.items() if name not in common and name != "alertname"]
    return _line(", ".join(own[:ABOUT]))


_FORMS = {"generic": _generic, "alertmanager": _group, "grafana": _group}


def _first(body: Mapping[str, Json], names: tuple[str, ...]) -> str:
    return next((found for name in names if isinstance(found := body.get(name), str) and found.strip()), "")


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= TITLE_CHARS else f"{line[: TITLE_CHARS - 1]}…"


def _bounded(pairs: Mapping[str, str]) -> dict[str, str]:
    return {name[:LABEL_CHARS]: text[:TEXT_CHARS] for name, text in list(pairs.items())[:LABELS]}


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _moment(text: str) -> datetime | None:
    """Return a moment of RFC 3339; None for what is none, and for the year 1 that Go writes for none."""
    try:
        at = datetime.fromisoformat(text)
        at = at.replace(tzinfo=at.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return at if at > _EPOCH else None


def _address(text: str) -> str:
    is_web = text.startswith(("http://", "https://")) and not any(sign in text for sign in ' <>"\\\n\t`')
    return text if is_web and len(text) <= TEXT_CHARS else ""
