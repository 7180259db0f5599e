"""Requests of transactions: many at once, over a line that breaks, and while one that was begun before does not end.

The coordinator answers in bytes.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from math import inf
from types import SimpleNamespace
from typing import Any, cast

import pytest
from kafka.protocol.admin import DescribeTransactionsResponse
from kafka.protocol.producer.transaction import (
    AddPartitionsToTxnResponse,
    EndTxnRequest,
    EndTxnResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from typing_extensions import override

from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.net.connection import Connection
from legacy_mm.clients.net.connection_errors import ConnectionLost, UnsupportedVersion
from legacy_mm.protocol.error_codes import ErrorCode as E
from legacy_mm.transactions import txn_coordinators
from legacy_mm.transactions.bundle_events import Answered, First, Unanswered
from legacy_mm.transactions.txn_coordinators import TxnCoordinators
from legacy_mm.transactions.txn_errors import Reaction, reaction_to
from legacy_mm.transactions.txn_protocol import CoordinatorRequest
from legacy_mm.transactions.txn_requests import (
    AddPartitionsToTxn,
    EndTxn,
    InitProducerId,
    ProducerIdAndEpoch,
    TransactionVersion,
)
from tests.fakes.cluster import FakeCluster
from tests.fakes.transactions import Brokers
from tests.fakes.txn_bytes import RELEASES, respond

SECONDS = 20.0
HANGING, OTHER = "id.1", "id.2"
PLACES = [TopicPartition("t", number) for number in (3, 5)]
PRODUCER = ProducerIdAndEpoch(0, 0)
REQUESTS: dict[str, CoordinatorRequest] = {
    "claim": InitProducerId(HANGING, None),
    "renewal": InitProducerId(HANGING, PRODUCER),
    "add": AddPartitionsToTxn(HANGING, PRODUCER, frozenset(PLACES)),
    "end": EndTxn(HANGING, PRODUCER),
}
VERSIONS = {
    22: (RELEASES["2.8"].init, InitProducerIdResponse),
    24: (RELEASES["2.8"].add, AddPartitionsToTxnResponse),
    26: (RELEASES["2.8"].end, EndTxnResponse),
}
DESCRIBE = 65


class Broker(FakeCluster):
    """Coordinates all ids. One has a transaction that is to be committed, and its markers are not written yet."""

    def __init__(self) -> None:
        super().__init__()
        self.tells = True
        brokers, _, producer = Brokers().init_producer_id(HANGING, None)
        assert producer == PRODUCER
        brokers, _ = brokers.add_partitions(HANGING, producer, PLACES)
        self.state, _ = brokers.end_txn(HANGING, producer, True)

    def write_markers(self) -> None:
        for place in PLACES:
            self.state = self.state.write_marker(HANGING, place)

    @override
    def call_any(self, request: Any, within: float = inf, *, is_change: bool = False) -> Any:
        rows = [SimpleNamespace(key=key, error_code=0, node_id=1) for key in request.coordinator_keys]
        return SimpleNamespace(coordinators=rows)

    @override
    def connect(self, node: int, within: float = inf) -> Connection:
        made: Any = SimpleNamespace(is_due=lambda: False, is_open=lambda: True, call=self._answer, close=lambda: None)
        made.call_each, made.speaks = self._answer_each, lambda _: True
        made.level_now, made.has = lambda _: 0, lambda *_: False  # transaction version 1
        return cast(Connection, made)

    def _answer_each(self, requests: Iterable[Any]) -> Iterator[Any]:
        return map(self._answer, list(requests))

    def _answer(self, request: Any) -> Any:
        if request.API_KEY == DESCRIBE:
            return self._describe()
        version, kind = VERSIONS[request.API_KEY]
        body = bytes(request.encode(version=version))
        self.state, answer = respond(self.state, request.API_KEY, version, body)
        return kind.decode(answer, version=version)

    def _describe(self) -> Any:
        if not self.tells:
            raise UnsupportedVersion("DescribeTransactions")
        state = DescribeTransactionsResponse.TransactionState
        topics = [state.TopicData(topic="t", partitions=[place.partition for place in PLACES])]
        row = state(error_code=0, transactional_id=HANGING, transaction_state="PrepareCommit", topics=topics)
        return DescribeTransactionsResponse(transaction_states=[row])


class Asking:
    """Asks as a session does: the same again where an answer wants it."""

    def __init__(self, broker: Broker) -> None:
        self.answers: queue.SimpleQueue[Answered] = queue.SimpleQueue()
        self.errors: list[BaseException] = []
        self.again = 0
        self.coordinators = TxnCoordinators(broker, 60.0, self._tell, lambda text: None, self.errors.append)

    def _tell(self, outcome: Answered | Unanswered) -> None:
        assert isinstance(outcome, Answered)
        if reaction_to(outcome.request, outcome.error) is Reaction.AGAIN:
            assert outcome.error == E.CONCURRENT_TRANSACTIONS
            self.again += 1
            self.coordinators.ask(cast(CoordinatorRequest, outcome.request), First.PAUSE)
        else:
            self.answers.put(outcome)


def end(coordinators: TxnCoordinators) -> None:
    """Close them, and wait: what a thread still tells would be in the log of the next test."""
    conversations = list(coordinators._conversations.values())
    coordinators.close()
    for conversation in conversations:
        if conversation._thread is not None:
            conversation._thread.join(SECONDS)


@pytest.fixture
def broker() -> Broker:
    return Broker()


@pytest.fixture
def asking(broker: Broker) -> Any:
    made = Asking(broker)
    yield made
    end(made.coordinators)
    assert made.errors == []


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [line for line in caplog.messages if "CONCURRENT_TRANSACTIONS" in line]


@pytest.mark.parametrize("request_", REQUESTS.values(), ids=list(REQUESTS))
def test_it_is_sent_again_until_the_transaction_has_ended(
    request_: CoordinatorRequest, broker: Broker, asking: Asking, caplog: pytest.LogCaptureFixture
) -> None:
    asking.coordinators.ask(request_)
    wait_until(lambda: asking.again > 2, SECONDS, "some tries")
    assert asking.coordinators.hangs(HANGING)
    broker.write_markers()
    assert (answer := asking.answers.get(timeout=SECONDS)).error == E.NONE
    assert answer.request == request_
    assert (told(caplog), asking.coordinators.hangs(HANGING)) == ([], False)


@pytest.mark.parametrize("request_", REQUESTS.values(), ids=list(REQUESTS))
def test_after_a_while_it_is_told_once_and_others_go_on(
    request_: CoordinatorRequest,
    asking: Asking,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(txn_coordinators, "_SLOW_TIMEOUT", 0.01)
    asking.coordinators.ask(request_)
    wait_until(lambda: told(caplog), SECONDS, "a line")
    tries = asking.again
    asking.coordinators.ask(InitProducerId(OTHER, None))
    assert asking.answers.get(timeout=SECONDS).request.transactional_id == OTHER
    wait_until(lambda: asking.again > tries + 2, SECONDS, "more tries")
    (line,) = told(caplog)
    assert "the transaction of id.1 has not ended" in line and "at its coordinator, broker 1" in line
    assert line.endswith("other bundles go on; its state: PrepareCommit, with t-3, t-5")


def test_whichever_request_meets_it_the_time_counts(asking: Asking) -> None:
    """A transaction is given up before the time is over, and then the claim waits for the same one."""
    asking.coordinators.ask(REQUESTS["add"])
    wait_until(lambda: asking.again > 2, SECONDS, "some tries")
    began = asking.coordinators._hanging[HANGING].since
    asking.coordinators.ask(REQUESTS["claim"])
    tries = asking.again
    wait_until(lambda: asking.again > tries + 4, SECONDS, "tries of both")
    assert asking.coordinators._hanging[HANGING].since == began


def test_brokers_that_cannot_describe_it(
    broker: Broker, asking: Asking, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker.tells = False
    monkeypatch.setattr(txn_coordinators, "_SLOW_TIMEOUT", 0.0)
    asking.coordinators.ask(REQUESTS["claim"])
    wait_until(lambda: told(caplog), SECONDS, "a line")
    assert told(caplog)[0].endswith("its state: not told")


class Loads(Broker):
    """One whose coordinator has not read its part of the transactions."""

    loads = True

    @override
    def _answer(self, request: Any) -> Any:
        answer = super()._answer(request)
        if self.loads and request.API_KEY == InitProducerIdRequest.API_KEY:
            answer.error_code = E.COORDINATOR_LOAD_IN_PROGRESS
        return answer


def test_a_coordinator_that_does_not_load_is_told_of(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Brokers with ZooKeeper may stay so until they are restarted."""
    monkeypatch.setattr(txn_coordinators, "_SLOW_TIMEOUT", 0.01)
    broker = Loads()
    answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
    claim = InitProducerId(OTHER, None)

    def tell(outcome: Answered | Unanswered) -> None:
        if isinstance(outcome, Answered) and outcome.error == E.COORDINATOR_LOAD_IN_PROGRESS:
            coordinators.ask(claim, First.FIND_COORDINATOR)
        else:
            answers.put(outcome)

    coordinators = TxnCoordinators(broker, 60.0, tell, lambda text: None, answers.put)
    coordinators.ask(claim)
    wait_until(lambda: "COORDINATOR_LOAD_IN_PROGRESS" in caplog.text, SECONDS, "a line")
    assert coordinators.hangs(OTHER) == E.COORDINATOR_LOAD_IN_PROGRESS
    broker.loads = False
    assert answers.get(timeout=SECONDS).error == E.NONE
    assert not coordinators.hangs(OTHER)
    end(coordinators)
    assert f"the coordinator of {OTHER}, broker 1, has answered" in caplog.text
    assert told(caplog) == []


class LongLine(Broker):
    """Answers when it is let, after all that was sent; breaks once, in the midst of it."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[list[str]] = []
        """The ids whose requests were on their way together."""
        self.asked: list[list[str]] = []
        """The ids of each question for coordinators, sorted."""
        self.goes_on = threading.Event()
        self.breaks: tuple[int, int] | None = None
        """How many of the next requests it takes, and answers."""
        self.does_not_know: Callable[[Any], bool] = lambda request: False

    @override
    def call_any(self, request: Any, within: float = inf, *, is_change: bool = False) -> Any:
        self.asked.append(list(request.coordinator_keys))
        return super().call_any(request)

    @override
    def connect(self, node: int, within: float = inf) -> Connection:
        made: Any = super().connect(node)
        made.speaks = lambda request: not self.does_not_know(request)
        return cast(Connection, made)

    @override
    def _answer_each(self, requests: Iterable[Any]) -> Iterator[Any]:
        takes, answers = self.breaks or (None, None)
        sent = list(islice(requests, takes))
        self.sent.append([request.transactional_id for request in sent])
        assert self.goes_on.wait(SECONDS)
        yield from map(self._answer, sent[:answers])
        if takes is not None:
            self.breaks = None
            raise ConnectionLost("it is cut")


class Hearing:
    """Asks, and keeps what comes back."""

    def __init__(self, broker: LongLine) -> None:
        self.outcomes: queue.SimpleQueue[Answered | Unanswered] = queue.SimpleQueue()
        self.errors: list[BaseException] = []
        self.coordinators = TxnCoordinators(broker, 60.0, self.outcomes.put, lambda text: None, self.errors.append)

    def ask_first(self, broker: LongLine) -> None:
        """Ask, so that all later questions wait for the answer."""
        self.coordinators.ask(InitProducerId("first", None))
        wait_until(lambda: broker.sent, SECONDS, "the first request")

    def wait_queued(self, count: int) -> None:
        """Wait until so many requests wait for the answer to the first."""
        conversation = self.coordinators._conversations[1]
        wait_until(lambda: conversation.requests.qsize() == count, SECONDS, "the requests to be handed over")

    def next(self, count: int) -> list[Answered | Unanswered]:
        return [self.outcomes.get(timeout=SECONDS) for _ in range(count)]


@pytest.fixture
def line() -> LongLine:
    return LongLine()


@pytest.fixture
def hearing(line: LongLine) -> Iterator[Hearing]:
    made = Hearing(line)
    made.ask_first(line)
    yield made
    end(made.coordinators)
    assert made.errors == []


WAITING = [f"id.{number}" for number in range(10, 34)]


def test_all_that_waits_is_sent_at_once(line: LongLine, hearing: Hearing) -> None:
    for name in WAITING:
        hearing.coordinators.ask(InitProducerId(name, None))
    hearing.wait_queued(24)
    line.goes_on.set()
    answers = hearing.next(25)
    assert [each.request.transactional_id for each in answers] == ["first", *WAITING]
    assert all(isinstance(each, Answered) and not each.error for each in answers)
    assert line.sent == [["first"], WAITING]


def test_when_the_line_breaks_only_what_was_sent_is_in_doubt(line: LongLine, hearing: Hearing) -> None:
    line.breaks = 4, 3
    for name in WAITING[:6]:
        hearing.coordinators.ask(InitProducerId(name, None))
    hearing.wait_queued(6)
    line.goes_on.set()
    outcomes = hearing.next(7)
    doubted = [each.request.transactional_id for each in outcomes if isinstance(each, Unanswered)]
    assert doubted == [WAITING[3]]
    assert line.sent[1] == WAITING[:4]
    assert sum(line.sent[2:], []) == WAITING[4:6]
    assert sum(line.asked, []) == ["first", *WAITING[:6], *WAITING[4:6]], "coordinators that are not found anew"


def test_an_old_coordinator_renews_no_epoch(line: LongLine, hearing: Hearing) -> None:
    """Before 2.5: the bundle is claimed again."""
    line.does_not_know = lambda request: isinstance(request, InitProducerIdRequest) and request.producer_id >= 0
    renewal = InitProducerId(OTHER, PRODUCER)
    for request in (renewal, InitProducerId(WAITING[0], None)):
        hearing.coordinators.ask(request)
    line.goes_on.set()
    outcomes = {each.request.transactional_id: each for each in hearing.next(3)}
    assert outcomes[OTHER] == Answered(renewal, E.UNSUPPORTED_VERSION)
    assert isinstance(found := outcomes[WAITING[0]], Answered) and not found.error


def test_an_end_that_the_coordinator_does_not_know_holds_up_nobody(line: LongLine, hearing: Hearing) -> None:
    line.does_not_know = lambda request: isinstance(request, EndTxnRequest)
    hearing.coordinators.ask(EndTxn(OTHER, PRODUCER, TransactionVersion.TWO))
    hearing.coordinators.ask(InitProducerId(WAITING[0], None))
    line.goes_on.set()
    outcomes = {each.request.transactional_id: each for each in hearing.next(3)}
    assert outcomes[OTHER] == Answered(EndTxn(OTHER, PRODUCER, TransactionVersion.TWO), E.UNSUPPORTED_VERSION)
    assert isinstance(found := outcomes[WAITING[0]], Answered) and not found.error
