"""How often our clients try a broker that is away; Java's tries about once a second after its first second."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer

from legacy_mm.audit.waiting import wait_until
from legacy_mm.clock import monotonic
from legacy_mm.compat.client_properties.apply import apply

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


def test_a_consumer_does_not_besiege_a_broker_that_is_away(siege: Siege) -> None:
    """Difference reconnect-pause: measured 8 attempts a second; it was 36 with Java's first pause of 50 ms."""
    properties = apply("consumer", {"bootstrap.servers": siege.address, "group.id": "g"}).properties
    consumer = Consumer({**properties, "log_level": 0})
    consumer.subscribe(["t"])
    wait_until(lambda: consumer.poll(0.1) is None and siege.attempts, 30.0, "the first attempt")
    wait_until(
        lambda: consumer.poll(0.1) is None and siege.attempts[-1] - siege.attempts[0] > SECONDS,
        60.0,
        "attempts over four seconds",
    )
    took = siege.attempts[-1] - siege.attempts[0]
    consumer.close()
    assert len(siege.attempts) <= 4 * took / PAUSE + 4


def test_a_quarter_of_the_file_s_maximum_is_the_least() -> None:
    file = {"bootstrap.servers": "127.0.0.1:1", "group.id": "g"}
    for given, pause in (
        ({}, "250"),
        ({"reconnect.backoff.max.ms": "8000"}, "2000"),
        ({"reconnect.backoff.ms": "200"}, "200"),
        ({"reconnect.backoff.ms": "200", "reconnect.backoff.max.ms": "5000"}, "1250"),
    ):
        assert apply("consumer", file | given).properties["reconnect.backoff.ms"] == pause
    assert apply("producer", file).properties["reconnect.backoff.ms"] == "50"
