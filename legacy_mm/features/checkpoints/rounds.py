"""Checkpoints: the offsets at which each group of the source would continue at the target.

A thread looks, translates and writes. Each process of a mirror emits the checkpoints of the partitions that it copies,
so none is emitted twice. A checkpoint never goes back, as in MirrorMaker 2: the existing checkpoints are read first.
Only a checkpoint beyond the end of the target's log is void: the topic was recreated, and a consumer that began there
would miss records.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from legacy_mm.base.clock import Deadline, epoch_ms, monotonic
from legacy_mm.base.errors import HostError, LegacyMMError, one_line
from legacy_mm.base.model import GroupOffsets, OffsetPair, Offsets, TopicPartition
from legacy_mm.clients.group.groups import GroupAdmin, raise_untold
from legacy_mm.clients.topics.internal_log import InternalLog, decoded
from legacy_mm.clients.topics.internal_topic import InternalTopicWriter, OnResult
from legacy_mm.features.checkpoints import translation
from legacy_mm.features.checkpoints.idle_partitions import IdlePartitions
from legacy_mm.features.checkpoints.target_groups import GroupPlace, TargetGroups
from legacy_mm.features.checkpoints.translation import Translation
from legacy_mm.logs import events
from legacy_mm.metrics.offset_metrics import OffsetMetrics
from legacy_mm.protocol.mirror_records import Checkpoint

_NAMED = 3
"""Partitions of a group that are named in a line."""
_MOST_NAMES = 10
GroupCheckpoints = Mapping[str, Mapping[TopicPartition, Checkpoint]]
"""Group -> partition at the target -> its last checkpoint."""
Missing = Mapping[str, Sequence[TopicPartition]]
"""Group with offsets of partitions that this process copies -> those without a checkpoint, in order."""


@dataclass(frozen=True, slots=True)
class CheckpointRounds:
    """Intervals at which checkpoints are emitted, in seconds."""

    interval: float
    timeout: float
    """The limit of one round."""
    sync_groups: float | None
    """Interval of the group offset sync; None: groups at the target are not touched."""


class SourceGroups:
    """The groups of the source that have checkpoints, and what they have committed."""

    def __init__(
        self,
        admin: GroupAdmin,
        accepted: Callable[[str], bool],
        refresh: float | None,
        is_from_target: Callable[[str], bool] = lambda topic: False,
    ) -> None:
        """Take the group admin and the choice of groups.

        `accepted` returns True for a group that has checkpoints. `refresh` is the number of seconds between two
        searches for groups; None: one search only. `is_from_target` returns True for a topic that is a copy of one at
        the target.
        """
        self._is_from_target = is_from_target
        self._on_copies: set[str] = set()
        self._admin = admin
        self._accepted = accepted
        self._refresh = refresh
        self._groups: frozenset[str] | None = None
        self._left_out: frozenset[str] = frozenset()
        self._refresh_at = 0.0

    def __contains__(self, group: str) -> bool:
        """Return True if the last look found the group."""
        return self._groups is not None and group in self._groups

    def offsets(self, deadline: Deadline) -> tuple[Mapping[str, GroupOffsets], Mapping[str, str]]:
        """Return the committed offsets of each group, and group -> reason for groups that could not be read.

        Raises LegacyMMError.
        """
        if self._groups is None or (self._refresh is not None and monotonic() >= self._refresh_at):
            found = frozenset(self._admin.groups(deadline))
            self._groups = frozenset(filter(self._accepted, found))
            self._tell_left_out(found - self._groups)
            self._refresh_at = monotonic() + (self._refresh or 0.0)
        offsets, untold = self._admin.offsets(self._groups, deadline)
        self._tell_copies(offsets)
        return offsets, untold

    def _tell_copies(self, offsets: Mapping[str, GroupOffsets]) -> None:
        """Log once the name of each group with offsets in topics that have come from the target."""
        on_copies = {
            group
            for group in offsets.keys() - self._on_copies
            if any(self._is_from_target(place.topic) for place in offsets[group])
        }
        if on_copies:
            self._on_copies |= on_copies
            note = (
                "offsets in topics that are copied from the target are not brought back, so a group goes on there in "
                f"the topic itself where it stood: {_named(on_copies)}"
            )
            events.emit(events.DUTY_NOTED, duty="checkpoints", note=note)

    def _tell_left_out(self, groups: frozenset[str]) -> None:
        """Log once the name of each group that has no checkpoints, whatever it commits."""
        new, self._left_out = groups - self._left_out, self._left_out | groups
        if new:
            note = f"left out by groups and groups.exclude, or the mirror's own: {_named(new)}"
            events.emit(events.DUTY_NOTED, duty="checkpoints", note=note)


def _named(names: Iterable[str]) -> str:
    found = sorted(names)
    more = f" and {len(found) - _MOST_NAMES} more" if len(found) > _MOST_NAMES else ""
    return f"{', '.join(found[:_MOST_NAMES])}{more}"


class Emitter:
    """Writes the checkpoints that are due, and remembers the last one of each group and partition."""

    def __init__(
        self, known: InternalLog, writer: Callable[[OnResult], InternalTopicWriter], metrics: OffsetMetrics
    ) -> None:
        self._log = known
        self._writer = writer(self._result)
        self._metrics = metrics
        metrics.checkpoints_begin()
        self._under_way: dict[bytes, Checkpoint] = {}
        self._asked_at = 0.0
        self._refused = ""
        self._known: defaultdict[str, dict[TopicPartition, Checkpoint]] = defaultdict(dict)
        self._before: dict[GroupPlace, int] = {}

    def groups_seen(self, missing: Missing, untold: Mapping[str, str]) -> None:
        """Count the groups, and tell which of them lack checkpoints, or could not be read."""
        why = {group: f"no checkpoint for {_named(map(str, places))}" for group, places in missing.items() if places}
        unread = {group: f"its offsets cannot be read: {reason}" for group, reason in untold.items()}
        self._metrics.groups_seen(len({*missing, *untold}), why | unread)

    def groups_looked_at(self) -> None:
        """Note that all checkpoints are as the groups were when they were asked for."""
        self._metrics.groups_looked_at(monotonic() - self._asked_at)

    def known(self) -> GroupCheckpoints:
        """Return the last checkpoints."""
        return self._known

    def rewound(self) -> Collection[GroupPlace]:
        """Return where a group was rewound at the source and has not come back to its greatest checkpoint since."""
        return self._before.keys()

    def read(self, deadline: Deadline) -> None:
        """Read the checkpoints of other processes, and earlier ones; raises HostError."""
        for checkpoint in decoded(self._log.read(deadline), Checkpoint.decode):
            self._note(checkpoint)

    def forget_beyond(self, ends: Offsets) -> None:
        """Forget checkpoints beyond these ends of the target's logs."""
        for known in self._known.values():
            for checkpoint in [each for each in known.values() if _is_beyond(each, ends)]:
                del known[_place(checkpoint)]
                self._before.pop((checkpoint.group, _place(checkpoint)), None)

    def emit(self, checkpoints: Iterator[Checkpoint], asked_at: float, deadline: Deadline) -> int:
        """Write those checkpoints that are due; return their number.

        Raises HostError if not all could be written.

        `asked_at` is the time at which the groups' offsets were asked for.
        """
        written = []
        self._asked_at = asked_at
        self._under_way.clear()
        for checkpoint in checkpoints:
            last = self._known[checkpoint.group].get(_place(checkpoint))
            if translation.is_due(last and _pair(last), _pair(checkpoint)):
                key, value = checkpoint.encode()
                self._under_way[key] = checkpoint
                while not self._writer.send(key, value, timestamp=epoch_ms()):
                    self._settle(deadline)
                written.append(checkpoint)
        self._settle(deadline)
        for checkpoint in written:
            self._note(checkpoint)
        return len(written)

    def _settle(self, deadline: Deadline) -> None:
        taken = self._writer.flush(deadline)
        refused, self._refused = self._refused, ""
        if refused or not taken:
            raise HostError(f"the target did not accept all checkpoints: {refused or 'no answer in time'}")

    def _result(self, key: bytes, reason: str | None) -> None:
        self._refused = self._refused or reason or ""
        written = self._under_way.pop(key, None)
        if written is not None and reason is None:
            self._metrics.checkpoint(written.group, *_place(written), monotonic() - self._asked_at)

    def _note(self, checkpoint: Checkpoint) -> None:
        place = _place(checkpoint)
        last = self._known[checkpoint.group].get(place)
        if last is not None and last.upstream > checkpoint.upstream:
            self._before.setdefault((checkpoint.group, place), last.downstream)
        elif checkpoint.downstream >= self._before.get((checkpoint.group, place), checkpoint.downstream):
            self._before.pop((checkpoint.group, place), None)
        self._known[checkpoint.group][place] = checkpoint


class Checkpoints(threading.Thread):
    """Emits checkpoints, and moves groups at the target to them if that was asked for."""

    def __init__(
        self,
        rounds: CheckpointRounds,
        groups: SourceGroups,
        translation: Translation,
        emitter: Emitter,
        target_groups: TargetGroups | None,
        remote: Callable[[str], str],
        held: Callable[[], frozenset[TopicPartition]],
        target_ends: Callable[[Collection[TopicPartition], Deadline], Offsets],
        idle: IdlePartitions,
    ) -> None:
        """Take the collaborators of a round.

        `remote` gives a source topic's name at the target; `held` the partitions that this process copies.
        `target_ends` gives the ends of logs at the target, as far as they are known; it may raise HostError. `idle`
        says what a group has left in topics with partitions of which nothing is known.
        """
        super().__init__(name="checkpoints", daemon=True)
        self._rounds = rounds
        self._groups = groups
        self._translation = translation
        self._emitter = emitter
        self._target_groups = target_groups
        self._remote = remote
        self._held = held
        self._target_ends = target_ends
        self._idle = idle
        self._stopping = threading.Event()
        self._said: dict[str, str] = {}
        self._left_out: dict[str, frozenset[TopicPartition]] = {}
        self._named: set[str] = set()

    def stop(self) -> None:
        """Begin nothing more."""
        self._stopping.set()

    def run(self) -> None:
        """Run round after round; log failures, and try again in the next round."""
        sync_at = monotonic() + (self._rounds.sync_groups or 0.0)
        self._run_and_report("checkpoints", self._begin)
        while not self._stopping.wait(self._rounds.interval):
            self._run_and_report("checkpoints", self._round)
            if self._rounds.sync_groups is not None and monotonic() >= sync_at:
                sync_at = monotonic() + self._rounds.sync_groups
                self._run_and_report("group-offsets", self._follow)

    def _round(self) -> None:
        deadline = Deadline.after(self._rounds.timeout)
        self._emitter.read(deadline)
        self._translation.refresh(deadline)
        asked_at = monotonic()
        offsets, untold = self._groups.offsets(deadline)
        found, failure = self._found(offsets, deadline)
        missing = self._missing(offsets, found)
        self._name_left_out(offsets, missing)
        self._emitter.groups_seen(missing, untold)
        ends = self._ends_of(found, deadline)  # asked last, so that what was copied before is not beyond them
        self._emitter.emit((each for each in found if not _is_beyond(each, ends)), asked_at, deadline)
        raise_untold(untold)
        if failure is not None:
            raise failure
        self._emitter.groups_looked_at()

    def _begin(self) -> None:
        """Read known checkpoints before copying fills a recreated topic up to its old checkpoints."""
        deadline = Deadline.after(self._rounds.timeout)
        self._emitter.read(deadline)
        self._ends_of((), deadline)

    def _ends_of(self, checkpoints: Collection[Checkpoint], deadline: Deadline) -> Offsets:
        """Return the log ends of partitions with checkpoints, old or new; forget known checkpoints beyond them."""
        places = {place for known in self._emitter.known().values() for place in known}.union(map(_place, checkpoints))
        ends = self._target_ends(places, deadline) if places else {}
        self._emitter.forget_beyond(ends)
        return ends

    def _follow(self) -> None:
        if self._target_groups is not None:
            self._target_groups.follow(self._mine(), self._emitter.rewound(), Deadline.after(self._rounds.timeout))

    def _new_checkpoints(self, committed: Mapping[str, GroupOffsets]) -> Iterator[Checkpoint]:
        held = self._held()
        for group, offsets in committed.items():
            for partition in offsets.keys() & held:
                offset, metadata = offsets[partition]
                translated = self._translation.translate(partition, offset) if offset >= 0 else None
                if translated is not None:
                    remote = self._remote(partition.topic)
                    yield Checkpoint(group, remote, partition.partition, offset, translated, metadata)

    def _found(
        self, committed: Mapping[str, GroupOffsets], deadline: Deadline
    ) -> tuple[Sequence[Checkpoint], LegacyMMError | None]:
        """Return all checkpoints, and why those of idle partitions are missing; they hold up no others."""
        found = tuple(self._new_checkpoints(committed))
        try:
            return (*found, *self._at_the_end(committed, deadline)), None
        except LegacyMMError as error:
            return found, error

    def _at_the_end(self, committed: Mapping[str, GroupOffsets], deadline: Deadline) -> Iterator[Checkpoint]:
        """Yield checkpoints at the ends of copies of which nothing is known, for groups that have nothing left there.

        As `cutover` and `translate` say it: on condition that nobody else writes into the copy.
        """
        held = self._held()
        places = {place for offsets in committed.values() for place in offsets.keys() & held}
        there = {
            place: TopicPartition(self._remote(place.topic), place.partition)
            for place in places
            if self._translation.first_known(place) is None
        }
        if not there:
            return
        ends = self._target_ends(there.values(), deadline)  # asked first: what is copied meanwhile is behind them
        read = self._idle.read_to_the_end(committed, {place.topic for place in there}, deadline)
        for group, offsets in committed.items():
            for place in offsets.keys() & there.keys():
                end, (offset, metadata) = ends.get(there[place]), offsets[place]
                if place.topic in read[group] and end is not None and offset >= 0:
                    yield Checkpoint(group, *there[place], offset, end, metadata)

    def _missing(self, committed: Mapping[str, GroupOffsets], checkpoints: Collection[Checkpoint]) -> Missing:
        have, held = {(each.group, *_place(each)) for each in checkpoints}, self._held()
        found = {}
        for group, offsets in committed.items():
            mine = sorted(place for place in offsets.keys() & held if offsets[place].offset >= 0)
            if mine:
                found[group] = [each for each in mine if (group, self._remote(each.topic), each.partition) not in have]
        return found

    def _name_left_out(self, committed: Mapping[str, GroupOffsets], missing: Missing) -> None:
        """Log each group that has had no checkpoint for some partitions in two rounds."""
        before, self._left_out = self._left_out, {}
        for group, lacking in missing.items():
            if lacking and group not in self._named:
                self._left_out[group] = frozenset(lacking)
                if lasting := [place for place in lacking if place in before.get(group, ())]:
                    self._named.add(group)
                    places = ", ".join(f"{place} at {committed[group][place].offset}" for place in lasting[:_NAMED])
                    events.emit(events.GROUP_LEFT_OUT, group=group, count=len(lasting), places=places)

    def _mine(self) -> GroupCheckpoints:
        """Return the checkpoints of partitions that this process copies, without groups excluded or deleted since."""
        held = {TopicPartition(self._remote(topic), number) for topic, number in self._held()}
        return {
            group: {place: found[place] for place in found.keys() & held}
            for group, found in self._emitter.known().items()
            if group in self._groups
        }

    def _run_and_report(self, duty: str, run: Callable[[], None]) -> None:
        try:
            run()
            self._said.pop(duty, None)
        except Exception as error:  # noqa: BLE001 - logged; it never ends the mirror
            if not self._stopping.is_set():  # its requests end with the mirror
                self._say(duty, one_line(error))

    def _say(self, duty: str, reason: str) -> None:
        if reason != self._said.get(duty):
            self._said[duty] = reason
            events.emit(events.DUTY_FAILED, duty=duty, reason=reason)


def _place(checkpoint: Checkpoint) -> TopicPartition:
    return TopicPartition(checkpoint.topic, checkpoint.partition)


def _is_beyond(checkpoint: Checkpoint, ends: Offsets) -> bool:
    return checkpoint.downstream > ends.get(_place(checkpoint), checkpoint.downstream)


def _pair(checkpoint: Checkpoint) -> OffsetPair:
    return OffsetPair(checkpoint.upstream, checkpoint.downstream)
