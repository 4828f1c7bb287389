"""Knows how logs name a message's severity: words, letters, numbers and HTTP statuses."""

import re

from hermes_bot.diagnosis.values import Level

_WORDS = {
    "trace": Level.DEBUG, "debug": Level.DEBUG, "verbose": Level.DEBUG, "fine": Level.DEBUG,
    "info": Level.INFO, "information": Level.INFO, "notice": Level.INFO, "normal": Level.INFO,
    "log": Level.INFO, "statement": Level.INFO, "hint": Level.INFO,
    "detail": Level.INFO, "context": Level.INFO,
    "warn": Level.WARNING, "warning": Level.WARNING,
    "error": Level.ERROR, "err": Level.ERROR, "severe": Level.ERROR, "failure": Level.ERROR,
    "critical": Level.CRITICAL, "crit": Level.CRITICAL, "fatal": Level.CRITICAL, "alert": Level.CRITICAL,
    "emerg": Level.CRITICAL, "emergency": Level.CRITICAL, "panic": Level.CRITICAL,
}  # fmt: skip
_NAMES = "|".join(sorted(_WORDS, key=len, reverse=True))
_SHOUTED = "|".join(name.upper() for name in sorted(_WORDS, key=len, reverse=True))
# A bare word counts only in capitals; small letters need brackets, a colon or a key.
_TOKEN = re.compile(
    rf"\b(?:{_SHOUTED})\b|(?i:\b(?:level|lvl|severity|loglevel)=\"?(?:{_NAMES})\b|[\[<(](?:\w+[:.])?(?:{_NAMES})[\])>]"
    rf"|^\W*(?:{_NAMES})(?:\[\w+\])?:|\s(?:{_NAMES}):)"
)
_NAME = re.compile(rf"(?i)\b({_NAMES})\b")
_GLOG = {"I": Level.INFO, "W": Level.WARNING, "E": Level.ERROR, "F": Level.CRITICAL}
_GLOG_HEAD = re.compile(r"^([IWEF])\d{4} \d\d:")
_REDIS = re.compile(r"^\s*([.*#-]) ")
_HTTP = re.compile(r"\" (?P<status>[1-5]\d\d) (?:\d+|-)")
_SERVER_ERROR = 500
_LEAST_SEVERE = 7  # of syslog's priorities (RFC 5424, section 6.2.1)
_HEAD = 120
_PINO = ((60, Level.CRITICAL), (50, Level.ERROR), (40, Level.WARNING), (30, Level.INFO), (1, Level.DEBUG))

_BAD_WORDS = (
    *(
        "error",
        "fail",
        "fatal",
        "panic",
        "exception",
        "refus",
        "reject",
        "denied",
        "denying",
        "unable",
        "cannot",
    ),
    *(
        "can't",
        "can not",
        "could not",
        "timeout",
        "time-out",
        "timedout",
        "timed out",
        "time out",
        "unavailable",
    ),
    *(
        "kill",
        "abort",
        "crash",
        "segfault",
        "traceback",
        "corrupt",
        "invalid",
        "expired",
        "missing",
        "not found",
    ),
    *(
        "no such",
        "lost",
        "reset",
        "broken",
        "unreachable",
        "unhealthy",
        "backoff",
        "back-off",
        "evict",
        "stall",
    ),
    *(
        "exceed",
        "limit",
        "too many",
        "too large",
        "too big",
        "not enough",
        "insufficient",
        "overflow",
        "throttl",
    ),
    *(
        "no space",
        "disk full",
        "is full",
        "out of",
        "oom",
        "watermark",
        "alarm",
        "read-only",
        "block",
        "deadlock",
    ),
    *("conflict", "mismatch", "not permitted", "shutdown", "shut down"),
)


def sounds_bad(text: str) -> bool:
    """Tell whether a message is worth a look even where it calls itself harmless."""
    lower = text.lower()
    return any(word in lower for word in _BAD_WORDS)


def text_level(text: str, rest: str) -> Level:
    """Tell the level of a text line from its head.

    Args:
        text: the whole line.
        rest: the line after its time stamp.
    """
    head = rest[:_HEAD]
    if http := _HTTP.search(rest):
        return http_level(int(http["status"]))
    if token := _TOKEN.search(head):
        name = _NAME.search(token[0])
        return _WORDS[name[1].lower()] if name else Level.NONE
    if glog := _GLOG_HEAD.match(text):
        return _GLOG[glog[1]]
    if sign := _REDIS.match(rest):
        return Level.WARNING if sign[1] == "#" else Level.INFO
    return Level.NONE


def http_level(status: int) -> Level:
    """Tell the level of an access log line: only the server's own failures are errors."""
    return Level.ERROR if status >= _SERVER_ERROR else Level.INFO


def field_level(value: object) -> Level:
    """Tell the level of a structured field: a word, a syslog priority (0 to 7) or a pino number."""
    if isinstance(value, str) and not value.strip().isdigit():
        return _WORDS.get(value.strip().lower(), Level.NONE)
    try:
        number = int(str(value))
    except ValueError:
        return Level.NONE
    if number > _LEAST_SEVERE:
        return next((level for least, level in _PINO if number >= least), Level.NONE)
    priorities = (
        Level.CRITICAL,
        Level.CRITICAL,
        Level.CRITICAL,
        Level.ERROR,
        Level.WARNING,
        Level.INFO,
        Level.INFO,
    )
    return priorities[number] if 0 <= number < len(priorities) else Level.DEBUG
