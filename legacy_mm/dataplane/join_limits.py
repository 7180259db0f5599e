"""The most bytes of a batch that is made of little ones, for each target topic."""

from __future__ import annotations

_MOST = 960 << 10
"""Less than brokers before 2.5 allow by default, 1,000,012 bytes."""
_GROWTH = 32
"""A joined batch may be larger than its parts, by such a part of it: its offsets and times count from one begin."""


class JoinLimits:
    """Remembers what each topic found too large. For one thread."""

    def __init__(self, limit: int) -> None:
        """Create the limits; `limit` holds for every topic, if it is less than the default."""
        self._most = min(limit, _MOST)
        self._limits: dict[str, int] = {}

    def most_bytes(self, topic: str) -> int:
        """Return the most bytes of a joined batch for this target topic."""
        return self._limits.get(topic, self._most)

    def full_batches(self, most_bytes: int) -> int:
        """Return the most bytes to read of a partition at once: those of full joined batches, if they fill one.

        The rest would be a batch of its own, and in a transaction a request of its own.
        """
        full = self._most - self._most // _GROWTH
        return most_bytes - most_bytes % full if 0 < full <= most_bytes else most_bytes

    def refused(self, topic: str, size: int) -> None:
        """Note that this topic refused a batch of this many bytes."""
        self._limits[topic] = min(size // 2, self.most_bytes(topic))
