"""The positions topic: how it is created, and which existing one is refused, each with its sentence."""

from __future__ import annotations

import pytest

from legacy_mm.transactions.positions_topic import FoundTopic, TopicVerdict, judge_topic, topic_to_create

GOOD = {"cleanup.policy": "compact", "min.insync.replicas": "2", "unclean.leader.election.enable": "false"}
ALTER = "kafka-configs.sh --alter --entity-type topics --entity-name pos --add-config"


@pytest.mark.parametrize(("brokers", "replicas", "in_sync"), [(1, 1, "1"), (2, 2, "1"), (3, 3, "2"), (9, 3, "2")])
def test_it_is_created_for_as_many_brokers_as_there_are(brokers: int, replicas: int, in_sync: str) -> None:
    created = topic_to_create("pos", 24, brokers)
    assert (created.topic, created.partitions, created.replication_factor) == ("pos", 24, replicas)
    assert created.configs == {
        "cleanup.policy": "compact",
        "unclean.leader.election.enable": "false",
        "segment.bytes": "1048576",
        "min.cleanable.dirty.ratio": "0.1",
        "delete.retention.ms": "600000",
        "min.insync.replicas": in_sync,
    }


@pytest.mark.parametrize("brokers", [1, 2, 3, 9])
def test_what_is_created_is_not_refused(brokers: int) -> None:
    created = topic_to_create("pos", 24, brokers)
    found = FoundTopic(created.partitions, created.replication_factor, created.configs)
    verdict = judge_topic("pos", found, 24, brokers)
    assert verdict.refusals == ()
    assert len(verdict.warnings) == (brokers < 3), "min.insync.replicas=1, and nothing else"


@pytest.mark.parametrize("partitions", [24, 25, 100])
def test_a_good_one_and_one_with_more_partitions(partitions: int) -> None:
    assert judge_topic("pos", FoundTopic(partitions, 3, GOOD), 24, 5) == TopicVerdict()


def test_what_brokers_do_not_tell_is_not_blamed() -> None:
    assert judge_topic("pos", FoundTopic(24, 3, {"cleanup.policy": "compact"}), 24, 3) == TopicVerdict()


REFUSALS = [
    (
        FoundTopic(24, 3, GOOD | {"cleanup.policy": "delete"}),
        f"has cleanup.policy=delete, so it deletes positions after a time: {ALTER} cleanup.policy=compact",
    ),
    (
        FoundTopic(24, 3, GOOD | {"cleanup.policy": "compact,delete"}),
        f"has cleanup.policy=compact,delete, so it deletes positions after a time: {ALTER} cleanup.policy=compact",
    ),
    (
        FoundTopic(24, 3, GOOD | {"cleanup.policy": ""}),
        f"has cleanup.policy=, so it is never compacted: {ALTER} cleanup.policy=compact",
    ),
    (
        FoundTopic(24, 3, {}),
        "does not show its cleanup.policy: give the mirror the right DescribeConfigs for this topic",
    ),
    (
        FoundTopic(23, 3, GOOD),
        "has 23 partitions, and each of 24 bundles needs its own: kafka-topics.sh --alter --topic pos --partitions 24",
    ),
    (
        FoundTopic(24, 1, GOOD),
        "has min.insync.replicas=2, and replication factor 1 in a partition, so nothing can be written: "
        f"{ALTER} min.insync.replicas=1",
    ),
    (
        FoundTopic(24, 3, GOOD | {"min.insync.replicas": "4"}),
        "has min.insync.replicas=4, and replication factor 3 in a partition, so nothing can be written: "
        f"{ALTER} min.insync.replicas=2",
    ),
]


@pytest.mark.parametrize(("found", "sentence"), REFUSALS)
def test_an_existing_one_that_is_refused(found: FoundTopic, sentence: str) -> None:
    assert judge_topic("pos", found, 24, 3).refusals == (f"positions topic pos {sentence}",)


def test_all_that_is_wrong_is_said_at_once() -> None:
    found = FoundTopic(1, 1, {"cleanup.policy": "delete", "min.insync.replicas": "2"})
    assert len(judge_topic("pos", found, 24, 3).refusals) == 3


WARNINGS = [
    (
        FoundTopic(24, 2, GOOD),
        3,
        "has replication factor 2 in a partition, not 3: with its brokers go the positions",
    ),
    (
        FoundTopic(24, 3, GOOD | {"min.insync.replicas": "1"}),
        3,
        "has min.insync.replicas=1: positions that only one broker has are lost with it",
    ),
    (
        FoundTopic(24, 3, GOOD | {"unclean.leader.election.enable": "true"}),
        3,
        "has unclean.leader.election.enable=true: a replica that lags behind may become leader, and positions go back",
    ),
]


@pytest.mark.parametrize(("found", "brokers", "sentence"), WARNINGS)
def test_an_existing_one_that_may_lose_positions_later(found: FoundTopic, brokers: int, sentence: str) -> None:
    assert judge_topic("pos", found, 24, brokers) == TopicVerdict((), (f"positions topic pos {sentence}",))
