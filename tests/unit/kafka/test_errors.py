"""Which of librdkafka's errors mean that a login is refused for good."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError

from legacy_mm.kafka.errors import refusal, refuses_login

UNVERIFIED = "SSL handshake failed: certificate verify failed: broker certificate could not be verified"
ADVICE = ", verify that ssl.ca.location is correctly configured or root CA certificates are installed (after 2ms)"


@pytest.mark.parametrize(
    ("code", "text", "refused"),
    [
        (KafkaError._AUTHENTICATION, "SASL authentication error: Authentication failed: Invalid username", True),
        (KafkaError._SSL, UNVERIFIED + ADVICE, True),
        (KafkaError._TRANSPORT, "Receive failed: SSL routines::tls alert bad certificate: SSL alert number 42", True),
        (KafkaError._TRANSPORT, "Connect to ipv4#127.0.0.1:1 failed: Connection refused", False),
        (
            KafkaError._AUTHENTICATION,
            "SASL authentication error: SaslAuthenticateRequest failed: Local: Broker transport failure",
            False,
        ),
        (KafkaError._AUTHENTICATION, "Failed to acquire SASL OAUTHBEARER token: timed out", False),
        (KafkaError._ALL_BROKERS_DOWN, "1/1 brokers are down", False),
    ],
)
def test_refused_logins(code: int, text: str, refused: bool) -> None:
    assert refuses_login(KafkaError(code, text)) is refused


def test_advice_on_foreign_properties_is_left_out() -> None:
    said = refusal(KafkaError(KafkaError._SSL, UNVERIFIED + ADVICE))
    assert said == f"{UNVERIFIED} (unknown authority, another host name, or out of date)"
