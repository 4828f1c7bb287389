"""Knows the services whose logs may be asked for, and what a person's words for a window mean in them."""

import difflib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hermes_bot.config import Config
from hermes_bot.diagnosis import LogQuery, last_deploy
from hermes_bot.diagnosis.demo import DemoSystem, load_demo
from hermes_bot.errors import ToolError
from hermes_bot.plugins import demo_dir
from hermes_bot.timewords import TIME_EXAMPLES, find_window, mentions_deploy, parse_time

_BOTH_ENDS = re.compile(r"(?i)\b(?:between|from|zwischen|von)\b")


def _unshifted(_now: datetime) -> timedelta:
    return timedelta(0)


@dataclass(frozen=True, slots=True)
class LogSource:
    """One service's logs.

    Attributes:
        paths: files, folders or glob patterns.
        beside: those of what it depends on, where a cause may stand: a diagnosis reads them too.
        tz: IANA name of the zone of stamps that name none; None lets the files say.
        shift: what is added to every stamp, given the present; the demo's logs move along with it.
    """

    name: str
    paths: tuple[str, ...]
    tz: str | None = None
    shift: Callable[[datetime], timedelta] = _unshifted
    beside: tuple[str, ...] = ()

    @property
    def is_moving(self) -> bool:
        """Whether its lines have other times each time they are read, so that no count of an hour holds."""
        return self.shift is not _unshifted


class LogCatalog:
    """The services whose logs can be asked for.

    Attributes:
        zone: the zone in which people mean their times.
    """

    def __init__(self, sources: Sequence[LogSource], zone: ZoneInfo) -> None:
        self._sources = {source.name: source for source in sources}
        self.zone = zone

    def services(self) -> tuple[str, ...]:
        """Return the services' names, in the order of the configuration."""
        return tuple(self._sources)

    def source(self, service: str) -> LogSource:
        """Return a service's logs; case and blanks around its name do not matter.

        Raises:
            ToolError: ``unknown_service``, with the nearest name and all of them.
        """
        wanted = service.strip().casefold()
        for name, source in self._sources.items():
            if name.casefold() == wanted:
                return source
        near = difflib.get_close_matches(wanted, self._sources, n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]}?" if near else ""
        names = ", ".join(self._sources) or "none; [logs.sources] in hermes.toml names them"
        said = f"There is no service {service[:60]!r}.{hint} Services: {names}."
        raise ToolError("unknown_service", said)

    def query(self, service: str, since: str, until: str, now: datetime) -> LogQuery:
        """Return which lines of a service a window in words means; blocking, where it means a deploy.

        Raises:
            ToolError: ``unknown_service``, ``bad_time``, or ``not_found`` for a deploy that no log tells of.
        """
        source = self.source(service)
        query = LogQuery((*source.paths, *source.beside), tz=source.tz, shift=source.shift(now))
        begin, end = self._stretch(query, since, now)
        if until.strip():
            end, _ = self._words(until, now)
        if begin is not None and begin >= (end or now):
            said = f"The window is empty: {since!r} is not before {until or 'now'!r}. {TIME_EXAMPLES}"
            raise ToolError("bad_time", said)
        return replace(query, since=begin, until=end)

    def own(self, query: LogQuery) -> LogQuery:
        """Return the query, checked to be about a known service's files and no others.

        Raises:
            ToolError: ``refused``: its paths are nobody's here.
        """
        for source in self._sources.values():
            if (*source.paths, *source.beside) == query.paths:
                return replace(query, tz=source.tz)
        raise ToolError("refused", "These are no logs of a known service; pass what query_logs returned.")

    def _stretch(self, query: LogQuery, since: str, now: datetime) -> tuple[datetime | None, datetime | None]:
        if not since.strip():
            return None, None
        if not mentions_deploy(since):
            return self._words(since, now)
        at = last_deploy(query, now)
        if at is None:
            raise ToolError("not_found", "No deploy shows in these logs. Name a time instead.")
        return at, None

    def _words(self, words: str, now: datetime) -> tuple[datetime, datetime | None]:
        """Return the moment that words name, and the end where they name a stretch that is over."""
        window = find_window(words, now, self.zone)
        if window and _BOTH_ENDS.search(words):
            return window.since, window.until
        if at := _instant(words) or parse_time(words, now, self.zone):
            return at, None
        if window:
            return window.since, window.until if window.until < now else None
        raise ToolError("bad_time", f"{words[:60]!r} was not understood. {TIME_EXAMPLES}")


def catalog_of(config: Config) -> LogCatalog:
    """Return the configured services, or the demo's where none are.

    Raises:
        ConfigError: the demo is needed and cannot be read.
    """
    named = [
        LogSource(name, (source.path,), source.timezone or None)
        for name, source in config.logs.sources.items()
    ]
    return LogCatalog(named or demo_sources(load_demo(demo_dir())), config.zone)


def demo_sources(demo: DemoSystem) -> list[LogSource]:
    """Return the demo's services; their times move along, so that the last line is always now."""
    paths = {one.name: one.paths for one in demo.services}
    return [
        LogSource(
            one.name,
            one.paths,
            shift=lambda now: now - demo.last,
            beside=tuple(path for name in one.depends_on for path in paths[name]),
        )
        for one in demo.services
    ]


def _instant(text: str) -> datetime | None:
    """Read an ISO instant that names its zone."""
    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return at.astimezone(UTC) if at.tzinfo else None
