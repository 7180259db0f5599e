"""The real MirrorMaker 2 and our duties, each with a target of its own: topics, properties and access rules are equal.

Twice: from the start, and after the source has changed. MirrorMaker 2 sends everything at each interval; ours sends
what differs, so its second look after each phase finds nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.cluster import Cluster
from compat.laboratory.tools import mirror_maker_2
from compat.laboratory.topic_state import (
    AUTHORIZER,
    Rule,
    add_rules,
    override,
    override_broker,
    overrides,
    remove_rules,
    rules,
)
from legacy_mm.audit.cluster_access import create_topic, grow_topic, list_topics
from legacy_mm.audit.waiting import wait_until
from legacy_mm.cli.legacy_mm import main

pytestmark = [pytest.mark.brokers, pytest.mark.side_by_side, pytest.mark.spark, pytest.mark.slow]
SECONDS = 120.0
MM2 = {
    "replication.policy.class": "org.apache.kafka.connect.mirror.DefaultReplicationPolicy",
    "sync.topic.acls.enabled": "true",
    "sync.topic.acls.interval.seconds": "2",
    "sync.topic.configs.interval.seconds": "2",
    "refresh.topics.interval.seconds": "2",
}
FLAGS = (
    *("--rename.topics", "true", "--source.cluster.alias", "src", "--target.cluster.alias", "dst"),
    *("--topic.creation", "true", "--replication.factor", "1", "--sync.topic.configs.enabled", "true"),
    *("--sync.topic.acls.enabled", "true", "--mm2.compatibility", "4"),
)
OPERATIONS = ("READ", "WRITE", "DESCRIBE", "CREATE", "DELETE", "ALTER", "DESCRIBE_CONFIGS", "ALTER_CONFIGS", "ALL")


@dataclass(frozen=True)
class Twins:
    """One source, and a target for each tool."""

    source: Cluster
    theirs: Cluster
    ours: Cluster


@pytest.fixture
def twins(own_clusters: Callable[..., Cluster]) -> Iterator[Twins]:
    yield Twins(*(own_clusters(properties=AUTHORIZER) for _ in range(3)))


def state(cluster: Cluster) -> tuple[dict[str, tuple[int, dict[str, str]]], set[Rule]]:
    """Copies with their partitions and properties, and all rules; topics that are MirrorMaker 2's own are left out."""
    found = {name: count for name, count in list_topics(cluster.bootstrap).items() if name.startswith("src.")}
    topics = {name: (count, overrides(cluster.bootstrap, name)) for name, count in found.items()}
    return topics, rules(cluster.bootstrap)


def rule(name: str, operation: str, permission: str = "ALLOW", **other: str) -> Rule:
    return (name, other.get("pattern", "LITERAL"), "User:x", other.get("host", "*"), operation, permission)


def prepare(twins: Twins) -> None:
    """The source, and copies that were at the targets before."""
    source = twins.source.bootstrap
    override_broker(source, 1, {"message.max.bytes": "2000000"})
    create_topic(source, "plain", 1)
    config = {"retention.ms": "1000000", "cleanup.policy": "compact,delete", "message.timestamp.after.max.ms": "5000"}
    excluded = {"min.insync.replicas": "1", "message.timestamp.type": "LogAppendTime"}
    create_topic(source, "orders", 3, config={**config, **excluded})
    create_topic(source, "grown", 4, config={"retention.bytes": "1000"})
    for cluster in (twins.theirs, twins.ours):
        before = {"retention.bytes": "2000", "flush.ms": "7", "message.timestamp.type": "LogAppendTime"}
        create_topic(cluster.bootstrap, "src.grown", 2, config=before)
        create_topic(cluster.bootstrap, "src.unrelated", 2, config={"flush.ms": "7"})
        add_rules(cluster.bootstrap, [rule("src.orders", "WRITE"), rule("src.gone", "READ")])
    add_rules(
        source,
        [
            *(rule("orders", operation) for operation in OPERATIONS),
            *(rule("orders", operation, "DENY", host="10.0.0.1") for operation in OPERATIONS),
            rule("plain", "ALL"),
            rule("not-a-topic", "READ"),
            rule("*", "DESCRIBE"),
            rule("ord", "READ", pattern="PREFIXED"),
        ],
    )


def change(twins: Twins) -> None:
    """A topic grows, one is new, properties and rules come and go."""
    source = twins.source.bootstrap
    grow_topic(source, "orders", 5)
    create_topic(source, "later", 2, config={"segment.ms": "60000"})
    override(source, "orders", {"retention.ms": None, "flush.ms": "9"})
    for cluster in (twins.theirs, twins.ours):
        override(cluster.bootstrap, "src.plain", {"retention.ms": "5"})
    remove_rules(source, [rule("plain", "ALL")])
    add_rules(source, [rule("later", "ALL", "DENY"), rule("later", "READ")])


def test_the_same_topics_properties_and_rules(
    twins: Twins, tmp_path: Path, capsys: pytest.CaptureFixture[str], group: str
) -> None:
    prepare(twins)
    (tmp_path / "consumer").write_text(f"bootstrap.servers={twins.source.bootstrap}\ngroup.id={group}\n")
    (tmp_path / "producer").write_text(f"bootstrap.servers={twins.ours.bootstrap}\n")
    files = ("--consumer.config", str(tmp_path / "consumer"), "--producer.config", str(tmp_path / "producer"))
    line = (*files, "--include", ".*")

    def bring_over() -> int:
        """Plan and apply; how many changes there were."""
        file = str(tmp_path / "plan.json")
        code = main(["plan", "--output", file, *FLAGS, "--", *line])
        said = capsys.readouterr()
        assert code in (0, 2), said
        assert main(["apply", file, *FLAGS, "--", *line]) == 0, capsys.readouterr()
        return len(capsys.readouterr().out.splitlines())

    bootstraps = (twins.source.bootstrap, twins.theirs.bootstrap)
    with mirror_maker_2(tmp_path / "mm2", *bootstraps, ".*", properties=MM2) as theirs:
        for phase in (lambda _: None, change):
            phase(twins)
            assert bring_over() > 0
            wait_until(lambda: same(twins, theirs), SECONDS, "both targets to be alike")
            assert bring_over() == 0
    topics, found = state(twins.theirs)
    assert {name: count for name, (count, _) in topics.items()} == {
        "src.plain": 1,
        "src.orders": 5,
        "src.grown": 4,
        "src.later": 2,
        "src.unrelated": 2,
    }
    assert topics["src.orders"][1]["max.message.bytes"] == "2000000"
    assert rule("src.*", "DESCRIBE") in found


def same(twins: Twins, theirs: Any) -> bool:
    """Else the first differences are the error's words."""
    assert theirs.running(), theirs.output()[-4000:]
    their_topics, their_rules = state(twins.theirs)
    our_topics, our_rules = state(twins.ours)
    if (their_topics, their_rules) == (our_topics, our_rules):
        return True
    lines = [
        f"{name}: theirs {their_topics.get(name)}, ours {our_topics.get(name)}"
        for name in sorted(their_topics.keys() | our_topics.keys())
        if their_topics.get(name) != our_topics.get(name)
    ]
    raise OSError(f"{lines}; rules: only theirs {their_rules - our_rules}, only ours {our_rules - their_rules}")
