"""A topic that refused a batch gets smaller ones from then on."""

from __future__ import annotations

from legacy_mm.dataplane.batch_source import JoinLimits


def test_a_topic_that_refused_one_gets_half_of_it() -> None:
    limits = JoinLimits(1 << 20)
    assert limits.most_bytes("t") == 960 << 10
    limits.refused("t", 4_000)
    assert limits.most_bytes("t") == 2_000
    limits.refused("t", 2_000)
    limits.refused("t", 3_000)
    assert (limits.most_bytes("t"), limits.most_bytes("other")) == (1_000, 960 << 10)


def test_the_producers_own_limit_is_obeyed() -> None:
    assert JoinLimits(16_384).most_bytes("t") == 16_384


def test_what_is_read_at_once_makes_full_batches() -> None:
    limits = JoinLimits(1 << 20)
    full = limits.full_batches(1 << 20)
    assert 0.96 < full / limits.most_bytes("t") < 0.98, "the batch is a little larger than what was read"
    assert limits.full_batches(10 << 20) == 11 * full
    assert limits.full_batches(full - 1) == full - 1


def test_where_none_are_joined_the_consumers_setting_stays() -> None:
    assert JoinLimits(0).full_batches(1 << 20) == 1 << 20
