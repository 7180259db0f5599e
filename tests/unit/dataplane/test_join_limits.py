"""A topic that refused a batch gets smaller ones from then on."""

from __future__ import annotations

from legacy_mm.dataplane.join_limits import JoinLimits


def test_a_topic_that_refused_one_gets_half_of_it() -> None:
    limits = JoinLimits(1 << 20)
    assert limits.of("t") == 256 << 10
    limits.refused("t", 4_000)
    assert limits.of("t") == 2_000
    limits.refused("t", 2_000)
    limits.refused("t", 3_000)
    assert (limits.of("t"), limits.of("other")) == (1_000, 256 << 10)


def test_the_producers_own_limit_is_obeyed() -> None:
    assert JoinLimits(16_384).of("t") == 16_384
