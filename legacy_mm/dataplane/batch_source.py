"""The source as whole record batches: its cluster, what is fetched from it, and which batches of that hold data.

`JoinLimits` says how large batches may become that are made of little ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from legacy_mm.base.kafka_clients import ConnectionSettings, ConsumerSettings
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.fetch import fetch_session
from legacy_mm.clients.fetch.fetch_buffer import CompletedFetch
from legacy_mm.clients.fetch.fetcher import Fetcher
from legacy_mm.clients.net.buffer_pool import BufferPool
from legacy_mm.clients.net.error_lines import ErrorLines
from legacy_mm.clients.net.traffic import Traffic
from legacy_mm.protocol.compression import Decompressor
from legacy_mm.protocol.record_set import Arrived, CommittedOnly, DataBatches

_MOST = 960 << 10
"""Less than brokers before 2.5 allow by default, 1,000,012 bytes."""
_GROWTH = 32
"""A joined batch may be larger than its parts, by such a part of it: its offsets and times count from one begin."""
_CALL_TIMEOUT, _CONNECT_TIMEOUT = 4.0, 10.0
"""One question to a cluster; well below the time after which a silent task counts as stalled."""


class JoinLimits:
    """Remembers what each topic found too large. For one thread."""

    def __init__(self, limit: int) -> None:
        """Create the limits; `limit` holds for every topic, if it is less than the default."""
        self._most = min(limit, _MOST)
        self._limits: dict[str, int] = {}

    def most_bytes(self, topic: str) -> int:
        """Return the most bytes of a joined batch for this target topic."""
        return self._limits.get(topic, self._most)

    def full_batches(self, most_bytes: int) -> int:
        """Return the most bytes to read of a partition at once: those of full joined batches, if they fill one.

        The rest would be a batch of its own, and in a transaction a request of its own.
        """
        full = self._most - self._most // _GROWTH
        return most_bytes - most_bytes % full if 0 < full <= most_bytes else most_bytes

    def refused(self, topic: str, size: int) -> None:
        """Note that this topic refused a batch of this many bytes."""
        self._limits[topic] = min(size // 2, self.most_bytes(topic))


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
        options = fetch_session.options_from(fetch)
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
