"""Requests of transactions while one that was begun before does not end. The coordinator answers in bytes."""

from __future__ import annotations

import queue
from types import SimpleNamespace
from typing import Any, cast

import pytest
from kafka.protocol.admin import DescribeTransactionsResponse
from kafka.protocol.producer.transaction import AddPartitionsToTxnResponse, EndTxnResponse, InitProducerIdResponse
from typing_extensions import override

from legacy_mm.audit.waiting import wait_until
from legacy_mm.clients.native import txn_coordinators
from legacy_mm.clients.native.connection import Connection
from legacy_mm.clients.native.connection_errors import UnsupportedVersion
from legacy_mm.clients.native.txn_coordinators import TxnCoordinators
from legacy_mm.clients.native.txn_protocol import CoordinatorRequest
from legacy_mm.exactly_once.bundle_events import Answered, First, Unanswered
from legacy_mm.exactly_once.txn_errors import Reaction, reaction_to
from legacy_mm.exactly_once.txn_requests import AddPartitionsToTxn, EndTxn, InitProducerId, ProducerIdAndEpoch
from legacy_mm.model import TopicPartition
from legacy_mm.protocol.error_codes import ErrorCode as E
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
    def call_any(self, request: Any) -> Any:
        rows = [SimpleNamespace(key=key, error_code=0, node_id=1) for key in request.coordinator_keys]
        return SimpleNamespace(coordinators=rows)

    @override
    def connect(self, node: int) -> Connection:
        made: Any = SimpleNamespace(is_due=lambda: False, is_open=lambda: True, call=self._answer, close=lambda: None)
        made.level_now, made.has = lambda _: 0, lambda *_: False  # transaction version 1
        return cast(Connection, made)

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


@pytest.fixture
def broker() -> Broker:
    return Broker()


@pytest.fixture
def asking(broker: Broker) -> Any:
    made = Asking(broker)
    yield made
    made.coordinators.close()
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
