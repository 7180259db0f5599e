"""Address and certificate of the control channel: plain loopback when embedded, TLS with a certificate made for the run
when tasks run elsewhere.
"""

from __future__ import annotations

import datetime
import ipaddress
import os
import socket
import ssl
import tempfile
from pathlib import Path

from legacy_mm.base.errors import ConfigurationError


def channel_identity(*, embedded: bool) -> tuple[str, ssl.SSLContext | None, str]:
    """Return the address to listen on, TLS context, and the certificate (PEM) that tasks must see; no TLS on plain
    loopback.

    Raise ConfigurationError for a SPARK_LOCAL_IP that is no address of this host.
    """
    if embedded:
        return "127.0.0.1", None, ""
    named = os.environ.get("SPARK_LOCAL_IP")
    address = _own_address(named) if named else _outward_address()
    certificate, key = _self_signed(address)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    with tempfile.TemporaryDirectory(prefix="legacy_mm-tls-") as folder:
        both = Path(folder) / "channel.pem"
        both.touch(mode=0o600)
        both.write_bytes(key + certificate)
        context.load_cert_chain(both)
    return address, context, certificate.decode()


def _own_address(named: str) -> str:
    """Return an IPv4 address of the name, if there is any, as Java does."""
    try:
        family, *_, place = min(socket.getaddrinfo(named, 0, type=socket.SOCK_STREAM))
        with socket.socket(family) as probe:
            probe.bind(place)
    except (OSError, UnicodeError) as error:
        raise ConfigurationError(f"SPARK_LOCAL_IP={named} is no address of this host: {error}") from error
    return str(place[0])


def _outward_address() -> str:
    """Return the outward address of this host; no packet is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"


def _self_signed(address: str) -> tuple[bytes, bytes]:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, "legacy_mm")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=3650))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return certificate.public_bytes(serialization.Encoding.PEM), private
