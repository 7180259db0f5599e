"""A flow without features has no work beside its copying."""

from __future__ import annotations

from typing import Any

import pytest

from legacy_mm.flow.feature_work import feature_work
from legacy_mm.flow.flow_topics import FlowTopics
from legacy_mm.metrics.registry import Registry
from tests.unit.flow_settings import flow_settings


def test_what_is_off_makes_nothing() -> None:
    settings, nobody = flow_settings(), None
    matcher: Any = nobody
    names = FlowTopics(settings.topics, settings.features, matcher)
    work = feature_work(settings, names, Registry("a->b", "c", {}), pytest.fail, None)
    assert (work.duties, work.offsets, list(work.background)) == (None, None, [])
    work.topics_found(frozenset({"t"}))
