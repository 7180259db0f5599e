"""The permissions (ACLs) that a mirror needs on both clusters, as `explain` lists them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from legacy_mm.features.connect_offsets.feature import CONNECT_OFFSETS
from legacy_mm.features.exactly_once.feature import EXACTLY_ONCE
from legacy_mm.features.flag import Flag
from legacy_mm.features.naming.policy_names import IDENTITY, LEGACY
from legacy_mm.features.offset_syncs.feature import OFFSET_SYNCS
from legacy_mm.features.rows import FLAGS
from legacy_mm.flow.flow_settings import Settings

_OPERATIONS = r"(?:[A-Z]\w+(?:, | and ))*[A-Z]\w+"
_RIGHT = re.compile(f"({_OPERATIONS}) on (.+?)(?=[,;] {_OPERATIONS} on |$)")
_SYNCS = "emit.offset-syncs.enabled"
"""The feature whose rights are needed at the cluster of its topics."""
_WHETHER_IT_ARRIVED = "only to find out if records arrived whose answer was lost; without it they may come twice"


@dataclass(frozen=True, slots=True)
class Permission:
    """One access control entry."""

    cluster: str
    resource: str
    """Type and name, as `kafka-acls.sh` has them."""
    operation: str
    reason: str


def permissions(settings: Settings) -> list[Permission]:
    """Return the permissions that the two principals need, and the reasons."""
    if not settings.streams:
        return [row for feature in _switched_on(settings) for row in _for_feature(feature, settings)]
    source, target = settings.source.name, settings.target.name
    lists = settings.features.topics
    named = settings.topics.pattern if lists is None else ", ".join(lists.include)
    topics, naming = f"Topic: each that matches {named}", settings.features.naming
    renamed = naming.policy not in (LEGACY, IDENTITY) or settings.handler is not None
    copies = f"Topic: each copy of one that matches {named}" if renamed else topics
    asks = settings.target.client.produce.idempotent and settings.features[EXACTLY_ONCE] is None
    return [
        Permission(source, topics, "Describe", "a topic without this right is not seen"),
        Permission(source, topics, "Read", "records"),
        *_for_positions(settings),
        Permission(target, copies, "Write", "records; it includes Describe"),
        Permission(target, copies, "Create", "only if a topic is missing and the brokers create topics"),
        *_for_quarantine(settings),
        *([Permission(target, copies, "Read", _WHETHER_IT_ARRIVED), _idempotent_write(settings)] if asks else []),
        *(row for feature in _switched_on(settings) for row in _for_feature(feature, settings)),
    ]


def _for_positions(settings: Settings) -> list[Permission]:
    """Return the permissions for membership and commits."""
    stored = settings.features[CONNECT_OFFSETS]
    if stored is None:
        group = f"Group: {settings.source.group_id}"
        return [Permission(settings.source.name, group, "Read", "membership and commits; it includes Describe")]
    target, topic = settings.target.name, f"Topic: {stored.topic}"
    return [
        Permission(target, f"Group: {stored.workers.group_id}", "Read", "membership; it includes Describe"),
        Permission(target, topic, "Read", "where copying goes on"),
        Permission(target, topic, "Write", "what was copied"),
        Permission(target, topic, "Create", "only if it is missing"),
        Permission(target, topic, "DescribeConfigs", "whether it keeps what is written; without it nobody looks"),
    ]


def _switched_on(settings: Settings) -> list[Flag]:
    given = settings.features.naming.properties
    return [row for row in FLAGS if row.is_feature and given.get(row.name, "").lower() == "true"]


def _for_feature(feature: Flag, settings: Settings) -> Iterator[Permission]:
    """Yield each `OPERATIONS on RESOURCE` of the row, with this flow's aliases in the names of topics."""
    naming, syncs = settings.features.naming, settings.features[OFFSET_SYNCS]
    clusters = (settings.source.name, settings.target.name)
    for place, cluster, text in zip(("source", "target"), clusters, feature.rights, strict=True):
        if not text or (feature.name == _SYNCS and syncs is not None and syncs.location != place):
            continue
        named = text.replace("SOURCE", naming.source_alias).replace("TARGET", naming.target_alias)
        for operations, resource in _RIGHT.findall(named.rpartition(": ")[2]):
            yield Permission(cluster, resource, operations, feature.name)


def _for_quarantine(settings: Settings) -> list[Permission]:
    quarantine = settings.quarantine
    used = quarantine.refused or (quarantine.failed and settings.handler is not None)
    if quarantine.topic is None or not used:
        return []
    target, topic = settings.target.name, f"Topic: {quarantine.topic}"
    limits = Permission(target, topic, "DescribeConfigs", "what it refuses itself; without it nobody looks")
    return [Permission(target, topic, "Write", "records that are set aside"), *([limits] if quarantine.refused else [])]


def _idempotent_write(settings: Settings) -> Permission:
    required = settings.target.idempotence_required
    otherwise = "the mirror ends" if required else "the mirror continues without idempotence"
    return Permission(
        settings.target.name,
        "Cluster: kafka-cluster",
        "IdempotentWrite",
        f"only brokers before 2.8, later ones need only Write; if refused, {otherwise}",
    )
