"""TLS as librdkafka's properties say it. A context is made for each connection, so that renewed files count at once.

Java accepts what OpenSSL's own list at level 1 does; Python's default list leaves out static RSA, CBC and short keys.
"""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Callable, Mapping
from pathlib import Path

from legacy_mm.errors import ConfigurationError

NOT_HERE = ("ssl.keystore.location", "ssl.engine.location", "ssl.providers", "ssl.curves.list", "ssl.sigalgs.list")
"""Properties of librdkafka that Python's ssl has no way to follow."""
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


def context(properties: Mapping[str, str]) -> ssl.SSLContext:
    """Return the TLS context with trusted and own certificates; raise ConfigurationError, which quotes no secret."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    made.options |= ssl.OP_NO_RENEGOTIATION
    # as in Java, whatever is in the trust store is an anchor, signed by itself or not
    made.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    made.check_hostname = properties.get("ssl.endpoint.identification.algorithm", "https") == "https"
    if properties.get("enable.ssl.certificate.verification", "true") == "false":
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    for names in _STEPS:
        _take(made, properties, names)
    return made


def check_pem(properties: Mapping[str, str]) -> None:
    """Raise ConfigurationError for certificates or a key in these properties that no client could be made of."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for names in _STEPS:
        if names[0].endswith(".pem") and names[0] in properties:
            _take(made, properties, names)


def openssl_names(suites: str) -> str:
    """Translate Java's (IANA's) suite names into OpenSSL's: before 3.2 OpenSSL knows only its own."""
    return _IANA.sub(lambda found: _exchange(found[1]) + _cipher(found[2]), suites)


def unusable_suites(properties: Mapping[str, str]) -> str | None:
    """Return one sentence if none of the requested suites can be used; else None."""
    try:
        _ciphers(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), properties)
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


def _take(made: ssl.SSLContext, properties: Mapping[str, str], names: tuple[str, ...]) -> None:
    try:
        _STEPS[names](made, properties)
    except (OSError, ValueError) as error:  # SSLError is an OSError
        used = ", ".join(name for name in names if name in properties)
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or type(error).__name__
        raise ConfigurationError(f"{used} cannot be used: {reason}") from None


def _trust(made: ssl.SSLContext, properties: Mapping[str, str]) -> None:
    trust(made, properties.get("ssl.ca.pem"), properties.get("ssl.ca.location"))


def _revoked(made: ssl.SSLContext, properties: Mapping[str, str]) -> None:
    if location := properties.get("ssl.crl.location"):
        made.load_verify_locations(cafile=location)
        made.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF


def _identity(made: ssl.SSLContext, properties: Mapping[str, str]) -> None:
    password = properties.get("ssl.key.password", "")
    if location := properties.get("ssl.certificate.location"):
        made.load_cert_chain(location, properties.get("ssl.key.location"), password)
    elif chain := properties.get("ssl.certificate.pem"):
        # Python's ssl reads keys from files only; this one is in memory
        with os.fdopen(os.memfd_create("key"), "w", encoding="utf-8") as file:
            file.write(properties.get("ssl.key.pem", "") + chain)
            file.flush()
            made.load_cert_chain(f"/proc/self/fd/{file.fileno()}", password=password)


def _ciphers(made: ssl.SSLContext, properties: Mapping[str, str]) -> None:
    suites = openssl_names(properties.get("ssl.cipher.suites") or "DEFAULT")
    made.set_ciphers(suites if _LEVEL in suites else f"{suites}:{_LEVEL}1")


def _exchange(name: str) -> str:
    return _EXCHANGES.get(name, name.replace("_", "-") + "-")


def _cipher(name: str) -> str:
    for words, short in _CIPHER_WORDS:
        name = words.sub(short, name)
    return name.replace("_", "-")


_STEPS: Mapping[tuple[str, ...], Callable[[ssl.SSLContext, Mapping[str, str]], None]] = {
    ("ssl.ca.pem", "ssl.ca.location"): _trust,
    ("ssl.crl.location",): _revoked,
    ("ssl.certificate.pem", "ssl.key.pem", "ssl.certificate.location", "ssl.key.location"): _identity,
    ("ssl.cipher.suites",): _ciphers,
}
