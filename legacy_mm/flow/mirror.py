"""One flow: source cluster -> target cluster.

Read this module first.

The path of a record: a `Stream` joins the consumer group. The partitions that the group assigns to it become a
`CopyJob`, one Spark task that reads the source and sends to the target. The task reports safe offsets over the control
channel, and the stream commits them to the group. `TopicWatch` keeps the subscription in line with the pattern. Nothing
in this module copies a record.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import SendFailure, commits, one_line
from legacy_mm.base.model import Offsets, TopicPartition
from legacy_mm.controlplane.store_watch import StoreWatch
from legacy_mm.controlplane.stream import Stream
from legacy_mm.controlplane.topic_watch import TopicWatch
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.logs import events

_LAST_WORDS_TIMEOUT = 0.5


class Background(Protocol):
    """Work that runs beside the streams."""

    def start(self) -> None:
        """Start the work; returns at once."""

    def stop(self) -> None:
        """Begin nothing more, because the streams are about to stop; returns at once. `start` may have failed."""

    def finish(self, deadline: Deadline) -> None:
        """Do the remaining work within this time, after the streams have ended or their time is over.

        `start` may have failed.
        """


@dataclass(frozen=True, slots=True)
class Renewal:
    """Replacement of a mirror whose key stores have changed by another mirror."""

    watch: StoreWatch[Settings]
    successor: Callable[[], Mirror]
    """Makes the mirror with the content that `watch` has read; called once this mirror has stopped."""


class Failures:
    """The failures of a flow's threads, as its mirror ends with them. From any thread."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[BaseException] = queue.SimpleQueue()

    def failed(self, stream: int, error: BaseException, leave: Callable[[], None] | None = None) -> None:
        """Log the failure, let the stream leave, and log its end: as the legacy tool does, one after the other."""
        _say_failure(stream, error)
        if leave is None:
            _say_end(stream, error)
        else:
            leave()
            for event in _END:
                events.emit(event, stream=stream)
        self._queue.put(error)

    def failed_outside(self, error: BaseException) -> None:
        """Log a failure from outside the streams."""
        _say_failure(0, error)
        _say_end(0, error)
        self._queue.put(error)

    def take(self) -> BaseException | None:
        """Return the next failure, each of them once; None: there is none."""
        return None if self._queue.empty() else self._queue.get()

    def are_none(self) -> bool:
        """Return True as long as nothing has failed that was not taken."""
        return self._queue.empty()


class MirrorOrders:
    """Keeps what a flow of the legacy command is asked to do. It outlives a mirror, so no order is lost while one takes
    the place of another. From any thread.
    """

    def __init__(self) -> None:
        self.is_paused = False
        """True: nothing is copied until it is resumed."""
        self.replacement: Callable[[], Mirror] | None = None
        """Makes the mirror that is to take the place of today's."""
        self._lock = threading.Lock()

    def replace(self, make: Callable[[], Mirror], *, paused: bool) -> None:
        """Ask for another mirror, after all that was asked before."""
        with self._lock:
            self.replacement, self.is_paused = make, paused

    def replaced(self, make: Callable[[], Mirror]) -> None:
        """Note that this one's mirror runs; what was asked since is still to do."""
        with self._lock:
            self.replacement = None if self.replacement is make else self.replacement


class Mirror:
    """The streams and the topic watch of one flow, started and stopped together."""

    def __init__(
        self,
        streams: Sequence[Stream],
        watch: TopicWatch | None,
        failures: Failures,
        background: Sequence[Background] = (),
        renewal: Renewal | None = None,
    ) -> None:
        """Take the streams and the topic watch, which tell `failures`; `background` is the features' work beside the
        copying. A flow without streams has no watch either.
        """
        self.failures = failures
        self._streams = streams
        self._watch = watch
        self._background = background if renewal is None else [*background, renewal.watch]
        self._renewal = renewal
        self.orders = MirrorOrders()
        """The orders for it, and for what takes its place."""
        self._is_paused = False
        self._lock = threading.Lock()
        self._started_streams: list[Stream] = []
        self._begun_background: list[Background] = []

    def start(self) -> None:
        """Join the group and begin to look for topics; returns at once.

        Raises what stood in the way, such as RuntimeError where no more threads can be made. The mirror may run in part
        then: stop and join it.
        """
        for stream in self._streams:
            stream.start()
            self._started_streams.append(stream)
        for each in self._background:
            self._begun_background.append(each)
            each.start()
        if self._watch is not None:
            self._watch.start()

    def pause(self) -> None:
        """Copy nothing until `resume`, with all that was copied committed; every stream stays in its group."""
        self.orders.is_paused = True
        self.keep_to_orders()

    def resume(self) -> None:
        """Copy again after `pause`."""
        self.orders.is_paused = False
        self.keep_to_orders()

    def keep_to_orders(self) -> None:
        """Let the streams that run pause or go on, as was asked of this mirror or of one before it.

        One that is paused and gives way to another stays paused.
        """
        with self._lock:
            wanted = self.orders.is_paused or (self._is_paused and self.gives_way)
            if not self._started_streams or self._is_paused == wanted:
                return
            self._is_paused = wanted
            for stream in self._started_streams:
                (stream.pause if self._is_paused else stream.resume)()

    def restart(self, place: int | None = None) -> None:
        """Let all streams, or that of this place, copy again from their safe offsets, without leaving their group."""
        for number, stream in enumerate(self._started_streams):
            if place in (None, number):
                stream.restart()

    def replace(self, make: Callable[[], Mirror], *, paused: bool) -> None:
        """Let this mirror stop, with all that was copied committed, and the one that `make` makes take its place.

        `paused`: that one begins paused.
        """
        self.orders.replace(make, paused=paused)

    @property
    def gives_way(self) -> bool:
        """Another mirror is about to take its place, by an order."""
        return self.orders.replacement is not None

    def successor(self) -> Callable[[], Mirror] | None:
        """Return the maker of the mirror that takes this one's place; None while no replacement is needed."""
        if self.orders.replacement is not None:
            return self.orders.replacement
        renewal = self._renewal
        return None if renewal is None or renewal.watch.renewed is None else renewal.successor

    def stop(self, deadline: Deadline, *, commit: bool) -> None:
        """Order all streams that were started to stop, in parallel; returns at once."""
        if self._watch is not None:
            self._watch.stop()
        for each in self._begun_background:
            each.stop()
        for stream in self._started_streams:
            events.emit(events.STREAM_STOPPING, stream=stream.index)
            stream.stop(deadline, commit=commit)

    def stopped(self) -> bool:
        """Return True once every stream has ended."""
        return not any(stream.is_alive() for stream in self._started_streams)

    def join(self, deadline: Deadline) -> bool:
        """Wait for the streams; return True if every one ended before the deadline."""
        last = Deadline(deadline.at + _LAST_WORDS_TIMEOUT)
        for stream in self._started_streams:
            stream.join(last.remaining())
            if not stream.is_alive():
                events.emit(events.STREAM_OVER, stream=stream.index)
        for each in self._begun_background:
            each.finish(last)
        return self.stopped()

    def uncommitted(self) -> Offsets:
        """Return the offsets that were copied but not durably committed, over all streams."""
        pending: dict[TopicPartition, int] = {}
        for stream in self._streams:
            pending |= stream.uncommitted()
        return pending


_WITHOUT_COMMIT = (events.FLUSHING, events.COMMITTING_LAST, events.COMMIT_SKIPPED, events.LEAVING)
_END = (events.STREAM_STOPPED, events.STREAM_OVER, events.STREAM_EXITED)


def _say_failure(stream: int, error: BaseException) -> None:
    """Log why the stream ends."""
    if isinstance(error, SendFailure):
        events.emit(events.SENDING_ENDED)  # the record had its own line before
    else:
        events.emit(events.STREAM_FAILED, error=error, stream=stream, reason=one_line(error))


def _say_end(stream: int, error: BaseException) -> None:
    """Log the end of its life as the legacy tool did; one that commits logs that itself when it is stopped."""
    for event in (events.STREAM_EXITED,) if commits(error) else (*_WITHOUT_COMMIT, *_END):
        events.emit(event, stream=stream)
