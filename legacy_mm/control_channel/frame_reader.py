"""One thread that receives the frames of many peers, on either side of the control channel.

What it calls must return at once: it is called in this thread, and the frames of all other peers wait meanwhile.
"""

from __future__ import annotations

import selectors
import socket
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from legacy_mm.control_channel.frames import Frame

if TYPE_CHECKING:
    from legacy_mm.control_channel.channel import Peer

OnFrame = Callable[[Frame], None]
OnEnd = Callable[[Exception | None], None]


class _Watched(NamedTuple):
    """A peer, and whom to call."""

    peer: Peer
    on_frame: OnFrame
    on_end: OnEnd


class FrameReader:
    """Reads peers whose connection is plain TCP; its thread starts with the first one."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._selector = selectors.DefaultSelector()
        self._woken, self._waker = socket.socketpair()
        self._new: list[_Watched] = []
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False

    def add(self, peer: Peer, on_frame: OnFrame, on_end: OnEnd) -> None:
        """Call `on_frame` with each frame of this peer, then `on_end` once, with the error if one ended it."""
        with self._lock:
            self._new.append(_Watched(peer, on_frame, on_end))
            if self._thread is None:
                self._selector.register(self._woken, selectors.EVENT_READ)
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
        self._waker.send(b"x")

    def close(self) -> None:
        """End the thread once the last peer has ended; close the peers beforehand."""
        with self._lock:
            self._closed = True
            if self._thread is None:
                self._release()
                return
        self._waker.send(b"x")

    def _run(self) -> None:
        while not self._is_over():
            for key, _ in self._selector.select():
                if key.data is None:
                    self._take_new()
                else:
                    self._read(key)
        self._release()

    def _is_over(self) -> bool:
        with self._lock:
            return self._closed and not self._new and len(self._selector.get_map()) == 1

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
        self._selector.close()
        self._woken.close()
        self._waker.close()
