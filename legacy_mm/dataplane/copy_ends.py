"""Both ends of a copy job: what reads the source, what writes to the target, and what a batch becomes in between."""

from __future__ import annotations

from dataclasses import dataclass

from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.fetch.fetcher import Fetcher
from legacy_mm.clients.net.buffer_pool import Buffers
from legacy_mm.clients.net.traffic import Traffic
from legacy_mm.clients.produce.append_options import AppendOptions, options_from
from legacy_mm.clients.produce.appender import BatchAppender
from legacy_mm.dataplane.batch_source import BatchSource, JoinLimits, cluster_of, trouble_log
from legacy_mm.dataplane.routes import RouteOptions, Router
from legacy_mm.runtime.channel.frames import TaskConfig


@dataclass(slots=True)
class CopyEnds:
    """The clients of one copy job; its engine is given them."""

    batches: BatchSource
    target: Cluster
    appender: BatchAppender
    written: Traffic
    router: Router
    limits: JoinLimits
    """The limits of batches that are made of little ones."""
    options: AppendOptions
    """The options for writing."""

    @property
    def source(self) -> Cluster:
        """The cluster that is read."""
        return self.batches.cluster

    @property
    def fetcher(self) -> Fetcher:
        """The reader of the source's record sets."""
        return self.batches.fetcher

    @property
    def read(self) -> Traffic:
        """The counts of what is read."""
        return self.batches.traffic

    @property
    def clusters(self) -> tuple[Cluster, Cluster]:
        """Source and target."""
        return self.batches.cluster, self.target

    def keep_fresh(self) -> None:
        """Keep the metadata of both clusters fresh from now on."""
        self.source.metadata.keep_fresh(self.read.on_trouble)
        self.target.metadata.keep_fresh(self.written.on_trouble)

    def close(self) -> None:
        """Close what asks the clusters; the fetcher and the appender are closed by `CopyEngine.purge`."""
        self.source.close()
        self.target.close()


def open_ends(config: TaskConfig, buffers: Buffers, owners: int = 0) -> CopyEnds:
    """Make the clients of a copy job, which share these buffers with the others of their process.

    `owners` of transactions write on each connection to the target. No cluster is asked yet.
    """
    target = cluster_of(config.target.connection)
    written = Traffic("producer", trouble_log(config.target.connection))
    options = options_from(
        config.target, sets_aside=config.quarantine.refused, synchronous=config.synchronous, owners=owners
    )
    measure, waits = config.pairs or config.receipts, config.records_may_wait
    router = Router(RouteOptions.of(config.target.produce, measure=measure, records_may_wait=waits))
    limits, opens = JoinLimits(min(options.request_bytes, options.batch_bytes)), config.handler is not None
    batches = BatchSource(config.source, router.decompress, buffers.read, limits, opens=opens)
    appender = BatchAppender(target, options, written, buffers.sent)
    return CopyEnds(batches, target, appender, written, router, limits, options)
