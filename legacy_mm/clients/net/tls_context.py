"""TLS as the connection's settings say it. A context is made for each connection, so that renewed files count at once.

Java accepts what OpenSSL's own list at level 1 does; Python's default list leaves out static RSA, CBC and short keys.

OpenSSL's reasons become the words of Java's lines here.
"""

from __future__ import annotations

import os
import re
import socket
import ssl
from collections.abc import Callable, Mapping
from pathlib import Path

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.kafka_clients import TlsSettings

_SYSTEM = "probe"
_LEVEL = "@SECLEVEL="
_IANA = re.compile(r"\b(?:TLS|SSL)_(\w+?)_WITH_(\w+)")
_EXCHANGES = {"RSA": "", "DH_anon": "ADH-", "ECDH_anon": "AECDH-"}
_CIPHER_WORDS = (
    (re.compile(r"^3DES_EDE_CBC"), "DES_CBC3"),
    (re.compile(r"(?<=POLY1305)_SHA256$|_CBC(?=_SHA)"), ""),
    (re.compile(r"(?<=AES|RIA|LIA|CCM)_(?=\d)"), ""),
)
"""The words that OpenSSL's names omit or join, in this order."""
_TRUSTED = ("ca_pem", "ca_location")
_SHOWN = ("certificate_pem", "key_pem", "certificate_location", "key_location")
_ALERT = "_ALERT_"
_WORDS = {
    "WRONG_VERSION_NUMBER": "Unsupported or unrecognized SSL message: that listener speaks no TLS, so look at "
    "security.protocol and at the port",
    "TLSV1_UNRECOGNIZED_NAME": "Received fatal alert: unrecognized_name: the broker has no certificate for that host",
    "NO_PROTOCOLS_AVAILABLE": "No appropriate protocol (protocol is disabled or cipher suites are inappropriate)",
    "UNSUPPORTED_PROTOCOL": "The server selected a protocol version that is not accepted here",
}
_WORDS["RECORD_LAYER_FAILURE"] = _WORDS["WRONG_VERSION_NUMBER"]
_ADVICE = {
    "certificate_required": "the broker wants a client certificate, ssl.keystore.location",
    "handshake_failure": "no cipher suite or certificate suits both sides",
    "protocol_version": "the broker takes other versions of TLS",
    "unknown_ca": "the broker does not trust who has issued the client certificate",
    "certificate_expired": "the client certificate has expired",
}
"""Alert -> the usual reason; others speak for themselves."""


class ClientContext(ssl.SSLContext):
    """The TLS of a client, which names the server without the dot of the root zone, as Java does.

    Only resolvers know that dot: no certificate has it, and brokers refuse it as the name of a server.
    """

    def wrap_socket(
        self,
        sock: socket.socket,
        server_side: bool = False,
        do_handshake_on_connect: bool = True,
        suppress_ragged_eofs: bool = True,
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,
    ) -> ssl.SSLSocket:
        """Return the socket with encryption; as its base, but for the name of the server."""
        named = server_hostname.removesuffix(".") if isinstance(server_hostname, str) else server_hostname
        return super().wrap_socket(sock, server_side, do_handshake_on_connect, suppress_ragged_eofs, named, session)


def context(tls: TlsSettings) -> ssl.SSLContext:
    """Return the TLS context with trusted and own certificates; raise ConfigurationError, which quotes no secret."""
    made = ClientContext(ssl.PROTOCOL_TLS_CLIENT)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    made.options |= ssl.OP_NO_RENEGOTIATION
    # as in Java, whatever is in the trust store is an anchor, signed by itself or not
    made.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    made.check_hostname = tls.endpoint_identification == "https"
    if not tls.verifies:
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    for fields in _STEPS:
        _take(made, tls, fields)
    return made


def check_pem(tls: TlsSettings) -> None:
    """Raise ConfigurationError for certificates or a key in these settings that no client could be made of."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for fields, pem in ((_TRUSTED, tls.ca_pem), (_SHOWN, tls.certificate_pem)):
        if pem is not None:
            _take(made, tls, fields)


def openssl_names(suites: str) -> str:
    """Translate Java's (IANA's) suite names into OpenSSL's: before 3.2 OpenSSL knows only its own."""
    return _IANA.sub(lambda found: _exchange(found[1]) + _cipher(found[2]), suites)


def unsupported(tls: TlsSettings) -> str | None:
    """Return one sentence if Python's ssl cannot follow these settings; else None."""
    try:
        _ciphers(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), tls)
    except ssl.SSLError:
        return "ssl.cipher.suites names none that Python's ssl has"
    return None


def trust(made: ssl.SSLContext, pem: str | None, location: str | None) -> None:
    """Use the certificates of a text, of a file or folder, or of the system as trusted ones."""
    if pem:
        made.load_verify_locations(cadata=pem)
    elif location and location != _SYSTEM:
        is_folder = Path(location).is_dir()
        made.load_verify_locations(**{"capath" if is_folder else "cafile": location})
    else:
        made.load_default_certs()


def _take(made: ssl.SSLContext, tls: TlsSettings, fields: tuple[str, ...]) -> None:
    try:
        _STEPS[fields](made, tls)
    except (OSError, ValueError) as error:  # SSLError is an OSError
        used = ", ".join(f"ssl.{field.replace('_', '.')}" for field in fields if getattr(tls, field) is not None)
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or type(error).__name__
        raise ConfigurationError(f"{used} cannot be used: {reason}") from None


def _trust(made: ssl.SSLContext, tls: TlsSettings) -> None:
    trust(made, tls.ca_pem, tls.ca_location)


def _revoked(made: ssl.SSLContext, tls: TlsSettings) -> None:
    if tls.crl_location:
        made.load_verify_locations(cafile=tls.crl_location)
        made.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF


def _identity(made: ssl.SSLContext, tls: TlsSettings) -> None:
    password = tls.key_password.reveal() if tls.key_password else ""
    if tls.certificate_location:
        made.load_cert_chain(tls.certificate_location, tls.key_location, password)
    elif tls.certificate_pem:
        key = tls.key_pem.reveal() if tls.key_pem else ""
        # Python's ssl reads keys from files only; this one is in memory
        with os.fdopen(os.memfd_create("key"), "w", encoding="utf-8") as file:
            file.write(key + tls.certificate_pem)
            file.flush()
            made.load_cert_chain(f"/proc/self/fd/{file.fileno()}", password=password)


def _ciphers(made: ssl.SSLContext, tls: TlsSettings) -> None:
    suites = openssl_names(tls.cipher_suites or "DEFAULT")
    made.set_ciphers(suites if _LEVEL in suites else f"{suites}:{_LEVEL}1")


def _exchange(name: str) -> str:
    return _EXCHANGES.get(name, name.replace("_", "-") + "-")


def _cipher(name: str) -> str:
    for words, short in _CIPHER_WORDS:
        name = words.sub(short, name)
    return name.replace("_", "-")


_STEPS: Mapping[tuple[str, ...], Callable[[ssl.SSLContext, TlsSettings], None]] = {
    _TRUSTED: _trust,
    ("crl_location",): _revoked,
    _SHOWN: _identity,
    ("cipher_suites",): _ciphers,
}
"""Fields of the settings -> what they do to a context."""


def handshake_reason(error: ssl.SSLError) -> str:
    """Return why there is no TLS: `Received fatal alert: certificate_required`, and what that means."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"broker certificate could not be verified: {error.verify_message}"
    reason = error.reason or ""
    _, is_alert, alert = reason.partition(_ALERT)
    if is_alert:
        advice = _ADVICE.get(alert.lower())
        return f"Received fatal alert: {alert.lower()}" + (f": {advice}" if advice else "")
    return _WORDS.get(reason) or (reason or error.strerror or type(error).__name__).lower().replace("_", " ")


def broken_reason(error: OSError, *, connected: bool) -> str:
    """Return why a connection is lost, or cannot be made; `connected`: it was there before."""
    if not isinstance(error, ssl.SSLEOFError):
        return error.strerror or str(error)
    if connected:
        return "the broker closed the connection"
    return (
        "terminated during the TLS handshake: that listener may speak no TLS (look at security.protocol and at the "
        "port), a firewall may let none through, or the broker is about to stop"
    )
