"""Runs copy jobs: one Spark job with one task each, on a thread of its own, because py4j calls block.

What a Spark job returns, and when it ends, proves nothing about the copying (invariant D): only the control channel
and the worker's process do. So the result is thrown away and `on_end` says no more than that Spark has let go.
"""

from __future__ import annotations

import os
import re
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from legacy_mm.runtime.channel.frames import Ticket

TaskEntry = Callable[[Iterator[Ticket]], Iterator[None]]
_RAISED = re.compile(r"^ +.*\n([A-Za-z_][\w.]*(?::.*)?)$", re.MULTILINE)
"""The end of a traceback: behind its last indented line. It is whole, so that secrets in it can be hidden."""
_OWN_ERRORS = "legacy_mm.base.errors."
_NO_SCOPES = "spark.rdd.scope.noOverride"
"""Spark's own name (`SparkContext.RDD_SCOPE_NO_OVERRIDE_KEY`); a release without it ignores the property."""


class SparkRunner:
    """Submits tickets to a SparkContext that may still be starting. Each copy job has a worker of its own."""

    shares_workers = False

    def __init__(self, context: Future[Any], entry: TaskEntry, prepare: Callable[[], None]) -> None:
        """Create the runner; `prepare` is called before each job."""
        self._context = context
        self._entry = entry
        self._prepare = prepare

    def submit(self, ticket: Ticket, description: str, on_end: Callable[[str], None]) -> None:
        """Start a Spark job for the ticket; `on_end(reason)` is called when Spark has let go of it."""
        arguments = (ticket, description, on_end)
        threading.Thread(target=self._run, args=arguments, name=f"spark-job-{ticket.number}", daemon=True).start()

    def cancel(self, ticket: Ticket) -> None:
        """Ask Spark to let go of the ticket's job; returns at once."""
        threading.Thread(target=self._cancel, args=(ticket,), daemon=True).start()

    def kill(self, ticket: Ticket, worker: int) -> None:
        """Kill the worker of this ticket's job."""
        kill_worker(worker)

    def is_spared(self, ticket: Ticket) -> bool:
        """Return False: no other job ends this one's worker."""
        return False

    def _run(self, ticket: Ticket, description: str, on_end: Callable[[str], None]) -> None:
        reason = "the Spark job ended"
        try:
            context = self._context.result()
            context.setJobGroup(_group(ticket), description, interruptOnCancel=False)
            self._prepare()
            one_element(context, ticket).mapPartitions(self._entry).count()
        except Exception as error:  # noqa: BLE001 - py4j raises many kinds, and each means the same here
            reason = f"the Spark job failed: {reason_of(error)}"
        on_end(reason)

    def _cancel(self, ticket: Ticket) -> None:
        with suppress(Exception):
            self._context.result().cancelJobGroup(_group(ticket))


def one_element(context: Any, element: object) -> Any:
    """Return an RDD of one partition with this element.

    `parallelize` writes a file into Spark's temporary folder, which may have been removed since the start. Spark's
    description of each step for its web page, which nobody sees, takes 0.2 s of the first job.
    """
    from pyspark import RDD
    from pyspark.serializers import CPickleSerializer

    context.setLocalProperty(_NO_SCOPES, "true")
    serializer = CPickleSerializer()
    pickled = bytearray(serializer.dumps(element))  # type: ignore[no-untyped-call]
    return RDD(context._jsc.parallelize([pickled], 1), context, serializer)


def kill_worker(worker: int) -> None:
    """Kill a worker on this host by its process id, unless it has ended."""
    with suppress(ProcessLookupError):
        os.kill(worker, signal.SIGKILL)


def _group(ticket: Ticket) -> str:
    return f"legacy_mm-{ticket.flow}-{ticket.number}"


def reason_of(error: Exception) -> str:
    """Return Python's error in the worker from py4j's long texts, else the line that names the Java exception."""
    text = str(error)
    raised: list[str] = _RAISED.findall(text)
    if raised:
        name, _, said = raised[-1].partition(": ")
        return said if name.startswith(_OWN_ERRORS) else raised[-1]
    lines = text.splitlines() or [type(error).__name__]
    return next((line[2:] for line in lines if line.startswith(": ")), lines[0])[:300]
