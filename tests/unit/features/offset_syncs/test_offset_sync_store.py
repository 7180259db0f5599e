"""MirrorMaker 2's translation: recorded answers, the contract's worked examples, and how much a new sync expires."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legacy_mm.features.offset_syncs.offset_sync_store import OffsetSyncStore
from tests.fixtures.offset_syncs import NOT_TRANSLATABLE, JavaSyncReader

VECTORS = json.loads((Path(__file__).parent / "golden" / "offset_sync_store.json").read_text())
LARGEST = 1 << 62
"""Farther apart than this, Java's arithmetic overflows in slot 63 and the oldest sync is lost."""


def store_of(
    live: Iterable[tuple[int, int]], preload: Iterable[tuple[int, int]] = (), *, must_read_to_end: bool = False
) -> JavaSyncReader:
    store = JavaSyncReader(must_read_to_end=must_read_to_end)
    for sync in preload:
        store.add(*sync)
    store.first_read_ended()
    for sync in live:
        store.add(*sync)
    return store


def shape(store: JavaSyncReader) -> str:
    """As the contract prints it: each run of equal slots once."""
    slots = store.slots
    first = [0, *(at for at in range(1, 64) if slots[at] is not slots[at - 1])]
    return " ".join(f"{at}={slots[at].upstream}:{slots[at].downstream}" for at in first)


@pytest.mark.parametrize("vector", VECTORS)
def test_the_recorded_stores(vector: dict[str, Any]) -> None:
    store = store_of(vector["live"], vector["preload"], must_read_to_end=vector["must_read_to_end"])
    assert shape(store) == " ".join(f"{slot}={up}:{down}" for slot, up, down in vector["runs"])
    assert [[offset, store.translate(offset)] for offset, _ in vector["translate"]] == vector["translate"]


V1 = [(u, u) for u in range(0, 1001, 100)]
V2 = [(u, 2 * u) for u in range(0, 100_001, 100)]
V3 = [(u, u + 7) for u in range(1001)]
V6 = [(u, 3 * u) for u in (10, 11, 13, 17, 30, 31, 100, 1000, 1001, 1002, 1003, 1004, 5000, 5001, 5100)]
WORKED = [
    (V1, "0=1000:1000 8=900:900 9=800:800 10=400:400 11=0:0",
     "-1:-1 0:0 1:1 100:1 550:401 899:801 900:900 950:901 1000:1000 5000:1001"),
    (V2, "0=100000:200000 8=99900:199800 9=99800:199600 10=99600:199200 11=99200:198400 12=97600:195200 "
     "13=96000:192000 14=89600:179200 15=76800:153600 16=51200:102400 17=0:0",
     "50000:1 90000:179201 99900:199800 99999:199801 100001:200001"),
    (V3, "0=1000:1007 1=999:1006 2=998:1005 3=996:1003 4=992:999 5=976:983 6=960:967 7=896:903 8=768:775 9=512:519 "
     "10=0:7", "500:8 900:904 990:984 999:1006"),
    ([*V3, (500, 2000)], "0=500:2000", "499:-1 500:2000 1000:2001"),
    (V6, "0=5100:15300 8=5000:15000 14=10:30", "9:-1 12:31 999:31 4999:31 5001:15001 6000:15301"),
    ([(5, 5), (5, 9)], "0=5:9 1=5:5", "4:-1 5:9 6:10"),
    ([(5, 5), (5, 9), (6, 10)], "0=6:10 1=5:5", ""),
]  # fmt: skip


@pytest.mark.parametrize(("syncs", "slots", "answers"), WORKED)
def test_the_worked_examples(syncs: list[tuple[int, int]], slots: str, answers: str) -> None:
    store = store_of(syncs)
    assert shape(store) == slots
    for offset, answer in (pair.split(":") for pair in answers.split()):
        assert store.translate(int(offset)) == int(answer)


@pytest.mark.parametrize(("must_read_to_end", "slots"), [(True, "0=200:200"), (False, "0=200:200 8=100:100 9=0:0")])
def test_nothing_is_translated_before_the_end_of_the_first_read(must_read_to_end: bool, slots: str) -> None:
    store = JavaSyncReader(must_read_to_end=must_read_to_end)
    for offset in (0, 100, 200):
        store.add(offset, offset)
        assert store.translate(offset) is None
    store.first_read_ended()
    assert shape(store) == slots
    assert [store.translate(offset) for offset in (200, 201)] == [200, 201]
    assert store.translate(199) == (NOT_TRANSLATABLE if must_read_to_end else 101)


def test_a_partition_without_syncs_is_unknown() -> None:
    store = store_of([])
    assert store.translate(0) is None
    assert store.slots == ()


LIVE = [(u, u) for u in range(1010, 10_001, 10)]
AT_START = [(u, u) for u in range(0, 1001, 10)]
SPARSE = [1000, 4840, 6760, 8680, 9160, 9640, 9880, 9940, 9970, 9990, 10_000]


def test_after_must_read_the_points_are_apache_s() -> None:
    store = store_of(LIVE, AT_START, must_read_to_end=True)
    assert sorted({sync.upstream for sync in store.slots}) == SPARSE
    assert store.translate(999) == NOT_TRANSLATABLE
    assert [store.translate(point - 1) for point in SPARSE[1:]] == [point + 1 for point in SPARSE[:-1]]
    store.add(1500, 11_000)
    assert [store.translate(offset) for offset in (1499, 1500, 2000)] == [NOT_TRANSLATABLE, 11_000, 11_001]


def test_with_all_syncs_read_the_points_are_apache_s() -> None:
    points = {sync.upstream for sync in store_of([], AT_START).slots}
    assert {0, 480, 720, 990, 1000} <= points
    assert points.isdisjoint({*range(1, 480), *range(481, 720)})
    after = {sync.upstream for sync in store_of(LIVE, AT_START).slots}
    assert after == {0, 3840, 7680, 8640, 9120, 9600, 9840, 9900, 9960, 9990, 10_000}


def most_expired(offsets: Iterable[int]) -> int:
    """How many syncs one new sync expired at most; checks both ends on the way."""
    store = OffsetSyncStore()
    before: set[int] = set()
    most, first = 0, None
    for offset in offsets:
        store.add(offset, offset)
        first = offset if first is None else first
        assert (store.slots[0].upstream, store.slots[63].upstream) == (offset, first)
        after = {sync.upstream for sync in store.slots}
        most = max(most, len(before - after))
        before = after
    return most


@pytest.mark.parametrize("step", [1, 3, 7, 15, 31, 63, 127, 1023, LARGEST >> 27, LARGEST >> 7])
@pytest.mark.parametrize("first", [0, 1, 13, 29])
def test_constant_spacing_expires_one_sync_at_a_time(step: int, first: int) -> None:
    assert most_expired(range(first, first + 100 * step, step)) <= 1


@pytest.mark.parametrize("least", [0, 1 << 16])
@pytest.mark.parametrize("bits", [1, 4, 8, 16, 24])
def test_random_spacing_of_n_bits_expires_at_most_n_plus_2(bits: int, least: int) -> None:
    source = random.Random(bits)
    offset, offsets = 0, []
    for _ in range(600):
        offset += least + 1 + source.getrandbits(bits)
        offsets.append(offset)
    assert most_expired(offsets) <= bits + 2


def test_two_spacings_expire_two_at_most() -> None:
    source = random.Random(7)
    steps = [source.choice((100, 200)) for _ in range(1000)]
    assert most_expired(sum(steps[:end]) for end in range(1, len(steps))) <= 2


@given(st.lists(st.integers(0, LARGEST), min_size=1, max_size=80), st.lists(st.integers(0, LARGEST)))
def test_any_offsets_keep_the_slots_in_order(offsets: list[int], asked: list[int]) -> None:
    store = store_of((offset, number) for number, offset in enumerate(sorted(offsets)))
    slots = [sync.upstream for sync in store.slots]
    assert all(newer >= older for newer, older in pairwise(slots))
    assert (slots[0], slots[63]) == (max(offsets), min(offsets))
    for offset in asked:
        assert (store.translate(offset) == NOT_TRANSLATABLE) is (offset < min(offsets))


def test_what_overflows_in_java_overflows_here() -> None:
    assert store_of([(0, 0), (LARGEST, 1)]).slots[63].upstream == 0
    assert store_of([(0, 0), (LARGEST + 1, 1)]).slots[63].upstream == LARGEST + 1
    assert store_of([(LARGEST - 1, 0), (2 * LARGEST - 1, 1)]).slots[63].upstream == LARGEST - 1


def test_the_translations_of_apache_s_first_case() -> None:
    """OffsetSyncStoreTest:62 and 88."""
    store = store_of([(100, 200)])
    assert store.translate(150) == 201
    store.add(150, 251)
    assert [store.translate(offset) for offset in (150, 5)] == [251, NOT_TRANSLATABLE]
    store.add(200, 10)
    assert store.translate(200) == 10
    store.add(20, 20)
    assert store.translate(20) == 20
    loaded = store_of([], [(100, 200)], must_read_to_end=True)
    assert [loaded.translate(offset) for offset in (0, 100, 200)] == [NOT_TRANSLATABLE, 200, 201]
