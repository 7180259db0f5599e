"""A look at a cluster that changes nothing: topics, committed offsets, log ends. It joins no group.

Every question has a deadline, so a cluster that does not answer costs seconds.
"""

from __future__ import annotations

import threading
from collections.abc import Collection

from confluent_kafka import Consumer, IsolationLevel, KafkaException
from confluent_kafka import TopicPartition as ClientPartition
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined]

from legacy_mm.clients.api import CommitProblem, PartitionView
from legacy_mm.clients.librdkafka.client import ErrorLines, answer, client_properties, seconds, to_topic_partition
from legacy_mm.clients.librdkafka.error_meanings import commit_problem
from legacy_mm.clock import Deadline
from legacy_mm.config.kafka_clients import ConnectionSettings
from legacy_mm.errors import HostError
from legacy_mm.model import Offsets, TopicPartition

_CLIENT_ID = "legacy_mm-explain"
_RETRY_BACKOFF = 0.1


class LibrdkafkaInspector:
    """Questions to a cluster. Each raises HostError where there is no answer in time."""

    def __init__(self, settings: ConnectionSettings) -> None:
        self._errors = ErrorLines(_CLIENT_ID)
        self._properties = client_properties(settings, self._errors, **{"client.id": _CLIENT_ID})
        try:
            self._admin = AdminClient(self._properties)
        except KafkaException as error:
            raise HostError(f"the client cannot be made: {error.args[0].str()}") from error

    def partitions(self, deadline: Deadline) -> dict[str, int]:
        """Return topic -> number of partitions, of all topics the principal may see."""
        try:
            found = self._admin.list_topics(timeout=seconds(deadline)).topics
        except KafkaException as error:
            raise HostError(f"listing topics failed: {self._errors.why(self._admin, error)}") from error
        return {name: len(topic.partitions) for name, topic in found.items() if topic.error is None}

    def views(
        self, group: str, partitions: Collection[TopicPartition], deadline: Deadline
    ) -> dict[TopicPartition, PartitionView]:
        """Return the committed offset and log ends of each partition."""
        committed = self._committed(group, partitions, deadline)
        ends = self.log_ends(partitions, deadline)
        return {each: PartitionView(committed.get(each), *ends[each]) for each in partitions}

    def log_ends(
        self, partitions: Collection[TopicPartition], deadline: Deadline
    ) -> dict[TopicPartition, tuple[int, int]]:
        """Return the first and the next offset of each partition."""
        if not partitions:
            return {}
        low = self._offsets(partitions, OffsetSpec.earliest(), deadline)  # type: ignore[no-untyped-call]
        high = self._offsets(partitions, OffsetSpec.latest(), deadline)  # type: ignore[no-untyped-call]
        return {each: (low[each], high[each]) for each in partitions}

    def settled_ends(
        self, partitions: Collection[TopicPartition], deadline: Deadline
    ) -> dict[TopicPartition, tuple[int, int]]:
        """Return `log_ends`; raise HostError also where a transaction is open, which hides later records from
        committed reads.
        """
        ends = self.log_ends(partitions, deadline)
        if not ends:
            return ends
        stable = self._offsets(partitions, OffsetSpec.latest(), deadline, committed=True)  # type: ignore[no-untyped-call]
        for each, (_, end) in ends.items():
            if stable[each] < end:
                raise HostError(
                    f"a transaction is open in {each} from offset {stable[each]} on: what follows cannot be read as "
                    "committed before it has ended"
                )
        return ends

    def _committed(self, group: str, partitions: Collection[TopicPartition], deadline: Deadline) -> Offsets:
        """Return the offsets by a consumer that never joins: the admin client crashes when the coordinator has
        moved.
        """
        consumer = Consumer({**self._properties, "group.id": group})
        wanted = [ClientPartition(*each) for each in partitions]
        try:
            while True:
                try:
                    found = consumer.committed(wanted, timeout=seconds(deadline))
                    return {to_topic_partition(each): each.offset for each in found if each.offset >= 0}
                except KafkaException as error:
                    problem = error.args[0]
                    if deadline.expired() or commit_problem(problem) is not CommitProblem.RETRY:
                        raise HostError(f"reading the offsets of group {group} failed: {problem.str()}") from error
                threading.Event().wait(_RETRY_BACKOFF)
        finally:
            consumer.close()

    def _offsets(
        self, partitions: Collection[TopicPartition], spec: OffsetSpec, deadline: Deadline, *, committed: bool = False
    ) -> Offsets:
        wanted = {ClientPartition(*each): spec for each in partitions}
        isolation = IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED
        asked = self._admin.list_offsets(wanted, isolation_level=isolation, request_timeout=seconds(deadline))
        return {
            to_topic_partition(each): answer(future, f"reading the ends of {to_topic_partition(each)}", deadline).offset
            for each, future in asked.items()
        }
