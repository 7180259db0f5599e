"""The things that exactly once adds to a stream, and only where it is on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from legacy_mm.base.model import TopicPartition
from legacy_mm.features.exactly_once.feature import EXACTLY_ONCE
from legacy_mm.features.exactly_once.flags import ExactlyOnceFlags
from legacy_mm.transactions.bundle_sharing import ByBundles
from legacy_mm.transactions.exactly_once_stream import exactly_once_stream, node_bundles
from tests.unit.flow_settings import flow_settings

NOBODY: Any = None
HERE = TopicPartition("orders", 0)


def test_without_it_nothing_is_made() -> None:
    assert (exactly_once_stream(flow_settings(), NOBODY), node_bundles(flow_settings())) == (None, None)


def test_a_copy_job_gets_its_settings_and_what_the_group_has() -> None:
    plain = flow_settings()
    asked = ExactlyOnceFlags(interval=2.5, transaction_timeout=30.0, stops_at_gap=True, old_brokers=False)
    settings = replace(plain, features=plain.features.having(EXACTLY_ONCE, asked))
    stream = exactly_once_stream(settings, NOBODY)
    assert stream is not None
    job = stream.job({HERE: 7})
    assert (job.group, job.interval, job.transaction_timeout, job.offsets_topic) == ("g", 2.5, 30.0, "")
    (offset,) = job.group_offsets
    assert (offset.offset, offset.metadata) == (7, stream.mark)
    sharing = node_bundles(settings)
    assert sharing is not None and isinstance(sharing("mm-0"), ByBundles)
