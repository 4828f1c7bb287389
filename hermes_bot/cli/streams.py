"""Knows what becomes of a command whose standard streams are closed, full, or read by nobody any more."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOST = {errno.EPIPE, errno.ENOSPC, errno.EIO, errno.EDQUOT}
_STREAMS: tuple[tuple[str, Literal["r", "w"]], ...] = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))


def open_closed() -> None:
    """Give each standard stream that the caller closed to nobody: its number must not be the database's."""
    for number, (name, mode) in enumerate(_STREAMS):
        if getattr(sys, name) is None:
            nobody = os.open(os.devnull, os.O_RDWR)
            if nobody != number:
                os.dup2(nobody, number)
                os.close(nobody)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def is_output_lost(error: BaseException) -> bool:
    """Whether all that went wrong is that output could not be written."""
    if isinstance(error, BaseExceptionGroup):
        return all(map(is_output_lost, error.exceptions))
    return isinstance(error, OSError) and error.errno in _LOST and error.filename is None


def finish(code: int, failed: int) -> int:
    """Write out what is left and return the exit code: ``failed`` where a result could not be written.

    A reader that has seen enough (``| head -1``) is told nothing.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        if error.errno != errno.EPIPE:
            with contextlib.suppress(OSError):
                sys.stderr.write(f"Standard output cannot be written ({error.strerror}).\n")
        code = code or failed
    for stream in _unwritten():
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)  # what is left in a buffer would be tried again
    return code


def _unwritten() -> Iterator[int]:
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            yield number
