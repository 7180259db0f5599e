"""The state of topics beside their records: their own properties, and access rules.

A rule is (topic, pattern, principal, host, operation, permission), in Kafka's words. A right is (kind, name,
operation): what is allowed to a principal at a topic or a group of this name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    ResourcePatternType,
    ResourceType,
)

AUTHORIZER: Mapping[str, str] = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
    "allow.everyone.if.no.acl.found": "true",
}
"""Server properties: access rules are kept and obeyed, and clients without a name may do everything."""
REQUEST_TIMEOUT = 30.0
Rule = tuple[str, str, str, str, str, str]
Right = tuple[str, str, str]


def overrides(bootstrap: str, topic: str) -> dict[str, str]:
    """Return the properties that were set for the topic itself."""
    resource = ConfigResource(ResourceType.TOPIC, topic)
    admin = _admin(bootstrap)
    found = admin.describe_configs([resource])[resource].result(REQUEST_TIMEOUT)
    own = ConfigSource.DYNAMIC_TOPIC_CONFIG
    return {name: str(entry.value) for name, entry in found.items() if ConfigSource(entry.source) == own}


def override(bootstrap: str, topic: str, properties: Mapping[str, str | None]) -> None:
    """Set these properties of a topic; None takes its own value away. Others stay."""
    _alter(bootstrap, ResourceType.TOPIC, topic, properties)


def override_broker(bootstrap: str, node: int, properties: Mapping[str, str | None]) -> None:
    """Set or delete properties that a broker holds for all topics."""
    _alter(bootstrap, ResourceType.BROKER, str(node), properties)


def rules(bootstrap: str) -> set[Rule]:
    """Return all access rules for topics."""
    anybody: Any = None
    wanted = (ResourceType.TOPIC, anybody, ResourcePatternType.ANY, anybody, anybody)
    every = AclBindingFilter(*wanted, AclOperation.ANY, AclPermissionType.ANY)
    admin = _admin(bootstrap)
    found: list[Any] = admin.describe_acls(every).result(REQUEST_TIMEOUT)
    return {
        (
            *(each.name, each.resource_pattern_type.name, each.principal, each.host),
            *(each.operation.name, each.permission_type.name),
        )
        for each in found
    }


def add_rules(bootstrap: str, wanted: Iterable[Rule]) -> None:
    """Add access rules."""
    _add(bootstrap, [AclBinding(ResourceType.TOPIC, *rule) for rule in wanted])


def forbid_rules(bootstrap: str, principal: str, operation: str = "DESCRIBE") -> None:
    """Forbid a principal to see the cluster's access rules, or to do another operation on the cluster."""
    words = ("kafka-cluster", "LITERAL", principal, "*", operation, "DENY")
    _add(bootstrap, [AclBinding(ResourceType.BROKER, *words)])


def remove_rules(bootstrap: str, unwanted: Iterable[Rule]) -> None:
    """Remove exactly these access rules."""
    if not (filters := [AclBindingFilter(ResourceType.TOPIC, *rule) for rule in unwanted]):
        return
    admin = _admin(bootstrap)
    for future in admin.delete_acls(filters).values():
        future.result(REQUEST_TIMEOUT)


def allow(bootstrap: str, principal: str, rights: Iterable[Right]) -> None:
    """Give these rights."""
    words = ("LITERAL", principal, "*")
    _add(bootstrap, [AclBinding(ResourceType[kind], name, *words, each, "ALLOW") for kind, name, each in rights])


def take_away(bootstrap: str, principal: str, rights: Iterable[Right]) -> None:
    """Take away what `allow` gave."""
    words = ("LITERAL", principal, "*")
    filters = [AclBindingFilter(ResourceType[kind], name, *words, each, "ALLOW") for kind, name, each in rights]
    admin = _admin(bootstrap)
    for future in admin.delete_acls(filters).values():
        assert future.result(REQUEST_TIMEOUT), "there was no such right"


def _add(bootstrap: str, bindings: list[AclBinding]) -> None:
    admin = _admin(bootstrap)
    for future in admin.create_acls(bindings).values():
        future.result(REQUEST_TIMEOUT)


def _alter(bootstrap: str, kind: ResourceType, name: str, properties: Mapping[str, str | None]) -> None:
    entries = [_entry(key, value) for key, value in properties.items()]
    resource = ConfigResource(kind, name, incremental_configs=entries)
    admin = _admin(bootstrap)
    admin.incremental_alter_configs([resource])[resource].result(REQUEST_TIMEOUT)


def _entry(name: str, value: str | None) -> ConfigEntry:
    operation = AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET
    return ConfigEntry(name, value, incremental_operation=operation)


def _admin(bootstrap: str) -> AdminClient:
    """Keep it until the answer is there, or it takes the answer along."""
    return AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
