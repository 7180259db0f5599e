"""What crosses the control channel by its type, and comes out as it was."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from legacy_mm.base.kafka_clients import ConsumerSettings, ProducerSettings
from legacy_mm.base.model import Offsets, TopicPartition
from legacy_mm.base.secret import Secret
from legacy_mm.runtime.channel import json_fields
from tests.fixtures import client_settings

SECURED = {
    "bootstrap.servers": "a:1,b:2",
    "security.protocol": "sasl_ssl",
    "sasl.mechanism": "SCRAM-SHA-512",
    "sasl.username": "u",
    "sasl.password": "geheim",
    "ssl.key.pem": "KEY",
    "oauth.msk_iam": '{"region": "eu-west-1", "role": "arn:x"}',
    "connections.max.idle.ms": "0",
    "broker.address.ttl": "7",
}


@dataclass(frozen=True)
class Whole:
    source: ConsumerSettings
    target: ProducerSettings
    offsets: Offsets
    word: Secret | None


def whole(word: Secret | None = None) -> Whole:
    source = client_settings.read_consumer(
        {**SECURED, "group.id": "g", "partition.assignment.strategy": "range,roundrobin"}
    )
    target = client_settings.read_producer({**SECURED, "message.timeout.ms": "0", "compression.type": "zstd"})
    return Whole(source, target, {TopicPartition("t", 1): 7}, word)


@pytest.mark.parametrize("word", [None, Secret("w")])
def test_the_clients_of_a_config_with_their_credentials(word: Secret | None) -> None:
    sent = whole(word)
    found = Whole(**json_fields.read(Whole, json.loads(json.dumps(json_fields.written(sent)))))
    assert found == sent
    assert found.source.connection.sasl.password == Secret("geheim")


@pytest.mark.parametrize(
    ("name", "value"),
    [("protocol", "quic"), ("bootstrap_servers", 7), ("tls", None), ("sasl", {"mechanism": "PLAIN"})],
)
def test_what_cannot_have_been_written_is_refused(name: str, value: object) -> None:
    body = json.loads(json.dumps(json_fields.written(whole())))
    body["source"]["connection"][name] = value
    with pytest.raises((ValueError, KeyError, TypeError)):
        json_fields.read(Whole, body)
