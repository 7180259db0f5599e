"""Judge whether a target holds what a source holds. Rule: pure; it sees records, never a broker.

Equality as the legacy tool means it: the same multiset of (key, value, headers, timestamp) per topic; a
keyed record sits where Kafka's own hash puts it; records of one source partition that meet in one
target partition keep their order; null keys spread over all partitions.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

LOG_APPEND_TIME = 2

ObservedHeaders = tuple[tuple[str, bytes | None], ...]
ComparedRecord = tuple[bytes | None, bytes | None, ObservedHeaders, int]
ExpectedPartition = Literal["hash", "same", "any"]
MOST_LINES = 20  # of differences; more do not help
NULL_KEY_RECORDS = 1_000
STICKY_BYTES = 16_384  # the Java producer stays on one partition for a batch of this size
UNLIKELY = 1e-6


@dataclass(frozen=True, slots=True)
class ObservedRecord:
    """Timestamp type 1 is create time, 2 is log append time, as Kafka clients number them."""

    topic: str
    partition: int
    offset: int
    timestamp_type: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: ObservedHeaders = ()


def murmur2(data: bytes) -> int:
    """Compute `org.apache.kafka.common.utils.Utils.murmur2`, as a signed 32-bit integer."""
    mask, m = 0xFFFFFFFF, 0x5BD1E995
    length = len(data)
    h = 0x9747B28C ^ length
    whole = length & ~3
    for at in range(0, whole, 4):
        k = (int.from_bytes(data[at : at + 4], "little") * m) & mask
        k = ((k ^ (k >> 24)) * m) & mask
        h = ((h * m) & mask) ^ k
    if whole < length:
        h = ((h ^ int.from_bytes(data[whole:], "little")) * m) & mask
    h = ((h ^ (h >> 13)) * m) & mask
    h ^= h >> 15
    return h - (1 << 32) if h >> 31 else h


@functools.lru_cache(maxsize=200_000)
def partition_of(key: bytes, count: int) -> int:
    """Return the partition to which the Java producer sends a key: toPositive(murmur2(key)) % count."""
    return (murmur2(key) & 0x7FFFFFFF) % count


def same_records(
    source: Iterable[ObservedRecord],
    target: Iterable[ObservedRecord],
    *,
    target_partitions: int = 4,
    placement: ExpectedPartition = "hash",
    allow_duplicates: bool = False,
) -> list[str]:
    """Return the differences, one line each, empty if equal; records of any number of topics at once.

    `placement`: keyed records are placed by hash, all records in the "same" partition number, or anywhere.
    `allow_duplicates`: the target may hold a record of the source more than once, after a crash.
    """
    lines: list[str] = []
    sources, targets = _by_topic(source), _by_topic(target)
    for topic in sorted(sources.keys() | targets.keys()):
        there, here = sources.get(topic, []), targets.get(topic, [])
        timed = all(record.timestamp_type != LOG_APPEND_TIME for record in here)
        lines += _contents(topic, there, here, timed=timed, lenient=allow_duplicates)
        lines += _places(topic, there, here, count=target_partitions, placement=placement)
        lines += _order(topic, there, here, timed=timed, everything=placement == "same")
        if placement == "hash":
            lines += _spread(topic, here, count=target_partitions)
    if len(lines) > MOST_LINES:
        lines[MOST_LINES:] = [f"... and {len(lines) - MOST_LINES} more differences"]
    return lines


def _by_topic(records: Iterable[ObservedRecord]) -> dict[str, list[ObservedRecord]]:
    out: dict[str, list[ObservedRecord]] = defaultdict(list)
    for record in records:
        out[record.topic].append(record)
    for each in out.values():
        each.sort(key=lambda record: (record.partition, record.offset))
    return out


def _identity(record: ObservedRecord, *, timed: bool) -> ComparedRecord:
    # A topic that stamps records itself cannot keep the source's timestamps.
    return (record.key, record.value, record.headers, record.timestamp if timed else -1)


def _contents(
    topic: str,
    source: Sequence[ObservedRecord],
    target: Sequence[ObservedRecord],
    *,
    timed: bool,
    lenient: bool,
) -> list[str]:
    wanted = Counter(_identity(record, timed=timed) for record in source)
    found = Counter(_identity(record, timed=timed) for record in target)
    extra = found - wanted
    if lenient:
        extra = Counter({each: n for each, n in extra.items() if each not in wanted})
    lines = []
    for word, surplus in (("missing", wanted - found), ("too many", extra)):
        if surplus:
            example = next(iter(surplus))
            lines.append(f"{topic}: {surplus.total()} records {word}, for example {_show(example)}")
    return lines


def _places(
    topic: str,
    source: Sequence[ObservedRecord],
    target: Sequence[ObservedRecord],
    *,
    count: int,
    placement: ExpectedPartition,
) -> list[str]:
    if placement == "hash":
        wrong = [
            record
            for record in target
            if record.key is not None and record.partition != partition_of(record.key, count)
        ]
        return [
            f"{topic}-{record.partition} offset {record.offset}: key {record.key!r:.60} belongs to "
            f"partition {partition_of(record.key or b'', count)} of {count}"
            for record in wrong[:3]
        ] + ([f"{topic}: {len(wrong)} records in the wrong partition"] if wrong else [])
    if placement == "same":
        sizes = Counter(record.partition for record in source)
        found = Counter(record.partition for record in target)
        return [
            f"{topic}-{partition}: {found[partition]} records, the source has {sizes[partition]}"
            for partition in sorted(sizes.keys() | found.keys())
            if sizes[partition] != found[partition]
        ]
    return []


def _order(
    topic: str,
    source: Sequence[ObservedRecord],
    target: Sequence[ObservedRecord],
    *,
    timed: bool,
    everything: bool,
) -> list[str]:
    """Check the source order within each pair of a source and a target partition: a subsequence of the target."""
    where: dict[tuple[object, ComparedRecord], set[int]] = defaultdict(set)
    logs: dict[int, list[ComparedRecord]] = defaultdict(list)
    for record in target:
        if everything or record.key is not None:
            identity = _identity(record, timed=timed)
            logs[record.partition].append(identity)
            where[record.partition if everything else None, identity].add(record.partition)
    lines = []
    for partition, each in itertools.groupby(source, key=lambda record: record.partition):
        expected: dict[int, list[ComparedRecord]] = defaultdict(list)
        for record in each:
            identity = _identity(record, timed=timed)
            places = where.get((partition if everything else None, identity), set())
            if len(places) == 1:  # missing ones are reported already; equal ones in two places prove nothing
                expected[next(iter(places))].append(identity)
        for place, sequence in sorted(expected.items()):
            broken = _first_out_of_order(sequence, logs[place])
            if broken is not None:
                lines.append(f"{topic}-{place}: order of source partition {partition} is lost at {_show(broken)}")
    return lines


def _first_out_of_order(wanted: Sequence[ComparedRecord], log: Sequence[ComparedRecord]) -> ComparedRecord | None:
    """Return None if `wanted` is a subsequence of `log`: greedy matching finds it whenever there is one."""
    rest = iter(log)
    for identity in wanted:
        if identity not in rest:  # takes from `rest` until found
            return identity
    return None


def _spread(topic: str, target: Sequence[ObservedRecord], *, count: int) -> list[str]:
    """Check that null keys reach every partition, if a sticky producer had enough batches to make that certain."""
    keyless = [record for record in target if record.key is None]
    size = sum(len(record.value or b"") for record in keyless)
    batches = size // STICKY_BYTES
    if len(keyless) <= NULL_KEY_RECORDS or count * (1 - 1 / count) ** batches > UNLIKELY:
        return []
    empty = sorted(set(range(count)) - {record.partition for record in keyless})
    return [f"{topic}: {len(keyless)} null keys, but none in partitions {empty}"] if empty else []


def _show(identity: ComparedRecord) -> str:
    key, value, headers, timestamp = identity
    return f"key={key!r:.60} value={value!r:.60} headers={headers!r:.80} timestamp={timestamp}"
