"""The group's part in exactly once: offsets with their metadata, and the proof that a generation holds a bundle.

A zombie is in no generation, so its heartbeats fail, and it cannot take a bundle from its new owner. The bundles of a
copy job are those of the partitions that the generation gave to the stream; so only the heartbeat is left to prove.

An adopted offset gets the mark of exactly once before the first record is copied. So an offset without it is from then
on somebody else's, also the one that was adopted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping
from typing import cast

from legacy_mm.base.clock import monotonic
from legacy_mm.base.model import CommittedOffset, GroupOffsets, Offsets, TopicPartition
from legacy_mm.base.settings import MarkedOffset
from legacy_mm.clients.group.member import GenerationMember, Member
from legacy_mm.controlplane.commits import Commits
from legacy_mm.controlplane.copy_job import CopyJob
from legacy_mm.controlplane.delivery_guarantee import DeliveryGuarantee
from legacy_mm.controlplane.positions import Propose
from legacy_mm.logs import events
from legacy_mm.transactions.evidence import mark, marked_by
from legacy_mm.transactions.offset_book import OffsetBook


class Ownership(DeliveryGuarantee):
    """The bundles that copy jobs of one stream ask for, on the stream's thread."""

    leaves_unanswered = True  # whoever claims a bundle ends its transaction and fences its task

    def __init__(self) -> None:
        self._waiting: deque[tuple[float, list[int]]] = deque()
        self._unmarked: set[TopicPartition] = set()

    def poll(self, job: CopyJob, member: Member, commits: Commits) -> None:
        """Answer the job what heartbeats have proved since it asked, and commit what it waits for."""
        bundle_member = cast(GenerationMember, member)
        if asked := job.reports.take_asked():
            self._waiting.append((monotonic(), asked))
            bundle_member.ask_heartbeat()
        while self._waiting and bundle_member.confirmed_after(self._waiting[0][0]):
            job.confirm(self._waiting.popleft()[1])
        if unmarked := job.reports.take_unmarked():
            self._unmarked |= unmarked.keys()
            offsets = {each: max(offset, commits.position(each) or 0) for each, offset in unmarked.items()}
            commits.chosen(offsets)
            pending = commits.pending()
            self.committed(job, {each: offset for each, offset in offsets.items() if each not in pending})

    def committed(self, job: CopyJob, offsets: Offsets) -> None:
        """Tell the job which of the offsets that it waits for the group has."""
        if marked := {each: offset for each, offset in offsets.items() if each in self._unmarked}:
            self._unmarked -= marked.keys()
            job.marked(marked)

    def job_is_over(self) -> None:
        """Forget the questions of a job that is over."""
        self._waiting.clear()
        self._unmarked.clear()

    def gap_answered(self, commits: Commits, answers: Offsets) -> Offsets:
        """Note that partitions go on at these offsets: the jump is committed at the target first."""
        commits.restart({each: offset for each, offset in answers.items() if offset < (commits.position(each) or 0)})
        return {}


class BundleOffsets:
    """Proposes start offsets, and keeps the group's offsets as evidence for the claims."""

    def __init__(self, propose: Propose, positions_topic: str, timeout: float) -> None:
        """Take who is asked where no offset is known; `timeout` is for a question to the group."""
        self._propose = propose
        self._mark = mark(positions_topic)
        self._timeout = timeout
        self._found: dict[TopicPartition, CommittedOffset] = {}
        self._generation = -1

    def propose(self, member: Member, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Return a start offset, a logical one, or UNDEFINED, for each partition.

        Raise TimeoutError, StreamFailure.
        """
        bundle_member = cast(GenerationMember, member)
        self._generation = bundle_member.generation
        found = bundle_member.committed(partitions, self._timeout) if partitions else {}
        self._found = {partition: each for partition, each in found.items() if each.offset >= 0}
        missing = [partition for partition in partitions if partition not in self._found]
        offsets = {partition: each.offset for partition, each in self._found.items()}
        return offsets | (self._propose(member, missing) if missing else {})

    @property
    def generation(self) -> int:
        """The group's generation at the last question."""
        return self._generation

    def evidence(self, offsets: Offsets) -> list[MarkedOffset]:
        """Return what is known of the group for a copy job that begins with these offsets.

        What this process has committed itself needs no question: the position at the target is as far at least.
        """
        known: Mapping[TopicPartition, CommittedOffset] = {
            partition: CommittedOffset(offset, self._mark) for partition, offset in offsets.items() if offset >= 0
        }
        known = {**known, **self._found}
        return [MarkedOffset(*partition, *known[partition]) for partition in offsets if partition in known]


class MarkedOffsets:
    """Tells once, where exactly once is off, that it has committed offsets that the start takes."""

    def __init__(self, book: OffsetBook) -> None:
        """Take the place of the offsets."""
        self._book = book
        self._is_over = False

    def inspect(self, found: GroupOffsets) -> None:
        """Look at offsets that were found; exactly once itself asks for them only where it has no position."""
        marked = {partition: topic for partition, each in found.items() if (topic := marked_by(each))}
        if marked and not self._is_over:
            self._is_over = True
            first, topic = min(marked.items())
            into, count, name = self._book.into, len(marked), self._book.name
            events.emit(events.EXACTLY_ONCE_OFF, into=into, count=count, partition=first, name=name, topic=topic)
