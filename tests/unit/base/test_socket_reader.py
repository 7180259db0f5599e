"""One thread reads many peers: each whole, in order, and none at the cost of another. Real sockets."""

from __future__ import annotations

import queue
import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.errors import ChannelError
from legacy_mm.base.reports import Frame
from legacy_mm.base.socket_reader import SocketReader
from legacy_mm.runtime.channel.channel import Peer
from legacy_mm.runtime.channel.frames import LENGTH, MAX_FRAME, Exit, Ticket, encode

TICKET = Ticket("", 0, b"", "", "a->b", 0, 1, 1)
WAIT = 20.0


class Other:
    """The other end of a peer, and what the reader said of it."""

    def __init__(self, reader: SocketReader) -> None:
        ours, self.line = socket.socketpair()
        self.peer = Peer(ours, TICKET)
        self.frames: queue.Queue[Frame] = queue.Queue()
        self.ends: queue.Queue[Exception | None] = queue.Queue()
        self.peer.watch(reader, self.take, self.ends.put)

    def take(self, frame: Frame) -> None:
        if frame == Exit(13):
            raise RuntimeError("a fault of whoever listens")
        self.frames.put(frame)


@pytest.fixture
def others() -> Iterator[list[Other]]:
    made: list[Other] = []
    yield made
    for other in made:
        other.line.close()
        other.peer.close()


@pytest.fixture
def other(others: list[Other]) -> Iterator[Callable[[], Other]]:
    """Makes other ends of one reader."""
    reader = SocketReader("reader-under-test")

    def make() -> Other:
        others.append(Other(reader))
        return others[-1]

    yield make
    reader.close()


def test_frames_come_whole_and_in_order_however_they_are_cut(other: Callable[[], Other]) -> None:
    first, second = other(), other()
    sent = b"".join(encode(Exit(code), TICKET) for code in range(3))
    for byte in sent:
        first.line.send(bytes([byte]))
    second.line.send(sent)
    for each in (first, second):
        assert [each.frames.get(timeout=WAIT) for _ in range(3)] == [Exit(0), Exit(1), Exit(2)]


def test_half_a_frame_delays_nobody_else(other: Callable[[], Other]) -> None:
    slow, quick = other(), other()
    slow.line.send(encode(Exit(0), TICKET)[:7])
    quick.line.send(encode(Exit(1), TICKET))
    assert quick.frames.get(timeout=WAIT) == Exit(1)
    assert slow.frames.empty()


@pytest.mark.parametrize(
    ("rubbish", "kind"),
    [
        (LENGTH.pack(MAX_FRAME + 1), ChannelError),
        (LENGTH.pack(3) + b"{x}", ChannelError),
        (encode(Exit(0), Ticket("", 0, b"", "", "a->b", 7, 1, 1)), ChannelError),
        (encode(Exit(13), TICKET), RuntimeError),
    ],
    ids=["too large", "no frame", "another stream's", "the listener fails"],
)
def test_what_ends_one_peer_ends_no_other(other: Callable[[], Other], rubbish: bytes, kind: type[Exception]) -> None:
    bad, good = other(), other()
    bad.line.send(rubbish)
    assert isinstance(bad.ends.get(timeout=WAIT), kind)
    assert bad.line.recv(1) == b"", "its connection is closed"
    good.line.send(encode(Exit(1), TICKET))
    assert good.frames.get(timeout=WAIT) == Exit(1)
    assert good.ends.empty()


@pytest.mark.parametrize("who", ["we", "they"])
def test_the_end_is_told_once_and_behind_all_frames(other: Callable[[], Other], who: str) -> None:
    end = other()
    end.line.send(encode(Exit(1), TICKET))
    assert end.frames.get(timeout=WAIT) == Exit(1)
    if who == "we":
        end.peer.close()
    else:
        end.line.close()
    assert end.ends.get(timeout=WAIT) is None
    end.peer.close()
    assert end.ends.empty()


def test_a_peer_that_was_closed_beforehand_has_ended() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        peer = Peer(ours, TICKET)
        peer.close()
        ends: queue.Queue[Exception | None] = queue.Queue()
        reader = SocketReader("reader-of-one")
        peer.watch(reader, lambda frame: None, ends.put)
        assert ends.get(timeout=WAIT) is None
        reader.close()


def test_the_thread_ends_with_the_last_peer_and_starts_with_the_next(others: list[Other]) -> None:
    reader = SocketReader("reader-that-ends")
    for number in range(2):
        others.append(Other(reader))
        others[number].line.send(encode(Exit(1), TICKET))
        assert others[number].frames.get(timeout=WAIT) == Exit(1)
        others[number].peer.close()
        wait_until(lambda: "reader-that-ends" not in {thread.name for thread in threading.enumerate()}, WAIT, "its end")


class Patient:
    """The owner of a socket that waits for something that may never come; it looks often enough to see that."""

    def __init__(self) -> None:
        self.inspections = threading.Semaphore(0)
        self.end: queue.Queue[Exception | None] = queue.Queue()
        self.patience_is_over = False

    def take(self) -> bool:
        self.inspections.release()
        if self.patience_is_over:
            raise TimeoutError("no answer")
        return True

    def ended(self, error: Exception | None) -> None:
        self.end.put(error)


def test_an_owner_looks_at_the_time_though_nothing_comes_and_others_are_busy(others: list[Other]) -> None:
    reader, patient, talks = SocketReader("reader-with-a-clock", 0.02), Patient(), threading.Event()
    others.append(Other(reader))

    def talk() -> None:
        while not talks.wait(0.001):
            others[0].line.send(encode(Exit(1), TICKET))

    talker = threading.Thread(target=talk)
    talker.start()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        reader.add(ours, patient)
        for _ in range(3):
            assert patient.inspections.acquire(timeout=WAIT)
        patient.patience_is_over = True
        assert isinstance(patient.end.get(timeout=WAIT), TimeoutError)
    talks.set()
    talker.join()
    assert others[0].ends.empty()


def test_a_peer_that_comes_behind_the_end_has_ended(others: list[Other]) -> None:
    reader = SocketReader("over")
    reader.close()
    others.append(Other(reader))
    assert others[0].ends.get(timeout=WAIT) is None
    assert others[0].line.recv(1) == b""


def test_a_reader_without_peers_has_no_thread() -> None:
    before = threading.active_count()
    SocketReader("nobody").close()
    assert threading.active_count() == before
