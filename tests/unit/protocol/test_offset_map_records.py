"""Records of offset maps: byte by byte, back again, and hostile ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legacy_mm.base.errors import CorruptRecords
from legacy_mm.base.model import JoinedChunk, OffsetMapChunk, OffsetRun
from legacy_mm.features.offset_syncs.offset_map import OffsetMap
from legacy_mm.protocol.offset_map_records import OffsetMapRecord

RUNS = (OffsetRun(7, 20, 3), OffsetRun(10, 23, 0), OffsetRun(2, 40, 5))
FIRST = OffsetMapRecord("t", 3, 1, OffsetMapChunk(33, 10, None, RUNS))
NEXT = OffsetMapRecord("größe", 0, 0, OffsetMapChunk(0, 0, OffsetRun(1, 2, 3), RUNS))
JOINED_RUNS = (OffsetRun(7, 20, 3, 2), OffsetRun(10, 23, 0), OffsetRun(2, 40, 5))
JOINED = OffsetMapRecord("t", 3, 33, JoinedChunk(4, 12, OffsetRun(8, 9, 1), OffsetRun(1, 2, 3, 4), JOINED_RUNS))
HUGE = 1 << 62


def words(*numbers: int) -> bytes:
    return b"".join(number.to_bytes(8, "big", signed=True) for number in numbers)


def test_the_bytes() -> None:
    key, value = FIRST.encode()
    assert key == bytes.fromhex("00 00000003 00000001") + b"t"
    assert value == b"\0" + words(33, 10, 0, 0, -1, 7, 20, 3, 10, 23, 0, 2, 40, 5)
    assert NEXT.encode()[1] == b"\0" + words(0, 0, 1, 2, 3, 7, 20, 3, 10, 23, 0, 2, 40, 5)
    key, value = JOINED.encode()
    assert key == bytes.fromhex("00 00000003 00000021") + b"t"
    assert value == b"\1" + words(4, 12, 8, 9, 1, 1, 2, 3, 4, 7, 20, 3, 2, 10, 23, 0, 0, 2, 40, 5, 0)


def test_joined_ones_come_back_and_torn_ones_are_corrupt() -> None:
    for record in (JOINED, JOINED._replace(chunk=JOINED.chunk._replace(follows=None))):
        key, value = record.encode()
        assert OffsetMapRecord.decode(key, value) == record
        whole_runs = range(73 + 32, len(value) + 1, 32)
        for end in (end for end in range(len(value)) if end not in whole_runs):
            with pytest.raises(CorruptRecords):
                OffsetMapRecord.decode(key, value[:end])


@pytest.mark.parametrize("record", [FIRST, NEXT, FIRST._replace(chunk=OffsetMapChunk(5, 9, None, ()))])
def test_records_come_back_and_torn_ones_are_corrupt(record: OffsetMapRecord) -> None:
    key, value = record.encode()
    assert OffsetMapRecord.decode(key, value) == record
    whole_runs = range(41, len(value) + 1, 24)
    for torn in [(key[:end], value) for end in range(10)] + [
        (key, value[:end]) for end in range(len(value)) if end not in whole_runs
    ]:
        with pytest.raises(CorruptRecords):
            OffsetMapRecord.decode(*torn)
    for absent in ((None, value), (key, None)):
        with pytest.raises(CorruptRecords, match="without"):
            OffsetMapRecord.decode(*absent)


@pytest.mark.parametrize("torn", ["key", "value"])
def test_a_later_version_is_not_read(torn: str) -> None:
    key, value = FIRST.encode()
    later = (b"\2" + key[1:], value) if torn == "key" else (key, b"\2" + value[1:])
    with pytest.raises(CorruptRecords, match="of version 2, not 1"):
        OffsetMapRecord.decode(*later)


@pytest.mark.parametrize(
    "chunk",
    [
        OffsetMapChunk(-1, 0, None, RUNS),
        OffsetMapChunk(HUGE, 0, None, RUNS),
        OffsetMapChunk(0, -1, None, RUNS),
        OffsetMapChunk(1, 0, OffsetRun(1, 2, 3), ()),
        OffsetMapChunk(0, 0, OffsetRun(1, 2, -1), RUNS),
        OffsetMapChunk(0, 0, OffsetRun(1, 20, 3), RUNS),  # the run it follows goes on after it
        OffsetMapChunk(0, 0, None, (OffsetRun(-1, 0, 1),)),
        OffsetMapChunk(0, 0, None, (OffsetRun(0, -1, 1),)),
        OffsetMapChunk(0, 0, None, (OffsetRun(0, 0, -2),)),
        OffsetMapChunk(0, 0, None, (OffsetRun(0, HUGE, 1),)),
        OffsetMapChunk(0, 0, None, (OffsetRun(0, 0, 5), OffsetRun(5, 4, 1))),
        JoinedChunk(0, 0, OffsetRun(1, 2, 3), None, ()),
        JoinedChunk(0, -1, OffsetRun(1, 2, 3), None, RUNS),
        JoinedChunk(0, 0, OffsetRun(1, -2, 3), None, RUNS),
        JoinedChunk(0, 0, OffsetRun(1, 2, 3), None, (OffsetRun(0, 0, 5, -1),)),
        JoinedChunk(0, 0, OffsetRun(1, 2, 3), None, (OffsetRun(0, 0, 5), OffsetRun(5, 3, 1, 1))),
    ],
)
def test_numbers_that_cannot_be_are_corrupt(chunk: OffsetMapChunk | JoinedChunk) -> None:
    with pytest.raises(CorruptRecords, match="cannot be"):
        OffsetMapRecord.decode(*FIRST._replace(chunk=chunk).encode())


@pytest.mark.parametrize("record", [FIRST._replace(partition=-1), FIRST._replace(place=-1), FIRST._replace(topic="")])
def test_keys_that_cannot_be_are_corrupt(record: OffsetMapRecord) -> None:
    with pytest.raises(CorruptRecords, match="cannot be"):
        OffsetMapRecord.decode(*record.encode())


_hostile = st.binary(max_size=200) | st.builds(
    lambda record, at, new: (whole := record.encode()[1])[:at] + new + whole[at + len(new) :],
    st.sampled_from([FIRST, JOINED]),
    st.integers(0, 168),
    st.binary(min_size=1, max_size=8) | st.sampled_from([b"\xff" * 8, b"\x7f" + b"\xff" * 7, b"\x80" + b"\0" * 7]),
)


@given(key=st.just(FIRST.encode()[0]) | st.binary(max_size=30), values=st.lists(_hostile, max_size=4))
def test_hostile_bytes_are_corrupt_or_a_map_that_works(key: bytes, values: list[bytes]) -> None:
    chunks = []
    for value in values:
        try:
            chunks.append(OffsetMapRecord.decode(key, value).chunk)
        except CorruptRecords:
            continue
    offsets = OffsetMap(chunks, chunks=2, runs_per_chunk=1)
    offsets.nearest(5)
    offsets.start(100)
    for number in range(4):
        offsets.add(OffsetRun(50 * number, 1000 * number, 10))
        assert offsets.nearest(50 * number + 4).pair == (50 * number + 4, 1000 * number + 4)
    for place, chunk in offsets.changed():
        record = OffsetMapRecord("t", 0, place, chunk)
        assert OffsetMapRecord.decode(*record.encode()) == record
