"""The look at the policy of the positions topic that every claim takes: of the engine, of a start, of a command."""

from __future__ import annotations

from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.cluster.topic_properties import properties_of
from legacy_mm.transactions.positions_topic import POLICY, judge_policy


def policy_doubt(target: Cluster, topic: str) -> str:
    """Return why a claim must end, because the positions topic keeps no positions; empty: it keeps them.

    Raise ConnectionLost or ClusterUnreachable where a later try may succeed.
    """
    why = judge_policy(topic, properties_of(target, topic, [POLICY]))
    return f"exactly once cannot go on: {why}" if why else ""
