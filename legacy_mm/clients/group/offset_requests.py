"""Offsets of a consumer group as its coordinator keeps them: questions, and what the answers mean."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NoReturn

from kafka.protocol.consumer import OffsetCommitRequest, OffsetFetchRequest

from legacy_mm.base.errors import StreamFailure
from legacy_mm.base.model import CommittedOffset, TopicPartition
from legacy_mm.clients.cluster.coordinator import CoordinatorMoved
from legacy_mm.clients.group.group_protocol import Identity
from legacy_mm.clients.group.member import CommitProblem
from legacy_mm.clients.net import error_text
from legacy_mm.protocol.error_codes import COORDINATOR_MOVED, GENERATION_OVER, MEMBER_UNKNOWN, ErrorCode, is_retriable

BY_NAME = 9
"""The newest versions of these requests that name topics by their names."""


def commit_request(who: Identity, offsets: Mapping[TopicPartition, tuple[int, str]]) -> Any:
    """Commit offsets and their metadata as this member."""
    by_topic: defaultdict[str, list[Any]] = defaultdict(list)
    topics = OffsetCommitRequest.OffsetCommitRequestTopic
    for (topic, partition), (offset, metadata) in offsets.items():
        by_topic[topic].append(
            topics.OffsetCommitRequestPartition(
                partition_index=partition, committed_offset=offset, committed_metadata=metadata
            )
        )
    return OffsetCommitRequest(
        group_id=who.group,
        generation_id_or_member_epoch=who.generation,
        member_id=who.member,
        group_instance_id=who.instance,
        topics=[topics(name=name, partitions=wanted) for name, wanted in by_topic.items()],
        max_version=BY_NAME,
    )


def commit_outcome(answer: Any) -> Iterator[tuple[TopicPartition, int]]:
    """Yield the error code, 0 for none, of each partition."""
    return ((partition, row.error_code) for partition, row in rows(answer))


def rows(answer: Any) -> Iterator[tuple[TopicPartition, Any]]:
    """Yield the partitions and rows of an answer, or of its part about one group."""
    for topic in answer.topics:
        for row in topic.partitions:
            yield TopicPartition(topic.name, row.partition_index), row


def commit_problem(code: int) -> CommitProblem:
    """Return the way to handle a failed commit."""
    if code in MEMBER_UNKNOWN:
        return CommitProblem.LOST
    if code in GENERATION_OVER:
        return CommitProblem.REJOINING
    return CommitProblem.RETRY if is_retriable(code) else CommitProblem.FATAL


def fetch_request(group: str, partitions: Collection[TopicPartition]) -> Any:
    """Ask for the group's offsets, without those of transactions that are not over."""
    by_topic: defaultdict[str, list[int]] = defaultdict(list)
    for topic, partition in partitions:
        by_topic[topic].append(partition)
    groups = OffsetFetchRequest.OffsetFetchRequestGroup
    return OffsetFetchRequest(
        group_id=group,
        topics=[
            OffsetFetchRequest.OffsetFetchRequestTopic(name=name, partition_indexes=numbers)
            for name, numbers in by_topic.items()
        ],
        groups=[
            groups(
                group_id=group,
                member_id=None,
                member_epoch=-1,
                topics=[
                    groups.OffsetFetchRequestTopics(name=name, partition_indexes=numbers)
                    for name, numbers in by_topic.items()
                ],
            )
        ],
        require_stable=True,
        max_version=BY_NAME,
    )


def fetched(group: str, answer: Any) -> dict[TopicPartition, CommittedOffset]:
    """Return the offsets of partitions that have one; raise CoordinatorMoved, TimeoutError, StreamFailure."""
    group_answer = answer.groups[0] if answer.groups else answer
    found = dict(rows(group_answer))
    if group_answer.error_code:
        _raise(group_answer.error_code, f"group {group}")
    if code := next((row.error_code for row in found.values() if row.error_code), 0):
        first, *others = sorted(partition for partition, row in found.items() if row.error_code == code)
        _raise(code, f"group {group}, {first}" + (f" and {len(others)} more" if others else ""))
    return {
        partition: CommittedOffset(row.committed_offset, row.metadata or "")
        for partition, row in found.items()
        if row.committed_offset >= 0
    }


def _raise(code: int, where: str) -> NoReturn:
    why = f"{error_text.text(code)} ({where})"
    if code in COORDINATOR_MOVED:
        raise CoordinatorMoved(why)
    if code == ErrorCode.UNSTABLE_OFFSET_COMMIT:
        raise TimeoutError(f"{why}: a transaction that commits these offsets is open, and its end is waited for")
    if commit_problem(code) is CommitProblem.FATAL:
        raise StreamFailure(f"committed offsets cannot be read: {why}")
    raise TimeoutError(why)
