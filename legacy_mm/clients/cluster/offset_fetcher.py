"""The offsets at which logs begin and end, or had got at a time, as the leaders of their partitions tell them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from kafka.protocol.consumer import IsolationLevel, ListOffsetsRequest

from legacy_mm.base.clock import Deadline
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.cluster.addresses import address_of
from legacy_mm.clients.cluster.metadata import Metadata
from legacy_mm.clients.cluster.missing_listeners import listener_problem
from legacy_mm.clients.cluster.network_client import NetworkClient
from legacy_mm.clients.cluster.topology import Broker
from legacy_mm.clients.net.connection_errors import ClusterUnreachable, ConnectionLost, RequestRefused
from legacy_mm.protocol import error_codes

_ONE_OFFSET_SINCE = 1
"""The first version of the answer to ListOffsets that is no list: brokers have it since 0.10.1."""


class OffsetFetcher:
    """Asks leaders for the offsets of their logs. Any thread may call it."""

    def __init__(
        self,
        metadata: Metadata,
        network: NetworkClient,
        settings: ConnectionSettings,
        timeout: float,
        *,
        committed_only: bool = False,
    ) -> None:
        """Create a fetcher; each question may take `timeout` seconds. `committed_only`: a log ends where a transaction
        is open.
        """
        self._metadata = metadata
        self._network = network
        self._retry_pause = settings.retry_backoff
        self._timeout = timeout
        self._isolation = IsolationLevel.READ_COMMITTED if committed_only else IsolationLevel.READ_UNCOMMITTED

    def of(self, partitions: Collection[TopicPartition], which: int) -> dict[TopicPartition, int]:
        """Return the first (EARLIEST) or next (LATEST) offsets; LATEST respects `isolation.level`.

        Wait for leaders. Raise RequestRefused, or ClusterUnreachable when some are not found in time.
        """
        found = self.of_led(partitions, which)
        if missing := [partition for partition in partitions if partition not in found]:
            if unlistened := self._metadata.without_listener().intersection(missing):
                raise ClusterUnreachable(listener_problem(unlistened))
            raise ClusterUnreachable(f"no offset of {missing[0]} within {self._timeout:g} s")
        return found

    def of_led(
        self, partitions: Collection[TopicPartition], which: int, *, patient: bool = True
    ) -> dict[TopicPartition, int]:
        """Return the offsets of the partitions whose leader exists and answers; with `patient`, wait for leaders."""
        return self._found(dict.fromkeys(partitions, which), patient=patient)

    def for_times(self, times: Mapping[TopicPartition, int], *, patient: bool = False) -> dict[TopicPartition, int]:
        """Return the first offset whose record is as old as this (ms since 1970) or younger; -1: there is none.

        Only of the partitions whose leader exists and answers, and knows the times of its records (since 0.10.1); with
        `patient`, wait for leaders.
        """
        return self._found(times, patient=patient)

    def _found(self, wanted: Mapping[TopicPartition, int], *, patient: bool) -> dict[TopicPartition, int]:
        self._metadata.watch({partition.topic for partition in wanted})
        deadline, closed = Deadline.after(self._timeout if patient else 0.0), self._network.closed
        found: dict[TopicPartition, int] = {}
        while missing := {partition: which for partition, which in wanted.items() if partition not in found}:
            found.update(self._found_now(missing))
            if len(found) < len(wanted):
                if deadline.expired() or closed.is_set():
                    break
                self._metadata.stale()
                closed.wait(self._retry_pause)
        return found

    def _found_now(self, wanted: Mapping[TopicPartition, int]) -> Iterator[tuple[TopicPartition, int]]:
        by_leader: defaultdict[Broker, dict[TopicPartition, int]] = defaultdict(dict)
        for partition, which in wanted.items():
            if leader := self._metadata.leader(partition):
                by_leader[leader][partition] = which
            elif problem := self._metadata.problem(partition.topic):
                _require_retriable(problem, partition)
        for leader, led in by_leader.items():
            try:
                answer = self._network.call(address_of(leader), self._request(led), self._timeout)
            except ConnectionLost:
                continue
            for topic in answer.topics:
                for row in topic.partitions:
                    partition = TopicPartition(topic.name, row.partition_index)
                    if row.error_code:
                        _require_retriable(row.error_code, partition)
                    elif answer.version >= _ONE_OFFSET_SINCE:
                        yield partition, row.offset
                    elif row.old_style_offsets:
                        yield partition, row.old_style_offsets[0]

    def _request(self, wanted: Mapping[TopicPartition, int]) -> Any:
        topics: defaultdict[str, list[Any]] = defaultdict(list)
        for (topic, partition), which in wanted.items():
            epoch = self._metadata.leader_epoch(TopicPartition(topic, partition))
            row = ListOffsetsRequest.ListOffsetsTopic.ListOffsetsPartition(
                partition_index=partition, current_leader_epoch=epoch, timestamp=which, max_num_offsets=1
            )
            topics[topic].append(row)
        return ListOffsetsRequest(
            replica_id=-1,
            isolation_level=self._isolation,
            topics=[ListOffsetsRequest.ListOffsetsTopic(name=name, partitions=rows) for name, rows in topics.items()],
            timeout_ms=int(self._timeout * 1000),
        )


def _require_retriable(code: int, partition: TopicPartition) -> None:
    if not error_codes.is_retriable(code):
        raise RequestRefused(f"the offsets of {partition} cannot be listed: {error_codes.name(code)}")
