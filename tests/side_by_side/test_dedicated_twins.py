"""The real MirrorMaker 2 and ours run one file, of one source, each into a target of its own: the same is left there.

Topics, partitions, properties, access rules, heartbeats, offset syncs, checkpoints and groups. What differs is listed
under "What is different from MirrorMaker 2" in docs/how-to/dedicated.md: each difference has its assertion here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from compat.laboratory.cluster import Cluster
from compat.laboratory.releases import CONNECT, CURRENT
from compat.laboratory.tools import java_driver, our_driver
from compat.laboratory.topic_state import AUTHORIZER, Rule, add_rules, overrides, rules
from legacy_mm.audit.cluster_access import committed, create_topic, end_offsets, list_topics, read_all
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.protocol.mirror_records import Checkpoint, Heartbeat, OffsetSync
from tests.fixtures.driver_files import driver_file
from tests.fixtures.offsets import PARTITIONS, commit, rest, write

pytestmark = [pytest.mark.brokers, pytest.mark.side_by_side, pytest.mark.spark, pytest.mark.slow]
SECONDS = 90.0
TRANSACTIONS = 60
END = 6 * TRANSACTIONS
LAG = 10
SYNCS, CHECKPOINTS = "mm2-offset-syncs.A.internal", "A.checkpoints.internal"
ONLY_WORKERS = ("mm2-configs.", "mm2-status.")
ONLY_OURS = ("mm2-offset-map.",)
OPERATIONS = ("READ", "WRITE", "DESCRIBE", "CREATE", "DELETE", "ALTER", "DESCRIBE_CONFIGS", "ALTER_CONFIGS", "ALL")
READERS = {"reader-end": END, "reader-amid": END // 2 + 3, "reader-start": 0}
"""Groups and where they stand in each partition of `orders`."""
FILE = {
    "A->B.enabled": "true",
    "topics.exclude": "private.*, __.*, mm2.*, .*[.]internal",
    "groups": "reader-.*",
    "offset.lag.max": str(LAG),
    "offset-syncs.topic.location": "target",
    "refresh.groups.interval.seconds": "2",
    "sync.topic.acls.interval.seconds": "2",
    "sync.topic.configs.interval.seconds": "2",
    "sync.group.offsets.enabled": "true",
}
Place = tuple[str, str, int]


@dataclass(frozen=True)
class Twins:
    """The source, and what each driver has at its target."""

    source: Cluster
    theirs: Cluster
    ours: Cluster

    @property
    def targets(self) -> tuple[Cluster, Cluster]:
        return self.theirs, self.ours


@pytest.fixture
def twins(own_clusters: Callable[..., Cluster]) -> Iterator[Twins]:
    yield Twins(*(own_clusters(properties=AUTHORIZER) for _ in range(3)))


def rule(name: str, operation: str, permission: str = "ALLOW", pattern: str = "LITERAL", host: str = "*") -> Rule:
    return (name, pattern, "User:x", host, operation, permission)


FORBIDDEN = (rule("ord", "ALTER", "DENY", "PREFIXED"), rule("*", "DELETE", "DENY"))
"""What the source forbids for several topics at once: by a prefix MirrorMaker 2 copies nothing, a wildcard as `A.*`."""
SPREAD = {
    *(rule(f"A.{name}", "DELETE", "DENY") for name in ("orders", "compacted", "heartbeats")),
    rule("A.orders", "ALTER", "DENY"),
}
"""What ours makes of it beside the same: a rule for each copy."""


def prepare(source: Cluster) -> None:
    config = {"retention.ms": "7654321", "min.insync.replicas": "1", "delete.retention.ms": "2000"}
    create_topic(source.bootstrap, "orders", PARTITIONS, config=config)
    create_topic(source.bootstrap, "compacted", 2, config={"cleanup.policy": "compact"})
    create_topic(source.bootstrap, "private", PARTITIONS)
    create_topic(source.bootstrap, "B.back", 1)
    for topic in ("orders", "private"):
        write(source, topic, "first", 1)
    commit(source, "reader-private", {("private", 0): 5})
    commit(source, "stranger", {("orders", 0): 5})
    add_rules(
        source.bootstrap,
        [
            *(rule("orders", operation) for operation in OPERATIONS),
            *(rule("orders", operation, "DENY", host="10.0.0.1") for operation in OPERATIONS),
            rule("compacted", "ALL"),
            rule("private", "READ"),
            rule("ord", "READ", pattern="PREFIXED"),
            rule("*", "DESCRIBE"),
            *FORBIDDEN,
        ],
    )


def fill(source: Cluster) -> None:
    """The rest of the records, and groups that stand among them."""
    write(source, "orders", "rest", TRANSACTIONS - 1)
    for reader, offset in READERS.items():
        commit(source, reader, {("orders", number): offset for number in range(PARTITIONS)})


def last_checkpoints(target: Cluster) -> dict[Place, Checkpoint]:
    if CHECKPOINTS not in list_topics(target.bootstrap):
        return {}
    found = (Checkpoint.decode(each.key, each.value) for each in read_all(target.bootstrap, CHECKPOINTS))
    return {(each.group, each.topic, each.partition): each for each in found}


def stands(target: Cluster, readers: Mapping[str, int]) -> bool:
    """The last checkpoints are of these offsets."""
    last = last_checkpoints(target)
    found = {place: last[place].upstream for place in last if place[0] in readers}
    return found == {(reader, "A.orders", n): at for reader, at in readers.items() for n in range(PARTITIONS)}


def last_syncs(target: Cluster) -> dict[tuple[str, int], OffsetSync]:
    if SYNCS not in list_topics(target.bootstrap):
        return {}
    found = (OffsetSync.decode(each.key, each.value) for each in read_all(target.bootstrap, SYNCS))
    return {(each.topic, each.partition): each for each in found}


def newest_synced(target: Cluster) -> set[int]:
    """The newest offsets of `orders` that have a sync; empty until each partition has one."""
    found = [sync.upstream for (topic, _), sync in last_syncs(target).items() if topic == "orders"]
    return set(found) if len(found) == PARTITIONS else set()


def again(twins: Twins, target: Cluster, place: Place, offset: int) -> int:
    """How many records a group of the target reads again that it has read at the source; negative: it misses some."""
    group, _, partition = place
    stood = committed(twins.source.bootstrap, group, ["orders"])["orders", partition]
    unread = rest(read_all(twins.source.bootstrap, "orders"), partition, stood)
    left = rest(read_all(target.bootstrap, "A.orders"), partition, offset)
    common = min(len(left), len(unread))
    assert left[len(left) - common :] == unread[len(unread) - common :]
    return len(left) - len(unread)


def topics_of(target: Cluster) -> dict[str, tuple[int, dict[str, str]]]:
    found = {
        name: count
        for name, count in list_topics(target.bootstrap).items()
        if not name.startswith(("__", *ONLY_WORKERS, *ONLY_OURS))
    }
    return {name: (count, overrides(target.bootstrap, name)) for name, count in found.items()}


def beats(target: Cluster, topic: str) -> set[tuple[str, str]]:
    found = read_all(target.bootstrap, topic) if topic in list_topics(target.bootstrap) else []
    return {Heartbeat.decode(each.key, each.value)[:2] for each in found}


def run(twins: Twins, tools: tuple[ToolProcess, ...]) -> None:
    """Both until they have nothing more to bring over; meanwhile a group moves on."""

    def until(seen: Callable[[Cluster], object], what: str) -> None:
        for tool, target, name in zip(tools, twins.targets, ("MirrorMaker 2", "ours"), strict=True):
            wait_until(lambda: tool.running() and seen(target), SECONDS, f"{what} of {name}")  # noqa: B023

    def copied(target: Cluster) -> bool:
        there = "A.orders" in list_topics(target.bootstrap)
        return there and sum(end_offsets(target.bootstrap, "A.orders").values()) == 5 * TRANSACTIONS * PARTITIONS

    # MirrorMaker 2 has ten syncs under way at most: of what comes at once it may drop the first, and groups there have
    # no checkpoint
    until(lambda target: newest_synced(target) == {4}, "the first offset syncs")
    fill(twins.source)
    until(copied, "orders")
    until(lambda target: beats(target, "heartbeats") and beats(target, "A.heartbeats"), "heartbeats")
    until(lambda target: newest_synced(target) == {END - 2}, "offset syncs")
    until(lambda target: stands(target, READERS), "checkpoints")
    moved = dict.fromkeys((("orders", number) for number in range(PARTITIONS)), END // 3)
    commit(twins.source, "reader-start", moved)
    until(lambda target: stands(target, {**READERS, "reader-start": END // 3}), "checkpoints of the group that moved")
    until(lambda target: groups_follow(target), "groups")
    until(lambda target: rule("A.compacted", "READ") in rules(target.bootstrap), "rules")
    wait_until(lambda: rules(twins.ours.bootstrap) >= SPREAD, SECONDS, "rules for each copy")
    until(lambda target: overrides(target.bootstrap, "A.orders").get("retention.ms") == "7654321", "properties")


def groups_follow(target: Cluster) -> bool:
    """Each group stands at its last checkpoints."""
    last = last_checkpoints(target)
    return all(
        committed(target.bootstrap, reader, ["A.orders"])
        == {("A.orders", place[2]): each.downstream for place, each in last.items() if place[0] == reader}
        for reader in READERS
    )


@pytest.mark.parametrize(("release", "compatibility"), [(CURRENT, "4"), (CONNECT, "3.9")], ids=["4", "3.9"])
def test_both_leave_the_same_at_the_target(twins: Twins, tmp_path: Path, release: str, compatibility: str) -> None:
    prepare(twins.source)
    files = [
        driver_file({"A": twins.source, "B": target}, **FILE, **{"mm2.compatibility": compatibility})
        for target in twins.targets
    ]
    with (
        java_driver(tmp_path / "java", files[0], release=release) as java,
        our_driver(tmp_path / "ours", files[1]) as ours,
    ):
        run(twins, (java, ours))
    theirs, own = twins.targets
    assert topics_of(theirs) == topics_of(own)
    assert {name for name in topics_of(own) if name.startswith("A.")} == {
        "A.orders", "A.compacted", "A.heartbeats", CHECKPOINTS,
    }  # fmt: skip

    assert rules(own.bootstrap) - rules(theirs.bootstrap) == SPREAD
    assert rules(theirs.bootstrap) <= rules(own.bootstrap)
    assert rule("A.orders", "WRITE") not in rules(own.bootstrap)

    for topic in ("heartbeats", "A.heartbeats"):
        assert beats(theirs, topic) == beats(own, topic)
    for number in range(PARTITIONS):
        assert last_syncs(theirs)["orders", number] == last_syncs(own)["orders", number]

    last = {name: last_checkpoints(target) for name, target in (("theirs", theirs), ("ours", own))}
    wanted = {(reader, "A.orders", number) for reader in READERS for number in range(PARTITIONS)}
    assert set(last["theirs"]) == set(last["ours"]) == wanted
    for place in wanted:
        assert again(twins, own, place, last["ours"][place].downstream) == 0, place
        assert again(twins, theirs, place, last["theirs"][place].downstream) >= 0, place
        assert last["ours"][place].metadata == last["theirs"][place].metadata
    for outsider, topic in (("reader-private", "private"), ("stranger", "orders")):
        for target in twins.targets:
            copy = f"A.{topic}"
            assert copy not in list_topics(target.bootstrap) or not committed(target.bootstrap, outsider, [copy])
