"""The duties that a flow's features ask for: the same ones for the mirror and for `legacy-mm plan`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from legacy_mm.clients.api import Admin
from legacy_mm.features.duties import Applier, Scheduled
from legacy_mm.features.feature_settings import FeatureSettings
from legacy_mm.features.heartbeats.heartbeat_copies import HeartbeatCopies
from legacy_mm.features.internal_topics import InternalTopics
from legacy_mm.features.topic_acls.acl_sync import TopicAcls
from legacy_mm.features.topic_acls.made_rules import MadeRules, state_folder
from legacy_mm.features.topic_configs.config_sync import TopicConfigs
from legacy_mm.features.topic_configs.flags import ConfigFilterSettings
from legacy_mm.features.topic_creation.creation import TopicCreation
from legacy_mm.policies.config_filter import ConfigPropertyFilter


@dataclass(frozen=True, slots=True)
class TopicNames:
    """Names of topics for the duties of a flow."""

    remote: Callable[[str], str]
    """Source topic -> its name at the target."""
    concerned: Callable[[frozenset[str]], frozenset[str]]
    """Selects those of these names in the scope of the features, whether or not there are such topics."""
    in_list: Callable[[Sequence[str]], Callable[[str], bool]]
    """Returns a function that accepts the names in this list of Java regular expressions."""
    brings_heartbeats: Callable[[str], bool] = lambda name: False
    """Returns True for a topic that is mirrored for its heartbeats, in any scope."""
    own_at_source: Mapping[str, int] = field(default_factory=dict)
    """The features' own topics at the source -> replication factor."""
    own_at_target: Mapping[str, int] = field(default_factory=dict)


def feature_duties(
    features: FeatureSettings, source: Admin, target: Admin, names: TopicNames, watch_interval: float
) -> tuple[list[Scheduled], Applier]:
    """Return the duties that are switched on, with their schedules, and the applier of their changes.

    `watch_interval` is the interval at which the legacy tool looks for topics.
    """

    def properties(settings: ConfigFilterSettings) -> ConfigPropertyFilter:
        return ConfigPropertyFilter(names.in_list(settings.exclude), source_defaults=settings.source_defaults)

    found: list[Scheduled] = []
    if names.own_at_target:
        stored = features.connect_offsets
        several = {} if stored is None else {stored.topic: stored.partitions}
        found.append(Scheduled(InternalTopics(target, names.own_at_target, several), math.inf, before_copying=True))
    made = MadeRules(state_folder()) if features.acl_sync is not None and features.acl_sync.remove else None
    creation, configs, acls = features.creation, features.config_sync, features.acl_sync
    if features.preserve_partitions:
        topics = TopicCreation(
            source,
            target,
            names.remote,
            new=None if creation is None else (creation.replication_factor, properties(creation.filter)),
            grow=features.grow_partitions,
        )
        interval = watch_interval if creation is None else features.refresh_interval or math.inf
        found.append(Scheduled(topics, interval, before_copying=True))
    if features.replicate_heartbeats and (creation is None or features.canary):
        copies = HeartbeatCopies(source, target, names.remote, names.brings_heartbeats)
        found.append(Scheduled(copies, watch_interval, before_copying=True))
    if configs is not None:
        duty = TopicConfigs(source, target, names.remote, properties(configs.filter))
        found.append(Scheduled(duty, configs.interval))
    if acls is not None:
        from legacy_mm.clients.native.access_rules import access_rules  # a second client library, for this alone

        rules = TopicAcls(
            source, target, names.remote, names.concerned, access_rules, prefixed=acls.prefixed, made=made
        )
        found.append(Scheduled(rules, acls.interval))
    return found, Applier(target, made)


def source_duties(source: Admin, names: TopicNames) -> list[Scheduled]:
    """Return the duties at the source, whose administrator may have to allow them."""
    wanted = names.own_at_source
    return [Scheduled(InternalTopics(source, wanted), math.inf, before_copying=True)] if wanted else []
