"""Writes the few records that MirrorMaker 2 keeps for itself: heartbeats, offset syncs, checkpoints, offsets.

All records of a key go to one partition and stay in order, so a compacted topic keeps the newest of each key. Most
topics have but one partition.
"""

from __future__ import annotations

from collections.abc import Callable

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from legacy_mm.clients.librdkafka.client import client_properties, seconds
from legacy_mm.clients.librdkafka.error_meanings import refusal, refuses_login
from legacy_mm.clock import Deadline
from legacy_mm.config.kafka_clients import ConnectionSettings
from legacy_mm.errors import HostError

_PARTITION = 0
_WAITING_AT_MOST = 10_000
_NOW = 0
OnResult = Callable[[bytes, str | None], None]
"""Told the key of each record and why it could not be written, or None; runs in `send`, `waiting` and `flush`."""


class InternalTopicWriter:
    """One topic of one cluster. Any thread may call it; it connects by itself and never waits but in `flush`."""

    def __init__(
        self,
        settings: ConnectionSettings,
        topic: str,
        on_result: OnResult,
        *,
        give_up_seconds: float = 30.0,
    ) -> None:
        """Create the writer; `settings` are any client's of the cluster. After `give_up_seconds` a record has
        failed.
        """
        self._topic = topic
        self._on_result = on_result
        self._trouble: str | None = None
        own = {
            "client.id": f"legacy_mm-{topic}",
            "acks": "all",
            "allow.auto.create.topics": False,
            "max.in.flight.requests.per.connection": 1,
            "message.timeout.ms": int(give_up_seconds * 1000),
            "queue.buffering.max.messages": _WAITING_AT_MOST,
            "on_delivery": self._on_delivery,
        }
        try:
            self._producer = Producer(client_properties(settings, self._on_error, **own))
        except KafkaException as error:
            raise HostError(f"a client for topic {topic} cannot be made: {error.args[0].str()}") from error

    def send(
        self, key: bytes, value: bytes, timestamp: int | None = None, *, partition: int = _PARTITION, mark: str = ""
    ) -> bool:
        """Queue a record; False when so many wait that there is no room for it. `timestamp`: else the present time.

        `mark` is the name of a header without a value.
        """
        headers: list[tuple[str, str | bytes | None]] = [(mark, None)] if mark else []
        try:
            self._producer.produce(
                self._topic, value, key, partition, timestamp=timestamp or _NOW, headers=headers or None
            )
        except BufferError:
            self._producer.poll(0)
            return False
        except KafkaException as error:
            self._on_result(key, error.args[0].str())
        self._producer.poll(0)
        return True

    def waiting(self) -> int:
        """Return the number of records that are neither written nor given up."""
        self._producer.poll(0)
        return len(self._producer)

    def flush(self, deadline: Deadline) -> bool:
        """Wait for them; True when there are none."""
        return int(self._producer.flush(seconds(deadline))) == 0

    def close(self) -> None:
        """Discard waiting records without a report."""
        self._on_result = lambda key, reason: None
        self._producer.purge(in_queue=True, in_flight=True, blocking=False)
        self._producer.poll(0)

    def _on_delivery(self, error: KafkaError | None, record: Message) -> None:
        if error is None:
            self._trouble = None
        # that it took too long says less than what the connection met
        overdue = error is not None and error.code() == KafkaError._MSG_TIMED_OUT
        reason = None if error is None else (self._trouble if overdue and self._trouble else error.str())
        self._on_result(record.key() or b"", reason)

    def _on_error(self, error: KafkaError) -> None:
        if error.code() != KafkaError._ALL_BROKERS_DOWN:  # which is said after what was met at each
            self._trouble = refusal(error) if refuses_login(error) else error.str()
