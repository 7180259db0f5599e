"""What the features of one flow would change at the target: both clusters are asked, nothing is changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from legacy_mm.clock import Deadline
from legacy_mm.config.settings import AdminSettings, Settings, SourceSettings, TargetSettings
from legacy_mm.controlplane.duties import RUN_SECONDS
from legacy_mm.controlplane.feature_duties import feature_duties
from legacy_mm.features import Compile, Names, duty_names
from legacy_mm.kafka.admin import ClusterAdmin
from legacy_mm.policies.changes import Look
from legacy_mm.policies.leftovers import left_behind
from legacy_mm.spark import keystore
from legacy_mm.spark.jvm import Jvm


@dataclass(frozen=True, slots=True)
class FlowPlan:
    """What was found for one flow."""

    flow: str
    looks: dict[str, Look]
    """Duty -> what it would do."""
    left_behind: tuple[str, ...] = ()


class FlowClusters:
    """The two clusters of a flow, as its features reach them."""

    def __init__(self, settings: Settings, java: Callable[[], Jvm]) -> None:
        """Raises ConfigurationError when a key store cannot be read."""
        self.target = ClusterAdmin("target", _properties(settings.target_admin or settings.target, java))
        self._source = ClusterAdmin("source", _properties(settings.source_admin or settings.source, java))
        self._settings = settings
        compiled: Compile = lambda pattern: java().topic_matcher(pattern)  # noqa: E731
        self._names = duty_names(settings, Names(settings, compiled), compiled)

    def look(self) -> FlowPlan:
        """What each duty would change; raises LegacyMMError."""
        features = self._settings.features
        deadline = Deadline.after(RUN_SECONDS)
        topics = self._names.concerned(frozenset(self._source.topics(deadline)))
        duties = feature_duties(
            features, self._source, self.target, self._names, self._settings.source.metadata_max_age
        )
        looks = {each.duty.name: each.duty.look(topics, Deadline.after(RUN_SECONDS)) for each in duties}
        names = {topic: self._names.remote(topic) for topic in topics}
        left = left_behind(names, self.target.topics(Deadline.after(RUN_SECONDS)), features.naming.separator)
        return FlowPlan(self._settings.flow, looks, tuple(left))


def _properties(side: SourceSettings | TargetSettings | AdminSettings, java: Callable[[], Jvm]) -> dict[str, str]:
    made = {} if side.stores == type(side.stores)() else keystore.read(side.stores, java())
    return {**made, **side.properties}
