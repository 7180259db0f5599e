"""The rights of the principal on a topic, as brokers tell them since 2.3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafka.protocol.admin.acl import ACLOperation
from kafka.protocol.metadata import MetadataRequest

from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.cluster.topology import known_topics
from legacy_mm.clients.net import error_text
from legacy_mm.clients.net.connection_errors import UnsupportedVersion
from legacy_mm.protocol.error_codes import ErrorCode

_FIRST_WITH_RIGHTS, _LAST_BY_NAME = 8, 9
_OPERATIONS: Mapping[str, int] = {"Read": ACLOperation.READ, "Write": ACLOperation.WRITE}


def missing_rights(cluster: Cluster, topic: str, wanted: Sequence[str], name: str) -> str:
    """Return which of these rights on a topic are missing, and how to give them; empty: none, or nobody can say it.

    A topic that is not there tells of none. `wanted` as kafka-acls.sh has them; `name`: the cluster's, in the text.
    """
    request = MetadataRequest(
        topics=[MetadataRequest.MetadataRequestTopic(name=topic)],
        allow_auto_topic_creation=False,
        include_topic_authorized_operations=True,
        min_version=_FIRST_WITH_RIGHTS,
        max_version=_LAST_BY_NAME,
    )
    try:
        (found,) = known_topics(cluster.call_any(request)).topics
    except UnsupportedVersion:  # before 2.3
        return ""
    if found.error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED:
        lacking = list(wanted)
    elif found.error_code or found.authorized_operations is None:
        return ""
    else:
        lacking = [each for each in wanted if _OPERATIONS[each] not in found.authorized_operations]
    return error_text.needed("topic", topic, *lacking, cluster=name) if lacking else ""
