"""The engine as its stages see it, with a target that nobody asks. mypy holds it to what `StageServices` names."""

from __future__ import annotations

from collections.abc import Collection

from typing_extensions import override

from legacy_mm.base.model import TopicPartition
from legacy_mm.dataplane.held_partitions import HeldPartitions
from legacy_mm.dataplane.plain_stage import StageServices
from legacy_mm.dataplane.routes import RouteOptions, Router
from legacy_mm.dataplane.send_failure import Unsendable, Unsent
from legacy_mm.protocol.error_codes import ErrorCode
from legacy_mm.runtime.channel.frames import TaskConfig

OPTIONS = RouteOptions(codec=None, level=None, limit=1 << 20)


class FakeStageEngine(HeldPartitions):
    """Topics of `sizes` partitions, or why they cannot be had; topics of the source have four.

    It notes what was asked of it: the `least` of partitions, what is `held`, what has `failed`, and `why`.
    """

    def __init__(self, **sizes: int | Exception) -> None:
        self.sizes = sizes
        self.least: list[int] = []
        self.held: list[tuple[TopicPartition, int, str, int]] = []
        self.failed: list[tuple[str, int, int]] = []
        """Topic, number of records, error code."""
        self.why: list[str] = []

    def services(self, config: TaskConfig) -> StageServices:
        """What a stage is given."""
        return StageServices(config, Router(OPTIONS), lambda _: 4, self.partitions, self, self.fail)

    def partitions(self, topic: str, least: int, *, named: bool = False) -> int:
        """As `TargetTopics.partitions`."""
        self.least.append(least)
        size = self.sizes.get(topic, 0)
        if isinstance(size, Exception):
            raise size
        if named and size < least:
            raise Unsendable(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        return size if size >= least else 0

    @override
    def hold(
        self, source: TopicPartition, offset: int, topic: str, least: int, queues: Collection[TopicPartition] = ()
    ) -> None:
        self.held.append((source, offset, topic, least))

    def fail(self, unsent: Unsent, code: int, reason: str = "") -> None:
        """As `Fail`."""
        self.failed.append((unsent.topic, unsent.batch.header.records, code))
        self.why.append(reason)
