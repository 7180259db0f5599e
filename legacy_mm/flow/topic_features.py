"""The duties of one flow between its two clusters: for the mirror, which runs them, and for `legacy-mm plan`.

Imported only if a feature asks for one of them (invariant E).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache, partial

from legacy_mm.base.clock import Deadline
from legacy_mm.clients.topics.shared_writers import SharedWriters
from legacy_mm.features.duties import Applier, Duties
from legacy_mm.features.feature import TopicNames
from legacy_mm.features.heartbeats.emitter import Heartbeats
from legacy_mm.features.heartbeats.feature import HEARTBEATS
from legacy_mm.features.internal_topics import InternalTopics
from legacy_mm.features.schedule import feature_duties, source_duties
from legacy_mm.features.topic_creation.creation import TopicCreation
from legacy_mm.flow.admin_clients import AdminClients
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.flow_topics import FlowTopics
from legacy_mm.metrics.registry import Registry
from legacy_mm.policies.name_list import in_list

_BEFORE_COPYING_TIMEOUT = 30.0


class DutyClusters:
    """Both clusters as the features reach them, the duties between them, and the administration that changes them."""

    def __init__(self, settings: Settings, names: FlowTopics, registry: Registry | None = None) -> None:
        """Take settings that contain what Java key stores hold, and who counts what a running flow asks.

        Java is asked when the first duty looks at the clusters.
        """
        choice = cache(names.choice)
        self.names = TopicNames(
            remote=names.remote,
            concerned=lambda found: names.scope.select(choice().select(found)),
            in_list=partial(in_list, matcher=names.compiled),
            brings_heartbeats=names.brings_heartbeats,
            own_at_source=names.own_topics("source"),
            own_at_target=names.own_topics("target"),
            dispensable=names.dispensable_topics(),
        )
        self.source, self.target = AdminClients(settings, registry).ends()
        self.scheduled, self.applier = feature_duties(
            settings.features,
            self.source,
            self.target,
            self.names,
            settings.source.metadata_max_age,
            settings.own_clients,
        )
        self.at_source = source_duties(self.source, self.names)


class FlowDuties:
    """The duties of a flow that runs."""

    def __init__(
        self,
        settings: Settings,
        names: FlowTopics,
        registry: Registry,
        writers: SharedWriters,
        may_begin: Callable[[], bool] = lambda: True,
    ) -> None:
        """Take what a flow is made of; `writers` are those of the process. Until `may_begin` nothing is made for
        heartbeats.
        """
        clusters = DutyClusters(settings, names, registry)
        self._may_begin = may_begin
        self._scope = names.scope
        self._writers = writers
        self._creation = [each.duty for each in clusters.scheduled if isinstance(each.duty, TopicCreation)]
        limit = settings.features.run_timeout
        self._at_target = Duties(clusters.scheduled, clusters.applier, registry.duty, limit)
        self._duties = [self._at_target]
        if clusters.at_source:
            self._duties.append(Duties(clusters.at_source, Applier(clusters.source), registry.duty, limit))
        self._topics: frozenset[str] = frozenset()
        emitter = settings.features[HEARTBEATS]
        interval = None if emitter is None else emitter.interval
        self._heartbeats = None if interval is None else self._make_heartbeats(settings, names, interval, registry)

    def start(self) -> None:
        """Start heartbeats and the duties in the background."""
        for duties in self._duties:
            duties.start()
        if self._heartbeats is not None:
            self._heartbeats.start()

    def make_own_topics(self) -> bool:
        """Create those of the flow's own topics at the target that are missing; return False if that failed."""
        return self._at_target.perform(InternalTopics.name, Deadline.after(_BEFORE_COPYING_TIMEOUT))

    def topics_found(self, topics: frozenset[str]) -> None:
        """Prepare for these topics before streams subscribe to them.

        Returns when that is done, has failed, or takes too long.
        """
        self._topics = frozenset(topic for topic in topics if topic in self._scope)
        self._inspect_again()

    def before_copying(self) -> frozenset[str]:
        """Let the target grow before a stream copies its partitions.

        Must not run on the membership's own thread.

        Returns the compacted topics of the source that may still have no copy.
        """
        again = threading.Thread(target=self._inspect_again, name="duties-again", daemon=True)
        again.start()
        again.join(_BEFORE_COPYING_TIMEOUT)
        return frozenset().union(*(duty.compacted for duty in self._creation))

    def stop(self) -> None:
        """Start nothing new."""
        if self._heartbeats is not None:
            self._heartbeats.stop()
        for duties in self._duties:
            duties.stop()

    def finish(self, deadline: Deadline) -> None:
        """Do nothing: no work is left."""

    def _make_heartbeats(
        self, settings: Settings, names: FlowTopics, interval: float, registry: Registry
    ) -> Heartbeats:
        naming, target = settings.features.naming, settings.target_admin_connection
        return Heartbeats(
            naming.source_alias,
            naming.target_alias,
            interval,
            lambda: self._may_begin() and self.make_own_topics(),
            partial(self._writers.open, target, names.heartbeats_topic()),
            registry.heartbeat,
        )

    def _inspect_again(self) -> None:
        for duties in self._duties:  # each has its own thread and time, because one cluster may be away
            duties.topics_found(self._topics, Deadline.after(_BEFORE_COPYING_TIMEOUT))
