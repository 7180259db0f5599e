"""One flow: source cluster -> target cluster. Read this first.

A record's way: a `Stream` joins the consumer group; what the group assigns to it becomes a `CopyJob`, one Spark task
that reads the source and sends to the target; the task reports safe offsets over the control channel; the stream
commits them to the group. `TopicWatch` keeps the subscription true to the pattern. Nothing here copies a record.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Sequence

from legacy_mm import events
from legacy_mm.clock import Deadline
from legacy_mm.controlplane.stream import Stream, reason_of
from legacy_mm.controlplane.topic_watch import TopicWatch
from legacy_mm.model import Offsets, TopicPartition

_LAST_WORDS_SECONDS = 0.5
OnFailure = Callable[[int, BaseException], None]


class Mirror:
    """The streams and the topic watch of one flow, started and stopped together."""

    def __init__(
        self, streams: Callable[[OnFailure], Sequence[Stream]], watch: Callable[[OnFailure], TopicWatch]
    ) -> None:
        self.failures: queue.SimpleQueue[BaseException] = queue.SimpleQueue()
        self._streams = streams(self._failed)
        self._watch = watch(self._failed)

    def start(self) -> None:
        """Join the group and begin to look for topics; returns at once."""
        for stream in self._streams:
            stream.start()
        self._watch.start()

    def subscribe(self, topics: frozenset[str]) -> None:
        """Mirror these topics."""
        for stream in self._streams:
            stream.subscribe(topics)

    def existing_topics(self) -> frozenset[str] | None:
        """All topics the source showed at the last look."""
        return self._watch.existing_topics()

    def stop(self, deadline: Deadline, *, commit: bool) -> bool:
        """Stop all streams side by side; True when every one of them came to its end before the deadline."""
        self._watch.stop()
        for stream in self._streams:
            stream.stop(deadline, commit=commit)
        last = Deadline(deadline.at + _LAST_WORDS_SECONDS)
        for stream in self._streams:
            stream.join(last.remaining())
        return not any(stream.is_alive() for stream in self._streams)

    def uncommitted(self) -> Offsets:
        """Copied but not durably committed, over all streams."""
        pending: dict[TopicPartition, int] = {}
        for stream in self._streams:
            pending |= stream.uncommitted()
        return pending

    def report_failure(self, error: BaseException) -> BaseException:
        """Say what ended the mirror from outside its streams; the same error back."""
        events.emit(events.STREAM_FAILED, error=error, stream=0, reason=reason_of(error))
        return error

    def _failed(self, stream: int, error: BaseException) -> None:
        events.emit(events.STREAM_FAILED, error=error, stream=stream, reason=reason_of(error))
        self.failures.put(error)
