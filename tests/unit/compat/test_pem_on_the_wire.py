"""A PEM keystore given as text works: the client sends its whole chain and checks the server's."""

from __future__ import annotations

import datetime
import socket
import ssl
import threading
from pathlib import Path

import pytest
from confluent_kafka import Producer
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from legacy_mm.compat.client_properties.translate import apply

Signer = tuple[ec.EllipticCurvePrivateKey, x509.Certificate]


def certify(name: str, issuer: Signer | None, *, authority: bool) -> Signer:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer[1].subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.BasicConstraints(authority, None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
    )
    return key, builder.sign(issuer[0] if issuer else key, hashes.SHA256())


def pem(*certificates: x509.Certificate) -> str:
    return "".join(one.public_bytes(serialization.Encoding.PEM).decode() for one in certificates)


def key_pem(key: ec.EllipticCurvePrivateKey, password: bytes | None = None) -> str:
    encryption = (
        serialization.BestAvailableEncryption(password)
        if password
        else serialization.NoEncryption()
    )
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption
    ).decode()


class TlsServer(threading.Thread):
    """Takes connections until a client proves itself; `peer` is that client's name."""

    def __init__(self, context: ssl.SSLContext) -> None:
        super().__init__(daemon=True)
        self._context = context
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.settimeout(10)
        self.port = self._socket.getsockname()[1]
        self.peer = ""
        self.error = ""

    def run(self) -> None:
        with self._socket:
            while not self.peer:
                try:
                    connection, _ = self._socket.accept()
                except TimeoutError:
                    return
                self._greet(connection)

    def _greet(self, connection: socket.socket) -> None:
        connection.settimeout(5)
        try:
            with self._context.wrap_socket(connection, server_side=True) as tls:
                certificate = tls.getpeercert() or {}
                self.peer = str(certificate.get("subject"))
        except OSError as error:
            self.error = str(error)


@pytest.mark.parametrize("inline", [True, False])
def test_chain_is_sent(inline: bool, tmp_path: Path) -> None:
    root = certify("root", None, authority=True)
    middle = certify("middle", root, authority=True)
    server, client = (certify(name, middle, authority=False) for name in ("localhost", "client"))
    (tmp_path / "root.pem").write_text(pem(root[1]))
    (tmp_path / "server.pem").write_text(key_pem(server[0]) + pem(server[1], middle[1]))
    key, chain = key_pem(client[0], b"hush"), pem(client[1], middle[1])
    (tmp_path / "client.pem").write_text(key + chain)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "server.pem")
    context.load_verify_locations(tmp_path / "root.pem")
    context.verify_mode = ssl.CERT_REQUIRED
    listener = TlsServer(context)
    listener.start()
    file = {
        "bootstrap.servers": f"localhost:{listener.port}",
        "security.protocol": "SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(tmp_path / "root.pem"),
        "ssl.keystore.type": "PEM",
        "ssl.key.password": "hush",
    }
    if inline:
        file |= {
            "ssl.keystore.key": key.replace("\n", " "),
            "ssl.keystore.certificate.chain": chain,
        }
    else:
        file |= {"ssl.keystore.location": str(tmp_path / "client.pem")}
    producer = Producer({**apply("producer", file).properties, "log_level": "0"})
    listener.join(12)
    producer.purge()
    assert "client" in listener.peer, listener.error
