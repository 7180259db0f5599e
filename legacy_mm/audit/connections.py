"""Gives the tasks of `verify` connections to both clusters: over the control channel, never through Spark (invariant
G).

Unlike a copy job's ticket, this one is valid for any number of tasks: they only read, and Spark reads a slice for every
query anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.base.reports import Frame
from legacy_mm.runtime.channel.certificate import channel_identity
from legacy_mm.runtime.channel.channel import ChannelServer, Peer, present
from legacy_mm.runtime.channel.frames import Hello, Ticket


@dataclass(frozen=True)
class ClusterConnections(Frame):
    """Driver -> task: the way to either side. Holds credentials, exists only in memory."""

    source: ConnectionSettings = field(repr=False)
    target: ConnectionSettings = field(repr=False)


class ConnectionGiver:
    """Answers every peer that proves the ticket, until it is closed."""

    def __init__(self, connections: Mapping[str, ConnectionSettings], *, embedded: bool) -> None:
        self._connections = ClusterConnections(**connections)
        self._channel = ChannelServer(*channel_identity(embedded=embedded))
        self.ticket = self._channel.new_ticket("verify", 0, 0)
        self._channel.expect(self)

    @property
    def secret(self) -> str:
        """The ticket as text, for `connection_of`."""
        return json.dumps({**asdict(self.ticket), "key": self.ticket.key.hex()})

    def admit(self, peer: Peer, hello: Hello) -> ClusterConnections:
        """Return the connections, every time."""
        return self._connections

    def received(self, frame: Frame) -> None:
        """Ignore the frame: a task has nothing to report."""

    def closed(self) -> None:
        """Do nothing: a task has what it needs."""

    def attended(self) -> bool:
        """Return True: a task only reads, and no component has to stop it."""
        return True

    def close(self) -> None:
        """Answer no peer from now on."""
        self._channel.close()


def connection_of(secret: str, side: str) -> ConnectionSettings:
    """Return the way to the source or the target, in a task. Raises ChannelError."""
    ticket = json.loads(secret)
    peer, connections = present(Ticket(**{**ticket, "key": bytes.fromhex(ticket["key"])}), ClusterConnections)
    peer.close()
    found: ConnectionSettings = getattr(connections, side)
    return found
