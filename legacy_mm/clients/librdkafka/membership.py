"""One group membership that fetches nothing: subscribe, poll, commit, close.

In the rebalance callbacks the client must fetch nothing (`assign([])`), so membership, heartbeats and explicit
commits work, and no record can leak out of `poll()`. Rule: one thread makes every call.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from typing import Any

from confluent_kafka import OFFSET_INVALID, Consumer, KafkaError, KafkaException
from confluent_kafka import TopicPartition as ClientPartition

from legacy_mm.base.errors import StreamFailure
from legacy_mm.base.kafka_clients import ConsumerSettings
from legacy_mm.base.model import CommittedOffset, Offsets, TopicPartition
from legacy_mm.base.reports import Statistics
from legacy_mm.clients.group.member import CommitProblem, MembershipListener
from legacy_mm.clients.librdkafka.client import MemberErrors, client_properties, to_topic_partition
from legacy_mm.clients.librdkafka.error_meanings import commit_problem, ends_membership, is_membership_lost
from legacy_mm.clients.librdkafka.statistics import statistics_properties

_LEAST_SHARE = 4
"""The first pause is such a part of the longest at least."""


def patient(settings: ConsumerSettings) -> ConsumerSettings:
    """Return the settings with a longer pause before the next try to connect.

    While it looks for the group's coordinator, librdkafka tries twice in the first pause, for ever.
    """
    connection = settings.connection
    longest = connection.reconnect_backoff_max
    pause = min(max(connection.reconnect_backoff, longest / _LEAST_SHARE), longest)
    return replace(settings, connection=replace(connection, reconnect_backoff=pause))


class LibrdkafkaMember:
    """A member of the consumer group at the source."""

    def __init__(
        self,
        settings: ConsumerSettings,
        client_id: str,
        listener: MembershipListener,
        on_statistics: Callable[[Statistics], None],
    ) -> None:
        self.name = f"Consumer clientId={client_id}, groupId={settings.membership.group_id}"
        self._listener = listener
        self._raised: BaseException | None = None
        membership = settings.membership
        cooperative = membership.assignors == ("cooperative-sticky",) or membership.protocol == "consumer"
        self._take = self._take_incrementally if cooperative else self._take_all
        own = {"client.id": client_id, "auto.offset.reset": "error", "on_commit": self._on_commit}
        own |= statistics_properties(on_statistics)
        self._errors = MemberErrors(client_id)
        self._consumer = Consumer(client_properties(patient(settings), self._errors, **own))

    def subscribe(self, topics: Collection[str]) -> None:
        """Ask for these topics from the next rebalance on; none leaves the subscription."""
        if not topics:
            self._consumer.unsubscribe()
            return
        self._consumer.subscribe(
            sorted(topics), on_assign=self._on_assign, on_revoke=self._on_revoke, on_lost=self._on_lost
        )

    def poll(self, timeout: float) -> None:
        """Serve the membership for at most `timeout` seconds. Raises StreamFailure when the group refuses us."""
        message = self._consumer.poll(timeout)
        self._raise_kept()
        self._errors.raise_refusal()
        error = message.error() if message is not None else None
        if error is None:
            return
        if is_membership_lost(error):
            self._listener.lost(frozenset())
        elif ends_membership(error):
            raise StreamFailure(f"the group refuses this member: {error.str()}")

    def committed(self, partitions: Iterable[TopicPartition], timeout: float) -> dict[TopicPartition, CommittedOffset]:
        """Return the group's committed offsets; omit partitions without one. Raise TimeoutError, StreamFailure."""
        wanted = [ClientPartition(*partition) for partition in partitions]
        try:
            answer = self._consumer.committed(wanted, timeout=timeout)
        except KafkaException as error:
            problem = error.args[0]
            if commit_problem(problem) is CommitProblem.FATAL:
                raise StreamFailure(f"committed offsets cannot be read: {problem.str()}") from error
            raise TimeoutError(problem.str()) from error
        failed = next((entry.error for entry in answer if entry.error is not None), None)
        if failed is not None:
            raise TimeoutError(failed.str())
        return {  # librdkafka may add letters behind the metadata
            to_topic_partition(entry): CommittedOffset(entry.offset, entry.metadata or "")
            for entry in answer
            if entry.offset >= 0
        }

    def commit(self, offsets: Offsets) -> None:
        """Commit without waiting; the outcome comes to the listener out of a later `poll()`."""
        entries = [ClientPartition(*partition, offset) for partition, offset in offsets.items()]
        try:
            self._consumer.commit(offsets=entries, asynchronous=True)
        except KafkaException as error:
            problem = error.args[0]
            outcome = (commit_problem(problem), problem.str())
            self._listener.committed({}, dict.fromkeys(offsets, outcome))

    def close(self) -> None:
        """Leave the group."""
        self._consumer.close()
        self._raise_kept()

    def _take_all(self, consumer: Any) -> None:
        consumer.assign([])

    def _take_incrementally(self, consumer: Any) -> None:
        consumer.incremental_assign([])

    def _on_assign(self, consumer: Any, partitions: list[Any]) -> None:
        self._errors.without_token = False
        self._take(consumer)
        self._keep(self._listener.assigned, partitions)

    def _on_revoke(self, consumer: Any, partitions: list[Any]) -> None:
        self._keep(self._listener.revoked, partitions)
        self._release(consumer)

    def _on_lost(self, consumer: Any, partitions: list[Any]) -> None:
        self._keep(self._listener.lost, partitions)
        self._release(consumer)

    def _release(self, consumer: Any) -> None:
        if self._take == self._take_incrementally:
            consumer.incremental_unassign([])
        else:
            consumer.unassign()

    def _keep(self, callback: Any, partitions: list[Any]) -> None:
        """Keep an exception, which must not cross librdkafka: `poll` or `close` raises it."""
        try:
            callback(frozenset(map(to_topic_partition, partitions)))
        except BaseException as error:  # noqa: BLE001
            self._raised = self._raised or error

    def _raise_kept(self) -> None:
        if self._raised is not None:
            raised, self._raised = self._raised, None
            raise raised

    def _on_commit(self, error: KafkaError | None, partitions: list[Any]) -> None:
        if error is not None and error.code() == KafkaError._NO_OFFSET:
            return
        done: dict[TopicPartition, int] = {}
        failed: dict[TopicPartition, tuple[CommitProblem, str]] = {}
        for entry in partitions:
            problem = entry.error or error
            if problem is not None:
                failed[to_topic_partition(entry)] = (commit_problem(problem), problem.str())
            elif entry.offset != OFFSET_INVALID:
                done[to_topic_partition(entry)] = entry.offset
        self._listener.committed(done, failed)
