"""One sender to the target, and several where the line to it is long.

librdkafka sends one partition in a request and an idempotent producer has at most five under way, so one producer gives
each of 24 partitions a turn every fifth round trip. But each has more partitions than it has requests: a producer all
of whose partitions are under way asks without a pause whether it may send, and takes a core. Each source partition
belongs to one of the senders, which keeps its order; it changes hands only when everything is acknowledged.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any

from legacy_mm.clients.librdkafka.sender import FailedSend, RecordSender
from legacy_mm.config.kafka_clients import ProducerSettings
from legacy_mm.control_channel.frames import Statistics
from legacy_mm.model import NO_RECORDS, Columns, Outgoing, TopicPartition

MakeSender = Callable[[ProducerSettings, Callable[[Statistics], None]], RecordSender]

_SHORT_ROUND_TRIP = 0.01
"""Within one site a round trip takes less than a millisecond."""
_MOST = 8
_WAITING = 3
"""Partitions of a sender beyond those under way: one has its request made, one waits for that, one is to spare."""
_place = itemgetter(0, 1)


class Senders:
    """Takes what one `RecordSender` takes."""

    def __init__(
        self,
        settings: ProducerSettings,
        make: MakeSender,
        partitions: Collection[TopicPartition],
        on_statistics: Callable[[Statistics], None],
    ) -> None:
        """Create the senders; `partitions` are those of the source whose records will come; without them one sender
        is enough.
        """
        self._settings = settings
        self._make = make
        self._places = {partition: place for place, partition in enumerate(sorted(partitions))}
        self._on_statistics = on_statistics
        in_flight = settings.produce.in_flight
        self._least = in_flight + _WAITING
        self.undecided = in_flight > 1 and len(partitions) >= 2 * self._least
        """True while `divide` is still to be called."""
        self._told: Statistics | None = None
        self._senders = self._make_senders(1)

    @property
    def several(self) -> bool:
        """Return True if the source partition of a record matters."""
        return len(self._senders) > 1

    def send(self, records: Columns, begin: int = 0) -> int:
        """Send as `RecordSender.send` does."""
        if not self.several:
            return self._senders[0].send(records, begin)
        places = zip(records.topics[begin:], records.partitions[begin:], strict=True)
        return self._send_runs(places, begin, lambda sender, first, end: sender.send(records.part(first, end)))

    def send_outgoing(
        self,
        records: Sequence[Outgoing],
        begin: int = 0,
        origins: Sequence[Any] | None = None,
        *,
        are_rows: bool = False,
    ) -> int:
        """Send as `RecordSender.send_outgoing` does; where there are several senders, the origins are rows of the
        source.
        """
        if not self.several:
            return self._senders[0].send_outgoing(records, begin, origins, are_rows=are_rows)
        assert origins is not None

        def send(sender: RecordSender, first: int, end: int) -> int:
            rows = origins[first:end] if are_rows else None
            return sender.send_outgoing(records[first:end], 0, rows, are_rows=are_rows)

        return self._send_runs(map(_place, origins[begin:]), begin, send)

    def flush(self, seconds: float) -> bool:
        """Flush as `RecordSender.flush` does."""
        share = seconds / len(self._senders)
        waiting = [sender for sender in self._senders if not sender.flush(share)]
        return not waiting

    def divide(self) -> None:
        """Find out how far away the target is, when something is sent and everything is acknowledged."""
        self.undecided = False
        line = self._senders[0].line(short=_SHORT_ROUND_TRIP)
        if line is None or line.round_trip < _SHORT_ROUND_TRIP:
            return
        useful = min(_MOST, len(self._places) // (line.leaders * self._least))
        if useful > 1:
            self._senders.pop().close()
            self._tell_of_the_closed()
            self._senders = self._make_senders(useful, first=1)

    def purge(self) -> None:
        """Purge as `RecordSender.purge` does."""
        for sender in self._senders:
            sender.purge()

    def unacknowledged(self) -> int:
        """Return the sum of `RecordSender.unacknowledged`."""
        return sum(sender.unacknowledged() for sender in self._senders)

    def give_up_waiting(self) -> None:
        """Call `RecordSender.give_up_waiting` of each sender."""
        for sender in self._senders:
            sender.give_up_waiting()

    def take_given_up(self) -> set[str]:
        """Take the topics of `RecordSender.take_given_up`."""
        return set().union(*(sender.take_given_up() for sender in self._senders))

    def partitions(self, topic: str) -> int | None:
        """Return `RecordSender.partitions`."""
        return self._senders[0].partitions(topic)

    def topic_problem(self, topic: str) -> str | None:
        """Return `RecordSender.topic_problem`."""
        return self._senders[0].topic_problem(topic)

    def cluster_id(self) -> str:
        """Return the target's cluster id, learned by `topic_problem`; empty before."""
        return self._senders[0].cluster_id

    def missing_topics(self, topics: Collection[str]) -> set[str] | None:
        """Return `RecordSender.missing_topics`."""
        return self._senders[0].missing_topics(topics)

    def fatal(self) -> FailedSend | None:
        """Return the first `RecordSender.fatal` of the senders."""
        return next(filter(None, (sender.fatal() for sender in self._senders)), None)

    def _make_senders(self, count: int, first: int = 0) -> list[RecordSender]:
        """Make senders that share `buffer.memory`, but can each hold the largest record; their numbers begin with
        `first`.

        A record that would never fit is too large, as in Java, instead of waiting for room for ever.
        """
        produce = self._settings.produce
        largest = min(produce.max_request_bytes, produce.buffer_bytes)
        share = max(produce.buffer_bytes // count, largest)
        settings = replace(self._settings, produce=replace(produce, buffer_bytes=share, max_request_bytes=largest))
        return [self._make(settings, partial(self._measured, number)) for number in range(first, first + count)]

    def _send_runs(
        self, places: Iterable[tuple[Any, ...]], begin: int, send: Callable[[RecordSender, int, int], int]
    ) -> int:
        """Send records of one partition together; call each sender, if only to report its events."""
        idle = set(self._senders)
        for place, first, end in self._runs(places, begin):
            sender = self._senders[place % len(self._senders)]
            idle.discard(sender)
            begin = first + send(sender, first, end)
            if begin < end:
                break
        for sender in idle:
            sender.send(NO_RECORDS)
        return begin

    def _runs(self, places: Iterable[tuple[Any, ...]], begin: int) -> Iterator[tuple[int, int, int]]:
        for place, run in groupby(places):
            end = begin + len(list(run))
            yield self._places[TopicPartition(*place)], begin, end
            begin = end

    def _measured(self, number: int, statistics: Statistics) -> None:
        self._told = replace(statistics, number=number)
        self._on_statistics(self._told)

    def _tell_of_the_closed(self) -> None:
        """Report the closed senders: their counts stay."""
        if self._told is not None:
            rows = [
                row._replace(gauges=dict.fromkeys(row.gauges, 0), spreads={}, ages={}) for row in self._told.measured
            ]
            self._on_statistics(replace(self._told, measured=rows))
