"""Which partition keeps a group: what Java's hash makes of its id."""

from __future__ import annotations

import pytest

from legacy_mm.protocol.coordinator_partition import coordinator_partition

LOWEST = "polygenelubricants"
"""Its hash is the lowest number of all, which has no positive counterpart."""


@pytest.mark.parametrize(("key", "number"), [("mirror", 49), ("console-consumer-1", 24), ("", 0), (LOWEST, 0)])
def test_as_the_brokers_find_it(key: str, number: int) -> None:
    assert coordinator_partition(key, 50) == number
