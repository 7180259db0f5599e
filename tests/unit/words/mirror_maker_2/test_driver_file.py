"""Which flows a file has, and which of its keys reach which client and worker (contract 7.2 to 7.5)."""

from __future__ import annotations

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.words.java_clients import properties_file
from legacy_mm.words.mirror_maker_2.connector_properties import CONNECTORS
from legacy_mm.words.mirror_maker_2.driver_file import DriverFile, NoFlows, Pair

AB = "clusters = A, B\nA.bootstrap.servers = a:9092\nB.bootstrap.servers = b:9092\n"
ABC = f"{AB.replace('A, B', 'A, B, C')}C.bootstrap.servers = c:9092\n"
SIX = f"clusters = {', '.join('abcdef')}\nemit.heartbeats.enabled = false\n"


def file_of(text: str, *served: str) -> DriverFile:
    return DriverFile(properties_file.loads(text.encode()), served)


@pytest.mark.parametrize(
    ("text", "flows"),
    [
        (ABC, 6),
        (f"{ABC}emit.heartbeats.enabled = false\n", 0),
        (f"{ABC}A->B.emit.heartbeats.enabled = false\nB->A.emit.heartbeats.enabled = false\n", 4),
        (f"{ABC}emit.heartbeats.enabled = false\nA->B.enabled = true\n", 1),
        (f"{ABC}emit.heartbeats.enabled = false\nA->B.emit.heartbeats.enabled = true\n", 1),
        (f"{SIX}a->b.enabled = true\nc->d.enabled = true\ne->f.enabled = true\n", 3),
        (f"{SIX}a->b.enabled = true\nc->d.enabled = true\ne->f.emit.heartbeats.enabled = true\n", 3),
    ],
)
def test_flows_as_in_apache_s_own_test_of_the_driver(text: str, flows: int) -> None:
    """MirrorMakerConfigTest:236-306."""
    pairs = file_of(text).pairs_or_none()
    assert len(pairs) == flows
    assert Pair("b", "a") not in pairs


def test_a_node_serves_the_flows_into_its_clusters() -> None:
    assert set(file_of(ABC, "B", "C").pairs()) == {
        Pair("A", "B"), Pair("C", "B"), Pair("A", "C"), Pair("B", "C")
    }  # fmt: skip
    with pytest.raises(NoFlows, match=r"No source->target replication flows\."):
        file_of(ABC, "b").pairs()


def test_an_alias_that_stands_twice_counts_once() -> None:
    assert file_of(AB.replace("A, B", "A, B, A")).pairs() == [Pair("A", "B"), Pair("B", "A")]


def test_a_file_without_clusters() -> None:
    with pytest.raises(ConfigurationError, match='Missing required configuration "clusters"'):
        file_of("A.bootstrap.servers = a:1\n").pairs()


def test_clients_of_a_cluster_get_its_connection_and_what_is_written_for_them() -> None:
    text = (
        f"{AB}security.protocol = SSL\nA.security.protocol = SASL_SSL\nA.sasl.mechanism = PLAIN\n"
        "A.consumer.sasl.mechanism = SCRAM-SHA-256\nA.max.poll.records = 7\nA.consumer.max.poll.records = 8\n"
    )
    file = file_of(text)
    a, b = file.cluster("A"), file.cluster("B")
    assert (a["security.protocol"], b["security.protocol"], b["consumer.security.protocol"]) == (
        "SASL_SSL",
        "SSL",
        "SSL",
    )
    assert a["consumer.security.protocol"] == "SASL_SSL"
    assert (a["consumer.sasl.mechanism"], a["producer.sasl.mechanism"]) == ("SCRAM-SHA-256", "PLAIN")
    source = file.connector(Pair("A", "B"), "source")
    assert source["source.consumer.max.poll.records"] == "8"
    assert source["source.cluster.max.poll.records"] == "7"
    assert source["target.cluster.bootstrap.servers"] == "b:9092"


def test_a_worker_gets_the_target_s_keys_and_the_top_level_s_storage() -> None:
    text = (
        f"{AB}offset.storage.replication.factor = 1\ntasks.max = 3\ngroup.id = top\nproducer.acks = 0\n"
        "B.producer.acks = 1\nB.offset.flush.interval.ms = 5\nA.offset.flush.timeout.ms = 6\n"
    )
    worker = file_of(text).worker(Pair("A", "B"))
    assert worker["offset.storage.topic"] == "mm2-offsets.A.internal"
    assert (worker["group.id"], worker["producer.acks"]) == ("A-mm2", "1")
    assert (worker["offset.flush.interval.ms"], worker["offset.storage.replication.factor"]) == ("5", "1")
    assert "offset.flush.timeout.ms" not in worker


def test_the_names_of_topics_connectors_and_keys_of_the_top_level() -> None:
    """MirrorMakerConfigTest:73, 138, 175, 192, 334 and 345."""
    text = (
        f"{AB}tasks.max = 100\ntopics = topic-1\ngroups = group-2\nconfig.properties.exclude = p\nxxx = yyy\n"
        "replication.policy.separator = __\nA->B.topics = topic-3, topic-4\nA->B.xxx = zzz\n"
        "B.status.storage.topic = status\nB.producer.client.id = us\nssl.key.password = ${fake:secret:password}\n"
    )
    file = file_of(text)
    for connector in CONNECTORS:
        found = file.connector(Pair("A", "B"), connector)
        assert (found["name"], found["connector.class"].rpartition(".")[2]) == (CONNECTORS[connector],) * 2
        assert (found["tasks.max"], found["topics"], found["groups"]) == ("100", "topic-3, topic-4", "group-2")
        assert (found["config.properties.exclude"], found["replication.policy.separator"]) == ("p", "__")
        assert (found["xxx"], found["ssl.key.password"]) == ("zzz", "${fake:secret:password}")
    assert "xxx" not in file.connector(Pair("B", "A"), "source")
    worker = file.worker(Pair("A", "B"))
    assert (worker["client.id"], worker["status.storage.topic"]) == ("A->B", "status")
    assert worker["producer.client.id"] == "us"


def test_what_the_driver_does_not_hand_on_from_the_top_level() -> None:
    text = f"{AB}use.defaults.from = source\nproducer.acks = 0\nexactly.once.source.support = enabled\ntopics = t\n"
    source = file_of(text).connector(Pair("A", "B"), "source")
    assert source["topics"] == "t"
    assert not {"use.defaults.from", "producer.acks", "exactly.once.source.support"} & set(source)
    assert file_of(f"{text}A->B.use.defaults.from = source\n").connector(Pair("A", "B"), "source")["use.defaults.from"]
