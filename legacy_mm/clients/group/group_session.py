"""A member's conversation with its coordinator, on a thread of its own: join, heartbeats, commits, leave.

Orders are followed one after the other, so a commit given before a join is with the coordinator before the join is.
Heartbeats go on while the member's own thread stops its work; what is heard becomes news, in the order it was heard.
"""

from __future__ import annotations

import queue
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any

from legacy_mm.base.clock import Deadline, monotonic
from legacy_mm.base.errors import LegacyMMError, StreamFailure
from legacy_mm.base.model import CommittedOffset, Offsets, TopicPartition
from legacy_mm.base.reports import Statistics
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.cluster.coordinator import Coordinator, CoordinatorMoved
from legacy_mm.clients.group import group_protocol, offset_requests
from legacy_mm.clients.group.group_protocol import GroupTerms, Identity, MemberShare
from legacy_mm.clients.group.groups import allowed_session
from legacy_mm.clients.group.member import CommitProblem, Failed
from legacy_mm.clients.group.sharing import Sharing
from legacy_mm.clients.group.topic_counts import TopicCounts
from legacy_mm.clients.net import error_text
from legacy_mm.clients.net.connection_errors import ClusterUnreachable, ConnectionLost
from legacy_mm.clients.net.traffic import Traffic
from legacy_mm.protocol import error_codes
from legacy_mm.protocol.error_codes import COORDINATOR_MOVED, GENERATION_OVER, ErrorCode

_NO_GENERATION = -1
_LOOK_INTERVAL = 0.05
_LEAST_SHARE = 0.1
"""The share of the session that an answer may take at least."""
_GRACE_TIMEOUT = 5.0
"""The extra time to wait for an answer after the rebalance timeout, as in Java."""


@dataclass(frozen=True, slots=True)
class Joined:
    """A generation began; these partitions are the member's."""

    generation: int
    topics: frozenset[str]
    partitions: frozenset[TopicPartition]


@dataclass(frozen=True, slots=True)
class Rebalancing:
    """The group wants its members to join again."""

    generation: int


@dataclass(frozen=True, slots=True)
class Lost:
    """The group does not know this member any more."""

    generation: int


@dataclass(frozen=True, slots=True)
class CommitDone:
    """The outcome of a commit."""

    offsets: Offsets = field(default_factory=dict)
    failed: Failed = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MemberRefused:
    """The conversation is over for good."""

    error: BaseException


News = Joined | Rebalancing | Lost | CommitDone | MemberRefused


class _JoinAgain(Exception):
    """A failed try to join; the argument says whether the next one may follow at once."""


class GroupSession:
    """The thread and what it knows. Each order returns at once.

    The coordinator is a broker of `cluster`, the partitions that the members share are those of `source`.
    """

    def __init__(
        self,
        terms: GroupTerms,
        sharing: Sharing,
        cluster: Cluster,
        source: Cluster,
        tell: Callable[[News], None],
        on_trouble: Callable[[str], None],
        on_statistics: Callable[[Statistics], None],
    ) -> None:
        self.heard = monotonic()
        """When the coordinator last took this member for one of the group."""
        self.polled = self.heard
        """When the member's own thread was last here."""
        self._terms = terms
        self._sharing = sharing
        self._cluster = cluster
        self._source = source
        self._coordinator = Coordinator(cluster, terms.group)
        self._tell = tell
        self._on_trouble = on_trouble
        self._on_statistics = on_statistics
        self._orders: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._member, self._generation = "", _NO_GENERATION
        self._counts = TopicCounts(source)
        self._reported = self._left = False
        self._waits = False
        """True while the member waits for others to join."""
        self._next_beat = float("inf")
        self._confirmed = _NO_GENERATION, float("-inf")
        """A generation, and when the last heartbeat was sent that the coordinator took as one of it."""
        self._done: Counter[str] = Counter(heartbeats=0, joins=0, syncs=0)
        self._traffic = cluster.network.traffic = Traffic("member", on_trouble)
        self._traffic.counters = lambda: self._done
        self._traffic.connections = cluster.network.connections
        self._traffic.metadata_age = cluster.metadata.age
        self._closing = Event()
        self._thread = Thread(target=self._run, name=f"group-{terms.group}", daemon=True)
        self._thread.start()

    # --- orders

    def join(self, topics: frozenset[str]) -> None:
        """Join, or join again, until it succeeds: then the news is `Joined`."""
        self._orders.put(lambda: self._join(topics))

    def commit(self, generation: int, offsets: Offsets) -> None:
        """Commit as of this generation: then the news is `CommitDone`."""
        self._orders.put(lambda: self._tell(self._commit(generation, offsets)))

    def committed(
        self, partitions: Collection[TopicPartition], timeout: float
    ) -> dict[TopicPartition, CommittedOffset]:
        """Return the group's offsets; this waits. Raise TimeoutError, StreamFailure."""
        found: Future[dict[TopicPartition, CommittedOffset]] = Future()
        self._orders.put(lambda: self._fetch(partitions, timeout, found))
        try:
            return found.result(timeout)
        except TimeoutError as error:
            raise TimeoutError(str(error) or f"no answer within {timeout:g} s") from None

    def ask_heartbeat(self) -> None:
        """Send a heartbeat at once, unless one that is sent from now on has been answered by then."""
        moment = monotonic()
        self._orders.put(lambda: self._hurry(moment))

    def confirmed_after(self, generation: int, moment: float) -> bool:
        """Return True if a heartbeat of this generation was sent after that moment, and answered with success."""
        confirmed, sent = self._confirmed
        return confirmed == generation and sent > moment

    def leave(self) -> None:
        """Leave the group; a static member sends nothing and keeps its partitions until its session expires."""
        self._orders.put(self._leave)

    def close(self, timeout: float) -> None:
        """Leave and end; not longer than `timeout` seconds."""
        deadline = Deadline.after(timeout)
        self._closing.set()
        self._orders.put(self._end)
        while self._thread.is_alive() and not deadline.expired():
            if self._waits:
                self._coordinator.forget()
            self._thread.join(_LOOK_INTERVAL)
        for cluster in {self._cluster, self._source}:
            cluster.close()

    # --- the thread

    def _run(self) -> None:
        try:
            self._insist(self._cluster.metadata.refresh)
            for cluster in {self._cluster, self._source}:
                cluster.metadata.keep_fresh(self._on_trouble)
            self._insist(self._coordinator.reach)
            while not self._left:
                self._follow_order()
                for cluster in {self._cluster, self._source}:
                    cluster.metadata.poll()
                self._beat()
                self._watch_topics()
                self._report()
        except BaseException as error:  # noqa: BLE001 - the member raises it out of poll()
            self._tell(MemberRefused(error))
            self._closing.wait()  # until then the stream may still copy: nobody else shall get its partitions
            with suppress(LegacyMMError):
                self._leave()
        finally:
            self._coordinator.forget()

    def _follow_order(self) -> None:
        wait = min(self._next_beat - monotonic(), self._terms.heartbeat_interval)
        try:
            order = self._orders.get(timeout=max(0.0, wait))
        except queue.Empty:
            return
        order()

    @property
    def _timeout(self) -> float:
        """The seconds for an answer, and for finding who gives it: a third of what is left of the session, since
        another broker may keep the group then.
        """
        session = self._terms.session_timeout
        is_member = self._generation != _NO_GENERATION
        left = self.heard + session - monotonic() if is_member else session
        return max(left / 3, session * _LEAST_SHARE)

    def _identity(self) -> Identity:
        return Identity(self._terms.group, self._generation, self._member, self._terms.instance)

    def _insist(self, ask: Callable[[], Any]) -> Any:
        """Retry until a coordinator answers and return the answer; None when the member is closed meanwhile."""
        while not self._closing.is_set():
            try:
                return ask()
            except (ConnectionLost, ClusterUnreachable) as error:
                if not isinstance(error, CoordinatorMoved) and not self._closing.is_set():
                    self._on_trouble(str(error))
                self._pause()
        return None

    def _pause(self) -> None:
        self._closing.wait(self._terms.retry_pause)

    # --- joining

    def _join(self, topics: frozenset[str]) -> None:
        """Join the group; retry until it succeeds or the member is closed."""
        self._forget_generation()
        while not self._closing.is_set():
            try:
                if self._insist(lambda: self._join_once(topics)) is not None:
                    return
            except _JoinAgain as again:
                if not again.args[0]:
                    self._pause()

    def _join_once(self, topics: frozenset[str]) -> bool:
        if not self._member:
            self._inspect_group()
        told = self._counts.known(topics) if self._sharing.counts_partitions else {}
        request = group_protocol.join(
            self._terms, self._member, topics, self._sharing.protocols, self._sharing.user_data(told)
        )
        joined = self._wait("joins", request)
        if joined.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self._member = joined.member_id
            raise _JoinAgain(True)
        self._check(joined.error_code)
        self._member = joined.member_id
        shares, counts = self._shares(joined, told) if joined.leader == joined.member_id else ({}, told or None)
        who = self._identity()._replace(generation=joined.generation_id)
        synced = self._wait("syncs", group_protocol.sync(who, joined.protocol_name, shares, self._terms.protocol_type))
        self._check(synced.error_code)
        share = group_protocol.share(synced.assignment)
        self._sharing.take(joined.generation_id, share)
        self._counts.share(counts)
        self._generation, self._reported = joined.generation_id, False
        self.heard = monotonic()
        self._next_beat = self.heard + self._terms.heartbeat_interval
        self._tell(Joined(self._generation, topics, frozenset(share.partitions)))
        return True

    def _wait(self, counted: str, request: Any) -> Any:
        """Wait for an answer that comes once all members have asked, or until the member is closed."""
        self._done[counted] += 1
        self._waits = True
        try:
            return self._coordinator.call(request, self._terms.rebalance_timeout + _GRACE_TIMEOUT)
        finally:
            self._waits = False

    def _check(self, code: int) -> None:
        """Raise what an answer to a join means; nothing is owned meanwhile, so nothing can be lost."""
        if not code:
            return
        if code == ErrorCode.UNKNOWN_MEMBER_ID:
            self._member = ""
        elif code in COORDINATOR_MOVED:
            self._coordinator.forget()
        elif code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL and self._inspect_group():
            self._on_trouble(error_text.text(code))  # they join just now: their protocol is known later
        elif code not in GENERATION_OVER and not error_codes.is_retriable(code):
            limits = allowed_session(self._coordinator, code, self._terms.session_timeout, self._timeout)
            raise StreamFailure(f"{error_text.refused_member(self._terms.group, code)}{limits}")
        raise _JoinAgain(code == ErrorCode.UNKNOWN_MEMBER_ID)

    def _inspect_group(self) -> bool:
        """Look whether the members may be joined, and raise StreamFailure if not; False: that does not matter."""
        if (doubt := self._sharing.doubt) is None:
            return False
        (row,) = self._coordinator.call(group_protocol.describe([self._terms.group]), self._timeout).groups
        if row.error_code != ErrorCode.GROUP_ID_NOT_FOUND:
            self._check(row.error_code)
        if why := doubt(self._terms.group, group_protocol.description(row)):
            raise StreamFailure(why)
        return True

    def _shares(self, joined: Any, told: Mapping[str, int]) -> tuple[Mapping[str, MemberShare], Mapping[str, int]]:
        """Return, as the leader, each member's share, and the partition counts."""
        members = [group_protocol.subscription(member) for member in joined.members]
        counts = told
        if not self._sharing.counts_partitions:
            counts = self._counts.present({topic for member in members for topic in member.subscriber.topics})
        if joined.skip_assignment:  # a static leader that has come back: the group goes on as it was
            return {}, counts
        return self._sharing.shares(joined.protocol_name, members, counts), counts

    # --- being a member

    def _beat(self) -> None:
        now = monotonic()
        if now < self._next_beat:
            return
        if now - self.polled > self._terms.rebalance_timeout:  # an idle client is no member, as in Java
            self._lost(self._leave)
            return
        self._next_beat = now + self._terms.heartbeat_interval
        self._done["heartbeats"] += 1
        try:
            answer = self._coordinator.call(group_protocol.heartbeat(self._identity()), self._timeout)
        except (ConnectionLost, ClusterUnreachable) as error:
            self._on_trouble(str(error))
            self._next_beat = monotonic() + self._terms.retry_pause
            return
        self._take_beat(answer.error_code, now)

    def _hurry(self, moment: float) -> None:
        if self._generation != _NO_GENERATION and not self.confirmed_after(self._generation, moment):
            self._next_beat = moment

    def _take_beat(self, code: int, sent: float) -> None:
        if code in (0, ErrorCode.REBALANCE_IN_PROGRESS):
            self.heard = sent  # the coordinator may count from then
            if code:
                self._rebalancing()
            else:
                self._confirmed = self._generation, sent
        elif code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION):
            self._lost(lambda: self._forget_generation(unknown=code == ErrorCode.UNKNOWN_MEMBER_ID))
        elif code in COORDINATOR_MOVED or error_codes.is_retriable(code):
            self._coordinator.forget()
            self._next_beat = monotonic() + self._terms.retry_pause
        else:
            raise StreamFailure(error_text.refused_member(self._terms.group, code))

    def _lost(self, forget: Callable[[], None]) -> None:
        generation = self._generation
        forget()
        self._tell(Lost(generation))

    def _forget_generation(self, *, unknown: bool = False) -> None:
        self._generation, self._next_beat = _NO_GENERATION, float("inf")
        self._counts.share(None)
        if unknown:
            self._member = ""

    def _rebalancing(self) -> None:
        if not self._reported:
            self._reported = True
            self._tell(Rebalancing(self._generation))

    def _watch_topics(self) -> None:
        """Ask to join again when partitions are added, most often as the leader."""
        if self._generation != _NO_GENERATION and self._counts.have_grown():
            self._rebalancing()

    def _commit(self, generation: int, offsets: Offsets) -> CommitDone:
        if generation != self._generation:
            return _failed(offsets, CommitProblem.REJOINING, "its generation is over")
        metadata = self._terms.commit_metadata
        request = offset_requests.commit_request(
            self._identity(), {partition: (offset, metadata) for partition, offset in offsets.items()}
        )
        try:
            try:
                answer = self._coordinator.call(request, self._timeout)
            except ConnectionLost:  # the same offsets once more do no harm
                answer = self._coordinator.call(request, self._timeout)
        except (ConnectionLost, ClusterUnreachable) as error:
            return _failed(offsets, CommitProblem.RETRY, str(error))
        outcome = dict(offset_requests.commit_outcome(answer))
        if COORDINATOR_MOVED & set(outcome.values()):
            self._coordinator.forget()
        return CommitDone(
            {partition: offset for partition, offset in offsets.items() if outcome.get(partition) == 0},
            {
                partition: (offset_requests.commit_problem(code), error_text.text(code))
                for partition, code in outcome.items()
                if code
            },
        )

    def _fetch(self, partitions: Collection[TopicPartition], timeout: float, found: Future[Any]) -> None:
        try:
            request: Any = offset_requests.fetch_request(self._terms.group, partitions)
            answer = self._coordinator.call(request, min(timeout, self._timeout))
            found.set_result(offset_requests.fetched(self._terms.group, answer))
        except (ConnectionLost, ClusterUnreachable) as error:
            found.set_exception(TimeoutError(str(error)))
        except (LegacyMMError, TimeoutError) as error:
            found.set_exception(error)

    # --- leaving

    def _leave(self) -> None:
        self._forget_generation()
        if not self._member or self._terms.instance is not None:
            return
        member, self._member = self._member, ""
        request = group_protocol.leave(self._terms.group, member)
        try:
            self._coordinator.call(request, self._terms.heartbeat_interval)
        except (ConnectionLost, ClusterUnreachable) as error:
            self._on_trouble(str(error))  # the group finds out when the session is over

    def _end(self) -> None:
        self._leave()
        self._left = True

    def _report(self) -> None:
        if statistics := self._traffic.statistics_when_due():
            self._on_statistics(statistics)


def _failed(offsets: Offsets, problem: CommitProblem, why: str) -> CommitDone:
    return CommitDone({}, dict.fromkeys(offsets, (problem, why)))
