"""Source topic -> target topic, as KIP-382's `ReplicationPolicy` asks it. Pure decisions.

`LegacyReplicationPolicy` is the default and keeps every name, as the old tool did.
"""

from __future__ import annotations

from typing import Protocol

_BROKER_INTERNAL = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})


class ReplicationPolicy(Protocol):
    """The five questions of KIP-382's `ReplicationPolicy`."""

    def format_remote_topic(self, source_cluster_alias: str, topic: str) -> str:
        """The name `topic` of that cluster gets at the target."""

    def topic_source(self, topic: str) -> str | None:
        """Alias of the cluster a remote topic came from; None when the name does not tell."""

    def upstream_topic(self, topic: str) -> str | None:
        """The topic's name at the cluster it came from; None when it is not a remote topic."""

    def original_topic(self, topic: str) -> str:
        """The name at the very first cluster, however many hops away."""

    def is_internal_topic(self, topic: str) -> bool:
        """True for topics that belong to Kafka itself and are never data."""


class LegacyReplicationPolicy:
    """Names are kept, so no name tells where a topic came from (MirrorMaker 1)."""

    def format_remote_topic(self, source_cluster_alias: str, topic: str) -> str:
        """The same name."""
        return topic

    def topic_source(self, topic: str) -> str | None:
        """None: a kept name says nothing about its origin."""
        return None

    def upstream_topic(self, topic: str) -> str | None:
        """The same name: a topic is called upstream what it is called here."""
        return topic

    def original_topic(self, topic: str) -> str:
        """The same name."""
        return topic

    def is_internal_topic(self, topic: str) -> bool:
        """Broker-internal topics, which `exclude.internal.topics` leaves out."""
        return topic in _BROKER_INTERNAL
