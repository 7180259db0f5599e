"""A feature as the rest of the program sees it: its line in `rows.py`, the key of its settings, and its duty.

Each folder makes its `Feature` in its own `feature.py`, which loads flags and settings only. `FeatureSettings` is the
outcome of all flags: frozen, made once by `flags.settings`, read where a flow is built. A feature without settings is
off, and creates no object, client, thread, topic or request (invariant E). Intervals are seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from legacy_mm.clients.admin.cluster_admin import Admin
from legacy_mm.features.duty import Scheduled
from legacy_mm.features.flag import Flag
from legacy_mm.features.flag_values import FlagValues
from legacy_mm.features.naming.flags import NamingSettings, TopicFilterSettings
from legacy_mm.features.naming.policy_names import LEGACY

S = TypeVar("S")


@dataclass(frozen=True, slots=True, eq=False)
class Feature(Generic[S]):
    """A feature whose settings are an `S`: the key to find them by, and what the rest must know of it."""

    name: str
    """The name of its folder."""
    flags: tuple[Flag, ...]
    read: Callable[[FlagValues], S | None]
    """Returns the settings, or None if it is off; raises ConfigurationError."""
    imply: Callable[[FlagValues], None] = lambda values: None
    """Sets flags that follow from those that were given, before their needs are checked."""
    expressions: Callable[[S], Mapping[str, Sequence[str]]] = lambda settings: {}
    """Returns flag -> its Java expressions, which are tried before anything starts."""
    duty: Callable[[DutyScene], Scheduled | None] | None = None
    """Makes its duty, or returns None if that is off. It imports the module of the duty when it is on."""
    concerns_both_ends: bool = True
    """It depends on which cluster is the source, so it must not run where both are one."""

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class FeatureSettings:
    """All features of one flow: `features[TOPIC_ACLS]` are the settings of that one; None: it is off."""

    switched_on: Mapping[Feature[Any], Any] = field(default_factory=dict)
    """The settings of each feature that is on; `features[...]` knows their types."""
    naming: NamingSettings = NamingSettings()
    topics: TopicFilterSettings | None = None
    preserve_partitions: bool = False
    detect_loops: bool = False
    """Records carry a header that says which clusters they have passed."""
    canary: str = ""
    """A Java regular expression: features concern only source topics that match; empty: all."""
    run_timeout: float = 60.0
    """Seconds that a run of a duty or a round of checkpoints may take."""
    source_admin: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Java properties over those of the consumer file, for the duties' clients."""
    target_admin: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The same for the producer file."""
    remarks: tuple[str, ...] = ()
    """Lines for the start about how the flags were read."""

    def __getitem__(self, feature: Feature[S]) -> S | None:
        """Return the settings of a feature; None: it is off."""
        settings: S | None = self.switched_on.get(feature)
        return settings

    def having(self, feature: Feature[S], settings: S | None) -> FeatureSettings:
        """Return a copy in which a feature has these settings; None: it is off."""
        others = {each: its for each, its in self.switched_on.items() if each is not feature}
        return replace(self, switched_on=others if settings is None else {**others, feature: settings})

    @property
    def concern_both_ends(self) -> bool:
        """Something depends on which cluster is which."""
        both_ends = any(feature.concerns_both_ends for feature in self.switched_on)
        return self.have_duties or both_ends or self.naming.policy != LEGACY or self.detect_loops

    @property
    def have_duties(self) -> bool:
        """Something is done beside the copying."""
        return self.preserve_partitions or any(feature.duty is not None for feature in self.switched_on)

    def expressions(self) -> dict[str, Sequence[str]]:
        """Return flag -> its Java expressions, of all features that are on."""
        found: dict[str, Sequence[str]] = {"feature.topics": [self.canary] if self.canary else []}
        if self.topics is not None:
            found |= {"topics": self.topics.include, "topics.exclude": self.topics.exclude}
        for feature, settings in self.switched_on.items():
            found |= feature.expressions(settings)
        return found


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
    dispensable: frozenset[str] = frozenset()
    """The features' own topics without which everything else works."""


@dataclass(frozen=True, slots=True)
class DutyScene:
    """Everything that a feature makes its duty of: both clusters, the names of topics, and what is switched on."""

    features: FeatureSettings
    source: Admin
    target: Admin
    names: TopicNames
    watch_interval: float
    """Seconds between two looks for topics, as the legacy tool has them."""
    own_clients: frozenset[tuple[str, str]] = frozenset()
    """The clients that copy, as quotas name them: pairs such as `user` and its name, `client-id` and the id."""
