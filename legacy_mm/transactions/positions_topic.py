"""The properties of the positions topic: those that it is created with, and those that would lose positions. Pure.

Nothing that exists is changed: the topic may be an administrator's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from legacy_mm.policies.changes import CreateTopic

_REPLICAS, _IN_SYNC = 3, 2
POLICY = "cleanup.policy"
_LEAST, _UNCLEAN = "min.insync.replicas", "unclean.leader.election.enable"
_PROPERTIES: Mapping[str, str] = {
    POLICY: "compact",
    _UNCLEAN: "false",
    # So a partition stays small, and a claim reads it in no time.
    "segment.bytes": str(1 << 20),
    "min.cleanable.dirty.ratio": "0.1",
    "delete.retention.ms": str(10 * 60 * 1000),
}


class FoundTopic(NamedTuple):
    """The positions topic as the target describes it."""

    partitions: int
    replicas: int
    """The replication factor of the partition that has the least."""
    properties: Mapping[str, str]
    """All that hold for it, the brokers' defaults too; empty without the right to see them."""


class TopicVerdict(NamedTuple):
    """The answer to whether a topic may hold positions."""

    refusals: tuple[str, ...] = ()
    """Sentences; with one of them nothing is copied."""
    warnings: tuple[str, ...] = ()
    """Sentences about what may lose positions later."""


def topic_to_create(topic: str, bundles: int, brokers: int) -> CreateTopic:
    """Return the topic as it is created where it is missing: a partition for each bundle."""
    replicas = min(_REPLICAS, brokers)
    in_sync = _IN_SYNC if replicas == _REPLICAS else 1
    return CreateTopic(topic, bundles, replicas, {**_PROPERTIES, _LEAST: str(in_sync)})


def judge_topic(topic: str, found: FoundTopic, bundles: int, brokers: int) -> TopicVerdict:
    """Return what is wrong with an existing topic; more partitions than bundles do no harm."""
    return TopicVerdict(
        tuple(f"positions topic {topic} {each}" for each in _refusals(topic, found, bundles)),
        tuple(f"positions topic {topic} {each}" for each in _warnings(found, brokers)),
    )


def judge_policy(topic: str, properties: Mapping[str, str]) -> str:
    """Return why a topic with these properties keeps no positions; empty: it keeps them.

    Each claim asks it: the policy may have been changed since the start.
    """
    why = _policy_refusal(topic, properties)
    return f"positions topic {topic} {why}" if why else ""


def _policy_refusal(topic: str, properties: Mapping[str, str]) -> str:
    policy = properties.get(POLICY)
    if policy == "compact":
        return ""
    if policy is None:
        return f"does not show its {POLICY}: give the mirror the right DescribeConfigs for this topic"
    fault = "deletes positions after a time" if "delete" in policy else "is never compacted"
    return (
        f"has {POLICY}={policy}, so it {fault}: kafka-configs.sh --alter --entity-type topics "
        f"--entity-name {topic} --add-config {POLICY}=compact"
    )


def _refusals(topic: str, found: FoundTopic, bundles: int) -> Iterator[str]:
    if found.partitions < bundles:
        yield (
            f"has {found.partitions} partitions, and each of {bundles} bundles needs its own: "
            f"kafka-topics.sh --alter --topic {topic} --partitions {bundles}"
        )
    if why := _policy_refusal(topic, found.properties):
        yield why
    least = _least_in_sync(found)
    if least > found.replicas:
        yield (
            f"has {_LEAST}={least}, and replication factor {found.replicas} in a partition, so nothing can be written: "
            f"kafka-configs.sh --alter --entity-type topics --entity-name {topic} --add-config "
            f"{_LEAST}={max(found.replicas - 1, 1)}"
        )


def _warnings(found: FoundTopic, brokers: int) -> Iterator[str]:
    wanted = min(_REPLICAS, brokers)
    if found.replicas < wanted:
        yield (
            f"has replication factor {found.replicas} in a partition, not {wanted}: with its brokers go the positions"
        )
    if _least_in_sync(found) == 1:
        yield f"has {_LEAST}=1: positions that only one broker has are lost with it"
    if found.properties.get(_UNCLEAN) == "true":
        yield f"has {_UNCLEAN}=true: a replica that lags behind may become leader, and positions go back"


def _least_in_sync(found: FoundTopic) -> int:
    return int(found.properties.get(_LEAST, "0"))
