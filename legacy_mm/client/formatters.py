"""Records of MirrorMaker 2's internal topics as lines, as its three formatters print them."""

from __future__ import annotations

from legacy_mm.base.model import TopicPartition
from legacy_mm.protocol.mirror_records import Checkpoint, Heartbeat, OffsetSync


def heartbeat_line(record: Heartbeat) -> str:
    """Format like HeartbeatFormatter, without the end of the line; the timestamp is milliseconds since 1970."""
    return (
        f"Heartbeat{{sourceClusterAlias={record.source}, targetClusterAlias={record.target}, "
        f"timestamp={record.timestamp}}}"
    )


def checkpoint_line(record: Checkpoint) -> str:
    """Format like CheckpointFormatter, without the end of the line."""
    place = TopicPartition(record.topic, record.partition)
    return (
        f"Checkpoint{{consumerGroupId={record.group}, topicPartition={place}, upstreamOffset={record.upstream}, "
        f"downstreamOffset={record.downstream}, metadata={record.metadata}}}"
    )


def offset_sync_line(record: OffsetSync) -> str:
    """Format like OffsetSyncFormatter, without the end of the line."""
    place = TopicPartition(record.topic, record.partition)
    offsets = f"upstreamOffset={record.upstream}, downstreamOffset={record.downstream}"
    return f"OffsetSync{{topicPartition={place}, {offsets}}}"
