"""Construction: `Settings` -> a ready `Mirror` on a `Host`, which the command line makes and passes in."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from legacy_mm.assembly.first_inspection import first_inspection
from legacy_mm.assembly.streams import FlowServices
from legacy_mm.base.settings import SourceSettings
from legacy_mm.clients.admin.inspector import NativeTopicLister
from legacy_mm.clients.group.member import AssignmentListener
from legacy_mm.controlplane.positions import GapGuard
from legacy_mm.controlplane.store_watch import Stamps, stamps
from legacy_mm.controlplane.topic_watch import KnownTopics, TopicEntries, TopicWatch
from legacy_mm.flow import key_stores
from legacy_mm.flow.client_checks import identity_check
from legacy_mm.flow.copy_jobs import CopyJobFactory
from legacy_mm.flow.feature_work import feature_work
from legacy_mm.flow.flow_registry import flow_registry
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.flow_topics import FlowTopics
from legacy_mm.flow.host import Host
from legacy_mm.flow.mirror import Failures, Mirror, Renewal
from legacy_mm.flow.position_book import group_book, workers_place
from legacy_mm.metrics.registry import Registry
from legacy_mm.transactions.bundle_settings import is_exactly_once
from legacy_mm.transactions.exactly_once_stream import node_bundles

if TYPE_CHECKING:
    from legacy_mm.flow.cluster_identity import IdentityCheck


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
        names = FlowTopics(first.topics, first.features, host.spark.jvm.topic_matcher, leaves_out)
        identity = identity_check(first)
        names.try_expressions()
    registry = flow_registry(first, names)
    host.registries.append(registry)

    def make_mirror(settings: Settings, used: Stamps) -> Mirror:
        watch = key_stores.store_watch(written, settings, lambda: host.spark.jvm, used)
        renewal = None if watch is None else Renewal(watch, lambda: make_mirror(watch.renewed or settings, watch.used))
        return _mirror(settings, host, names, registry, identity, listener, renewal, settings is first)

    with host.closed_on_error():
        return make_mirror(first, used)


def _mirror(
    settings: Settings,
    host: Host,
    names: FlowTopics,
    registry: Registry,
    identity: IdentityCheck | None,
    listener: AssignmentListener | None,
    renewal: Renewal | None,
    is_first: bool,
) -> Mirror:
    """Put the objects of one flow together."""
    workers = workers_place(settings, registry, node_bundles(settings))
    book = workers or group_book(settings)
    work = feature_work(settings, names, registry, lambda: host.writers, workers)
    copies = CopyJobFactory(settings, host, names, work)
    if is_first:
        copies.warm_up()
    guard = GapGuard(
        settings.source.offset_reset,
        registry.gap,
        registry.skipped,
        fail=settings.fail_on_gap,
        set_position=book.set_position,
        new_from_earliest=settings.source.new_from_earliest,
        exactly_once=is_exactly_once(settings),
    )
    known, failures = KnownTopics(guard), Failures()
    streams = FlowServices(settings, host, registry, copies, guard, book, workers, known, failures, listener).streams()

    def on_change(topics: frozenset[str]) -> None:
        names.inspect(topics)
        work.topics_found(topics)
        for stream in streams:
            stream.subscribe(topics)

    shared, pattern = settings.features.naming.copies_own_names, settings.topics.pattern_text
    watch = TopicWatch(
        lister=lambda: _lister(settings.source),
        interval=settings.source.metadata_max_age,
        entries=TopicEntries(names.choice, pattern, names.unmatched, shared=shared),
        known=known,
        before_first=first_inspection(settings, names, guard, identity, book, work),
        on_change=on_change,
        on_failure=failures.failed,
    )
    return Mirror(streams, watch if streams else None, failures, work.background, renewal)


def _lister(source: SourceSettings) -> NativeTopicLister:
    return NativeTopicLister(source.connection, source.api_timeout, source.metadata_max_age)
