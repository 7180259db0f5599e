"""The size of one request that asks for many things."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

_AT_ONCE = 500
"""Topics, groups or rules."""
_RECORDS_AT_ONCE = 5_000
"""Metadata records: a KRaft controller refuses a request as a whole that makes more than 10,000."""
Item = TypeVar("Item")


def chunks(items: Sequence[Item], size: Callable[[Item], int] = lambda item: 1) -> Iterator[Sequence[Item]]:
    """Yield chunks that fit into one request; `size`: the metadata records that one item makes."""
    chunk: list[Item] = []
    records = 0
    for item in items:
        records += size(item)
        if chunk and (len(chunk) == _AT_ONCE or records > _RECORDS_AT_ONCE):
            yield chunk
            chunk, records = [], size(item)
        chunk.append(item)
    if chunk:
        yield chunk
