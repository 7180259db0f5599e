"""A group's coordinator that is not there: one member is its group, and a test says what goes wrong."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection
from threading import Event
from typing import Any

from kafka.protocol.admin import (
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from kafka.protocol.consumer import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from typing_extensions import override

from legacy_mm.clients.net.connection_errors import ConnectionLost
from tests.fakes.cluster import GroupCluster

MEMBER = "member-1"
TOPIC, PARTITIONS = "t", 3


class FakeCoordinator(GroupCluster):
    """Its group `g` has one member, who leads it. Codes that a test puts into a queue are answered first."""

    def __init__(self) -> None:
        super().__init__("")
        self.asked: list[Any] = []
        self.generation = 0
        self.join_errors: deque[int] = deque()
        self.heartbeat_errors: deque[int | None] = deque()
        """None: the connection breaks."""
        self.described: deque[Any] = deque()
        """A description for each question; a group without members, if there is none left."""
        self.properties: dict[str, str] | int = {}
        """Its own, or the error code of the answer about them."""
        self.committed: dict[int, tuple[int, str]] = {}
        """Partition -> offset and metadata."""
        self.answers_heartbeats = Event()
        self.answers_heartbeats.set()
        self._does: dict[type, Callable[[Any], Any]] = {
            DescribeConfigsRequest: self._describe_itself,
            DescribeGroupsRequest: self._describe,
            JoinGroupRequest: self._join,
            SyncGroupRequest: lambda request: SyncGroupResponse(assignment=request.assignments[0].assignment),
            HeartbeatRequest: self._heartbeat,
            LeaveGroupRequest: lambda request: LeaveGroupResponse(),
            OffsetCommitRequest: self._commit,
            OffsetFetchRequest: self._fetch,
        }

    def asked_for(self, kind: type) -> list[Any]:
        """The requests of this kind."""
        return [request for request in self.asked if isinstance(request, kind)]

    @override
    def refresh(self, node: int | None = None) -> None:
        """Nothing to do."""

    @override
    def keep_fresh(self, on_trouble: Callable[[str], None]) -> None:
        """Nothing to do."""

    @override
    def watch(self, topics: Collection[str], *, create: bool = False) -> None:
        """Nothing to do."""

    @override
    def partitions(self, topic: str) -> int:
        return PARTITIONS

    @override
    def _asked(self, request: Any) -> Any:
        self.asked.append(request)
        return self._does[type(request)](request)

    def _describe(self, _: Any) -> Any:
        group = DescribeGroupsResponse.DescribedGroup
        return DescribeGroupsResponse(groups=[self.described.popleft() if self.described else group(group_id="g")])

    def _describe_itself(self, request: Any) -> Any:
        found, row = self.properties, DescribeConfigsResponse.DescribeConfigsResult
        if isinstance(found, int):
            return DescribeConfigsResponse(results=[row(error_code=found)])
        (asked,) = request.resources
        told = [row.DescribeConfigsResourceResult(name=name, value=found[name]) for name in asked.configuration_keys]
        return DescribeConfigsResponse(results=[row(error_code=0, configs=told)])

    def _join(self, request: Any) -> Any:
        if self.join_errors:
            return JoinGroupResponse(error_code=self.join_errors.popleft())
        self.generation += 1
        (protocol, *_) = request.protocols
        member = JoinGroupResponse.JoinGroupResponseMember(
            member_id=MEMBER, group_instance_id=None, metadata=protocol.metadata
        )
        return JoinGroupResponse(
            generation_id=self.generation,
            protocol_name=protocol.name,
            leader=MEMBER,
            member_id=MEMBER,
            members=[member],
        )

    def _heartbeat(self, _: Any) -> Any:
        self.answers_heartbeats.wait()
        code = self.heartbeat_errors.popleft() if self.heartbeat_errors else 0
        if code is None:
            raise ConnectionLost("it broke")
        return HeartbeatResponse(error_code=code)

    def _commit(self, request: Any) -> Any:
        (topic,) = request.topics
        answer = OffsetCommitResponse.OffsetCommitResponseTopic
        for row in topic.partitions:
            self.committed[row.partition_index] = (row.committed_offset, row.committed_metadata)
        rows = [answer.OffsetCommitResponsePartition(partition_index=row.partition_index) for row in topic.partitions]
        return OffsetCommitResponse(topics=[answer(name=topic.name, partitions=rows)])

    def _fetch(self, request: Any) -> Any:
        (topic,) = request.topics
        answer = OffsetFetchResponse.OffsetFetchResponseTopic
        nothing = (-1, "")
        rows = [
            answer.OffsetFetchResponsePartition(partition_index=number, committed_offset=offset, metadata=metadata)
            for number in topic.partition_indexes
            for offset, metadata in [self.committed.get(number, nothing)]
        ]
        return OffsetFetchResponse(topics=[answer(name=topic.name, partitions=rows)])
