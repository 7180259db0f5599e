"""Single records to a real broker: each in its own batch, so that the target refuses no other with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from compat.laboratory.cluster import Cluster
from compat.laboratory.security import USER, login, login_listener
from compat.laboratory.topic_state import AUTHORIZER, add_rules, forbid_rules
from legacy_mm.audit.cluster_access import create_topic, partition_of, read_all
from legacy_mm.base.errors import HostError, SendFailure
from legacy_mm.base.model import Outgoing
from legacy_mm.clients.net import error_text
from legacy_mm.clients.produce.single_producer import NativeProducer, RefusedRecord
from legacy_mm.dataplane.routes import RouteOptions, Router
from legacy_mm.protocol.error_codes import ErrorCode
from legacy_mm.words.java_clients.client_properties.apply import apply

pytestmark = pytest.mark.brokers
MakeProducer = Callable[..., NativeProducer]
TIME = 1_700_000_000_000
PARTITIONS = 3


@pytest.fixture
def name(topic: Callable[[], str]) -> str:
    return topic()


@pytest.fixture
def producer_to() -> Iterator[MakeProducer]:
    """(bootstrap, seconds of silence, Java's properties) -> a producer that is closed at the end."""
    made: list[NativeProducer] = []

    def make(bootstrap: str, silence: float = 30.0, **java: str) -> NativeProducer:
        properties = {"bootstrap.servers": bootstrap, **{key.replace("_", "."): text for key, text in java.items()}}
        settings = apply("producer", properties, streams=1, literal=False).producer
        router = Router(RouteOptions.of(settings.produce, measure=False))
        made.append(NativeProducer(settings, router.batch_of, silence))
        return made[-1]

    yield make
    for each in made:
        each.close()


def record(topic: str, value: bytes | None, key: bytes | None = b"k", partition: int | None = None) -> Outgoing:
    return (topic, key, value, (("h", b"x"),), partition, TIME)


@pytest.mark.parametrize("codec", ["none", "lz4"])
def test_records_arrive_as_they_were_given(target: Any, name: str, producer_to: MakeProducer, codec: str) -> None:
    """By their key, in the partition that is named, or in turn; in order."""
    create_topic(target.bootstrap, name, PARTITIONS)
    keyed = [record(name, b"%d" % number, b"k%d" % (number % 7)) for number in range(100)]
    named = [record(name, b"named", partition=2), record(name, None, partition=0)]
    keyless = [record(name, b"free", None) for _ in range(PARTITIONS)]
    assert producer_to(target.bootstrap, compression_type=codec).send(keyed + named + keyless) == []
    found = read_all(target.bootstrap, name)
    assert {(each.timestamp, each.headers) for each in found} == {(TIME, (("h", b"x"),))}
    by_value = {each.value: each.partition for each in found}
    assert all(by_value[value] == partition_of(key or b"", PARTITIONS) for _, key, value, *_ in keyed)
    assert (by_value[b"named"], by_value[None]) == (2, 0)
    assert {each.partition for each in found if each.value == b"free"} == set(range(PARTITIONS))
    for number in range(PARTITIONS):
        values = [each.value or b"" for each in found if each.partition == number]
        numbers = [int(value) for value in values if value.isdigit()]
        assert numbers == sorted(numbers)


@pytest.mark.parametrize("idempotence", ["true", "false"])
def test_what_is_refused_costs_no_other_record(
    target: Any, name: str, producer_to: MakeProducer, idempotence: str
) -> None:
    create_topic(target.bootstrap, name, 1, config={"max.message.bytes": "10000", "cleanup.policy": "compact"})
    records = [
        record(name, b"1"),
        record(name, bytes(50_000)),
        record(name, b"2"),
        record(name, b"no key", None),
        record(name, bytes(2_000_000)),
        record(name, b"3"),
    ]
    refused = producer_to(target.bootstrap, enable_idempotence=idempotence).send(records)
    too_large = RefusedRecord(name, error_text.meaning(ErrorCode.MESSAGE_TOO_LARGE))
    assert sorted(refused) == sorted([too_large, too_large, *(each for each in refused if "key" in each.reason)])
    assert len(refused) == 3
    assert [each.value for each in read_all(target.bootstrap, name)] == [b"1", b"2", b"3"]


def test_a_topic_that_brokers_make_is_waited_for(target: Any, name: str, producer_to: MakeProducer) -> None:
    assert producer_to(target.bootstrap).send([record(name, b"1")]) == []
    assert [each.value for each in read_all(target.bootstrap, name)] == [b"1"]


def test_what_is_no_record_is_not_sent(target: Any, name: str, producer_to: MakeProducer) -> None:
    create_topic(target.bootstrap, name, 1)
    wrong: Any = (name, b"k", b"v", (), None, 1 << 80)
    with pytest.raises(SendFailure, match="a record cannot be sent: "):
        producer_to(target.bootstrap).send([wrong])
    assert read_all(target.bootstrap, name) == []


def test_a_target_that_is_away_is_named(name: str, producer_to: MakeProducer, new_port: Callable[[], int]) -> None:
    producer = producer_to(f"127.0.0.1:{new_port()}", 1.0)
    with pytest.raises(HostError, match="the target has acknowledged nothing for 1 s: .*refused"):
        producer.send([record(name, b"1")])


def test_a_missing_right_refuses_the_record(
    own_clusters: Callable[..., Cluster], name: str, producer_to: MakeProducer
) -> None:
    properties: Any = {**AUTHORIZER, **login_listener("LOGIN")}
    target = own_clusters(properties=properties, listeners={"LOGIN": "SASL_PLAINTEXT"})
    create_topic(target.bootstrap, name, 1)
    add_rules(target.bootstrap, [(name, "LITERAL", f"User:{USER}", "*", "WRITE", "DENY")])
    forbid_rules(target.bootstrap, f"User:{USER}", "CREATE")
    secured = {key.replace(".", "_"): text for key, text in login("PLAIN").items()}
    with closing(producer_to(target.bootstrap_of("LOGIN"), security_protocol="SASL_PLAINTEXT", **secured)) as producer:
        (refused,) = producer.send([record(name, b"1")])
    assert refused == RefusedRecord(name, error_text.meaning(ErrorCode.TOPIC_AUTHORIZATION_FAILED))
