"""The permissions (ACLs) that a mirror needs on both clusters, as `explain` lists them."""

from __future__ import annotations

from dataclasses import dataclass

from legacy_mm.config.settings import Settings


@dataclass(frozen=True, slots=True)
class Permission:
    """One access control entry."""

    cluster: str
    resource: str
    """Type and name, as `kafka-acls.sh` has them."""
    operation: str
    reason: str


def permissions(settings: Settings) -> list[Permission]:
    """What the two principals must be allowed, and why."""
    source = settings.source.name
    topics = f"Topic: each that matches {settings.topics.pattern}"
    group = f"Group: {settings.source.group_id}"
    idempotent = settings.target.properties.get("enable.idempotence") == "true"
    return [
        Permission(source, topics, "Describe", "a topic that may not be described is not seen"),
        Permission(source, topics, "Read", "records"),
        Permission(source, group, "Read", "membership and commits; it includes Describe"),
        Permission("target", topics, "Write", "records; it includes Describe"),
        Permission("target", topics, "Create", "only where a topic is missing and brokers create topics by themselves"),
        *_for_quarantine(settings),
        *([_idempotent_write(settings)] if idempotent else []),
    ]


def _for_quarantine(settings: Settings) -> list[Permission]:
    asked = settings.quarantine
    used = asked.refused or (asked.failed and settings.handler is not None)
    if asked.topic is None or not used:
        return []
    return [Permission("target", f"Topic: {asked.topic}", "Write", "records that are set aside")]


def _idempotent_write(settings: Settings) -> Permission:
    required = settings.target.idempotence_required
    otherwise = "the mirror ends" if required else "it goes on without idempotence"
    return Permission(
        "target",
        "Cluster: kafka-cluster",
        "IdempotentWrite",
        f"only brokers before 2.8, later ones are content with Write; if refused, {otherwise}",
    )
