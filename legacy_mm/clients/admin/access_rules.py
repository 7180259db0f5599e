"""A cluster's access rules for topics.

Asked here, because librdkafka's admin client takes an answer that is an error, such as that there is no authorizer or
that we may not see the rules, for an empty list.

`missing_rights` asks for the principal's own rights on a topic, which brokers tell since 2.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing

from kafka.protocol.admin import DescribeAclsRequest
from kafka.protocol.admin.acl import ACLOperation, ACLPermissionType, ACLResourcePatternType, ACLResourceType
from kafka.protocol.metadata import MetadataRequest

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError, NoAuthorizer
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.cluster.topology import known_topics
from legacy_mm.clients.net import error_text
from legacy_mm.clients.net.connection_errors import UnsupportedVersion
from legacy_mm.policies.acl_rules import AclRule
from legacy_mm.protocol import error_codes
from legacy_mm.protocol.error_codes import ErrorCode

_EVERY = DescribeAclsRequest(
    resource_type_filter=ACLResourceType.TOPIC,
    resource_name_filter=None,
    pattern_type_filter=ACLResourcePatternType.ANY,
    principal_filter=None,
    host_filter=None,
    operation=ACLOperation.ANY,
    permission_type=ACLPermissionType.ANY,
    min_version=1,
)
_FIRST_WITH_RIGHTS, _LAST_BY_NAME = 8, 9
_OPERATIONS: Mapping[str, int] = {"Read": ACLOperation.READ, "Write": ACLOperation.WRITE}


def access_rules(name: str, settings: ConnectionSettings, deadline: Deadline) -> frozenset[AclRule]:
    """Return all ACL rules; raise NoAuthorizer when the cluster keeps none, or LegacyMMError. `name` tells clusters
    apart.
    """
    with closing(Cluster(settings, deadline.remaining())) as cluster:
        answer = cluster.call_any(_EVERY)
    code = answer.error_code
    if code == ErrorCode.SECURITY_DISABLED:
        raise NoAuthorizer(f"the {name} has no authorizer")
    if code:
        # the broker's own words name the connection, and would never be the same twice
        raise HostError(f"listing the {name}'s access rules failed: {error_codes.name(code)}")
    return frozenset(
        AclRule(
            resource.resource_name,
            ACLResourcePatternType(resource.pattern_type).name,
            rule.principal,
            rule.host,
            ACLOperation(rule.operation).name,
            ACLPermissionType(rule.permission_type).name,
        )
        for resource in answer.resources
        for rule in resource.acls
    )


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
