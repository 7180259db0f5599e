"""From a source batch to routes, where no handler stands between; and what both stages answer the engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from legacy_mm.base.errors import HandlerFailure
from legacy_mm.base.model import TopicPartition
from legacy_mm.dataplane.held_partitions import HeldPartitions
from legacy_mm.dataplane.routes import Route, Router
from legacy_mm.dataplane.send_failure import Unsendable, Unsent
from legacy_mm.protocol.record_set import Arrived
from legacy_mm.protocol.records import Contents
from legacy_mm.runtime.channel.frames import TaskConfig


class Outbound(NamedTuple):
    """The records of a source batch that are to be sent; none if they were dropped on purpose, or have no topic."""

    routes: Sequence[tuple[str, Route]]
    """By target topic; a topic may come several times."""
    records: int
    """The source records that were read."""
    next_offset: int
    """One past the last of them."""
    contents: Contents | None = None
    """Their size, if it was measured."""
    failure: HandlerFailure | None = None
    """Why the record behind these cannot be copied."""


class BatchStage(Protocol):
    """Makes routes of source batches."""

    def outbound(self, source: TopicPartition, arrived: Arrived, begin: int) -> Outbound | None:
        """Return what is to be sent of a batch from this offset on; None: the partition waits at the source."""

    def waits(self, source: TopicPartition) -> None:
        """Take back the last batch of a partition: it cannot be sent now, and will be read again."""

    def forget(self, source: TopicPartition) -> None:
        """Forget what was taken back of a partition, which resumes at another position."""

    def counts(self) -> tuple[int, int]:
        """Return the numbers of records that a handler dropped on purpose, and on which it failed."""

    def stop(self) -> None:
        """End what may take long; from any thread, returns at once."""

    def close(self) -> None:
        """Let user code give back what it holds."""


class TargetCounts(Protocol):
    """Returns a topic's partitions; 0: it must be waited for. As `TargetTopics.partitions`."""

    def __call__(self, topic: str, least: int, *, named: bool = False) -> int: ...


class Fail(Protocol):
    """Tells that records cannot be sent; without a reason in the words of the error code."""

    def __call__(self, unsent: Unsent, code: int, reason: str = "") -> None: ...


class StageServices(NamedTuple):
    """The engine, as every stage needs it."""

    config: TaskConfig
    router: Router
    at_source: Callable[[str], int]
    """Returns the partitions of a topic."""
    at_target: TargetCounts
    held: HeldPartitions
    fail: Fail


class PlainStage:
    """Each topic goes to its copy; records of one that has none are dropped on purpose."""

    def __init__(self, engine: StageServices) -> None:
        self._engine = engine
        self._names = engine.config.names
        self._keeps_partition = frozenset(engine.config.keeps_partition)
        self._filtered = 0

    def outbound(self, source: TopicPartition, arrived: Arrived, begin: int) -> Outbound | None:
        """Return what is to be sent of a batch, as `BatchStage` says."""
        batch, codec = arrived
        if source.topic not in self._names:
            self._filtered += batch.header.records
            return Outbound([], batch.header.records, batch.header.next_offset)
        topic, count = self._names[source.topic], self._engine.at_source(source.topic)
        keeps_partition = source.topic in self._keeps_partition
        least = max(count, source.partition + 1) if keeps_partition else 1
        try:
            partitions = self._engine.at_target(topic, least)
        except Unsendable as error:
            offsets = range(max(begin, batch.header.base_offset), batch.header.next_offset)
            self._engine.fail(Unsent(source, offsets, topic, batch), error.code)
            return Outbound([], batch.header.records, batch.header.next_offset)
        if not partitions:
            self._engine.held.hold(source, max(begin, batch.header.base_offset), topic, least)
            return None
        route = self._engine.router.route(
            topic, source.partition, batch, begin, count, partitions, keeps_partition=keeps_partition, codec=codec
        )
        return Outbound([(topic, route)], route.records, route.next_offset, route.contents)

    def waits(self, source: TopicPartition) -> None:
        """Do nothing: the batch is read again."""

    def forget(self, source: TopicPartition) -> None:
        """Do nothing, as `waits`."""

    def counts(self) -> tuple[int, int]:
        """Return the number of records of topics that have no copy, and none."""
        return self._filtered, 0

    def stop(self) -> None:
        """Do nothing: nothing takes long."""

    def close(self) -> None:
        """Do nothing: nothing is held."""
