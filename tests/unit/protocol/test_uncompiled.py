"""What stands for C where nothing is compiled."""

from __future__ import annotations

from legacy_mm.protocol import uncompiled


def test_bytes_are_copied_to_their_place_and_no_further() -> None:
    out = memoryview(bytearray(b"......"))
    uncompiled.copy_bytes(uncompiled.writable_start_of(out), 2, memoryview(b"abcdef"), 1, 4)
    assert bytes(out) == b"..bcd."


def test_bytes_that_are_read_stay_when_their_memory_changes() -> None:
    memory = bytearray(b"abcdef")
    found = uncompiled.bytes_at(uncompiled.start_of(memoryview(memory)), 1, 3)
    memory[1] = 0
    assert found == b"bc"
    assert not uncompiled.compiled
