"""Knows the ballast: a file that is given up when the disk is full, so that the store can still tidy up.

On a full disk SQLite cannot delete or checkpoint either, since both write to its log first.
"""

from __future__ import annotations

import logging
import os
import shutil
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

log = logging.getLogger(__name__)

BALLAST_BYTES = 16 * 1024 * 1024
_ROOM = 4  # times its size must be free before it is laid down, or it would take what it just gave


class Ballast:
    """A file of reserved bytes; ``is_short`` from the moment it had to go until there is room again.

    Attributes:
        path: where the file lies while there is room.
    """

    def __init__(self, path: Path, size: int, free: Callable[[], int] | None = None) -> None:
        self.path = path
        self._size = size
        self._free = free or (lambda: shutil.disk_usage(path.parent).free)
        self._is_short = size > 0
        self._lock = threading.Lock()

    @property
    def is_short(self) -> bool:
        """Whether the disk has no room for the ballast; looks again, and lays it down where there is."""
        with self._lock:
            if self._is_short:
                self._is_short = not self._lay()
            return self._is_short

    def give_up(self) -> None:
        """Remove the file, so that what is needed to tidy up can be written."""
        with self._lock:
            self._is_short = self._size > 0
            self.path.unlink(missing_ok=True)

    def lift(self) -> None:
        """Remove the file because the database is closed in good order."""
        self.path.unlink(missing_ok=True)

    def _lay(self) -> bool:
        if self.path.exists() and self.path.stat().st_size == self._size:
            return True
        if self._free() < _ROOM * self._size:
            return False
        try:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.posix_fallocate(descriptor, 0, self._size)
            finally:
                os.close(descriptor)
        except OSError as error:
            log.warning("store.ballast_refused", extra={"error": str(error)})
            self.path.unlink(missing_ok=True)
            return False
        return True
