from __future__ import annotations

from dataclasses import fields
from math import inf

import pytest

from legacy_mm.base import property_names
from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.kafka_clients import (
    ConnectionSettings,
    ConsumerSettings,
    MskIamSettings,
    OAuthSettings,
    ProducerSettings,
    SecurityProtocol,
)
from legacy_mm.base.secret import Secret

SERVERS = {"bootstrap.servers": "a:1, [::1]:2"}


def test_times_are_seconds_and_sizes_are_bytes() -> None:
    found = property_names.read_consumer(
        {**SERVERS, "socket.timeout.ms": "30000", "fetch.wait.max.ms": "250", "queued.max.messages.kbytes": "64"}
    )
    assert found.connection.bootstrap_servers == ("a:1", "[::1]:2")
    assert (found.connection.socket_timeout, found.fetch.max_wait, found.fetch.backlog_bytes) == (30.0, 0.25, 65_536)


@pytest.mark.parametrize(
    ("name", "text", "field"),
    [
        ("connections.max.idle.ms", "0", "max_idle"),
        ("topic.metadata.refresh.interval.ms", "-1", "metadata_max_age"),
    ],
)
def test_numbers_that_mean_for_ever(name: str, text: str, field: str) -> None:
    assert getattr(property_names.read_connection({**SERVERS, name: text}), field) == inf


def test_a_linger_may_be_a_part_of_a_millisecond() -> None:
    assert property_names.read_producer({**SERVERS, "linger.ms": "0.5"}).produce.linger == 0.0005


def test_a_producer_without_a_delivery_timeout_tries_for_ever() -> None:
    assert property_names.read_producer({**SERVERS, "message.timeout.ms": "0"}).produce.delivery_timeout == inf


def test_credentials_are_secrets() -> None:
    found = property_names.read_connection(
        {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN", "sasl.password": "geheim", "ssl.key.pem": "KEY"}
    )
    assert found.protocol is SecurityProtocol.SASL_SSL
    assert found.sasl.password == Secret("geheim") and found.tls.key_pem == Secret("KEY")
    assert "geheim" not in repr(found) and "KEY" not in repr(found)


def test_a_login_by_aws_iam_has_fields() -> None:
    row = property_names.ROWS[OAuthSettings]["msk_iam"]
    login = MskIamSettings("eu-west-1", role="arn:x")
    assert row.kind.read('{"region": "eu-west-1", "role": "arn:x"}') == login
    assert row.kind.read(row.kind.write(login)) == login


def test_what_no_field_names_stays_with_its_client() -> None:
    found = property_names.read_consumer(
        {**SERVERS, "ssl.crl.location": "a", "broker.address.ttl": "7", "fetch.x": "y"}
    )
    assert found.connection.further == {"broker.address.ttl": "7"} and found.further == {"fetch.x": "y"}
    assert "fetch.x" not in repr(found)


def test_a_connection_is_what_all_clients_of_a_cluster_share() -> None:
    asked = {**SERVERS, "sasl.username": "u", "group.id": "g", "acks": "1", "linger.ms": "4"}
    assert property_names.read_connection(asked) == property_names.read_connection({**SERVERS, "sasl.username": "u"})


def test_librdkafka_refuses_what_a_field_cannot_hold() -> None:
    found = property_names.read_producer({**SERVERS, "retries": "many", "socket.keepalive.enable": "perhaps"})
    assert found.further == {"retries": "many"}
    assert found.connection.further == {"socket.keepalive.enable": "perhaps"}


def test_no_client_goes_on_without_the_protocol_that_was_asked_for() -> None:
    with pytest.raises(ConfigurationError, match="security.protocol=quic is unknown"):
        property_names.read_connection({"security.protocol": "quic"})


@pytest.mark.parametrize("kind", property_names.ROWS)
def test_each_row_names_a_field(kind: type) -> None:
    named = {field.name for field in fields(kind)}
    assert property_names.ROWS[kind].keys() <= named
    assert named - property_names.ROWS[kind].keys() <= {"further", "tls", "sasl", "kerberos", "oauth"}


def test_each_name_is_of_one_field() -> None:
    names = [row.name for rows in property_names.ROWS.values() for row in rows.values()]
    assert len(names) == len(set(names))


def test_nothing_said_is_all_defaults() -> None:
    assert property_names.read_consumer({}) == ConsumerSettings(ConnectionSettings())
    assert property_names.read_producer({}) == ProducerSettings(ConnectionSettings())
