"""Positions of exactly once, seen and changed by a person: status, adopt, retire, move.

No change is made beside a running mirror: the group must have no members. The checks of a start come first, and
nothing is written before they have passed: the flow's record is of this source cluster, unless a person says which one
it has replaced, and brokers allow the time-out of transactions. What is retired is of this cluster and its topics, too.
A positions topic that is lost is made anew. Each bundle is claimed first, so whoever still copies is fenced, and what
it has open is aborted, before anything is read. The offset is committed before the position, for the group or in
MirrorMaker 2's topic: if the command is ended between the two, the next start finds a doubt and stops.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import NamedTuple

from legacy_mm.base.clock import Deadline, epoch_ms, sleep
from legacy_mm.base.errors import HostError, Undecided
from legacy_mm.base.model import GroupOffsets, Offsets, TopicPartition
from legacy_mm.clients.admin.admin import NativeAdmin
from legacy_mm.clients.admin.inspector import NativeTopicLister
from legacy_mm.features.exactly_once.feature import EXACTLY_ONCE
from legacy_mm.flow.allowed_timeouts import require_transactions
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.position_book import position_book
from legacy_mm.transactions.bundle import BUNDLES, by_bundle
from legacy_mm.transactions.bundle_owner import LogRow
from legacy_mm.transactions.bundle_run import BundleRuns
from legacy_mm.transactions.bundle_settings import flow_bundles, offset_book
from legacy_mm.transactions.evidence import SourceSide, decide_positions, mark, require_own
from legacy_mm.transactions.exactly_once_start import (
    claim_flow,
    flow_record,
    positions,
    require_own_flow,
    require_topic,
)
from legacy_mm.transactions.position_records import (
    Claim,
    PositionsRecord,
    SourcePosition,
    encode_claim,
    encode_position,
    read_bundle,
)
from legacy_mm.transactions.txn_protocol import cluster_version
from legacy_mm.transactions.txn_requests import Positions, TransactionVersion

_UNKNOWN_EPOCH = -1
_TRANSACTION_TIMEOUT = 60.0
_TOPIC_TIMEOUT = 10.0
"""Brokers hear one after the other of a topic that was just made."""
_RETRY_BACKOFF = 0.2
FoundPositions = Mapping[TopicPartition, SourcePosition]
PositionChange = Callable[[FoundPositions], dict[TopicPartition, SourcePosition]]
"""The positions of a bundle -> those to write, which go with the committed offsets."""


class PositionRow(NamedTuple):
    """The state of one source partition."""

    partition: TopicPartition
    position: SourcePosition | None
    offset: int | None
    """The one that is committed beside it."""
    ours: bool
    """Exactly once has committed it."""
    doubt: str
    """Why the next claim would stop here; empty: it would not."""


class Changed(NamedTuple):
    """A change that was made."""

    offsets: Offsets
    """The positions, and the committed offsets, of partitions that have new ones."""
    before: FoundPositions
    """The positions of the flow before."""
    replaced: str = ""
    """The source cluster whose record became this one's; empty: it was this one's, or there was none."""


class PositionChanges:
    """The positions of one flow at the target, and the offsets that it has committed beside them."""

    def __init__(self, settings: Settings, deadline: Deadline) -> None:
        """Take the flow's settings; all requests together end by the deadline."""
        asked = settings.features[EXACTLY_ONCE]
        self.flow = flow_bundles(settings)
        self._settings = settings
        self._timeout = _TRANSACTION_TIMEOUT if asked is None else asked.transaction_timeout
        self._deadline = deadline
        self._book = position_book(settings)
        self.offset_book = offset_book(settings)

    def transaction_version(self) -> TransactionVersion:
        """Return the version that the next claim speaks; raise HostError."""
        return cluster_version(self._target(), self._deadline)

    def rows(self) -> list[PositionRow]:
        """Return the state of each partition that has a position or an offset. Raise HostError, StreamFailure."""
        found, offsets, topic = positions(self._settings, self._deadline), self._offsets(), self.flow.positions_topic
        side = SourceSide(*self._source(), offsets, self.offset_book)
        rows = []
        for partition in sorted(found.keys() | offsets.keys()):
            offset = offsets.get(partition)
            ours = offset is not None and offset.metadata == mark(topic)
            try:
                decide_positions([partition], found, side, topic)
                doubt = ""
            except Undecided as error:
                doubt = str(error)
            committed = None if offset is None else offset.offset
            rows.append(PositionRow(partition, found.get(partition), committed, ours, doubt))
        return rows

    def adopt(self, replaced: str | None = None) -> Changed:
        """Make the committed offsets the positions; without any, nothing is written. `replaced` as for `move`."""
        offsets = {partition: each.offset for partition, each in self._offsets().items()}
        return self.move(offsets, replaced)

    def move(self, offsets: Offsets, replaced: str | None = None) -> Changed:
        """Make these offsets the positions, and the committed ones.

        `replaced`: the id of the source cluster in whose place this one is. Raise Undecided for positions of another.
        """
        self._require_no_members()
        cluster, ids = self._source()
        require_own_flow(self._settings, cluster, self._deadline, replaced)
        before, record = positions(self._settings, self._deadline), flow_record(self._settings, self._deadline)
        if not offsets:
            return Changed({}, before)
        self._require_topic()
        claim_flow(self._settings, self._timeout, cluster, self._deadline, replaced)

        def moved(partition: TopicPartition) -> SourcePosition:
            offset, topic_id = offsets[partition], ids.get(partition.topic, "")
            return SourcePosition(offset, _UNKNOWN_EPOCH, topic_id, cluster, epoch_ms(), adopted=offset)

        for number, partitions in by_bundle(offsets, BUNDLES).items():
            self._change(number, cluster, partial(_replaced, {partition: moved(partition) for partition in partitions}))
        return Changed(offsets, before, replaced or "" if record is not None and record.cluster == replaced else "")

    def retire(self) -> Changed:
        """Commit the positions as offsets, from which a mirror without exactly once goes on.

        Positions that are retired count once more where exactly once has committed an offset since. Raise Undecided for
        positions of another source cluster, or of a topic that was deleted and made anew.
        """
        self._require_no_members()
        cluster, ids = self._source()
        require_own_flow(self._settings, cluster, self._deadline)
        retired: dict[TopicPartition, int] = {}
        offsets, topic = self._offsets(), self.flow.positions_topic
        since = {each for each, offset in offsets.items() if offset.metadata == mark(topic)}

        def standing(found: FoundPositions) -> dict[TopicPartition, SourcePosition]:
            counts = {each: position for each, position in found.items() if not position.retired or each in since}
            require_own(counts, SourceSide(cluster, ids, offsets, self.offset_book), topic)
            return counts

        def retire(found: FoundPositions) -> dict[TopicPartition, SourcePosition]:
            counts = standing(found)
            retired.update({each: position.next for each, position in counts.items()})
            return {each: position._replace(retired=True, at=epoch_ms()) for each, position in counts.items()}

        before = positions(self._settings, self._deadline)
        standing(before)
        require_transactions(self._timeout, self._target(), self._deadline)
        if topic in self._target().topics(self._deadline):
            for number in range(BUNDLES):  # also those whose only positions are in a transaction that is open
                self._change(number, cluster, retire)
        return Changed(retired, before)

    def _change(self, number: int, cluster: str, change: PositionChange) -> None:
        target = self._settings.target.client
        with closing(BundleRuns(target, self._timeout)) as runs:
            contents = _Changed(number, self.flow.bundle(number).positions, cluster, change, self._commit)
            runs.run(self.flow.bundle(number), contents, self._deadline)

    def _commit(self, offsets: Offsets) -> None:
        if offsets:
            self._book.commit(offsets, self._deadline)

    def _offsets(self) -> GroupOffsets:
        return self._book.offsets(self._deadline)

    def _require_topic(self) -> None:
        target = self._target()
        require_transactions(self._timeout, target, self._deadline)
        known_by = Deadline.after(_TOPIC_TIMEOUT)
        while True:
            try:
                require_topic(target, self.flow.positions_topic, self._deadline)
                return
            except HostError:
                if known_by.expired():
                    raise
            sleep(_RETRY_BACKOFF)

    def _target(self) -> NativeAdmin:
        return NativeAdmin("target", self._settings.target_admin_connection)

    def _require_no_members(self) -> None:
        self._book.require_no_members(self._deadline)

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

    def decide_positions(self, rows: Iterable[LogRow]) -> tuple[Positions, Positions]:
        """Return the positions that change, once the same offsets are committed."""
        found = read_bundle(self._place, BUNDLES, rows).positions
        self._made = self._change(found)
        offsets = {partition: position.next for partition, position in self._made.items()}
        self._commit(offsets)
        return (), tuple(sorted(offsets.items()))

    def position_records(self, positions: Positions) -> Sequence[PositionsRecord]:
        """Return the records of the changed positions."""
        return [encode_position(partition, self._made[partition]) for partition, _ in positions]
