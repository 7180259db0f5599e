"""The records of one topic that a group has not read yet. The group is never joined: only its offsets are read and
written.
"""

from __future__ import annotations

from confluent_kafka import Consumer, KafkaException
from confluent_kafka import TopicPartition as ClientPartition

from legacy_mm.clients.librdkafka.client import ErrorLines, client_properties
from legacy_mm.clients.librdkafka.reader import columns
from legacy_mm.clients.librdkafka.scan import read_range
from legacy_mm.config.kafka_clients import ConnectionSettings
from legacy_mm.errors import HostError
from legacy_mm.model import Columns

_CLIENT_ID = "legacy_mm-redrive"


class Backlog:
    """One topic of a cluster, from where the group is to the end that the topic has at first sight."""

    def __init__(self, settings: ConnectionSettings, topic: str, group: str, timeout: float) -> None:
        """Look where it begins and ends; `settings` are any client's of the cluster. Raises HostError."""
        self._connection = settings
        self._timeout = timeout
        self._topic = topic
        own = {"client.id": _CLIENT_ID, "group.id": group, "enable.auto.commit": False}
        self._consumer = Consumer(client_properties(self._connection, ErrorLines(_CLIENT_ID), **own))
        try:
            self._ranges = {number: self._range(number) for number in self._partitions()}
        except KafkaException as error:
            raise HostError(f"the offsets of {topic} cannot be read: {error.args[0].str()}") from error

    def read(self) -> list[Columns]:
        """Read all records, batch by batch, in the order of each partition; raise HostError."""
        return [
            columns(batch)
            for number, (begin, end) in self._ranges.items()
            if begin < end
            for batch in read_range(self._connection, self._topic, number, begin, end, committed=True)
        ]

    def done(self) -> None:
        """Commit the end for the group; raise HostError when the cluster refuses."""
        ends = [ClientPartition(self._topic, number, end) for number, (_, end) in self._ranges.items()]
        try:
            self._consumer.commit(offsets=ends, asynchronous=False)
        except KafkaException as error:
            raise HostError(f"offsets of {self._topic} cannot be committed: {error.args[0].str()}") from error
        finally:
            self._consumer.close()

    def _partitions(self) -> list[int]:
        found = self._consumer.list_topics(self._topic, timeout=self._timeout).topics[self._topic]
        if found.error is not None:
            raise KafkaException(found.error)
        return sorted(found.partitions)

    def _range(self, number: int) -> tuple[int, int]:
        place = ClientPartition(self._topic, number)
        low, high = self._consumer.get_watermark_offsets(place, timeout=self._timeout)
        (committed,) = self._consumer.committed([place], timeout=self._timeout)
        return max(low, committed.offset), high
