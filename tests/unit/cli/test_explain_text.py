"""What the clusters say, in lines."""

from __future__ import annotations

import pytest

from legacy_mm.cli.explain_text import answers
from legacy_mm.explain.source_inspection import TopicCopy, Topics


@pytest.mark.parametrize(
    ("at_target", "told"), [(None, "60 partitions"), (60, "60 partitions"), (100, "60 partitions; at the target 100")]
)
def test_a_copy_with_another_number_of_partitions(at_target: int | None, told: str) -> None:
    copies, *_ = answers(Topics(answered=True, copies=(TopicCopy("t", "t", 60, at_target),)))
    assert copies[1].split(maxsplit=3)[-1] == told
