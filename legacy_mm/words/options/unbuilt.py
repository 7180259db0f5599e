"""Names of MirrorMaker 2, of KIP-382 and KIP-656 and of our own plans that this release does not have.

Whoever writes one as an option is told so in one sentence; in a client's properties file it is an unknown key like
any other, with one warning. None of them is ever listed as available.
"""

from __future__ import annotations

from legacy_mm.features.rows import spelled_today

_NAMES = frozenset(
    {
        "add.source.alias.to.metrics",
        "checkpoints.topic.retention.ms",
        "clusters",
        "config.property.filter.class",
        "connector.class",
        "connector.type",
        "exactly.once.source.support",
        "exactly.once.support",
        "forwarding.admin.class",
        "group.filter.class",
        "header.converter",
        "heartbeats.topic.retention.ms",
        "key.converter",
        "key.converter.class",
        "metric.names.formats",
        "offset.syncs.topic.retention.ms",
        "predicates",
        "topic.filter.class",
        "transaction.boundary",
        "transforms",
        "value.converter",
        "value.converter.class",
    }
)
_FAMILIES = (
    "predicates.",
    "producer.override.",
    "consumer.override.",
    "source.cluster.",
    "target.cluster.",
    "topic.creation.",
    "transforms.",
)


def is_unbuilt(name: str) -> bool:
    """Return True for a name that a reader of the KIPs or of MirrorMaker 2's manual may expect here."""
    return (name in _NAMES or name.startswith(_FAMILIES)) and spelled_today(name) is None


def refusal(name: str) -> str:
    """Return the one sentence about it."""
    return f"{name} is a feature of MirrorMaker 2 or of a Kafka proposal that this release does not have"
