"""Knows the JSON between a terminal and the console adapter; pydantic here, our values inside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hermes_bot.errors import ContentRefused
from hermes_bot.messages import ThreadKey

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_bot.messages import Outgoing

MAIN = "main"
TEXT_CHARS = 1_000_000

Form = TypeVar("Form", bound=BaseModel)


class _Args(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    thread: str = Field(default=MAIN, min_length=1, max_length=200)
    user: str = Field(default="you", min_length=1, max_length=100)
    name: str = Field(default="you", max_length=100)

    @property
    def key(self) -> ThreadKey:
        """The thread that is meant."""
        return thread_key(self.thread)


class AttachArgs(_Args):
    """``console.attach``: show me what is posted in this thread from now on."""


class RequestArgs(BaseModel):
    """What a caller fixed about a task beside its text."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    skill: str = ""
    params: dict[str, str] = Field(default_factory=dict)
    profile: str = ""


class SayArgs(_Args):
    """``console.say``: a message; the terminal chose ``event_id``, so that saying it again is harmless."""

    text: str = Field(max_length=TEXT_CHARS)
    event_id: str = Field(min_length=1, max_length=200)
    request: RequestArgs | None = None


class PressArgs(_Args):
    """``console.press``: one of a question's choices, counted from 0."""

    question: str = Field(min_length=1, max_length=200)
    option: int = Field(ge=0)


def read_args(form: type[Form], op: str, args: Mapping[str, Any]) -> Form:
    """Return an operation's arguments; None stands for a default.

    Raises:
        ContentRefused: they do not fit; names the field and never repeats what it held.
    """
    try:
        return form.model_validate({name: value for name, value in args.items() if value is not None})
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(part) for part in problem["loc"])
        raise ContentRefused(f"{op}: {place}: {problem['msg']}.") from error


def thread_key(name: str) -> ThreadKey:
    """Return the key of a terminal's thread."""
    return ThreadKey("console", "local", "terminal", name)


def post_event(kind: str, message: Outgoing) -> dict[str, Any]:
    """Return the event of a ``post`` or an ``edit``."""
    return {
        "type": kind,
        "id": message.key,
        "kind": message.kind,
        "text": message.text,
        "buttons": [
            {"label": button.label, "question": button.press.question, "option": button.press.option}
            for button in message.buttons
        ],
        "files": [{"name": file.name, "path": file.path} for file in message.files],
    }
