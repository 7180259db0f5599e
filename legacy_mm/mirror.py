"""One flow: source cluster -> target cluster. Read this first.

A record's way: a `Stream` joins the consumer group; what the group assigns to it becomes a `CopyJob`, one Spark task
that reads the source and sends to the target; the task reports safe offsets over the control channel; the stream
commits them to the group. `TopicWatch` keeps the subscription true to the pattern. Nothing here copies a record.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from legacy_mm import events
from legacy_mm.clock import Deadline
from legacy_mm.controlplane.stream import Stream
from legacy_mm.controlplane.topic_watch import TopicWatch
from legacy_mm.errors import SendFailure, commits, one_line
from legacy_mm.model import Offsets, TopicPartition

_LAST_WORDS_SECONDS = 0.5
OnFailure = Callable[[int, BaseException], None]


class Background(Protocol):
    """Something that goes on beside the streams."""

    def start(self) -> None:
        """Returns at once."""

    def stop(self) -> None:
        """The streams are about to stop: begin nothing more; returns at once."""

    def finish(self, deadline: Deadline) -> None:
        """The streams have ended, or their time is over: do what is left, within this time."""


class StoreChange(Background, Protocol):
    """Looks for changed key stores while the mirror runs."""

    @property
    def renewed(self) -> object | None:
        """What was read of them, None while they are what they were."""


@dataclass(frozen=True, slots=True)
class Renewal:
    """How a mirror takes up changed key stores: another one takes its place."""

    watch: StoreChange
    successor: Callable[[], Mirror]
    """With what `watch` has read; asked for once this mirror has stopped."""


class Mirror:
    """The streams and the topic watch of one flow, started and stopped together."""

    def __init__(
        self,
        streams: Callable[[OnFailure], Sequence[Stream]],
        watch: Callable[[OnFailure], TopicWatch],
        background: Sequence[Background] = (),
        renewal: Renewal | None = None,
    ) -> None:
        """`background` is what features do beside the copying."""
        self.failures: queue.SimpleQueue[BaseException] = queue.SimpleQueue()
        self._streams = streams(self._failed)
        self._watch = watch(self._failed)
        self._background = background if renewal is None else [*background, renewal.watch]
        self._renewal = renewal

    def start(self) -> None:
        """Join the group and begin to look for topics; returns at once."""
        for stream in self._streams:
            stream.start()
        for each in self._background:
            each.start()
        self._watch.start()

    def subscribe(self, topics: frozenset[str]) -> None:
        """Mirror these topics."""
        for stream in self._streams:
            stream.subscribe(topics)

    def made_again(self, topic: str) -> None:
        """This topic was deleted, and another one has its name."""
        for stream in self._streams:
            stream.made_again(topic)

    def existing_topics(self) -> frozenset[str] | None:
        """All topics the source showed at the last look."""
        return self._watch.existing_topics()

    def successor(self) -> Callable[[], Mirror] | None:
        """Makes the mirror that is to take this one's place; None as long as there is no reason for another one."""
        renewal = self._renewal
        return None if renewal is None or renewal.watch.renewed is None else renewal.successor

    def stop(self, deadline: Deadline, *, commit: bool) -> None:
        """Tell all streams to stop, side by side; returns at once."""
        self._watch.stop()
        for each in self._background:
            each.stop()
        for stream in self._streams:
            events.emit(events.STREAM_STOPPING, stream=stream.index)
            stream.stop(deadline, commit=commit)

    def stopped(self) -> bool:
        """True once every stream has come to its end."""
        return not any(stream.is_alive() for stream in self._streams)

    def join(self, deadline: Deadline) -> bool:
        """True when every stream came to its end before the deadline."""
        last = Deadline(deadline.at + _LAST_WORDS_SECONDS)
        for stream in self._streams:
            stream.join(last.remaining())
            if not stream.is_alive():
                events.emit(events.STREAM_OVER, stream=stream.index)
        for each in self._background:
            each.finish(last)
        return self.stopped()

    def uncommitted(self) -> Offsets:
        """Copied but not durably committed, over all streams."""
        pending: dict[TopicPartition, int] = {}
        for stream in self._streams:
            pending |= stream.uncommitted()
        return pending

    def report_failure(self, error: BaseException) -> BaseException:
        """Say what ended the mirror from outside its streams; the same error back."""
        _say_failure(0, error)
        return error

    def _failed(self, stream: int, error: BaseException) -> None:
        _say_failure(stream, error)
        self.failures.put(error)


_AFTER_FAILURE = (
    events.FLUSHING,
    events.COMMITTING_LAST,
    events.COMMIT_SKIPPED,
    events.LEAVING,
    events.STREAM_STOPPED,
    events.STREAM_OVER,
    events.STREAM_EXITED,
)


def _say_failure(stream: int, error: BaseException) -> None:
    """What ended the stream, and the end of its life as the legacy tool told it; one that commits tells that itself."""
    if isinstance(error, SendFailure):
        events.emit(events.SENDING_ENDED)  # the record has had its own line
    else:
        events.emit(events.STREAM_FAILED, error=error, stream=stream, reason=one_line(error))
    for event in (events.STREAM_EXITED,) if commits(error) else _AFTER_FAILURE:
        events.emit(event, stream=stream)
