"""A record that cannot be sent: counted and told, or the end (contract 4.4)."""

from __future__ import annotations

import pytest

from legacy_mm.base.errors import SendFailure, StreamFailure
from legacy_mm.base.model import TopicPartition
from legacy_mm.dataplane.send_failure import SendFailures, Unsent, date, in_our_words, remedy, time_of
from legacy_mm.protocol.error_codes import ErrorCode
from tests.unit.protocol.batches import Row, build

HERE = TopicPartition("orders", 1)
DATED = 1_700_000_000_000
REASON = "Timestamp 1700000000000 of message with offset 478 is out of range."
CODE = ErrorCode.INVALID_TIMESTAMP


def unsent(*offsets: int) -> Unsent:
    batch = build([Row(at, DATED, None, b"v" * 9) for at in range(len(offsets))])
    return Unsent(HERE, offsets, "west.orders", batch)


def failures(*, abort: bool, synchronous: bool = False) -> SendFailures:
    return SendFailures(lambda batch: [(None, 9)] * batch.header.records, abort, synchronous)


def test_with_abort_it_is_told_and_ends_the_copying(caplog: pytest.LogCaptureFixture) -> None:
    """First in the words of the old client, then with its place at the source, not that in the batch we sent."""
    made = failures(abort=True)
    made.batch(unsent(333), CODE, REASON)
    assert made.dropped.total() == 1
    assert [(line.levelname, line.getMessage()) for line in caplog.records] == [
        (
            "ERROR",
            f"Record for topic west.orders (key null, value 9 bytes) could not be sent: {REASON} (INVALID_TIMESTAMP)",
        ),
        (
            "WARNING",
            "Not sent to topic west.orders: orders-1 at offset 333, a record of 2023-11-14 22:13:20 UTC (Timestamp "
            "1700000000000 of message is out of range.); copying ends there. To mend it raise "
            "message.timestamp.after.max.ms or message.timestamp.before.max.ms (message.timestamp.difference.max.ms "
            "before 3.6) of topic west.orders at the target",
        ),
    ]
    with pytest.raises(SendFailure, match="sending orders-1 at offset 333 to west.orders failed: Timestamp"):
        made.raise_if_ending()


def test_without_abort_it_is_counted_and_told(caplog: pytest.LogCaptureFixture) -> None:
    made = failures(abort=False)
    made.batch(unsent(7, 8, 11), CODE)
    made.raise_if_ending()
    assert (made.dropped.total(), made.take_reasons()) == (3, {"INVALID_TIMESTAMP": 3})
    assert [line.levelname for line in caplog.records] == ["ERROR", "ERROR", "ERROR", "WARNING"]
    assert "orders-1 at offsets 7 to 11, 3 records, the youngest of 2023-11-14" in caplog.messages[-1]
    assert "copying goes on, and this is lost" in caplog.messages[-1]


@pytest.mark.parametrize("abort", [True, False])
def test_a_synchronous_producer_fails_as_a_stream_whatever_the_flag(
    abort: bool, caplog: pytest.LogCaptureFixture
) -> None:
    made = failures(abort=abort, synchronous=True)
    made.batch(unsent(333), CODE)
    assert (made.dropped.total(), caplog.records) == (0, [])
    with pytest.raises(StreamFailure, match="sending orders-1 at offset 333 to west.orders failed: ") as raised:
        made.raise_if_ending()
    assert not isinstance(raised.value, SendFailure)


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
