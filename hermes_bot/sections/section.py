"""Knows what every section has in common: frozen, and no key that nobody knows."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """One section of ``hermes.toml``, or a part of one."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
