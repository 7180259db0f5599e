"""A record that cannot be sent: counted and told, or the end (contract 4.4)."""

from __future__ import annotations

import logging

import pytest

from legacy_mm.dataplane.send_failure import FailedSend, SendFailures
from legacy_mm.errors import SendFailure, StreamFailure

FAILED = FailedSend("t", None, 9, "too large", "MESSAGE_TOO_LARGE")


def test_with_abort_it_is_told_and_ends_the_copying(caplog: pytest.LogCaptureFixture) -> None:
    failures = SendFailures(lambda batch: [], abort=True)
    failures(FAILED)
    assert failures.dropped.total() == 1
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert vars(record)["fields"] == {
        "topic": "t",
        "key_size": "null",
        "value_size": "9 bytes",
        "reason": "too large",
        "code": "MESSAGE_TOO_LARGE",
    }
    with pytest.raises(SendFailure, match="too large"):
        failures.raise_if_ending()


def test_without_abort_it_is_counted_and_told(caplog: pytest.LogCaptureFixture) -> None:
    failures = SendFailures(lambda batch: [], abort=False)
    failures(FAILED)
    failures(FAILED)
    failures.raise_if_ending()
    assert (failures.dropped.total(), len(caplog.records)) == (2, 2)


@pytest.mark.parametrize("abort", [True, False])
def test_a_synchronous_producer_fails_as_a_stream_whatever_the_flag(
    abort: bool, caplog: pytest.LogCaptureFixture
) -> None:
    failures = SendFailures(lambda batch: [], abort=abort, synchronous=True)
    failures(FAILED)
    assert (failures.dropped.total(), caplog.records) == (0, [])
    with pytest.raises(StreamFailure, match="too large") as raised:
        failures.raise_if_ending()
    assert not isinstance(raised.value, SendFailure)
