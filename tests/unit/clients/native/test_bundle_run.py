"""A run of one bundle that does not come to its end in time says why. Brokers show the rest."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from typing_extensions import override

from legacy_mm.clients.native import bundle_run
from legacy_mm.clients.native.bundle_run import BundleRuns
from legacy_mm.clock import Deadline
from legacy_mm.config import property_names
from legacy_mm.errors import HostError
from legacy_mm.exactly_once.bundle import Bundle
from legacy_mm.model import TopicPartition
from tests.unit.clients.native.test_txn_coordinators import HANGING, Broker

SECONDS = 0.5


class Reached(Broker):
    """One that nothing is asked but about transactions."""

    @override
    def refresh(self, node: int | None = None) -> None:
        """Nothing to do."""


def test_a_transaction_that_does_not_end_is_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle_run, "Cluster", lambda settings, timeout: Reached())
    runs = BundleRuns(property_names.read_producer({"bootstrap.servers": "one:1"}), 60.0)
    contents: Any = SimpleNamespace(claim=None, weigh=None, position_records=None)
    with pytest.raises(HostError, match=r"does not end \(CONCURRENT_TRANSACTIONS\); .* --transactional-id id\.1 shows"):
        runs.run(Bundle(HANGING, TopicPartition("positions", 0)), contents, Deadline.after(SECONDS))
    runs.close()
