"""Asks both clusters what the features of one flow would change at the target, and makes these changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from legacy_mm.assembly.earlier_copies import EarlierCopies
from legacy_mm.base.clock import Deadline
from legacy_mm.base.model import TopicPartition
from legacy_mm.cli import group_plan
from legacy_mm.cli.group_inspection import flow_groups
from legacy_mm.clients.admin.admin import NativeAdmin
from legacy_mm.clients.admin.inspector import NativeInspector
from legacy_mm.explain.target_inspection import impossible_copies
from legacy_mm.explain.time_starts import plan_notes
from legacy_mm.features.checkpoints.feature import CHECKPOINTS
from legacy_mm.features.exactly_once.feature import EXACTLY_ONCE
from legacy_mm.features.topic_creation.feature import TOPIC_CREATION
from legacy_mm.flow.cluster_identity import warning
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.flow_topics import FlowTopics
from legacy_mm.flow.key_stores import with_stores
from legacy_mm.flow.position_book import position_book
from legacy_mm.flow.refused_records import narrower_limits, quarantine_limits, quarantine_topic
from legacy_mm.flow.topic_features import DutyClusters
from legacy_mm.policies.changes import Change, ChangeOutcome, Inspection
from legacy_mm.policies.topic_naming import left_behind
from legacy_mm.runtime.jvm.gateway import Jvm
from legacy_mm.transactions.bundle_settings import flow_bundles
from legacy_mm.transactions.exactly_once_start import inspect_positions, risks, start_doubts
from legacy_mm.transactions.position_changes import PositionChanges

_REQUEST_TIMEOUT = 30.0
_CHOICE = "topics by their names"
_NO_TOPIC = "no topic of the source that may be mirrored has such a name, or the principal may not see it"
_BEGIN = "topics without a position"
_TARGET = "topics that the target cannot have"
_REFUSED = "records that the target refuses"
START = "start"
"""The part of a plan about the mirror's start."""


@dataclass(frozen=True, slots=True)
class FlowPlan:
    """The changes that were found for one flow."""

    flow: str
    inspections: dict[str, Inspection]
    """Duty -> what it would do."""
    left_behind: tuple[str, ...] = ()
    moves: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Group -> what the mirror is about to commit for it at the target; told, never applied from a plan."""


class FlowClusters:
    """The two clusters of a flow, as its features reach them."""

    def __init__(self, settings: Settings, names: FlowTopics, java: Jvm) -> None:
        """Build the clients; raises ConfigurationError for an unreadable key store."""
        self._settings = with_stores(settings, lambda: java)
        self._names = names
        self._clusters = DutyClusters(self._settings, self._names)

    def inspect(self) -> FlowPlan:
        """Return what each duty would change; raises LegacyMMError."""
        clusters = self._clusters
        present = frozenset(clusters.source.topics(_deadline()))
        topics = clusters.names.concerned(present)
        # a flow of heartbeats alone copies nothing, whatever its lists are
        copies_records = self._settings.streams > 0
        mirrored = frozenset(self._names.choice().select(present)) if copies_records else frozenset()
        self._names.inspect(mirrored)
        one_cluster = warning(self._settings, clusters.source, clusters.target, _deadline())
        inspections = {"both ends": Inspection(notes=(one_cluster,))} if one_cluster else {}
        inspections |= {each.duty.name: each.duty.inspect(topics, _deadline()) for each in clusters.scheduled}
        for each in clusters.at_source:
            made = each.duty.inspect(topics, _deadline()).changes
            notes = tuple(f"the mirror will {change.text}, at the source" for change in made)
            inspections[f"{each.duty.name} at the source"] = Inspection(notes=notes)
        if copies_records and (unmatched := self._names.unmatched(mirrored)):
            notes = tuple(f"nothing to copy for {entry}: {_NO_TOPIC}" for entry in unmatched)
            inspections[_CHOICE] = Inspection(notes=notes)
        if copies_records and (begins := self._begins(mirrored)):
            inspections[_BEGIN] = Inspection(notes=begins)
        if doubts := start_doubts(self._settings, clusters.source, clusters.target, _deadline()):
            inspections[START] = Inspection(troubles=tuple(map(str, doubts)))
        elif self._settings.features[EXACTLY_ONCE] is not None:
            topic = flow_bundles(self._settings).positions_topic
            target = NativeAdmin("target", clusters.target.connection)
            found = inspect_positions(target, topic, _deadline())
            copies = frozenset(map(self._names.at_target, mirrored))
            rows = PositionChanges(self._settings, _deadline()).rows()
            uncertain = (f"{row.partition}: {row.doubt}" for row in rows if row.doubt)
            notes = (*found.notes, *risks(target, copies, _deadline()))
            inspections["exactly once"] = replace(found, troubles=(*found.troubles, *uncertain), notes=notes)
        if troubles := self._impossible(present if copies_records else frozenset()):
            inspections[_TARGET] = Inspection(troubles=troubles)
        planned = [change for inspection in inspections.values() for change in inspection.changes]
        if refused := self._refused(mirrored, planned):
            inspections[_REFUSED] = Inspection(notes=refused)
        # heartbeats of several clusters are told apart by these names, whatever the flags are
        named = (topic for topic in topics if not clusters.names.brings_heartbeats(topic))
        names = {topic: clusters.names.remote(topic) for topic in named}
        left = left_behind(names, clusters.target.topics(_deadline()), self._settings.features.naming.separator)
        moves: Mapping[str, Sequence[str]] = {}
        if self._settings.features[CHECKPOINTS] is not None:
            groups, moves = group_plan.inspect(flow_groups(self._settings, self._names), self._names)
            inspections |= groups
        return FlowPlan(self._settings.flow, inspections, tuple(left), moves)

    def _begins(self, mirrored: frozenset[str]) -> tuple[str, ...]:
        """Return where partitions without a position would begin, and what would come twice or be skipped there."""
        copies = EarlierCopies(self._settings, self._names, position_book(self._settings))
        told = [each.text for each in copies.tell(mirrored, _deadline())]
        if not self._settings.start_times:
            return tuple(told)
        source = NativeInspector(self._settings.source.connection)
        counts = source.partitions(_deadline())
        every = [TopicPartition(topic, at) for topic in sorted(mirrored) for at in range(counts.get(topic, 0))]
        lacking = copies.lacking(every, _deadline())
        foreign = {each.topic for each in lacking.foreign}
        timed = [each for each in lacking.partitions if each.topic not in foreign]
        return (*plan_notes(self._settings, source, timed, _deadline()), *told)

    def _impossible(self, present: frozenset[str]) -> tuple[str, ...]:
        """Return copies that the target's brokers would not create; a duty tries those that we would create."""
        ours = self._settings.features[TOPIC_CREATION] is not None
        mirrored = self._names.choice().select(present)
        copies = [self._names.at_target(topic) for topic in mirrored if not (ours and topic in self._names.scope)]
        copies += filter(None, [quarantine_topic(self._settings)])
        found = impossible_copies(self._clusters.target, copies, _deadline())
        return tuple(f"topic {name}: {why}" for name, why in sorted(found.items()))

    def _refused(self, mirrored: frozenset[str], planned: Iterable[Change]) -> tuple[str, ...]:
        """Return which records the target will refuse for their own sake, and what its quarantine will."""
        settings, ends = self._settings, (self._clusters.source, self._clusters.target)
        narrower = narrower_limits(settings, self._names, mirrored, ends, planned, _deadline())
        return (*narrower, *quarantine_limits(settings, self._clusters.target, _deadline()))

    def apply(self, changes: Sequence[Change]) -> Iterator[ChangeOutcome]:
        """Make these changes; raises HostError."""
        return self._clusters.applier.apply(changes, _deadline())


def _deadline() -> Deadline:
    return Deadline.after(_REQUEST_TIMEOUT)
