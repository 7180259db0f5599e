"""Construction: `Settings` -> a ready `Mirror` on a `Host`, which the command line makes and passes in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from legacy_mm import __version__
from legacy_mm.base.clock import Deadline, wall
from legacy_mm.base.errors import ConfigurationError, LegacyMMError, one_line
from legacy_mm.base.kafka_clients import KERBEROS, ConsumerSettings
from legacy_mm.base.settings import SourceSettings
from legacy_mm.clients import choose
from legacy_mm.clients.api import AssignmentListener, Member, MembershipListener
from legacy_mm.clients.bootstrap import require_resolvable
from legacy_mm.clients.native.inspector import NativeTopicLister
from legacy_mm.controlplane.commits import Commits
from legacy_mm.controlplane.positions import CommittedPositions, GapGuard
from legacy_mm.controlplane.store_watch import Stamps, StoreWatch, stamps
from legacy_mm.controlplane.stream import OnFailure, Stream
from legacy_mm.controlplane.topic_watch import TopicWatch
from legacy_mm.controlplane.unmatched_entries import UnmatchedEntries
from legacy_mm.features.connect_offsets.feature import CONNECT_OFFSETS
from legacy_mm.features.exactly_once.feature import EXACTLY_ONCE
from legacy_mm.features.offset_syncs.feature import OFFSET_SYNCS
from legacy_mm.flow import exactly_once, key_stores
from legacy_mm.flow.bundle_settings import offset_book
from legacy_mm.flow.copy_jobs import Copies, client_id
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.host import Host
from legacy_mm.flow.mirror import Mirror, Renewal
from legacy_mm.flow.names import Names
from legacy_mm.flow.position_book import PositionBook, group_book, workers_place
from legacy_mm.flow.refused_records import quarantine_topic, tell_of_quarantine
from legacy_mm.flow.topic_steps import TopicSteps
from legacy_mm.handlers.held_code import HeldCode
from legacy_mm.logs import events, root_logger
from legacy_mm.metrics.registry import MirrorNames, Registry
from legacy_mm.policies.logins import beyond_librdkafka, membership_obstacle, membership_remedy
from legacy_mm.policies.same_cluster import same_addresses

if TYPE_CHECKING:
    from legacy_mm.flow.cluster_identity import IdentityCheck
    from legacy_mm.flow.connect_offset_topic import WorkersPlace
    from legacy_mm.flow.offset_features import FlowOffsets
    from legacy_mm.flow.topic_features import FlowDuties

_MAX_POLL_MARGIN = 5.0
_MOST_EARLIER_COPIES = 20


def check_clients(settings: Settings) -> None:
    """Raise ConfigurationError for addresses and logins that cannot work, before a JVM is started or a cluster asked.

    The mirror and all commands that ask its clusters begin with it.
    """
    check_addresses(settings)
    check_logins(settings)


def check_addresses(settings: Settings) -> None:
    """Raise ConfigurationError if a bootstrap list resolves to nothing, before a JVM is started."""
    require_resolvable("producer", settings.target.connection.bootstrap_servers)
    require_resolvable("consumer", settings.source.connection.bootstrap_servers)


def check_logins(settings: Settings) -> None:
    """Raise ConfigurationError for a login or key that cannot work.

    A login that librdkafka lacks must not be combined with a membership that only librdkafka has. No client can be made
    of broken keys and certificates.
    """
    from legacy_mm.clients.native.connection_security import unsupported

    key_stores.check_pem(settings)
    for name, connection in (("source", settings.source.connection), ("target", settings.target.connection)):
        if reason := unsupported(connection):
            raise ConfigurationError(f"{name}: {reason}")
        if connection.sasl.mechanism == KERBEROS and connection.protocol.logs_in and not settings.spark.embedded:
            raise ConfigurationError(
                f"sasl.mechanism={KERBEROS} is not possible with --spark.master: its tickets are on this host"
            )
    source = settings.source.client
    if (login := beyond_librdkafka(source.connection)) and (wanted := membership_obstacle(source.membership)):
        raise ConfigurationError(f"{login} is not possible with {wanted}: {membership_remedy(source.membership)}")


def build_mirror(
    written: Settings,
    host: Host,
    listener: AssignmentListener | None = None,
    leaves_out: Callable[[str], bool] = lambda topic: False,
) -> Mirror:
    """Build the mirror of one flow from its settings as written.

    The rebalance listener is that of all flows. `leaves_out` returns True for topics that another flow forbids.

    Stores and plug-ins are read here; stores are read again whenever they change.
    """
    used = stamps(key_stores.files(written))
    first = host.with_plugins(host.with_stores(written))
    with host.closed_on_error():
        names = Names(first.topics, first.features, host.spark.jvm.topic_matcher, leaves_out)
        identity = _identity(first)
        names.try_expressions()
    producer_id = first.target.connection.client_id
    registry = Registry(first.flow, producer_id, facts(), mirror_names=_mirror_names(first, names))
    if (connect := first.connect_names) is not None and connect.worker:
        registry.in_workers_group(connect.worker, len(connect.connectors))
    host.registries.append(registry)

    def make_mirror(settings: Settings, used: Stamps) -> Mirror:
        watch = _store_watch(written, settings, host, used)
        renewal = None if watch is None else Renewal(watch, lambda: make_mirror(watch.renewed or settings, watch.used))
        return _mirror(settings, host, names, registry, identity, listener, renewal, settings is first)

    with host.closed_on_error():
        return make_mirror(first, used)


def _store_watch(written: Settings, settings: Settings, host: Host, used: Stamps) -> StoreWatch[Settings] | None:
    """Return the watch of changing stores; None if there are none (invariant E)."""
    files = key_stores.files(written)
    if not files:
        return None
    before = key_stores.contents(settings)

    def read() -> Settings:
        return replace(key_stores.with_stores(written, lambda: host.spark.jvm), handler=settings.handler)

    def try_out(renewed: Settings) -> bool:
        if key_stores.contents(renewed) == before:
            return False
        key_stores.try_out(renewed)
        return True

    return StoreWatch(files, used, read, try_out)


def _mirror(
    settings: Settings,
    host: Host,
    names: Names,
    registry: Registry,
    identity: IdentityCheck | None,
    listener: AssignmentListener | None,
    renewal: Renewal | None,
    is_first: bool,
) -> Mirror:
    """Put the objects of one flow together."""
    workers, exact = workers_place(settings, registry), settings.features[EXACTLY_ONCE] is not None
    book = workers or group_book(settings)
    duties, offsets = _duties(settings, names, registry, host, workers), _offsets(settings, names, registry)
    features = (None if duties is None else duties.before_copying, None if offsets is None else offsets.pairs)
    handled = settings.handler
    steps = TopicSteps(handled.steps, lambda: host.spark.jvm) if handled is not None and handled.steps else None
    shared = (host.channel, host.runner, host.processes)
    copies = Copies(settings, names, *shared, *features, host.exits.put, steps, _held_code(settings, host))
    if is_first:
        copies.warm_up()
    guard = GapGuard(
        settings.source.offset_reset,
        registry.gap,
        registry.skipped,
        fail=settings.fail_on_gap,
        set_position=book.set_position,
        new_from_earliest=settings.source.new_from_earliest,
        exactly_once=exact,
    )
    mirror: Mirror

    def make_streams(on_failure: OnFailure) -> list[Stream]:
        existing = lambda: mirror.existing_topics()  # noqa: E731
        return [
            _stream(index, settings, host, copies, registry, guard, on_failure, existing, listener, book, workers)
            for index in range(settings.first_stream, settings.first_stream + settings.streams)
        ]

    def on_change(topics: frozenset[str]) -> None:
        names.look(topics)
        if duties is not None:
            duties.topics_found(topics)
        mirror.subscribe(topics)

    def make_watch(on_failure: OnFailure) -> TopicWatch:
        return TopicWatch(
            lister=lambda: _lister(settings.source),
            choice=names.choice,
            pattern_text=settings.topics.pattern_text,
            interval=settings.source.metadata_max_age,
            before_first=_before_first(settings, names, guard, identity, book, workers, duties),
            on_change=on_change,
            guard=guard,
            on_failure=on_failure,
            entries=UnmatchedEntries(names.unmatched, shared=settings.features.naming.copies_own_names),
        )

    background = [each for each in (duties, offsets, workers) if each is not None]
    return (mirror := Mirror(make_streams, make_watch if settings.streams else None, background, renewal))


def _lister(source: SourceSettings) -> NativeTopicLister:
    return NativeTopicLister(source.connection, source.api_timeout, source.metadata_max_age)


def _duties(
    settings: Settings, names: Names, registry: Registry, host: Host, workers: WorkersPlace | None
) -> FlowDuties | None:
    if not settings.features.have_duties:
        return None
    from legacy_mm.flow.topic_features import FlowDuties

    words = settings, names, registry, host.writers
    return FlowDuties(*words) if workers is None else FlowDuties(*words, workers.would_take_us)


def _mirror_names(settings: Settings, names: Names) -> MirrorNames | None:
    """Return the names for the metrics; None without offset syncs, where the metrics are the legacy tool's alone."""
    if settings.features[OFFSET_SYNCS] is None:
        return None
    naming = settings.features.naming
    return MirrorNames(naming.source_alias, naming.target_alias, names.remote)


def _offsets(settings: Settings, names: Names, registry: Registry) -> FlowOffsets | None:
    syncs = settings.features[OFFSET_SYNCS]
    if syncs is None:
        return None
    from legacy_mm.flow.offset_features import FlowOffsets

    return FlowOffsets(settings, names, syncs, registry)


def _held_code(settings: Settings, host: Host) -> HeldCode | None:
    """Return the code of the handler, where its tasks run on this host."""
    if settings.handler is None or not host.spark.embedded:
        return None
    return HeldCode(settings.handler, host.spark.folder / "code")


def _identity(settings: Settings) -> IdentityCheck | None:
    """Return the identity check; None if no feature needs it (invariant E). Raises ConfigurationError."""
    if not settings.features.concern_both_ends:
        ends = settings.source.connection, settings.target.connection
        if text := same_addresses(*(each.bootstrap_servers for each in ends)):
            events.emit(events.ONE_CLUSTER, what=text)
        return None
    from legacy_mm.flow.cluster_identity import IdentityCheck

    check = IdentityCheck(settings)
    check.look()
    return check


def _before_first(
    settings: Settings,
    names: Names,
    guard: GapGuard,
    identity: IdentityCheck | None,
    book: PositionBook,
    workers: WorkersPlace | None,
    duties: FlowDuties | None,
) -> Callable[[frozenset[str]], None]:
    begin, early = _group_start(settings.source, guard, book), _earlier_copies(settings, names, book)
    asked = settings.features[EXACTLY_ONCE]
    start = None if asked is None else exactly_once.ExactlyOnceStart(settings, asked)

    def before(topics: frozenset[str]) -> None:
        if identity is not None:
            identity.look()
        if workers is not None:
            workers.require_own_kind(Deadline.after(settings.source.api_timeout))
            if duties is not None:
                duties.make_own_topics()
            workers.check(names.own_topics("target").keys() - {names.heartbeats_topic()})
        if early is not None:
            early(topics)
        if begin is not None and (start is None or not start.has_begun(topics)):
            begin(topics)
        if start is not None:
            start.prepare(frozenset(map(names.at_target, topics)))
        if quarantine_topic(settings) is not None:
            tell_of_quarantine(settings, Deadline.after(settings.source.api_timeout))

    return before


def _earlier_copies(settings: Settings, names: Names, book: PositionBook) -> Callable[[frozenset[str]], None] | None:
    """Return what tells of copies that are there already; None without features, which ask the target nothing."""
    if not settings.features.concern_both_ends:
        return None
    from legacy_mm.flow.earlier_copies import EarlierCopies

    copies = EarlierCopies(settings, names, book)

    def look(topics: frozenset[str]) -> None:
        try:
            told = list(copies.tell(topics, Deadline.after(settings.source.api_timeout)))
        except LegacyMMError as error:
            events.emit(events.EARLIER_COPIES_UNKNOWN, reason=one_line(error))
            return
        found = [each for each in told if each.event is not events.POSITION_OF_ANOTHER_LOG]  # said where they are read
        for each in found[:_MOST_EARLIER_COPIES]:
            events.emit(each.event, error=None, **each.fields)
        if len(found) > _MOST_EARLIER_COPIES:
            events.emit(events.EARLIER_COPIES_LEFT, count=len(found) - _MOST_EARLIER_COPIES)

    return look


def _group_start(
    source: SourceSettings, guard: GapGuard, book: PositionBook
) -> Callable[[frozenset[str]], None] | None:
    if not source.new_from_earliest:
        return None
    from legacy_mm.clients.native.inspector import log_ends
    from legacy_mm.controlplane.group_start import GroupStart

    return GroupStart(book, partial(log_ends, source.client), guard, source.api_timeout).keep


def _stream(
    index: int,
    settings: Settings,
    host: Host,
    copies: Copies,
    registry: Registry,
    guard: GapGuard,
    on_failure: OnFailure,
    existing_topics: Callable[[], frozenset[str] | None],
    listener: AssignmentListener | None,
    book: PositionBook,
    workers: WorkersPlace | None,
) -> Stream:
    source, client = settings.source, member_settings(settings, index)
    name = client_id(settings, index)
    metrics = registry.stream(index, name)
    positions = CommittedPositions(
        book.set_position,
        "earliest" if source.new_from_earliest else source.offset_reset,
        min(source.api_timeout, settings.shutdown_timeout / 2),
        exactly_once=settings.features[EXACTLY_ONCE] is not None,
        book=offset_book(settings),
    )
    exact = exactly_once.stream_of(settings, positions)

    def member(listener: MembershipListener) -> Member:
        if workers is not None:
            topic = None if exact is None else exact.positions_topic
            return workers.member(client, name, topic, listener, metrics.statistics)
        words = client, name, listener, metrics.statistics, source.api_timeout
        if exact is not None:
            return choose.bundle_member(*words, exact.positions_topic)
        return choose.member(*words, tuned=bool(source.for_librdkafka))

    return Stream(
        index,
        pattern=settings.topics.pattern,
        member=member,
        commits=lambda send: Commits(
            index,
            settings.commit_interval,
            source.api_timeout,
            send,
            existing_topics,
            None if workers is None else workers.positions.moved,
        ),
        positions=positions if exact is None else exact.offsets,
        guard=guard,
        receipts=host.receipts.of_stream(settings.flow, index) if host.receipts is not None else None,
        commit_starts=source.offset_reset == "latest",
        start_copy=lambda generation, offsets: copies.start(
            index, generation, offsets, metrics, None if exact is None else exact.job(offsets)
        ),
        adapt=copies.adapt,
        revoke_seconds=max(1.0, min(settings.shutdown_timeout, _rebalance_timeout(settings) - _MAX_POLL_MARGIN)),
        metrics=metrics,
        on_failure=on_failure,
        listener=listener,
        ownership=None if exact is None else exact.ownership,
    )


def _rebalance_timeout(settings: Settings) -> float:
    """Return the seconds for which the group waits for a member that has not given up its partitions yet."""
    asked = settings.features[CONNECT_OFFSETS]
    return settings.source.max_poll_interval if asked is None else asked.workers.max_poll_interval


def facts() -> dict[str, str | int]:
    """Return what MBeans tell of the whole run that begins now."""
    return {
        "version": f"legacy_mm {__version__}",
        "start_time_ms": int(wall() * 1000),
        "loggers": ",".join(root_logger.loggers()),
    }


def member_settings(settings: Settings, stream: int) -> ConsumerSettings:
    """Return the settings of one membership; several streams need a `group.instance.id` each."""
    client, instance = settings.source.client, settings.source.group_instance_id
    if instance is None:
        return client
    own = f"{instance}-{stream}" if settings.streams > 1 else instance
    return replace(client, membership=replace(client.membership, instance_id=own))
