"""Records as a reader hands them over, for tests of what comes behind it."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any

from legacy_mm.handlers.api import CREATE_TIME

Row = tuple[Any, ...]
"""With the fields of a `Record`, in their order."""
number_of: Callable[[Row], int] = itemgetter(1)
offset_of: Callable[[Row], int] = itemgetter(2)
value_of: Callable[[Row], bytes] = itemgetter(6)


def row(value: bytes | None, offset: int = 7, partition: int = 0, timestamp: int = 99) -> Row:
    """A record of topic t."""
    return ("t", partition, offset, CREATE_TIME, timestamp, b"k", value, ())
