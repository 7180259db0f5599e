"""A bundle that takes no pieces for long: told once, with what it waits for and what to look at.

A transaction that does not end is told by `txn_coordinators.py`, which knows more of it.
"""

from __future__ import annotations

from legacy_mm.logs import events
from legacy_mm.transactions.bundle import Bundle
from legacy_mm.transactions.bundle_session import BundleState

_LONG_TIMEOUT = 60.0
_AT_WORK = (BundleState.READY, BundleState.OPEN, BundleState.OVER)


class Standstill:
    """The time since a bundle was last at work."""

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle
        self._since: float | None = None
        self._reported = False

    def is_due(self, state: BundleState, now: float) -> bool:
        """Return True if it has stood still for long, and nobody was told; `now` is `clock.monotonic`."""
        if state in _AT_WORK:
            self._since, self._reported = None, False
            return False
        self._since = now if self._since is None else self._since
        return not self._reported and now - self._since >= _LONG_TIMEOUT

    def tell(self, state: BundleState) -> None:
        """Write the line."""
        self._reported = True
        events.emit(
            events.BUNDLE_STANDS_STILL,
            positions=self._bundle.positions,
            seconds=f"{_LONG_TIMEOUT:g}",
            state=state.value,
            advice=self._advice(state),
        )

    def _advice(self, state: BundleState) -> str:
        match state:
            case BundleState.IDLE:
                return (
                    "the group at the source must be stable for that: kafka-consumer-groups.sh --describe --state tells"
                )
            case BundleState.READING:
                place = self._bundle.positions
                return (
                    "a transaction that hangs there keeps them back (kafka-transactions.sh find-hanging --topic "
                    f"{place.topic} --partition {place.partition} tells), or a partition of the source has no leader"
                )
        return f"look at it with kafka-transactions.sh describe --transactional-id {self._bundle.transactional_id}"
