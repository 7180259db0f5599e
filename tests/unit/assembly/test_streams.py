"""The settings of each stream's membership."""

from __future__ import annotations

from dataclasses import replace

import pytest

from legacy_mm.assembly.streams import member_settings
from legacy_mm.flow.flow_settings import Settings
from tests.unit.flow_settings import flow_settings, source_settings


@pytest.fixture
def settings() -> Settings:
    return flow_settings(source_settings(group_instance_id="host-a"))


def test_instance_id_per_stream(settings: Settings) -> None:
    """Difference: instance-id-per-stream."""
    assert member_settings(settings, 0).membership.instance_id == "host-a"
    two = replace(settings, streams=2)
    assert [member_settings(two, n).membership.instance_id for n in range(2)] == ["host-a-0", "host-a-1"]


def test_no_instance_id_is_made_up(settings: Settings) -> None:
    plain = replace(settings, source=replace(settings.source, group_instance_id=None))
    assert member_settings(plain, 0).membership.instance_id is None
