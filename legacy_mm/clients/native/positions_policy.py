"""The look at the policy of the positions topic that every claim takes: of the engine, of a start, of a command."""

from __future__ import annotations

from legacy_mm.clients.native import error_text
from legacy_mm.clients.native.cluster import Cluster
from legacy_mm.clients.native.connection_errors import ClusterUnreachable
from legacy_mm.clients.native.topic_properties import described
from legacy_mm.exactly_once.positions_topic import POLICY, judge_policy
from legacy_mm.protocol.error_codes import is_retriable


def policy_doubt(target: Cluster, topic: str) -> str:
    """Return why a claim must end, because the positions topic keeps no positions; empty: it keeps them.

    Raise ConnectionLost or ClusterUnreachable where a later try may succeed.
    """
    (row,) = described(target, [topic], [POLICY])
    if is_retriable(row.error_code):
        why = error_text.text(row.error_code)
        raise ClusterUnreachable(f"the target does not tell the properties of {topic}: {why}")
    why = judge_policy(topic, {each.name: each.value or "" for each in row.configs})
    return f"exactly once cannot go on: {why}" if why else ""
