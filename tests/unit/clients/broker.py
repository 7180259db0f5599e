"""Brokers made of bytes: what they answer is written down before they are asked."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from socket import SHUT_WR, socket

from legacy_mm.clients.net.connection import Connection
from legacy_mm.clients.net.login import BrokerVersions
from legacy_mm.clients.net.transport_layer import PlaintextTransportLayer
from tests.fixtures import client_settings

FETCH = 1
PATIENCE_MS = "20"


@dataclass
class Peer:
    """The broker's end of a connection."""

    connection: Connection
    end: socket

    @classmethod
    def beside(cls, ours: socket, theirs: socket) -> Peer:
        """A connection over one end, whose broker is the other."""
        properties = {"client.id": "me", "socket.timeout.ms": PATIENCE_MS, "receive.message.max.bytes": "100000"}
        connection = Connection(
            PlaintextTransportLayer(ours), "broker", 9092, 7, client_settings.read_connection(properties)
        )
        connection.knows(BrokerVersions({FETCH: (4, 17)}))
        return cls(connection, theirs)

    def answers(self, *raw: bytes) -> None:
        """What the broker sends, whatever it is asked."""
        self.end.sendall(b"".join(raw))
        self.end.shutdown(SHUT_WR)


def response(correlation_id: int, body: bytes) -> bytes:
    """A sound one."""
    return struct.pack(">ii", 4 + len(body), correlation_id) + body
