"""Positions of exactly once, seen and changed by a person: status, adopt, retire, move.

No change is made beside a running mirror: the group must have no members. A positions topic that is lost is made anew,
and the flow's record is of the source that is there. Each bundle is claimed first, so whoever still copies is fenced,
and what it has open is aborted, before anything is read. The group's offset is committed before the position: if the
command is ended between the two, the next start finds a doubt and stops.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import NamedTuple

from legacy_mm.clients.native.admin import NativeAdmin
from legacy_mm.clients.native.bundle_owner import LogRow
from legacy_mm.clients.native.bundle_run import BundleRuns
from legacy_mm.clients.native.groups import DEAD, EMPTY, GroupAdmin
from legacy_mm.clients.native.inspector import NativeTopicLister
from legacy_mm.clock import Deadline, epoch_ms
from legacy_mm.errors import HostError, Undecided
from legacy_mm.exactly_once.bundle import BUNDLES, by_bundle
from legacy_mm.exactly_once.evidence import SourceSide, mark, weigh
from legacy_mm.exactly_once.position_records import (
    Claim,
    PositionsRecord,
    SourcePosition,
    encode_claim,
    encode_position,
    read_bundle,
)
from legacy_mm.exactly_once.transaction_version import TransactionVersion
from legacy_mm.exactly_once.txn_requests import Positions
from legacy_mm.features.exactly_once.feature import EXACTLY_ONCE
from legacy_mm.flow.bundle_settings import flow_bundles
from legacy_mm.flow.exactly_once import claim_flow, positions, require_topic
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.model import CommittedOffset, Offsets, TopicPartition

_UNKNOWN_EPOCH = -1
_TRANSACTION_TIMEOUT = 60.0
_TOPIC_TIMEOUT = 10.0
"""Brokers hear one after the other of a topic that was just made."""
_RETRY_BACKOFF = 0.2
FoundPositions = Mapping[TopicPartition, SourcePosition]
PositionChange = Callable[[FoundPositions], dict[TopicPartition, SourcePosition]]
"""The positions of a bundle -> those to write, which go with the group's offsets."""


class PositionRow(NamedTuple):
    """The state of one source partition."""

    partition: TopicPartition
    position: SourcePosition | None
    offset: int | None
    """The group's offset at the source."""
    ours: bool
    """Exactly once has committed it."""
    doubt: str
    """Why the next claim would stop here; empty: it would not."""


class PositionChanges:
    """The positions of one flow at the target, and its group's offsets at the source."""

    def __init__(self, settings: Settings, deadline: Deadline) -> None:
        """Take the flow's settings; all requests together end by the deadline."""
        asked = settings.features[EXACTLY_ONCE]
        self.flow = flow_bundles(settings)
        self._settings = settings
        self._timeout = _TRANSACTION_TIMEOUT if asked is None else asked.transaction_timeout
        self._deadline = deadline
        self._groups = GroupAdmin("source", settings.source_admin_connection)

    def transaction_version(self) -> TransactionVersion:
        """Return the version that the next claim speaks; raise HostError."""
        return NativeAdmin("target", self._settings.target_admin_connection).transaction_version(self._deadline)

    def rows(self) -> list[PositionRow]:
        """Return the state of each partition that has a position or an offset. Raise HostError, StreamFailure."""
        found, offsets, topic = positions(self._settings, self._deadline), self._offsets(), self.flow.positions_topic
        side = SourceSide(*self._source(), offsets)
        rows = []
        for partition in sorted(found.keys() | offsets.keys()):
            offset = offsets.get(partition)
            ours = offset is not None and offset.metadata == mark(topic)
            try:
                weigh([partition], found, side, topic)
                doubt = ""
            except Undecided as error:
                doubt = str(error)
            told = None if offset is None else offset.offset
            rows.append(PositionRow(partition, found.get(partition), told, ours, doubt))
        return rows

    def adopt(self) -> Offsets:
        """Make the group's offsets the positions, and return them."""
        offsets = {partition: each.offset for partition, each in self._offsets().items()}
        return self.move(offsets)

    def move(self, offsets: Offsets) -> Offsets:
        """Make these offsets the positions, and the group's own, and return them."""
        self._require_no_members()
        cluster, ids = self._source()
        self._require_topic()
        claim_flow(self._settings, self._timeout, cluster, self._deadline, moves=True)

        def moved(partition: TopicPartition) -> SourcePosition:
            offset, topic_id = offsets[partition], ids.get(partition.topic, "")
            return SourcePosition(offset, _UNKNOWN_EPOCH, topic_id, cluster, epoch_ms(), adopted=offset)

        for number, partitions in by_bundle(offsets, BUNDLES).items():
            self._change(number, cluster, partial(_replaced, {partition: moved(partition) for partition in partitions}))
        return offsets

    def retire(self) -> Offsets:
        """Make the positions the group's offsets, from which a mirror without exactly once goes on; return them.

        Positions that are retired count once more where exactly once has committed an offset since.
        """
        self._require_no_members()
        cluster, _ = self._source()
        retired: dict[TopicPartition, int] = {}
        since = {each for each, offset in self._offsets().items() if offset.metadata == mark(self.flow.positions_topic)}

        def retire(found: FoundPositions) -> dict[TopicPartition, SourcePosition]:
            standing = {each: position for each, position in found.items() if not position.retired or each in since}
            retired.update({each: position.next for each, position in standing.items()})
            return {each: position._replace(retired=True, at=epoch_ms()) for each, position in standing.items()}

        target = NativeAdmin("target", self._settings.target_admin_connection)
        if self.flow.positions_topic in target.topics(self._deadline):
            for number in range(BUNDLES):  # also those whose only positions are in a transaction that is open
                self._change(number, cluster, retire)
        return retired

    def _change(self, number: int, cluster: str, change: PositionChange) -> None:
        target = self._settings.target.client
        with closing(BundleRuns(target, self._timeout)) as runs:
            contents = _Changed(number, self.flow.bundle(number).positions, cluster, change, self._commit)
            runs.run(self.flow.bundle(number), contents, self._deadline)

    def _commit(self, offsets: Offsets) -> None:
        group = self._settings.source.group_id
        wanted = {partition: CommittedOffset(offset) for partition, offset in offsets.items()}
        if wanted and (refused := self._groups.commit({group: wanted}, self._deadline)):
            raise HostError(f"offsets of group {group} cannot be committed: {refused[group]}")

    def _offsets(self) -> dict[TopicPartition, CommittedOffset]:
        group = self._settings.source.group_id
        found, untold = self._groups.offsets([group], self._deadline)
        if group in untold:
            raise HostError(f"the offsets of group {group} cannot be read: {untold[group]}")
        return {partition: each for partition, each in found.get(group, {}).items() if each.offset >= 0}

    def _require_topic(self) -> None:
        target = NativeAdmin("target", self._settings.target_admin_connection)
        known_by = Deadline.after(_TOPIC_TIMEOUT)
        while True:
            try:
                require_topic(target, self.flow.positions_topic, self._deadline)
                return
            except HostError:
                if known_by.expired():
                    raise
            threading.Event().wait(_RETRY_BACKOFF)

    def _require_no_members(self) -> None:
        group = self._settings.source.group_id
        states, untold = self._groups.states([group], self._deadline)
        if group in untold:
            raise HostError(f"the state of group {group} cannot be read: {untold[group]}")
        if (state := states[group]) not in (EMPTY, DEAD):
            members = ", ".join(self._groups.members(group, self._deadline))
            raise HostError(
                f"group {group} is {state}: stop its members first, each with TERM so that it commits what it has "
                f"copied{f' ({members})' if members else ''}"
            )

    def _source(self) -> tuple[str, dict[str, str]]:
        """Return the id of the source cluster, and those of its topics."""
        source = self._settings.source_admin_connection
        lister = NativeTopicLister(source, self._settings.source.api_timeout)
        return NativeAdmin("source", source).cluster_id(self._deadline), lister.topics()


def _replaced(
    made: dict[TopicPartition, SourcePosition], found: FoundPositions
) -> dict[TopicPartition, SourcePosition]:
    return made


class _Changed:
    """The contents of a bundle whose positions a command changes."""

    def __init__(
        self,
        number: int,
        place: TopicPartition,
        cluster: str,
        change: PositionChange,
        commit: Callable[[Offsets], None],
    ) -> None:
        self._number = number
        self._place = place
        self._cluster = cluster
        self._change = change
        self._commit = commit
        self._made: dict[TopicPartition, SourcePosition] = {}

    def claim(self) -> PositionsRecord:
        """Return the record of this command."""
        return encode_claim(Claim(self._number, BUNDLES, self._cluster, socket.gethostname(), -1, epoch_ms()))

    def weigh(self, rows: Iterable[LogRow]) -> tuple[Positions, Positions]:
        """Return the positions that change, once the group has the same offsets."""
        found = read_bundle(self._place, BUNDLES, rows).positions
        self._made = self._change(found)
        offsets = {partition: position.next for partition, position in self._made.items()}
        self._commit(offsets)
        return (), tuple(sorted(offsets.items()))

    def position_records(self, positions: Positions) -> Sequence[PositionsRecord]:
        """Return the records of the changed positions."""
        return [encode_position(partition, self._made[partition]) for partition, _ in positions]
