"""The control channel against friends, strangers and the silent. Real sockets on loopback."""

from __future__ import annotations

import hmac
import os
import queue
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import pytest

from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.errors import ChannelError
from legacy_mm.base.model import TopicPartition
from legacy_mm.base.reports import Frame, Progress
from legacy_mm.base.socket_reader import SocketReader
from legacy_mm.runtime.channel import beat, channel
from legacy_mm.runtime.channel.certificate import channel_identity
from legacy_mm.runtime.channel.channel import ChannelServer, Peer, present, process_start
from legacy_mm.runtime.channel.frames import (
    LENGTH,
    VERSION,
    Challenge,
    Hello,
    Lease,
    Stop,
    TaskConfig,
    Ticket,
    TicketRefused,
    decode,
    encode,
)
from tests.fixtures import client_settings

CONFIG = TaskConfig(
    {TopicPartition("t", 0): 1},
    {},
    client_settings.read_consumer({"sasl.password": "geheim"}),
    client_settings.read_producer({}),
    5.0,
    60.0,
    True,
    False,
    False,
)
WAIT = 20
MOMENT = 0.2
MUCH = "x" * (16 << 20)
"""More than the sockets of both ends hold."""


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


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beats follow each other quickly, yet farther apart than what is over in a moment."""
    monkeypatch.setattr(beat, "BEAT_INTERVAL", 2 * MOMENT)


@pytest.fixture
def server() -> Iterator[ChannelServer]:
    server = ChannelServer("127.0.0.1")
    yield server
    server.close()


@pytest.fixture
def encrypted(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChannelServer]:
    """A server over TLS."""
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    server = ChannelServer(*channel_identity(embedded=False))
    yield server
    server.close()


def stranger(server: ChannelServer) -> socket.socket:
    """A connection without a ticket."""
    return socket.create_connection((server.host, server.port), timeout=WAIT)


def heard(connection: socket.socket) -> Frame:
    """The next frame."""
    data = b""
    while len(data) < LENGTH.size or len(data) < LENGTH.size + LENGTH.unpack_from(data)[0]:
        data += (byte := connection.recv(1))
        assert byte, "the connection is closed"
    return decode(data[LENGTH.size :])


def in_background(call: Callable[[], object]) -> queue.Queue[Exception | None]:
    """Call it in a thread; its end, and the error, if there was one."""
    ends: queue.Queue[Exception | None] = queue.Queue()

    def run() -> None:
        try:
            call()
        except ChannelError as error:
            ends.put(error)
        else:
            ends.put(None)

    threading.Thread(target=run, daemon=True).start()
    return ends


@pytest.fixture
def task(holder: Holder) -> Iterator[Peer]:
    """The task's end of a proven channel."""
    peer, config = present(holder.ticket, TaskConfig)
    assert config == CONFIG
    yield peer
    peer.close()


def expected_by(server: ChannelServer, stream: int = 0) -> Holder:
    """A copy job whose task may come."""
    made = Holder(server.new_ticket("a->b", stream, 1))
    server.expect(made)
    return made


@pytest.fixture
def holder(server: ChannelServer) -> Holder:
    return expected_by(server)


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


def test_a_task_that_is_gone_takes_no_other_one_its_lease(
    server: ChannelServer, holder: Holder, task: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(frame: Frame) -> None:
        raise ChannelError("control channel closed")

    assert holder.peer is not None
    monkeypatch.setattr(holder.peer, "send", fail)
    peer, _ = present(expected_by(server, 1).ticket, TaskConfig)
    frames: queue.Queue[Frame] = queue.Queue()
    peer.watch(SocketReader("task"), frames.put, lambda error: None)
    assert frames.get(timeout=WAIT) == Lease()
    peer.close()


def test_a_task_that_nobody_looks_after_loses_its_lease(server: ChannelServer, holder: Holder, task: Peer) -> None:
    forgotten = expected_by(server, 1)
    forgotten.looked_after = False
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


def test_a_wrong_key_gets_nothing_and_spoils_nothing(server: ChannelServer, holder: Holder) -> None:
    for key in (b"guess", server.new_ticket("a->b", 1, 1).key):
        with pytest.raises(ChannelError, match="wrong proof"):
            present(replace(holder.ticket, key=key), TaskConfig)
    peer, _ = present(holder.ticket, TaskConfig)
    peer.close()


def test_a_proof_is_good_for_the_connection_that_it_was_made_for(server: ChannelServer, holder: Holder) -> None:
    """Whoever has listened to it cannot use it."""
    with stranger(server) as one, stranger(server) as other:
        challenge = heard(one)
        assert isinstance(challenge, Challenge)
        proof = hmac.new(holder.ticket.key, challenge.nonce.encode(), "sha256").hexdigest()
        hello = encode(Hello(holder.ticket.number, proof, 1, 1, "host"))
        assert heard(other) != challenge
        other.sendall(hello)
        assert isinstance(heard(other), TicketRefused)
        one.sendall(hello)
        assert heard(one) == CONFIG


def test_a_task_of_another_version_gets_nothing(holder: Holder, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a node that still has the files of the release before."""
    monkeypatch.setattr(channel, "VERSION", VERSION + 1)
    with pytest.raises(ChannelError, match="other version"):
        present(holder.ticket, TaskConfig)


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


def test_a_stranger_who_says_nothing_is_left(server: ChannelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel, "_PROOF_TIMEOUT", MOMENT)
    with stranger(server) as silent:
        assert isinstance(heard(silent), Challenge)
        assert silent.recv(1) == b""


def test_a_stranger_s_large_frame_is_not_waited_for(server: ChannelServer, caplog: pytest.LogCaptureFixture) -> None:
    with stranger(server) as flood:
        flood.sendall(LENGTH.pack(5000))
        wait_until(lambda: caplog.messages, WAIT, "a line")
    assert "frame of 5000 bytes" in caplog.messages[0]


@pytest.mark.parametrize("kind", ["server", "encrypted"])
def test_a_frozen_task_blocks_no_sender_and_counts_as_gone(
    kind: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel, "_SEND_TIMEOUT", MOMENT)
    holder = expected_by(request.getfixturevalue(kind))
    frozen, _ = present(holder.ticket, TaskConfig)
    peer = holder.peer
    assert peer is not None
    assert isinstance(in_background(partial(peer.send, TicketRefused(MUCH))).get(timeout=WAIT), ChannelError)
    assert holder.gone.wait(WAIT)
    frozen.close()


def test_over_tls_silence_ends_nothing(encrypted: ChannelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """TLS has one limit for both directions, and here it is shorter than a beat."""
    monkeypatch.setattr(channel, "_SEND_TIMEOUT", MOMENT)
    holder = expected_by(encrypted)
    peer, _ = present(holder.ticket, TaskConfig)
    assert peer.receive() == Lease()
    assert not holder.gone.is_set()
    peer.close()


def test_frames_that_two_threads_send_arrive_whole(holder: Holder, task: Peer) -> None:
    peer, sent = holder.peer, [TicketRefused(MUCH), TicketRefused(MUCH.replace("x", "y"))]
    assert peer is not None
    ends = [in_background(partial(peer.send, frame)) for frame in sent]
    frames: list[Frame | None] = []
    while len(frames) < len(sent):
        if (frame := task.receive()) != Lease():
            frames.append(frame)
    assert frames in (sent, sent[::-1])
    assert [end.get(timeout=WAIT) for end in ends] == [None, None]


def test_a_process_id_that_was_used_again_is_told_by_the_start() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as later:
        ours, theirs = process_start(os.getpid()), process_start(later.pid)
    assert ours is not None
    assert theirs is not None
    assert ours < theirs


def test_a_process_that_has_ended_has_no_start_though_nobody_has_asked_for_its_end() -> None:
    with subprocess.Popen(["true"]) as zombie:
        os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
        assert process_start(zombie.pid) is None


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


def test_over_tls_only_the_run_s_own_certificate_is_trusted(encrypted: ChannelServer) -> None:
    _, _, foreign = channel_identity(embedded=False)
    holder = expected_by(encrypted)
    with pytest.raises(OSError, match="(?i)certificate"):
        present(replace(holder.ticket, certificate=foreign), TaskConfig)
    peer, config = present(holder.ticket, TaskConfig)
    assert config == CONFIG
    peer.close()
