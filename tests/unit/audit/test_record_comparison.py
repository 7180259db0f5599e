"""murmur2 as the real Kafka computes it, and what `same_records` calls a difference."""

from __future__ import annotations

import dataclasses

import pytest

from legacy_mm.audit.record_comparison import ObservedRecord, murmur2, partition_of, same_records

# Printed by org.apache.kafka.common.utils.Utils.murmur2 of kafka-clients 4.3.0.
GOLDEN = (
    (b"", 275646681),
    (b"k", -1567496736),
    (b"ke", 657130019),
    (b"key", -1079937367),
    (b"keys", 1977298765),
    (b"key-00000001", -140296316),
    (b"21", -973932308),
    (b"foobar", -790332482),
    (b"a-little-bit-long-string", -985981536),
    (b"Gr\xc3\xb6\xc3\x9fe", -255045697),
    (bytes(range(256)), -1948347274),
)


def record(key: bytes | None, value: bytes, *, partition: int | None = None, offset: int = 0) -> ObservedRecord:
    place = partition if partition is not None else partition_of(key or b"", 4)
    return ObservedRecord("t", place, offset, 1, 1_000, key, value)


def keyed(count: int) -> list[ObservedRecord]:
    return [record(b"k%d" % (number % 7), b"%d" % number, offset=number) for number in range(count)]


@pytest.mark.parametrize(("data", "expected"), GOLDEN)
def test_murmur2_is_kafkas(data: bytes, expected: int) -> None:
    assert murmur2(data) == expected


def test_a_partition_is_never_negative() -> None:
    assert {partition_of(b"%d" % number, 4) for number in range(200)} == {0, 1, 2, 3}


def test_equal_logs_do_not_differ() -> None:
    assert same_records(keyed(50), keyed(50)) == []


def test_a_missing_record_is_told() -> None:
    assert "1 records missing" in same_records(keyed(50), keyed(49))[0]


def test_a_duplicate_is_told_unless_allowed() -> None:
    source = keyed(5)
    twice = [*source, *(dataclasses.replace(each, offset=each.offset + 100) for each in source)]
    assert "5 records too many" in same_records(source, twice)[0]
    assert same_records(source, twice, allow_duplicates=True) == []


def test_a_record_that_was_never_written_is_no_duplicate() -> None:
    invented = [*keyed(5), record(b"k1", b"invented", offset=99)]
    assert "1 records too many" in same_records(keyed(5), invented, allow_duplicates=True)[0]


def test_a_changed_timestamp_is_a_difference_unless_the_target_stamps() -> None:
    late = [dataclasses.replace(each, timestamp=2_000) for each in keyed(3)]
    assert same_records(keyed(3), late)
    stamped = [dataclasses.replace(each, timestamp_type=2) for each in late]
    assert same_records(keyed(3), stamped) == []


def test_an_empty_key_is_not_a_null_key() -> None:
    assert same_records([record(b"", b"v")], [record(None, b"v", partition=partition_of(b"", 4))])


def test_order_may_change_between_source_partitions_only() -> None:
    source = [
        record(b"k", b"a1", partition=0, offset=0),
        record(b"k", b"a2", partition=0, offset=1),
        record(b"k", b"b1", partition=1, offset=0),
    ]
    place = partition_of(b"k", 4)

    def target(*values: bytes) -> list[ObservedRecord]:
        return [record(b"k", value, partition=place, offset=at) for at, value in enumerate(values)]

    assert same_records(source, target(b"a1", b"b1", b"a2")) == []
    assert same_records(source, target(b"b1", b"a1", b"a2")) == []
    assert "order of source partition 0" in same_records(source, target(b"a2", b"a1", b"b1"))[0]


def test_keys_must_sit_where_the_hash_says() -> None:
    wrong = [record(b"k", b"v", partition=(partition_of(b"k", 4) + 1) % 4)]
    assert "belongs to partition" in same_records([record(b"k", b"v")], wrong)[0]
    assert same_records([record(b"k", b"v")], wrong, placement="any") == []
    assert "the source has" in same_records([record(b"k", b"v")], wrong, placement="same")[0]


def test_null_keys_must_spread_when_there_are_enough_batches() -> None:
    source = [record(None, b"%06d" % n + b"x" * 2_000, partition=n % 4, offset=n) for n in range(2_000)]
    heap = [dataclasses.replace(each, partition=n % 3) for n, each in enumerate(source)]
    assert same_records(source, source) == []
    assert "none in partitions [3]" in same_records(source, heap)[0]
    few = [record(None, b"%d" % n, partition=0, offset=n) for n in range(2_000)]
    assert same_records(few, few) == []


def test_many_differences_are_cut() -> None:
    many = [dataclasses.replace(each, topic=f"t{number}") for number, each in enumerate(keyed(60))]
    assert same_records(many, [])[-1] == "... and 40 more differences"
