"""`connect-mirror-maker.sh` of ours on real brokers: flows in one process, several nodes, flows that fail alone.

Nodes of `nodes` are processes; where the flows alone are tested, `warm_driver` runs them in one that is there.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer

from compat.laboratory.checkout import COMMANDS
from compat.laboratory.cluster import Cluster
from compat.laboratory.tools import DRIVER_LAUNCHER, our_driver
from legacy_mm.audit.cluster_access import committed, create_topic, end_offsets, list_topics, read_all
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from tests.fixtures.driver_files import driver_file
from tests.fixtures.scrape import probe, scrape, total
from tests.fixtures.warm_mirrors import WarmMirror

pytestmark = [pytest.mark.brokers, pytest.mark.spark]
SECONDS = 60.0
IDENTITY = "org.apache.kafka.connect.mirror.IdentityReplicationPolicy"
STOPPED = 128 + signal.SIGTERM


@pytest.fixture
def pair(own_clusters: Callable[..., Cluster]) -> tuple[Cluster, Cluster]:
    """Two clusters of their own: a flow may look at every topic."""
    return own_clusters(), own_clusters()


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[Callable[..., ToolProcess]]:
    """Starts nodes, each a process; what still runs at the end is killed."""
    started: list[ToolProcess] = []

    def start(properties: dict[str, str], *words: str) -> ToolProcess:
        started.append(our_driver(tmp_path / f"node-{len(started)}", properties, *words))
        return started[-1]

    yield start
    for each in started:
        each.kill_tree()


def arrived(cluster: Any, topic: str) -> int:
    return sum(end_offsets(cluster.bootstrap, topic).values()) if topic in list_topics(cluster.bootstrap) else 0


def group_at(cluster: Any, group: str, topic: str) -> int:
    return sum(committed(cluster.bootstrap, group, [topic]).values())


def read_by(cluster: Any, group: str, topic: str, count: int) -> None:
    """Let a group read records, commit and leave."""
    reader = Consumer({
        "bootstrap.servers": cluster.bootstrap, "group.id": group, "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
    })  # fmt: skip
    reader.subscribe([topic])
    seen = 0
    while seen < count:
        seen += len(reader.consume(count - seen, 1.0))
    reader.commit(asynchronous=False)
    reader.close()


def test_active_active(pair: tuple[Cluster, Cluster], nodes: Callable[..., ToolProcess]) -> None:
    a, b = pair
    create_topic(a.bootstrap, "t", 3, config={"retention.ms": "7654321"})
    create_topic(b.bootstrap, "t", 2)
    load(a.bootstrap, "t", 300, 100, partitions=3)
    load(b.bootstrap, "t", 200, 100, partitions=2)
    read_by(a, "readers", "t", 300)
    file = driver_file({"A": a, "B": b}, **{
        "A->B.enabled": "true", "B->A.enabled": "true", "sync.group.offsets.enabled": "true",
        "refresh.groups.interval.seconds": "2",
    })  # fmt: skip
    node = nodes(file)
    wait_until(lambda: arrived(b, "A.t") == 300 and arrived(a, "B.t") == 200, SECONDS, "both copies")
    for cluster, other in ((a, "B"), (b, "A")):
        wait_until(lambda: arrived(cluster, f"{other}.heartbeats") > 2, SECONDS, "copies of heartbeats")  # noqa: B023
    wait_until(lambda: group_at(b, "readers", "A.t") == 300, SECONDS, "the group at the other cluster")
    node.wait_for_output("goes on there in the topic itself where it stood: readers", SECONDS)
    node.signal(signal.SIGTERM)
    assert node.wait(SECONDS) == STOPPED
    own = {"heartbeats", "mm2-offset-map.{}.internal", "mm2-offset-syncs.{}.internal", "mm2-offsets.{}.internal"}
    for cluster, other in ((a, "B"), (b, "A")):
        names = {name for name in list_topics(cluster.bootstrap) if not name.startswith("__")}
        expected = {name.format(other) for name in own}
        assert names == expected | {"t", f"{other}.t", f"{other}.heartbeats", f"{other}.checkpoints.internal"}
    assert list_topics(b.bootstrap)["A.t"] == 3
    assert "MirrorSourceConnector" in node.output()
    assert "MirrorHeartbeatConnector" in node.output()


def guarded(flow: str) -> dict[str, str]:
    """What users write who mirror one topic in both directions: what was copied is marked, and not copied again."""
    package = "org.apache.kafka.connect.transforms"
    lines = {
        "transforms": "guard, mark",
        "transforms.guard.type": f"{package}.Filter",
        "transforms.guard.predicate": "copied",
        "transforms.mark.type": f"{package}.InsertHeader",
        "transforms.mark.header": "copied",
        "transforms.mark.value.literal": "null",
        "predicates": "copied",
        "predicates.copied.type": f"{package}.predicates.HasHeaderKey",
        "predicates.copied.name": "copied",
    }
    return {f"{flow}.{key}": text for key, text in lines.items()}


@pytest.mark.slow
def test_a_loop_that_transforms_break(pair: tuple[Cluster, Cluster], warm_driver: Callable[..., WarmMirror]) -> None:
    """One topic in both directions, names kept; a group moves over records that were left out."""
    for cluster in pair:
        create_topic(cluster.bootstrap, "t", 1)
    a, b = pair
    write(a, "a", range(100))
    write(b, "b", range(50))
    file = driver_file({"A": a, "B": b}, **{
        "A->B.enabled": "true", "B->A.enabled": "true", "replication.policy.class": IDENTITY, "topics": "t",
        "sync.group.offsets.enabled": "true", "refresh.groups.interval.seconds": "2",
        "emit.heartbeats.enabled": "false", **guarded("A->B"), **guarded("B->A"),
    })  # fmt: skip
    node = warm_driver(file)
    wait_until(lambda: arrived(a, "t") == arrived(b, "t") == 150, SECONDS, "both copies")
    write(a, "a", range(100, 110))
    write(b, "b", range(50, 55))
    wait_until(lambda: arrived(a, "t") == arrived(b, "t") == 165, SECONDS, "later records behind the copies")
    here, there = ([record.value or b"" for record in read_all(cluster.bootstrap, "t")] for cluster in pair)
    assert sorted(here) == sorted(there)
    assert len({*here}) == 165
    read_by(a, "readers", "t", 155)
    seen = {there.index(value) for value in here[:155] if value.startswith(b"a")}
    unseen = {there.index(value) for value in here[155:] if value.startswith(b"a")}

    def moved() -> bool:
        offsets = committed(b.bootstrap, "readers", ["t"]).values()
        return any(max(seen) < offset <= min(unseen, default=165) for offset in offsets)

    wait_until(moved, SECONDS, "the group at the other cluster")
    node.signal(signal.SIGTERM)
    assert node.wait(SECONDS) == STOPPED
    assert "circle" not in node.output()


@pytest.mark.slow
def test_transforms_that_cannot_be_made_refuse_their_flow_alone(
    pair: tuple[Cluster, Cluster], warm_driver: Callable[..., WarmMirror]
) -> None:
    """An expression that Java refuses, for ever; a name that no topic can have, until the file is another one."""
    a, b = pair
    for cluster in pair:
        create_topic(cluster.bootstrap, "t", 1)
        write(cluster, "x", range(10))
    router = {"type": "RegexRouter", "regex": "(", "replacement": "$1"}
    lines = {f"A->B.transforms.r.{key}": text for key, text in router.items()}
    file = driver_file({"A": a, "B": b}, **{
        "A->B.enabled": "true", "B->A.enabled": "true", "topics": "t", "A->B.transforms": "r", **lines,
    })  # fmt: skip
    node = warm_driver(file)
    refused = "transforms.r.regex: ( is no Java regular expression"
    wait_until(lambda: arrived(a, "B.t") == 10, SECONDS, "the other flow")
    wait_until(lambda: refused in node.output(), SECONDS, "the refusal")
    node.signal(signal.SIGTERM)
    assert node.wait(SECONDS) == STOPPED
    node = warm_driver({**file, "A->B.transforms.r.regex": r"A\.t", "A->B.transforms.r.replacement": ""})
    wait_until(lambda: "the transforms call topic A.t '' at the target" in node.output(), SECONDS, "the failure")
    node.signal(signal.SIGTERM)
    assert node.wait(SECONDS) == STOPPED
    assert arrived(b, "A.t") == 0


def write(cluster: Cluster, name: str, numbers: range) -> None:
    writer = Producer({"bootstrap.servers": cluster.bootstrap})
    for number in numbers:
        writer.produce("t", b"%b-%03d" % (name.encode(), number))
    writer.flush()


def test_two_nodes_share_the_partitions_and_one_is_killed(
    pair: tuple[Cluster, Cluster], nodes: Callable[..., ToolProcess]
) -> None:
    a, b = pair
    create_topic(a.bootstrap, "t", 8)
    file = driver_file({"A": a, "B": b}, **{
        "A->B.enabled": "true", "A.consumer.session.timeout.ms": "6000",
    })  # fmt: skip
    both = [nodes(file), nodes(file)]
    wait_until(lambda: all("Stream 0 copies from" in node.output() for node in both), SECONDS, "both to copy")
    written = load(a.bootstrap, "t", 4_000, 100, partitions=8).written
    both[0].signal(signal.SIGKILL)
    written += load(a.bootstrap, "t", 4_000, 100, partitions=8).written
    keys = {(record.partition, record.value) for record in read_all(a.bootstrap, "t")}
    wait_until(lambda: arrived(b, "A.t") >= written, SECONDS, "everything to arrive")
    create_topic(a.bootstrap, "later", 1)
    load(a.bootstrap, "later", 10, 100, partitions=1)
    wait_until(lambda: arrived(b, "A.later") == 10, SECONDS, "a topic that came later")
    both[1].signal(signal.SIGTERM)
    assert both[1].wait(SECONDS) == STOPPED
    assert {(record.partition, record.value) for record in read_all(b.bootstrap, "A.t")} == keys


def test_a_flow_whose_cluster_is_away_fails_alone_and_comes_back(
    pair: tuple[Cluster, Cluster], nodes: Callable[..., ToolProcess], new_port: Callable[[], int]
) -> None:
    a, b = pair
    create_topic(a.bootstrap, "t", 1)
    load(a.bootstrap, "t", 50, 100, partitions=1)
    file = driver_file({"A": a, "B": b}, **{
        "clusters": "A, B, C", "A->B.enabled": "true", "C.bootstrap.servers": f"no-such-host.invalid:{new_port()}",
        "emit.heartbeats.enabled": "false", "A->C.enabled": "true",
    })  # fmt: skip
    port = new_port()
    node = nodes(file, "--metrics.port", str(port))
    wait_until(lambda: arrived(b, "A.t") == 50, SECONDS, "the other flow's copy")
    wait_until(
        lambda: "Flow A->C failed and starts again" in node.output(), SECONDS, "the line of the flow that failed"
    )
    samples = scrape(port)
    assert (total(samples, "legacy_mm_flow_up", flow="A->B"), total(samples, "legacy_mm_flow_up", flow="A->C")) == (
        1,
        0,
    )
    assert total(samples, "legacy_mm_flow_failures_total", flow="A->C") >= 1
    status, said = probe(port, "readyz")
    assert status == 503
    assert said.startswith("not running: A->C (")
    load(a.bootstrap, "t", 50, 100, partitions=1)
    wait_until(lambda: arrived(b, "A.t") == 100, SECONDS, "the other flow to go on")
    node.signal(signal.SIGTERM)
    assert node.wait(SECONDS) == STOPPED


@pytest.mark.slow
def test_a_topic_that_would_go_in_a_circle_is_left_out_of_both_directions(
    pair: tuple[Cluster, Cluster], warm_driver: Callable[..., WarmMirror]
) -> None:
    a, b = pair
    for topic in ("both", "there"):
        load(a.bootstrap, topic, 40, 100, partitions=1)
    file = driver_file({"A": a, "B": b}, **{
        "A->B.enabled": "true", "B->A.enabled": "true", "replication.policy.class": IDENTITY,
        "B->A.topics": "both", "emit.heartbeats.enabled": "false",
    })  # fmt: skip
    node = warm_driver(file)
    wait_until(lambda: arrived(b, "there") == 40, SECONDS, "the topic that goes one way")
    wait_until(lambda: "would come back to A as itself by A->B, B->A" in node.output(), SECONDS, "the line")
    node.signal(signal.SIGTERM)
    assert node.wait(SECONDS) == STOPPED
    assert (arrived(a, "both"), arrived(b, "both")) == (40, 0)


def test_one_cluster_under_two_names_is_refused(source: Any, warm_driver: Callable[..., WarmMirror]) -> None:
    before = set(list_topics(source.bootstrap))
    node = warm_driver(driver_file({"A": source, "B": source}, **{"A->B.enabled": "true", "A->B.topics": "none"}))
    assert node.wait(SECONDS) == 2
    assert "Flow A->B does not run until its configuration is changed" in node.output()
    assert not {"heartbeats", "A.checkpoints.internal"} & (set(list_topics(source.bootstrap)) - before)


@pytest.mark.parametrize(
    ("properties", "words", "code", "said"),
    [
        ({"a": "b"}, (), 2, 'Missing required configuration "clusters"'),
        ({"clusters": "A, B", "A.bootstrap.servers": "h:1"}, (), 2, "B.bootstrap.servers is missing"),
        ({"clusters": "A"}, (), 2, "No source->target replication flows."),
        ({"clusters": "A, B"}, ("--clusters", "C"), 2, "No source->target replication flows."),
        ({"clusters": "A, B"}, ("--clusters",), 255, "expected at least one argument"),
        ({}, ("another",), 255, "unrecognized arguments: 'another'"),
    ],
)
def test_bad_input(
    properties: dict[str, str], words: tuple[str, ...], code: int, said: str, warm_driver: Callable[..., WarmMirror]
) -> None:
    node = warm_driver(properties, *words)
    assert node.wait(SECONDS) == code
    assert said in node.output()


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    node = ToolProcess([str(DRIVER_LAUNCHER), str(tmp_path / "no.properties")], tmp_path)
    assert node.wait(SECONDS) == 2
    assert "java.nio.file.NoSuchFileException" in node.output()


def test_connectors_as_connect_standalone_takes_them(pair: tuple[Cluster, Cluster], tmp_path: Path) -> None:
    a, b = pair
    load(a.bootstrap, "t", 60, 100, partitions=1)
    flow = (
        "source.cluster.alias=A\ntarget.cluster.alias=B\n"
        f"source.cluster.bootstrap.servers={a.bootstrap}\ntarget.cluster.bootstrap.servers={b.bootstrap}\n"
        "topics=t\nreplication.factor=1\noffset-syncs.topic.replication.factor=1\n"
        "checkpoints.topic.replication.factor=1\n"
    )
    (tmp_path / "worker").write_text(f"bootstrap.servers={b.bootstrap}\noffset.storage.file.filename=/dev/null\n")
    for name in ("MirrorSourceConnector", "MirrorCheckpointConnector"):
        (tmp_path / name).write_text(f"name={name}\nconnector.class=org.apache.kafka.connect.mirror.{name}\n{flow}")
    words = [str(COMMANDS / "legacy-mm"), "connect"]
    files = [str(tmp_path / name) for name in ("worker", "MirrorSourceConnector", "MirrorCheckpointConnector")]
    with ToolProcess([*words, *files], tmp_path) as tool:
        wait_until(lambda: arrived(b, "A.t") == 60, SECONDS, "the copy")
        wait_until(lambda: "A.checkpoints.internal" in list_topics(b.bootstrap), SECONDS, "checkpoints")
        tool.signal(signal.SIGTERM)
        assert tool.wait(SECONDS) == STOPPED
    assert "heartbeats" not in list_topics(b.bootstrap)
