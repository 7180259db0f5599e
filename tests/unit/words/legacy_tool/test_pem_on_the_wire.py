"""A PEM keystore given as text works: the client sends its whole chain and checks the server's."""

from __future__ import annotations

import socket
import ssl
import threading
from pathlib import Path

import pytest
from confluent_kafka import Producer

from legacy_mm.words.java_clients.client_properties.apply import apply
from tests.fixtures.client_settings import texts
from tests.unit.certificates import certify, key_pem, pem


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
    producer = Producer({**texts(apply("producer", file)), "log_level": "0"})
    listener.join(12)
    producer.purge()
    assert "client" in listener.peer, listener.error
