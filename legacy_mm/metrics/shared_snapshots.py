"""One snapshot a second for all who ask: a snapshot of many partitions holds up who counts them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence

from legacy_mm.base.clock import monotonic
from legacy_mm.metrics.registry import Snapshot

FRESH_SECONDS = 1.0


class SharedSnapshots:
    """Gives the same snapshots to all who ask within a second. Any thread."""

    def __init__(self, snapshots: Callable[[], Iterable[Snapshot]], clock: Callable[[], float] = monotonic) -> None:
        """Take what makes snapshots."""
        self._snapshots = snapshots
        self._clock = clock
        self._lock = threading.Lock()
        self._taken: Sequence[Snapshot] = ()
        self._at: float | None = None

    def __call__(self) -> Sequence[Snapshot]:
        """Return the snapshots; who asks while they are made waits for them."""
        with self._lock:
            if self._at is None or self._clock() - self._at >= FRESH_SECONDS:
                self._taken = tuple(self._snapshots())
                self._at = self._clock()
            return self._taken
