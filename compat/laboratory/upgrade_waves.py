"""Records written to the source in waves, and where each wave's copies are. Rule: it sees clusters, never the mirror.

A feature may change what copies are called, where they are placed, or add a header, so each wave is compared by the
rules that held for it; in the end the copies of all waves, put together, are what the source holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from compat.laboratory.demo_data import TopicRow, write_items
from compat.laboratory.demo_progress import Written
from compat.laboratory.demo_table import TopicResult, contents
from legacy_mm.audit.cluster_access import all_ends, read_all
from legacy_mm.audit.record_comparison import ExpectedPartition, ObservedRecord, same_records

PATH = "mirror.path"
Ends = Mapping[int, int]
"""Partition -> offset."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules for the copies of a wave."""

    prefix: str = ""
    """Prefix of their topics' names."""
    keeps_partitions: bool = False
    path: str = ""
    """Value of their header mirror.path; empty: they have none."""


@dataclass(slots=True)
class Slice:
    """The records of one wave in one topic, and their copies."""

    row: TopicRow
    rules: Rules
    source: tuple[Ends, Ends]
    target: tuple[Ends, Ends]

    @property
    def copy(self) -> str:
        """The name of its topic at the target."""
        return self.rules.prefix + self.row.name

    @property
    def partitions(self) -> dict[int, tuple[int, int]]:
        """Offsets at the source where it begins and ends, of those partitions that it has records in."""
        begin, end = self.source
        return {number: (begin.get(number, 0), at) for number, at in end.items() if at > begin.get(number, 0)}


@dataclass(slots=True)
class Waves:
    """All waves so far."""

    source: str
    target: str
    rows: list[TopicRow]
    _written: Counter[str] = field(default_factory=Counter)
    _slices: list[Slice] = field(default_factory=list)

    def write(self, counts: Mapping[str, int], rules: Rules) -> dict[str, Written]:
        """Write so many more records to each topic; return the records to arrive, by the names of the copies."""
        names = [row.name for row in self.rows]
        held = all_ends(self.target, [rules.prefix + name for name in names])
        before = all_ends(self.source, names)

        def write(row: TopicRow) -> int:
            first = self._written[row.name]
            return write_items(self.source, row, range(first, first + counts[row.name]))

        with ThreadPoolExecutor(len(names)) as pool:  # a producer waits half a second for its id
            sizes = list(pool.map(write, self.rows))
        after = all_ends(self.source, names)
        for row in self.rows:
            there = held.get(rules.prefix + row.name, {})
            self._slices.append(Slice(row, rules, (before[row.name], after[row.name]), (there, there)))
        self._written.update({name: counts[name] for name in names})
        return {each.copy: Written(counts[each.row.name], size) for each, size in zip(self.last(), sizes, strict=True)}

    def held(self) -> dict[str, int]:
        """Return the number of records that the target held of each copy before the last wave."""
        return {each.copy: sum(each.target[0].values()) for each in self.last()}

    def last(self) -> list[Slice]:
        """Return the wave that was written last."""
        return self._slices[-len(self.rows) :]

    def differences(self) -> list[str]:
        """Yield differences between the last wave, which has arrived, and its copies."""
        wave = self.last()
        ends = all_ends(self.target, [each.copy for each in wave])
        for each in wave:
            each.target = each.target[0], ends.get(each.copy, {})
        with ThreadPoolExecutor(len(wave)) as pool:
            return [line for lines in pool.map(self._differences, wave) for line in lines]

    def result(self, row: TopicRow) -> TopicResult:
        """Return all records ever written to a topic, beside all its copies, under any name."""
        source = read_all(self.source, row.name)
        slices = [each for each in self._slices if each.row.name == row.name]
        logs = {copy: read_all(self.target, copy) for copy in sorted({each.copy for each in slices})}
        extra = [
            f"{copy} at the target: {len(log)} records, of which {known} came in these waves"
            for copy, log in logs.items()
            if len(log) != (known := sum(_count(each.target) for each in slices if each.copy == copy))
        ]
        copies = [_as_source(record, each) for each in slices for record in _within(logs[each.copy], each.target)]
        joined = [replace(record, offset=number) for number, record in enumerate(copies)]
        differences = same_records(source, joined, placement="any")
        return TopicResult(row.name, True, contents(source), contents(joined), [*extra, *differences])

    def _differences(self, each: Slice) -> list[str]:
        source = _within(read_all(self.source, each.row.name), each.source)
        target = _within(read_all(self.target, each.copy), each.target)
        placement: ExpectedPartition = "same" if each.rules.keeps_partitions else "hash"
        copies = [_as_source(record, each) for record in target]
        without = sum(each.rules.path != "" and _path(record) != each.rules.path for record in target)
        lines = same_records(source, copies, target_partitions=len(each.target[1]), placement=placement)
        return lines + ([f"{each.copy}: {without} records without {PATH}={each.rules.path}"] if without else [])


def _count(ends: tuple[Ends, Ends]) -> int:
    return sum(ends[1].values()) - sum(ends[0].values())


def _within(log: Iterable[ObservedRecord], ends: tuple[Ends, Ends]) -> list[ObservedRecord]:
    begin, end = ends
    return [each for each in log if begin.get(each.partition, 0) <= each.offset < end.get(each.partition, 0)]


def _as_source(record: ObservedRecord, slice_: Slice) -> ObservedRecord:
    """Return the copy under its source's name and without the header that the mirror has added."""
    added = bool(slice_.rules.path) and record.headers[-1:] == ((PATH, slice_.rules.path.encode()),)
    return replace(record, topic=slice_.row.name, headers=record.headers[:-1] if added else record.headers)


def _path(record: ObservedRecord) -> str:
    """Return the value of its last header, if that is mirror.path."""
    name, value = record.headers[-1] if record.headers else ("", None)
    return (value or b"").decode() if name == PATH else ""
