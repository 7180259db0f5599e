"""What goes over a connection, in which order, and how it ends."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from socket import socketpair
from typing import Any

import pytest
from kafka.protocol.consumer import HeartbeatRequest, HeartbeatResponse
from kafka.protocol.metadata import ApiVersionsResponse
from kafka.protocol.schemas import StructField

from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.clients.net import connection, transport_layer
from legacy_mm.clients.net.connection import open_connection
from legacy_mm.clients.net.connection_errors import ConnectionLost, UnsupportedVersion
from legacy_mm.clients.net.connection_security import Security
from legacy_mm.clients.net.login import BrokerVersions
from tests.unit.clients.broker import FETCH, Peer, response

HEAD = struct.Struct(">ihhih2s")
HEARTBEAT = 12


def test_a_request_is_its_header_and_its_segments(peer: Peer) -> None:
    peer.connection.send(FETCH, 4, [b"abc", memoryview(b"defg"), b""])
    peer.connection.send(FETCH, 11, [b"h"])
    assert (
        peer.end.recv(1000)
        == HEAD.pack(19, FETCH, 4, 1, 2, b"me") + b"abcdefg" + HEAD.pack(13, FETCH, 11, 2, 2, b"me") + b"h"
    )


def test_a_request_of_many_segments_that_the_socket_takes_in_parts(peer: Peer) -> None:
    segments = [bytes([number % 256]) * 2_000 for number in range(2_000)]
    received = bytearray()

    def read() -> None:
        while data := peer.end.recv(1 << 16):
            received.extend(data)

    reader = threading.Thread(target=read)
    reader.start()
    peer.connection.send(FETCH, 4, segments)
    peer.connection.close()
    reader.join()
    assert bytes(received[HEAD.size :]) == b"".join(segments)


def test_responses_come_in_the_order_of_the_requests(peer: Peer) -> None:
    peer.answers(response(1, b"first"), response(2, b""), response(3, b"third"))
    for _ in range(3):
        peer.connection.send(FETCH, 4, [])
    assert bytes(peer.connection.receive()) == b"first"
    assert bytes(peer.connection.receive()) == b""
    assert bytes(peer.connection.receive()) == b"third"


def test_an_answered_call_is_told_with_its_sizes(peer: Peer) -> None:
    told: list[tuple[int, int, int]] = []
    peer.connection.knows(BrokerVersions({HEARTBEAT: (4, 4)}, {}))
    peer.connection.on_exchange = lambda sent, received, seconds, throttle: told.append((sent, received, throttle))
    answer = bytes(HeartbeatResponse(error_code=0, throttle_time_ms=7).encode(version=4))
    peer.end.sendall(response(1, b"\0" + answer))
    peer.connection.call(HeartbeatRequest(group_id="g", generation_id=1, member_id="m", group_instance_id=None))
    asked = peer.end.recv(1000)
    assert told == [(len(asked), 1 + len(answer), 7)]


def test_a_broker_is_asked_what_its_cluster_has_finalized(peer: Peer) -> None:
    """Each time: it may have changed since the login."""
    row, feature = ApiVersionsResponse.ApiVersion, ApiVersionsResponse.FinalizedFeatureKey
    for number, level in enumerate((1, 2), start=1):
        told = ApiVersionsResponse(
            api_keys=[row(api_key=FETCH, min_version=4, max_version=17)],
            finalized_features=[feature(name="transaction.version", max_version_level=level, min_version_level=0)],
        )
        peer.end.sendall(response(number, bytes(told.encode(version=4))))
        assert peer.connection.level_now("transaction.version") == level
    assert [peer.connection.has(*each) for each in ((FETCH, 4), (FETCH, 18), (HEARTBEAT, 0))] == [True, False, False]


@pytest.mark.parametrize(("room", "most"), [(1000, 49), (10, 1)])
def test_many_requests_are_on_their_way_but_never_all(
    peer: Peer, room: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broker whose answers find no room in the socket reads no further requests."""
    monkeypatch.setattr(connection, "_ON_THEIR_WAY", room)
    peer.connection.knows(BrokerVersions({HEARTBEAT: (0, 0)}))
    peer.answers(*(response(number, b"\0\0") for number in range(1, 51)))
    asked = []

    def requests() -> Iterator[HeartbeatRequest]:
        for number in range(50):
            asked.append(number)
            yield HeartbeatRequest(group_id="g", generation_id=number, member_id="m")

    answers = peer.connection.call_each(requests())
    assert next(answers).error_code == 0
    assert (len(asked) > 1) == (most > 1)
    assert len(asked) <= most
    assert len(list(answers)) == 49


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "it closed the connection at the first question, as where TLS or a login is wanted: look at security"),
        (response(1, b"abc")[:-1], "it closed the connection"),
        (response(2, b"abc"), r"a response to request 2 instead of 1 \(Fetch\)"),
        (struct.pack(">ii", 3, 1), "a response of 3 bytes"),
        (struct.pack(">ii", -1, 1), "a response of -1 bytes"),
        (struct.pack(">ii", 100_001, 1), "a response of 100001 bytes; the most is 100000"),
        (
            b"HTTP/1.1 400 Bad Request\r\n",
            "a response of 1213486160 bytes.*: these bytes are HTTP, so no broker listens",
        ),
        (b"\x15\x03\x03\0\x02\x02\x50", "it closed the connection: these bytes are TLS, which that listener wants"),
        (b"\x15\x03\x03\0\x02\x02\x50\0", "a response of 352518912 bytes.*: these bytes are TLS, which that"),
        (b"\x15\x04\x03\0\x02\x02\x50", "it closed the connection$"),
    ],
)
@pytest.mark.parametrize("waits", [True, False])
def test_what_is_no_answer_ends_the_connection(peer: Peer, raw: bytes, said: str, *, waits: bool) -> None:
    peer.answers(raw)
    peer.connection.send(FETCH, 4, [])
    with pytest.raises(ConnectionLost, match=rf"^the connection to broker:9092 \(broker 7\) is lost: {said}"):
        peer.connection.receive() if waits else peer.connection.receive_now()
    for use in (peer.connection.receive, lambda: peer.connection.send(FETCH, 4, [])):
        with pytest.raises(ConnectionLost, match="closed here"):
            use()


def test_a_response_that_comes_in_pieces_is_kept_until_it_is_whole(peer: Peer) -> None:
    for _ in range(3):
        peer.connection.send(FETCH, 4, [])
    raw = response(1, b"first") + response(2, b"")
    for end in range(1, len(raw) + 1):
        found = peer.connection.receive_now()
        assert found is None or end == len(response(1, b"first")) + 1
        peer.end.sendall(raw[end - 1 : end])
    second = peer.connection.receive_now()
    assert second is not None
    assert bytes(second) == b""
    assert peer.connection.receive_now() is None
    peer.end.sendall(response(3, b"third"))
    assert bytes(peer.connection.receive()) == b"third", "whoever waits goes on"


def test_who_does_not_wait_sees_that_a_broker_does_not_answer_in_time(peer: Peer) -> None:
    peer.connection.send(FETCH, 4, [])
    with pytest.raises(ConnectionLost, match=r"no answer to Fetch within 0.02 s"):
        while peer.connection.receive_now() is None:
            pass


def test_a_lent_socket_keeps_its_number_until_it_is_given_back(peer: Peer) -> None:
    lent = peer.connection.lend()
    peer.connection.close()
    assert lent.fileno() >= 0
    with pytest.raises(ConnectionLost, match="closed here"):
        peer.connection.receive_now()
    peer.connection.give_back()
    assert lent.fileno() < 0
    with pytest.raises(ConnectionLost, match="closed here"):
        peer.connection.lend()


def test_a_response_to_no_request_ends_the_connection(peer: Peer) -> None:
    peer.answers(response(1, b""))
    with pytest.raises(ConnectionLost, match="to no request"):
        peer.connection.receive()


def test_memory_that_cannot_be_had_ends_the_connection(peer: Peer, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(size: int) -> memoryview:
        raise MemoryError(size)

    monkeypatch.setattr(transport_layer, "unwritten", none)
    peer.answers(response(1, b"abc"))
    peer.connection.send(FETCH, 4, [])
    with pytest.raises(MemoryError):
        peer.connection.receive()
    with pytest.raises(ConnectionLost):
        peer.connection.receive()


def test_a_broker_that_does_not_answer_in_time(peer: Peer) -> None:
    peer.connection.send(FETCH, 4, [])
    with pytest.raises(ConnectionLost, match=r"no answer to Fetch within 0\.02 s"):
        peer.connection.receive()


def test_a_call_has_the_patience_of_who_asks_until_its_answer_begins(peer: Peer) -> None:
    peer.connection.knows(BrokerVersions({HEARTBEAT: (0, 3)}))
    with pytest.raises(ConnectionLost, match=r"no answer to Heartbeat.* within 0\.01 s"):
        peer.connection.call(HeartbeatRequest(group_id="g", generation_id=1, member_id="m"), 0.01)
    assert not peer.connection.is_open()


def test_a_broker_that_keeps_a_quota_is_waited_for(peer: Peer, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is under way behind the answer that says so is not even read before."""
    now = 100.0
    monkeypatch.setattr(connection, "monotonic", lambda: now)
    peer.connection.send(FETCH, 4, [])
    peer.connection.excuse(60.0)
    now = 160.0
    peer.connection._check_timeout()
    now = 160.1
    with pytest.raises(ConnectionLost, match="no answer to Fetch"):
        peer.connection._check_timeout()


def test_a_broker_that_takes_nothing(peer: Peer) -> None:
    with pytest.raises(ConnectionLost, match=r"it took no bytes for 0\.02 s"):
        peer.connection.send(FETCH, 4, [bytes(10_000_000)])


def test_whoever_closes_wakes_whoever_waits(peer: Peer) -> None:
    waiting, lost = threading.Event(), []

    def wait() -> None:
        waiting.set()
        try:
            peer.connection.receive()
        except ConnectionLost as error:
            lost.append(str(error))

    thread = threading.Thread(target=wait)
    thread.start()
    waiting.wait()
    peer.connection.close()
    thread.join()
    assert len(lost) == 1
    assert not peer.end.recv(1)


@pytest.mark.parametrize("ours", [True, False])
def test_it_is_open_until_one_side_ends_it(peer: Peer, ours: bool) -> None:
    """Also with nothing on its way, and with something to read left."""
    peer.end.sendall(b"unread")
    assert peer.connection.is_open()
    peer.connection.close() if ours else peer.end.close()
    assert not peer.connection.is_open()


def test_the_highest_version_that_both_know(peer: Peer) -> None:
    assert peer.connection.version(FETCH, 4, 12) == 12
    assert peer.connection.version(FETCH, 4, 18) == 17
    with pytest.raises(UnsupportedVersion) as caught:
        peer.connection.version(FETCH, 0, 3)
    assert str(caught.value) == ("Fetch is needed in version 0 to 3; the broker broker:9092 (broker 7) has 4 to 17")
    with pytest.raises(UnsupportedVersion, match="Produce .* does not have it"):
        peer.connection.version(0, 3, 9)


def test_a_broker_speaks_what_it_told(peer: Peer) -> None:
    assert not peer.connection.speaks(HeartbeatRequest())
    peer.connection.knows(BrokerVersions({HEARTBEAT: (2, 4)}))
    assert peer.connection.speaks(HeartbeatRequest(min_version=3))
    assert not peer.connection.speaks(HeartbeatRequest(max_version=1))


@pytest.mark.parametrize("coding", ["emit_encode_into", "emit_decode_from"])
def test_one_thread_at_a_time_compiles_a_codec(coding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """kafka-python swaps the class of an answer while it compiles: two threads at once once broke ApiVersions."""
    together = threading.Barrier(2)
    overlaps: list[str] = []
    compiling = getattr(StructField, coding)

    def meet(struct: StructField, *args: Any, **kw: Any) -> None:
        with suppress(threading.BrokenBarrierError):
            together.wait(0.2)
            overlaps.append(struct.name)
        compiling(struct, *args, **kw)

    monkeypatch.setattr(HeartbeatRequest._struct, "_compiled_encoders", {})
    monkeypatch.setattr(HeartbeatResponse._struct, "_compiled_encoders", {})
    monkeypatch.setattr(StructField, coding, meet)

    def beat() -> None:
        ours, theirs = socketpair()
        peer = Peer.beside(ours, theirs)
        with closing(peer.connection), theirs:
            peer.connection.knows(BrokerVersions({HEARTBEAT: (0, 0)}))
            peer.answers(response(1, b"\0\0"))
            errors.append(
                peer.connection.call(HeartbeatRequest(group_id="g", generation_id=1, member_id="m")).error_code
            )

    errors: list[int] = []
    threads = [threading.Thread(target=beat) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == [0, 0]
    assert not overlaps


API_VERSIONS, LIST_GROUPS = 18, 16
KNOWN = 4, 17


class SlowBroker(threading.Thread):
    """Answers a question for versions when it is asked another one, or never."""

    def __init__(self, *, is_0_9: bool) -> None:
        super().__init__(daemon=True)
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self.asked: list[int] = []
        self._is_0_9 = is_0_9

    def run(self) -> None:
        """Serve until the server is closed."""
        with suppress(OSError):
            while True:
                with self._server.accept()[0] as end:
                    late: list[bytes] = []
                    while head := end.recv(4, socket.MSG_WAITALL):
                        request = end.recv(int.from_bytes(head, "big"), socket.MSG_WAITALL)
                        api_key, version, number = struct.unpack_from(">hhi", request)
                        self._serve(end, api_key, version, number, late)

    def _serve(self, end: socket.socket, api_key: int, version: int, number: int, late: list[bytes]) -> None:
        self.asked.append(api_key)
        if api_key == API_VERSIONS:
            known = ApiVersionsResponse.ApiVersion(api_key=FETCH, min_version=KNOWN[0], max_version=KNOWN[1])
            answer = ApiVersionsResponse(error_code=0, api_keys=[known], version=version)
            late += [] if self._is_0_9 else [response(number, bytes(answer.encode(version=version)))]
        elif api_key == LIST_GROUPS:
            end.sendall(b"".join(late) + response(number, struct.pack(">hi", 0, 0)))
        else:
            end.sendall(response(number, struct.pack(">h", 0)))

    def stop(self) -> None:
        """Take no more connections."""
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()


@pytest.mark.parametrize(("is_0_9", "fetch"), [(True, 1), (False, 11)])
def test_a_broker_is_of_0_9_if_it_answers_the_next_question_first(
    monkeypatch: pytest.MonkeyPatch, is_0_9: bool, fetch: int
) -> None:
    """A later one that is slow, and is asked as an old one, would leave out headers."""
    monkeypatch.setattr(connection, "_PATIENCE", 0.05)
    broker = SlowBroker(is_0_9=is_0_9)
    broker.start()
    settings = ConnectionSettings()
    security = Security(settings)
    for number in (1, 2):
        with closing(open_connection(security, "127.0.0.1", broker.port, settings, within=10.0)) as made:
            assert made.version(FETCH, 0, 11) == fetch
            made.call(HeartbeatRequest(group_id="g", generation_id=1, member_id="m", version=0)) if is_0_9 else None
        assert broker.asked == ([API_VERSIONS, LIST_GROUPS] + [HEARTBEAT] * is_0_9) * number
        assert security.silent == ({("127.0.0.1", broker.port)} if is_0_9 else set())
    broker.stop()
