"""Knows what ``[webhooks.NAME]`` makes of a webhook, and why one cannot be used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_bot.access import HOOK, Pattern, Where
from hermes_bot.errors import ConfigError, SkillError
from hermes_bot.sections import webhook_variable
from hermes_bot.skills.templates import is_template, names_in
from hermes_bot.webhooks.signing import Lock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_bot.access import Policy
    from hermes_bot.config import Config, WebhookSection
    from hermes_bot.skills import Registry

LEAST_CHARS = 16  # of a secret
NAMES = frozenset({"event", "alert"})


@dataclass(frozen=True, slots=True)
class Hook:
    """One webhook.

    Attributes:
        place: its channel; without a workspace where the platform's ids name none.
    """

    name: str
    section: WebhookSection
    lock: Lock
    place: Pattern

    @property
    def user(self) -> str:
        """The identity that its rights hang on."""
        return HOOK + self.name


def hooks_of(config: Config) -> dict[str, Hook]:
    """Return the webhooks by name; one without a usable secret opens to nobody."""
    return {name: _hook(name, section, config) for name, section in config.webhooks.items()}


def _hook(name: str, section: WebhookSection, config: Config) -> Hook:
    secret = secret_of(name, config)
    lock = Lock(
        secret.encode() if len(secret) >= LEAST_CHARS else b"",
        section.window_seconds,
        takes_grafana=section.form == "grafana",
        takes_bearer=section.bearer,
    )
    return Hook(name, section, lock, Pattern.parse(section.channel))


def secret_of(name: str, config: Config) -> str:
    """Return a webhook's secret in the clear; empty where it has none."""
    found = config.secrets.webhooks.get(webhook_variable(name))
    return found.get_secret_value() if found is not None else ""


def problems_of(hook: Hook, config: Config, policy: Policy, registry: Registry) -> Iterator[str]:
    """Yield why a webhook cannot be used, each with what to do."""
    where = f"[webhooks.{hook.name}]"
    yield from _about_secret(hook.name, secret_of(hook.name, config))
    place, channel = hook.place, hook.section.channel
    at = Where(place.platform, place.workspace or "", place.id)
    if not policy.allowed(hook.user, "ask", at).ok:
        yield (
            f"{where} channel: {channel} is not among the places where I may work. "
            f'Add "{channel}" to [access] channels, or name another.'
        )
    if hook.section.skill:
        yield from _about_skill(hook, registry)
    for key, text in (*hook.section.params.items(), ("text", hook.section.text)):
        yield from _about_template(text, f"{where} {key}")


def _about_secret(name: str, secret: str) -> Iterator[str]:
    variable = webhook_variable(name)
    make = "`openssl rand -hex 32` makes one; the sender gets the same"
    if not secret:
        yield f"[webhooks.{name}] has no secret: {variable} is not set. {make}. Or remove the section."
    elif len(secret) < LEAST_CHARS:
        yield f"{variable} is too short: at least {LEAST_CHARS} characters. {make}."


def _about_skill(hook: Hook, registry: Registry) -> Iterator[str]:
    try:
        skill = registry.find(hook.section.skill)
    except SkillError as error:
        yield f"[webhooks.{hook.name}] skill: {error}"
        return
    known = {one.name for one in skill.chain.parameters} if skill.chain else set()
    for name in hook.section.params:
        if known and name not in known:
            there = ", ".join(sorted(known))
            yield f"[webhooks.{hook.name}] params: {skill.name} has no {name}; it has {there}."


def _about_template(text: str, where: str) -> Iterator[str]:
    if not is_template(text):
        return
    try:
        strange = names_in(text, where=where) - NAMES
    except SkillError as error:
        yield str(error)
        return
    for name in sorted(strange):
        yield f"{where}: there is no {name} here. There are {' and '.join(sorted(NAMES))}."


def refused(problems: list[str]) -> ConfigError:
    """Return what the start is refused with."""
    return ConfigError("\n".join(problems))
