"""Settings of the topic in which MirrorMaker 2's workers keep the offsets of what they have copied."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConnectOffsetSettings:
    """A topic of Kafka Connect's workers at the target, and whose offsets in it are those of the flow."""

    topic: str
    partitions: int
    replication_factor: int
    """-1: as the target's brokers have it."""
    connector: str
    """The name of the source connector."""
    cluster: str
    """The alias of the source."""
    written: bool = True
    """True to write there, too, what this flow commits."""
