"""Which failures of a copy task the driver answers in a way of their own; the others inherit nothing by accident."""

from __future__ import annotations

import pytest

from legacy_mm.base.errors import (
    CorruptRecords,
    FailureKind,
    HandlerFailure,
    LegacyMMError,
    SendFailure,
    StreamFailure,
)
from legacy_mm.clients.produce.producer_id import ProducerIdRefused
from legacy_mm.dataplane.send_failure import ProducerBroken


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ProducerIdRefused, FailureKind.IDEMPOTENCE_REFUSED),
        (CorruptRecords, FailureKind.CORRUPT_RECORDS),
        (SendFailure, FailureKind.SEND_FAILURE),
        (ProducerBroken, FailureKind.OTHER),
        (StreamFailure, FailureKind.OTHER),
        (HandlerFailure, FailureKind.OTHER),
    ],
)
def test_the_kind_of_a_failure(error: type[LegacyMMError], kind: FailureKind) -> None:
    assert error.failure_kind is kind
