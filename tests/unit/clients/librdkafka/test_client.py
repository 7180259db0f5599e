"""What all clients of librdkafka share."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

from confluent_kafka import KafkaError
from confluent_kafka.admin import AdminClient

from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.clients.librdkafka.client import client_properties
from legacy_mm.clients.librdkafka.property_texts import property_texts
from tests.fixtures import client_settings


def test_what_a_file_says_about_the_way_to_the_brokers_counts_for_every_client() -> None:
    way = {
        "bootstrap.servers": "one:1",
        "broker.address.family": "v4",
        "api.version.request": "false",
        "broker.version.fallback": "0.9.0.1",
    }
    known = property_texts(client_settings.read_connection({**way, "group.id": "g", "fetch.min.bytes": "1"}))
    assert way.items() <= known.items() and not {"group.id", "fetch.min.bytes"} & known.keys()


def test_a_broker_that_hangs_up_is_named_with_the_protocol() -> None:
    """As one does whose listener wants another `security.protocol`: librdkafka says that all are down, once."""
    told: list[str] = []

    def note(error: KafkaError) -> None:
        told.append(error.str())

    with socket.create_server(("127.0.0.1", 0)) as listener:
        servers = f"127.0.0.1:{listener.getsockname()[1]}"

        def hang_up() -> None:
            with suppress(OSError):  # the listener is closed
                while True:
                    listener.accept()[0].close()

        threading.Thread(target=hang_up, daemon=True).start()
        end = f"brokers are down (bootstrap.servers={servers}, security.protocol=PLAINTEXT)"  # of 1/1, or of 0/2
        admin = AdminClient(client_properties(ConnectionSettings((servers,)), note))
        wait_until(lambda: admin.poll(0.1) and any(line.endswith(end) for line in told), 10, end)
        listener.shutdown(socket.SHUT_RDWR)
