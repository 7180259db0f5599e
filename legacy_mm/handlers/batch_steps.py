"""Built-in steps on whole batches: those that name topics, keep partitions or add headers.

No record becomes a Python object, since nothing has to look at its key or value. What is rare goes the way of any
Python handler: a topic that a step leaves out, or gives a name that no topic can have.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from legacy_mm.base.clock import epoch_ms
from legacy_mm.base.errors import HandlerFailure
from legacy_mm.handlers.api import MessageHandler
from legacy_mm.handlers.batches import BatchHandler, Handled, SourceRecords, made_of
from legacy_mm.handlers.built_in import AddProvenance, FilterTopic, GuardLoop, KeepPartition, MapTopic, RenameTopic
from legacy_mm.policies.topic_letters import why_no_topic
from legacy_mm.protocol.kernels import record_kernels as kernels
from legacy_mm.protocol.records import batch_records
from legacy_mm.protocol.single_record import encoded_header

_BLIND = (RenameTopic, MapTopic, FilterTopic, KeepPartition, AddProvenance, GuardLoop)
"""Steps that look at no key and no value."""


class _Plan(NamedTuple):
    """The outcome of the steps for the records of one partition."""

    topic: str
    """Their name behind all steps."""
    stamp: bytes | None
    """The encoded headers of AddProvenance, but for that with the offset."""
    paths: _Paths | None
    """The headers that GuardLoop adds."""


class _Paths(dict[bytes | None, bytes | None]):
    """The value of a record's header -> the encoded header that takes its place; None for a record in a circle."""

    def __init__(self, guard: GuardLoop, topic: str) -> None:
        self._guard, self._topic = guard, topic
        self.failure = ""

    def __missing__(self, value: bytes | None) -> bytes | None:
        try:
            path = self._guard.path(value or b"", self._topic)
            made = encoded_header(GuardLoop.HEADER.encode(), path)
        except HandlerFailure as error:
            self.failure = f"{type(error).__name__}: {error}"
            return None
        return self.setdefault(value, made)


class BatchSteps:
    """Applies steps to whole batches."""

    def __init__(self, steps: Sequence[MessageHandler], otherwise: BatchHandler, *, legal_topics: bool = False) -> None:
        """Take steps that `are_blind`, and the handler that applies them record by record; `legal_topics` as for
        `PythonBatches`.
        """
        self._steps = steps
        self._otherwise = otherwise
        self._legal_topics = legal_topics
        kinds = [type(step) for step in steps]
        self._keeps_partition = KeepPartition in kinds
        guarded, stamped = GuardLoop in kinds, AddProvenance in kinds
        self._path_first = guarded and stamped and kinds.index(GuardLoop) < kinds.index(AddProvenance)

    def handle(self, source: SourceRecords) -> Handled:
        """Write the records anew; those of a topic that is left out are dropped."""
        plan = self._plan(source)
        if plan is None:
            return self._otherwise.handle(source)
        place, header, data, begin, wish, _ = source
        writer = kernels.RecordWriter(source.base_timestamp)
        name, offset = GuardLoop.HEADER.encode(), AddProvenance.OFFSET.encode()
        stamp = kernels.Stamp(plan.paths, name, self._path_first, plan.stamp, AddProvenance.FIXED_HEADERS, offset)
        walked = batch_records(header, data, repeats=True)
        places = (0, begin - header.base_offset, header.base_offset)
        wish = place.partition if self._keeps_partition else wish
        after, last = kernels.write_stamped(walked, *places, epoch_ms(), wish, stamp, writer)
        made = made_of({plan.topic: writer} if writer.count else {}, header)
        if after < len(data):
            assert plan.paths is not None
            return Handled(made, writer.count, 0, last, plan.paths.failure)
        return Handled(made, writer.count, 0, max(begin, last + 1, header.next_offset))

    def _plan(self, source: SourceRecords) -> _Plan | None:
        """Return what to do with these records; None where that is not for whole batches."""
        topic, number = source.place
        stamp: bytes | None = None
        paths: _Paths | None = None
        for step in self._steps:
            if isinstance(step, RenameTopic | MapTopic):
                topic = step.renamed(topic)
            elif isinstance(step, FilterTopic) and not step.admits(topic):
                return None
            elif isinstance(step, AddProvenance):
                stamp = b"".join(encoded_header(name.encode(), value) for name, value in step.fixed(topic, number))
            elif isinstance(step, GuardLoop):
                paths = _Paths(step, topic)
        if self._legal_topics and why_no_topic(topic):
            return None
        return _Plan(topic, stamp, paths)


def are_blind(steps: Sequence[MessageHandler]) -> bool:
    """Return True if these steps look at no key and no value, and add their headers once each."""
    kinds = [type(step) for step in steps]
    return {*kinds} <= {*_BLIND} and all(kinds.count(kind) <= 1 for kind in (AddProvenance, GuardLoop))
