"""The metadata of a cluster: which broker leads which partition, refreshed when it is old or found wrong."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from threading import Condition, Event, Lock, Thread
from typing import Any

from kafka.protocol.metadata import MetadataRequest

from legacy_mm.base.clock import monotonic
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.cluster.addresses import address_of
from legacy_mm.clients.cluster.missing_listeners import MissingListeners
from legacy_mm.clients.cluster.network_client import IDLE_TIMEOUT, NetworkClient
from legacy_mm.clients.cluster.topology import UNKNOWN_EPOCH, Broker, Leadership, Topology, known_topics
from legacy_mm.clients.net.connection_errors import ClusterUnreachable, ConnectionLost

_SOON_TIMEOUT = 2.0
"""The time for which a thread waits for the next refresh; it is started again for a later one."""
_UNUSED_TIMEOUT = 300.0
"""The time after which an unused topic leaves the metadata requests, as in Java: asking recreates a deleted one."""


class MetadataRefresher:
    """The thread that refreshes metadata behind all questions, and looks after idle connections meanwhile.

    It ends when no refresh is due soon. Any thread may call this.
    """

    def __init__(
        self,
        network: NetworkClient,
        refresh: Callable[[], None],
        due: Callable[[], float],
        on_trouble: Callable[[str], None],
    ) -> None:
        """Take what refreshes, when the next time is due, and what is called with the reason of a failure."""
        self.failure: Exception | None = None
        """An error that cannot be repaired."""
        self._network = network
        self._refresh = refresh
        self._due = due
        self._on_trouble = on_trouble
        self._inspect_at = 0.0
        self._thread: Thread | None = None
        self._starting = Lock()
        self._wake = Event()

    def wake(self) -> None:
        """Let the thread look whether a refresh is due, or whether the cluster is closed; start it if needed."""
        with self._starting:
            self._wake.set()
            if self._thread is None and self.failure is None and not self._network.closed.is_set():
                self._thread = Thread(target=self._refresh_when_due, name="metadata", daemon=True)
                self._thread.start()

    def poll(self) -> None:
        """Start a refresh if one is due, and look after idle connections; waits for nothing."""
        now = monotonic()
        if now >= min(self._due(), self._inspect_at):
            self._inspect_at = now + IDLE_TIMEOUT
            self.wake()

    def _refresh_when_due(self) -> None:
        network = self._network
        while True:
            self._wake.clear()
            network.close_idle()
            if monotonic() >= self._due() or not network.connections().open:
                self._try_refresh()
            with self._starting:
                pause = self._due() - monotonic()
                is_idle = pause > _SOON_TIMEOUT and not self._wake.is_set()
                if is_idle or self.failure is not None or network.closed.is_set():
                    self._thread = None
                    return
            self._wake.wait(max(0.0, min(pause, _SOON_TIMEOUT)))

    def _try_refresh(self) -> None:
        try:
            self._refresh()
        except ClusterUnreachable as error:
            if not self._network.closed.is_set():
                self._on_trouble(str(error))
        except Exception as error:  # noqa: BLE001 - the next question raises it
            self.failure = error


class Metadata:
    """Brokers, leaders and epochs, for every thread that asks.

    Answers come from what the last refresh told about the topics that are watched. A question refreshes first when
    that is too old (`metadata.max.age.ms`) or was called `stale`, but not before `retry.backoff.ms`
    have passed since the last time, so that a caller in a loop sets the pace.
    """

    def __init__(self, settings: ConnectionSettings, network: NetworkClient) -> None:
        self._network = network
        self._max_age = settings.metadata_max_age
        self._retry_pause = settings.retry_backoff
        self._topology = Topology()
        self._topics: frozenset[str] = frozenset()
        self._create = False
        self._used: dict[str, float] = {}
        self._refreshed = self._due = float("-inf")
        self._refreshing = Lock()
        self._refresher: MetadataRefresher | None = None
        self._news = Condition()
        self._listeners = MissingListeners(settings.client_id)

    def watch(self, topics: Collection[str], *, create: bool = False) -> None:
        """Ask about these topics, too, from the next question on; `create` lets brokers create what is missing."""
        self._create = self._create or create
        self._used |= dict.fromkeys(topics, monotonic())
        if new := frozenset(topics) - self._topics:
            self._topics |= new
            self._due = float("-inf")
            self.wake()

    def leader(self, partition: TopicPartition) -> Broker | None:
        """Return the leader of a partition; None while it has none or does not exist."""
        self._used[partition.topic] = monotonic()
        topology = self._now()
        known = topology.leaders.get(partition)
        return topology.brokers.get(known.node) if known else None

    def without_listener(self) -> frozenset[TopicPartition]:
        """Return the partitions whose leader lacks the client's listener in the last answer."""
        return self._topology.without_listener

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

    def broker(self, node: int) -> Broker:
        """Return the address of a broker; raise ConnectionLost when the cluster has no broker of that id."""
        broker = self._now().brokers.get(node)
        if broker is None:
            self.stale()
            raise ConnectionLost(f"no broker {node} in the cluster")
        return broker

    def brokers(self) -> list[Broker]:
        """Return all live brokers."""
        return list(self._now().brokers.values())

    def age(self) -> float | None:
        """Return the seconds since the last refresh; None before the first."""
        return monotonic() - self._refreshed if self._refreshed > float("-inf") else None

    def stale(self) -> None:
        """Mark the leaders as outdated: refresh at the next question."""
        self._due = min(self._due, self._refreshed + self._retry_pause)
        self.wake()

    def refresh(self, node: int | None = None) -> None:
        """Ask this broker, else any that answers; raise ClusterUnreachable when none does in time."""
        broker = None if node is None else self.broker(node)  # may refresh, too
        with self._refreshing:
            self._refresh(broker)

    def keep_fresh(self, on_trouble: Callable[[str], None]) -> None:
        """Keep the metadata fresh behind all questions from now on, so that none waits; call `poll` often.

        `on_trouble` is called with the reason of a failure; that of the first call counts. As in Java, there is always
        a connection, even when idle. The next question raises an error that cannot be repaired.
        """
        if self._refresher is None:
            self._refresher = MetadataRefresher(self._network, self._refresh_behind, lambda: self._due, on_trouble)
        self._refresher.wake()

    def poll(self) -> None:
        """Start a refresh if one is due, and look after idle connections, after `keep_fresh`; waits for nothing."""
        if self._refresher is not None:
            self._refresher.poll()

    def wait_for_refresh(self, timeout: float) -> None:
        """Wait until a refresh behind the questions has succeeded, or until the time is over."""
        with self._news:
            self._news.wait(timeout)

    def wake(self) -> None:
        """Let the thread that keeps it fresh, if there is one, look what is due, or whether the cluster is closed."""
        if self._refresher is not None:
            self._refresher.wake()

    def _now(self) -> Topology:
        if self._refresher is not None:
            if self._refresher.failure is not None:
                raise self._refresher.failure
        elif monotonic() >= self._due:
            with self._refreshing:
                if monotonic() >= self._due:
                    self._refresh()
        return self._topology

    def _refresh_behind(self) -> None:
        self.refresh()
        with self._news:
            self._news.notify_all()

    def _refresh(self, broker: Broker | None = None) -> None:
        asked = self._topics
        used_since = monotonic() - _UNUSED_TIMEOUT if self._create else float("-inf")
        row = MetadataRequest.MetadataRequestTopic
        topics = [row(name=name) for name in sorted(asked) if self._used[name] >= used_since]
        request = MetadataRequest(topics=topics, allow_auto_topic_creation=self._create)
        try:
            answer = self._topics_told_by(broker, request)
        except ConnectionLost as error:
            self._network.closed.wait(self._retry_pause)
            raise ClusterUnreachable(str(error)) from error
        self._topology = Topology.read(answer, self._topology)
        self._network.brokers = self._topology.brokers
        self._listeners.note(self._topology.without_listener)
        self._refreshed = monotonic()
        self._due = self._refreshed + self._max_age if asked == self._topics else float("-inf")

    def _topics_told_by(self, broker: Broker | None, request: Any) -> Any:
        """Return the answer of this broker, else of any; at first of an advertised one, which may lead elsewhere."""
        if broker is not None:
            return known_topics(self._network.call(address_of(broker), request))
        answer = known_topics(self._network.call_any(request))
        if self._topology.brokers:
            return answer
        advertised = self._network.call_advertised(answer.brokers, request, known_topics)
        if advertised is not None:
            self._topology = Topology.of_cluster(answer)
        return advertised or answer
