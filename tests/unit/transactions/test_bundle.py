"""The bundle of a source partition: a pure function of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legacy_mm.base.model import TopicPartition
from legacy_mm.policies.topic_letters import why_no_topic
from legacy_mm.transactions.bundle import BUNDLES, FLOW, Bundle, FlowBundles, bundle_of, by_bundle


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


PLAIN = FlowBundles("mirror-1", "eu", "us")


def test_the_names_of_plain_words() -> None:
    topic = "legacy-mm-positions.mirror-1.eu.us.internal"
    assert PLAIN.positions_topic == topic
    assert PLAIN.bundle(7) == Bundle("legacy-mm.mirror-1.eu.us.7", TopicPartition(topic, 7))
    assert PLAIN.bundle(FLOW) == Bundle("legacy-mm.mirror-1.eu.us.flow", TopicPartition(topic, 0))


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("my_mirror", "source", "target"), "my-mirror.source.target.bef94bfc0ed4"),
        (("x" * 61, "a", "b"), f"{'x' * 60}.a.b.4b3ce967d8e0"),
        (("a.b", "c", "d"), "a-b.c.d.eddc50e79f97"),
        (("a", "b.c", "d"), "a.b-c.d.87dcf6678162"),
        (("Übung", "", "x" * 61), f"-bung..{'x' * 60}.b341ae69a61e"),
    ],
)
def test_the_names_of_other_words_are_fixed_for_ever(words: tuple[str, str, str], name: str) -> None:
    """Another name would be another transactional id, and the owner before would not be fenced."""
    assert FlowBundles(*words).name == name


WORDS = st.text("ab.-_>Ü/ ", max_size=4) | st.text(max_size=300)


@given(WORDS, WORDS)
def test_a_topic_can_have_the_name(group: str, source: str) -> None:
    assert why_no_topic(FlowBundles(group, source, source).positions_topic) == ""


@given(st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=2, max_size=9, unique=True))
def test_no_two_flows_share_a_name(flows: list[tuple[str, str, str]]) -> None:
    """Not even for brokers, to which dots and underscores are the same in metrics."""
    found = [FlowBundles(*each) for each in flows]
    assert len({each.positions_topic.replace(".", "_") for each in found}) == len(found)
    ids = {each.bundle(number).transactional_id for each in found for number in (FLOW, 0, 23)}
    assert len(ids) == 3 * len(found)
