"""The streams of one flow, with all that each needs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from legacy_mm.base.kafka_clients import ConsumerSettings
from legacy_mm.base.model import Offsets
from legacy_mm.base.settings import ExactlyOnceSettings
from legacy_mm.clients.group.member import AssignmentListener, Member, MembershipListener
from legacy_mm.controlplane.commits import Commits
from legacy_mm.controlplane.copy_job import CopyJob
from legacy_mm.controlplane.positions import CommittedPositions, GapGuard, StartOffsets
from legacy_mm.controlplane.stream import Stream
from legacy_mm.controlplane.stream_copy import StreamCopy
from legacy_mm.controlplane.stream_membership import StreamMembership
from legacy_mm.controlplane.topic_watch import KnownTopics
from legacy_mm.flow import group_members
from legacy_mm.flow.copy_jobs import CopyJobFactory
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.host import Host
from legacy_mm.flow.mirror import Failures
from legacy_mm.flow.position_book import PositionBook
from legacy_mm.metrics.registry import Registry, StreamMetrics
from legacy_mm.transactions.bundle_settings import is_exactly_once
from legacy_mm.transactions.exactly_once_stream import exactly_once_stream, inspect_offsets

if TYPE_CHECKING:
    from legacy_mm.flow.connect_offset_topic import WorkersPlace
    from legacy_mm.transactions.exactly_once_stream import ExactlyOnceStream

_MAX_POLL_MARGIN = 5.0


@dataclass(frozen=True, slots=True)
class FlowServices:
    """The things that the streams of a flow share."""

    settings: Settings
    host: Host
    registry: Registry
    copies: CopyJobFactory
    guard: GapGuard
    book: PositionBook
    workers: WorkersPlace | None
    """The place of MirrorMaker 2's workers, where the flow has it; then it is the `book`, too."""
    known: KnownTopics
    failures: Failures
    listener: AssignmentListener | None
    """The user's rebalance listener."""

    def streams(self) -> list[Stream]:
        """Return all streams of the flow."""
        first = self.settings.first_stream
        return [self._stream(index) for index in range(first, first + self.settings.streams)]

    def _stream(self, index: int) -> Stream:
        settings, source, host = self.settings, self.settings.source, self.host
        metrics = self.registry.stream(index, settings.client_id(index))
        positions = self._positions()
        exact = exactly_once_stream(settings, positions.propose)
        member = partial(self._member, index, metrics, exact)
        membership = StreamMembership(index, member, settings.topics.pattern, metrics, self.listener)
        moved = None if self.workers is None else self.workers.positions.moved
        commits = Commits(index, settings.commit_interval, source.api_timeout, membership.commit, self.known.ask, moved)
        propose = positions.propose if exact is None else exact.offsets.propose
        copy = StreamCopy(
            membership,
            commits,
            StartOffsets(propose, self.guard, commits, commit_chosen=source.offset_reset == "latest"),
            partial(self._start_copy, index, metrics, exact),
            self.copies.adapt,
            None if exact is None else exact.ownership,
            host.receipts.of_stream(settings.flow, index) if host.receipts is not None else None,
        )
        revoke_seconds = max(1.0, min(settings.process.shutdown_timeout, self._rebalance_timeout() - _MAX_POLL_MARGIN))
        return Stream(membership, commits, copy, revoke_seconds=revoke_seconds, on_failure=self.failures.failed)

    def _positions(self) -> CommittedPositions:
        settings, source = self.settings, self.settings.source
        return CommittedPositions(
            self.book.set_position,
            "earliest" if source.new_from_earliest else source.offset_reset,
            min(source.api_timeout, settings.process.shutdown_timeout / 2),
            exactly_once=is_exactly_once(settings),
            inspect=inspect_offsets(settings),
            start_time=settings.start_times.of,
        )

    def _member(
        self, index: int, metrics: StreamMetrics, exact: ExactlyOnceStream | None, listener: MembershipListener
    ) -> Member:
        source, name = self.settings.source, self.settings.client_id(index)
        client, timeout = member_settings(self.settings, index), source.api_timeout
        if self.workers is not None:
            mark = "" if exact is None else exact.mark
            return self.workers.member(client, name, mark, listener, metrics.statistics)
        if exact is not None:
            return exact.member(client, name, listener, metrics.statistics, timeout)
        tuned = bool(source.for_librdkafka)
        return group_members.member(client, name, listener, metrics.statistics, timeout, tuned=tuned)

    def _start_copy(
        self, index: int, metrics: StreamMetrics, exact: ExactlyOnceStream | None, generation: int, offsets: Offsets
    ) -> CopyJob:
        config: ExactlyOnceSettings | None = None if exact is None else exact.job(offsets)
        return self.copies.start(index, generation, offsets, metrics, config)

    def _rebalance_timeout(self) -> float:
        """Return the seconds for which the group waits for a member that has not given up its partitions yet."""
        return self.settings.source.max_poll_interval if self.workers is None else self.workers.rebalance_timeout


def member_settings(settings: Settings, stream: int) -> ConsumerSettings:
    """Return the settings of one membership; several streams need a `group.instance.id` each."""
    client, instance = settings.source.client, settings.source.group_instance_id
    if instance is None:
        return client
    own = f"{instance}-{stream}" if settings.streams > 1 else instance
    return replace(client, membership=replace(client.membership, instance_id=own))
