"""A TCP proxy for broken and distant networks. Rule: it delays and withholds, it never changes a byte.

One thread serves all connections. A delay is a delay line: a chunk read at t is written at t + delay,
so a round trip grows by twice the delay and the bandwidth stays. `stall()` stops reading and writing
and keeps connections open; `mute()` passes requests on and keeps the answers; `cut()` resets all connections.

As a process: `python -m compat.laboratory.proxy LISTEN_PORT TARGET_PORT --delay-ms 20`.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import queue
import selectors
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from compat.laboratory.ports import LOOPBACK
from legacy_mm.audit.spawn import die_with_parent

CHUNK = 256 * 1024
PENDING_MOST = 64 * 1024 * 1024  # per direction; then TCP itself holds the sender back
RESET = struct.pack("ii", 1, 0)
READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE


class _End:
    """One side of a connection: its socket, and what waits to be written to it."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.peer: _End = self
        self.waiting: collections.deque[tuple[float, memoryview]] = collections.deque()
        self.pending = 0
        self.finished = False  # nothing more will be read from this socket
        self.closing = False  # nothing more will come to be written
        self.near = False  # the client's side
        self.interest = 0


class Proxy:
    """Listens on loopback and passes bytes to a target port, in a thread of this process."""

    def __init__(self, target_port: int, *, host: str = LOOPBACK, listen_port: int = 0, delay_ms: float = 0.0) -> None:
        self.target = (LOOPBACK, target_port)
        self._delay = delay_ms / 1000
        self._stalled = self._muted = False
        self._ends: set[_End] = set()
        self._orders: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._selector = selectors.DefaultSelector()
        self._listener = socket.create_server((host, listen_port), backlog=256)
        self._listener.setblocking(False)
        self._wake_reader, self._wake_writer = socket.socketpair()
        self._wake_reader.setblocking(False)
        self._selector.register(self._listener, READ)
        self._selector.register(self._wake_reader, READ)
        self._open = True
        self._thread = threading.Thread(target=self._serve, name="testbed-proxy", daemon=True)
        self._thread.start()

    @property
    def address(self) -> tuple[str, int]:
        """Host and port to connect to."""
        host, port = self._listener.getsockname()
        return host, port

    def stall(self) -> None:
        """Pass nothing on from now; connections stay open, and new ones are accepted."""
        self._order(lambda: setattr(self, "_stalled", True))

    def mute(self) -> None:
        """Keep the answers from now on, and pass requests on; answers kept at a `cut` are lost."""
        self._order(lambda: setattr(self, "_muted", True))

    def resume(self) -> None:
        """Continue after `stall` or `mute`; nothing was lost."""

        def resume() -> None:
            self._stalled = self._muted = False

        self._order(resume)

    def delay(self, milliseconds: float) -> None:
        """Set another delay per direction, for bytes read from now on."""
        self._order(lambda: setattr(self, "_delay", milliseconds / 1000))

    def cut(self) -> int:
        """Reset all connections at once; how many there were."""
        count = 0

        def reset() -> None:
            nonlocal count
            count = len(self._ends) // 2
            for end in list(self._ends):
                self._reset(end)

        self._order(reset)
        return count

    def connections(self) -> int:
        """Return the number of open connections."""
        return len(self._ends) // 2

    def close(self) -> None:
        """Reset all connections and stop listening."""
        if self._open:
            self.cut()
            self._open = False
            self._wake_writer.send(b"x")
            self._thread.join()
            left = [end.socket for end in self._ends]  # sockets that came in meanwhile
            for each in (self._listener, self._wake_reader, self._wake_writer, *left):
                each.close()
            self._selector.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _order(self, action: Callable[[], None]) -> None:
        """Run `action` in the serving thread, and wait until it is done."""
        if not self._open:
            return
        done = threading.Event()

        def run() -> None:
            action()
            done.set()

        self._orders.put(run)
        self._wake_writer.send(b"x")
        done.wait()

    def _serve(self) -> None:
        while self._open:
            for key, events in self._selector.select(self._patience()):
                if key.fileobj is self._listener:
                    self._accept()
                elif key.fileobj is self._wake_reader:
                    self._wake_reader.recv(4096)
                    while not self._orders.empty():
                        self._orders.get()()
                elif not self._stalled and key.data in self._ends:
                    self._move(key.data, events)
            now = time.monotonic()
            for end in list(self._ends):
                self._watch(end, now)

    def _patience(self) -> float | None:
        """Return the seconds until the next delayed chunk is due; a chunk that is due already waits for its socket."""
        if self._stalled:
            return None
        ends = (end for end in self._ends if end.waiting and not end.interest & WRITE and not self._keeps(end))
        dues = [end.waiting[0][0] for end in ends]
        return max(0.0, min(dues) - time.monotonic()) if dues else None

    def _accept(self) -> None:
        with contextlib.suppress(BlockingIOError):
            near = _End(self._listener.accept()[0])
            far = _End(socket.socket())
            near.peer, far.peer, near.near = far, near, True
            for end in (near, far):
                end.socket.setblocking(False)
                end.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._ends.add(end)
            far.socket.connect_ex(self.target)  # a refusal shows at the first read

    def _move(self, end: _End, events: int) -> None:
        try:
            if events & READ and not end.finished:
                self._read(end)
            if events & WRITE:
                self._write(end)
        except BlockingIOError:
            pass
        except OSError:
            self._reset(end)

    def _read(self, end: _End) -> None:
        chunk = end.socket.recv(CHUNK)
        if not chunk:
            end.finished = end.peer.closing = True
            return
        end.peer.waiting.append((time.monotonic() + self._delay, memoryview(chunk)))
        end.peer.pending += len(chunk)
        if not self._delay:
            self._write(end.peer)

    def _write(self, end: _End) -> None:
        while end.waiting and end.waiting[0][0] <= time.monotonic() and not self._keeps(end):
            due, chunk = end.waiting.popleft()
            try:
                sent = end.socket.send(chunk)
            except (BlockingIOError, InterruptedError):
                end.waiting.appendleft((due, chunk))
                return
            end.pending -= sent
            if sent < len(chunk):
                end.waiting.appendleft((due, chunk[sent:]))
                return

    def _watch(self, end: _End, now: float) -> None:
        """Tell the selector what this end can do now; end what has nothing left to do."""
        if end not in self._ends:
            return
        if end.closing and not end.waiting:
            with contextlib.suppress(OSError):
                end.socket.shutdown(socket.SHUT_WR)
            if end.finished:
                self._forget(end)
                return
        interest = 0
        if not self._stalled:
            if not end.finished and end.peer.pending < PENDING_MOST:
                interest |= READ
            if end.waiting and end.waiting[0][0] <= now and not self._keeps(end):
                interest |= WRITE
        self._set_interest(end, interest)

    def _keeps(self, end: _End) -> bool:
        """Return True if bytes that wait for this end must not pass now."""
        return self._muted and end.near

    def _set_interest(self, end: _End, interest: int) -> None:
        if interest == end.interest:
            return
        if not end.interest:
            self._selector.register(end.socket, interest, end)
        elif not interest:
            self._selector.unregister(end.socket)
        else:
            self._selector.modify(end.socket, interest, end)
        end.interest = interest

    def _reset(self, end: _End) -> None:
        for each in (end, end.peer):
            if each in self._ends:
                with contextlib.suppress(OSError):
                    each.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                self._forget(each)

    def _forget(self, end: _End) -> None:
        if end in self._ends:
            self._set_interest(end, 0)
            self._ends.discard(end)
            end.socket.close()


def main() -> None:
    """Serve until a signal comes or the parent ends; says `ready` when it listens."""
    parser = argparse.ArgumentParser(prog="compat.laboratory.proxy")
    parser.add_argument("listen_port", type=int)
    parser.add_argument("target_port", type=int)
    parser.add_argument("--delay-ms", type=float, default=0.0)
    options = parser.parse_args()
    die_with_parent()
    # Before the thread exists, so that no thread takes the signals.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    with Proxy(options.target_port, listen_port=options.listen_port, delay_ms=options.delay_ms):
        print(f"ready on {LOOPBACK}:{options.listen_port}", flush=True)
        signal.sigwait({signal.SIGTERM, signal.SIGINT})


if __name__ == "__main__":
    main()
