"""A megabyte is the most that compressed messages become here."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from legacy_mm.protocol import message_set
from legacy_mm.protocol.compression import Decompressor
from tests.unit.protocol.batches import ROOM


@pytest.fixture(autouse=True, scope="module")
def little_memory() -> Iterator[None]:
    """A broken frame is tried up to the limit, which takes 90 ms where that is 256 MB."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(message_set, "Decompressor", partial(Decompressor, ROOM))
        yield
