"""A cluster's access rules for topics.

Asked here, because librdkafka's admin client takes an answer that is an error, such as that there is no authorizer or
that we may not see the rules, for an empty list.
"""

from __future__ import annotations

from contextlib import closing

from kafka.protocol.admin import DescribeAclsRequest
from kafka.protocol.admin.acl import ACLOperation, ACLPermissionType, ACLResourcePatternType, ACLResourceType

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError, NoAuthorizer
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.clients.cluster.cluster import Cluster
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
