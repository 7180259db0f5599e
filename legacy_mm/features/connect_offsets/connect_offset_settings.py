"""Settings of the topic in which MirrorMaker 2's workers keep the offsets of what they have copied; their group."""

from __future__ import annotations

from dataclasses import dataclass

from legacy_mm.base.kafka_clients import MembershipSettings


@dataclass(frozen=True, slots=True)
class ConnectOffsetSettings:
    """A topic of Kafka Connect's workers at the target, and whose offsets in it are those of the flow."""

    topic: str
    partitions: int
    """Their number where the topic is to be created; -1: as the target's brokers have it."""
    replication_factor: int
    """-1: as the target's brokers have it."""
    connector: str
    """The name of the source connector."""
    cluster: str
    """The alias of the source."""
    workers: MembershipSettings
    """The group of the workers, in which only one kind of nodes can be."""
