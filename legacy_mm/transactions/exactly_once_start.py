"""Exactly once, as a flow begins with it: its settings, the positions topic at the target, and the flow's record."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Sequence, Set
from contextlib import closing

from legacy_mm.base.clock import Deadline, epoch_ms
from legacy_mm.base.errors import ConfigurationError, HostError, LegacyMMError, StreamFailure, Undecided
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.admin.admin import NativeAdmin
from legacy_mm.clients.admin.cluster_admin import Admin
from legacy_mm.clients.topics.topic_reader import read_topic
from legacy_mm.features.exactly_once.feature import EXACTLY_ONCE
from legacy_mm.features.exactly_once.flags import ExactlyOnceFlags
from legacy_mm.flow.allowed_timeouts import beyond_limits, require_allowed
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.logs import events
from legacy_mm.policies.changes import CreateTopic, Inspection
from legacy_mm.transactions.broker_risks import broker_risks
from legacy_mm.transactions.bundle import BUNDLES, FLOW, FlowBundles
from legacy_mm.transactions.bundle_owner import LogRow
from legacy_mm.transactions.bundle_run import BundleRuns
from legacy_mm.transactions.bundle_settings import NEWEST, check, flow_bundles, offset_book
from legacy_mm.transactions.evidence import flow_doubt
from legacy_mm.transactions.offset_book import OffsetBook
from legacy_mm.transactions.position_records import (
    Claim,
    FlowRecord,
    PositionsRecord,
    SourcePosition,
    encode_claim,
    encode_flow,
    read_bundle,
)
from legacy_mm.transactions.positions_topic import FoundTopic, judge_topic, topic_to_create
from legacy_mm.transactions.txn_protocol import cluster_version
from legacy_mm.transactions.txn_requests import Positions, TransactionVersion

_START_TIMEOUT = 60.0
_INIT_PRODUCER_ID = 22


class ExactlyOnceStart:
    """The check before a flow's first record is read. Made only with exactly once (invariant E)."""

    def __init__(self, settings: Settings, asked: ExactlyOnceFlags) -> None:
        """Take the flow."""
        self._settings = settings
        self._asked = asked
        self._flow = flow_bundles(settings)

    def has_begun(self, topics: Set[str]) -> bool:
        """Return True if the target has a position in one of these source topics: a committed offset does not say."""
        found = positions(self._settings, Deadline.after(_START_TIMEOUT))
        return any(partition.topic in topics for partition in found)

    def prepare(self, copies: Set[str]) -> None:
        """Make the positions topic certain, and the number of bundles; `copies` are topics of the target.

        (1) The target's brokers know transactions, and both clusters' allow the time-outs. Nothing is made before. (2)
        The topic is there, and keeps positions. (3) The flow's record has our number of bundles and this source. (4)
        Settings with which brokers may lose records are named.

        Raises HostError, to be tried again, ConfigurationError and Undecided.
        """
        deadline = Deadline.after(_START_TIMEOUT)
        target = NativeAdmin("target", self._settings.target_admin_connection)
        source = NativeAdmin("source", self._settings.source_admin_connection)
        # (1)
        check(self._settings, target.lowest_version(_INIT_PRODUCER_ID, NEWEST, deadline))
        require_allowed(self._settings, source, target, deadline)
        # (2)
        require_topic(target, self._flow.positions_topic, deadline)
        # (3)
        version = claim_flow(self._settings, self._asked.transaction_timeout, source.cluster_id(deadline), deadline)
        # (4)
        for risk in risks(target, copies, deadline):
            events.emit(events.POSITIONS_AT_RISK, what=risk)
        seconds = f"{self._asked.interval:g}"
        events.emit(events.EXACTLY_ONCE, topic=self._flow.positions_topic, seconds=seconds, version=version.value)


def exactly_once_start(settings: Settings) -> ExactlyOnceStart | None:
    """Return the check before a flow's first record; None without exactly once (invariant E)."""
    asked = settings.features[EXACTLY_ONCE]
    return None if asked is None else ExactlyOnceStart(settings, asked)


def claim_flow(
    settings: Settings, timeout: float, cluster: str, deadline: Deadline, replaced: str | None = None
) -> TransactionVersion:
    """Make certain that the flow's record is of this source cluster; return the version of transactions.

    `timeout` of the transaction in seconds. `replaced`: the source cluster whose record is taken over, because a person
    says where to begin in this one. A record that is right needs no claim, which would wait for what a killed owner of
    bundle 0 has left open. Raises HostError, and Undecided for a record that is not of this flow.
    """
    flow, target = flow_bundles(settings), settings.target_admin_connection
    record = _FlowRecord(flow, cluster, offset_book(settings), replaced)
    if record.is_there(flow_record(settings, deadline)):
        return cluster_version(NativeAdmin("target", target), deadline)
    with closing(BundleRuns(settings.target.client, timeout)) as runs:
        return runs.run(flow.bundle(FLOW), record, deadline)


def flow_record(settings: Settings, deadline: Deadline) -> FlowRecord | None:
    """Return the flow's record; None where there is none. Raise HostError, StreamFailure."""
    place = flow_bundles(settings).bundle(FLOW).positions
    rows = read_topic(settings.target_admin_connection, place.topic, deadline, only=place.partition)
    return read_bundle(place, BUNDLES, ((each.offset, each.key, each.value) for _, each in rows)).flow


def require_own_flow(settings: Settings, cluster: str, deadline: Deadline, replaced: str | None = None) -> None:
    """Raise Undecided if the flow's record is of another source cluster, unless that was `replaced`, or HostError.

    Each command asks this before it changes where a flow goes on.
    """
    topic = flow_bundles(settings).positions_topic
    record = flow_record(settings, deadline)
    if doubt := flow_doubt(record, BUNDLES, cluster, topic, offset_book(settings), replaced):
        raise Undecided(f"nothing was changed: {doubt}")


def start_doubts(settings: Settings, source: Admin, target: Admin, deadline: Deadline) -> list[LegacyMMError]:
    """Return what a start would be refused with for what both clusters say; raise HostError.

    It is asked with exactly once off, too: then only the session time-out may be beyond what brokers allow.
    """
    found: list[LegacyMMError] = [StreamFailure(each) for each in beyond_limits(settings, source, target, deadline)]
    if settings.features[EXACTLY_ONCE] is None:
        return found
    keeper, topic = NativeAdmin("target", settings.target_admin_connection), flow_bundles(settings).positions_topic
    try:
        check(settings, keeper.lowest_version(_INIT_PRODUCER_ID, NEWEST, deadline))
    except ConfigurationError as error:
        return [error, *found]  # brokers without transactions keep no positions
    if troubles := inspect_positions(keeper, topic, deadline).troubles:
        return [*found, ConfigurationError("; ".join(troubles))]
    record = flow_record(settings, deadline)
    if doubt := flow_doubt(record, BUNDLES, source.cluster_id(deadline), topic, offset_book(settings)):
        found.append(Undecided(doubt))
    return found


def positions(settings: Settings, deadline: Deadline) -> dict[TopicPartition, SourcePosition]:
    """Return all committed positions of the flow; none where the topic is missing. Raise HostError, StreamFailure."""
    topic, rows = flow_bundles(settings).positions_topic, dict[int, list[LogRow]]()
    for number, record in read_topic(settings.target_admin_connection, topic, deadline):
        rows.setdefault(number, []).append((record.offset, record.key, record.value))
    found: dict[TopicPartition, SourcePosition] = {}
    for number, each in rows.items():
        found |= read_bundle(TopicPartition(topic, number), BUNDLES, each).positions
    return found


def risks(target: NativeAdmin, copies: Set[str], deadline: Deadline) -> Sequence[str]:
    """Return the settings of these topics with which brokers may lose what they have acknowledged."""
    found, _ = target.properties(sorted(copies & target.topics(deadline).keys()), deadline)
    return broker_risks({topic: {each.name: each.value or "" for each in rows} for topic, rows in found.items()})


def inspect_positions(target: NativeAdmin, topic: str, deadline: Deadline) -> Inspection:
    """Return what a positions topic needs; raise HostError where the target does not tell."""
    layout = target.layout(topic, deadline)
    if not layout.partitions:
        return Inspection((topic_to_create(topic, BUNDLES, layout.brokers),))
    there = FoundTopic(layout.partitions, layout.replicas, target.properties_of(topic, deadline))
    verdict = judge_topic(topic, there, BUNDLES, layout.brokers)
    return Inspection((), verdict.refusals, verdict.warnings)


def require_topic(target: NativeAdmin, topic: str, deadline: Deadline) -> None:
    """Create the positions topic where it is missing, and look at it.

    Raises ConfigurationError for one that cannot keep positions; HostError, to be tried again, also while the broker
    that is asked does not know yet what was created.
    """
    inspection = inspect_positions(target, topic, deadline)
    missing = [change for change in inspection.changes if isinstance(change, CreateTopic)]
    for outcome in target.create_topics(missing, deadline):
        if outcome.error:
            raise HostError(f"positions topic {topic} cannot be created: {outcome.error}")
    if missing:
        inspection = inspect_positions(target, topic, deadline)
        if inspection.changes:
            raise HostError(f"positions topic {topic} is created, but not known to all brokers yet: tried again")
    if inspection.troubles:
        raise ConfigurationError("; ".join(inspection.troubles))
    for warning in inspection.notes:
        events.emit(events.POSITIONS_AT_RISK, what=warning)


class _FlowRecord:
    """The contents of the bundle whose transactions write the flow's record: the number of bundles, and the source."""

    def __init__(self, flow: FlowBundles, cluster: str, book: OffsetBook, replaced: str | None) -> None:
        self._flow = flow
        self._cluster = cluster
        self._book = book
        self._replaced = replaced

    def claim(self) -> PositionsRecord:
        """Return the record of this process."""
        return encode_claim(Claim(FLOW, BUNDLES, self._cluster, socket.gethostname(), -1, epoch_ms()))

    def decide_positions(self, rows: Iterable[LogRow]) -> tuple[Positions, Positions]:
        """Return the number of bundles, to be written where it is not there; raise Undecided for another flow's."""
        place = self._flow.bundle(FLOW).positions
        number = ((place, BUNDLES),)
        return (number, ()) if self.is_there(read_bundle(place, BUNDLES, rows).flow) else ((), number)

    def is_there(self, found: FlowRecord | None) -> bool:
        """Return True if this is the record; raise Undecided for another flow's."""
        topic = self._flow.positions_topic
        if doubt := flow_doubt(found, BUNDLES, self._cluster, topic, self._book, self._replaced):
            raise Undecided(f"exactly once cannot begin: {doubt}")
        return found is not None and found.cluster != self._replaced

    def position_records(self, positions: Positions) -> Sequence[PositionsRecord]:
        """Return the flow's record."""
        return [encode_flow(FlowRecord(bundles, self._cluster, epoch_ms())) for _, bundles in positions]
