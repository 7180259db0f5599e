"""The brokers that coordinate transactions: found, asked, and found again when they have moved.

Each coordinator has a thread that sends all questions that wait, and then hears the answers, so that a long line is
waited for once; questions that wait for their time, and those whose coordinator must be found, are another thread's.
What came back is told as an event of the session that asked. A request that never left this process stays here and is
tried again: only what was sent can be in doubt.
"""

from __future__ import annotations

import heapq
import queue
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NamedTuple

from legacy_mm.base.clock import monotonic
from legacy_mm.base.errors import LegacyMMError
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.cluster.coordinator import TRANSACTION, coordinators, unreachable
from legacy_mm.clients.net import error_text
from legacy_mm.clients.net.connection import Connection
from legacy_mm.clients.net.connection_errors import (
    ClusterUnreachable,
    ConnectionLost,
    RequestRefused,
    UnsupportedVersion,
)
from legacy_mm.logs import events
from legacy_mm.policies.growing_pauses import doubled
from legacy_mm.protocol import error_codes
from legacy_mm.protocol.error_codes import COORDINATOR_MOVED, ErrorCode
from legacy_mm.transactions.bundle import state_partition
from legacy_mm.transactions.bundle_events import Answered, First, Unanswered
from legacy_mm.transactions.txn_protocol import (
    CoordinatorRequest,
    answered,
    describe,
    described,
    message,
    version_at,
)
from legacy_mm.transactions.txn_requests import EndTxn, InitProducerId, TransactionVersion

_FIRST_PAUSE, _LONGEST_PAUSE = 0.005, 0.1
_FIND_PAUSE = 0.1
_SLOW_TIMEOUT = 60.0
"""Seconds after which an id whose requests are all answered with one of `_HANGS` is told of."""
_HANGS = (ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
"""A transaction does not end; its coordinator does not get to know it."""
_IDLE_TIMEOUT = 10.0
"""Seconds without work after which a coordinator's thread ends; the next request starts another."""


class _Order(NamedTuple):
    """A request, and when it may be sent; sorted by time."""

    due: float
    number: int
    request: CoordinatorRequest
    finds: bool
    """The coordinator is found first, although one is known."""


@dataclass(slots=True)
class _Patience:
    """The tries of the same request of a transactional id."""

    request: CoordinatorRequest
    tries: int = 0


@dataclass(slots=True)
class _Hanging:
    """A transactional id whose requests have no other answer, whichever they are."""

    error: int
    since: float = field(default_factory=monotonic)
    reported: bool = False


class TxnCoordinators:
    """Asks the coordinators of transactional ids at one cluster. Any thread may `ask`."""

    def __init__(
        self,
        cluster: Cluster,
        transaction_timeout: float,
        tell: Callable[[Answered | Unanswered], None],
        on_trouble: Callable[[str], None],
        on_error: Callable[[BaseException], None],
    ) -> None:
        """Create the conversations; `tell` and the others are called on their threads.

        `transaction_timeout` is in seconds. `on_error` gets what no later try can mend.
        """
        self.cluster = cluster
        self._timeout_ms = int(transaction_timeout * 1000)
        self._tell = tell
        self._on_trouble = on_trouble
        self._on_error = on_error
        self._changed = threading.Condition()
        self._waiting: list[_Order] = []
        self._numbers = count()
        self._nodes: dict[str, int] = {}
        self._patience: dict[str, _Patience] = {}
        self._hanging: dict[str, _Hanging] = {}
        self._conversations: dict[int, _Conversation] = {}
        self._closed = False
        self._runs = False

    def ask(self, request: CoordinatorRequest, first: First = First.NOTHING) -> None:
        """Send a request, after the pause that the same one has earned; returns at once."""
        with self._changed:
            pause = self._pause(request, first)
            self._put(_Order(monotonic() + pause, next(self._numbers), request, first is First.FIND_COORDINATOR))

    def hangs(self, transactional_id: str) -> int:
        """Return the error that is the only answer to requests of this id: its transaction, perhaps an earlier one,
        does not end, or its coordinator loads; 0: it does not hang.
        """
        with self._changed:
            found = self._hanging.get(transactional_id)
            return ErrorCode.NONE if found is None else found.error

    def close(self) -> None:
        """Ask nothing more, and wake all threads."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            conversations = list(self._conversations.values())
        for conversation in conversations:
            conversation.close()

    # --- called by conversations

    def came_back(self, request: CoordinatorRequest, outcome: Answered | Unanswered) -> None:
        """Tell the session what became of a request that was sent."""
        if isinstance(outcome, Answered):
            self._note_hanging(request.transactional_id, outcome.error)
        self._tell(outcome)

    def hangs_untold(self, transactional_id: str) -> int:
        """Return, once, the error with which an id hangs for so long that it must be told; else 0."""
        with self._changed:
            found = self._hanging.get(transactional_id)
            if found is None or found.reported or monotonic() - found.since < _SLOW_TIMEOUT:
                return ErrorCode.NONE
            found.reported = True
            return found.error

    def not_sent(self, request: CoordinatorRequest, error: LegacyMMError) -> None:
        """Find the coordinator, and try again: its broker is not reached."""
        self._on_trouble(str(error))
        self.cluster.metadata.stale()
        self.ask(request, First.FIND_COORDINATOR)

    def failed(self, error: BaseException) -> None:
        """Pass on what no later try can mend."""
        self._on_error(error)

    def is_idle(self, conversation: _Conversation) -> bool:
        """Return True, and forget the conversation, if nothing waits for it."""
        with self._changed:
            if conversation.requests.empty():
                self._conversations.pop(conversation.node, None)
                return True
            return False

    @property
    def timeout_ms(self) -> int:
        """The time that a transaction may take."""
        return self._timeout_ms

    # --- the thread that waits and finds

    def _put(self, order: _Order) -> None:
        heapq.heappush(self._waiting, order)
        if not self._runs and not self._closed:
            self._runs = True
            threading.Thread(target=self._run, name="transactions", daemon=True).start()
        self._changed.notify_all()

    def _run(self) -> None:
        try:
            while orders := self._next():
                self._hand_over(orders)
        except Exception as error:  # noqa: BLE001 - the engine raises it
            self._on_error(error)

    def _next(self) -> list[_Order]:
        """Wait until requests may be sent, and return all of them; none when everything is over."""
        due: list[_Order] = []
        with self._changed:
            while not due and not self._closed:
                now = monotonic()
                while self._waiting and self._waiting[0].due <= now:
                    due.append(heapq.heappop(self._waiting))
                if not due:
                    self._changed.wait(self._waiting[0].due - now if self._waiting else None)
        return due

    def _hand_over(self, orders: Sequence[_Order]) -> None:
        names = [(order.request.transactional_id, order.finds) for order in orders]
        self._find({name for name, finds in names if finds or name not in self._nodes})
        for order in orders:
            node = self._nodes.get(order.request.transactional_id)
            if node is None:
                self.ask(order.request, First.FIND_COORDINATOR)
            else:
                self._conversation(node, order.request).begin()

    def _conversation(self, node: int, request: CoordinatorRequest) -> _Conversation:
        """Return the conversation with a broker, which has the request now."""
        with self._changed:
            conversation = self._conversations.get(node)
            if conversation is None:
                conversation = self._conversations[node] = _Conversation(self, node)
            conversation.requests.put(request)
        return conversation

    def _find(self, names: Collection[str]) -> None:
        """Note the coordinators' brokers; those that are not found have none."""
        for name in names:
            self._nodes.pop(name, None)
        try:
            for name, code, node in coordinators(self.cluster, sorted(names), TRANSACTION) if names else ():
                if not code:
                    self._nodes[name] = node
                elif error_codes.is_retriable(code):
                    why = unreachable(self.cluster, [name], TRANSACTION).get(name, error_text.text(code))
                    self._on_trouble(f"transactional id {name} has no coordinator yet: {why}")
                else:
                    raise RequestRefused(f"transactional id {name} cannot be used: {error_text.text(code)}")
        except (ConnectionLost, ClusterUnreachable) as error:
            self._on_trouble(str(error))

    def _pause(self, request: CoordinatorRequest, first: First) -> float:
        """Return the seconds to wait: 5, 10, 20 ... 100 ms for the same request. Under the lock."""
        known = self._patience.get(request.transactional_id)
        if known is None or known.request != request:
            known = self._patience[request.transactional_id] = _Patience(request)
        known.tries += 1
        if known.tries == 1:
            return 0.0
        if first is First.FIND_COORDINATOR:
            return _FIND_PAUSE
        return doubled(_FIRST_PAUSE, known.tries - 2, _LONGEST_PAUSE)

    def _note_hanging(self, transactional_id: str, error: int) -> None:
        with self._changed:
            known = self._hanging.get(transactional_id)
            if error in COORDINATOR_MOVED and known and known.error == ErrorCode.CONCURRENT_TRANSACTIONS:
                return  # the transaction does not end while its coordinator moves
            if error not in _HANGS:
                self._hanging.pop(transactional_id, None)
            elif known is None or known.error != error:
                self._hanging[transactional_id] = _Hanging(error)


class _Conversation:
    """The thread that asks one coordinator, and its connection: it sends all that waits, then hears the answers."""

    def __init__(self, owner: TxnCoordinators, node: int) -> None:
        self.node = node
        self.requests: queue.SimpleQueue[CoordinatorRequest | None] = queue.SimpleQueue()
        self._owner = owner
        self._connection: Connection | None = None
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Start the thread, unless it runs. Called by one thread only."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=f"coordinator-{self.node}", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Wake the thread out of whatever it waits for."""
        self.requests.put(None)
        if self._connection is not None:
            self._connection.close()

    def _run(self) -> None:
        try:
            while self._serve():
                pass
        except Exception as error:  # noqa: BLE001 - the engine raises it
            self._owner.failed(error)
        finally:
            if self._connection is not None:
                self._connection.close()

    def _serve(self) -> bool:
        """Ask what waits; return False when nothing does for a while."""
        try:
            requests = self._next()
        except queue.Empty:
            return not self._owner.is_idle(self)
        if not requests:
            return False
        claims = any(isinstance(each, InitProducerId) and each.expected is None for each in requests)
        try:
            connection = self._usable()
            version = version_at(connection) if claims else TransactionVersion.ONE
        except (ConnectionLost, ClusterUnreachable) as error:
            for request in requests:
                self._owner.not_sent(request, error)
            return True
        self._ask_each(requests, connection, version)
        for name in {each.transactional_id for each in requests}:
            if answer := self._owner.hangs_untold(name):
                self._tell_of(name, answer, connection)
        return True

    def _next(self) -> list[CoordinatorRequest]:
        """Return all requests that wait, none at the end; raise queue.Empty where none comes for long."""
        found: list[CoordinatorRequest] = []
        request = self.requests.get(timeout=_IDLE_TIMEOUT)
        while request is not None:
            found.append(request)
            try:
                request = self.requests.get_nowait()
            except queue.Empty:
                return found
        self.requests.put(None)  # for the next call, unless this is the end
        return found

    def _ask_each(
        self, requests: Sequence[CoordinatorRequest], connection: Connection, version: TransactionVersion
    ) -> None:
        """Send requests without waiting for answers, and tell each answer when it comes."""
        owner = self._owner
        waiting = deque(requests)
        asked: deque[CoordinatorRequest] = deque()

        def messages() -> Iterator[Any]:
            while waiting:
                request = waiting.popleft()
                sent = message(request, owner.timeout_ms)
                if isinstance(request, EndTxn | InitProducerId) and not connection.speaks(sent):
                    owner.came_back(request, Answered(request, ErrorCode.UNSUPPORTED_VERSION))
                    continue
                asked.append(request)
                yield sent

        try:
            for answer in connection.call_each(messages()):
                request = asked.popleft()
                owner.came_back(request, answered(request, answer, version))
        except ConnectionLost as error:
            self._connection = None
            connection.close()
            owner.cluster.metadata.stale()
            for request in asked:
                owner.came_back(request, Unanswered(request))
            for request in waiting:
                owner.not_sent(request, error)

    def _tell_of(self, transactional_id: str, error: int, connection: Connection) -> None:
        """Say that a transaction does not end, and what its coordinator knows of it, unless that still loads."""
        where: dict[str, Any] = {
            "transactional_id": transactional_id,
            "seconds": f"{_SLOW_TIMEOUT:g}",
            "broker": self.node,
            "partition": state_partition(transactional_id),
        }
        if error == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
            events.emit(events.COORDINATOR_LOADS, **where)
            return
        try:
            state = described(connection.call(describe(transactional_id)))
        except (ConnectionLost, UnsupportedVersion):  # brokers tell it since 3.0
            state = "not told"
        events.emit(events.TRANSACTION_HANGS, **where, state=state)

    def _usable(self) -> Connection:
        connection = self._connection
        if connection is None or connection.is_due() or not connection.is_open():
            if connection is not None:
                connection.close()
            connection = self._connection = self._owner.cluster.connect(self.node)
        return connection
