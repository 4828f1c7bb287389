"""Knows how a deploy shows in a log: a version that starts, or a message that says so."""

import re

from hermes_bot.diagnosis.values import Level, Record

_VERSION = r"v?\d+\.\d+(?:\.\d+)*(?:[-+][\w.]+)?\b"
_DEPLOY = re.compile(
    rf"(?i)\b(?:deploy(?:ed|ing|ment)?|rolled out|released?)\b.{{0,80}}"
    rf"(?:{_VERSION}|\b[0-9a-f]{{7,40}}\b|successful|complete|finished|started)"
    rf"|\b(?:start(?:ed|ing)?|booting|launching|running)\b.{{0,60}}(?:\bversion\b|\bv?\d+\.\d+\.\d+|\bv\d+\.\d+)"
    rf"|\bversion[ =:]+{_VERSION}.{{0,60}}\b(?:start|built|deployed)"
    r"|\bdeploy(?:ed|ment (?:finished|complete|successful))\b"
    r"|\bscaled up replica set\b"
)


def is_deploy(record: Record) -> bool:
    """Tell whether a record says that a version was deployed or started."""
    return record.level <= Level.INFO and _DEPLOY.search(record.message[:400]) is not None
