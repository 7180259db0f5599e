from __future__ import annotations

import pytest

from legacy_mm.base.kafka_clients import (
    ConnectionSettings,
    ConsumerSettings,
    OAuthSettings,
    ProducerSettings,
    ProduceSettings,
    SecurityProtocol,
)
from legacy_mm.base.secret import Secret


def test_without_idempotence_one_request_is_under_way() -> None:
    asked = ProducerSettings(ConnectionSettings(("a:1",)), ProduceSettings(idempotent=True, retries=3))
    found = asked.without_idempotence()
    assert found == ProducerSettings(asked.connection, ProduceSettings(idempotent=False, in_flight=1, retries=3))


def test_batches_of_one_record_are_never_joined() -> None:
    assert ProduceSettings(batch_records=1).joined_bytes == 0
    assert ProduceSettings(batch_bytes=77).joined_bytes == 77


def test_a_named_client_has_the_same_connection() -> None:
    asked = ConsumerSettings(ConnectionSettings(("a:1",), setup_timeout=7.0))
    assert asked.named("me").connection == ConnectionSettings(("a:1",), client_id="me", setup_timeout=7.0)


@pytest.mark.parametrize(
    ("protocol", "encrypted", "logs_in"),
    [("PLAINTEXT", False, False), ("SSL", True, False), ("SASL_PLAINTEXT", False, True), ("SASL_SSL", True, True)],
)
def test_protocols(protocol: str, encrypted: bool, logs_in: bool) -> None:
    found = SecurityProtocol[protocol]
    assert (found.encrypted, found.logs_in) == (encrypted, logs_in)


def test_tokens_of_a_keeper_are_fetched_here() -> None:
    assert OAuthSettings(keeper=Secret("http://127.0.0.1:1/word/0")).fetched_here
    assert not OAuthSettings(method="oidc", token_url="https://tokens").fetched_here
