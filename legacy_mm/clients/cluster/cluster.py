"""One cluster as clients see it: who leads what, refreshed when it is old or found wrong, and ways to its brokers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from math import inf
from threading import Condition, Event, Lock, Thread
from typing import Any, NamedTuple

from kafka.protocol.consumer import IsolationLevel, ListOffsetsRequest
from kafka.protocol.metadata import MetadataRequest

from legacy_mm.base.clock import Deadline, monotonic
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.cluster.addresses import Address, Addresses, address_of
from legacy_mm.clients.cluster.missing_listeners import MissingListeners, listener_problem
from legacy_mm.clients.cluster.topology import UNKNOWN_EPOCH, Broker, Leadership, Topology, known_topics
from legacy_mm.clients.net.connection import Connection, open_connection
from legacy_mm.clients.net.connection_errors import ClusterUnreachable, ConnectionLost, RequestRefused
from legacy_mm.clients.net.connection_security import Security
from legacy_mm.clients.net.kept_connection import KeptConnection, Reconnects
from legacy_mm.clients.net.traffic import Traffic
from legacy_mm.protocol import error_codes

_UNKNOWN_NODE = -1
"""The number of a broker of which only the address is known, as in Java."""
_IDLE_TIMEOUT = 10.0
"""The time an idle connection for small requests is kept beside those that carry records."""
_SOON_TIMEOUT = 2.0
"""The time for which a thread waits for the next refresh; it is started again for a later one."""
_ONE_OFFSET_SINCE = 1
"""The first version of the answer to ListOffsets that is no list: brokers have it since 0.10.1."""
_UNUSED_TIMEOUT = 300.0
"""The time after which an unused topic leaves the metadata requests, as in Java: asking recreates a deleted one."""


class Connections(NamedTuple):
    """The number of connections made, and of those that are open."""

    made: int
    open: int


class Cluster:
    """Brokers, leaders and epochs, for every thread that asks; connections are made on demand.

    Answers come from what the last refresh told about the topics that are watched. A question refreshes first when
    that is too old (`topic.metadata.refresh.interval.ms`) or was called `stale`, but not before `retry.backoff.ms`
    have passed since the last time, so that a caller in a loop sets the pace.
    """

    def __init__(
        self, settings: ConnectionSettings, timeout: float, connecting: float = 0.0, *, committed_only: bool = False
    ) -> None:
        """Create a cluster; each question may take `timeout` seconds, after the same time or `connecting` for TCP,
        TLS and login. `committed_only`: a log ends where a transaction is open.
        """
        self._settings = settings
        self._committed_only = committed_only
        self._security = Security(settings)
        self._timeout = timeout
        self._connecting = max(timeout, connecting)
        self._addresses = Addresses(settings)
        self._max_age = settings.metadata_max_age
        self._retry_pause = settings.retry_backoff
        self._topology = Topology()
        self._topics: frozenset[str] = frozenset()
        self._create = False
        self._used: dict[str, float] = {}
        self._refreshed = self._due = float("-inf")
        self._refreshing = Lock()
        self._on_trouble: Callable[[str], None] | None = None
        self._inspect_at = 0.0
        self._refresher: Thread | None = None
        self._starting = Lock()
        self._wake = Event()
        self._news = Condition()
        self._failure: Exception | None = None
        self._closed = Event()
        self._reconnects = Reconnects(settings, self._closed)
        self._listeners = MissingListeners(settings.client_id)
        self._max_idle = settings.max_idle
        self._counting = Lock()
        self._made, self._open = 0, list[Connection]()
        self.traffic: Traffic | None = None
        """Counts small requests, and is told when no broker answers."""
        self._lines: defaultdict[tuple[str, int], KeptConnection] = defaultdict(lambda: KeptConnection(self._closed))

    def watch(self, topics: Collection[str], *, create: bool = False) -> None:
        """Ask about these topics, too, from the next question on; `create` lets brokers create what is missing."""
        self._create = self._create or create
        self._used |= dict.fromkeys(topics, monotonic())
        if new := frozenset(topics) - self._topics:
            self._topics |= new
            self._due = float("-inf")
            self._refresh_behind()

    def leader(self, partition: TopicPartition) -> Broker | None:
        """Return the leader of a partition; None while it has none or does not exist."""
        self._used[partition.topic] = monotonic()
        topology = self._now()
        known = topology.leaders.get(partition)
        return topology.brokers.get(known.node) if known else None

    def why_leaderless(self, partition: TopicPartition, otherwise: str = "has no leader") -> str:
        """Return why `leader` is None: that broker lacks the client's listener, or what is said `otherwise`."""
        if partition in self._topology.without_listener:
            return "has a leader broker without a matching listener"
        return otherwise

    def leaders(self) -> Mapping[TopicPartition, Leadership]:
        """Return `leader` and `leader_epoch` of all partitions, for callers that need thousands at once."""
        return self._now().with_leader

    def leader_epoch(self, partition: TopicPartition) -> int:
        """Return the leader epoch, or -1 if it is unknown."""
        known = self._now().leaders.get(partition)
        return known.epoch if known else UNKNOWN_EPOCH

    def partitions(self, topic: str) -> int:
        """Return the number of partitions of a topic; 0 when it does not exist (yet)."""
        self._used[topic] = monotonic()
        return self._now().sizes.get(topic, 0)

    def topic_ids(self, *, fresh: bool = True) -> Mapping[str, object]:
        """Return the ids of topics, in the last answer unless `fresh`; recreated ones have others, before 2.8 none."""
        return (self._now() if fresh else self._topology).ids

    def cluster_id(self) -> str:
        """Return the cluster id of the last answer; empty before the first one, and for brokers before 0.10.1."""
        return self._topology.cluster_id

    def cluster_ids(self) -> tuple[str, ...]:
        """Return all ids that were told, `cluster_id` last: several where addresses lead to several clusters."""
        return self._topology.cluster_ids

    def problem(self, topic: str) -> int | None:
        """Return the error code of a topic that the last answer describes by an error only."""
        return self._now().problems.get(topic)

    def broker(self, node: int) -> Broker | None:
        """Return the address of a broker; None when the cluster has no broker of that id."""
        return self._now().brokers.get(node)

    def brokers(self) -> list[Broker]:
        """Return all live brokers."""
        return list(self._now().brokers.values())

    def keep_fresh(self, on_trouble: Callable[[str], None]) -> None:
        """Keep the metadata fresh behind all questions from now on, so that none waits; call `poll` often.

        `on_trouble` is called with the reason of a failure. As in Java, there is always a connection, even when idle.
        The next question raises an error that cannot be repaired.
        """
        self._on_trouble = on_trouble
        self._refresh_behind()

    def poll(self) -> None:
        """Start a refresh if one is due, and look after idle connections; waits for nothing."""
        now = monotonic()
        if now >= min(self._due, self._inspect_at):
            self._inspect_at = now + _IDLE_TIMEOUT
            self._refresh_behind()

    def wait_for_refresh(self, timeout: float) -> None:
        """Wait until a refresh behind the questions has succeeded, or until the time is over."""
        with self._news:
            self._news.wait(timeout)

    def stale(self) -> None:
        """Mark the leaders as outdated: refresh at the next question."""
        self._due = min(self._due, self._refreshed + self._retry_pause)
        self._refresh_behind()

    def refresh(self, node: int | None = None) -> None:
        """Ask this broker, else any that answers; raise ClusterUnreachable when none does in time."""
        broker = None if node is None else self._known(node)  # may refresh, too
        with self._refreshing:
            self._refresh(broker)

    def connect(self, node: int, within: float = inf) -> Connection:
        """Return a new connection to a broker, after the pause that follows failed ones; raise ConnectionLost, also
        where that takes longer than `within` seconds.
        """
        return self._connect(address_of(self._known(node)), within)

    def lost(self, node: int) -> None:
        """Ask others before this broker, which did not answer over a connection of `connect`."""
        if broker := self._topology.brokers.get(node):
            self._addresses.lost(broker.host, broker.port)

    def count(self, connection: Connection, node: int) -> None:
        """Count the small requests of this connection as those of this node, if there is `traffic`."""
        if self.traffic is not None:
            connection.on_exchange = partial(self.traffic.exchanged, node)

    def call(self, node: int, request: Any, patience: float = inf) -> Any:
        """Ask one broker, over a connection that is kept for such requests; raises ConnectionLost, also where it is
        silent for `patience` seconds.
        """
        return self._call(address_of(self._known(node)), request, patience)

    def call_any(self, request: Any, within: float = inf, *, is_change: bool = False) -> Any:
        """Ask any broker; raises ClusterUnreachable when none answers in time, or `within` less.

        A silent one costs a share of the time, but not where `is_change`: a second broker would make it once more.
        """
        seconds = min(self._timeout, within)
        deadline, limit = Deadline.after(seconds), Deadline.after(within)
        while True:
            lost = None
            addresses = self._addresses.in_order(self._topology.brokers.values())
            for address in addresses:
                share = inf if address is addresses[-1] else self._addresses.patience
                try:
                    return self._call(address, request, min(share, limit.remaining()), is_change=is_change)
                except ConnectionLost as error:
                    lost = error
                if deadline.expired() or self._closed.is_set():
                    self._addresses.none_answered()
                    raise ClusterUnreachable(f"no broker answered in {seconds:g} s; {lost}") from lost
            if self.traffic is not None:
                self.traffic.on_trouble(str(lost))

    def offsets(self, partitions: Collection[TopicPartition], which: int) -> dict[TopicPartition, int]:
        """Return the first (EARLIEST) or next (LATEST) offsets; LATEST respects `isolation.level`.

        Wait for leaders. Raise RequestRefused, or ClusterUnreachable when some are not found in time.
        """
        found = self.offsets_of_led(partitions, which)
        if missing := [partition for partition in partitions if partition not in found]:
            if unlistened := self._topology.without_listener.intersection(missing):
                raise ClusterUnreachable(listener_problem(unlistened))
            raise ClusterUnreachable(f"no offset of {missing[0]} within {self._timeout:g} s")
        return found

    def offsets_of_led(
        self, partitions: Collection[TopicPartition], which: int, *, patient: bool = True
    ) -> dict[TopicPartition, int]:
        """Return `offsets` of the partitions whose leader exists and answers; with `patient`, wait for leaders."""
        return self._found_offsets(dict.fromkeys(partitions, which), patient=patient)

    def offsets_for_times(self, times: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
        """Return the first offset whose record is as old as this (ms since 1970) or younger; -1: there is none.

        Only of the partitions whose leader exists and answers, and knows the times of its records (since 0.10.1).
        """
        return self._found_offsets(times, patient=False)

    def _found_offsets(self, wanted: Mapping[TopicPartition, int], *, patient: bool) -> dict[TopicPartition, int]:
        self.watch({partition.topic for partition in wanted})
        deadline = Deadline.after(self._timeout if patient else 0.0)
        found: dict[TopicPartition, int] = {}
        while missing := {partition: which for partition, which in wanted.items() if partition not in found}:
            found.update(self._offsets_now(missing))
            if len(found) < len(wanted):
                if deadline.expired() or self._closed.is_set():
                    break
                self.stale()
                self._closed.wait(self._retry_pause)
        return found

    def age(self) -> float | None:
        """Return the seconds since the last refresh; None before the first."""
        return monotonic() - self._refreshed if self._refreshed > float("-inf") else None

    def connections(self) -> Connections:
        """Return the counts of all connections to the brokers."""
        with self._counting:
            self._forget_closed()
            return Connections(self._made, len(self._open))

    def close_idle(self) -> None:
        """End connections made for `call` that were unused for a while, the only one to the cluster later."""
        now = monotonic()
        for line in sorted(self._lines.values(), key=lambda line: line.used):
            line.close_if_idle(now - (_IDLE_TIMEOUT if self.connections().open > 1 else self._max_idle))

    def close(self) -> None:
        """End the connections made for `call`; those of `connect` are their owners'. Wakes waiting threads."""
        self._closed.set()
        self._wake.set()
        for line in list(self._lines.values()):
            line.close()

    def _offsets_now(self, wanted: Mapping[TopicPartition, int]) -> Iterator[tuple[TopicPartition, int]]:
        by_leader: defaultdict[int, dict[TopicPartition, int]] = defaultdict(dict)
        for partition, which in wanted.items():
            if leader := self.leader(partition):
                by_leader[leader.node][partition] = which
            elif problem := self.problem(partition.topic):
                _require_retriable(problem, partition)
        for node, led in by_leader.items():
            try:
                answer = self.call(node, self._offsets_request(led), self._timeout)
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

    def _offsets_request(self, wanted: Mapping[TopicPartition, int]) -> Any:
        topics: defaultdict[str, list[Any]] = defaultdict(list)
        for (topic, partition), which in wanted.items():
            epoch = self.leader_epoch(TopicPartition(topic, partition))
            row = ListOffsetsRequest.ListOffsetsTopic.ListOffsetsPartition(
                partition_index=partition, current_leader_epoch=epoch, timestamp=which, max_num_offsets=1
            )
            topics[topic].append(row)
        return ListOffsetsRequest(
            replica_id=-1,
            isolation_level=IsolationLevel.READ_COMMITTED if self._committed_only else IsolationLevel.READ_UNCOMMITTED,
            topics=[ListOffsetsRequest.ListOffsetsTopic(name=name, partitions=rows) for name, rows in topics.items()],
            timeout_ms=int(self._timeout * 1000),
        )

    def _refresh_behind(self) -> None:
        """Let a thread refresh, after `keep_fresh`; it ends when no refresh is due soon."""
        if self._on_trouble is None:
            return
        with self._starting:
            self._wake.set()
            if self._refresher is None and self._failure is None and not self._closed.is_set():
                self._refresher = Thread(target=self._refresh_when_due, name="metadata", daemon=True)
                self._refresher.start()

    def _refresh_when_due(self) -> None:
        while True:
            self._wake.clear()
            self.close_idle()
            if monotonic() >= self._due or not self.connections().open:
                self._try_refresh()
            with self._starting:
                pause = self._due - monotonic()
                is_idle = pause > _SOON_TIMEOUT and not self._wake.is_set()
                if is_idle or self._failure is not None or self._closed.is_set():
                    self._refresher = None
                    return
            self._wake.wait(max(0.0, min(pause, _SOON_TIMEOUT)))

    def _try_refresh(self) -> None:
        assert self._on_trouble is not None
        try:
            self.refresh()
        except ClusterUnreachable as error:
            if not self._closed.is_set():
                self._on_trouble(str(error))
        except Exception as error:  # noqa: BLE001 - the next question raises it
            self._failure = error
        else:
            with self._news:
                self._news.notify_all()

    def _known(self, node: int) -> Broker:
        broker = self.broker(node)
        if broker is None:
            self.stale()
            raise ConnectionLost(f"no broker {node} in the cluster")
        return broker

    def _now(self) -> Topology:
        if self._failure is not None:
            raise self._failure
        if self._on_trouble is None and monotonic() >= self._due:
            with self._refreshing:
                if monotonic() >= self._due:
                    self._refresh()
        return self._topology

    def _refresh(self, broker: Broker | None = None) -> None:
        asked = self._topics
        used_since = monotonic() - _UNUSED_TIMEOUT if self._create else float("-inf")
        row = MetadataRequest.MetadataRequestTopic
        topics = [row(name=name) for name in sorted(asked) if self._used[name] >= used_since]
        request = MetadataRequest(topics=topics, allow_auto_topic_creation=self._create)
        try:
            answer = self._topics_told_by(broker, request)
        except ConnectionLost as error:
            self._closed.wait(self._retry_pause)
            raise ClusterUnreachable(str(error)) from error
        self._topology = Topology.read(answer, self._topology)
        self._listeners.note(self._topology.without_listener)
        self._refreshed = monotonic()
        self._due = self._refreshed + self._max_age if asked == self._topics else float("-inf")

    def _topics_told_by(self, broker: Broker | None, request: Any) -> Any:
        """Return the answer of this broker, else of any; at first of an advertised one, which may lead elsewhere."""
        if broker is not None:
            return known_topics(self._call(address_of(broker), request))
        answer = known_topics(self.call_any(request))
        if self._topology.brokers:
            return answer
        ask = lambda place, seconds: known_topics(self._call(place, request, seconds))  # noqa: E731
        advertised = self._addresses.ask_advertised(answer.brokers, ask, self._timeout)
        if advertised is not None:
            self._topology = Topology.of_cluster(answer)
        return advertised or answer

    def _call(self, address: Address, request: Any, patience: float = inf, *, is_change: bool = False) -> Any:
        limit = Deadline.after(patience)

        def connect() -> Connection:
            return self._connect(address, patience if is_change else limit.remaining())

        try:
            line = self._lines[address.host, address.port]
            answer = line.call(request, connect, inf if is_change else patience)
        except ConnectionLost:
            self._addresses.lost(address.host, address.port)
            raise
        self._addresses.answered(address.host, address.port)
        return answer

    def _connect(self, address: Address, within: float) -> Connection:
        host, port, node = address
        limit = Deadline.after(within)
        try:
            with self._reconnects.turn(host, port, within):
                begin, seconds = monotonic(), min(self._connecting, limit.remaining())
                made = open_connection(self._security, host, port, self._settings, node, within=seconds)
        except ConnectionLost:
            self._addresses.lost(host, port)
            raise
        self._addresses.answered(host, port)
        self._addresses.connected(monotonic() - begin)
        self.count(made, _UNKNOWN_NODE if node is None else node)
        with self._counting:
            self._forget_closed()
            self._made += 1
            self._open.append(made)
        return made

    def _forget_closed(self) -> None:
        self._open = [connection for connection in self._open if connection.is_open()]


def _require_retriable(code: int, partition: TopicPartition) -> None:
    if not error_codes.is_retriable(code):
        raise RequestRefused(f"the offsets of {partition} cannot be listed: {error_codes.name(code)}")
