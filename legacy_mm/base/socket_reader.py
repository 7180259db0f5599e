"""One thread that receives from many sockets: the control channels of a process, and the answers of its brokers.

What it calls must return at once: it is called in this thread, and all other sockets wait meanwhile.
"""

from __future__ import annotations

import selectors
import socket
import threading
from math import inf
from typing import NamedTuple, Protocol

from legacy_mm.base.clock import monotonic


class Readable(Protocol):
    """The owner of a socket. Both methods are called by the reader's thread only."""

    def take(self) -> bool:
        """Take what has come, without waiting; return False at the end. An error is an end, too."""

    def ended(self, error: Exception | None) -> None:
        """Take the socket back; `error` is what ended it, None where its end was in order."""


class _Lent(NamedTuple):
    """A socket that belongs to the reader until it has ended, and its owner."""

    connected: socket.socket
    owner: Readable


class SocketReader:
    """Receives from sockets; its thread lives as long as there is one."""

    def __init__(self, name: str, interval: float | None = None) -> None:
        """Create a reader; each owner is asked to `take` every so many seconds at least, even if nothing came."""
        self._name = name
        self._interval = interval
        self._new: list[_Lent] = []
        self._waker: socket.socket | None = None
        self._closed = False
        self._lock = threading.Lock()

    def add(self, connected: socket.socket, owner: Readable) -> None:
        """Receive from this socket until it has ended; a closed one has."""
        with self._lock:
            closed = self._closed
            if not closed:
                self._new.append(_Lent(connected, owner))
                self._wake()
        if closed:
            owner.ended(None)

    def close(self) -> None:
        """Take no more sockets. The others are read until they end: close them beforehand."""
        with self._lock:
            self._closed = True

    def _wake(self) -> None:
        """Wake or start the thread. Called under the lock."""
        if self._waker is None:
            woken, self._waker = socket.socketpair()
            threading.Thread(target=self._run, args=(woken,), name=self._name, daemon=True).start()
        else:
            self._waker.send(b"x")

    def _run(self, woken: socket.socket) -> None:
        look_at = self._next_look()
        with woken, selectors.DefaultSelector() as selector:
            woken_key = selector.register(woken, selectors.EVENT_READ)
            while self._goes_on(selector):
                keys = [key for key, _ in selector.select(self._interval)]
                if woken_key in keys:
                    woken.recv(4096)
                if monotonic() >= look_at:
                    look_at, keys = self._next_look(), list(selector.get_map().values())
                for key in keys:
                    if key is not woken_key:
                        self._read(selector, key.data)

    def _next_look(self) -> float:
        return monotonic() + (inf if self._interval is None else self._interval)

    def _goes_on(self, selector: selectors.BaseSelector) -> bool:
        """Take over new sockets; return False, and let the next one start another thread, once none is left."""
        while True:
            with self._lock:
                new, self._new = self._new, []
                if not new and len(selector.get_map()) > 1:
                    return True
                if not new:
                    assert self._waker is not None
                    self._waker.close()
                    self._waker = None
                    return False
            for lent in new:
                self._register(selector, lent)

    def _register(self, selector: selectors.BaseSelector, lent: _Lent) -> None:
        try:
            selector.register(lent.connected, selectors.EVENT_READ, lent)
        except (OSError, ValueError):  # closed meanwhile
            lent.owner.ended(None)

    def _read(self, selector: selectors.BaseSelector, lent: _Lent) -> None:
        goes_on, cause = False, None
        try:
            goes_on = lent.owner.take()
        except Exception as error:  # noqa: BLE001 - one socket's end must not be the others' end
            cause = error
        if not goes_on:
            selector.unregister(lent.connected)
            lent.owner.ended(cause)
