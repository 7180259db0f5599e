"""What ends a membership that librdkafka keeps, and how often it connects."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError

from legacy_mm.base.errors import StreamFailure
from legacy_mm.clients.librdkafka.membership import LibrdkafkaMember, patient
from legacy_mm.words.java_clients.client_properties.apply import apply
from tests.fixtures import client_settings


@pytest.mark.parametrize("assigned", [False, True], ids=["at the start", "while it is a member"])
def test_a_token_service_that_refuses_the_client(assigned: bool) -> None:
    """A renewal comes long before the token's end; brokers refuse one that is over."""
    listener: Any = SimpleNamespace(assigned=lambda partitions: None)
    properties = {"bootstrap.servers": "127.0.0.1:1", "group.id": "g"}
    member = LibrdkafkaMember(client_settings.read_consumer(properties), "g-0", listener, lambda _: None)
    if assigned:
        member._on_assign(SimpleNamespace(assign=lambda partitions: None), [])
    told = 'Failed to acquire SASL OAUTHBEARER token: {"error": "invalid_client"}'
    member._errors(KafkaError(KafkaError._AUTHENTICATION, told))
    with nullcontext() if assigned else pytest.raises(StreamFailure, match="invalid_client"):
        member.poll(0)


@pytest.mark.parametrize(
    ("given", "ours", "librdkafka_s"),
    [
        ({}, 0.05, 0.25),
        ({"reconnect.backoff.max.ms": "8000"}, 0.05, 2.0),
        ({"reconnect.backoff.ms": "200"}, 0.2, 0.2),
        ({"reconnect.backoff.ms": "200", "reconnect.backoff.max.ms": "5000"}, 0.2, 1.25),
        ({"reconnect.backoff.ms": "200", "reconnect.backoff.max.ms": "100"}, 0.1, 0.1),
    ],
)
def test_only_librdkafka_s_first_pause_is_a_quarter_of_the_longest(
    given: dict[str, str], ours: float, librdkafka_s: float
) -> None:
    """Our own clients double it, as Java's do."""
    file = {"bootstrap.servers": "127.0.0.1:1", "group.id": "g"}
    settings = apply("consumer", file | given).consumer
    pauses = settings.connection.reconnect_backoff, patient(settings).connection.reconnect_backoff
    assert pauses == (ours, librdkafka_s)
