"""How much goes into one request."""

from __future__ import annotations

from legacy_mm.policies.changes import AddPartitions, CreateTopic
from legacy_mm.policies.chunks import chunks


def test_so_many_at_once() -> None:
    assert [len(some) for some in chunks(range(1_200))] == [500, 500, 200]
    assert list(chunks([])) == []


def test_a_controller_is_not_asked_for_too_many_records_at_once() -> None:
    """And what is large by itself goes alone, whatever the controller says to it."""
    sizes = [2_000, 2_000, 1_000, 1, 9_000, 5_000, 1]
    assert list(chunks(sizes, lambda size: size)) == [[2_000, 2_000, 1_000], [1], [9_000], [5_000], [1]]


def test_the_metadata_records_of_a_change() -> None:
    assert CreateTopic("t", 24, -1, {"cleanup.policy": "compact"}).metadata_records == 26
    assert AddPartitions("t", 4, 24).metadata_records == 20
