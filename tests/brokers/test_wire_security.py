"""The wire opens what the legacy tool's files open, and says who did not believe whom when it does not."""

from __future__ import annotations

import socket
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.serialization import pkcs12
from kafka.protocol.metadata import MetadataRequest

from compat.laboratory.certificates import PASSWORD
from compat.laboratory.cluster import Cluster
from compat.laboratory.security import (
    LISTENERS,
    SHORT_LOGIN_LIFE,
    USER,
    USER_PASSWORD,
    Stores,
    login,
    secured_cluster,
)
from legacy_mm.base.clock import monotonic
from legacy_mm.clients.net.connection import Connection, open_connection
from legacy_mm.clients.net.connection_errors import AuthenticationFailed, ConnectionLost
from legacy_mm.clients.net.connection_security import Security, unsupported
from legacy_mm.words.java_clients.client_properties.apply import apply
from tests.fixtures import client_settings

pytestmark = pytest.mark.brokers
Properties = dict[str, str]


@dataclass(frozen=True)
class Secured:
    """A cluster that has every listener."""

    stores: Stores
    cluster: Cluster

    def connect(self, listener: str, security: Properties, host: str = "") -> Connection:
        """As a client whose Java file says this, at the broker's address or at this name of its."""
        where = self.cluster.bootstrap_of(listener)
        protocol = {"security.protocol": LISTENERS.get(listener, listener), "bootstrap.servers": where}
        properties = dict(client_settings.texts(apply("consumer", {**protocol, "group.id": "any", **security})))
        assert unsupported(client_settings.read_connection(properties)) is None
        address, _, port = where.rpartition(":")
        return open_connection(
            Security(client_settings.read_connection(properties)),
            host or address,
            int(port),
            client_settings.read_connection(properties),
        )

    def trust(self) -> Properties:
        """The authority, as PEM: stores of Java are read by Java."""
        location = str(self.stores.certificate)
        return {"ssl.truststore.type": "PEM", "ssl.truststore.location": location}

    def identity(self) -> Properties:
        """The user's key, as PEM, with a password."""
        store = (self.stores.folder / f"{USER}.pkcs12").read_bytes()
        key, certificate, chain = pkcs12.load_key_and_certificates(store, PASSWORD.encode())
        assert key is not None and certificate is not None
        locked = serialization.BestAvailableEncryption(USER_PASSWORD.encode())
        text = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, locked)
        shown = [one.public_bytes(serialization.Encoding.PEM) for one in (certificate, *chain)]
        return {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.key": text.decode(),
            "ssl.keystore.certificate.chain": b"".join(shown).decode(),
            "ssl.key.password": USER_PASSWORD,
        }


@pytest.fixture(scope="module")
def secured(stores: Stores, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    with secured_cluster(tmp_path_factory.mktemp("secured"), stores) as cluster:
        yield Secured(stores, cluster)


OPENED: dict[str, tuple[str, Callable[[Secured], Properties]]] = {
    "nothing": ("PLAINTEXT", lambda _: {}),
    "one-way TLS": ("TLS", lambda secured: secured.trust()),
    "mutual TLS": ("MUTUAL", lambda secured: secured.trust() | secured.identity()),
    "PLAIN": ("LOGIN", lambda _: login("PLAIN")),
    "SCRAM-SHA-256": ("LOGIN", lambda _: login("SCRAM-SHA-256")),
    "SCRAM-SHA-512": ("LOGIN", lambda _: login("SCRAM-SHA-512")),
    "OAUTHBEARER": ("LOGIN", lambda _: login("OAUTHBEARER")),
    "PLAIN over TLS": ("BOTH", lambda secured: secured.trust() | login("PLAIN")),
    "SCRAM-SHA-512 over TLS": ("BOTH", lambda secured: secured.trust() | login("SCRAM-SHA-512")),
    "OAUTHBEARER over TLS": ("BOTH", lambda secured: secured.trust() | login("OAUTHBEARER")),
    "another host, unchecked": (
        "ELSEWHERE",
        lambda secured: secured.trust() | {"ssl.endpoint.identification.algorithm": ""},
    ),
}


@pytest.mark.parametrize("case", OPENED)
def test_a_broker_answers(secured: Secured, case: str) -> None:
    listener, security = OPENED[case]
    with closing(secured.connect(listener, security(secured))) as connection:
        assert len(connection.call(MetadataRequest(topics=[])).brokers) == 1


def test_a_host_may_end_with_a_dot(secured: Secured, monkeypatch: pytest.MonkeyPatch) -> None:
    """The broker's Java refuses such a name, and its certificate does not have it; only the resolver knows the dot."""
    found = socket.getaddrinfo("127.0.0.1", int(secured.cluster.bootstrap_of("BOTH").rpartition(":")[2]))
    monkeypatch.setattr("socket.getaddrinfo", lambda host, *_, **__: found if host == "localhost." else [])
    with closing(secured.connect("BOTH", secured.trust() | login("SCRAM-SHA-512"), "localhost.")) as connection:
        assert len(connection.call(MetadataRequest(topics=[])).brokers) == 1


REFUSED: dict[str, tuple[str, Callable[[Secured], Properties], str]] = {
    "wrong password, PLAIN": ("LOGIN", lambda _: login("PLAIN", "not-the-password"), "Invalid username or password"),
    "wrong password, SCRAM": ("LOGIN", lambda _: login("SCRAM-SHA-256", "not-the-password"), "invalid credentials"),
    "expired certificate": ("EXPIRED", lambda secured: secured.trust(), "certificate has expired"),
    "another host": ("ELSEWHERE", lambda secured: secured.trust(), "IP address mismatch"),
    "no client certificate": ("MUTUAL", lambda secured: secured.trust(), "alert"),
    "unknown authority": ("TLS", lambda _: {}, "certificate"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_says_why(secured: Secured, case: str) -> None:
    listener, security, said = REFUSED[case]
    with pytest.raises(AuthenticationFailed, match=said) as caught:
        secured.connect(listener, security(secured)).call(MetadataRequest(topics=[]))
    printed = "".join(traceback.format_exception(caught.value))
    assert "not-the-password" not in printed
    assert USER_PASSWORD not in printed


@pytest.mark.parametrize(
    ("listener", "said"),
    [("LOGIN", "at the first question, as where TLS or a login is wanted: look at"), ("TLS", "these bytes are TLS")],
)
def test_a_listener_that_wants_more(secured: Secured, listener: str, said: str) -> None:
    with pytest.raises(ConnectionLost, match=f"it closed the connection.* {said}"):
        secured.connect(listener, {"security.protocol": "PLAINTEXT"}).call(MetadataRequest(topics=[]))


def test_a_login_that_ends(secured: Secured) -> None:
    with closing(secured.connect("SHORT", login("PLAIN"))) as connection:
        assert connection.renew_before is not None
        assert 0 < connection.renew_before - monotonic() < SHORT_LOGIN_LIFE
    with closing(secured.connect("LOGIN", login("PLAIN"))) as connection:
        assert connection.renew_before is None
