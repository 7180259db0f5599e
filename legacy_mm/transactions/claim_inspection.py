"""The look at both clusters that a claim needs. One serves all claims that are under way.

It also asks whether the positions topic keeps positions by now, as a start and a command do.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import NamedTuple

from legacy_mm.base.clock import monotonic
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.cluster.metadata import Metadata
from legacy_mm.clients.cluster.topic_properties import properties_of
from legacy_mm.transactions.positions_topic import POLICY, judge_policy

_LONGEST_AGE = 5.0
"""Seconds after which a look serves no claim, however long ago that began."""


def policy_doubt(target: Cluster, topic: str) -> str:
    """Return why a claim must end, because the positions topic keeps no positions; empty: it keeps them.

    Raise ConnectionLost or ClusterUnreachable where a later try may succeed.
    """
    why = judge_policy(topic, properties_of(target, topic, [POLICY]))
    return f"exactly once cannot go on: {why}" if why else ""


class ClaimInspection(NamedTuple):
    """The clusters as a claim finds them."""

    cluster: str
    """The id of the source; empty: brokers before 0.10.1 have none."""
    topic_ids: Mapping[str, object]
    """The ids of the topics of the source; empty: brokers before 2.8 have none."""
    doubt: str
    """Why a claim must end, because the positions topic keeps no positions; empty: it keeps them."""


class ClaimInspections:
    """Looks for all claims of a copy job; any thread may ask."""

    def __init__(self, source: Metadata, target: Cluster, positions_topic: str) -> None:
        """Take what the source tells of itself, and the target; nothing is asked before the first claim."""
        self._source = source
        self._target = target
        self._topic = positions_topic
        self._looking = threading.Lock()
        self._began = float("-inf")
        self._found = ClaimInspection("", {}, "")

    def since(self, moment: float) -> ClaimInspection:
        """Return a look that began after a claim did, at this moment (`clock.monotonic`).

        Raise ConnectionLost or ClusterUnreachable where a later try may succeed.
        """
        with self._looking:
            began = monotonic()
            if self._began < max(moment, began - _LONGEST_AGE):
                self._found = self._inspect()
                self._began = began
            return self._found

    def _inspect(self) -> ClaimInspection:
        self._source.refresh()
        ids = self._source.topic_ids()
        return ClaimInspection(self._source.cluster_id(), ids, policy_doubt(self._target, self._topic))
