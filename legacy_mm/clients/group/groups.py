"""Consumer groups of a cluster: which there are, in what state, what they have committed; and commits for those that
have no members.

Asked here, because librdkafka's admin client crashes when a broker answers that it is not a group's coordinator.

It also says which session time-outs a coordinator allows, when it has refused one.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from kafka.protocol.admin import ListGroupsRequest
from kafka.protocol.consumer import OffsetDeleteRequest, OffsetFetchRequest

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError, StreamFailure
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.base.model import CommittedOffset, GroupOffsets, TopicPartition
from legacy_mm.clients.cluster.admin_traffic import AdminTraffic, counted
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.cluster.coordinator import Coordinator, coordinators, unreachable
from legacy_mm.clients.cluster.topic_properties import broker_properties
from legacy_mm.clients.group import group_protocol
from legacy_mm.clients.group.group_protocol import DescribedGroup, GroupDescription, Identity
from legacy_mm.clients.group.offset_requests import BY_NAME, commit_outcome, commit_request, fetch_request, rows
from legacy_mm.clients.net import error_text
from legacy_mm.clients.net.connection_errors import ClusterUnreachable, ConnectionLost, UnsupportedVersion
from legacy_mm.policies.broker_limits import SESSION_LIMITS, session_beyond
from legacy_mm.policies.chunks import chunks
from legacy_mm.protocol.error_codes import COORDINATOR_MOVED, ErrorCode

EMPTY, DEAD = "Empty", "Dead"
"""A group without members, and one that is not there."""
_RETRY_BACKOFF = 0.2
_LEAST_TIMEOUT = 0.001
_NO_GENERATION, _NO_MEMBER = -1, ""
_ASKED_AGAIN = {ErrorCode.REQUEST_TIMED_OUT, ErrorCode.REBALANCE_IN_PROGRESS} | COORDINATOR_MOVED
_JOINING = 10.0
"""Seconds to wait for members that join just now: a worker's session timeout, after which a dead one is missed."""
_CONSUMERS = {("consumer", "classic"), ("consumer", "consumer"), ("", "classic")}
"""Protocol and kind of groups that read topics; those without a protocol have committed and never joined."""
_TOLD = 3
Value = TypeVar("Value")
GroupAnswer = tuple[str, int, Value]
"""A group, a broker's error code, and what it is asked for."""


class GroupAdmin:
    """The groups of one cluster. Connects for each call, which asks until the deadline where a coordinator moves."""

    def __init__(self, name: str, settings: ConnectionSettings, traffic: AdminTraffic | None = None) -> None:
        """Create the client; `name` tells the clusters apart in errors, `settings` are any client's of the
        cluster. `traffic` counts what it asks, and has its client id.
        """
        self.name = name
        self._settings = settings if traffic is None else settings.named(traffic.client_id)
        self._traffic = traffic
        self._pause = threading.Event()

    def groups(self, deadline: Deadline) -> frozenset[str]:
        """Return the ids of the consumer groups in any state, without share and streams groups. Raise LegacyMMError."""
        with self._cluster(deadline) as cluster:
            return frozenset(row.group_id for row in self._listed(cluster, deadline) if reads_topics(row))

    def states(self, groups: Collection[str], deadline: Deadline) -> tuple[dict[str, str], dict[str, str]]:
        """Return the state of each group, in Kafka's words, and a reason for each without one. Raise LegacyMMError."""
        with self._cluster(deadline) as cluster:
            try:
                known = {row.group_id: row.group_state for row in self._listed(cluster, deadline, with_states=True)}
            except UnsupportedVersion:  # before 2.6
                return self._ask_coordinators(cluster, groups, _described, deadline)
        return {group: known.get(group, DEAD) for group in groups}, {}

    def members(self, group: str, deadline: Deadline) -> tuple[str, ...]:
        """Return client id and host of each member; a KIP-848 group returns none. Raise LegacyMMError."""
        with self._cluster(deadline) as cluster:
            return self._ask_coordinators(cluster, [group], _members, deadline)[0].get(group, ())

    def described(self, group: str, deadline: Deadline) -> DescribedGroup:
        """Return the state and the members of a group, each with its share. Raise LegacyMMError."""
        with self._cluster(deadline) as cluster:
            found, untold = self._ask_coordinators(cluster, [group], _with_shares, deadline)
        raise_untold(untold)
        return found[group]

    def doubt(self, group: str, ask: Callable[[str, GroupDescription], str], deadline: Deadline) -> str:
        """Return what a question about the present members of a group finds; nothing of a missing one. Members that
        join just now are asked a little later. Raise LegacyMMError.
        """
        joining = Deadline.after(min(_JOINING, deadline.remaining() / 2))

        def asked(cluster: Cluster, node: int, groups: Sequence[str]) -> Iterator[GroupAnswer[str]]:
            for row in cluster.call(node, group_protocol.describe(groups)).groups:
                found = group_protocol.description(row)
                code = 0 if row.error_code == ErrorCode.GROUP_ID_NOT_FOUND else row.error_code
                if found.members and not found.protocol and not joining.expired():
                    code = ErrorCode.REBALANCE_IN_PROGRESS
                yield row.group_id, code, "" if row.error_code else ask(row.group_id, found)

        with self._cluster(deadline) as cluster:
            found, untold = self._ask_coordinators(cluster, [group], asked, deadline)
        if error_text.forbids(untold.get(group, "")):
            raise StreamFailure(error_text.refused_member(group, ErrorCode.GROUP_AUTHORIZATION_FAILED))
        raise_untold(untold)
        return found[group]

    def offsets(self, groups: Collection[str], deadline: Deadline) -> tuple[dict[str, GroupOffsets], dict[str, str]]:
        """Return all offsets each group has committed, and a reason for each group that returns none. Raise
        LegacyMMError.
        """
        with self._cluster(deadline) as cluster:
            return self._ask_coordinators(cluster, groups, _fetched, deadline)

    def offsets_of(self, group: str, deadline: Deadline) -> GroupOffsets:
        """Return the committed offsets of one group, without deleted ones. Raise LegacyMMError."""
        found, untold = self.offsets([group], deadline)
        raise_untold(untold)
        return {place: each for place, each in found.get(group, {}).items() if each.offset >= 0}

    def commit(self, offsets: Mapping[str, GroupOffsets], deadline: Deadline) -> dict[str, str]:
        """Commit for groups that have no members; why not, for those where it failed. Raises LegacyMMError."""

        def committed(cluster: Cluster, node: int, groups: Sequence[str]) -> Iterator[GroupAnswer[None]]:
            requests = [commit_request(_nobody(group), offsets[group]) for group in groups]
            with closing(cluster.connect(node)) as connection:
                for group, answer in zip(groups, connection.call_each(requests), strict=True):
                    yield group, next((code for _, code in commit_outcome(answer) if code), 0), None

        with self._cluster(deadline) as cluster:
            return self._ask_coordinators(cluster, offsets, committed, deadline)[1]

    def forget(self, group: str, partitions: Collection[TopicPartition], deadline: Deadline) -> str:
        """Take away what a group without members has committed for these; why that failed, or nothing.

        Raises LegacyMMError, also for brokers of before 2.4.
        """

        def forgotten(cluster: Cluster, node: int, groups: Sequence[str]) -> Iterator[GroupAnswer[None]]:
            for each in groups:
                yield each, _forgotten(cluster, node, each, partitions), None

        with self._cluster(deadline) as cluster:
            return self._ask_coordinators(cluster, [group], forgotten, deadline)[1].get(group, "")

    def pending(
        self, group: str, partitions: Collection[TopicPartition], deadline: Deadline
    ) -> tuple[TopicPartition, ...]:
        """Return those of these partitions for which offsets of the group are in a transaction that is not over.

        Brokers before 2.5 do not tell. Raise LegacyMMError.
        """

        def asked(cluster: Cluster, node: int, groups: Sequence[str]) -> Iterator[GroupAnswer[tuple[Any, ...]]]:
            for each in groups:
                yield _pending(each, cluster.call(node, fetch_request(each, partitions)))

        with self._cluster(deadline) as cluster:
            found, untold = self._ask_coordinators(cluster, [group] if partitions else [], asked, deadline)
        raise_untold(untold)
        return found.get(group, ())

    def _cluster(self, deadline: Deadline) -> AbstractContextManager[Cluster]:
        timeout = max(_LEAST_TIMEOUT, min(self._settings.socket_timeout, deadline.remaining()))
        return counted(Cluster(replace(self._settings, socket_timeout=timeout), deadline.remaining()), self._traffic)

    def _listed(self, cluster: Cluster, deadline: Deadline, *, with_states: bool = False) -> list[Any]:
        """Return every broker's groups; each broker lists those that it coordinates."""
        request = ListGroupsRequest(min_version=4 if with_states else 0)
        while True:
            rows, why = _from_all_brokers(cluster, request)
            if not why:
                return rows
            if deadline.expired():
                raise HostError(f"listing the {self.name}'s groups failed: {why}")
            self._wait(cluster, deadline)

    def _ask_coordinators(
        self,
        cluster: Cluster,
        groups: Iterable[str],
        ask: Callable[[Cluster, int, Sequence[str]], Iterable[GroupAnswer[Value]]],
        deadline: Deadline,
    ) -> tuple[dict[str, Value], dict[str, str]]:
        """Ask the coordinators of these groups, and again those of groups that are moving."""
        found: dict[str, Value] = {}
        untold: dict[str, str] = {}
        waiting = list(groups)
        while waiting:
            moving: dict[str, str] = {}
            for group, code, value in _from_coordinators(cluster, waiting, ask, moving, deadline):
                if not code:
                    found[group] = value
                elif code in _ASKED_AGAIN:
                    moving[group] = error_text.text(code)
                else:
                    untold[group] = error_text.text(code)
            waiting = list(moving)
            if waiting and deadline.expired():
                return found, untold | moving | unreachable(cluster, moving)
            if waiting:
                self._wait(cluster, deadline)
        return found, untold

    def _wait(self, cluster: Cluster, deadline: Deadline) -> None:
        cluster.metadata.stale()
        self._pause.wait(min(_RETRY_BACKOFF, deadline.remaining()))


def require_no_members(groups: GroupAdmin, group: str, deadline: Deadline) -> None:
    """Raise HostError while a group has members."""
    states, untold = groups.states([group], deadline)
    if group in untold:
        raise HostError(f"the state of group {group} cannot be read: {untold[group]}")
    if (state := states[group]) not in (EMPTY, DEAD):
        members = ", ".join(groups.members(group, deadline))
        raise HostError(
            f"group {group} is {state}: stop its members first, each with TERM so that it commits what it has "
            f"copied{f' ({members})' if members else ''}"
        )


def raise_untold(untold: Mapping[str, str]) -> None:
    """Raise HostError for groups that could not be read or committed."""
    if untold:
        reasons = "; ".join(f"group {group}: {why}" for group, why in sorted(untold.items())[:_TOLD])
        raise HostError(reasons if len(untold) <= _TOLD else f"{reasons}; and {len(untold) - _TOLD} more")


def _from_all_brokers(cluster: Cluster, request: Any) -> tuple[list[Any], str]:
    """Return the lists of all brokers, and the reason if some are missing."""
    rows: list[Any] = []
    for broker in cluster.metadata.brokers():
        try:
            answer = cluster.call(broker.node, request)
        except ConnectionLost as error:
            return [], str(error)
        if answer.error_code:
            return [], error_text.text(answer.error_code)
        rows += answer.groups
    return rows, ""


def reads_topics(row: Any) -> bool:
    """Return True if a listed group is a group of consumers."""
    return (row.protocol_type, row.group_type.lower() if row.group_type else "classic") in _CONSUMERS


def _from_coordinators(
    cluster: Cluster,
    groups: Sequence[str],
    ask: Callable[[Cluster, int, Sequence[str]], Iterable[GroupAnswer[Value]]],
    lost: dict[str, str],
    deadline: Deadline,
) -> Iterator[GroupAnswer[Any]]:
    """Yield answers about these groups; call `lost` with the reason for groups whose connection was lost."""
    of_node: defaultdict[int, list[str]] = defaultdict(list)
    for chunk in chunks(groups):
        for group, code, node in coordinators(cluster, chunk):
            if code:
                yield group, code, None
            else:
                of_node[node].append(group)
    for node, some in of_node.items():
        for chunk in chunks(some):
            lost |= dict.fromkeys(chunk, "no answer in time")
            if deadline.expired():
                continue
            try:
                for answer in ask(cluster, node, chunk):
                    lost.pop(answer[0], None)
                    yield answer
            except ConnectionLost as error:
                lost |= {group: str(error) for group in chunk if group in lost}


def _described(cluster: Cluster, node: int, groups: Sequence[str]) -> Iterator[GroupAnswer[str]]:
    for row in cluster.call(node, group_protocol.describe(groups)).groups:
        missing = row.error_code == ErrorCode.GROUP_ID_NOT_FOUND
        yield row.group_id, 0 if missing else row.error_code, DEAD if missing else row.group_state


def _with_shares(cluster: Cluster, node: int, groups: Sequence[str]) -> Iterator[GroupAnswer[DescribedGroup]]:
    for row in cluster.call(node, group_protocol.describe(groups)).groups:
        missing = row.error_code == ErrorCode.GROUP_ID_NOT_FOUND
        found = DescribedGroup(row.group_id, DEAD) if missing else group_protocol.described(row)
        yield row.group_id, 0 if missing else row.error_code, found


def _members(cluster: Cluster, node: int, groups: Sequence[str]) -> Iterator[GroupAnswer[tuple[str, ...]]]:
    for row in cluster.call(node, group_protocol.describe(groups)).groups:
        members = group_protocol.description(row).members
        yield row.group_id, row.error_code, tuple(f"{each.client_id} at {each.host.lstrip('/')}" for each in members)


def _fetched(cluster: Cluster, node: int, groups: Sequence[str]) -> Iterator[GroupAnswer[GroupOffsets]]:
    wanted = [OffsetFetchRequest.OffsetFetchRequestGroup(group_id=group, topics=None) for group in groups]
    try:
        request = OffsetFetchRequest(groups=wanted, min_version=8, max_version=BY_NAME)
        for row in cluster.call(node, request).groups:
            yield _with_offsets(row.group_id, row)
    except UnsupportedVersion:  # before 3.0
        for group in groups:
            request = OffsetFetchRequest(group_id=group, topics=None, min_version=2, max_version=7)
            yield _with_offsets(group, cluster.call(node, request))


def _with_offsets(group: str, answer: Any) -> GroupAnswer[GroupOffsets]:
    found = dict(rows(answer))
    code = next(filter(None, (answer.error_code, *(row.error_code for row in found.values()))), 0)
    return (
        group,
        code,
        {partition: CommittedOffset(row.committed_offset, row.metadata or "") for partition, row in found.items()},
    )


def _pending(group: str, answer: Any) -> GroupAnswer[tuple[TopicPartition, ...]]:
    group_answer = answer.groups[0] if answer.groups else answer
    codes = {place: row.error_code for place, row in rows(group_answer)}
    unstable = tuple(sorted(place for place, code in codes.items() if code == ErrorCode.UNSTABLE_OFFSET_COMMIT))
    others = (code for place, code in codes.items() if place not in unstable)
    return group, next(filter(None, (group_answer.error_code, *others)), 0), unstable


def _nobody(group: str) -> Identity:
    """Return the identity that commits for a group without members."""
    return Identity(group, _NO_GENERATION, _NO_MEMBER, None)


def _forgotten(cluster: Cluster, node: int, group: str, partitions: Collection[TopicPartition]) -> int:
    """Return the first error code, or 0."""
    topics: defaultdict[str, list[Any]] = defaultdict(list)
    kind = OffsetDeleteRequest.OffsetDeleteRequestTopic
    for topic, partition in partitions:
        topics[topic].append(kind.OffsetDeleteRequestPartition(partition_index=partition))
    wanted = [kind(name=name, partitions=rows) for name, rows in topics.items()]
    answer = cluster.call(node, OffsetDeleteRequest(group_id=group, topics=wanted))
    codes = [answer.error_code, *(code for _, code in commit_outcome(answer))]
    return next(filter(None, codes), 0)


def allowed_session(coordinator: Coordinator, code: int, seconds: float, within: float) -> str:
    """Return what stands behind the broker's error about a session of so many seconds; empty for every other error.

    It is empty, too, where the broker does not tell `within` so many seconds.
    """
    if code != ErrorCode.INVALID_SESSION_TIMEOUT:
        return ""
    try:
        node, ask = coordinator.reach(within).node, partial(coordinator.call, timeout=within)
        limits = {} if node is None else broker_properties(ask, node, SESSION_LIMITS)
    except (ConnectionLost, ClusterUnreachable):
        return ""
    return "".join(f"; {each}" for each in session_beyond(seconds, limits))
