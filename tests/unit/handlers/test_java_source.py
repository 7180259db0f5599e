"""The bridge of each release names what that release has, and nothing else."""

from __future__ import annotations

import pytest

from legacy_mm.handlers.java_source import BY_ARGUMENTS, CLASS, source, transform_source


@pytest.mark.parametrize(("arguments", "kinds", "headers"), [(8, True, True), (7, True, False), (5, False, False)])
def test_a_bridge_names_only_what_its_release_has(arguments: int, kinds: bool, headers: bool) -> None:
    text = source(arguments)
    assert f"package {CLASS.rpartition('.')[0]};" in text and "class HandlerBridge" in text
    assert ("TimestampType" in text) == kinds
    assert ("RecordHeaders" in text) == headers
    assert text.count("new BaseConsumerRecord(") == 1


@pytest.mark.parametrize("arguments", BY_ARGUMENTS)
def test_no_place_is_left_open(arguments: int) -> None:
    assert not [name for name in BY_ARGUMENTS[8] if f"/*{name}*/" in source(arguments)]


def test_the_bridge_of_transforms_knows_no_handler() -> None:
    text = transform_source()
    assert not [name for name in BY_ARGUMENTS[8] if f"/*{name}*/" in text]
    assert "kafka.tools" not in text and "kafka.consumer" not in text
    assert "final class TransformChain {" in text
