"""Which name was meant: slips of people's real files, and names that only look alike."""

from __future__ import annotations

import pytest

from legacy_mm.features.rows import BY_NAME, WITHOUT_EFFECT
from legacy_mm.words.options.meant import meant

FLAGS = (*BY_NAME, *WITHOUT_EFFECT)
SLIPS = {
    "sync.topics.configs.enabled": "sync.topic.configs.enabled",
    "sync.topic.config.enabled": "sync.topic.configs.enabled",
    "sync.topic.configs.enable": "sync.topic.configs.enabled",
    "sync.topic.acl.enabled": "sync.topic.acls.enabled",
    "sync.group.offset.enabled": "sync.group.offsets.enabled",
    "topic.blacklist": "topics.blacklist",
    "topic.exclude": "topics.exclude",
    "topics.excludes": "topics.exclude",
    "exclude.topics": "topics.exclude",
    "groups.exlude": "groups.exclude",
    "config.property.exclude": "config.properties.exclude",
    "topics.whitelist": "topics",
    "topics.include": "topics",
    "emit.heartbeats.interval.second": "emit.heartbeats.interval.seconds",
    "emit.hearbeats.enabled": "emit.heartbeats.enabled",
    "emit.heartbeat.enabled": "emit.heartbeats.enabled",
    "checkpoint.interval.seconds": "emit.checkpoints.interval.seconds",
    "refresh.topic.interval.seconds": "refresh.topics.interval.seconds",
    "refresh.topics.inteval.secs": "refresh.topics.interval.seconds",
    "offset.syncs.topic.location": "offset-syncs.topic.location",
    "offset_syncs_topic_location": "offset-syncs.topic.location",
    "max.tasks": "tasks.max",
    "task.max": "tasks.max",
    "replication.policy.seperator": "replication.policy.separator",
    "source.cluster.alais": "source.cluster.alias",
    "preserve.partition": "preserve.partitions",
    "RENAME.TOPICS": "rename.topics",
    "syncTopicConfigsEnabled": "sync.topic.configs.enabled",
    "emitHeartbeatsIntervalSeconds": "emit.heartbeats.interval.seconds",
    "emit.heartbeats.interval.ms": "emit.heartbeats.interval.seconds",
    "refresh.topics.interval.ms": "refresh.topics.interval.seconds",
    "heartbeats.enabled": "emit.heartbeats.enabled",
    "checkpoints.enabled": "emit.checkpoints.enabled",
    "detect.loops.enabled": "detect.loops",
    "preserve.partitions.enabled": "preserve.partitions",
    "rename.topics.enabled": "rename.topics",
    "heartbeat.enabled": "emit.heartbeats.enabled",
    "source.alias": "source.cluster.alias",
    "target.alias": "target.cluster.alias",
    "replication.policy": "replication.policy.class",
    "replication.separator": "replication.policy.separator",
    "config.exclude": "config.properties.exclude",
}
ALIKE = [
    "group.id", "client.id", "topic", "group", "admin.id", "metadata.max.age.ms", "offset.flush.interval.ms", "retries",
    "min.insync.replicas", "cleanup.policy", "segment.bytes", "log.retention.hours", "heartbeat.interval.ms",
    "default.replication.factor", "transaction.state.log.replication.factor", "auto.create.topics.enable",
    "delete.topic.enable", "topic.metadata.refresh.interval.ms", "consumer.group", "source.topic", "target.topic",
    "interval.ms", "linger.ms", "retry.backoff.ms", "admin.enabled", "sasl.enabled",
    "log.retention.ms", "offsets.retention.minutes",
]  # fmt: skip


@pytest.mark.parametrize("name", SLIPS)
def test_a_slip(name: str) -> None:
    assert meant(name, FLAGS) == SLIPS[name]


@pytest.mark.parametrize("name", ALIKE)
def test_another_name(name: str) -> None:
    assert meant(name, FLAGS) == ""


@pytest.mark.parametrize("name", FLAGS)
def test_a_known_name_and_one_with_two_letters_exchanged(name: str) -> None:
    assert meant(name, FLAGS) == ""
    middle = len(name) // 2
    slip = f"{name[:middle]}{name[middle + 1]}{name[middle]}{name[middle + 2 :]}"
    if len(name) > 8 and slip != name and slip not in FLAGS and "." not in name[middle : middle + 2]:
        assert meant(slip, FLAGS) == name
