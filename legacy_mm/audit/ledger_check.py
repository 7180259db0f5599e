"""Judge a target by a ledger: what is lost, duplicated, reordered, altered or unexpected. Rule: first occurrences count
for the order, every later one is a duplicate.

Order is that of each pair of a source and a target partition, which is what a mirror that keeps keys together owes.
Records without a key go to any partition, so they have no order and no place.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from legacy_mm.audit.cluster_access import headers_of, messages
from legacy_mm.audit.ledger import Ledger, LedgerEntry, checksum
from legacy_mm.audit.record_comparison import LOG_APPEND_TIME, ObservedHeaders

FindingKind = Literal["lost", "duplicated", "reordered", "altered", "unexpected"]
KINDS: tuple[FindingKind, ...] = ("lost", "duplicated", "reordered", "altered", "unexpected")
_MOST_RANGES = 10


@dataclass(frozen=True, slots=True)
class Arrival:
    """A record at the target."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: ObservedHeaders
    timestamp: int | None
    """None where the target stamps records itself."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a check."""

    acknowledged: int
    arrived: int
    moved: int = 0
    """Keyed records in another partition number than at the source: none, where both have as many partitions."""
    unacknowledged: int = 0
    """Records of the run whose acknowledgement never came: they may be there or not."""
    offsets: Mapping[FindingKind, Mapping[int, Sequence[int]]] = field(default_factory=dict)
    """FindingKind -> partition -> offsets: of the source for lost records, of the target for all others."""
    alterations: Mapping[str, int] = field(default_factory=dict)
    """FindingKind of alteration (`key or value`, `headers`, `timestamp`) -> number of records."""

    def count(self, kind: FindingKind) -> int:
        """Return the number of records of this kind."""
        return sum(map(len, self.offsets.get(kind, {}).values()))

    def differences(self, *, allow_duplicates: bool) -> list[str]:
        """Return a line for each kind and partition; none if the target is as it should be."""
        wrong = [kind for kind in KINDS if not (allow_duplicates and kind == "duplicated")]
        return [line for kind in wrong for line in self._lines(kind)]

    def _lines(self, kind: FindingKind) -> Iterator[str]:
        side = "source" if kind == "lost" else "target"
        what = (
            " (" + ", ".join(f"{n} {name}" for name, n in self.alterations.items()) + ")" if kind == "altered" else ""
        )
        for partition, offsets in sorted(self.offsets.get(kind, {}).items()):
            yield f"{kind}: {len(offsets)} records{what}, {side} partition {partition}, offsets {_ranges(offsets)}"


def check(ledger: Ledger, connection: Mapping[str, Any], topic: str = "") -> Verdict:
    """Read the target's committed records and judge them; the topic is the ledger's unless it was renamed."""
    found = messages(connection, topic or ledger.topic, isolation="read_committed")
    return judge(ledger, (_arrival(*each) for each in found))


def judge(ledger: Ledger, arrivals: Iterable[Arrival]) -> Verdict:
    """Judge records that come in the order of each target partition."""
    offsets: dict[FindingKind, defaultdict[int, list[int]]] = {kind: defaultdict(list) for kind in KINDS}
    seen = bytearray(ledger.next_sequence)
    latest: dict[tuple[int, int], int] = {}
    alterations: Counter[str] = Counter()
    arrived = moved = unacknowledged = 0
    for arrival in arrivals:
        arrived += 1
        sequence = ledger.sequence_of(arrival.value)
        if sequence is None:
            offsets["unexpected"][arrival.partition].append(arrival.offset)
            continue
        entry = ledger.entry(sequence)
        if entry is None:
            unacknowledged += 1
            continue
        if altered := _alteration(entry, arrival):
            alterations[altered] += 1
            offsets["altered"][arrival.partition].append(arrival.offset)
        if seen[sequence]:
            offsets["duplicated"][arrival.partition].append(arrival.offset)
            continue
        seen[sequence] = 1
        if arrival.key is None:
            continue
        moved += entry.partition != arrival.partition
        pair = (entry.partition, arrival.partition)
        if entry.offset < latest.get(pair, -1):
            offsets["reordered"][arrival.partition].append(arrival.offset)
        latest[pair] = max(entry.offset, latest.get(pair, -1))
    for sequence, partition, offset in ledger.places():
        if not seen[sequence]:
            offsets["lost"][partition].append(offset)
    return Verdict(ledger.acknowledged, arrived, moved, unacknowledged, offsets, alterations)


def _alteration(entry: LedgerEntry, arrival: Arrival) -> str:
    if checksum(arrival.key, arrival.value) != entry.checksum:
        return "key or value"
    if arrival.headers != entry.headers:
        return "headers"
    return "timestamp" if arrival.timestamp not in (None, entry.timestamp) else ""


def _arrival(message: Any, partition: int, offset: int) -> Arrival:
    kind, timestamp = message.timestamp()
    return Arrival(
        partition,
        offset,
        message.key(),
        message.value(),
        headers_of(message),
        None if kind == LOG_APPEND_TIME else timestamp,
    )


def _ranges(offsets: Sequence[int]) -> str:
    """Format `3-5, 9`; only the first ten, with the number of the others."""
    ranges: list[list[int]] = []
    for offset in sorted(offsets):
        if ranges and offset == ranges[-1][1] + 1:
            ranges[-1][1] = offset
        else:
            ranges.append([offset, offset])
    shown = [f"{first}-{last}" if first != last else f"{first}" for first, last in ranges[:_MOST_RANGES]]
    rest = len(ranges) - _MOST_RANGES
    return ", ".join(shown) + (f" and {rest} more ranges" if rest > 0 else "")
