"""The size of the values in batches that stay unopened: MirrorMaker 2's byte-count, at a bounded price.

The records of uncompressed batches are walked (0.012 us a record). Decompressing batches that are passed on as they are
would multiply the CPU: by 2.3 with lz4, by 4 with zstd (1 KB, measured without Spark and brokers). So compressed
batches are opened as long as that takes at most a tenth of this process's CPU: all of them at ordinary rates. Beyond
it, sizes are estimated from the last opened batch of the partition and codec, and counted as estimates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from legacy_mm.base.clock import process_cpu, thread_cpu
from legacy_mm.base.errors import CorruptRecords
from legacy_mm.dataplane.partition_meters import Sized, Times
from legacy_mm.protocol.compression import Codec

if TYPE_CHECKING:
    from legacy_mm.base.model import TopicPartition
    from legacy_mm.dataplane.routes import Route
    from legacy_mm.protocol.record_batch import RecordBatch
    from legacy_mm.protocol.records import Contents

_SHARE = 0.1
_MOST_CPU = 0.5
"""The limit of CPU seconds saved up in quiet times: 1.5 GB of lz4."""


class BatchContents:
    """The sizes of the batches of one copy job's partitions. For one thread."""

    def __init__(self, open_batch: Callable[[RecordBatch], Contents]) -> None:
        self._open = open_batch
        self._ratios: dict[tuple[TopicPartition, Codec], float] = {}
        self._saved = _MOST_CPU
        self._seen = process_cpu()

    def measure(self, partition: TopicPartition, batch: RecordBatch, contents: Contents | None) -> Sized:
        """Return the copied size of a batch, `contents` if it was opened anyway.

        Of a broken batch only the header is used: it is passed on as it is.
        """
        if contents is not None:
            return _exactly(contents)
        codec = batch.header.codec
        try:
            if codec is Codec.NONE:
                return _exactly(self._open(batch))
            ratio = self._ratios.get((partition, codec))
            if ratio is None or self._may_open():
                contents = self._opened(batch)
                self._ratios[partition, codec] = contents.value_bytes / max(1, len(batch.payload))
                return _exactly(contents)
        except CorruptRecords:
            ratio = 0.0
        return Sized(Times.of_batch(batch.header), round(ratio * len(batch.payload)), estimated=True)

    def _may_open(self) -> bool:
        now = process_cpu()
        self._saved = min(_MOST_CPU, self._saved + _SHARE * (now - self._seen))
        self._seen = now
        return self._saved > 0

    def _opened(self, batch: RecordBatch) -> Contents:
        begin = thread_cpu()
        try:
            return self._open(batch)
        finally:
            self._saved -= thread_cpu() - begin


def times_of(sizes: Sized | None, route: Route) -> list[Times | None]:
    """Return the record times of each batch of a route, from the times of all of them."""
    if sizes is None or len(route.batches) + len(route.too_large) == 1:
        return [sizes.times if sizes else None] * len(route.batches)
    return [Times.of_batch(made.batch.header) for made in route.batches]


def _exactly(contents: Contents) -> Sized:
    times = Times(contents.timed, contents.total, contents.oldest, contents.newest) if contents.timed else None
    return Sized(times, contents.value_bytes)
