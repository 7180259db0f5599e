"""One thread reads many peers: each whole, in order, and none at the cost of another. Real sockets."""

from __future__ import annotations

import queue
import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from legacy_mm.audit.waiting import wait_until
from legacy_mm.control_channel.channel import Peer
from legacy_mm.control_channel.frame_reader import FrameReader
from legacy_mm.control_channel.frames import LENGTH, MAX_FRAME, Exit, Frame, Ticket, encode
from legacy_mm.errors import ChannelError

TICKET = Ticket("", 0, b"", "", "a->b", 0, 1, 1)
WAIT = 20.0


class Other:
    """The other end of a peer, and what the reader said of it."""

    def __init__(self, reader: FrameReader) -> None:
        ours, self.line = socket.socketpair()
        self.peer = Peer(ours, TICKET)
        self.frames: queue.Queue[Frame] = queue.Queue()
        self.ends: queue.Queue[Exception | None] = queue.Queue()
        reader.add(self.peer, self.take, self.ends.put)

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
    reader = FrameReader("reader-under-test")

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
        reader = FrameReader("reader-of-one")
        reader.add(peer, lambda frame: None, ends.put)
        assert ends.get(timeout=WAIT) is None
        reader.close()


def test_the_thread_ends_when_the_last_peer_has(others: list[Other]) -> None:
    reader = FrameReader("reader-that-ends")
    others.append(Other(reader))
    reader.close()
    others[0].line.send(encode(Exit(1), TICKET))
    assert others[0].frames.get(timeout=WAIT) == Exit(1)
    others[0].peer.close()
    wait_until(lambda: "reader-that-ends" not in {thread.name for thread in threading.enumerate()}, WAIT, "its end")


def test_closing_twice_is_closing_once(others: list[Other]) -> None:
    reader = FrameReader("closed-twice")
    others.append(Other(reader))
    others[0].peer.close()
    assert others[0].ends.get(timeout=WAIT) is None
    reader.close()
    wait_until(lambda: "closed-twice" not in {thread.name for thread in threading.enumerate()}, WAIT, "its end")
    reader.close()


def test_a_peer_that_comes_behind_the_end_has_ended(others: list[Other]) -> None:
    reader = FrameReader("over")
    reader.close()
    others.append(Other(reader))
    assert others[0].ends.get(timeout=WAIT) is None
    assert others[0].line.recv(1) == b""


def test_a_reader_without_peers_has_no_thread() -> None:
    before = threading.active_count()
    FrameReader("nobody").close()
    assert threading.active_count() == before
