"""Which topics of the source would be mirrored, and from where: asked by `explain`, nothing is changed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from legacy_mm import source_clients, stores
from legacy_mm.cli.target_look import impossible_copies
from legacy_mm.clock import Deadline
from legacy_mm.cluster_identity import both_ends, warning
from legacy_mm.config.settings import Settings, SourceSettings
from legacy_mm.errors import HostError, InvalidPattern
from legacy_mm.flow_names import Names
from legacy_mm.group import PartitionView
from legacy_mm.model import TopicPartition
from legacy_mm.spark.jvm import Jvm
from legacy_mm.spark.session import java_when_asked

_ASK_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class PartitionStart:
    """Where the copying of one partition would begin."""

    topic: str
    partition: int
    start: int | None
    because: str


@dataclass(frozen=True, slots=True)
class Impossible:
    """A topic that the target lacks, and that its brokers would not make."""

    topic: str
    because: str


@dataclass(frozen=True, slots=True)
class Topics:
    """What the source says about the topic pattern."""

    answered: bool = False
    why_not: str = ""
    partitions: tuple[PartitionStart, ...] = ()
    impossible: tuple[Impossible, ...] = ()
    """What cannot be copied, because the target cannot have it."""
    target_unknown: str = ""
    """Why that is not known."""
    attention: str = ""
    """What both ends together say: they are one cluster."""


def look(flows: Sequence[Settings]) -> Topics:
    """Ask the sources; raises HostError when one does not answer, InvalidPattern when Java refuses the pattern."""
    with java_when_asked(flows[0].spark.jvm.java_home) as java:
        starts = [start for settings in flows for start in _starts(settings, java, whose=len(flows) > 1)]
        topics = Topics(answered=True, partitions=tuple(starts))
        try:
            found = _impossible(flows[0], {start.topic for start in starts}, java)
        except HostError as error:
            return replace(topics, target_unknown=str(error))
    impossible = tuple(Impossible(*row) for row in sorted(found.items()))
    attention = next(filter(None, (_attention(settings, java) for settings in flows)), "")
    return replace(topics, impossible=impossible, attention=attention)


def _impossible(settings: Settings, topics: Collection[str], java: Callable[[], Jvm]) -> Mapping[str, str]:
    """All flows have one target; one that does not answer is no reason to say nothing of the sources."""
    if not topics:
        return {}
    names = Names(settings.topics, settings.features, lambda pattern: java().topic_matcher(pattern))
    target = source_clients.admin("target", stores.with_stores(settings, java).target_admin_properties)
    return impossible_copies(target, map(names.at_target, topics), Deadline.after(_ASK_SECONDS))


def _attention(settings: Settings, java: Callable[[], Jvm]) -> str:
    """Raises ConfigurationError where features must not run; a target that does not answer says nothing here."""
    try:
        ends = both_ends(stores.with_stores(settings, java))
        return warning(settings, *ends, Deadline.after(_ASK_SECONDS))
    except HostError:
        return ""


def _starts(settings: Settings, java: Callable[[], Jvm], *, whose: bool) -> list[PartitionStart]:
    source = stores.with_store(settings.source, java)
    survey = source_clients.survey(source.properties)
    counts = survey.partitions(Deadline.after(_ASK_SECONDS))
    names = _matching(settings, counts, java)
    partitions = [TopicPartition(name, number) for name in sorted(names) for number in range(counts[name])]
    if not partitions:
        return []
    views = survey.views(source.group_id, partitions, Deadline.after(_ASK_SECONDS))
    first = all(view.committed is None for view in views.values())
    starts = [_start(each, views[each], source, first=first) for each in partitions]
    return [replace(start, because=f"{source.name}: {start.because}") for start in starts] if whose else starts


def _matching(settings: Settings, counts: Mapping[str, int], java: Callable[[], Jvm]) -> Collection[str]:
    """The names that are mirrored; Java's own regular expressions decide."""
    names = Names(settings.topics, settings.features, lambda pattern: java().topic_matcher(pattern))
    if all(map(names.is_barred, counts)):
        return ()
    try:
        return names.choice().of(counts)
    except InvalidPattern as error:
        raise InvalidPattern(f"Invalid expression syntax: {settings.topics.pattern_text}") from error


def _start(partition: TopicPartition, view: PartitionView, source: SourceSettings, *, first: bool) -> PartitionStart:
    """`first`: the group has no offset for any topic that is mirrored."""
    reset = source.offset_reset
    if view.committed is not None and view.low <= view.committed <= view.high:
        lag = view.high - view.committed
        return PartitionStart(*partition, view.committed, f"committed by the group, {lag} records behind the end")
    missing = "the group has no offset"
    if view.committed is not None:
        missing = f"the group's offset {view.committed} is not in the log ({view.low} to {view.high})"
    elif source.new_from_earliest and not first:
        return PartitionStart(*partition, view.low, f"{missing}; new.topics.from=earliest")
    if reset == "none":
        return PartitionStart(*partition, None, f"{missing} and auto.offset.reset=none: the mirror would end with 255")
    start = view.low if reset == "earliest" else view.high
    return PartitionStart(*partition, start, f"{missing}; auto.offset.reset={reset}")
