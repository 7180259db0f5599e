"""What ends a membership that librdkafka keeps."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError

from legacy_mm.clients.librdkafka.membership import LibrdkafkaMember
from legacy_mm.config import property_names
from legacy_mm.errors import StreamFailure


@pytest.mark.parametrize("assigned", [False, True], ids=["at the start", "while it is a member"])
def test_a_token_service_that_refuses_the_client(assigned: bool) -> None:
    """A renewal comes long before the token's end; brokers refuse one that is over."""
    listener: Any = SimpleNamespace(assigned=lambda partitions: None)
    properties = {"bootstrap.servers": "127.0.0.1:1", "group.id": "g"}
    member = LibrdkafkaMember(property_names.read_consumer(properties), "g-0", listener, lambda _: None)
    if assigned:
        member._on_assign(SimpleNamespace(assign=lambda partitions: None), [])
    told = 'Failed to acquire SASL OAUTHBEARER token: {"error": "invalid_client"}'
    member._errors(KafkaError(KafkaError._AUTHENTICATION, told))
    with nullcontext() if assigned else pytest.raises(StreamFailure, match="invalid_client"):
        member.poll(0)
