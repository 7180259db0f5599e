"""Offsets of one flow: records where records went, translates them for groups, and moves them to the target.

Imported only if a feature asks for it (invariant E).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from legacy_mm.base.clock import Deadline
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.clients.admin.inspector import NativeInspector, ends
from legacy_mm.clients.topics.internal_log import InternalLog
from legacy_mm.clients.topics.internal_topic import InternalTopicWriter
from legacy_mm.clients.topics.topic_reader import has_records
from legacy_mm.features.checkpoints.feature import CHECKPOINTS
from legacy_mm.features.checkpoints.flags import CheckpointSettings
from legacy_mm.features.checkpoints.idle_partitions import IdlePartitions
from legacy_mm.features.checkpoints.rounds import CheckpointRounds, Checkpoints, Emitter, SourceGroups
from legacy_mm.features.checkpoints.target_groups import TargetGroups
from legacy_mm.features.checkpoints.translation import StoredSyncs, Translation
from legacy_mm.features.connect_offsets.feature import CONNECT_OFFSETS
from legacy_mm.features.offset_syncs.exact_offsets import ExactOffsets, StoredMaps
from legacy_mm.features.offset_syncs.flags import OffsetSyncSettings
from legacy_mm.features.offset_syncs.writer import OffsetSyncs
from legacy_mm.flow.admin_clients import AdminClients
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.flow_topics import FlowTopics
from legacy_mm.flow.position_book import position_book
from legacy_mm.logs import events
from legacy_mm.metrics.offset_metrics import OffsetMetrics
from legacy_mm.metrics.registry import Registry
from legacy_mm.policies.name_list import in_list

_CLIENT_ID = "legacy_mm-offsets"
_GROUP_OF_FLOW = re.compile("mm2-.+->.+")
_NO_GROUP = re.compile("(?!)")


class FlowOffsets:
    """The offset syncs, checkpoints and group offsets of one running flow."""

    def __init__(self, settings: Settings, names: FlowTopics, syncs: OffsetSyncSettings, registry: Registry) -> None:
        """Take settings that contain what Java key stores hold."""
        source, target = settings.source_admin_connection, settings.target_admin_connection
        at = source if syncs.location == "source" else target
        topic, exact_topic = names.offset_syncs_topic(syncs.location), names.exact_offsets_topic(syncs.location)
        self._exact = ExactOffsets(
            StoredMaps(InternalLog(at, exact_topic, _CLIENT_ID)),
            InternalTopicWriter(at, exact_topic, _Outcomes(exact_topic)),
        )
        self._metrics = OffsetMetrics(registry)
        self._admins = AdminClients(settings, registry)
        writer = InternalTopicWriter(at, topic, partial(_count, self._metrics, _Outcomes(topic)))
        self.pairs = OffsetSyncs(writer, syncs.lag_max, settings.commit_interval, self._exact)
        translation = Translation(StoredSyncs(InternalLog(at, topic, _CLIENT_ID)), self._exact.nearest)
        checkpoints = settings.features[CHECKPOINTS]
        self._checkpoints = (
            None
            if checkpoints is None
            else self._make_checkpoints(checkpoints, settings, names, source, target, translation)
        )

    def start(self) -> None:
        """Start pairs and checkpoints; returns at once."""
        self.pairs.start()
        if self._checkpoints is not None:
            self._checkpoints.start()

    def stop(self) -> None:
        """Emit no more checkpoints; pairs are accepted until `finish`."""
        if self._checkpoints is not None:
            self._checkpoints.stop()

    def finish(self, deadline: Deadline) -> None:
        """Write down the last pairs, after the streams have ended."""
        self.pairs.finish(deadline)

    def _make_checkpoints(
        self,
        checkpoints: CheckpointSettings,
        settings: Settings,
        names: FlowTopics,
        source: ConnectionSettings,
        target: ConnectionSettings,
        translation: Translation,
    ) -> Checkpoints:
        topic = names.checkpoints_topic()
        return Checkpoints(
            CheckpointRounds(checkpoints.interval, settings.features.run_timeout, checkpoints.sync_interval),
            SourceGroups(
                self._admins.groups_at_source(),
                accepted_groups(checkpoints, settings, names),
                checkpoints.refresh_interval,
                names.is_from_target,
            ),
            translation,
            Emitter(InternalLog(target, topic, _CLIENT_ID), partial(InternalTopicWriter, target, topic), self._metrics),
            None if checkpoints.sync_interval is None else TargetGroups(self._admins.groups_at_target(), self._metrics),
            names.remote,
            self.pairs.assigned,
            partial(ends, target),
            IdlePartitions(
                NativeInspector(source),
                position_book(settings).offsets,
                translation.first_known,
                lambda place, begin, end: has_records(
                    settings.source.connection, *place, begin, end, committed=settings.source.committed_only
                ),
            ),
        )


def accepted_groups(checkpoints: CheckpointSettings, settings: Settings, names: FlowTopics) -> Callable[[str], bool]:
    """Return a function that accepts the groups with checkpoints.

    The mirror's own group is left out, and so are those of all flows of MirrorMaker 2's file.
    """
    include = in_list(checkpoints.groups.include, names.compiled)
    exclude = in_list(checkpoints.groups.exclude, names.compiled)
    own = settings.source.group_id
    flows = _GROUP_OF_FLOW if settings.features[CONNECT_OFFSETS] is not None else _NO_GROUP
    return lambda group: group != own and not flows.fullmatch(group) and include(group) and not exclude(group)


class _Outcomes:
    """Outcomes of the records for a topic. A refusal is logged once, until the topic has taken a record again."""

    def __init__(self, topic: str) -> None:
        self._topic = topic
        self._failing = False

    def __call__(self, _: bytes, reason: str | None) -> None:
        if reason is not None and not self._failing:
            lost = f"topic {self._topic}: {reason}; records that it refuses are not written again"
            events.emit(events.OFFSETS_LOST, reason=lost)
        self._failing = reason is not None


def _count(metrics: OffsetMetrics, outcomes: _Outcomes, key: bytes, reason: str | None) -> None:
    metrics.sync_settled(failed=reason is not None)
    outcomes(key, reason)
