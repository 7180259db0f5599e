"""The partition that keeps a consumer group or a transactional id; its leader coordinates that."""

from __future__ import annotations

import struct

GROUPS, TRANSACTIONS = "__consumer_offsets", "__transaction_state"
_LOWEST = -1 << 31


def coordinator_partition(key: str, partitions: int) -> int:
    """Return the number of the partition, of so many, that keeps this group id or transactional id."""
    code = _java_hash(key)
    return 0 if code == _LOWEST else abs(code) % partitions


def _java_hash(text: str) -> int:
    """Return Java's `hashCode()` of a string, with its sign."""
    code = 0
    for (unit,) in struct.iter_unpack(">H", text.encode("utf-16-be")):
        code = (31 * code + unit) & 0xFFFFFFFF
    return code - (1 << 32) if code >> 31 else code
