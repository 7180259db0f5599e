"""The bridge of each release names what that release has, and nothing else."""

from __future__ import annotations

import pytest

from legacy_mm.handlers.java_source import CLASS, source


@pytest.mark.parametrize(("arguments", "kinds", "headers"), [(8, True, True), (7, True, False), (5, False, False)])
def test_a_bridge_names_only_what_its_release_has(arguments: int, kinds: bool, headers: bool) -> None:
    text = source(arguments)
    assert f"package {CLASS.rpartition('.')[0]};" in text and "class HandlerBridge" in text
    assert ("TimestampType" in text) == kinds
    assert ("RecordHeaders" in text) == headers
    assert text.count("new BaseConsumerRecord(") == 1


@pytest.mark.parametrize("arguments", [5, 7, 8])
def test_no_place_is_left_open(arguments: int) -> None:
    assert not [
        name for name in ("imports", "record", "helpers", "pairs", "timestamp") if f"/*{name}*/" in source(arguments)
    ]
