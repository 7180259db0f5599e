"""The outcome of the feature flags: frozen, made once by `feature_flags.settings`, read where a flow is built.

None means off, and what is off makes no object, no client, no thread, no topic and no request (invariant E).
Intervals are seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

LEGACY, IDENTITY, DEFAULT = "LegacyReplicationPolicy", "IdentityReplicationPolicy", "DefaultReplicationPolicy"
"""The replication policies that are built in, without their Java packages."""


@dataclass(frozen=True, slots=True)
class NamingSettings:
    """Names of topics at the target."""

    policy: str = LEGACY
    """One of the above, or a class of the user's in Python, as `module:Class`."""
    source_alias: str = ""
    target_alias: str = "target"
    separator: str = "."
    internal_separator: bool = True
    """False: the names of MirrorMaker 2's own topics keep their dots."""
    compatibility: Literal["3.9", "4"] = "3.9"
    """The release of MirrorMaker 2 whose internal topics count."""
    properties: Mapping[str, str] = field(default_factory=dict)
    """All flags as they were given, for a policy of the user's."""


@dataclass(frozen=True, slots=True)
class TopicFilterSettings:
    """MirrorMaker 2's lists beside the old pattern: a topic must pass both."""

    include: tuple[str, ...]
    """Java regular expressions; a name must match one of them as a whole."""
    exclude: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConfigFilterSettings:
    """The properties of a source topic that its copy has too (`DefaultConfigPropertyFilter`)."""

    exclude: tuple[str, ...]
    """Java regular expressions for whole names."""
    source_defaults: bool = False
    """`use.defaults.from=source`."""


@dataclass(frozen=True, slots=True)
class CreationSettings:
    """Target topics are made, and grow, as the source's are."""

    replication_factor: int
    """-1: as the target's brokers have it."""
    filter: ConfigFilterSettings


@dataclass(frozen=True, slots=True)
class ConfigSyncSettings:
    """Properties of the topics are brought over again and again."""

    interval: float
    filter: ConfigFilterSettings


@dataclass(frozen=True, slots=True)
class AclSyncSettings:
    """Access rules for topics are brought over again and again."""

    interval: float
    prefixed: bool = False
    """Also rules for prefixes of names."""
    remove: bool = False
    """Rules that we made and that the source has no more are removed."""


@dataclass(frozen=True, slots=True)
class HeartbeatSettings:
    """A record in the target's topic of heartbeats says again and again that the flow is alive."""

    interval: float
    replication_factor: int
    """-1: as the target's brokers have it."""


@dataclass(frozen=True, slots=True)
class OffsetSyncSettings:
    """Pairs of offsets, a record's at the source and its copy's at the target, are written to a topic."""

    location: Literal["source", "target"]
    """The cluster that has the topic."""
    replication_factor: int
    """-1: as that cluster's brokers have it."""
    lag_max: int
    """The most records of a partition between two pairs."""


@dataclass(frozen=True, slots=True)
class GroupFilterSettings:
    """The groups of the source that have checkpoints."""

    include: tuple[str, ...]
    """Java regular expressions; an id must match one of them as a whole."""
    exclude: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CheckpointSettings:
    """Offsets of the source's groups are translated and written to a topic of the target."""

    interval: float
    replication_factor: int
    """-1: as the target's brokers have it."""
    groups: GroupFilterSettings
    refresh_interval: float | None
    """Between two looks for groups; None: only one at the start."""
    sync_interval: float | None
    """Between two comparisons with the groups at the target, which follow; None: they do not."""


@dataclass(frozen=True, slots=True)
class FeatureSettings:
    """All features of one flow."""

    naming: NamingSettings = NamingSettings()
    topics: TopicFilterSettings | None = None
    preserve_partitions: bool = False
    grow_partitions: bool = False
    """A target topic with fewer partitions than its source grows; else that is an error."""
    creation: CreationSettings | None = None
    config_sync: ConfigSyncSettings | None = None
    acl_sync: AclSyncSettings | None = None
    refresh_interval: float | None = None
    """Between two looks of `creation` for new topics and partitions; None: only before copying."""
    detect_loops: bool = False
    """Records carry a header that says which clusters they have passed."""
    heartbeats: HeartbeatSettings | None = None
    replicate_heartbeats: bool = False
    """The source's heartbeats topics are mirrored whatever the pattern says."""
    offset_syncs: OffsetSyncSettings | None = None
    checkpoints: CheckpointSettings | None = None
    canary: str = ""
    """A Java regular expression: features concern only source topics that match; empty: all."""
    source_admin: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Java properties over those of the consumer file, for the duties' clients."""
    target_admin: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The same for the producer file."""
    remarks: tuple[str, ...] = ()
    """Lines for the start about how the flags were read."""

    @property
    def concern_both_ends(self) -> bool:
        """Something depends on which cluster is which."""
        return self.have_duties or self.offset_syncs is not None or self.naming.policy != LEGACY or self.detect_loops

    @property
    def have_duties(self) -> bool:
        """Something is done beside the copying."""
        return (
            self.preserve_partitions
            or self.config_sync is not None
            or self.acl_sync is not None
            or self.heartbeats is not None
            or self.replicate_heartbeats
        )
