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
    portion: list[Item] = []
    records = 0
    for item in items:
        records += size(item)
        if portion and (len(portion) == _AT_ONCE or records > _RECORDS_AT_ONCE):
            yield portion
            portion, records = [], size(item)
        portion.append(item)
    if portion:
        yield portion
