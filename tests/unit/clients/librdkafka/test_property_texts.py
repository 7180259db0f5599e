from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import confluent_kafka
import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient

from legacy_mm.base import property_names
from legacy_mm.base.kafka_clients import ConnectionSettings, ConsumerSettings, MembershipSettings, ProducerSettings
from legacy_mm.clients.librdkafka.property_texts import _OTHER_DEFAULTS, property_texts

CONNECTION = {
    "bootstrap.servers": "a:1,b:2",
    "client.id": "me",
    "security.protocol": "sasl_ssl",
    "client.dns.lookup": "resolve_canonical_bootstrap_servers_only",
    "socket.timeout.ms": "30000",
    "socket.connection.setup.timeout.ms": "31000",
    "reconnect.backoff.ms": "50",
    "reconnect.backoff.max.ms": "1000",
    "retry.backoff.ms": "101",
    "topic.metadata.refresh.interval.ms": "-1",
    "connections.max.idle.ms": "0",
    "receive.message.max.bytes": "2147483647",
    "socket.keepalive.enable": "true",
    "socket.send.buffer.bytes": "4096",
    "ssl.ca.pem": "CA",
    "ssl.key.pem": "KEY",
    "ssl.key.password": "geheim",
    "ssl.endpoint.identification.algorithm": "none",
    "enable.ssl.certificate.verification": "false",
    "sasl.mechanism": "SCRAM-SHA-256",
    "sasl.username": "u",
    "sasl.password": " p=,",
    "https.ca.location": "/ca",
    "broker.address.ttl": "7",
}
CONSUMER = {
    **CONNECTION,
    "group.id": "g",
    "group.instance.id": "g-1",
    "partition.assignment.strategy": "range",
    "session.timeout.ms": "45001",
    "isolation.level": "read_uncommitted",
    "check.crcs": "true",
    "fetch.wait.max.ms": "499",
    "queued.max.messages.kbytes": "32768",
    "client.rack": "r",
    "fetch.queue.backoff.ms": "20",
}
PRODUCER = {
    **CONNECTION,
    "acks": "1",
    "enable.idempotence": "true",
    "max.in.flight.requests.per.connection": "5",
    "message.max.bytes": "1048576",
    "batch.num.messages": "1",
    "queue.buffering.max.kbytes": "1024",
    "linger.ms": "0.5",
    "message.timeout.ms": "0",
    "retries": "7",
    "compression.type": "zstd",
    "compression.level": "3",
    "partitioner": "murmur2_random",
    "sticky.partitioning.linger.ms": "0",
}


def test_the_way_there_and_back_changes_no_text() -> None:
    assert property_texts(property_names.read_connection(CONNECTION)) == CONNECTION
    assert property_texts(property_names.read_consumer(CONSUMER)) == CONSUMER
    assert property_texts(property_names.read_producer(PRODUCER)) == PRODUCER


def test_what_librdkafka_does_not_know_stays_here() -> None:
    asked = {
        property_names.TOKEN_AUTH: "true",
        property_names.KEEPER: "http://127.0.0.1:1/w/0",
        "sasl.kerberos.krb5.conf": "/krb5.conf",
    }
    assert property_texts(property_names.read_connection({**CONNECTION, **asked})) == CONNECTION


def test_librdkafka_takes_the_defaults() -> None:
    there = ConnectionSettings(("127.0.0.1:1",))
    AdminClient({**property_texts(there)})
    Consumer(property_texts(ConsumerSettings(there, membership=MembershipSettings("g"))))
    assert Producer(property_texts(ProducerSettings(there))).poll(0) >= 0


def test_a_default_of_the_classic_membership_is_not_in_the_way_of_the_next_one() -> None:
    there = ConnectionSettings(("127.0.0.1:1",))
    texts = property_texts(ConsumerSettings(there, membership=MembershipSettings("g", protocol="consumer")))
    Consumer(texts)
    assert "session.timeout.ms" not in texts and texts["group.protocol"] == "consumer"


KINDS = ("rd_kafka_conf", "rd_kafka_topic_conf")


@pytest.fixture
def librdkafka() -> ctypes.CDLL:
    """The library itself."""
    libraries = sorted((Path(confluent_kafka.__file__).parents[1] / "confluent_kafka.libs").glob("librdkafka*.so*"))
    if not libraries:
        pytest.skip("confluent_kafka is not a wheel, which brings the library along")
    library = ctypes.CDLL(str(libraries[0]))
    for kind in KINDS:
        getattr(library, f"{kind}_new").restype = ctypes.c_void_p
    return library


@pytest.fixture
def librdkafka_default(librdkafka: ctypes.CDLL) -> Callable[[str], str]:
    """It says what it does where nothing is written."""

    def default(name: str) -> str:
        for kind in KINDS:
            text, size = ctypes.create_string_buffer(4096), ctypes.c_size_t(4096)
            asked = ctypes.c_void_p(getattr(librdkafka, f"{kind}_new")())
            if getattr(librdkafka, f"{kind}_get")(asked, name.encode(), text, ctypes.byref(size)) == 0:
                return text.value.decode()
        raise AssertionError(f"{name} is unknown")

    return default


def test_each_range_is_that_of_librdkafka(librdkafka: ctypes.CDLL) -> None:
    """The members of groups alone have a librdkafka that would refuse a number; all else is read by us."""

    def takes(name: str, number: int) -> bool:
        why, answers = ctypes.create_string_buffer(512), []
        for kind in KINDS:
            asked = ctypes.c_void_p(getattr(librdkafka, f"{kind}_new")())
            words = name.encode(), str(number).encode(), why, ctypes.c_size_t(512)
            answers.append(getattr(librdkafka, f"{kind}_set")(asked, *words))
        return 0 in answers

    rows = [row for rows in property_names.ROWS.values() for row in rows.values() if row.least is not None]
    for row in rows:
        assert row.least is not None
        edges = row.least - 1, row.least, row.most, row.most + 1
        assert [takes(row.name, edge) for edge in edges] == [False, True, True, False], row
        assert [row.takes(str(edge)) for edge in edges] == [False, True, True, False], row
    every = [row for rows in property_names.ROWS.values() for row in rows.values()]
    assert rows == [row for row in every if "number" in row.kind.allowed]


def test_a_default_that_is_not_written_is_that_of_librdkafka(librdkafka_default: Callable[[str], str]) -> None:
    """Else the two client libraries would do different things for the same settings."""
    differ = {
        row.name
        for kind, rows in property_names.ROWS.items()
        for field in fields(kind)
        if (row := rows.get(field.name)) is not None and not row.ours and field.default not in (None, "", ())
        if property_names.obstacle(row.name, text := librdkafka_default(row.name))
        or row.kind.read(text) != field.default
    }
    assert differ == _OTHER_DEFAULTS
