"""The address that does not answer, asked by the kernel."""

from __future__ import annotations

import socket

import pytest

from compat.laboratory.black_hole import BlackHole


def test_nobody_is_connected_and_nobody_is_refused() -> None:
    with BlackHole("127.0.1.1") as hole:
        address = hole.address
        for _ in range(2):
            with pytest.raises(TimeoutError):
                socket.create_connection(address, timeout=0.2)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, timeout=0.2)
