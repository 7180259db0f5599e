"""The things that owners of bundles share: an appender, conversations with coordinators, and events for one thread."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable
from contextlib import closing
from typing import NamedTuple

from legacy_mm.base.clock import monotonic
from legacy_mm.base.model import EARLIEST, TopicPartition
from legacy_mm.clients.fetch.partition_log import PartitionLog
from legacy_mm.clients.net.connection_errors import ClusterUnreachable, ConnectionLost
from legacy_mm.clients.produce.appender import BatchAppender
from legacy_mm.clients.produce.partition_queue import ProducerBatch
from legacy_mm.transactions.bundle import Bundle
from legacy_mm.transactions.bundle_events import (
    Answered,
    BundleEvent,
    CopyAction,
    PositionsRead,
    ReadPositions,
    Unanswered,
)
from legacy_mm.transactions.bundle_owner import BundleContents, BundleOwner, LogRow, TransactionClock
from legacy_mm.transactions.owner_queues import OwnerQueues
from legacy_mm.transactions.txn_coordinators import TxnCoordinators

_RETRY_PAUSE = 0.2


class _Failed(NamedTuple):
    error: BaseException


class _ReadEnded(NamedTuple):
    """The outcome of a reading, and the epoch of the owner that wanted it.

    A reading that goes on after its owner was fenced has not seen what another one has committed since.
    """

    transactional_id: str
    epoch: int
    outcome: PositionsRead | _Failed


class TransactionClient:
    """The things that the owners of a process share. One thread calls `own`, `poll` and the owners."""

    def __init__(
        self,
        appender: BatchAppender,
        transaction_timeout: float,
        on_trouble: Callable[[str], None],
        wake: Callable[[], None],
    ) -> None:
        """Create it over an appender of its own; `wake` is called, on any thread, when `poll` has something to do."""
        self.appender = appender
        self._transaction_timeout = transaction_timeout
        self._on_trouble = on_trouble
        self._wake = wake
        self._events: queue.SimpleQueue[tuple[str, BundleEvent] | _Failed | _ReadEnded] = queue.SimpleQueue()
        self._owners: dict[str, BundleOwner] = {}
        self._closed = threading.Event()
        self.coordinators = TxnCoordinators(
            appender.cluster, transaction_timeout, self._came_back, on_trouble, self._failed
        )

    def own(
        self, bundle: Bundle, contents: BundleContents, do: Callable[[CopyAction], None], interval: float
    ) -> BundleOwner:
        """Return a new owner, which asks for its bundle; its transactions take pieces for `interval` seconds.

        `do` does what it hands on, while it is called.
        """

        def hand_on(action: ReadPositions | CopyAction) -> None:
            if isinstance(action, ReadPositions):
                self.read(bundle, action.past, contents)
            else:
                do(action)

        queues = OwnerQueues(self.appender, self._wake)
        clock = TransactionClock(interval, self._transaction_timeout)
        owner = BundleOwner(bundle, contents, hand_on, queues, self.coordinators, clock)
        self._owners[bundle.transactional_id] = owner
        owner.begin()
        return owner

    def tell(self, bundle: Bundle, event: BundleEvent) -> None:
        """Tell an owner of an event, from any thread; `poll` hands it over."""
        self._events.put((bundle.transactional_id, event))
        self._wake()

    def poll(self) -> None:
        """Pass events on, and look at the clock. Raise what no later try can mend."""
        while not self._events.empty():
            item = self._events.get()
            if isinstance(item, _ReadEnded):
                if self._owners[item.transactional_id].epoch != item.epoch:
                    continue
                item = item.outcome if isinstance(item.outcome, _Failed) else (item.transactional_id, item.outcome)
            if isinstance(item, _Failed):
                raise item.error
            transactional_id, event = item
            self._owners[transactional_id].handle(event)
        now = monotonic()
        for owner in self._owners.values():
            owner.poll(now)

    def refused(self, refused: ProducerBatch) -> bool:
        """Handle a batch that the target refuses for another reason than its records; return False if it is for
        them.
        """
        owner = self._owners.get(refused.queue.transactional_id or "")
        return owner is not None and owner.refused(refused)

    def read(self, bundle: Bundle, past: int, contents: BundleContents) -> None:
        """Read the bundle's positions until past this offset, and tell the owner; returns at once."""
        arguments = (bundle, past, contents, self._owners[bundle.transactional_id].epoch)
        threading.Thread(target=self._read, args=arguments, name="positions", daemon=True).start()

    def close(self) -> None:
        """Ask and read nothing more."""
        self._closed.set()
        self.coordinators.close()

    def _came_back(self, event: Answered | Unanswered) -> None:
        self._events.put((event.request.transactional_id, event))
        self._wake()

    def _failed(self, error: BaseException) -> None:
        self._events.put(_Failed(error))
        self._wake()

    def _read(self, bundle: Bundle, past: int, contents: BundleContents, epoch: int) -> None:
        outcome: PositionsRead | _Failed | None = None
        while outcome is None and not self._closed.is_set():
            try:
                outcome = PositionsRead(*contents.decide_positions(list(self._rows(bundle.positions, past))))
            except (ConnectionLost, ClusterUnreachable) as error:
                self._on_trouble(str(error))
                self._closed.wait(_RETRY_PAUSE)
            except Exception as error:  # noqa: BLE001 - the engine raises it
                outcome = _Failed(error)
        if outcome is not None:
            self._events.put(_ReadEnded(bundle.transactional_id, epoch, outcome))
            self._wake()

    def _rows(self, place: TopicPartition, past: int) -> Iterable[LogRow]:
        cluster = self.appender.cluster
        at = cluster.offsets.of([place], EARLIEST)[place]
        with closing(PartitionLog(cluster, place, committed_only=True)) as log:
            while at <= past:
                part = log.read(at)
                yield from ((each.offset, each.key, each.value) for each in part.records)
                at = part.next_offset
                if self._closed.is_set():
                    raise ConnectionLost("reading positions was given up")
