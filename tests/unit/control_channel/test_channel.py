"""The control channel against friends, strangers and the silent. Real sockets on loopback."""

from __future__ import annotations

import queue
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from legacy_mm.audit.waiting import wait_until
from legacy_mm.config import property_names
from legacy_mm.control_channel.certificate import channel_identity
from legacy_mm.control_channel.channel import ChannelServer, Peer, present
from legacy_mm.control_channel.frames import LENGTH, Frame, Hello, Lease, Progress, Stop, TaskConfig, Ticket
from legacy_mm.errors import ChannelError
from legacy_mm.model import TopicPartition

CONFIG = TaskConfig(
    {TopicPartition("t", 0): 1},
    {},
    property_names.read_consumer({"sasl.password": "geheim"}),
    property_names.read_producer({}),
    5.0,
    60.0,
    True,
    False,
    False,
)
WAIT = 20


class Holder:
    """A copy job that hands its task config out once."""

    def __init__(self, ticket: Ticket) -> None:
        self.ticket = ticket
        self.peer: Peer | None = None
        self.frames: queue.Queue[Frame] = queue.Queue()
        self.gone = threading.Event()
        self.looked_after = True

    def admit(self, peer: Peer, hello: Hello) -> TaskConfig | None:
        if self.peer is not None:
            return None
        self.peer = peer
        return CONFIG

    def received(self, frame: Frame) -> None:
        self.frames.put(frame)

    def closed(self) -> None:
        self.gone.set()

    def attended(self) -> bool:
        return self.looked_after


@pytest.fixture
def server() -> Iterator[ChannelServer]:
    server = ChannelServer("127.0.0.1")
    yield server
    server.close()


@pytest.fixture
def task(holder: Holder) -> Iterator[Peer]:
    """The task's end of a proven channel."""
    peer, config = present(holder.ticket, TaskConfig)
    assert config == CONFIG
    yield peer
    peer.close()


@pytest.fixture
def holder(server: ChannelServer) -> Holder:
    holder = Holder(server.new_ticket("a->b", 0, 1))
    server.expect(holder)
    return holder


def test_the_config_comes_once_and_frames_flow_both_ways(holder: Holder, task: Peer) -> None:
    task.send(Progress({}, 3, {}, False))
    assert holder.frames.get(timeout=WAIT) == Progress({}, 3, {}, False)
    assert holder.peer is not None
    holder.peer.send(Stop(2.0))
    heard = task.receive()
    while isinstance(heard, Lease):
        heard = task.receive()
    assert heard == Stop(2.0)
    with pytest.raises(ChannelError, match="used before"):
        present(holder.ticket, TaskConfig)


def test_the_lease_is_renewed_without_being_asked(task: Peer) -> None:
    assert isinstance(task.receive(), Lease)


def test_a_task_that_nobody_looks_after_loses_its_lease(server: ChannelServer, holder: Holder, task: Peer) -> None:
    forgotten = Holder(server.new_ticket("a->b", 1, 1))
    forgotten.looked_after = False
    server.expect(forgotten)
    peer, _ = present(forgotten.ticket, TaskConfig)
    assert isinstance(task.receive(), Lease)
    assert isinstance(task.receive(), Lease)
    assert forgotten.peer is not None
    forgotten.peer.send(Stop(2.0))
    assert peer.receive() == Stop(2.0)
    peer.close()


def test_each_end_notices_when_the_other_is_gone(holder: Holder, task: Peer) -> None:
    task.close()
    assert holder.gone.wait(WAIT)


def test_a_task_that_is_gone_before_its_config_comes_is_told_as_closed(
    holder: Holder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was admitted, so its stream waits for its end."""

    def fail(peer: Peer, frame: Frame) -> None:
        raise ChannelError("control channel closed")

    monkeypatch.setattr(Peer, "send", fail)
    with pytest.raises(ChannelError):
        present(holder.ticket, TaskConfig)
    assert holder.peer is not None
    assert holder.gone.wait(WAIT)


def test_a_wrong_key_gets_nothing_and_spoils_nothing(holder: Holder) -> None:
    with pytest.raises(ChannelError, match="wrong proof"):
        present(replace(holder.ticket, key=b"guess"), TaskConfig)
    peer, _ = present(holder.ticket, TaskConfig)
    peer.close()


def test_a_task_whose_job_was_given_up_gets_nothing_and_alarms_nobody(
    server: ChannelServer, holder: Holder, caplog: pytest.LogCaptureFixture
) -> None:
    """The group rebalanced while its worker started, as with `--num.streams 2` on a busy host."""
    caplog.set_level("INFO", "legacy_mm")
    server.forget(holder)
    with pytest.raises(ChannelError, match="given up"):
        present(holder.ticket, TaskConfig)
    wait_until(lambda: caplog.records, WAIT, "a line")
    with pytest.raises(ChannelError, match="wrong proof"):
        present(replace(holder.ticket, key=b"guess"), TaskConfig)
    wait_until(lambda: len(caplog.records) == 2, WAIT, "another line")
    assert [record.levelname for record in caplog.records] == ["INFO", "WARNING"]


def test_silent_and_flooding_strangers_hold_nobody_up(server: ChannelServer, holder: Holder) -> None:
    """A port scanner that says nothing, and one that sends a huge length, must not keep a task waiting."""
    silent = [socket.create_connection((server.host, server.port)) for _ in range(20)]
    flood = socket.create_connection((server.host, server.port))
    flood.sendall(LENGTH.pack(0xFFFFFFFF) + b"x" * 1000)
    nonsense = socket.create_connection((server.host, server.port))
    nonsense.sendall(LENGTH.pack(4) + b"\x80\x04N.")
    peer, config = present(holder.ticket, TaskConfig)
    assert config == CONFIG
    for stranger in (*silent, flood, nonsense):
        stranger.close()
    peer.close()


@pytest.mark.parametrize(
    ("sent", "level"),
    [
        pytest.param(b"", "DEBUG", id="nothing"),
        pytest.param(LENGTH.pack(4)[:2], "WARNING", id="half of a length"),
        pytest.param(LENGTH.pack(4) + b"{}", "WARNING", id="half of a frame"),
        pytest.param(LENGTH.pack(4) + b"\x80\x04N.", "WARNING", id="nonsense"),
    ],
)
def test_a_task_that_died_before_it_spoke_alarms_nobody(
    server: ChannelServer, caplog: pytest.LogCaptureFixture, sent: bytes, level: str
) -> None:
    """Its worker was killed, as in a rebalance; who sends something else is a stranger."""
    caplog.set_level("DEBUG", "legacy_mm")
    with socket.create_connection((server.host, server.port)) as dying:
        dying.sendall(sent)
    wait_until(lambda: caplog.records, WAIT, "a line")
    assert [record.levelname for record in caplog.records] == [level]


def test_over_tls_only_the_run_s_own_certificate_is_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    address, tls, certificate = channel_identity(embedded=False)
    _, _, foreign = channel_identity(embedded=False)
    server = ChannelServer(address, tls, certificate)
    try:
        holder = Holder(server.new_ticket("a->b", 0, 1))
        server.expect(holder)
        with pytest.raises(OSError, match="(?i)certificate"):
            present(replace(holder.ticket, certificate=foreign), TaskConfig)
        peer, config = present(holder.ticket, TaskConfig)
        assert config == CONFIG
        peer.close()
    finally:
        server.close()
