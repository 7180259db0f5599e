"""What lines say of records that the target refuses."""

from __future__ import annotations

import pytest

from legacy_mm.dataplane.refusal_words import date, in_our_words, remedy, time_of
from legacy_mm.protocol.error_codes import ErrorCode
from tests.unit.protocol.batches import Row, build


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        (
            "Timestamp 5 of message with offset 478 is out of range. The timestamp should be within [1, 3]",
            "Timestamp 5 of message is out of range. The timestamp should be within [1, 3]",
        ),
        ("Compacted topic cannot accept message without key in topic partition t-0.",) * 2,
    ],
)
def test_the_place_in_our_batch_is_left_out(reason: str, told: str) -> None:
    assert in_our_words(reason) == told


def test_a_remedy_names_property_and_topic() -> None:
    assert remedy(ErrorCode.INVALID_TIMESTAMP, "west.t").startswith("raise message.timestamp.after.max.ms or ")
    assert remedy(ErrorCode.INVALID_TIMESTAMP, "west.t").endswith(" of topic west.t at the target")
    assert remedy(ErrorCode.UNKNOWN_SERVER_ERROR, "west.t") == "see to topic west.t at the target"


def test_the_time_of_a_batch_is_that_of_its_youngest_record() -> None:
    batch = build([Row(0, 1_700_000_000_000, b"k", b"v"), Row(1, 1_600_000_000_000, b"k", b"v")])
    assert time_of(batch.header) == "of 2023-11-14 22:13:20 UTC"
    assert time_of(build([Row(0, -1, b"k", b"v")]).header) == "without a time"
    assert date(1 << 62) == f"of {1 << 62} ms since 1970"
