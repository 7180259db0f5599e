"""What a copy job may wait for of its worker, and what becomes of its ticket."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future

import pytest
from typing_extensions import override

from legacy_mm.controlplane import copy_worker
from legacy_mm.controlplane.copy_worker import CopyWorker
from legacy_mm.runtime.channel.frames import Ticket
from legacy_mm.runtime.spark.runner import SparkRunner

TICKET = Ticket("here", 1, b"key", "", "a->b", 0, 1, 1)
NO_ROOM = ": the cluster has no free core, too little memory, or a master that has forgotten this application"


class Spark(SparkRunner):
    """Spark, which has let go of a ticket when the test says so."""

    def __init__(self) -> None:
        super().__init__(Future(), iter, lambda: None)  # type: ignore[arg-type]
        self.let_go: list[Callable[[str], None]] = []
        self.cancelled: list[Ticket] = []

    @override
    def submit(self, ticket: Ticket, description: str, on_end: Callable[[str], None]) -> None:
        self.let_go.append(on_end)

    @override
    def cancel(self, ticket: Ticket) -> None:
        self.cancelled.append(ticket)


@pytest.mark.parametrize(
    ("embedded", "patience", "why"), [(True, 30, ""), (False, 150, NO_ROOM)], ids=["embedded", "cluster"]
)
def test_a_cluster_may_make_its_executors_first(
    embedded: bool, patience: int, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copy_worker, "monotonic", lambda: 100.0)
    worker = CopyWorker(TICKET, Spark(), embedded=embedded)
    assert worker.silence(100.0 + patience - 1, woke=0.0) is None
    assert worker.silence(100.0 + patience + 1, woke=0.0) == f"no worker reported within {patience} s{why}"


@pytest.mark.parametrize("is_let_go", [False, True], ids=["runs", "ended"])
def test_spark_is_asked_to_let_go_of_a_ticket_that_it_still_has(is_let_go: bool) -> None:
    spark, reasons = Spark(), list[str]()
    worker = CopyWorker(TICKET, spark, embedded=True)
    worker.start("a job", reasons.append)
    if is_let_go:
        spark.let_go[0]("the Spark job ended")
    worker.release()
    assert (spark.cancelled, reasons) == (([], ["the Spark job ended"]) if is_let_go else ([TICKET], []))
