"""Security as the connection's settings say it, done with Python's ssl and kafka-python's SASL mechanisms."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any, Protocol

from kafka.net.sasl import get_sasl_mechanism
from kafka.net.sasl.scram import SaslMechanismScram, ScramClient

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.kafka_clients import KERBEROS, ConnectionSettings, SaslSettings
from legacy_mm.clients.net import bearer_tokens, tls_context
from legacy_mm.clients.net.connection_errors import AuthenticationFailed
from legacy_mm.clients.net.gssapi_login import KerberosLogin
from legacy_mm.clients.net.tls_context import handshake_reason
from legacy_mm.clients.net.transport_layer import (
    PlaintextTransportLayer,
    SslTransportLayer,
    TransportLayer,
)

_LEAST_ITERATIONS = 4096
"""The least that Java's client accepts, too: fewer make the password cheap to guess for a broker that is none."""
_NO_GSSAPI = (
    "sasl.mechanism=GSSAPI needs the package gssapi: pip install 'legacy-mm[kerberos]' (on Debian after "
    "apt install libkrb5-dev)"
)


class Mechanism(Protocol):
    """A login's half of the conversation, as kafka-python has it."""

    def auth_bytes(self) -> bytes:
        """Return the next message."""

    def receive(self, auth_bytes: bytes) -> object:
        """Handle the broker's answer."""

    def is_done(self) -> bool:
        """Return True if nothing is left to send."""

    def is_authenticated(self) -> bool:
        """Return True if the broker accepted the login."""


def unsupported(settings: ConnectionSettings) -> str | None:
    """Return one sentence that says why this security is unsupported; None when it is supported."""
    if settings.protocol.encrypted and (reason := tls_context.unsupported(settings.tls)):
        return reason
    if not settings.protocol.logs_in:
        return None
    name = settings.sasl.mechanism
    if name == KERBEROS:
        return None if find_spec("gssapi") else _NO_GSSAPI
    if name not in _CONFIGURATIONS:
        return f"sasl.mechanism={name} is unknown; possible are {', '.join(_CONFIGURATIONS)}, {KERBEROS}"
    return bearer_tokens.unsupported(settings.sasl.oauth) if name == "OAUTHBEARER" else None


class _ScramClient(ScramClient):  # type: ignore[misc]
    def create_salted_password(self, salt: bytes, iterations: int) -> None:
        if iterations < _LEAST_ITERATIONS:
            raise AuthenticationFailed(
                f"SASL authentication error: the broker asks for {iterations} iterations of SCRAM, and the least is "
                f"{_LEAST_ITERATIONS}: create the user's password at the broker again, with more of them"
            )
        super().create_salted_password(salt, iterations)


class Scram(SaslMechanismScram):  # type: ignore[misc]
    """SCRAM that proves nothing to a broker that asks for too few iterations."""

    def __init__(self, **config: Any) -> None:
        super().__init__(**config)
        self._scram_client = _ScramClient(
            config["sasl_plain_username"], config["sasl_plain_password"], config["sasl_mechanism"]
        )


class TokenScram(Scram):
    """SCRAM that says first of all that the user is the id of a delegation token."""

    _EXTENSION = b",tokenauth=true"

    def auth_bytes(self) -> bytes:
        """Return the next message; both sides sign what was sent first."""
        said: bytes = super().auth_bytes()
        if self._state:
            return said
        self._scram_client.auth_message += self._EXTENSION
        return said + self._EXTENSION


class Security:
    """The security of one cluster, shared by all its connections. Raises ConfigurationError for unsupported
    settings.
    """

    def __init__(self, settings: ConnectionSettings) -> None:
        if reason := unsupported(settings):
            raise ConfigurationError(reason)
        self.protocol, self._tls, self._sasl = settings.protocol, settings.tls, settings.sasl
        self.mechanism_name = self._sasl.mechanism if self.protocol.logs_in else None
        configure = _CONFIGURATIONS.get(self.mechanism_name or "")
        self._configuration = configure(self._sasl) if configure else {}
        self.silent: set[tuple[str, int]] = set()
        """The addresses whose broker was silent when it was asked for its versions."""

    def secure(self, connected: socket.socket, host: str) -> TransportLayer:
        """Return the layer over a fresh TCP connection to `host`; raise AuthenticationFailed, or OSError when it
        breaks.
        """
        if not self.protocol.encrypted:
            return PlaintextTransportLayer(connected)
        context = tls_context.context(self._tls)
        try:
            return SslTransportLayer(context.wrap_socket(connected, server_hostname=host))
        except ssl.SSLEOFError:
            raise
        except ssl.SSLError as error:
            raise AuthenticationFailed(f"SSL handshake failed: {handshake_reason(error)}") from error

    def mechanism(self, host: str) -> Mechanism:
        """Return a new login's half of the conversation; raise AuthenticationFailed when it cannot even begin."""
        if self.mechanism_name == KERBEROS:
            return KerberosLogin(host, self._sasl.kerberos)
        if "token" in self._configuration:
            known = TokenScram if self._configuration["token"] else Scram
        else:
            known = get_sasl_mechanism(self.mechanism_name)
        made: Mechanism = known(host=host, **self._configuration)
        return made


def _plain(sasl: SaslSettings) -> dict[str, Any]:
    return {
        "sasl_plain_username": sasl.username or "",
        "sasl_plain_password": sasl.password.reveal() if sasl.password else "",
    }


def _scram(sasl: SaslSettings) -> dict[str, Any]:
    plain = _plain(sasl)
    # RFC 5802: these two separate the parts of a message
    name = plain["sasl_plain_username"].replace("=", "=3D").replace(",", "=2C")
    said = {**plain, "sasl_plain_username": name, "sasl_mechanism": sasl.mechanism}
    return {**said, "token": sasl.delegation_token}


def _bearer(sasl: SaslSettings) -> dict[str, Any]:
    return {"sasl_oauth_token_provider": bearer_tokens.Tokens(sasl)}


_CONFIGURATIONS: Mapping[str, Callable[[SaslSettings], dict[str, Any]]] = {
    "PLAIN": _plain,
    "SCRAM-SHA-256": _scram,
    "SCRAM-SHA-512": _scram,
    "OAUTHBEARER": _bearer,
}
"""SASL mechanism -> what kafka-python's class for it wants to know."""
