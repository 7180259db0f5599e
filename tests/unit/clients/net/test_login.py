"""The first words on a connection, with a broker that is a function."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from kafka.errors import (
    IllegalSaslStateError,
    SaslAuthenticationFailedError,
    UnsupportedSaslMechanismError,
    UnsupportedVersionError,
)
from kafka.protocol.sasl import SaslHandshakeRequest

from legacy_mm.clients.net.connection_errors import AuthenticationFailed, ConnectionLost
from legacy_mm.clients.net.connection_security import Security
from legacy_mm.clients.net.login import BrokerVersions, ask_versions, authenticate
from tests.fixtures import client_settings

API_VERSIONS = 18
PASSWORD = "the-password"


def versions(error: int, highest: int) -> Any:
    row = SimpleNamespace(api_key=API_VERSIONS, min_version=0, max_version=highest)
    finalized = [SimpleNamespace(name="transaction.version", max_version_level=2)]
    return SimpleNamespace(error_code=error, api_keys=[row], finalized_features=finalized, API_KEY=API_VERSIONS)


def broker(*answers: Any) -> tuple[list[Any], Callable[[Any], Any]]:
    """Says these one after the other; and what it was asked."""
    asked: list[Any] = []
    left = iter(answers)

    def call(request: Any) -> Any:
        asked.append(request)
        return next(left)

    return asked, call


def test_an_old_broker_is_asked_again_in_its_own_version() -> None:
    asked, call = broker(versions(UnsupportedVersionError.errno, 2), versions(0, 2))
    assert ask_versions(call) == BrokerVersions({API_VERSIONS: (0, 2)}, {"transaction.version": 2})
    assert [request.API_VERSION for request in asked] == [4, 2]


@pytest.mark.parametrize(("error", "highest"), [(UnsupportedVersionError.errno, 4), (41, 4)])
def test_a_broker_that_does_not_tell_its_versions(error: int, highest: int) -> None:
    with pytest.raises(ConnectionLost, match="does not tell its API versions"):
        ask_versions(broker(versions(error, highest))[1])


def log_in(mechanism: str, *answers: Any) -> float:
    properties = {"sasl.mechanism": mechanism, "sasl.username": "me", "sasl.password": PASSWORD}
    security = Security(client_settings.read_connection({"security.protocol": "sasl_plaintext", **properties}))
    return authenticate(broker(*answers)[1], mechanism, security.mechanism("localhost"))


def welcome(error: int = 0) -> Any:
    return SimpleNamespace(error_code=error, mechanisms=["PLAIN"])


def words(said: bytes, error: int = 0, message: str | None = None, lifetime: int = 0) -> Any:
    return SimpleNamespace(error_code=error, error_message=message, auth_bytes=said, session_lifetime_ms=lifetime)


def test_a_login_lasts_as_long_as_the_broker_says() -> None:
    assert log_in("PLAIN", welcome(), words(b"", lifetime=90_000)) == 90
    assert log_in("PLAIN", welcome(), words(b"")) == 0


def test_a_broker_that_always_has_another_question() -> None:
    properties = {"sasl.mechanism": "OAUTHBEARER", "enable.sasl.oauthbearer.unsecure.jwt": "true"}
    security = Security(
        client_settings.read_connection(
            {"security.protocol": "sasl_ssl", "sasl.oauthbearer.config": "principal=me", **properties}
        )
    )
    asked, call = broker(welcome(), *[words(b"why?")] * 1000)
    with pytest.raises(AuthenticationFailed, match="ended without a login"):
        authenticate(call, "OAUTHBEARER", security.mechanism("localhost"))
    assert len(asked) < 100


@pytest.mark.parametrize(
    ("mechanism", "answers", "said"),
    [
        ("SCRAM-SHA-256", [welcome(UnsupportedSaslMechanismError.errno)], "offered are PLAIN"),
        (
            "PLAIN",
            [SimpleNamespace(error_code=IllegalSaslStateError.errno, mechanisms=[])],
            "IllegalSaslStateError; that listener wants no login: look at security.protocol",
        ),
        ("PLAIN", [welcome(), words(b"", SaslAuthenticationFailedError.errno, "Who are you?")], "Who are you?"),
        ("PLAIN", [welcome(), words(b"", SaslAuthenticationFailedError.errno)], "SaslAuthenticationFailedError"),
        ("PLAIN", [welcome(), words(b"\0rubbish")], "PLAIN ended without a login"),
        ("SCRAM-SHA-512", [welcome(), words(b"r=another,s=AAAA,i=4096")], "Server nonce"),
        ("SCRAM-SHA-512", [welcome(), words(b"\xff")], "UnicodeDecodeError"),
    ],
)
def test_a_login_that_fails(mechanism: str, answers: list[Any], said: str) -> None:
    with pytest.raises(AuthenticationFailed, match=said) as caught:
        log_in(mechanism, *answers)
    assert PASSWORD not in str(caught.value)


@pytest.mark.parametrize("login", [{}, {client_settings.TOKEN_AUTH: "true"}], ids=["user", "token"])
@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
@pytest.mark.parametrize(("iterations", "proofs"), [("4095", 0), ("1", 0), ("0", 0), ("4096", 1)])
def test_a_broker_gets_no_proof_that_is_cheap_to_guess(
    iterations: str, proofs: int, mechanism: str, login: dict[str, str]
) -> None:
    said: list[bytes] = []

    def call(request: Any) -> Any:
        if isinstance(request, SaslHandshakeRequest):
            return welcome()
        said.append(bytes(request.auth_bytes))
        nonce = said[0].split(b",r=")[1].split(b",")[0].decode()
        return words(f"r={nonce}x,s=AAAA,i={iterations}".encode() if len(said) == 1 else b"v=AAAA")

    properties = {"sasl.mechanism": mechanism, "sasl.username": "me", "sasl.password": PASSWORD, **login}
    security = Security(client_settings.read_connection({"security.protocol": "sasl_plaintext", **properties}))
    why = (
        "Server sent wrong signature" if proofs else f"asks for {iterations} iterations of SCRAM, and the least is 4096"
    )
    with pytest.raises(AuthenticationFailed, match=why):
        authenticate(call, mechanism, security.mechanism("localhost"))
    assert [word.startswith(b"n,,n=me") for word in said] == [True, *[False] * proofs]
    assert said[0].endswith(b",tokenauth=true") is bool(login)


def test_the_parts_of_a_scram_message_stay_apart() -> None:
    properties = {"sasl.mechanism": "SCRAM-SHA-256", "sasl.username": "a=b,c", "sasl.password": PASSWORD}
    mechanism = Security(client_settings.read_connection({"security.protocol": "SASL_SSL", **properties})).mechanism(
        "localhost"
    )
    assert mechanism.auth_bytes().startswith(b"n,,n=a=3Db=2Cc,r=")
