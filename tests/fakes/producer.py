"""A target that is not there, as single records are sent to it. mypy holds it to `NativeProducer`."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override

from legacy_mm.base.model import Outgoing
from legacy_mm.clients.produce.single_producer import NativeProducer, RefusedRecord


class FakeProducer(NativeProducer):
    """Takes everything; `sent` has it."""

    def __init__(self) -> None:
        self.sent: list[Outgoing] = []
        self.closed = False

    @override
    def send(self, records: Sequence[Outgoing]) -> list[RefusedRecord]:
        self.sent += records
        return []

    @override
    def close(self) -> None:
        self.closed = True
