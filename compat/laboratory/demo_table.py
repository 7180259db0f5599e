"""The contents of two clusters, topic by topic, as a table. Rule: pure; the judge is `audit/record_comparison.py`."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from legacy_mm.audit.record_comparison import ObservedRecord

HEAD = ("topic", "cluster", "records", "null keys", "tombstones", "headers", "bytes", "checksum", "")
RIGHT = slice(2, 7)  # these columns are numbers
CHECKSUM_BITS = 64


@dataclass(frozen=True, slots=True)
class Contents:
    """Sums over the records of a topic, none of which depends on their order."""

    records: int
    null_keys: int
    tombstones: int
    headers: int
    size: int
    checksum: int  # over key, value, headers and timestamp


@dataclass(frozen=True, slots=True)
class TopicResult:
    """A topic on both sides; None where a cluster does not have it."""

    topic: str
    mirrored: bool  # True if it should be on the target
    source: Contents
    target: Contents | None
    differences: Sequence[str]

    @property
    def right(self) -> bool:
        """Return True if the target holds exactly the expected records."""
        if not self.mirrored:
            return self.target is None
        return self.source == self.target and not self.differences

    @property
    def verdict(self) -> str:
        if self.mirrored:
            return "equal" if self.right else "DIFFERENT"
        return "not copied" if self.right else "COPIED"


def contents(records: Sequence[ObservedRecord]) -> Contents:
    """Add up the records of one topic."""
    return Contents(
        records=len(records),
        null_keys=sum(record.key is None for record in records),
        tombstones=sum(record.value is None for record in records),
        headers=sum(len(record.headers) for record in records),
        size=sum(len(record.key or b"") + len(record.value or b"") for record in records),
        checksum=sum(map(_digest, records)) % (1 << CHECKSUM_BITS),
    )


def table(results: Sequence[TopicResult]) -> list[str]:
    """Return the lines of the table, two for each topic, and below it the differences."""
    rows: list[tuple[str, ...]] = [HEAD]
    for each in results:
        rows.append((each.topic, "source", *_cells(each.source), ""))
        rows.append(("", "target", *_cells(each.target), each.verdict))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(_aligned(row, widths)).rstrip() for row in rows]
    return lines + [f"! {line}" for each in results for line in each.differences]


def _cells(found: Contents | None) -> list[str]:
    if found is None:
        return ["-"] * 6
    numbers = (found.records, found.null_keys, found.tombstones, found.headers, found.size)
    return [*(f"{number:,}" for number in numbers), f"{found.checksum:016x}"]


def _aligned(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
    cells[RIGHT] = [cell.strip().rjust(len(cell)) for cell in cells[RIGHT]]
    return cells


def _digest(record: ObservedRecord) -> int:
    content = repr((record.key, record.value, record.headers, record.timestamp)).encode()
    return int.from_bytes(hashlib.blake2b(content, digest_size=CHECKSUM_BITS // 8).digest())
