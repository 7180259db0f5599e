"""Lines of MirrorMaker 2's three formatters, as its own classes printed them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.client import (
    Checkpoint,
    Heartbeat,
    OffsetSync,
    checkpoint_line,
    heartbeat_line,
    offset_sync_line,
)

# kind, key, value, line: from runs of 3.9.1 and 4.1.0
LINES = json.loads(Path(__file__).with_name("formatter_lines.json").read_text(encoding="utf-8"))
FORMATTERS: dict[str, tuple[Any, Callable[[Any], str]]] = {
    "heartbeat": (Heartbeat, heartbeat_line),
    "checkpoint": (Checkpoint, checkpoint_line),
    "offset_sync": (OffsetSync, offset_sync_line),
}


@pytest.mark.parametrize(("kind", "key", "value", "line"), LINES)
def test_the_lines_are_mirror_maker_2_s(kind: str, key: str, value: str, line: str) -> None:
    record, formatter = FORMATTERS[kind]
    assert formatter(record.decode(bytes.fromhex(key), bytes.fromhex(value))) == line
