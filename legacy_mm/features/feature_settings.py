"""The outcome of the feature flags: frozen, made once by `flags.settings`, read where a flow is built.

None means off, and a feature that is off creates no object, client, thread, topic or request (invariant E). Intervals
are seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from legacy_mm.features.checkpoints.flags import CheckpointSettings
from legacy_mm.features.connect_offsets.connect_offset_settings import ConnectOffsetSettings
from legacy_mm.features.heartbeats.flags import HeartbeatSettings
from legacy_mm.features.naming.flags import NamingSettings, TopicFilterSettings
from legacy_mm.features.naming.policy_names import LEGACY
from legacy_mm.features.offset_syncs.flags import OffsetSyncSettings
from legacy_mm.features.topic_acls.flags import AclSyncSettings
from legacy_mm.features.topic_configs.flags import ConfigSyncSettings
from legacy_mm.features.topic_creation.flags import CreationSettings


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
    connect_offsets: ConnectOffsetSettings | None = None
    """The topic of MirrorMaker 2's workers from which the flow resumes; no flag has it, only MirrorMaker 2's file."""
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
