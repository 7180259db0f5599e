"""An address that is silent: it accepts no connection and refuses none, as a host that is gone, or a firewall.

The kernel completes no connection to a listener whose backlog is full, and answers nothing.
"""

from __future__ import annotations

import contextlib
import select
import socket
from types import TracebackType
from typing import Self

from compat.laboratory.ports import LOOPBACK

PENDING = 3
FULL_TIMEOUT = 10.0


class BlackHole:
    """Listens on loopback, and never accepts."""

    def __init__(self, host: str = LOOPBACK, port: int = 0) -> None:
        self._listener = socket.socket()
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind((host, port))
        self._listener.listen(0)
        self._pending = [socket.socket() for _ in range(PENDING)]
        for each in self._pending:
            each.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                each.connect(self.address)
        select.select((), self._pending, (), FULL_TIMEOUT)  # one of them fills the backlog

    @property
    def address(self) -> tuple[str, int]:
        """Host and port that do not answer."""
        host, port = self._listener.getsockname()
        return host, port

    def close(self) -> None:
        """Refuse connections from now on."""
        for each in (*self._pending, self._listener):
            each.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
