"""MirrorMaker 2's client in Python: which copies come from which cluster, and where a group continues after a
fail-over.

::

    from legacy_mm.client import RemoteClusterUtils
    backup = {"bootstrap.servers": "backup:9092"}
    offsets = RemoteClusterUtils.translate_offsets(backup, "primary", "my-group", timeout=30)
    for (topic, partition), offset in offsets.items():
        ...  # assign, seek, commit

It reads what MirrorMaker 2 and this project's mirror have written; both write the same bytes. Times are seconds unless
a name says otherwise. Every error is a `LegacyMMError`: a `ConfigurationError` for properties that cannot be used, a
`HostError` for a cluster that refuses or does not answer.
"""

from legacy_mm.base.errors import ConfigurationError, HostError, LegacyMMError
from legacy_mm.base.model import TopicPartition
from legacy_mm.client.formatters import checkpoint_line, heartbeat_line, offset_sync_line
from legacy_mm.client.mirror_client import MirrorClient, OffsetAndMetadata
from legacy_mm.client.remote_cluster import RemoteClusterUtils
from legacy_mm.protocol.mirror_records import Checkpoint, Heartbeat, OffsetSync

__all__ = [
    "Checkpoint",
    "ConfigurationError",
    "Heartbeat",
    "HostError",
    "LegacyMMError",
    "MirrorClient",
    "OffsetAndMetadata",
    "OffsetSync",
    "RemoteClusterUtils",
    "TopicPartition",
    "checkpoint_line",
    "heartbeat_line",
    "offset_sync_line",
]
