"""The claims of one bundle: when a copy job asks for it, how long they take, and how often it was lost in a row."""

from __future__ import annotations

from collections import deque

from legacy_mm.base.clock import monotonic
from legacy_mm.base.errors import StreamFailure
from legacy_mm.policies.growing_pauses import doubled
from legacy_mm.transactions.claim_inspection import ClaimInspection, ClaimInspections

_MOST_FENCES, _FENCES_INTERVAL = 4, 300.0
_FIRST_BACKOFF, _LONGEST_BACKOFF = 0.1, 5.0


class BundleClaims:
    """The claims of one bundle. For the engine's thread, but for `inspect`."""

    def __init__(self, number: int, inspections: ClaimInspections) -> None:
        """Take the bundle's number, and the inspections of both clusters that all claims share."""
        self.number = number
        self.count = 0
        self.seconds = 0.0
        """All of them together, from the question whose the bundle is to the first read."""
        self._inspections = inspections
        self._ask_at: float | None = None
        self._asked_at = 0.0
        self._fences = 0
        self._fenced: deque[float] = deque(maxlen=_MOST_FENCES)

    @property
    def are_in_vain(self) -> bool:
        """Return True if several transactions were given up in a row."""
        return self._fences >= _MOST_FENCES

    def ask(self) -> None:
        """Begin a claim, after a pause that grows with each transaction given up in a row."""
        pause = doubled(_FIRST_BACKOFF, self._fences - 2, _LONGEST_BACKOFF) if self._fences > 1 else 0.0
        self._ask_at = self._asked_at = monotonic() + pause

    def is_due(self, now: float) -> bool:
        """Return True, once, when the driver must be asked for the bundle."""
        if self._ask_at is None or now < self._ask_at:
            return False
        self._ask_at = None
        return True

    def inspect(self) -> ClaimInspection:
        """Return an inspection of both clusters that began after this claim did; from any thread.

        Raise ConnectionLost or ClusterUnreachable where a later try may succeed.
        """
        return self._inspections.since(self._asked_at)

    def ended(self) -> None:
        """Count a claim that has succeeded."""
        self.count += 1
        self.seconds += monotonic() - self._asked_at

    def committed(self) -> None:
        """Note that a transaction was committed."""
        self._fences = 0
        self._fenced.clear()

    def given_up(self, reason: str, *, fenced: bool) -> None:
        """Note that a transaction was given up; raise StreamFailure if others take the bundle over and over."""
        self._fences += 1
        if not fenced:
            return
        now = monotonic()
        self._fenced.append(now)
        if len(self._fenced) == _MOST_FENCES and now - self._fenced[0] < _FENCES_INTERVAL:
            raise StreamFailure(
                f"bundle {self.number} was taken over {_MOST_FENCES} times without a commit in between ({reason}): "
                "another process owns the same partitions; look for a second mirror with this group, and for a clock "
                "or a host that stands still"
            )
