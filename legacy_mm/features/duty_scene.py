"""The scene of a flow's duties: both clusters, the names of topics, and all that is switched on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from legacy_mm.clients.api import Admin
from legacy_mm.features.feature_settings import FeatureSettings
from legacy_mm.features.topic_acls.made_rules import MadeRules
from legacy_mm.features.topic_configs.flags import ConfigFilterSettings
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


@dataclass(frozen=True, slots=True)
class DutyScene:
    """Everything that a feature makes its duty of."""

    features: FeatureSettings
    source: Admin
    target: Admin
    names: TopicNames
    watch_interval: float
    """Seconds between two looks for topics, as the legacy tool has them."""
    made: MadeRules | None = None
    """The access rules that are ours; None: none is ever removed."""

    def properties(self, settings: ConfigFilterSettings) -> ConfigPropertyFilter:
        """Return the filter of topic properties."""
        return ConfigPropertyFilter(self.names.in_list(settings.exclude), source_defaults=settings.source_defaults)
