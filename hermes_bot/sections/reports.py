"""Knows the sections of what reports look at: services that are checked over HTTP, queries with a name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from hermes_bot.keys import Address
from hermes_bot.sections.planned import Named
from hermes_bot.sections.section import Section

_SPAN = re.compile(r"([1-5]\d\d)(?:\s*-\s*([1-5]\d\d))?")


def _as_list(value: object) -> object:
    """Take one status, as a number or a text, for a list of one."""
    items = value if isinstance(value, list | tuple) else [value]
    return tuple(str(one) if isinstance(one, int) and not isinstance(one, bool) else one for one in items)


class HealthCheck(Section):
    """``[health.checks.NAME]``: a service that ``service-health`` looks at over HTTP.

    Attributes:
        status: which statuses are well: ``200``, ``"200-399"``, or a list of such; after redirects.
        contains: a text that its page holds.
        timeout_seconds: for everything, redirects included.
        warn_latency_ms: from where on it is called slow; 0 never.
        warn_cert_days: how long before its end a certificate is warned of; 0 never.
        ca_file: PEM with the authorities that are believed of it instead of the public ones.
    """

    url: Address
    method: Literal["GET", "HEAD"] = "GET"
    status: Annotated[tuple[str, ...], BeforeValidator(_as_list), Field(min_length=1)] = ("200-399",)
    contains: str = ""
    timeout_seconds: float = Field(default=10.0, gt=0, le=40)
    warn_latency_ms: int = Field(default=2_000, ge=0)
    warn_cert_days: int = Field(default=14, ge=0)
    ca_file: Path | None = None

    @field_validator("status")
    @classmethod
    def _are_statuses(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        for text in texts:
            found = _SPAN.fullmatch(text.strip())
            if found is None or (found[2] and found[2] < found[1]):
                raise ValueError(f'{text!r} is no status; write 200, "200-399", or a list of such')
        return texts

    @model_validator(mode="after")
    def _has_a_page(self) -> Self:
        if self.method == "HEAD" and self.contains:
            raise ValueError("asks for HEAD, which brings no page that could hold the text of contains")
        return self

    @property
    def statuses(self) -> frozenset[int]:
        """All statuses that are well."""
        spans = [found for text in self.status if (found := _SPAN.fullmatch(text.strip()))]
        return frozenset(n for one in spans for n in range(int(one[1]), int(one[2] or one[1]) + 1))


class Health(Section):
    """``[health]``: the services that ``service-health`` looks at."""

    checks: dict[Named, HealthCheck] = Field(default_factory=dict, max_length=200)


class SqlReport(Section):
    """``[sql.reports.NAME]``: a query that ``sql-report`` is run with by its name.

    Attributes:
        source: the database, by its name in ``[sql.sources]``; may be left out where there is one.
        chart: ``auto`` draws where the result fits a chart, ``none`` never.
        rows: how many are shown; all that were read go along as a file.
    """

    query: str = Field(min_length=1, max_length=20_000)
    source: str = ""
    title: str = ""
    chart: Literal["auto", "line", "bar", "area", "none"] = "auto"
    rows: int = Field(default=50, ge=1, le=200)
