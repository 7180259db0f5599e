"""What the features of one flow would change at the target, asked of both clusters, and the doing of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from legacy_mm.clock import Deadline
from legacy_mm.cluster_identity import warning
from legacy_mm.config.settings import Settings
from legacy_mm.flow_duties import DutyClusters
from legacy_mm.flow_names import Names
from legacy_mm.policies.changes import Change, Look, Outcome
from legacy_mm.policies.leftovers import left_behind
from legacy_mm.spark.jvm import Jvm
from legacy_mm.stores import with_stores

_PATIENCE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class FlowPlan:
    """What was found for one flow."""

    flow: str
    looks: dict[str, Look]
    """Duty -> what it would do."""
    left_behind: tuple[str, ...] = ()


class FlowClusters:
    """The two clusters of a flow, as its features reach them."""

    def __init__(self, settings: Settings, java: Jvm) -> None:
        """Raises ConfigurationError for names that cannot be made, or a key store that cannot be read."""
        self._settings = settings
        names = Names(settings.topics, settings.features, java.topic_matcher)
        self._clusters = DutyClusters(with_stores(settings, lambda: java), names)

    def look(self) -> FlowPlan:
        """What each duty would change; raises LegacyMMError."""
        clusters = self._clusters
        one_cluster = warning(self._settings, clusters.source, clusters.target, _patience())
        topics = clusters.names.concerned(frozenset(clusters.source.topics(_patience())))
        looks = {"both ends": Look(notes=(one_cluster,))} if one_cluster else {}
        looks |= {each.duty.name: each.duty.look(topics, _patience()) for each in clusters.scheduled}
        for each in clusters.at_source:
            made = each.duty.look(topics, _patience()).changes
            notes = tuple(f"the mirror will {change.text}, at the source" for change in made)
            looks[f"{each.duty.name} at the source"] = Look(notes=notes)
        # heartbeats of several clusters are told apart by these names, whatever the flags are
        named = (topic for topic in topics if not clusters.names.brings_heartbeats(topic))
        names = {topic: clusters.names.remote(topic) for topic in named}
        left = left_behind(names, clusters.target.topics(_patience()), self._settings.features.naming.separator)
        return FlowPlan(self._settings.flow, looks, tuple(left))

    def apply(self, changes: Sequence[Change]) -> Iterator[Outcome]:
        """Make these changes; raises HostError."""
        return self._clusters.applier.apply(changes, _patience())


def _patience() -> Deadline:
    return Deadline.after(_PATIENCE_SECONDS)
