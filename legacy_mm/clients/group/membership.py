"""The group membership over our own sockets. Eager protocol.

As `clients/librdkafka/membership.py`: it fetches nothing, one thread makes every call, and the listener is called on
that thread.
Rebalance: (1) the session learns of it, or the subscription changes; (2) `poll` tells the listener `revoked`, which
stops its work and commits; (3) the join is ordered behind that commit; (4) a later `poll` tells `assigned`.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from legacy_mm.base.clock import monotonic
from legacy_mm.base.errors import StreamFailure
from legacy_mm.base.kafka_clients import ConnectionSettings, ConsumerSettings, MembershipSettings
from legacy_mm.base.model import CommittedOffset, Offsets, TopicPartition
from legacy_mm.base.reports import Statistics
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.group.group_protocol import CONNECT, CONSUMERS, GroupTerms
from legacy_mm.clients.group.group_session import (
    CommitDone,
    GroupSession,
    Joined,
    Lost,
    MemberRefused,
    News,
    Rebalancing,
)
from legacy_mm.clients.group.member import CommitProblem, MembershipListener
from legacy_mm.clients.group.sharing import ByAssignors, Sharing

_CLOSE_TIMEOUT = 5.0


@dataclass(frozen=True, slots=True)
class WorkerGroup:
    """A group of the type that Kafka Connect's workers make, and the cluster that keeps it."""

    connection: ConnectionSettings
    """It has the client id of the worker."""
    membership: MembershipSettings


class NativeMember:
    """A member of a group that shares the partitions of the source, normally its consumer group at the source."""

    def __init__(
        self,
        settings: ConsumerSettings,
        client_id: str,
        listener: MembershipListener,
        on_statistics: Callable[[Statistics], None],
        on_trouble: Callable[[str], None],
        timeout: float,
        sharing: Sharing | None = None,
        commit_metadata: str = "",
        workers: WorkerGroup | None = None,
    ) -> None:
        """Create a member; `on_trouble` gets the reason why the cluster is unreachable; `timeout` is for one
        request. Without `sharing` the assignors of the settings share partitions out. `commit_metadata` goes with
        every offset that is committed. The group is that of the settings, or `workers`.
        """
        membership = settings.membership if workers is None else workers.membership
        self.name = f"Consumer clientId={client_id}, groupId={membership.group_id}"
        self._listener = listener
        self._news: queue.SimpleQueue[News] = queue.SimpleQueue()
        kind = CONSUMERS if workers is None else CONNECT
        self._terms = _terms(membership, settings.connection.retry_backoff, kind, commit_metadata)
        source = Cluster(settings.named(client_id).connection, timeout)
        cluster = source if workers is None else Cluster(workers.connection, timeout)
        self._session = GroupSession(
            self._terms,
            sharing or ByAssignors(membership.assignors),
            cluster,
            source,
            self._news.put,
            on_trouble,
            on_statistics,
        )
        self._topics: frozenset[str] = frozenset()
        self._changed = self._joining = False
        self._held: Joined | None = None
        self._refused: BaseException | None = None

    def subscribe(self, topics: Collection[str]) -> None:
        """Ask for these topics from the next rebalance on; none leaves the group."""
        self._changed = self._changed or frozenset(topics) != self._topics
        self._topics = frozenset(topics)

    def poll(self, timeout: float) -> None:
        """Serve the membership for at most `timeout` seconds. Raises StreamFailure when the group refuses us."""
        self._session.polled = monotonic()
        self._raise_refusal()
        self._ask_when_changed()
        self._give_up_when_silent()
        try:
            self._take(self._news.get(timeout=timeout))
            while not self._news.empty():
                self._take(self._news.get())
        except queue.Empty:
            pass

    def committed(self, partitions: Iterable[TopicPartition], timeout: float) -> dict[TopicPartition, CommittedOffset]:
        """Return the group's committed offsets; omit partitions without one. Raise TimeoutError, StreamFailure."""
        return self._session.committed(list(partitions), timeout)

    @property
    def generation(self) -> int:
        """The generation that gave this member its partitions; -1: none."""
        return -1 if self._held is None else self._held.generation

    def ask_heartbeat(self) -> None:
        """Send a heartbeat at once, for `confirmed_after`; nothing while there is no generation."""
        self._session.ask_heartbeat()

    def confirmed_after(self, moment: float) -> bool:
        """Return True if a heartbeat of the present generation was sent after `moment` (`clock.monotonic`) and
        answered with success; that the group rebalances is no success.
        """
        return self._held is not None and self._session.confirmed_after(self._held.generation, moment)

    def commit(self, offsets: Offsets) -> None:
        """Commit without waiting; the outcome comes to the listener out of a later `poll()`."""
        if self._held is not None:
            self._session.commit(self._held.generation, offsets)
        else:
            self._news.put(CommitDone({}, dict.fromkeys(offsets, (CommitProblem.REJOINING, "no generation"))))

    def close(self) -> None:
        """Leave the group; a static member's partitions wait for it instead."""
        try:
            if self._held is not None:
                held, self._topics = self._held, frozenset()
                self._listener.revoked(held.partitions)
                self._held = None
        finally:
            self._session.close(_CLOSE_TIMEOUT)
        while not self._news.empty():
            news = self._news.get()
            if isinstance(news, CommitDone):
                self._listener.committed(news.offsets, news.failed)

    def _ask_when_changed(self) -> None:
        if not self._changed or self._joining:
            return
        self._changed = False
        if self._held is not None:
            self._give_up(self._listener.revoked)
        else:
            self._ask()

    def _give_up_when_silent(self) -> None:
        """Give up membership when the coordinator had no heartbeat for so long that it has reassigned the
        partitions.
        """
        if self._held is not None and monotonic() - self._session.heard > self._terms.session_timeout:
            self._give_up(self._listener.lost)

    def _give_up(self, tell: Callable[[frozenset[TopicPartition]], None]) -> None:
        assert self._held is not None
        tell(self._held.partitions)
        self._held = None
        self._ask()

    def _ask(self) -> None:
        """Join with the present topics. Whatever is committed before is with the coordinator before."""
        self._joining = bool(self._topics)
        if self._joining:
            self._session.join(self._topics)
        else:
            self._session.leave()

    def _take(self, news: News) -> None:
        match news:
            case Joined():
                self._joining = False
                self._take_partitions(news)
            case CommitDone(offsets, failed):
                self._listener.committed(offsets, failed)
            case Rebalancing(generation) if self._held is not None and self._held.generation == generation:
                self._give_up(self._listener.revoked)
            case Lost(generation) if self._held is not None and self._held.generation == generation:
                self._give_up(self._listener.lost)
            case MemberRefused(error):
                self._refused = error
                self._raise_refusal()

    def _take_partitions(self, joined: Joined) -> None:
        self._changed = False
        if joined.topics == self._topics:
            self._held = joined
            self._listener.assigned(joined.partitions)
        else:
            self._ask()

    def _raise_refusal(self) -> None:
        if isinstance(self._refused, StreamFailure):
            raise self._refused
        if self._refused is not None:
            raise StreamFailure(f"the group membership ended: {self._refused}") from self._refused


def _terms(membership: MembershipSettings, retry_pause: float, protocol_type: str, commit_metadata: str) -> GroupTerms:
    return GroupTerms(
        group=membership.group_id,
        instance=membership.instance_id,
        session_timeout=membership.session_timeout,
        heartbeat_interval=membership.heartbeat_interval,
        rebalance_timeout=membership.max_poll_interval,
        retry_pause=retry_pause,
        protocol_type=protocol_type,
        commit_metadata=commit_metadata,
    )
