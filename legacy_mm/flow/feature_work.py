"""The features' work beside the copying of one flow. A feature that is off loads no module and creates no client."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from legacy_mm.features.offset_syncs.feature import OFFSET_SYNCS
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.flow_topics import FlowTopics
from legacy_mm.flow.mirror import Background
from legacy_mm.metrics.registry import Registry

if TYPE_CHECKING:
    from legacy_mm.clients.topics.shared_writers import SharedWriters
    from legacy_mm.flow.connect_offset_topic import WorkersPlace
    from legacy_mm.flow.offset_features import FlowOffsets
    from legacy_mm.flow.topic_features import FlowDuties


@dataclass(frozen=True, slots=True)
class FeatureWork:
    """Work that runs beside the streams; None: it is off."""

    duties: FlowDuties | None
    offsets: FlowOffsets | None
    workers: WorkersPlace | None

    @property
    def background(self) -> Sequence[Background]:
        """All of it, in the order in which it starts."""
        return [each for each in (self.duties, self.offsets, self.workers) if each is not None]

    def topics_found(self, topics: frozenset[str]) -> None:
        """Prepare for these topics before streams subscribe to them."""
        if self.duties is not None:
            self.duties.topics_found(topics)


def feature_work(
    settings: Settings,
    names: FlowTopics,
    registry: Registry,
    writers: Callable[[], SharedWriters],
    workers: WorkersPlace | None,
) -> FeatureWork:
    """Make the work that the features of a flow ask for; `writers` returns those of the process."""
    return FeatureWork(
        _duties(settings, names, registry, writers, workers), _offsets(settings, names, registry), workers
    )


def _duties(
    settings: Settings,
    names: FlowTopics,
    registry: Registry,
    writers: Callable[[], SharedWriters],
    workers: WorkersPlace | None,
) -> FlowDuties | None:
    if not settings.features.have_duties:
        return None
    from legacy_mm.flow.topic_features import FlowDuties

    if workers is None:
        return FlowDuties(settings, names, registry, writers())
    return FlowDuties(settings, names, registry, writers(), workers.would_take_us)


def _offsets(settings: Settings, names: FlowTopics, registry: Registry) -> FlowOffsets | None:
    syncs = settings.features[OFFSET_SYNCS]
    if syncs is None:
        return None
    from legacy_mm.flow.offset_features import FlowOffsets

    return FlowOffsets(settings, names, syncs, registry)
