"""The most bytes of a batch that is made of little ones, for each target topic."""

from __future__ import annotations

_MOST, _MOST_SPREAD = 256 << 10, 1 << 20


class JoinLimits:
    """Remembers what each topic found too large. For one thread."""

    def __init__(self, limit: int, *, spread: bool = False) -> None:
        """Create the limits; `limit` holds for every topic, if it is less than the default.

        `spread`: a handler's records go to all partitions, so what it is given may be four times as large.
        """
        self._most = min(limit, _MOST_SPREAD if spread else _MOST)
        self._limits: dict[str, int] = {}

    def most_bytes(self, topic: str) -> int:
        """Return the most bytes of a joined batch for this target topic."""
        return self._limits.get(topic, self._most)

    def refused(self, topic: str, size: int) -> None:
        """Note that this topic refused a batch of this many bytes."""
        self._limits[topic] = min(size // 2, self.most_bytes(topic))
