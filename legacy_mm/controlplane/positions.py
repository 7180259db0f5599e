"""Start offsets of a copy job, and offsets to continue from after a gap."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from legacy_mm.base.clock import iso_time
from legacy_mm.base.errors import SourceGap, Undecided
from legacy_mm.base.model import (
    EARLIEST,
    LATEST,
    UNDEFINED,
    GroupOffsets,
    Offsets,
    TopicPartition,
    at_time,
    describe_partitions,
    is_logical,
    time_of,
)
from legacy_mm.base.reports import Gap, Started
from legacy_mm.base.settings import OffsetReset
from legacy_mm.clients.group.member import Member
from legacy_mm.controlplane.commits import Commits
from legacy_mm.controlplane.delivery_guarantee import DeliveryGuarantee
from legacy_mm.logs import events

SetPosition = Callable[[TopicPartition, str], str]
"""Returns how a person sets where a partition goes on; the place is in words of kafka-consumer-groups.sh."""


StartTime = Callable[[str], int | None]
"""Returns the time (ms since 1970) at which a topic begins; None: it has none."""
Propose = Callable[[Member, Collection[TopicPartition]], dict[TopicPartition, int]]
"""Returns a start offset, a logical one, or UNDEFINED, for each partition. Raises TimeoutError, StreamFailure."""


class CommittedPositions:
    """The offsets that members of the flow have committed, otherwise the topic's start time, or `auto.offset.reset`, as
    in the legacy tool.
    """

    def __init__(
        self,
        set_position: SetPosition,
        offset_reset: OffsetReset,
        timeout: float,
        *,
        exactly_once: bool = False,
        inspect: Callable[[GroupOffsets], None] = lambda found: None,
        start_time: StartTime = lambda topic: None,
    ) -> None:
        """Take the policy. `exactly_once`: the target's position counts, which only a claim knows. `inspect` is called
        with each answer.
        """
        self._start_time = start_time
        self._inspect = inspect
        self._offset_reset = offset_reset
        self._timeout = timeout
        self._set_position = set_position
        self._exactly_once = exactly_once

    def propose(self, member: Member, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Return start offsets; it is a `Propose`."""
        if not partitions:
            return {}
        found = member.committed(partitions, self._timeout)
        self._inspect(found)
        committed = {partition: each.offset for partition, each in found.items()}
        missing = [partition for partition in partitions if partition not in committed]
        times = {each: time for each in missing if (time := self._start_time(each.topic)) is not None}
        committed |= {partition: at_time(time) for partition, time in times.items()}
        missing = [partition for partition in missing if partition not in times]
        if missing and self._offset_reset == "none":
            if self._exactly_once:
                return committed | dict.fromkeys(missing, UNDEFINED)
            raise Undecided(
                f"Undefined offset with no reset policy for partitions: {describe_partitions(missing)}; "
                f"{self._set_position(min(missing), '--to-earliest')}, or set auto.offset.reset"
            )
        logical = EARLIEST if self._offset_reset == "earliest" else LATEST
        return committed | dict.fromkeys(missing, logical)


class GapGuard:
    """Decides about offsets that the source cannot give any more: logged, counted, skipped or fatal (invariant F).

    Records that `latest` skips where the group has no offset are logged and counted, too; that is never fatal.
    """

    def __init__(
        self,
        offset_reset: OffsetReset,
        count: Callable[[int], None],
        count_skipped: Callable[[int], None],
        *,
        fail: bool,
        set_position: SetPosition,
        new_from_earliest: bool = False,
        exactly_once: bool = False,
    ) -> None:
        """Take the user's policies.

        `new_from_earliest`: a recreated topic is read from its start, whatever `latest` says. `exactly_once`: positions
        are at the target, and it has a flag of its own for gaps.
        """
        self._set_position = of_exactly_once if exactly_once else set_position
        self._offset_reset: OffsetReset = offset_reset
        self._new_from_earliest = new_from_earliest
        self._count = count
        self._count_skipped = count_skipped
        self._fail = fail
        self._exactly_once = exactly_once
        self._begun: dict[TopicPartition, int] = {}
        self._recreated: dict[str, set[TopicPartition]] = {}
        """Each recreated topic, and its partitions that have a position in the new log."""

    def begun(self, partition: TopicPartition, low: int, start: int, time: int | None = None) -> None:
        """Note that a partition without a committed offset begins at `start`; the log's first offset is `low`.

        If the partition was begun before, and nothing committed since, only what came after that is skipped. At a
        `time` the user has chosen what is skipped, so it is only said.
        """
        self._recreated.get(partition.topic, set()).add(partition)
        if time is not None:
            at = iso_time(time)
            events.emit(events.BEGUN_AT_TIME, partition=partition, start=start, time=at, count=start - low)
            return
        before = self._begun.get(partition, low)
        self._begun[partition] = start
        skipped_from = before if low <= before <= start else low
        if start > skipped_from:
            self._count_skipped(start - skipped_from)
            events.emit(events.SKIPPED, partition=partition, start=skipped_from, end=start, count=start - skipped_from)

    def after(self, gaps: Iterable[Gap]) -> dict[TopicPartition, int]:
        """Return the offsets to continue from, by the user's policy; raises Undecided if a person must decide."""
        answers = {gap.topic_partition: self._answer(self._explained(gap)) for gap in gaps}
        if answers and (self._fail or self._offset_reset == "none"):
            place, offset = next(iter(answers.items()))
            none = ("auto.offset.reset=none", "without it")
            kind, (policy, otherwise) = (SourceGap, self._policy()) if self._fail else (Undecided, none)
            raise kind(
                f"{describe_partitions(answers)} cannot be read on, and {policy} leaves the decision to you: the "
                f"lines above say what happened; {self._set_position(place, f'--to-offset {offset}')}, or start once "
                f"{otherwise}"
            )
        return answers

    def _explained(self, gap: Gap) -> Gap:
        """Return the gap, marked if its offset is one of a topic that was deleted since.

        Who begins to read at a committed offset cannot know that it was committed for a topic of another id.
        """
        begun = self._recreated.get(gap.topic)
        if begun is None or gap.topic_partition in begun:
            return gap
        begun.add(gap.topic_partition)
        is_old = gap.wanted > gap.high and gap.parts_at < 0
        return replace(gap, recreated=True) if is_old else gap

    def _answer(self, gap: Gap) -> int:
        """Return the offset to continue from, or the first available one; log and count the gap."""
        policy = "none" if self._fail else self._offset_reset
        if gap.recreated and self._new_from_earliest:
            policy = "earliest"
        resumed = gap.high if policy == "latest" else gap.low
        if gap.parts_at >= 0:
            resumed = gap.parts_at  # as in Java's consumer, whichever of the two the policy names
        missed = _missed(gap, resumed)
        self._count(missed.removed + missed.skipped)
        events.emit(
            events.GAP,
            partition=gap.topic_partition,
            start=gap.wanted,
            end=resumed,
            count=missed.removed + missed.skipped,
            reason=missed.reason,
            low=gap.low,
            high=gap.high,
            detail=gap.reason,
        )
        return resumed

    def recreated(self, topic: str, before: str, now: str) -> None:
        """Note that a topic was deleted and recreated while the mirror ran; raises SourceGap if that is fatal."""
        self._count(0)
        self._recreated[topic] = set()
        events.emit(events.TOPIC_RECREATED, topic=topic, before=before, now=now)
        if self._fail:
            policy, otherwise = self._policy()
            raise SourceGap(
                f"topic {topic} was deleted and recreated, and {policy} leaves the decision to you: "
                f"{self._set_position(TopicPartition(topic, 0), '--to-earliest')}, or start once {otherwise}"
            )

    def _policy(self) -> tuple[str, str]:
        """Return the option that makes a gap the end, and how to start in spite of it."""
        if self._exactly_once:
            return "--exactly.once.on.gap stop", "with --exactly.once.on.gap go-on"
        return "--on.gap fail", "without it"


class StartOffsets:
    """The offsets at which the copy jobs of one stream begin and go on. For the stream's thread."""

    def __init__(self, propose: Propose, guard: GapGuard, commits: Commits, *, commit_chosen: bool) -> None:
        """Take who knows offsets; `commit_chosen`: a start that the reset policy has chosen is committed at once, as
        one at a time always is.
        """
        self._propose = propose
        self._guard = guard
        self._commits = commits
        self._commit_chosen = commit_chosen
        self._known: dict[TopicPartition, int] = {}
        self._reset: Offsets = {}
        """The logical offsets of the partitions that have not begun yet."""

    def propose(self, member: Member, owned: Collection[TopicPartition]) -> Offsets:
        """Return the start offsets of the next copy job; raises TimeoutError, StreamFailure."""
        known = {partition: self._resume_at(partition) for partition in owned}
        missing = [partition for partition, offset in known.items() if offset is None]
        proposed = self._propose(member, missing)
        offsets = {partition: offset for partition, offset in known.items() if offset is not None} | proposed
        self._reset = {partition: offset for partition, offset in offsets.items() if is_logical(offset)}
        return offsets

    def started(self, started: Started, member: Member, owned: Collection[TopicPartition]) -> None:
        """Note where the job began, and log what partitions without a committed offset skip."""
        self._known |= started.offsets
        begun = {p: started.offsets[p] for p in started.lows if p in self._reset and p in owned}
        for partition, offset in sorted(begun.items()):
            events.emit(events.OFFSET_RESET, client=member.name, partition=partition, offset=offset)
            self._guard.begun(partition, started.lows[partition], offset, time_of(self._reset[partition]))
        chosen = {p: offset for p, offset in begun.items() if self._commit_chosen or time_of(self._reset[p])}
        self._reset = {p: offset for p, offset in self._reset.items() if p not in started.offsets}
        if chosen:
            self._commits.chosen(chosen)

    def answer(self, gaps: Sequence[Gap], guarantee: DeliveryGuarantee) -> Offsets:
        """Return the offsets to go on from; raises SourceGap or Undecided if a person must decide."""
        answers = self._guard.after(gaps)
        self._known |= guarantee.gap_answered(self._commits, answers)
        return answers

    def forget(self, partitions: Collection[TopicPartition]) -> None:
        """Forget partitions that the stream does not own any more."""
        for partition in partitions:
            self._known.pop(partition, None)

    def _resume_at(self, partition: TopicPartition) -> int | None:
        safe = self._commits.position(partition)
        return safe if safe is not None else self._known.get(partition)


class _Missed(NamedTuple):
    """Offsets that are lost for good, offsets that exist and are skipped, and what happened."""

    removed: int
    skipped: int
    reason: str


def _missed(gap: Gap, resumed: int) -> _Missed:
    if gap.parts_at >= 0:
        return _Missed(0, 0, f"the log was truncated at {gap.parts_at} and continues with other records")
    there = resumed - gap.low
    skipped = f", {there} are there and were skipped by auto.offset.reset=latest" if there else ""
    if gap.recreated:
        return _Missed(gap.low, there, f"the topic was deleted and recreated{skipped}")
    if gap.wanted < gap.low:
        removed = gap.low - gap.wanted
        return _Missed(removed, there, f"{removed} were removed by retention or a deletion of records{skipped}")
    # it is unknown if existing offsets below those that were read were copied before the log was truncated
    what = f"the log is not the one that was read: it was truncated, or the topic was deleted and recreated{skipped}"
    return _Missed(0, max(0, resumed - gap.wanted), what)


def of_group(group: str) -> SetPosition:
    """Return how a person sets the offset of a consumer group at the source."""

    def text(place: TopicPartition, where: str) -> str:
        return (
            "while no mirror runs, set the group's offset, for example with kafka-consumer-groups.sh "
            f"--bootstrap-server SOURCE --group {group} --topic {place.topic}:{place.partition} --reset-offsets "
            f"{where} --execute"
        )

    return text


def of_exactly_once(place: TopicPartition, where: str) -> str:
    """Return how a person sets a position of exactly once."""
    offset = where.removeprefix("--to-offset ").replace("--to-earliest", "0")
    return (
        "while no mirror runs, set the position, for example with legacy-mm exactly-once move --to "
        f"{place.topic}:{place.partition}:{offset} -- COMMAND LINE"
    )
