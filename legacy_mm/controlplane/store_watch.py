"""Looks each second for changed key stores; made only for a mirror that has some.

A store that is still being written, cannot be read, or opens no cluster yet is waited for: the mirror continues with
the old one, and reports that once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Generic, TypeVar

from legacy_mm.base.clock import Deadline, monotonic
from legacy_mm.base.errors import one_line
from legacy_mm.logs import events

_LOOK_INTERVAL = 1.0
_RETRY_BACKOFF = 5.0
_FAILURES_UNTOLD = 1
Stamps = frozenset[tuple[str, int, int, int] | tuple[str]]
Read = TypeVar("Read")


def stamps(files: Collection[str]) -> Stamps:
    """Return stamps that identify versions of files: inode, size and time of the last change."""
    return frozenset(_stamp(path) for path in files)


class StoreWatch(threading.Thread, Generic[Read]):
    """Watches the files of one flow."""

    def __init__(
        self,
        files: Collection[str],
        used: Stamps,
        read: Callable[[], Read],
        try_out: Callable[[Read], bool],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Take the files; `used` are the stamps of what was read last.

        `try_out` returns False if the content from `read` is not new. Both raise LegacyMMError while it cannot be used
        yet.
        """
        super().__init__(name="store-watch", daemon=True)
        self.renewed: Read | None = None
        """The content that was read, once it has changed."""
        self._files = files
        self.used = used
        """Stamps of `renewed`, or of the content before."""
        self._seen = used
        self._read = read
        self._try_out = try_out
        self._unused: Read | None = None
        self._clock = clock
        self._again_at = 0.0
        self._failures = 0
        self._stopping = threading.Event()

    def stop(self) -> None:
        """Look no more."""
        self._stopping.set()

    def finish(self, deadline: Deadline) -> None:
        """Do nothing: no work is left."""

    def run(self) -> None:
        """Look until the content has changed."""
        while self.renewed is None and not self._stopping.wait(_LOOK_INTERVAL):
            self.inspect()

    def inspect(self) -> None:
        """Read changed files once they are the same in two looks."""
        now = stamps(self._files)
        if now != self._seen:
            self._seen, self._unused, self._failures, self._again_at = now, None, 0, 0.0
        elif now != self.used and self._clock() >= self._again_at:
            self._take_up(now)

    def _take_up(self, now: Stamps) -> None:
        try:
            read = self._unused = self._unused or self._read()
            is_new = self._try_out(read)
        except Exception as error:  # noqa: BLE001 - logged; the mirror continues with the old content
            self._put_off(now, one_line(error))
            return
        if is_new and not self._stopping.is_set():
            events.emit(events.STORES_CHANGED, files=self._changed(now))
            self.used, self.renewed = now, read
        self.used = now

    def _put_off(self, now: Stamps, reason: str) -> None:
        self._failures += 1
        if self._failures == _FAILURES_UNTOLD + 1 and not self._stopping.is_set():
            events.emit(events.STORES_UNFIT, files=self._changed(now), reason=reason)
        self._again_at = self._clock() + _RETRY_BACKOFF

    def _changed(self, now: Stamps) -> str:
        return ", ".join(sorted({stamp[0] for stamp in now - self.used}))


def _stamp(path: str) -> tuple[str, int, int, int] | tuple[str]:
    try:
        found = Path(path).stat()
    except OSError:
        return (path,)
    return path, found.st_ino, found.st_size, found.st_mtime_ns
