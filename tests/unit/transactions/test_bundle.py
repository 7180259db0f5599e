"""The bundle of a source partition: a pure function of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from legacy_mm.base.model import TopicPartition
from legacy_mm.transactions.bundle import BUNDLES, bundle_of, by_bundle


def test_bundles_are_fixed_for_ever() -> None:
    """Another function would give a partition two owners during an upgrade: change neither it nor these numbers."""
    found = [bundle_of(TopicPartition(topic, number), 24) for topic in ("orders", "Zähler") for number in (0, 1, 30)]
    assert BUNDLES == 24
    assert found == [14, 15, 20, 1, 2, 7]


@given(st.text(max_size=9), st.integers(0, 5_000), st.integers(1, 30))
def test_neighbours_are_in_neighbouring_bundles(topic: str, number: int, bundles: int) -> None:
    one, next_one = (bundle_of(TopicPartition(topic, each), bundles) for each in (number, number + 1))
    assert 0 <= one < bundles
    assert next_one == (one + 1) % bundles


def test_partitions_come_by_their_bundles() -> None:
    orders = [TopicPartition("orders", number) for number in range(12)]
    assert by_bundle(reversed(orders), 4) == {number: orders[(number - 2) % 4 :: 4] for number in range(4)}
    assert by_bundle(orders[:1], 24) == {14: orders[:1]}
