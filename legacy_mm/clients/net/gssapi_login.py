"""SASL/GSSAPI (RFC 4752) by the package `gssapi`: a ticket of the user's cache, or one got with a keytab.

kafka-python's mechanism takes its ticket from the process's environment, where source and target would have to be the
same user; this one knows the owner of its ticket. Only the realms (krb5.conf) are the process's, as they are in Java.
"""

from __future__ import annotations

import importlib
import os
import socket
from ipaddress import ip_address
from threading import Lock
from typing import Any

from legacy_mm.base.kafka_clients import KerberosSettings
from legacy_mm.clients.net.connection_errors import AuthenticationFailed, ConnectionLost

_NO_LAYER = b"\x01\x00\x00\x00"
"""Neither integrity nor encryption: TLS is there for that, and Kafka knows no other."""
_one_at_a_time = Lock()
"""libkrb5 empties a cache before it fills it: of two logins that find no ticket one may meet it empty; and each login
sets where its realms are."""
_NOT_REACHED = "Cannot contact any KDC"


class KerberosLogin:
    """The client's half of one login."""

    def __init__(self, host: str, kerberos: KerberosSettings) -> None:
        self._gssapi = importlib.import_module("gssapi")
        service = f"{kerberos.service}@{_name_of(host)}"
        try:
            with _one_at_a_time:
                if kerberos.realms:
                    os.environ["KRB5_CONFIG"] = kerberos.realms  # libkrb5 has no other way to be told
                self._context = self._gssapi.SecurityContext(
                    name=self._gssapi.Name(service, self._gssapi.NameType.hostbased_service),
                    creds=self._ticket(kerberos),
                    mech=self._gssapi.MechType.kerberos,
                    usage="initiate",
                )
                self._words = self._context.step() or b""
        except self._gssapi.exceptions.GSSError as error:
            raise _failed(error) from None
        self._agreed = self._done = False

    def auth_bytes(self) -> bytes:
        """Return the next message."""
        return self._words

    def receive(self, auth_bytes: bytes) -> None:
        """Handle a part of the handshake, then the security layers the broker offers, then nothing."""
        if self._agreed:
            self._done = True
        elif self._context.complete:
            self._context.unwrap(auth_bytes)
            self._words = self._context.wrap(_NO_LAYER, False).message
            self._agreed = True
        else:
            self._words = self._context.step(auth_bytes) or b""

    def is_done(self) -> bool:
        """Return True if nothing is left to send."""
        return self._done

    def is_authenticated(self) -> bool:
        """Return True if the broker answered our last message and did not refuse."""
        return self._done

    def _ticket(self, kerberos: KerberosSettings) -> Any:
        """Return the credentials; None for the user's own cache. libkrb5 keeps keytab tickets in memory and renews
        them.
        """
        principal, keytab, cache = kerberos.principal, kerberos.keytab, kerberos.ticket_cache
        name = self._gssapi.Name(principal, self._gssapi.NameType.kerberos_principal) if principal else None
        if keytab:
            store = {"client_keytab": f"FILE:{keytab}", "ccache": f"MEMORY:{principal} {keytab}"}
        elif cache:
            store = {"ccache": f"FILE:{cache}"}
        elif name:
            store = {}
        else:
            return None
        try:
            return self._gssapi.Credentials(name=name, usage="initiate", **({"store": store} if store else {}))
        except self._gssapi.exceptions.GSSError as error:
            place = f"keytab {keytab}" if keytab else f"ticket cache {cache or 'of this user'}"
            raise _failed(error, f"no ticket for {principal or 'anybody'} by the {place}: ") from None


def _name_of(host: str) -> str:
    """Return the broker's name; an address gets the host name that belongs to it, as in Java."""
    try:
        ip_address(host)
        name = socket.gethostbyaddr(host)[0]
        return name if host in {row[4][0] for row in socket.getaddrinfo(name, None)} else host
    except (OSError, ValueError):
        return host


def _failed(error: Exception, what: str = "") -> Exception:
    """Return the error to raise; a silent ticket service is no refusal, so it can be retried."""
    kind = ConnectionLost if _NOT_REACHED in str(error) else AuthenticationFailed
    return kind(f"SASL authentication error: {what}{error}")
