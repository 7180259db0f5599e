"""Ports on loopback that stay ours. Rule: never from the range that the kernel gives to clients.

A broker that is restarted must find its port free. Ports of the ephemeral range may be taken by any
outgoing connection meanwhile, so we choose below it. Between our own processes a name in the
abstract socket space reserves a port; the kernel frees it when its owner dies.
"""

from __future__ import annotations

import random
import socket
from pathlib import Path

from legacy_mm.base.errors import HostError

LOOPBACK = "127.0.0.1"
LOWEST = 12_000
TRIES = 2_000


class Ports:
    """Reserved ports; `release()` gives them back."""

    def __init__(self) -> None:
        self._names: list[socket.socket] = []

    def reserve(self) -> int:
        """Reserve a port without a listener that no other testbed process has reserved."""
        random_source = random.SystemRandom()
        for _ in range(TRIES):
            port = random_source.randrange(LOWEST, _first_ephemeral())
            name = _claim(port)
            if name is None:
                continue
            if _is_free(port):
                self._names.append(name)
                return port
            name.close()
        raise HostError(f"no free port on {LOOPBACK} between {LOWEST} and {_first_ephemeral()}")

    def release(self) -> None:
        """Give all ports back."""
        while self._names:
            self._names.pop().close()


def _claim(port: int) -> socket.socket | None:
    name = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        name.bind(f"\0legacy_mm.testbed.port.{port}")
    except OSError:
        name.close()
        return None
    return name


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # TIME_WAIT does not count
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def _first_ephemeral() -> int:
    try:
        text = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii")
    except OSError:
        return 32_768
    return max(int(text.split()[0]), LOWEST + 4_000)
