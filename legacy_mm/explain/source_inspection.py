"""Asks the source for `explain` which topics would be mirrored, and from where. It changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError, LegacyMMError
from legacy_mm.base.model import TopicPartition
from legacy_mm.base.settings import SourceSettings
from legacy_mm.clients.admin.admin import NativeAdmin
from legacy_mm.clients.admin.cluster_admin import PartitionView
from legacy_mm.clients.admin.inspector import NativeInspector
from legacy_mm.clients.cluster.cluster_errors import at_cluster
from legacy_mm.explain.target_inspection import impossible_copies, partitions_of_copies
from legacy_mm.explain.time_starts import TimeStart, time_starts
from legacy_mm.features.exactly_once.feature import EXACTLY_ONCE
from legacy_mm.features.topic_creation.feature import TOPIC_CREATION
from legacy_mm.flow import key_stores
from legacy_mm.flow.admin_clients import AdminClients
from legacy_mm.flow.cluster_identity import warning
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.flow_topics import FlowTopics
from legacy_mm.flow.position_book import PositionBook, workers_place
from legacy_mm.flow.topic_steps import TopicSteps
from legacy_mm.runtime.jvm.gateway import StartJvm
from legacy_mm.transactions.bundle_settings import flow_bundles
from legacy_mm.transactions.exactly_once_start import risks, start_doubts
from legacy_mm.transactions.position_changes import PositionChanges, PositionRow
from legacy_mm.transactions.txn_protocol import cluster_version

_ASK_TIMEOUT = 5.0
_POSITIONS_TIMEOUT = 30.0
"""Each partition of the positions topic is read to its end."""
_DROPPED = "(filtered out)"


class _Book(NamedTuple):
    """The words for where copying goes on."""

    has: str
    its: str
    none: str


_GROUP = _Book("committed by the group", "the group's offset", "the group has no offset")
_WORKERS = _Book("stored at the target", "the stored position", "no position is stored at the target")
LeavesOut = Callable[[str], bool]
"""Returns True for topics that are not mirrored because of other flows."""


@dataclass(frozen=True, slots=True)
class PartitionStart:
    """The offset at which copying one partition would begin."""

    topic: str
    partition: int
    start: int | None
    because: str


@dataclass(frozen=True, slots=True)
class Impossible:
    """A topic that the target lacks, and that its brokers would not make."""

    topic: str
    because: str


@dataclass(frozen=True, slots=True)
class TopicCopy:
    """A topic and the name of its copy."""

    topic: str
    target: str
    partitions: int
    copy_partitions: int | None = None
    """The number that the copy has or would get; None: not known, or decided by a handler."""


@dataclass(frozen=True, slots=True)
class Topics:
    """The source's answer about the topic pattern."""

    answered: bool = False
    why_not: str = ""
    copies: tuple[TopicCopy, ...] = ()
    partitions: tuple[PartitionStart, ...] = ()
    impossible: tuple[Impossible, ...] = ()
    """Topics that cannot be copied, because the target cannot have them."""
    target_unknown: str = ""
    """Why that is not known."""
    attention: str = ""
    """A warning that both ends are one cluster."""
    risks: tuple[str, ...] = ()
    """Settings of the target with which exactly once may lose what was acknowledged; none where it is off."""
    transaction_version: int | None = None
    """The version that exactly once would speak at the target; None: it is off, or the target does not answer."""


def inspect(flows: Sequence[Settings], java: StartJvm, leaves_out: LeavesOut = lambda topic: False) -> Topics:
    """Ask the sources; raises HostError when one does not answer, and what a start would be refused with, such as
    ConfigurationError where features must not run.
    """
    found = [_flow(settings, java, leaves_out, whose=len(flows) > 1) for settings in flows]
    topics = Topics(
        answered=True,
        copies=tuple(copy for copies, _ in found for copy in copies),
        partitions=tuple(start for _, starts in found for start in starts),
    )
    try:
        impossible, counts = _at_target(flows[0], [copy.topic for copy in topics.copies], java, leaves_out)
        version, at_risk = _exactly_once(flows[0], {copy.target for copy in topics.copies}, java)
        doubts = [doubt for settings in flows for doubt in _doubts(settings, java)]
    except HostError as error:
        return replace(topics, target_unknown=str(error))
    if doubts:
        raise type(doubts[0])("; ".join(dict.fromkeys(map(str, doubts))))
    attention = next(filter(None, (_attention(settings, java) for settings in flows)), "")
    rows = tuple(Impossible(*row) for row in sorted(impossible.items()))
    copies = tuple(replace(copy, copy_partitions=counts.get(copy.topic)) for copy in topics.copies)
    return replace(
        topics, copies=copies, impossible=rows, attention=attention, transaction_version=version, risks=at_risk
    )


def _at_target(
    settings: Settings, topics: Collection[str], java: StartJvm, leaves_out: LeavesOut
) -> tuple[Mapping[str, str], Mapping[str, int]]:
    """Return topics that the target cannot have, and how many partitions the copies of the others have there.

    All flows share it; a target that does not answer names none.
    """
    if not topics:
        return {}, {}
    names = _names(settings, java, leaves_out)
    target = NativeAdmin("target", key_stores.with_stores(settings, java).target_admin_connection)
    names.scope.inspect(topics)
    copies = {topic: names.at_target(topic) for topic in topics}
    created: Mapping[str, int] = {}
    if (made := settings.features[TOPIC_CREATION]) is not None:
        created = {copy: made.replication_factor for topic, copy in copies.items() if topic in names.scope}
    impossible = impossible_copies(target, copies.values(), Deadline.after(_ASK_TIMEOUT), created)
    if settings.handler is not None:
        return impossible, {}
    others = set(copies.values()) - created.keys() - impossible.keys()
    counts = partitions_of_copies(target, others, Deadline.after(_ASK_TIMEOUT))
    return impossible, {topic: counts[copy] for topic, copy in copies.items() if copy in counts}


def _names(settings: Settings, java: StartJvm, leaves_out: LeavesOut) -> FlowTopics:
    return FlowTopics(settings.topics, settings.features, lambda pattern: java().topic_matcher(pattern), leaves_out)


def _exactly_once(settings: Settings, copies: Set[str], java: StartJvm) -> tuple[int | None, tuple[str, ...]]:
    """Return the version that a claim would find, and the target's settings that are a risk; None, and none, without
    exactly once.
    """
    if settings.features[EXACTLY_ONCE] is None:
        return None, ()
    target = NativeAdmin("target", key_stores.with_stores(settings, java).target_admin_connection)
    written, deadline = {flow_bundles(settings).positions_topic, *copies}, Deadline.after(_ASK_TIMEOUT)
    return cluster_version(target, deadline).value, tuple(risks(target, written, deadline))


def _doubts(settings: Settings, java: StartJvm) -> list[LegacyMMError]:
    settings = key_stores.with_stores(settings, java)
    return start_doubts(settings, *AdminClients(settings).ends(), Deadline.after(_ASK_TIMEOUT))


def _attention(settings: Settings, java: StartJvm) -> str:
    """Return the warning, or raise ConfigurationError if features must not run; a silent target gives none."""
    try:
        ends = AdminClients(key_stores.with_stores(settings, java)).ends()
        return warning(settings, *ends, Deadline.after(_ASK_TIMEOUT))
    except HostError:
        return ""


def _flow(
    settings: Settings, java: StartJvm, leaves_out: LeavesOut, *, whose: bool
) -> tuple[list[TopicCopy], list[PartitionStart]]:
    settings = key_stores.with_stores(settings, java)
    source = settings.source
    inspector = NativeInspector(source.connection)
    with at_cluster(source.name, source.connection):
        counts = inspector.partitions(Deadline.after(_ASK_TIMEOUT))
    names = _names(settings, java, leaves_out)
    topics = sorted(_matching(names, counts))
    names.inspect(topics)
    called = _called(settings, names, topics, java)
    copies = [TopicCopy(name, called.get(name, _DROPPED), counts[name]) for name in topics]
    partitions = [TopicPartition(name, number) for name in topics for number in range(counts[name])]
    if not partitions:
        return copies, []
    workers = workers_place(settings)
    by_workers = None if workers is None else _stored_by(workers, partitions)
    with at_cluster(source.name, source.connection):
        views = inspector.views(
            source.group_id if by_workers is None else None,
            partitions,
            Deadline.after(_ASK_TIMEOUT),
            committed_only=source.committed_only,
        )
        ends = {each: (view.low, view.readable) for each, view in views.items()}
        timed = time_starts(settings, inspector, ends, Deadline.after(_ASK_TIMEOUT))
    starts = list(_starts(settings, views, by_workers, timed))
    if whose:
        starts = [replace(start, because=f"{source.name}: {start.because}") for start in starts]
    return copies, starts


@dataclass(frozen=True, slots=True)
class _Stored:
    """Positions that workers of MirrorMaker 2, or nodes of ours in their place, have stored at the target."""

    offsets: Mapping[TopicPartition, int] = field(default_factory=dict)
    foreign: Mapping[str, str] = field(default_factory=dict)
    """Topic -> why its positions do not count."""
    unknown: str = ""
    """Why they are not known."""


def _stored_by(workers: PositionBook, partitions: Collection[TopicPartition]) -> _Stored:
    deadline = Deadline.after(_POSITIONS_TIMEOUT)
    try:
        offsets, found = workers.offsets(deadline), workers.lacking(partitions, deadline).foreign
    except HostError as error:
        return _Stored(unknown=f"the positions at the target are not known: {error}")
    foreign = {
        each.topic: f"the stored position {offset} does not count: {why}" for each, (offset, why) in found.items()
    }
    return _Stored({each: kept.offset for each, kept in offsets.items() if each.topic not in foreign}, foreign)


def _starts(
    settings: Settings,
    views: Mapping[TopicPartition, PartitionView],
    by_workers: _Stored | None,
    timed: Mapping[TopicPartition, TimeStart],
) -> Iterator[PartitionStart]:
    """Yield where partitions begin: where the group or the workers say, or with exactly once the target, if it has a
    position.
    """
    rows: Mapping[TopicPartition, PositionRow] = {}
    unknown = "" if by_workers is None else by_workers.unknown
    if settings.features[EXACTLY_ONCE] is not None:
        changes = PositionChanges(settings, Deadline.after(_POSITIONS_TIMEOUT))
        try:
            rows = {row.partition: row for row in changes.rows()}
        except HostError as error:
            unknown = f"the positions at the target are not known: {error}"
    kept = {each: view.committed for each, view in views.items()} if by_workers is None else by_workers.offsets
    first = not rows.keys() & views.keys() and all(kept.get(each) is None for each in views)
    for partition, view in sorted(views.items()):
        row = rows.get(partition)
        if why_not := unknown or (row.doubt if row is not None else ""):
            yield PartitionStart(*partition, None, why_not)
        elif row is not None and row.position is not None and not row.position.retired:
            yield _at_position(partition, view, row.position.next)
        else:
            book = _GROUP if by_workers is None else _WORKERS
            if by_workers is not None:
                book = book._replace(none=by_workers.foreign.get(partition.topic, book.none))
            if (kept_at := kept.get(partition)) is None and (start := timed.get(partition)) is not None:
                yield PartitionStart(*partition, start.offset, f"{book.none}; {start.because()}")
            else:
                yield _start(partition, kept_at, view, book, settings.source, first=first)


def _at_position(partition: TopicPartition, view: PartitionView, position: int) -> PartitionStart:
    if view.low <= position <= view.high:
        return PartitionStart(*partition, position, f"the position at the target, {_lag(view, position)}")
    missing = f"the position {position} at the target is not in the log ({view.low} to {view.high})"
    return PartitionStart(*partition, None, f"{missing}: exactly.once.on.gap decides")


def _called(settings: Settings, names: FlowTopics, topics: Sequence[str], java: StartJvm) -> Mapping[str, str]:
    """Return topic -> name of its copy, as flags or a handler have it; raises HandlerFailure for an impossible name."""
    handler = settings.handler
    at_target = {topic: names.at_target(topic) for topic in topics}
    if handler is None:
        return at_target
    if handler.name:
        return dict.fromkeys(topics, f"as {handler.name} says")
    if handler.transforms is not None:
        return dict.fromkeys(topics, "as the transforms in Java say")
    seen = at_target if handler.of_connect else {topic: topic for topic in topics}
    made = TopicSteps(handler.steps, java).names({*seen.values()})
    return {topic: made[name] for topic, name in seen.items() if name in made}


def _matching(names: FlowTopics, counts: Mapping[str, int]) -> Collection[str]:
    """Return the topics that are mirrored; Java's own regular expressions decide."""
    return () if all(map(names.is_barred, counts)) else names.choice().select(counts)


def _start(
    partition: TopicPartition,
    kept: int | None,
    view: PartitionView,
    book: _Book,
    source: SourceSettings,
    *,
    first: bool,
) -> PartitionStart:
    """Return where a partition begins; `kept`: where copying goes on by this book. `first`: it has no place of any
    topic that is mirrored.
    """
    reset = source.offset_reset
    if kept is not None and view.low <= kept <= view.high:
        return PartitionStart(*partition, kept, f"{book.has}, {_lag(view, kept)}")
    missing = book.none
    if kept is not None:
        missing = f"{book.its} {kept} is not in the log ({view.low} to {view.high})"
    elif source.new_from_earliest and not first:
        return PartitionStart(*partition, view.low, f"{missing}; new.topics.from=earliest")
    if reset == "none":
        return PartitionStart(*partition, None, f"{missing} and auto.offset.reset=none: the mirror would end with 255")
    start = view.low if reset == "earliest" else view.readable
    return PartitionStart(*partition, start, f"{missing}; auto.offset.reset={reset}")


def _lag(view: PartitionView, position: int) -> str:
    """Return the records between a position and where the mirror's reading ends, with words about the rest."""
    behind = f"{max(view.readable - position, 0)} records behind the end"
    if view.readable == view.high:
        return behind
    return f"{behind} of what is committed; a transaction is open from offset {view.readable} on"
