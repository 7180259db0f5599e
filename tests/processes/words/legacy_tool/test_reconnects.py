"""How often a member of librdkafka tries a broker that is away; Java's client does it about once a second."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from legacy_mm.base.clock import Deadline, monotonic
from legacy_mm.clients.librdkafka.membership import LibrdkafkaMember
from legacy_mm.words.java_clients.client_properties.apply import apply
from tests.fixtures import client_settings

SECONDS = 4.0
PAUSE = 0.25


class Siege:
    """A port that resets every connection and counts them."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.attempts: list[float] = []
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def address(self) -> str:
        """Where it listens."""
        return "127.0.0.1:{1}".format(*self._socket.getsockname())

    def close(self) -> None:
        """Stop to listen."""
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            connection.close()
            self.attempts.append(monotonic())


@pytest.fixture
def siege() -> Iterator[Siege]:
    made = Siege()
    yield made
    made.close()


def test_a_member_does_not_besiege_a_broker_that_is_away(siege: Siege) -> None:
    """Difference reconnect-pause: measured 8 attempts a second; it was 36 with Java's first pause of 50 ms."""
    properties = client_settings.texts(apply("consumer", {"bootstrap.servers": siege.address, "group.id": "g"}))
    listener: Any = SimpleNamespace()
    member = LibrdkafkaMember(client_settings.read_consumer(properties), "g-0", listener, lambda _: None)
    member.subscribe(["t"])
    deadline = Deadline.after(90.0)
    while len(siege.attempts) < 2 or siege.attempts[-1] - siege.attempts[0] < SECONDS:
        assert not deadline.expired(), "attempts over four seconds"
        member.poll(0.1)
    took = siege.attempts[-1] - siege.attempts[0]
    member.close()
    assert len(siege.attempts) <= 4 * took / PAUSE + 4
