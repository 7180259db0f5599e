"""Both clusters of a flow as the commands about a group's offsets reach them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import UsageError
from legacy_mm.cli.mirror_line import MirrorLine
from legacy_mm.clients.admin.admin import NativeAdmin
from legacy_mm.clients.admin.inspector import NativeInspector
from legacy_mm.clients.group.groups import GroupAdmin
from legacy_mm.clients.topics.internal_log import InternalLog
from legacy_mm.features.checkpoints.feature import CHECKPOINTS
from legacy_mm.features.checkpoints.group_translation import ClusterView, GroupTranslation, Known, Source
from legacy_mm.features.checkpoints.translation import StoredCheckpoints, StoredSyncs
from legacy_mm.features.offset_syncs.exact_offsets import StoredMaps
from legacy_mm.features.offset_syncs.feature import OFFSET_SYNCS
from legacy_mm.flow import client_checks, key_stores
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.flow_topics import FlowTopics
from legacy_mm.flow.position_book import position_book
from legacy_mm.logs import root_logger
from legacy_mm.runtime.spark.session import java_for

_CLIENT_ID = "legacy_mm-translate"
_ASK_TIMEOUT = 30.0


@dataclass(frozen=True, slots=True)
class FlowGroups:
    """The groups of one flow."""

    settings: Settings
    target_cluster: str
    """The cluster's id."""
    target: GroupAdmin
    translation: GroupTranslation


@contextmanager
def groups_of(line: MirrorLine) -> Iterator[FlowGroups]:
    """Yield the groups of the mirror with this command line, while Java runs; raises LegacyMMError."""
    root_logger.silence()
    settings = _settings(line)
    client_checks.check_clients(settings)
    with java_for(settings.process.spark.jvm) as jvm:
        names = FlowTopics(settings.topics, settings.features, jvm.topic_matcher)
        yield flow_groups(key_stores.with_stores(settings, lambda: jvm), names)


def _settings(line: MirrorLine) -> Settings:
    settings = line.only_flow()
    if settings.features[OFFSET_SYNCS] is None:
        raise UsageError("the mirror writes no offsets down: its command line needs emit.offset-syncs.enabled=true")
    return settings


def flow_groups(settings: Settings, names: FlowTopics) -> FlowGroups:
    """Return the groups of a flow with offset syncs; the settings are those with what Java key stores hold."""
    source, target = settings.source_admin_connection, settings.target_admin_connection
    syncs = settings.features[OFFSET_SYNCS]
    assert syncs is not None
    at = source if syncs.location == "source" else target
    known = Known(
        StoredSyncs(InternalLog(at, names.offset_syncs_topic(syncs.location), _CLIENT_ID)),
        StoredMaps(InternalLog(at, names.exact_offsets_topic(syncs.location), _CLIENT_ID)),
        StoredCheckpoints(
            None
            if settings.features[CHECKPOINTS] is None
            else InternalLog(target, names.checkpoints_topic(), _CLIENT_ID)
        ),
    )
    choice = names.choice()

    def copies(topics: Collection[str]) -> Mapping[str, str]:
        return {topic: names.remote(topic) for topic in names.scope.select(choice.select(topics))}

    there = GroupAdmin("target", target)
    mirrored = Source(
        GroupAdmin("source", source),
        NativeInspector(source),
        settings.source.connection,
        position_book(settings).offsets,
        settings.source.committed_only,
    )
    translation = GroupTranslation(mirrored, ClusterView(there, NativeInspector(target)), known, copies)
    cluster = NativeAdmin("target", target).cluster_id(Deadline.after(_ASK_TIMEOUT))
    return FlowGroups(settings, cluster, there, translation)
