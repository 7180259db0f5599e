"""Moves a group to the target, step by step; offsets at the source are never touched.

`Cutover.run`: (1) require that the group has no members, at the source and at the target, and no offsets in an open
transaction, which would be old ones; (2) wait until the mirror has copied the records that the group's topics held when
the wait began, and has written their offset pairs; (3) translate finally, and look for members and transactions again;
(4) write a receipt of what is going to be committed; (5) commit, never backwards; (6) read back, and note that in the
receipt. Up to the commit nothing has changed; after it, every partition's offset at the target is printed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from legacy_mm.base.clock import Deadline, wall
from legacy_mm.base.errors import HostError, LegacyMMError
from legacy_mm.base.model import CommittedOffset, GroupOffsets, Offsets, TopicPartition
from legacy_mm.clients.group.groups import DEAD, EMPTY, GroupAdmin, raise_untold
from legacy_mm.features.checkpoints.group_translation import GroupTranslation, Position, untranslated
from legacy_mm.features.checkpoints.idle_partitions import Ends
from legacy_mm.features.cutover.cutover_receipt import CutoverReceipt, MovedPartition

_ASK_TIMEOUT = 30.0
_RETRY_BACKOFF = 0.5
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class CutoverOptions:
    """The user's choices."""

    timeout: float
    """Seconds to wait for the mirror, in total."""
    settle: float
    """Seconds of these to wait until the mirror has written the offset pairs of the last records."""
    partial: bool = False
    """Partitions whose offsets are unknown are left out; otherwise they stop everything."""
    dry_run: bool = False
    from_first: bool = False
    """The group begins at the copy's first record where its offset is unknown."""
    interval: float = 60.0
    """Seconds between two commits of the mirror."""


class Cutover:
    """The cut-over of one group."""

    def __init__(self, translation: GroupTranslation, group: str, flow: str, target_cluster: str, say: Say) -> None:
        self._translation = translation
        self._group = group
        self._flow = flow
        self._target_cluster = target_cluster
        self._say = say
        self._pause = threading.Event()

    def run(self, options: CutoverOptions, keep: Callable[[CutoverReceipt], None]) -> bool:
        """Move the group; return False if it is not ready and nothing was changed. Raises LegacyMMError."""
        ends = self._translation.ends(self._group, _deadline())
        ready = all([self._unused(), self._settled(self._translation.source.groups, ends)])
        if not ready and not options.dry_run:
            return False
        copied = self._copied(ends, options)
        if not copied and not options.dry_run:
            return False
        positions = self._translated(options)
        moved = self._moves(positions)
        self._tell(positions, moved)
        complete = self._complete(positions, partial=options.partial)
        there = self._settled(self._translation.target.groups, [each.target for each in moved])
        if options.dry_run:
            self._say("dry run: nothing was committed")
            return ready and copied and complete and there
        here = self._settled(self._translation.source.groups, ends)
        if not (complete and here and there and self._unused()):
            return False
        receipt = self._receipt(moved)
        keep(receipt)
        self._commit(moved)
        keep(replace(receipt, state="committed"))
        return True

    def _unused(self) -> bool:
        """Require a group without members: step 1."""
        unused = True
        for cluster in (self._translation.source.groups, self._translation.target.groups):
            if members := members_of(cluster, self._group):
                self._say(f"members: the group is in use at the {cluster.name}; stop {members}")
                unused = False
        if unused:
            self._say("members: none at the source, none at the target")
        return unused

    def _settled(self, cluster: GroupAdmin, partitions: Collection[TopicPartition]) -> bool:
        """Require that no offset of the group is in an open transaction."""
        open_ones = open_transactions(cluster, self._group, partitions)
        if open_ones:
            self._say(open_ones)
        return not open_ones

    def _copied(self, ends: Ends, options: CutoverOptions) -> bool:
        """Wait until the records are copied: step 2. A dry run looks once."""
        end = Deadline.after(0 if options.dry_run else options.timeout)
        said: Offsets | None = None
        while lag := self._translation.lag(ends, _deadline()):
            if lag != said:
                said = lag
                self._say(
                    f"copied: {sum(lag.values())} offsets are still missing: {_places(lag)}; copied records count "
                    f"when the mirror has committed them, every {options.interval:g} s"
                )
            if end.expired():
                when = "yet" if options.dry_run else f"within {options.timeout:g} s"
                self._say(f"not ready: not copied {when}; is the mirror running?")
                return False
            self._pause.wait(min(_RETRY_BACKOFF, end.remaining()))
        self._say(f"copied: all records of {len(ends)} partitions")
        return True

    def _translated(self, options: CutoverOptions) -> list[Position]:
        """Translate: step 3. Ask again while the mirror has not written the last pairs."""
        seconds = 0 if options.dry_run else min(options.settle, options.timeout)
        end = Deadline.after(seconds)
        waited: list[str] = []
        while True:
            positions = self._translation.positions(self._group, _deadline(), from_first=options.from_first)
            behind = [str(each.source) for each in positions if each.answer.behind]
            if end.expired() or not behind:
                return positions
            if not waited:
                waited = behind
                self._say(
                    f"translated: waiting up to {seconds:g} s until the mirror has written the offset pairs of "
                    f"{', '.join(behind)}"
                )
            self._pause.wait(min(_RETRY_BACKOFF, end.remaining()))

    def _moves(self, positions: Sequence[Position]) -> list[MovedPartition]:
        before = self._translation.target.groups.offsets_of(self._group, _deadline())
        return [
            MovedPartition(
                each.source,
                each.committed.offset,
                each.target,
                before.get(each.target),
                _forward(before.get(each.target), CommittedOffset(each.answer.offset, each.committed.metadata)),
                each.answer.how.value,
            )
            for each in positions
            if each.answer.offset is not None
        ]

    def _tell(self, positions: Sequence[Position], moved: Sequence[MovedPartition]) -> None:
        of = {each.source: each for each in moved}
        for each in positions:
            found = of.get(each.source)
            here = f"{each.source} at {each.committed.offset}"
            if found is None:
                self._say(f"translated: {here}: {each.answer.text}")
                continue
            kept = "" if found.changed else f"; it stays at {found.after.offset}: groups never go back"
            was = "" if found.before is None else f" (now {found.before.offset})"
            self._say(f"translated: {here} -> {each.target} at {each.answer.offset}{was}, {each.answer.text}{kept}")

    def _complete(self, positions: Sequence[Position], *, partial: bool) -> bool:
        missing = untranslated(positions)
        if not missing or (partial and len(missing) < len(positions)):
            return True
        self._say(f"not ready: {len(missing)} of {len(positions)} partitions cannot be translated")
        return False

    def _receipt(self, moved: Sequence[MovedPartition]) -> CutoverReceipt:
        now = datetime.fromtimestamp(wall(), UTC).isoformat(timespec="seconds")
        return CutoverReceipt(self._group, self._flow, self._target_cluster, now, "planned", tuple(moved))

    def _commit(self, moved: Sequence[MovedPartition]) -> None:
        """Commit and read back: steps 5 and 6. Raises HostError with the offsets that the target has."""
        wanted = {each.target: each.after for each in moved if each.changed}
        admin = self._translation.target.groups
        failed = _tried(lambda: admin.commit({self._group: wanted}, _deadline()).get(self._group)) if wanted else ""
        try:
            found = admin.offsets_of(self._group, _deadline())
        except LegacyMMError as error:
            outcome = failed or "no error reported"
            raise HostError(f"committed for {self._group}: {outcome}; it cannot be read back: {error}") from error
        held = {place: found[place].offset for place in wanted if place in found}
        lower = [place for place, after in wanted.items() if held.get(place, -1) < after.offset]
        if failed or lower:
            why = failed or "it does not have the committed offsets"
            raise HostError(f"committing for {self._group} failed: {why}; the target has {_places(held) or 'nothing'}")
        self._say(f"committed, and read back: {_places(held) or 'nothing, all was there already'}")


def undo(receipt: CutoverReceipt, target: GroupAdmin, cluster: str, say: Say) -> bool:
    """Give the group at the target its earlier offsets; return False if it is in use there. Raises LegacyMMError."""
    if cluster != receipt.target_cluster:
        raise HostError(f"the receipt is of cluster {receipt.target_cluster}, the target is {cluster}")
    if members := members_of(target, receipt.group):
        say(f"members: the group is in use at the target; stop {members}")
        return False
    changed = [each for each in receipt.partitions if each.changed]
    if open_ones := open_transactions(target, receipt.group, [each.target for each in changed]):
        say(open_ones)
        return False
    found = target.offsets_of(receipt.group, _deadline())
    for each in changed:
        now = found.get(each.target)
        if now != each.after:
            say(f"{each.target}: the group is at {None if now is None else now.offset}, not at {each.after.offset}")
    former = {each.target: each.before for each in changed if each.before is not None}
    new = [each.target for each in changed if each.before is None and each.target in found]
    failed = ""
    if former:
        failed = _tried(lambda: target.commit({receipt.group: former}, _deadline()).get(receipt.group))
    if new and not failed:
        failed = _tried(lambda: target.forget(receipt.group, new, _deadline()))
    _check_undone(receipt.group, former, new, target.offsets_of(receipt.group, _deadline()), failed)
    for each in changed:
        say(f"{each.target}: back at {'no offset' if each.before is None else each.before.offset}")
    say("consumers at the source continue at their offsets, which were never changed")
    return True


def _check_undone(
    group: str,
    former: Mapping[TopicPartition, CommittedOffset],
    new: Sequence[TopicPartition],
    offsets: GroupOffsets,
    failed: str,
) -> None:
    other = [place for place, before in former.items() if offsets.get(place) != before]
    other += [place for place in new if place in offsets]
    if failed or other:
        held = _places({place: offsets[place].offset for place in other if place in offsets})
        raise HostError(f"going back failed for {group}: {failed or 'other offsets are there'}; still there: {held}")


def _tried(request: Callable[[], str | None]) -> str:
    """Return the reason of a failure, or nothing: what was committed is read back anyway."""
    try:
        return request() or ""
    except LegacyMMError as error:
        return str(error)


def members_of(cluster: GroupAdmin, group: str) -> str:
    """Return the members of the group as text; empty if it has none."""
    states, untold = cluster.states([group], _deadline())
    raise_untold(untold)
    if states[group] in (EMPTY, DEAD):
        return ""
    found = cluster.members(group, _deadline())
    return ", ".join(found) or f"its members (state {states[group]})"


def open_transactions(cluster: GroupAdmin, group: str, partitions: Collection[TopicPartition]) -> str:
    """Return where offsets of the group are in an open transaction, as text; empty if they are nowhere."""
    pending = cluster.pending(group, sorted(partitions), _deadline())
    if not pending:
        return ""
    return (
        f"transactions: offsets of group {group} at the {cluster.name} are in a transaction that is still open, for "
        f"{', '.join(map(str, pending))}: until its transaction ends the group's offset there is an old one; wait for "
        "the end, or abort it (kafka-transactions.sh), and run this again"
    )


def _forward(before: CommittedOffset | None, after: CommittedOffset) -> CommittedOffset:
    return before if before is not None and before.offset >= after.offset else after


def _places(offsets: Offsets) -> str:
    return ", ".join(f"{place}={offset}" for place, offset in sorted(offsets.items()))


def _deadline() -> Deadline:
    return Deadline.after(_ASK_TIMEOUT)
