"""A target that is not there, as records are sent to it one by one. mypy holds it to `RecordSender`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from typing_extensions import override

from legacy_mm.clients.librdkafka.client import NetworkLine
from legacy_mm.clients.librdkafka.sender import FailedSend, RecordSender
from legacy_mm.config.kafka_clients import ProducerSettings
from legacy_mm.model import Columns, Outgoing


class FakeSender(RecordSender):
    """Takes everything, and all of it is acknowledged; its topics have one partition."""

    def __init__(
        self, settings: ProducerSettings, names: Mapping[str, str], on_failure: Callable[[FailedSend], None], *_: Any
    ) -> None:
        self.cluster_id = ""

    @override
    def send(self, records: Columns, begin: int = 0) -> int:
        return len(records)

    @override
    def send_outgoing(
        self,
        records: Sequence[Outgoing],
        begin: int = 0,
        origins: Sequence[Any] | None = None,
        *,
        are_rows: bool = False,
    ) -> int:
        return len(records)

    @override
    def poll(self, seconds: float) -> None:
        """Nothing comes."""

    @override
    def flush(self, seconds: float) -> bool:
        return True

    @override
    def unacknowledged(self) -> int:
        return 0

    @override
    def purge(self) -> None:
        """Nothing waits."""

    @override
    def close(self) -> None:
        """Nothing is open."""

    @override
    def fatal(self) -> FailedSend | None:
        return None

    @override
    def line(self, *, short: float) -> NetworkLine | None:
        return None

    @override
    def partitions(self, topic: str) -> int | None:
        return 1

    @override
    def topic_problem(self, topic: str) -> str | None:
        return ""

    @override
    def missing_topics(self, topics: Collection[str]) -> set[str] | None:
        return set()
