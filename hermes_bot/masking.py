"""Knows how the values that travel lose their secrets: messages, results, completions, posts, files.

What goes into prompts and rows has numbers from the ``Vault``, which the toolbox turns back at a call; what
only leaves, and should hold none any more, has ``[secret removed]`` in their place.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from hermes_bot.errors import ModelError
from hermes_bot.unseen import without_turns, without_unseen

if TYPE_CHECKING:
    from hermes_bot.messages import Attachment, Earlier, Incoming, Outgoing, Result
    from hermes_bot.ports import Completion, Model, Prompt
    from hermes_bot.redaction import Redactor, Vault
    from hermes_bot.state import Question, RunState

T = TypeVar("T")
_ESCAPED = re.compile(r"\\u(27e[67])", re.IGNORECASE)
_BARE_MASK = re.compile(r"(:\s*)(\N{MATHEMATICAL LEFT WHITE SQUARE BRACKET}secret:\d+.)(?=\s*[,}\]])")

NAME_CHARS = 200  # platforms allow fewer
MOST_BYTES = 20_000_000  # of a file are looked through; platforms take no bigger ones


def scope_of(state: RunState) -> str:
    """Return what a run's numbers are valid for: its thread."""
    return str(state.thread)


def masked_incoming(said: Incoming, vault: Vault) -> Incoming:
    """Return a person's message as it may be stored and shown to a model: no secret, nothing unseen."""
    scope = str(said.thread)
    text, opens = vault.text(_seen(said.text), scope), vault.text(_seen(said.opens), scope)
    name = _name(said.user_name)
    if text is not said.text or opens is not said.opens or name is not said.user_name:
        said = replace(said, text=text, opens=opens, user_name=name)
    if said.earlier:
        said = replace(said, earlier=tuple(masked_earlier(one, vault, scope) for one in said.earlier))
    if said.files:
        said = replace(said, files=tuple(replace(it, name=vault.text(it.name, scope)) for it in said.files))
    if said.request is not None and said.request.params:
        params = {name: vault.text(value, scope) for name, value in said.request.params.items()}
        said = replace(said, request=replace(said.request, params=params))
    return said


def masked_earlier(said: Earlier, vault: Vault, scope: str) -> Earlier:
    """Return something that was said before as it may be stored."""
    text, name = vault.text(_seen(said.text), scope), _name(said.user_name)
    return _same_or(said, text=text, user_name=name)


def _seen(text: str) -> str:
    seen = without_unseen(text)
    return text if seen == text else seen


def _name(text: str) -> str:
    """Return what somebody is called on one line: nothing in a name begins a part of a prompt."""
    return " ".join(_seen(text).split())[:NAME_CHARS]


def masked_result(result: Result, vault: Vault, scope: str) -> Result:
    """Return what a tool gave as it may be stored and shown to a model."""
    data, source = vault.data(result.data, scope), vault.text(result.source, scope)
    error = result.error
    if error is not None:
        message = vault.text(error.message, scope)
        error = error if message is error.message else replace(error, message=message)
    if data is result.data and error is result.error and source is result.source:
        return result
    return replace(result, data=data, error=error, source=source)


def masked_question(asked: Question, vault: Vault, scope: str) -> Question:
    """Return a question of a tool's as it may be stored and posted."""
    options = tuple(vault.text(one, scope) for one in asked.options)
    return _same_or(
        asked,
        text=vault.text(asked.text, scope),
        options=options,
        default=vault.text(asked.default, scope),
    )


def masked_outgoing(message: Outgoing, redactor: Redactor) -> Outgoing:
    """Return a post as it may leave: no secret, and nothing unseen that turns the order of its letters.

    Its files' content is ``masked_file``'s affair.
    """

    def shown(text: str) -> str:
        return redactor.text(without_turns(text))

    text = shown(message.text)
    buttons = tuple(_same_or(it, label=shown(it.label)) for it in message.buttons)
    files = tuple(
        _same_or(it, name=shown(it.name), text=redactor.text(it.text), about=shown(it.about))
        for it in message.files
    )
    return _same_or(message, text=text, buttons=buttons, files=files)


def masked_file(file: Attachment, redactor: Redactor, folder: Path) -> Attachment | None:
    """Return a file as it may leave: itself, or a copy without secrets in ``folder``; None where it may not.

    A file that is no text is withheld where it holds one of the program's own secrets: there is nothing that
    could stand in its place. Blocking.

    Raises:
        OSError: it cannot be read, or the copy not be written.
    """
    if not file.path:
        return file
    path = Path(file.path)
    if path.stat().st_size > MOST_BYTES:
        return file
    raw = path.read_bytes()
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return None if redactor.is_known(raw.decode("latin-1")) else file
    clean = redactor.text(text)
    if clean is text:
        return file
    copy = folder / hashlib.sha256(clean.encode()).hexdigest()[:16] / path.name
    copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not copy.exists():
        copy.write_bytes(clean.encode())
    return replace(file, path=str(copy))


def _same_or(value: T, **fields: object) -> T:
    """Return a frozen value with these fields; the same one where nothing changes."""
    changed = {name: it for name, it in fields.items() if it != getattr(value, name)}
    return replace(value, **changed) if changed else value  # type: ignore[type-var]


@dataclass
class MaskedModel:
    """A model whose words, and whose endpoint's, hold no secret; implements ``ports.Model``.

    What the program knows itself is also looked for in the prompt: rows of an older version may hold it.
    """

    model: Model
    vault: Vault

    async def complete(self, prompt: Prompt, state: RunState) -> Completion:
        """Return one completion of the prompt.

        Raises:
            ModelError: the endpoint and its fallbacks failed.
        """
        scope = scope_of(state)
        known = self.vault.redactor.without_known(prompt.messages)
        prompt = prompt if known is prompt.messages else replace(prompt, messages=known)
        try:
            came = await self.model.complete(prompt, state)
        except ModelError as error:
            said = self.vault.redactor.text(str(error))
            if said == str(error):
                raise
            raise ModelError(error.code, said, retryable=error.retryable) from None
        text = self._json(came.text, scope)
        calls = tuple(_same_or(it, arguments=self._json(it.arguments, scope)) for it in came.calls)
        return _same_or(came, text=text, calls=calls)

    def _json(self, text: str, scope: str) -> str:
        """Mask what may be JSON: where a number was, the text that stands for it needs its quotes.

        A mask may come escaped; as it stands in our own rows it is known for what it is.
        """
        if "secret:" in text and _ESCAPED.search(text):
            text = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
        masked = self.vault.text(text, scope)
        return text if masked is text else _BARE_MASK.sub(r'\1"\2"', masked)
