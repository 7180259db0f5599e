"""The control channel: frames between the driver and its copy tasks, over TCP, or TLS where it leaves the host.

The acceptor only accepts. Each peer gets a thread and 5 s to prove its ticket by HMAC-SHA256 over a nonce. Afterwards
one thread reads all peers; one behind TLS keeps its own. A ticket is good for one peer; every further holder is
refused. Keys come from one secret, so that the task of a job which was given up before it came is told from a stranger.
Imports no pyspark: the task side runs it too.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import socket
import ssl
import struct
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Protocol, TypeVar

from legacy_mm.base.errors import ChannelError
from legacy_mm.base.reports import Frame
from legacy_mm.base.socket_reader import SocketReader
from legacy_mm.logs import events
from legacy_mm.runtime.channel.beat import Beat
from legacy_mm.runtime.channel.frames import (
    LENGTH,
    MAX_FRAME,
    VERSION,
    Challenge,
    Hello,
    Lease,
    Ticket,
    TicketRefused,
    decode,
    encode,
)

_PROOF_TIMEOUT = 5.0
_SEND_TIMEOUT = 5.0
_TIMEVAL = struct.Struct("@ll")
_MICROSECONDS = 1_000_000
_HELLO_BYTES = 4096
_BACKLOG = 128
_CHUNK = 64 << 10
FirstFrame = TypeVar("FirstFrame", bound=Frame)
OnFrame = Callable[[Frame], None]
OnConnectionEnd = Callable[[Exception | None], None]
"""Is given the error, if one ended the connection."""


class _TooLate(ChannelError):
    """The ticket is ours, and its job was given up: the group rebalanced, or the mirror stops."""


class _NeverSpoke(ChannelError):
    """The other end is gone and has sent nothing: a task that died. A stranger who says nothing does no harm."""


class Peer:
    """One end of a proven connection: send frames from any thread, receive them from one."""

    def __init__(self, connection: socket.socket, ticket: Ticket) -> None:
        self._connection = connection
        self._ticket = ticket
        self._sending = threading.Lock()
        self._unread = bytearray()
        self._watched = False
        self._owning = threading.Lock()

    def send(self, frame: Frame) -> None:
        """Send one frame; raises ChannelError when the peer is gone or takes nothing for 5 s."""
        data = encode(frame, self._ticket)
        try:
            with self._sending:
                self._connection.sendall(data)
        except OSError as error:
            self.close()
            raise ChannelError(f"control channel closed: {error}") from error

    def receive(self) -> Frame | None:
        """Receive the next frame; None when the other end closed or broke off."""
        text = _read_frame(self._connection, MAX_FRAME, patient=True)
        return decode(text, self._ticket) if text else None

    def close(self) -> None:
        """Close both directions at once, which wakes a thread that is receiving."""
        with suppress(OSError):
            # not the method of SSLSocket, after which a sender would go on without encryption
            socket.socket.shutdown(self._connection, socket.SHUT_RDWR)
        with self._owning:
            if not self._watched:
                self._connection.close()

    def watch(self, reader: SocketReader, on_frame: OnFrame, on_end: OnConnectionEnd) -> None:
        """Let the reader receive the frames; behind TLS, receive them here, and return at the end.

        Call `on_frame` with each frame, then `on_end` once.
        """
        if not isinstance(self._connection, ssl.SSLSocket):
            with self._owning:
                self._watched = True
            reader.add(self._connection, _WatchedPeer(self, on_frame, on_end))
            return
        cause = None
        try:
            while (frame := self.receive()) is not None:
                on_frame(frame)
        except (OSError, ChannelError) as error:
            cause = error
        self.close()
        on_end(cause)

    def take_frames(self) -> list[Frame] | None:
        """Return the frames that have come, without waiting; None when the other end closed or broke off."""
        try:
            data = self._connection.recv(_CHUNK, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return []
        except OSError:
            return None
        if not data:
            return None
        self._unread += data
        frames = []
        while (text := _cut_frame(self._unread)) is not None:
            frames.append(decode(text, self._ticket))
        return frames

    def end_watch(self) -> None:
        """Close the connection, which is watched no more."""
        self._connection.close()


class _WatchedPeer:
    """A peer that the reader's thread receives from."""

    def __init__(self, peer: Peer, on_frame: OnFrame, on_end: OnConnectionEnd) -> None:
        self._peer = peer
        self._on_frame = on_frame
        self._on_end = on_end

    def take(self) -> bool:
        """Pass the frames on that have come."""
        frames = self._peer.take_frames()
        for frame in frames or ():
            self._on_frame(frame)
        return frames is not None

    def ended(self, error: Exception | None) -> None:
        """Close the connection and tell its end."""
        self._peer.end_watch()
        self._on_end(error)


class TicketHolder(Protocol):
    """The driver's side of one copy job, called from the peer's thread."""

    ticket: Ticket

    def admit(self, peer: Peer, hello: Hello) -> Frame | None:
        """Return the task's first frame, such as its config; None refuses."""

    def received(self, frame: Frame) -> None:
        """Handle a frame of the admitted task."""

    def closed(self) -> None:
        """Handle the end of the admitted task's channel."""

    def attended(self) -> bool:
        """Return True if the task is attended, and its lease is to be renewed. Called by another thread."""


class ChannelServer:
    """Listens for copy tasks; one per process."""

    def __init__(self, host: str, tls: ssl.SSLContext | None = None, certificate: str = "") -> None:
        self._tls = tls
        self._certificate = certificate
        self._holders: dict[int, TicketHolder] = {}
        self._peers: dict[Peer, TicketHolder] = {}
        self._numbers = 0
        self._secret = secrets.token_bytes(32)
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._reader = SocketReader("channel-peers")
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.create_server((host, 0), family=family, backlog=_BACKLOG)
        self.host = host
        self.port: int = self._listener.getsockname()[1]
        self.beat = Beat()
        threading.Thread(target=self._accept, name="channel-acceptor", daemon=True).start()
        threading.Thread(target=self._renew_leases, name="channel-beat", daemon=True).start()

    def new_ticket(self, flow: str, stream: int, generation: int) -> Ticket:
        """Create a ticket with a number and a key of its own."""
        with self._lock:
            self._numbers += 1
            number = self._numbers
        return Ticket(self.host, self.port, self._key(number), self._certificate, flow, stream, generation, number)

    def _key(self, number: int) -> bytes:
        return hmac.digest(self._secret, str(number).encode(), hashlib.sha256)

    def expect(self, holder: TicketHolder) -> None:
        """Accept the holder's ticket from now on."""
        with self._lock:
            self._holders[holder.ticket.number] = holder

    def forget(self, holder: TicketHolder) -> None:
        """Refuse the holder's ticket from now on."""
        with self._lock:
            self._holders.pop(holder.ticket.number, None)

    def close(self) -> None:
        """Close the listener and every peer."""
        self._closed.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for peer in self._snapshot():
            peer.close()
        self._reader.close()

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                connection, address = self._listener.accept()
            except OSError:
                if self._closed.wait(0.1):
                    return
                continue
            name = f"channel-peer-{address[1]}"
            threading.Thread(target=self._serve, args=(connection, address), name=name, daemon=True).start()

    def _serve(self, connection: socket.socket, address: tuple[str, int]) -> None:
        with ExitStack() as unless_proven:
            unless_proven.callback(connection.close)
            try:
                connection.settimeout(_PROOF_TIMEOUT)
                if self._tls is not None:
                    connection = self._tls.wrap_socket(connection, server_side=True)
                    unless_proven.callback(connection.close)
                holder, peer = self._prove(connection)
            except _TooLate:
                events.emit(events.PEER_TOO_LATE, peer=f"{address[0]}:{address[1]}")
                return
            except _NeverSpoke:
                events.emit(events.PEER_NEVER_SPOKE, peer=f"{address[0]}:{address[1]}")
                return
            except (OSError, ChannelError) as error:
                events.emit(events.PEER_REFUSED, peer=f"{address[0]}:{address[1]}", reason=error)
                return
            unless_proven.pop_all()
        with self._lock:
            self._peers[peer] = holder

        def ended(error: Exception | None) -> None:
            if error is not None:
                events.emit(events.PEER_REFUSED, peer=f"{address[0]}:{address[1]}", reason=error)
            with self._lock:
                del self._peers[peer]
            holder.closed()

        peer.watch(self._reader, holder.received, ended)

    def _prove(self, connection: socket.socket) -> tuple[TicketHolder, Peer]:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        nonce = secrets.token_hex(32)
        connection.sendall(encode(Challenge(nonce)))
        text = _read_frame(connection, _HELLO_BYTES)
        if text is None:
            raise _NeverSpoke("gone without a word")
        hello = decode(text) if text else None
        if not isinstance(hello, Hello):
            raise ChannelError("no Hello")
        if hello.version != VERSION or not _proves(hello, self._key(hello.number), nonce):
            raise _refused(connection, ChannelError("unknown ticket, wrong proof or other version"))
        with self._lock:
            holder = self._holders.get(hello.number)
        if holder is None:
            raise _refused(connection, _TooLate("the copy job was given up"))
        peer = Peer(connection, holder.ticket)
        answer = holder.admit(peer, hello)
        if answer is None:
            raise _refused(connection, ChannelError("the ticket was used before"))
        with ExitStack() as unless_sent:
            unless_sent.callback(holder.closed)
            peer.send(answer)
            _limit_sends(connection)
            unless_sent.pop_all()
        return holder, peer

    def _renew_leases(self) -> None:
        while not self.beat.rest(self._closed):
            for peer, holder in self._snapshot().items():
                if holder.attended():
                    with suppress(ChannelError):
                        peer.send(Lease())

    def _snapshot(self) -> dict[Peer, TicketHolder]:
        with self._lock:
            return dict(self._peers)


def _refused(connection: socket.socket, error: ChannelError) -> ChannelError:
    with suppress(OSError):
        connection.sendall(encode(TicketRefused(str(error))))
    return error


def present(ticket: Ticket, *kinds: type[FirstFrame]) -> tuple[Peer, FirstFrame]:
    """Connect from the task, prove the ticket, and return the answer to it, of one of these kinds.

    Raise ChannelError when refused.
    """
    with ExitStack() as unless_proven:
        connection = socket.create_connection((ticket.host, ticket.port), timeout=_PROOF_TIMEOUT)
        unless_proven.callback(connection.close)
        if ticket.certificate:
            context = ssl.create_default_context(cadata=ticket.certificate)
            context.check_hostname = False
            connection = context.wrap_socket(connection)
            unless_proven.callback(connection.close)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        answer = _exchange_ticket(connection, ticket, *kinds)
        _limit_sends(connection)
        unless_proven.pop_all()
    return Peer(connection, ticket), answer


def _exchange_ticket(connection: socket.socket, ticket: Ticket, *kinds: type[FirstFrame]) -> FirstFrame:
    challenge = decode(_read_frame(connection, _HELLO_BYTES) or b"")
    if not isinstance(challenge, Challenge):
        raise ChannelError("no challenge")
    pid = os.getpid()
    proof = _proof(ticket.key, challenge.nonce)
    connection.sendall(encode(Hello(ticket.number, proof, pid, process_start(pid) or 0, socket.gethostname())))
    answer = decode(_read_frame(connection, MAX_FRAME) or b"")
    if not isinstance(answer, kinds):
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise ChannelError(answer.reason if isinstance(answer, TicketRefused) else f"no {wanted}")
    return answer


def process_start(pid: int) -> int | None:
    """Start time of a live process in clock ticks since boot; None when it is gone or a zombie (Linux)."""
    try:
        words = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    return None if words[0] in (b"Z", b"X") else int(words[19])


def _limit_sends(connection: socket.socket) -> None:
    """Let sending give up after 5 s, so that a frozen peer blocks no sender; receiving has no limit.

    TLS goes on where the kernel's limit ends a send. It has Python's, which is for both directions: `_read` waits on.
    """
    if isinstance(connection, ssl.SSLSocket):
        connection.settimeout(_SEND_TIMEOUT)
    else:
        connection.settimeout(None)
        limit = _TIMEVAL.pack(*divmod(round(_SEND_TIMEOUT * _MICROSECONDS), _MICROSECONDS))
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)


def _proof(key: bytes, nonce: str) -> str:
    return hmac.new(key, nonce.encode(), hashlib.sha256).hexdigest()


def _proves(hello: Hello, key: bytes, nonce: str) -> bool:
    return hmac.compare_digest(hello.proof.encode(), _proof(key, nonce).encode())


def _cut_frame(unread: bytearray) -> bytes | None:
    """Cut the first frame off; None while it is not whole."""
    if len(unread) < LENGTH.size:
        return None
    (size,) = LENGTH.unpack_from(unread)
    if size > MAX_FRAME:
        raise ChannelError(f"frame of {size} bytes")
    end = LENGTH.size + size
    if len(unread) < end:
        return None
    text = bytes(unread[LENGTH.size : end])
    del unread[:end]
    return text


def _read_frame(connection: socket.socket, limit: int, *, patient: bool = False) -> bytes | None:
    """Return the next frame's text. None: the other end closed before it began, empty: it broke off in the middle.

    `patient`: wait for it, whatever the connection's limit is.
    """
    head = _read(connection, LENGTH.size, patient=patient)
    if len(head) < LENGTH.size:
        return b"" if head else None
    (size,) = LENGTH.unpack(head)
    if not 0 < size <= limit:
        raise ChannelError(f"frame of {size} bytes")
    text = _read(connection, size, patient=patient)
    return text if len(text) == size else b""


def _read(connection: socket.socket, size: int, *, patient: bool) -> bytes:
    """Return so many bytes, less where the other end closed or broke off."""
    data = bytearray()
    while len(data) < size:
        try:
            chunk = connection.recv(size - len(data))
        except (ConnectionError, ssl.SSLError, OSError) as error:
            if isinstance(error, TimeoutError):
                if patient and error.errno is None:  # else it is the kernel's: the other end is gone
                    continue
                raise
            break
        if not chunk:
            break
        data += chunk
    return bytes(data)
