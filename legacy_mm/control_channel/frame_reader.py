"""One thread that receives the frames of many peers, on either side of the control channel.

What it calls must return at once: it is called in this thread, and the frames of all other peers wait meanwhile.
"""

from __future__ import annotations

import selectors
import socket
import threading
from collections.abc import Callable
from typing import NamedTuple, Protocol

from legacy_mm.control_channel.frames import Frame

OnFrame = Callable[[Frame], None]
OnConnectionEnd = Callable[[Exception | None], None]


class Readable(Protocol):
    """A peer as its reader sees it."""

    def begin_watch(self) -> socket.socket:
        """Return the connection, which belongs to the reader until `end_watch`."""

    def take_frames(self) -> list[Frame] | None:
        """Return the frames that have come, without waiting; None when the other end closed or broke off."""

    def end_watch(self) -> None:
        """Close the connection."""


class _Watched(NamedTuple):
    """A peer, and whom to call."""

    peer: Readable
    on_frame: OnFrame
    on_end: OnConnectionEnd


class FrameReader:
    """Reads peers whose connection is plain TCP; its thread starts with the first one."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._selector = selectors.DefaultSelector()
        self._woken, self._waker = socket.socketpair()
        self._new: list[_Watched] = []
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = self._is_over = False

    def add(self, peer: Readable, on_frame: OnFrame, on_end: OnConnectionEnd) -> None:
        """Call `on_frame` with each frame of this peer, then `on_end` once, with the error if one ended it."""
        with self._lock:
            is_over = self._is_over
            if not is_over:
                self._new.append(_Watched(peer, on_frame, on_end))
                if self._thread is None:
                    self._selector.register(self._woken, selectors.EVENT_READ)
                    self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                    self._thread.start()
                self._waker.send(b"x")
        if is_over:
            peer.begin_watch()
            peer.end_watch()
            on_end(None)

    def close(self) -> None:
        """End the thread once the last peer has ended; close the peers beforehand."""
        with self._lock:
            self._closed = True
            if self._thread is None:
                self._release()
            elif not self._is_over:
                self._waker.send(b"x")

    def _run(self) -> None:
        while not self._ends():
            for key, _ in self._selector.select():
                if key.data is None:
                    self._take_new()
                else:
                    self._read(key)

    def _ends(self) -> bool:
        """Release everything and return True once the reader is closed and no peer is left."""
        with self._lock:
            if self._closed and not self._new and len(self._selector.get_map()) == 1:
                self._release()
            return self._is_over

    def _take_new(self) -> None:
        self._woken.recv(4096)
        with self._lock:
            new, self._new = self._new, []
        for watched in new:
            try:
                self._selector.register(watched.peer.begin_watch(), selectors.EVENT_READ, watched)
            except (OSError, ValueError):  # closed meanwhile
                watched.on_end(None)

    def _read(self, key: selectors.SelectorKey) -> None:
        watched: _Watched = key.data
        ended, cause = False, None
        try:
            frames = watched.peer.take_frames()
            for frame in frames or ():
                watched.on_frame(frame)
            ended = frames is None
        except Exception as error:  # noqa: BLE001 - one peer's end must not be the others' end
            ended, cause = True, error
        if ended:
            self._selector.unregister(key.fileobj)
            watched.peer.end_watch()
            watched.on_end(cause)

    def _release(self) -> None:
        self._is_over = True
        self._selector.close()
        self._woken.close()
        self._waker.close()
