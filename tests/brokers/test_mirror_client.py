"""Our client of MirrorMaker 2's topics, and Kafka's own of two releases, on records that we have encoded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from uuid import uuid4

import pytest
from confluent_kafka import Producer

from compat.laboratory.releases import CURRENT
from legacy_mm.audit.cluster_access import create_topic, delete_topic, list_topics
from legacy_mm.base.errors import HostError
from legacy_mm.cli.legacy_mm import main
from legacy_mm.client import (
    Checkpoint,
    Heartbeat,
    MirrorClient,
    OffsetAndMetadata,
    RemoteClusterUtils,
    TopicPartition,
    checkpoint_line,
    heartbeat_line,
)
from tests.fixtures.clusters import Kafka
from tests.fixtures.java_mirror_client import (
    JAVA_CLIENTS,
    Answer,
    JavaMirrorClient,
    names,
    offsets,
    offsets_of_groups,
)

pytestmark = pytest.mark.brokers
SECONDS = 60.0
Pair = tuple[bytes | None, bytes | None]


@dataclass(frozen=True)
class Mirrored:
    """A cluster with the topics of mirroring from `near`, which is mirrored from `far`."""

    bootstrap: str
    near: str
    far: str
    heartbeats: Mapping[str, list[Heartbeat]]
    checkpoints: list[Checkpoint]
    last: list[Checkpoint]

    @property
    def properties(self) -> dict[str, str]:
        return {"bootstrap.servers": self.bootstrap}

    @property
    def config(self) -> str:
        return f"bootstrap.servers={self.bootstrap}\nreplication.policy.separator=.\n"


def write(bootstrap: str, topic: str, pairs: list[Pair]) -> None:
    failed: list[object] = []

    def delivered(error: object, _: object) -> None:
        if error is not None:
            failed.append(error)

    producer = Producer({"bootstrap.servers": bootstrap, "on_delivery": delivered})
    for key, value in pairs:
        producer.produce(topic, value, key, partition=0)
    assert producer.flush(SECONDS) == 0
    assert not failed


@contextmanager
def topics(bootstrap: str, *wanted: str, policy: str = "compact") -> Iterator[None]:
    """Topics as MirrorMaker 2 makes them, which are gone afterwards: other tests look at all there are."""
    for topic in wanted:
        create_topic(bootstrap, topic, 1, config={"cleanup.policy": policy})
    yield
    for topic in wanted:
        delete_topic(bootstrap, topic)


@pytest.fixture(scope="module")
def mirrored(source: Kafka) -> Iterator[Mirrored]:
    bootstrap, tail = source.bootstrap, uuid4().hex[:8]
    near, far = f"near{tail}", f"far{tail}"
    stale = Checkpoint("my-group", f"{near}.orders", 0, 1, 1, "")
    last = [
        Checkpoint("my-group", f"{near}.orders", 0, 1_234_567_890_123, 987_654_321, ""),
        Checkpoint("my-group", f"{near}.orders", 1, 0, 0, "note"),
        Checkpoint("équipe", f"{near}.t-1", 2_147_483_647, 9_223_372_036_854_775_807, 5, "été"),
        Checkpoint("my-group-2", f"{near}.orders", 0, 7, 8, ""),
    ]
    beats = {
        f"{near}.heartbeats": [Heartbeat("dst", near, 1_700_000_000_123), Heartbeat("dst", near, 1_700_000_001_123)],
        f"{near}.{far}.heartbeats": [Heartbeat("région", "東京", 1_712_564_822_022)],
    }
    found = Mirrored(bootstrap, near, far, beats, [stale, *last], last)
    checkpoints = f"{near}.checkpoints.internal"
    with topics(bootstrap, *beats, checkpoints, f"{near}.orders"):
        for topic, records in beats.items():
            write(bootstrap, topic, [each.encode() for each in records])
        write(bootstrap, checkpoints, [each.encode() for each in found.checkpoints])
        yield found


@pytest.mark.parametrize("release", JAVA_CLIENTS)
def test_java_reads_what_we_encode_as_we_do(mirrored: Mirrored, release: str, tmp_path: Path) -> None:
    near, far, checkpoints = mirrored.near, mirrored.far, f"{mirrored.near}.checkpoints.internal"
    asked = [
        *(("hops", alias) for alias in (near, far, "nobody")),
        *(("heartbeat topics",), ("checkpoint topics",), ("upstream clusters",)),
        *(("remote topics",), ("remote topics", near), ("remote topics", far)),
        *(("offsets", near, group) for group in ("my-group", "équipe", "nobody")),
        ("checkpoints", checkpoints),
        *(("heartbeats", topic) for topic in mirrored.heartbeats),
        *([("offsets by pattern", near, "my-group|é.*"), ("offsets by pattern", near, "my-")] * (release == CURRENT)),
    ]
    java = iter(JavaMirrorClient(tmp_path, release, mirrored.properties).ask(*asked))
    rules = {"mm2.compatibility": "4" if release == CURRENT else "3.9"}  # other tests' topics are there, too
    with MirrorClient(mirrored.properties | rules) as ours:
        for alias in (near, far, "nobody"):
            assert next(java) == [(str(ours.replication_hops(alias)),)]
        assert names(next(java)) == ours.heartbeat_topics() >= mirrored.heartbeats.keys()
        assert names(next(java)) == ours.checkpoint_topics() >= {checkpoints}
        assert names(next(java)) == ours.upstream_clusters() >= {near, far}
        assert names(next(java)) == ours.remote_topics() >= {f"{near}.orders"}
        assert names(next(java)) == ours.remote_topics(near) == {f"{near}.orders", *mirrored.heartbeats}
        assert names(next(java)) == ours.remote_topics(far) == set()
        assert offsets(next(java)) == ours.remote_consumer_offsets("my-group", near, SECONDS)
        assert offsets(next(java)) == ours.remote_consumer_offsets("équipe", near, SECONDS)
        assert offsets(next(java)) == ours.remote_consumer_offsets("nobody", near, SECONDS) == {}
        assert lines(next(java)) == list(map(checkpoint_line, mirrored.checkpoints))
        for records in mirrored.heartbeats.values():
            assert lines(next(java)) == list(map(heartbeat_line, records))
        for answer, pattern in zip(java, ("my-group|é.*", "my-"), strict=False):
            found = ours.remote_consumer_offsets(re.compile(pattern), near, SECONDS)
            assert offsets_of_groups(answer) == found
            assert found.keys() == ({"my-group", "équipe"} if pattern != "my-" else set())


def lines(answer: Answer) -> list[str]:
    return list(starmap("{}".format, answer))


def test_what_the_static_calls_answer(mirrored: Mirrored) -> None:
    near, known = mirrored.near, mirrored.properties
    assert RemoteClusterUtils.replication_hops(known, mirrored.far) == 2
    assert RemoteClusterUtils.heartbeat_topics(known) >= mirrored.heartbeats.keys()
    assert RemoteClusterUtils.checkpoint_topics(known) >= {f"{near}.checkpoints.internal"}
    assert RemoteClusterUtils.upstream_clusters(known) >= {near, mirrored.far}
    one = {
        TopicPartition(f"{near}.orders", 0): OffsetAndMetadata(987_654_321, ""),
        TopicPartition(f"{near}.orders", 1): OffsetAndMetadata(0, "note"),
    }
    assert RemoteClusterUtils.translate_offsets(known, near, "my-group", SECONDS) == one
    every = RemoteClusterUtils.translate_offsets(known, near, re.compile("my-group.*"), SECONDS)
    assert every == {"my-group": one, "my-group-2": {TopicPartition(f"{near}.orders", 0): OffsetAndMetadata(8, "")}}


def test_a_topic_that_is_not_there_is_empty_and_is_not_made(source: Kafka) -> None:
    alias = f"absent{uuid4().hex[:8]}"
    known = {"bootstrap.servers": source.bootstrap}
    assert RemoteClusterUtils.translate_offsets(known, alias, "g", SECONDS) == {}
    assert f"{alias}.checkpoints.internal" not in list_topics(source.bootstrap)


def test_rubbish_is_passed_over_and_a_null_takes_back(source: Kafka, caplog: pytest.LogCaptureFixture) -> None:
    """Java's client fails on a null; what it passes over besides, ours does too."""
    alias = f"torn{uuid4().hex[:8]}"
    topic = f"{alias}.checkpoints.internal"
    first, gone, other = (Checkpoint("g", f"{alias}.t", partition, 1, 10, "") for partition in range(3))
    (key, value), later = first.encode(), first._replace(downstream=11)
    pairs: list[Pair] = [
        *(each.encode() for each in (first, gone, later, other)),
        *((None, value), (None, None), (b"", value), (key, value[:-3]), (key, b"")),
        later._replace(downstream=-1).encode(),
        (gone.encode()[0], None),
    ]
    with topics(source.bootstrap, topic, policy="delete"):  # a broker refuses null keys for a compacted one
        write(source.bootstrap, topic, pairs)
        with MirrorClient({"bootstrap.servers": source.bootstrap}) as client:
            found = client.remote_consumer_offsets("g", alias, SECONDS)
    assert {place.partition: offset.offset for place, offset in found.items()} == {0: 11, 2: 10}
    (said,) = [record.getMessage() for record in caplog.records if topic in record.getMessage()]
    assert said.startswith(f"6 records of {topic} cannot be read as checkpoints") and said.endswith("at offset 4")


def test_a_cluster_that_does_not_answer_is_an_error() -> None:
    with MirrorClient({"bootstrap.servers": "127.0.0.1:1"}) as client, pytest.raises(HostError, match="looking for"):
        client.remote_consumer_offsets("g", "a", 0.5)


def test_the_commands(mirrored: Mirrored, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "client.properties"
    file.write_text(mirrored.config)
    near, orders = mirrored.near, f"{mirrored.near}.orders"

    def said(*words: str) -> list[str]:
        code = main([words[0], "--config", str(file), *words[1:]])
        out = capsys.readouterr()
        assert (code, out.err) == (0, "")
        return out.out.splitlines()

    assert said("checkpoints", "--source", near) == list(map(checkpoint_line, sorted(mirrored.last)))
    assert said("checkpoints", "--source", near, "--group", "my-group-2") == [checkpoint_line(mirrored.last[3])]
    assert said("checkpoints", "--source", near, "--group", "my-group-2", "--table") == [
        f"GROUP       TOPIC{' ' * (len(orders) - 5)}  PARTITION  UPSTREAM  DOWNSTREAM  METADATA",
        f"my-group-2  {orders}  0          7         8",
    ]
    assert said("heartbeats", "--topic", f"{near}.heartbeats") == [
        heartbeat_line(mirrored.heartbeats[f"{near}.heartbeats"][1])
    ]
    assert heartbeat_line(Heartbeat("région", "東京", 1_712_564_822_022)) in said("heartbeats")
    rows = {row.split()[0]: row for row in said("clusters")}
    assert re.search(rf" 1 +{near}\.heartbeats +2023-11-14 22:13:21 UTC, \d+ s ago$", rows[near])
    assert re.search(rf" 2 +{near}\.{mirrored.far}\.heartbeats +2024-04-08 ", rows[mirrored.far])
    (tmp_path / "consumer").write_text("bootstrap.servers=127.0.0.1:1\ngroup.id=g\n")
    aliases = ("--source.cluster.alias", near, "--target.cluster.alias", "here")
    line = ("kafka-mirror-maker.sh", "--consumer.config", str(tmp_path / "consumer"), "--producer.config", str(file))
    assert main(["checkpoints", "--", *line, "--include", "t", "--rename.topics", "true", *aliases]) == 0
    assert capsys.readouterr().out.splitlines() == list(map(checkpoint_line, sorted(mirrored.last)))
    assert main(["checkpoints", "--config", str(file), "--source", "nobody"]) == 0
    assert capsys.readouterr() == ("", "legacy-mm: there are no such checkpoints of nobody\n")
