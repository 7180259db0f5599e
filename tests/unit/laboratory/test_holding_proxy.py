"""Requests and answers that are lost or late. Servers that answer anything stand for the brokers."""

from __future__ import annotations

import contextlib
import hashlib
import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from compat.laboratory.holding_proxy import Api, HoldingProxy, RequestRule
from compat.laboratory.ports import LOOPBACK
from compat.laboratory.raw_request import HEAD, SIZE, ask, exchange, receive_message
from legacy_mm.audit.waiting import wait_until

PATIENCE = 30.0
FETCH = 1


class FakeBroker:
    """Keeps all requests, and answers each with its correlation id and its own bytes."""

    def __init__(self) -> None:
        self.requests: list[bytes] = []
        self._server = socket.create_server((LOOPBACK, 0))
        self.port: int = self._server.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self._thread.join(PATIENCE)

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._answer, args=(self._server.accept()[0],), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            while True:
                request = receive_message(connection)
                self.requests.append(request)
                answer = request[4:8] + request
                connection.sendall(SIZE.pack(len(answer)) + answer)


@pytest.fixture
def broker() -> Iterator[FakeBroker]:
    with contextlib.closing(FakeBroker()) as made:
        yield made


@pytest.fixture
def proxy() -> Iterator[HoldingProxy]:
    with HoldingProxy() as made:
        yield made


@pytest.fixture
def port(proxy: HoldingProxy, broker: FakeBroker) -> int:
    """Where the proxy listens for the broker."""
    return proxy.before(broker.port)[1]


def request(api: int, correlation_id: int, client: str | None = "mm", body: bytes = b"") -> bytes:
    name = (client or "").encode()
    return HEAD.pack(api, 3, correlation_id, -1 if client is None else len(name)) + name + body


class Client:
    """A connection that stays."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection((LOOPBACK, port), timeout=PATIENCE)

    def send(self, *messages: bytes) -> None:
        self._socket.sendall(b"".join(SIZE.pack(len(message)) + message for message in messages))

    def receive(self) -> bytes:
        """The next answer, without its correlation id."""
        return receive_message(self._socket)[4:]

    def give_up(self) -> None:
        self._socket.close()

    def is_cut(self) -> bool:
        with pytest.raises(OSError):
            self.receive()
        return True


Connect = Callable[[int], Client]


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Makes clients of a port."""
    with contextlib.ExitStack() as stack:

        def made(port: int) -> Client:
            client = Client(port)
            stack.callback(client.give_up)
            return client

        yield made


def test_requests_and_answers_pass_unchanged(
    connect: Connect, port: int, broker: FakeBroker, proxy: HoldingProxy
) -> None:
    big = request(FETCH, 2, body=hashlib.shake_128(b"seed").digest(5_000_000))
    messages = [request(FETCH, 1), big, request(FETCH, 3, None)]
    client = connect(port)
    client.send(*messages)
    assert [client.receive() for _ in messages] == messages == broker.requests
    client.give_up()
    wait_until(lambda: proxy.connections() == 0, PATIENCE, "both ends to be closed")


def test_a_lost_request_does_not_arrive_and_the_next_one_does(
    connect: Connect, port: int, broker: FakeBroker, proxy: HoldingProxy
) -> None:
    rule = proxy.lose(Api.END_TXN)
    client = connect(port)
    client.send(request(Api.PRODUCE, 1))
    assert client.receive() == request(Api.PRODUCE, 1)
    client.send(request(Api.END_TXN, 2))
    assert client.is_cut()
    again = connect(port)
    again.send(request(Api.END_TXN, 1))
    assert again.receive() == request(Api.END_TXN, 1)
    assert broker.requests == [request(Api.PRODUCE, 1), request(Api.END_TXN, 1)]
    assert rule.applied == 1


def test_a_lost_answer_is_that_of_its_request(
    connect: Connect, port: int, broker: FakeBroker, proxy: HoldingProxy
) -> None:
    rule = proxy.lose_answer(Api.END_TXN)
    client = connect(port)
    client.send(request(Api.PRODUCE, 1), request(Api.END_TXN, 2), request(Api.PRODUCE, 3))
    assert client.receive() == request(Api.PRODUCE, 1)
    assert client.is_cut()
    assert broker.requests[:2] == [request(Api.PRODUCE, 1), request(Api.END_TXN, 2)]
    assert rule.applied == 1


def test_a_held_request_arrives_when_it_is_delivered_and_once(
    connect: Connect, port: int, broker: FakeBroker, proxy: HoldingProxy
) -> None:
    rule, late = proxy.hold(Api.PRODUCE), request(Api.PRODUCE, 7, body=b"late")
    with pytest.raises(ValueError, match="nothing is held yet"):
        rule.deliver()
    client = connect(port)
    client.send(late, request(Api.END_TXN, 8))
    assert client.is_cut()
    other = connect(port)
    other.send(request(Api.PRODUCE, 1))
    assert other.receive() == request(Api.PRODUCE, 1)
    assert (rule.applied, rule.delivered, broker.requests) == (1, 0, [request(Api.PRODUCE, 1)])
    proxy.cut()
    assert rule.deliver() == late[4:8] + late == rule.answer
    assert rule.deliver() == rule.answer
    assert broker.requests == [request(Api.PRODUCE, 1), late], "and what came behind it never"
    assert rule.delivered == 1


def test_a_held_request_arrives_by_itself(connect: Connect, port: int, proxy: HoldingProxy, broker: FakeBroker) -> None:
    rule = proxy.hold(Api.PRODUCE, after=0.05)
    connect(port).send(request(Api.PRODUCE, 7))
    wait_until(lambda: rule.delivered, PATIENCE, "the delivery")
    assert broker.requests == [request(Api.PRODUCE, 7)]


def test_a_client_can_be_left_without_an_answer(
    connect: Connect, port: int, proxy: HoldingProxy, broker: FakeBroker
) -> None:
    """Its connection stays, and nothing passes; earlier answers still do."""
    rule = proxy.hold(Api.PRODUCE, cut=False)
    client = connect(port)
    client.send(request(FETCH, 1), request(Api.PRODUCE, 2), request(FETCH, 3))
    assert client.receive() == request(FETCH, 1)
    wait_until(lambda: rule.applied, PATIENCE, "the request")
    rule.deliver()
    assert proxy.connections() == 1
    client.give_up()
    wait_until(lambda: proxy.connections() == 0, PATIENCE, "the client to give up")
    assert broker.requests == [request(FETCH, 1), request(Api.PRODUCE, 2)]


def test_a_request_that_is_held_when_the_proxy_closes_does_not_come(
    connect: Connect, port: int, proxy: HoldingProxy, broker: FakeBroker
) -> None:
    rule = proxy.hold(Api.PRODUCE, after=PATIENCE)
    client = connect(port)
    client.send(request(Api.PRODUCE, 7))
    assert client.is_cut()
    proxy.close()
    timers = [each for each in threading.enumerate() if isinstance(each, threading.Timer)]
    wait_until(lambda: not any(each.is_alive() for each in timers), PATIENCE / 2, "the end of its timer")
    assert (rule.applied, rule.delivered, broker.requests) == (1, 0, [])


@pytest.mark.parametrize(
    ("client", "containing", "fits"),
    [
        ("", b"", True),
        ("^mm-1$", b"", True),
        ("mm", b"orders", True),
        ("^m$", b"", False),
        ("", b"clicks", False),
    ],
)
def test_what_a_rule_fits(client: str, containing: bytes, fits: bool) -> None:
    rule = RequestRule(Api.PRODUCE, client, containing)
    assert rule.fits(request(Api.PRODUCE, 1, "mm-1", b"\x00\x06orders")) is fits
    assert not rule.fits(request(Api.END_TXN, 1, "mm-1", b"\x00\x06orders"))
    assert RequestRule(Api.PRODUCE, "^$", b"").fits(request(Api.PRODUCE, 1, None))


def test_rules_wait_at_all_brokers_and_each_for_one_request(port: int, broker: FakeBroker, proxy: HoldingProxy) -> None:
    with contextlib.closing(FakeBroker()) as second:
        other_port = proxy.before(second.port)[1]
        lost, held = proxy.lose(Api.END_TXN), proxy.hold(Api.END_TXN)
        for each in (other_port, port):
            with pytest.raises(OSError):
                ask(LOOPBACK, each, Api.END_TXN, 1, b"", PATIENCE)
        assert (lost.applied, held.applied) == (1, 1)
        assert ask(LOOPBACK, other_port, Api.END_TXN, 1, b"body", PATIENCE).endswith(b"body")
        held.deliver()
        assert (len(second.requests), len(broker.requests)) == (1, 1)


def test_a_rule_that_waits_no_more(port: int, proxy: HoldingProxy) -> None:
    rules = [proxy.lose(Api.PRODUCE), proxy.lose_answer(Api.PRODUCE), proxy.hold(Api.PRODUCE)]
    proxy.disarm()
    assert exchange(LOOPBACK, port, request(Api.PRODUCE, 1), PATIENCE)
    assert [rule.applied for rule in rules] == [0, 0, 0]


def test_all_connections_are_cut_and_new_ones_pass(connect: Connect, port: int, proxy: HoldingProxy) -> None:
    clients = [connect(port), connect(port)]
    for client in clients:
        client.send(request(FETCH, 1))
        assert client.receive()
    assert proxy.cut() == 2
    assert all(client.is_cut() for client in clients)
    assert exchange(LOOPBACK, port, request(FETCH, 1), PATIENCE)


def test_a_broker_that_is_away(connect: Connect, proxy: HoldingProxy) -> None:
    """The client is let go; what is held for it is lost."""
    broker = FakeBroker()
    port, rule = proxy.before(broker.port)[1], proxy.hold(Api.PRODUCE)
    client = connect(port)
    client.send(request(Api.PRODUCE, 1))
    assert client.is_cut()
    broker.close()
    assert connect(port).is_cut()
    with pytest.raises(ConnectionRefusedError):
        rule.deliver()
    assert (rule.applied, rule.delivered) == (1, 0)
