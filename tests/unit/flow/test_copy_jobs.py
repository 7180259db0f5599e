"""What a flow's next copy job does otherwise after a trouble."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from legacy_mm.base.errors import FailureKind
from legacy_mm.controlplane.copy_job import CopyTrouble
from legacy_mm.flow.copy_jobs import CopyJobFactory
from legacy_mm.flow.flow_settings import Settings
from tests.unit.flow_settings import flow_settings, source_settings, target_with


def nobody(*_: object) -> Any:
    """Nobody is asked, and no job starts."""
    raise AssertionError


@pytest.fixture
def settings() -> Settings:
    return flow_settings(source_settings())


def copies_of(settings: Settings) -> CopyJobFactory:
    return CopyJobFactory(settings, nobody, nobody, nobody)  # type: ignore[arg-type]


@pytest.mark.parametrize(("required", "helped"), [(False, True), (True, False)])
def test_without_a_producer_id_the_order_is_kept_by_one_request_at_a_time(
    settings: Settings, caplog: pytest.LogCaptureFixture, required: bool, helped: bool
) -> None:
    """Unless the user asked for idempotence by name; several streams hear of it."""
    target = replace(target_with(settings.target, {"enable.idempotence": "true"}), idempotence_required=required)
    copies = copies_of(replace(settings, target=target))
    refused = CopyTrouble("no right", fatal=False, kind=FailureKind.IDEMPOTENCE_REFUSED)
    assert [copies.adapt(refused) for _ in range(2)] == [helped] * 2
    assert len(caplog.records) == (1 if helped else 0)
    assert copies._target == (target.client.without_idempotence() if helped else target.client)


@pytest.mark.parametrize("kind", [FailureKind.OTHER, FailureKind.SEND_FAILURE, FailureKind.CORRUPT_RECORDS])
def test_other_troubles_are_not_helped_by_another_config(settings: Settings, kind: FailureKind) -> None:
    assert not copies_of(settings).adapt(CopyTrouble("why", fatal=False, kind=kind))


def test_each_stream_has_a_client_of_its_own(settings: Settings) -> None:
    assert [settings.client_id(stream) for stream in (0, 1)] == ["g-0", "g-1"]
