"""`RemoteClusterUtils`: the questions of a `MirrorClient` in one call each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import overload

from legacy_mm.client.mirror_client import MirrorClient, TranslatedOffsets


class RemoteClusterUtils:
    """Java's `RemoteClusterUtils`.

    Each call makes a `MirrorClient` of the properties, asks it, and closes it.

    See `MirrorClient` for arguments, answers and errors; the errors of its constructor are raised, too.
    """

    @staticmethod
    def replication_hops(properties: Mapping[str, str], source_cluster_alias: str) -> int:
        """Return the smallest number of hops from that cluster to the one of the properties; -1 for none."""
        with MirrorClient(properties) as client:
            return client.replication_hops(source_cluster_alias)

    @staticmethod
    def heartbeat_topics(properties: Mapping[str, str]) -> set[str]:
        """Return all topics with heartbeats."""
        with MirrorClient(properties) as client:
            return client.heartbeat_topics()

    @staticmethod
    def checkpoint_topics(properties: Mapping[str, str]) -> set[str]:
        """Return all topics with checkpoints."""
        with MirrorClient(properties) as client:
            return client.checkpoint_topics()

    @staticmethod
    def upstream_clusters(properties: Mapping[str, str]) -> set[str]:
        """Return the aliases of all clusters from which heartbeats have come."""
        with MirrorClient(properties) as client:
            return client.upstream_clusters()

    @overload
    @staticmethod
    def translate_offsets(
        properties: Mapping[str, str], remote_cluster_alias: str, group: str, timeout: float
    ) -> TranslatedOffsets: ...

    @overload
    @staticmethod
    def translate_offsets(
        properties: Mapping[str, str], remote_cluster_alias: str, group: re.Pattern[str], timeout: float
    ) -> dict[str, TranslatedOffsets]: ...

    @staticmethod
    def translate_offsets(
        properties: Mapping[str, str], remote_cluster_alias: str, group: str | re.Pattern[str], timeout: float
    ) -> TranslatedOffsets | dict[str, TranslatedOffsets]:
        """Return the offsets at which a group of the remote cluster continues: partition -> offset, metadata.

        With a compiled pattern: group id -> that, for every group whose whole id matches. `timeout` is in seconds.
        """
        with MirrorClient(properties) as client:
            return client.remote_consumer_offsets(group, remote_cluster_alias, timeout)
