"""Which of librdkafka's errors mean that a login is refused for good, and what a failed commit means."""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import nullcontext

import pytest
from confluent_kafka import KafkaError, Producer

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import StreamFailure
from legacy_mm.clients.group.member import CommitProblem
from legacy_mm.clients.librdkafka.client import MemberErrors
from legacy_mm.clients.librdkafka.error_meanings import (
    commit_problem,
    ends_membership,
    refusal,
    refuses_login,
    refuses_token,
)

UNVERIFIED = "SSL handshake failed: certificate verify failed: broker certificate could not be verified"
NO_TOKEN = "Failed to acquire SASL OAUTHBEARER token"
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
        (KafkaError._AUTHENTICATION, f"{NO_TOKEN}: timed out", False),
        (KafkaError._AUTHENTICATION, f'{NO_TOKEN}: {{"error": "invalid_client"}}', False),
        (KafkaError._ALL_BROKERS_DOWN, "1/1 brokers are down", False),
    ],
)
def test_refused_logins(code: int, text: str, refused: bool) -> None:
    assert refuses_login(KafkaError(code, text)) is refused


@pytest.mark.parametrize(("word", "refused"), [("invalid_client", True), ("temporarily_unavailable", False)])
def test_refused_tokens(word: str, refused: bool) -> None:
    """By the words of RFC 6749."""
    error = KafkaError(KafkaError._AUTHENTICATION, f'{NO_TOKEN}: {{"error": "{word}"}}')
    assert refuses_token(error) is refused
    for without_token in (True, False):
        lines = MemberErrors("c")
        lines.without_token = without_token
        lines(error)
        with pytest.raises(StreamFailure, match=word) if refused and without_token else nullcontext():
            lines.raise_refusal()


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        (KafkaError.STALE_MEMBER_EPOCH, CommitProblem.REJOINING),
        (KafkaError.REBALANCE_IN_PROGRESS, CommitProblem.REJOINING),
        (KafkaError.FENCED_MEMBER_EPOCH, CommitProblem.LOST),
        (KafkaError.UNKNOWN_MEMBER_ID, CommitProblem.LOST),
        (KafkaError.NOT_COORDINATOR, CommitProblem.RETRY),
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, CommitProblem.FATAL),
    ],
)
def test_what_becomes_of_a_commit_that_failed(code: int, problem: CommitProblem) -> None:
    """With KIP-848 the epoch may grow between a commit and its arrival."""
    assert commit_problem(KafkaError(code)) is problem


@pytest.mark.parametrize(
    ("code", "ends"),
    [
        (KafkaError.INVALID_SESSION_TIMEOUT, True),
        (KafkaError.UNSUPPORTED_VERSION, True),
        (KafkaError._UNSUPPORTED_FEATURE, True),
        (KafkaError.INCONSISTENT_GROUP_PROTOCOL, True),
        (KafkaError.UNKNOWN_TOPIC_OR_PART, False),
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, False),  # it is hidden from us: to a Java client it is not there
        (KafkaError.COORDINATOR_LOAD_IN_PROGRESS, False),
    ],
)
def test_a_group_that_will_never_have_this_member_ends_the_mirror(code: int, ends: bool) -> None:
    """As in Java. librdkafka joins again for ever: a session too short for the broker looked like an idle mirror."""
    assert ends_membership(KafkaError(code)) is ends


def test_advice_on_foreign_properties_is_left_out() -> None:
    said = refusal(KafkaError(KafkaError._SSL, UNVERIFIED + ADVICE))
    assert said == f"{UNVERIFIED} (unknown authority, another host name, or out of date)"


@pytest.mark.parametrize("linger", [struct.pack("ii", 0, 0), struct.pack("ii", 1, 0)], ids=["closed", "reset"])
def test_a_connection_that_breaks_in_the_handshake_is_no_refusal(linger: bytes) -> None:
    errors: list[KafkaError] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_break_connections, args=(server, linger), daemon=True).start()
        servers = f"127.0.0.1:{server.getsockname()[1]}"
        options = {"bootstrap.servers": servers, "security.protocol": "ssl", "log_level": 0}
        producer = Producer({**options, "error_cb": errors.append})
        deadline = Deadline.after(20)
        while not errors and not deadline.expired():
            producer.poll(0.1)
    assert "SSL" in errors[0].str()
    assert not any(map(refuses_login, errors))


def _break_connections(server: socket.socket, linger: bytes) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        connection.recv(4096)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        connection.close()
