"""The source as whole record batches: its cluster, what is fetched from it, and which batches of that hold data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from legacy_mm.base.kafka_clients import ConnectionSettings, ConsumerSettings
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.fetch import fetch_options
from legacy_mm.clients.fetch.fetch_buffer import CompletedFetch
from legacy_mm.clients.fetch.fetcher import Fetcher
from legacy_mm.clients.net.buffer_pool import BufferPool
from legacy_mm.clients.net.error_lines import ErrorLines
from legacy_mm.clients.net.traffic import Traffic
from legacy_mm.dataplane.join_limits import JoinLimits
from legacy_mm.protocol.compression import Decompressor
from legacy_mm.protocol.record_set import Arrived, CommittedOnly, DataBatches

_CALL_TIMEOUT, _CONNECT_TIMEOUT = 4.0, 10.0
"""One question to a cluster; well below the time after which a silent task counts as stalled."""


class BatchSource:
    """The source of a copy job, read with its own sockets."""

    def __init__(
        self,
        settings: ConsumerSettings,
        decompress: Decompressor,
        pool: BufferPool,
        limits: JoinLimits,
        *,
        opens: bool,
    ) -> None:
        """Create the source, which keeps what it reads in `pool`; `opens`: all batches are opened, for a handler.

        `limits` are those of the batches that it joins.
        """
        fetch = settings.fetch
        self.cluster = cluster_of(settings.connection, committed_only=fetch.committed_only)
        self.traffic = Traffic("consumer", trouble_log(settings.connection))
        options = fetch_options.options_from(fetch)
        self._options = replace(options, partition_bytes=limits.full_batches(options.partition_bytes))
        self.fetcher = Fetcher(self.cluster, self._options, fetch.backlog_bytes, self.traffic, pool)
        self.check_crcs = fetch.check_crcs
        self._decompress = decompress
        self._batches = DataBatches(decompress, check_crcs=self.check_crcs, keeps_append_time=opens, joins_all=opens)

    def data(self, fetched: CompletedFetch, most_bytes: int, *, opens: bool = True) -> Iterator[Arrived]:
        """Yield the batches whose records are to be copied, as `DataBatches.of` does."""
        committed = CommittedOnly(fetched.aborted, self._decompress) if self._options.committed_only else None
        return self._batches.of(fetched.record_set, committed, most_bytes, opens=opens)


def cluster_of(settings: ConnectionSettings, *, committed_only: bool = False) -> Cluster:
    """Return the cluster of one side of a copy job."""
    return Cluster(settings, _CALL_TIMEOUT, _CONNECT_TIMEOUT, committed_only=committed_only)


def trouble_log(settings: ConnectionSettings) -> Callable[[str], None]:
    """Return the function that reports a client's troubles."""
    return ErrorLines(settings.client_id).tell
