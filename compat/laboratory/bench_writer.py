"""Writes to the source all the while a mirror is looked at."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from confluent_kafka import Producer


@contextmanager
def writing(bootstrap: str, seconds: float, write_round: Callable[[Producer], None], linger_ms: int) -> Iterator[None]:
    """Call `write_round` again and again, with a pause of so many seconds before each, until the end of the block."""
    enough = threading.Event()
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": linger_ms, "log_level": 0})

    def write() -> None:
        while not enough.wait(seconds):
            write_round(producer)

    writer = threading.Thread(target=write, name="writing")
    writer.start()
    try:
        yield
    finally:
        enough.set()
        writer.join()
        producer.flush()
