"""The handling of a record that cannot be sent: the end (`abort.on.send.failure`), or a count and a line.

A synchronous producer has no callback that counts and logs: the failure itself ends the stream, whatever the flag.

The words for people are here, too: a record's time, the broker's reason, and what mends it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from legacy_mm.base.errors import FailureKind, SendFailure, StreamFailure
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.net import error_text
from legacy_mm.clients.produce.partition_queue import ProducerBatch
from legacy_mm.dataplane.routes import Placed, Route
from legacy_mm.logs import events
from legacy_mm.protocol import error_codes
from legacy_mm.protocol.error_codes import ErrorCode
from legacy_mm.protocol.record_batch import Header, RecordBatch
from legacy_mm.protocol.records import SourceOffsets

WITHOUT_TIME = "without a time"
_REMEDIES: Mapping[int, str] = {
    ErrorCode.MESSAGE_TOO_LARGE: "raise max.message.bytes of topic {topic} at the target (brokers: message.max.bytes)",
    ErrorCode.RECORD_LIST_TOO_LARGE: "raise segment.bytes of topic {topic} at the target",
    ErrorCode.INVALID_TIMESTAMP: "raise message.timestamp.after.max.ms or message.timestamp.before.max.ms "
    "(message.timestamp.difference.max.ms before 3.6) of topic {topic} at the target",
    ErrorCode.INVALID_RECORD: "see cleanup.policy of topic {topic} at the target (a compacted one takes no record "
    "without a key), and message.timestamp.after.max.ms",
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: "give the principal the right WRITE on topic {topic} at the target",
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "give the principal the right IDEMPOTENT_WRITE on the target cluster",
}
_ANY_REMEDY = "see to topic {topic} at the target"
REQUEST_REMEDY = "raise max.request.size of the producer"
"""The remedy for a record that is larger than any request."""
_PLACE_IN_BATCH = re.compile(r" with offset \d+")
_FORBIDDEN, _INVALID = "TOPIC_AUTHORIZATION_FAILED", "INVALID_TOPIC_EXCEPTION"
SizesOf = Callable[[RecordBatch], Iterable[tuple[int | None, int | None]]]
"""A batch -> key and value size of each record, None for null."""


def remedy(code: int, topic: str) -> str:
    """Return what mends a refusal by this topic of the target."""
    return _REMEDIES.get(code, _ANY_REMEDY).format(topic=topic)


def in_our_words(reason: str) -> str:
    """Return a broker's reason without the offset in it: that is the place in the batch that we sent, which says
    nothing to a reader.
    """
    return _PLACE_IN_BATCH.sub("", reason)


def time_of(header: Header) -> str:
    """Return the time of the youngest record of a batch."""
    return date(header.max_timestamp) if header.has_time else WITHOUT_TIME


def date(timestamp_ms: int) -> str:
    """Return a time as a date; one that no calendar has as it is."""
    try:
        return f"of {datetime.fromtimestamp(timestamp_ms / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, OSError, ValueError):
        return f"of {timestamp_ms} ms since 1970"


class Unsent(NamedTuple):
    """Records of one source partition that could not be sent."""

    source: TopicPartition
    offsets: SourceOffsets
    topic: str
    """At the target."""
    batch: RecordBatch


class SendFailures:
    """Keeps the first failure that must end the copying; counts the others."""

    def __init__(self, sizes: SizesOf, abort: bool, synchronous: bool = False) -> None:
        """Create the counts; `sizes` returns those of the records of a batch."""
        self._sizes = sizes
        self._abort = abort or synchronous
        self._synchronous = synchronous
        self.dropped: Counter[str] = Counter()
        """Target topic -> records."""
        self._reasons: Counter[str] = Counter()
        self._ending = ""
        self._is_told = False

    def batch(self, unsent: Unsent, code: int, reason: str = "", mended_by: str = "") -> None:
        """Handle records that failed for good; without a reason or a remedy in those of the error code."""
        why, topic = reason or error_text.meaning(code), unsent.topic
        if not self._synchronous:
            self._tell(unsent, why, error_codes.name(code), mended_by or remedy(code, topic))
        if self._abort:
            self._ending = self._ending or f"sending {_place(unsent)} to {topic} failed: {in_our_words(why)}"

    def refused(self, refused: ProducerBatch, failed: Placed, why: str) -> None:
        """Handle records of a batch that the target has refused for good, with the reason for these if it gave one."""
        unsent = Unsent(refused.opaque.piece.partition, failed.offsets, refused.queue.partition.topic, failed.batch)
        self.batch(unsent, refused.refusal, why or refused.reason)

    def too_large(self, source: TopicPartition, routes: Iterable[tuple[str, Route]]) -> None:
        """Handle what is too large to be sent; raise as `raise_if_ending`."""
        for topic, route in routes:
            for _, large, offsets in route.too_large:
                unsent = Unsent(source, offsets, topic, large)
                self.batch(unsent, ErrorCode.MESSAGE_TOO_LARGE, mended_by=REQUEST_REMEDY)
        self.raise_if_ending()

    def _tell(self, unsent: Unsent, why: str, code: str, mended_by: str) -> None:
        """Count records and tell of them: each in the words of the old client, all with their place at the source."""
        topic = unsent.topic
        for key_size, value_size in self._sizes(unsent.batch):
            self.dropped[topic] += 1
            self._reasons[code] += 1
            events.emit(
                events.SEND_FAILED,
                topic=topic,
                key_size=_size(key_size),
                value_size=_size(value_size),
                reason=why,
                code=code,
            )
        events.emit(
            events.NOT_SENT,
            place=_place(unsent),
            what=_what(unsent.batch),
            topic=topic,
            reason=in_our_words(why),
            outcome="copying ends there" if self._abort else "copying goes on, and this is lost",
            remedy=mended_by,
        )

    def take_reasons(self) -> dict[str, int]:
        """Take reason -> records dropped since the last call."""
        reasons, self._reasons = self._reasons, Counter()
        return dict(reasons)

    @property
    def end_copying(self) -> bool:
        """Return True once a record has failed that ends the copying."""
        return bool(self._ending)

    def raise_if_ending(self) -> None:
        """Raise once, when copying must end: SendFailure, or StreamFailure where no line has told of the record."""
        if self._ending and not self._is_told:
            self._is_told = True
            failure = StreamFailure if self._synchronous else SendFailure
            raise failure(self._ending)


def _size(size: int | None) -> str:
    return "null" if size is None else f"{size} bytes"


def _place(unsent: Unsent) -> str:
    """Return the source partition of some records, and their offsets."""
    first, last = unsent.offsets[0], unsent.offsets[-1]
    return f"{unsent.source} at offset {first}" if first == last else f"{unsent.source} at offsets {first} to {last}"


def _what(batch: RecordBatch) -> str:
    count, time = batch.header.records, time_of(batch.header)
    return f"a record {time}" if count == 1 else f"{count} records, the youngest {time}"


def ends_waiting(problem: str, topic: str, names: Mapping[str, str]) -> bool:
    """Return True if this problem, in Java's words, ends the wait for a target topic: its records fail, as in Java.

    The legacy tool never met a name made by renaming: such a topic is waited for.
    """
    renamed = any(copy == topic != name for name, copy in names.items())
    return problem == _FORBIDDEN or (problem == _INVALID and not renamed)


class ProducerBroken(SendFailure):
    """A producer that can send no more; a new one can."""

    failure_kind = FailureKind.OTHER
    retriable = True


class Unsendable(Exception):
    """The target will not have this topic; `code` says why."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code
