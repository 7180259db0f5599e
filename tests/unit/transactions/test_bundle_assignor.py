"""Whole bundles, each exactly once, evenly, and as few moves as that allows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.group.sharing import BUNDLES_PROTOCOL as PROTOCOL
from legacy_mm.policies.assignors import ASSIGNORS
from legacy_mm.transactions.bundle import BUNDLES, bundle_of
from legacy_mm.transactions.bundle_assignor import BundleSubscriber, SharedOut, share_out

NOTHING: frozenset[int] = frozenset()
JAVA = {"range", "roundrobin", "sticky", "cooperative-sticky", "uniform"}
FULL = {"t": 10 * BUNDLES}
"""Ten partitions in each bundle."""


def member(name: str, held=NOTHING, generation: int = -1, topics: Iterable[str] = "t") -> BundleSubscriber:
    return BundleSubscriber(name, frozenset(topics), generation, frozenset(held))


def again(before: SharedOut, *names: str, topics: str = "t") -> list[BundleSubscriber]:
    """These members in the next generation, with what they have."""
    return [member(name, before.bundles.get(name, ()), 1 if name in before.bundles else -1, topics) for name in names]


def moved(before: SharedOut, after: SharedOut) -> set[int]:
    """Bundles that a member had before and another one has now."""
    owners = {bundle: name for name, bundles in before.bundles.items() for bundle in bundles}
    return {bundle for name, bundles in after.bundles.items() for bundle in bundles if owners.get(bundle) != name}


def test_no_other_client_has_the_protocol() -> None:
    """So the coordinator refuses a legacy instance: JoinGroup wants a protocol that all members have."""
    assert PROTOCOL == "legacy-mm-bundles"
    assert PROTOCOL not in JAVA | ASSIGNORS.keys()


def test_two_members_share_the_bundles() -> None:
    shared = share_out([member("b"), member("a")], {"t": 6}, 4)
    assert shared.bundles == {"a": (0, 2), "b": (1, 3)}
    assert shared.partitions == {
        "a": [TopicPartition("t", number) for number in (0, 4, 2)],
        "b": [TopicPartition("t", number) for number in (1, 5, 3)],
    }
    assert shared.left_out == frozenset()


def test_a_topic_that_not_all_want_waits() -> None:
    shared = share_out([member("a", topics="xy"), member("b", topics="yz")], {"x": 3, "y": 3, "z": 3}, 24)
    assert shared.left_out == {"x", "z"}
    assert {each.topic for share in shared.partitions.values() for each in share} == {"y"}


def test_more_members_than_bundles_leave_some_without_work() -> None:
    shared = share_out([member(str(number)) for number in range(30)], FULL, BUNDLES)
    assert Counter(map(len, shared.bundles.values())) == {1: 24, 0: 6}


def test_nobody_and_nothing() -> None:
    assert share_out([], FULL, BUNDLES) == SharedOut({}, {}, frozenset())
    assert share_out([member("a")], {}, BUNDLES) == SharedOut({"a": ()}, {"a": []}, frozenset())


def test_of_two_that_name_a_bundle_the_later_generation_has_it() -> None:
    members = [member("a", range(12), 6), member("b", range(12), 7), member("c", range(12, 24), 7)]
    shared = share_out(members, FULL, BUNDLES)
    assert [len(shared.bundles[name]) for name in "abc"] == [8, 8, 8]
    assert set(shared.bundles["b"]) < set(range(12))
    assert set(shared.bundles["c"]) < set(range(12, 24))


def test_one_move_is_better_than_several() -> None:
    """Bundles of one, one and two partitions: the one with two makes it even."""
    counts = {"t": 3, "t6": 1}
    assert [bundle_of(TopicPartition(topic, 0), 3) for topic in counts] == [2, 2]
    shared = share_out([member("a", range(3), 1, ["t", "t6"]), member("b", topics=["t", "t6"])], counts, 3)
    assert shared.bundles == {"a": (0, 1), "b": (2,)}


NAMES = st.lists(st.sampled_from("abcdefgh"), min_size=1, unique=True)
COUNTS = st.dictionaries(st.sampled_from("tuvw"), st.integers(0, 70))
HELD = st.frozensets(st.integers(0, BUNDLES - 1))
MEMBERS = st.lists(
    st.builds(
        BundleSubscriber,
        st.sampled_from("abcdefgh"),
        st.frozensets(st.sampled_from("tuvwx"), min_size=1),
        st.integers(-1, 3),
        HELD,
    ),
    min_size=1,
    unique_by=lambda each: each.member,
)


@given(MEMBERS, COUNTS, st.integers(1, BUNDLES))
def test_each_bundle_is_exactly_one_members_and_whole(
    members: list[BundleSubscriber], counts: dict[str, int], bundles: int
) -> None:
    shared = share_out(members, counts, bundles)
    assert shared.bundles.keys() == shared.partitions.keys() == {each.member for each in members}
    common = frozenset.intersection(*(each.topics for each in members))
    wanted = [TopicPartition(topic, number) for topic in common for number in range(counts.get(topic, 0))]
    assert Counter(each for share in shared.partitions.values() for each in share) == Counter(wanted)
    assert Counter(each for share in shared.bundles.values() for each in share) == Counter(
        {bundle_of(each, bundles) for each in wanted}
    )
    for name, share in shared.partitions.items():
        assert {bundle_of(each, bundles) for each in share} == set(shared.bundles[name])
    assert shared.left_out == frozenset().union(*(each.topics for each in members)) - common


@given(MEMBERS, COUNTS)
def test_no_move_of_a_bundle_would_make_it_more_even(members: list[BundleSubscriber], counts: dict[str, int]) -> None:
    shared = share_out(members, counts, BUNDLES)
    loads = {name: len(share) for name, share in shared.partitions.items()}
    weights = Counter(bundle_of(each, BUNDLES) for share in shared.partitions.values() for each in share)
    for name, bundles in shared.bundles.items():
        assert all(loads[name] - weights[bundle] <= min(loads.values()) for bundle in bundles)


@given(MEMBERS, COUNTS, st.randoms())
def test_the_order_of_the_members_makes_no_difference(members: list, counts: dict[str, int], random) -> None:
    other = list(members)
    random.shuffle(other)
    assert share_out(other, counts, BUNDLES) == share_out(members, counts, BUNDLES)


@given(NAMES, COUNTS)
def test_nothing_moves_while_nothing_changes(names: list[str], counts: dict[str, int]) -> None:
    topics = "tuvw"
    before = share_out([member(name, topics=topics) for name in names], counts, BUNDLES)
    assert share_out(again(before, *names, topics=topics), counts, BUNDLES) == before


@given(NAMES)
def test_only_what_a_new_member_gets_moves(names: list[str]) -> None:
    before = share_out([member(name) for name in names], FULL, BUNDLES)
    after = share_out(again(before, *names, "new"), FULL, BUNDLES)
    assert moved(before, after) == set(after.bundles["new"])
    assert len(after.bundles["new"]) == BUNDLES // (len(names) + 1)


@given(NAMES.filter(lambda names: len(names) > 1))
def test_only_what_a_member_had_that_left_moves(names: list[str]) -> None:
    before = share_out([member(name) for name in names], FULL, BUNDLES)
    after = share_out(again(before, *names[1:]), FULL, BUNDLES)
    assert moved(before, after) == set(before.bundles[names[0]])


@given(NAMES, st.integers(0, 70))
def test_a_new_partition_moves_no_more_than_evenness_asks_for(names: list[str], count: int) -> None:
    """Neighbours are in neighbouring bundles, so one more partition makes a difference of one."""
    before = share_out([member(name) for name in names], {"t": count}, BUNDLES)
    after = share_out(again(before, *names), {"t": count + 1}, BUNDLES)
    grown = bundle_of(TopicPartition("t", count), BUNDLES)
    assert len(moved(before, after) - {grown}) <= 1
