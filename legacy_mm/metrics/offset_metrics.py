"""Counts offset syncs, checkpoints and groups; made only if their features are on."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Mapping

from legacy_mm.metrics.registry import Registry, Scope

_SHOWN_AT_MOST = 1_000
"""Partitions of groups; 10,000 groups with 10 partitions each would be 100,000 beans."""
_NAMED_AT_MOST = 20
"""Groups without a checkpoint."""
_SOURCE = "checkpoints"


class OffsetMetrics:
    """Told by the threads of the offset features; any thread may tell it."""

    def __init__(self, registry: Registry) -> None:
        """Create every count at the start."""
        names = registry.mirror_names
        assert names is not None, "a flow with offset features has names for both clusters"
        self._registry = registry
        self._names = names
        self._scope = Scope("mirror_offsets", (("source", names.source), ("target", names.target)))
        self._groups: OrderedDict[Scope, None] = OrderedDict()
        self._left_out: list[Scope] = []
        for counter in ("checkpoints", "groups", "syncs", "failed_syncs"):
            self._add(counter, 0)
        self._happened("last_sync", math.inf)

    def checkpoints_begin(self) -> None:
        """Note that there will be checkpoints."""
        for age in ("last_checkpoint", "last_look"):
            self._happened(age, math.inf)

    def checkpoint(self, group: str, topic: str, partition: int, seconds: float) -> None:
        """Count a checkpoint, written this long after the request for the group's offset; `topic`: at the target."""
        self._add("checkpoints", 1)
        self._happened("last_checkpoint")
        scope = Scope("mirror_group", self._names.labels(topic, partition, group=group))
        milliseconds = seconds * 1000
        with self._registry.lock:
            self._groups[scope] = None
            self._groups.move_to_end(scope)
            if len(self._groups) > _SHOWN_AT_MOST:
                self._registry.scopes.pop(self._groups.popitem(last=False)[0], None)
            now, meters = self._registry.clock(), self._registry.scopes[scope]
            meters.gauges["last_checkpoint_ms"].observe(_SOURCE, milliseconds, now)
            meters.spreads["checkpoint_ms"].observe(milliseconds, 1, milliseconds, milliseconds, now)

    def groups_seen(self, count: int, left_out: Mapping[str, str]) -> None:
        """Note the groups of the source with offsets of this process's partitions, and why some have no checkpoint."""
        named = [Scope("group_left_out", (("group", each), ("why", left_out[each]))) for each in sorted(left_out)]
        with self._registry.lock:
            now, scopes = self._registry.clock(), self._registry.scopes
            for scope in self._left_out:
                scopes.pop(scope, None)
            self._left_out = named[:_NAMED_AT_MOST]
            for scope in self._left_out:
                scopes[scope].gauges["left_out"].observe(_SOURCE, 1, now)
            scopes[self._scope].gauges["groups_seen"].observe(_SOURCE, count, now)
            scopes[self._scope].gauges["groups_left_out"].observe(_SOURCE, len(left_out), now)

    def groups_looked_at(self, seconds: float) -> None:
        """Note that all groups were looked at so many seconds ago, and that their checkpoints are written."""
        self._happened("last_look", seconds)

    def groups_synced(self, count: int) -> None:
        """Count groups of the target that were moved."""
        self._add("groups", count)

    def sync_settled(self, *, failed: bool) -> None:
        """Count an offset sync that is written, or could not be."""
        self._add("failed_syncs" if failed else "syncs", 1)
        if not failed:
            self._happened("last_sync")

    def _happened(self, what: str, seconds: float = 0.0) -> None:
        with self._registry.lock:
            self._registry.scopes[self._scope].ages[what].observe(seconds, self._registry.clock())

    def _add(self, counter: str, growth: int) -> None:
        with self._registry.lock:
            self._registry.scopes[self._scope].counters[counter].add(growth, self._registry.clock())
