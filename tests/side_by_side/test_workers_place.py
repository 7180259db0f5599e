"""Ours in the place of MirrorMaker 2's workers: one book of positions, one owner, and nothing twice or not at all."""

from __future__ import annotations

import json
import signal
import uuid
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from compat.laboratory.cluster import Cluster
from compat.laboratory.releases import CONNECT, CURRENT
from compat.laboratory.tools import java_driver
from legacy_mm.audit.cluster_access import (
    change_topic,
    create_topic,
    delete_topic,
    end_offsets,
    list_topics,
    read_all,
)
from legacy_mm.audit.java_files import write_properties
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import Deadline
from legacy_mm.clients.group.groups import GroupAdmin
from tests.fixtures import client_settings
from tests.fixtures.driver_files import driver_file
from tests.fixtures.warm_mirrors import WarmMirror

pytestmark = [pytest.mark.brokers, pytest.mark.side_by_side, pytest.mark.spark]
SECONDS = 120.0
Tool = ToolProcess | WarmMirror
Driver = Callable[..., Tool]
COMPACTED = {"cleanup.policy": "compact"}
PARTITIONS = 8
BESIDE_BOTH = pytest.mark.parametrize(
    "release", [CURRENT, pytest.param(CONNECT, marks=pytest.mark.combination)], ids=["4.3", "3.9"]
)


@pytest.fixture
def release() -> str:
    """The release of MirrorMaker 2."""
    return CURRENT


@pytest.fixture
def alias() -> str:
    """The name of the source: the workers' topics and group have it in theirs."""
    return f"s{uuid.uuid4().hex[:8]}"


@pytest.fixture
def java(tmp_path: Path, release: str) -> Driver:
    """The real driver of MirrorMaker 2."""
    return partial(java_driver, tmp_path / "java", release=release)


def arrived(cluster: Cluster, topic: str) -> int:
    return sum(end_offsets(cluster.bootstrap, topic).values()) if topic in list_topics(cluster.bootstrap) else 0


def wait_arrived(cluster: Cluster, topic: str, count: int) -> None:
    wait_until(lambda: arrived(cluster, topic) >= count, SECONDS, f"{count} records in {topic}")


def stop(tool: Tool) -> None:
    tool.signal(signal.SIGTERM)
    tool.wait(SECONDS)


def flow(source: Cluster, target: Cluster, alias: str, topic: str, **more: str) -> dict[str, str]:
    """A file with one flow."""
    clusters = {alias: source, "t": target}
    return driver_file(clusters, **{f"{alias}->t.enabled": "true", "topics": topic, **more})


def copy(driver: Driver, file: Mapping[str, str], target: Cluster, topic: str, count: int) -> None:
    """Run a driver until so many records are there."""
    with driver(file) as tool:
        wait_arrived(target, topic, count)
        stop(tool)


@pytest.mark.parametrize(
    ("release", "numbers"),
    [
        pytest.param(CURRENT, (1, 25), id="4.3"),
        pytest.param(CURRENT, (10, 50), id="4.3, others", marks=pytest.mark.combination),
        pytest.param(CONNECT, (1, 25), id="3.9"),
    ],
)
def test_there_and_back_whatever_the_number_of_partitions(
    source: Cluster,
    target: Cluster,
    alias: str,
    topic: str,
    java: Driver,
    warm_driver: Driver,
    numbers: tuple[int, ...],
) -> None:
    """MirrorMaker 2, ours twice, MirrorMaker 2: every record once, with offsets topics of so many partitions."""
    aliases = {f"{alias}-{number}": number for number in numbers}
    for each, number in aliases.items():
        create_topic(target.bootstrap, f"mm2-offsets.{each}.internal", number, config=COMPACTED)
    file = driver_file(
        {**dict.fromkeys(aliases, source), "t": target},
        **{f"{each}->t.enabled": "true" for each in aliases},
        topics=topic,
    )
    for turn, driver in enumerate((java, warm_driver, warm_driver, java), 1):
        load(source.bootstrap, topic, 200, 100, partitions=PARTITIONS)
        with driver(file) as tool:
            for each in aliases:
                wait_arrived(target, f"{each}.{topic}", turn * 200)
            stop(tool)
    assert {each: arrived(target, f"{each}.{topic}") for each in aliases} == dict.fromkeys(aliases, 800)


@BESIDE_BOTH
def test_nodes_of_the_other_kind_are_told_by_the_broker(
    source: Cluster, target: Cluster, alias: str, topic: str, java: Driver, warm_driver: Driver
) -> None:
    """Never both at once; whoever is left goes on."""
    file, copied = flow(source, target, alias, topic), f"{alias}.{topic}"
    load(source.bootstrap, topic, 100, 100, partitions=PARTITIONS)
    with java(file) as theirs:
        wait_arrived(target, copied, 100)
        with warm_driver(file) as ours:
            ours.wait_for_output(f"group {alias}-mm2 at the target has members of another kind", SECONDS)
            assert "stop them, each with TERM" in ours.output()
            stop(theirs)
            load(source.bootstrap, topic, 100, 100, partitions=PARTITIONS)
            wait_arrived(target, copied, 200)
            with java(file) as refused:
                assert refused.wait(SECONDS) == 1  # of InconsistentGroupProtocolException, which 3.9 logs nowhere
                load(source.bootstrap, topic, 100, 100, partitions=PARTITIONS)
                wait_arrived(target, copied, 300)
            stop(ours)
    assert arrived(target, copied) == 300


def test_two_flows_out_of_a_cluster_have_a_group_each(
    source: Cluster, target: Cluster, target_39: Cluster, alias: str, topic: str, warm_driver: Driver
) -> None:
    """MirrorMaker 2 never uses `consumer.group.id`; each target gets all."""
    file = driver_file(
        {alias: source, "one": target, "two": target_39},
        **{f"{alias}->{each}.enabled": "true" for each in ("one", "two")},
        **{f"{alias}.consumer.group.id": "mm2", f"{alias}.consumer.group.instance.id": "i"},
        topics=topic,
    )
    load(source.bootstrap, topic, 300, 100, partitions=6)
    with warm_driver(file) as tool:
        for each in (target, target_39):
            wait_arrived(each, f"{alias}.{topic}", 300)
        stop(tool)
    assert [arrived(each, f"{alias}.{topic}") for each in (target, target_39)] == [300, 300]


@BESIDE_BOTH
def test_a_topic_that_is_another_one_is_copied_from_its_first_record(
    source: Cluster, target: Cluster, alias: str, topic: str, java: Driver, warm_driver: Driver
) -> None:
    """Copied by MirrorMaker 2, which keeps no ids, or by ours; then deleted, and made anew with more records."""
    file, copied = flow(source, target, alias, topic), f"{alias}.{topic}"
    for turn, (driver, count) in enumerate(((java, 100), (warm_driver, 150), (warm_driver, 200))):
        if turn:
            delete_topic(source.bootstrap, topic)
            wait_until(lambda: topic not in list_topics(source.bootstrap), SECONDS, "the end of the topic")
        load(source.bootstrap, topic, count, 100, partitions=1)
        there = arrived(target, copied)
        with driver(file) as tool:
            wait_arrived(target, copied, there + count)
            stop(tool)
            if turn:
                assert f"of {topic}-0 in topic mm2-offsets.{alias}.internal is not of the log" in tool.output()
    assert arrived(target, copied) == 450


def test_a_topic_that_comes_later_has_its_offset_too(
    source: Cluster, target: Cluster, alias: str, topic: str, java: Driver, warm_driver: Driver
) -> None:
    """The file of a first run of ours leaves it out."""
    topics = [f"{topic}-{number}" for number in (1, 2)]
    for each in topics:
        load(source.bootstrap, each, 50, 100, partitions=2)
    with java(flow(source, target, alias, ", ".join(topics))) as tool:
        for each in topics:
            wait_arrived(target, f"{alias}.{each}", 50)
        stop(tool)
    for chosen in (topics[:1], topics):
        for each in topics:
            load(source.bootstrap, each, 50, 100, partitions=2)
        with warm_driver(flow(source, target, alias, ", ".join(chosen))) as tool:
            for each in chosen:
                wait_arrived(target, f"{alias}.{each}", sum(end_offsets(source.bootstrap, each).values()))
            stop(tool)
    assert [arrived(target, f"{alias}.{each}") for each in topics] == [150, 150]


def test_exactly_once_sees_what_mirror_maker_2_has_copied_in_between(
    source: Cluster,
    target: Cluster,
    alias: str,
    topic: str,
    java: Driver,
    warm_driver: Driver,
    tmp_path: Path,
    run: Callable[..., Any],
) -> None:
    """All stops by TERM: the offsets topic tells who spoke last, and nothing is doubled in silence."""
    file, copied = flow(source, target, alias, topic), f"{alias}.{topic}"
    exactly = {**file, f"{alias}->t.exactly.once": "true"}
    for turn, (driver, chosen) in enumerate(((java, file), (warm_driver, exactly), (java, file)), 1):
        load(source.bootstrap, topic, 100, 100, partitions=4)
        with driver(chosen) as tool:
            wait_until(lambda: committed_records(target, copied) >= turn * 100, SECONDS, f"turn {turn}")  # noqa: B023
            stop(tool)
    with warm_driver(exactly) as refused:
        refused.wait_for_output("somebody copied in another mode since", SECONDS)
        stop(refused)
    line = ["connect-mirror-maker.sh", str(write_properties(tmp_path / "mm2.properties", exactly))]
    assert run("exactly-once", "adopt", "--", *line)[0] == 0
    load(source.bootstrap, topic, 100, 100, partitions=4)
    with warm_driver(exactly) as tool:
        wait_until(lambda: committed_records(target, copied) >= 400, SECONDS, "the last turn")
        stop(tool)
    assert committed_records(target, copied) == 400


def committed_records(cluster: Cluster, topic: str) -> int:
    """What a committed reader sees: transactions have markers, which are no records."""
    return len(read_all(cluster.bootstrap, topic, isolation="read_committed")) if arrived(cluster, topic) else 0


def test_an_offsets_topic_that_forgets_is_refused(
    source: Cluster, target: Cluster, alias: str, topic: str, warm_driver: Driver
) -> None:
    offsets = f"mm2-offsets.{alias}.internal"
    create_topic(target.bootstrap, offsets, 25)
    load(source.bootstrap, topic, 50, 100, partitions=1)
    with warm_driver(flow(source, target, alias, topic)) as tool:
        tool.wait_for_output(f"topic {offsets} at the target has cleanup.policy=delete", SECONDS)
        assert f"{alias}.{topic}" not in list_topics(target.bootstrap)
        change_topic(target.bootstrap, offsets, COMPACTED)
        wait_arrived(target, f"{alias}.{topic}", 50)
        stop(tool)


def test_an_open_transaction_in_the_offsets_topic_is_waited_for(
    source: Cluster, target: Cluster, alias: str, topic: str, java: Driver, warm_driver: Driver
) -> None:
    """A worker with exactly once that was killed leaves one behind; what it has stored after that counts, too."""
    file, copied = flow(source, target, alias, topic), f"{alias}.{topic}"
    load(source.bootstrap, topic, 100, 100, partitions=1)
    copy(java, file, target, copied, 100)
    offsets = f"mm2-offsets.{alias}.internal"
    settings = {"bootstrap.servers": target.bootstrap, "transactional.id": alias, "transaction.timeout.ms": 600_000}
    writer = Producer(settings)
    writer.init_transactions(SECONDS)
    writer.begin_transaction()
    for partition in range(25):
        writer.produce(offsets, key=b"open", value=b"{}", partition=partition)
    writer.flush()
    key = ["MirrorSourceConnector", {"cluster": alias, "partition": 0, "topic": topic}]
    text = json.dumps(key, separators=(",", ":")).encode()
    load(source.bootstrap, topic, 10, 100, partitions=1)
    plain = Producer({"bootstrap.servers": target.bootstrap, "partitioner": "murmur2_random"})
    plain.produce(offsets, key=text, value=b'{"offset":104}')  # as if 5 more were copied
    plain.flush()
    with warm_driver(file) as tool:
        tool.wait_for_output("a transaction is open in", SECONDS)
        assert arrived(target, copied) == 100
        writer.abort_transaction()
        wait_arrived(target, copied, 105)
        stop(tool)
    assert arrived(target, copied) == 105


def test_nodes_with_another_policy_are_refused_and_other_topics_are_told(
    source: Cluster, target: Cluster, alias: str, topic: str, warm_driver: Driver
) -> None:
    topics = [f"{topic}-{number}" for number in (1, 2)]
    for each in topics:
        load(source.bootstrap, each, 50, 100, partitions=4)
    with warm_driver(flow(source, target, alias, topics[0])) as first:
        wait_arrived(target, f"{alias}.{topics[0]}", 50)
        with warm_driver(flow(source, target, alias, topics[0], **{"replication.policy.separator": "-"})) as other:
            other.wait_for_output(f"another node of group {alias}-mm2 names copies in another way", SECONDS)
            stop(other)
        assert not [each for each in list_topics(target.bootstrap) if each.startswith(f"{alias}-")]
        with warm_driver(flow(source, target, alias, ", ".join(topics))) as second:
            wait_arrived(target, f"{alias}.{topics[1]}", 50)
            second.wait_for_output("have files that choose different topics", SECONDS)
            stop(second)
        stop(first)
    assert [arrived(target, f"{alias}.{each}") for each in topics] == [50, 50]


def test_nodes_that_start_together_and_name_copies_differently(
    source: Cluster, target: Cluster, alias: str, topic: str, warm_driver: Driver
) -> None:
    """One of them copies, whichever, and the other one is refused: no record goes to two copies."""
    separators = (".", "-")
    copies = [f"{alias}{separator}{topic}" for separator in separators]
    files = [flow(source, target, alias, topic, **{"replication.policy.separator": each}) for each in separators]
    load(source.bootstrap, topic, 50, 100, partitions=4)
    with warm_driver(files[0]) as first, warm_driver(files[1]) as second:
        second.wait_for_output(f"another node of group {alias}-mm2 names copies in another way", SECONDS)
        load(source.bootstrap, topic, 50, 100, partitions=4)
        wait_until(lambda: 100 in [arrived(target, copy) for copy in copies], SECONDS, "all records in one copy")
        stop(second)
        stop(first)
    assert sorted(arrived(target, copy) for copy in copies) == [0, 100]


def test_nodes_that_copy_exactly_once_share_a_flow_and_keep_other_nodes_out(
    source: Cluster, target: Cluster, alias: str, topic: str, warm_driver: Driver
) -> None:
    """Two nodes of one file copy; one with another policy, and one without exactly once, are refused."""
    exactly = flow(source, target, alias, topic, **{f"{alias}->t.exactly.once": "true"})
    copied = f"{alias}.{topic}"
    load(source.bootstrap, topic, 50, 100, partitions=PARTITIONS)
    with warm_driver(exactly) as first:
        wait_until(lambda: committed_records(target, copied) >= 50, SECONDS, "the first node's records")
        with warm_driver(exactly) as second:
            wait_until(lambda: members(target, f"{alias}-mm2") == 2, SECONDS, "both nodes in the group")
            load(source.bootstrap, topic, 50, 100, partitions=PARTITIONS)
            wait_until(lambda: committed_records(target, copied) >= 100, SECONDS, "what both nodes copy")
            for file, why in (
                ({**exactly, "replication.policy.separator": "-"}, "names copies in another way"),
                (flow(source, target, alias, topic), "nodes of this flow that copy exactly once"),
            ):
                with warm_driver(file) as other:
                    other.wait_for_output(why, SECONDS)
                    stop(other)
            stop(second)
        stop(first)
    assert committed_records(target, copied) == 100
    assert not [each for each in list_topics(target.bootstrap) if each.startswith(f"{alias}-")]


def members(cluster: Cluster, group: str) -> int:
    """How many are in a group."""
    admin = GroupAdmin("target", client_settings.read_connection({"bootstrap.servers": cluster.bootstrap}))
    return len(admin.members(group, Deadline.after(SECONDS)))
