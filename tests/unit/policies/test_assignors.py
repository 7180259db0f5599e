"""Who gets what, as Java's assignors have it (the examples of their documentation)."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from legacy_mm.base.model import TopicPartition
from legacy_mm.policies.assignors import ASSIGNORS, Subscriber, by_range, by_turns


def everything(*members: str) -> list[Subscriber]:
    return [Subscriber(member, None, {"t0", "t1"}) for member in members]


def names(share: list[TopicPartition]) -> str:
    return " ".join(f"{topic}p{partition}" for topic, partition in share)


def test_range() -> None:
    shared = by_range(everything("C1", "C0"), {"t0": 3, "t1": 3})
    assert {member: names(share) for member, share in shared.items()} == {
        "C0": "t0p0 t0p1 t1p0 t1p1",
        "C1": "t0p2 t1p2",
    }


def test_turns() -> None:
    shared = by_turns(everything("C1", "C0"), {"t0": 3, "t1": 3})
    assert {member: names(share) for member, share in shared.items()} == {
        "C0": "t0p0 t0p2 t1p1",
        "C1": "t0p1 t1p0 t1p2",
    }


def test_turns_where_members_want_different_topics() -> None:
    wanting = [Subscriber("C0", None, {"t0"}), Subscriber("C1", None, {"t0", "t1"})]
    shared = by_turns([*wanting, Subscriber("C2", None, {"t0", "t1", "t2"})], {"t0": 1, "t1": 2, "t2": 3})
    assert {member: names(share) for member, share in shared.items()} == {
        "C0": "t0p0",
        "C1": "t1p0",
        "C2": "t1p1 t2p0 t2p1 t2p2",
    }


def test_static_members_come_first_in_the_order_of_their_instances() -> None:
    members = [Subscriber("a", None, {"t"}), Subscriber("z", "1", {"t"}), Subscriber("b", "2", {"t"})]
    for assign in ASSIGNORS.values():
        shared = assign(members, {"t": 3})
        assert [names(shared[member]) for member in ("z", "b", "a")] == ["tp0", "tp1", "tp2"]


@given(
    wanted=st.lists(st.sets(st.sampled_from("abc")), max_size=5),
    counts=st.dictionaries(st.sampled_from("abcd"), st.integers(0, 7)),
)
def test_every_wanted_partition_is_somebodys_and_nobody_gets_what_he_did_not_ask_for(
    wanted: list[set[str]], counts: dict[str, int]
) -> None:
    members = [Subscriber(str(number), None, topics) for number, topics in enumerate(wanted)]
    for assign in ASSIGNORS.values():
        shared = assign(members, counts)
        assert shared.keys() == {each.member for each in members}
        assert all(partition.topic in each.topics for each in members for partition in shared[each.member])
        given_away = Counter(partition for share in shared.values() for partition in share)
        asked = {topic for topics in wanted for topic in topics}
        assert given_away == Counter(
            TopicPartition(topic, number) for topic in asked & counts.keys() for number in range(counts[topic])
        )
