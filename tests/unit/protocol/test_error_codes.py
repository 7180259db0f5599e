"""One table of broker errors: kafka-python numbers and judges them alike."""

from __future__ import annotations

import pytest
from kafka.errors import for_code

from legacy_mm.protocol import error_codes
from legacy_mm.protocol.error_codes import RETRIABLE, ErrorCode

NEWER_THAN_KAFKA_PYTHON = {code for code in ErrorCode if code > 127}
DAMAGED_IN_KAFKA_PYTHON = {ErrorCode.CORRUPT_MESSAGE}
"""Java retries; kafka-python does not."""


@pytest.mark.parametrize("code", sorted(set(ErrorCode) - NEWER_THAN_KAFKA_PYTHON - DAMAGED_IN_KAFKA_PYTHON))
def test_what_is_retriable_is_so_in_kafka_python(code: ErrorCode) -> None:
    assert (code in RETRIABLE) == bool(for_code(code).retriable)


def test_a_code_that_is_not_in_the_table_has_no_name() -> None:
    assert error_codes.name(32_000) == "UNKNOWN_SERVER_ERROR"
    assert not error_codes.is_retriable(32_000)


@pytest.mark.parametrize("code", [ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE])
def test_a_batch_larger_than_a_segment_is_too_large(code: ErrorCode) -> None:
    """A broker answers so for `segment.bytes`; the batch's records may be taken in smaller ones."""
    assert error_codes.is_too_large(code)
