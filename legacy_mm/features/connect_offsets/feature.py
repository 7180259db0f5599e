"""Offsets in MirrorMaker 2's own topic."""

from __future__ import annotations

from dataclasses import dataclass

from legacy_mm.base.kafka_clients import MembershipSettings
from legacy_mm.features.feature import Feature


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
    shares_group: bool = False
    """True: other flows of the worker may be in the group."""


CONNECT_OFFSETS: Feature[ConnectOffsetSettings] = Feature(
    "connect_offsets", flags=(), read=lambda values: None, concerns_both_ends=False
)
"""The topic of MirrorMaker 2's workers from which the flow resumes; no flag has it, only MirrorMaker 2's file."""
