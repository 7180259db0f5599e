"""A record that cannot be sent: counted and told, or the end (contract 4.4)."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest

from legacy_mm.clients.librdkafka.sender import FailedSend
from legacy_mm.dataplane.send_failure import BatchRefused, IdempotenceRefused, ProducerBroken, SendFailures
from legacy_mm.errors import SendFailure, StreamFailure


def failed(*, fatal: bool = False, refuses_idempotence: bool = False) -> FailedSend:
    return FailedSend("t", None, 9, "too large", "MSG_SIZE_TOO_LARGE", fatal, refuses_idempotence)


def test_with_abort_it_is_told_and_ends_the_copying(caplog: pytest.LogCaptureFixture) -> None:
    failures = SendFailures(abort=True)
    failures(failed())
    assert failures.dropped.total() == 1
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert vars(record)["fields"] == {
        "topic": "t",
        "key_size": "null",
        "value_size": "9 bytes",
        "reason": "too large",
        "code": "MSG_SIZE_TOO_LARGE",
    }
    with pytest.raises(SendFailure, match="too large"):
        failures.raise_if_ending(None)


def test_without_abort_it_is_counted_and_told(caplog: pytest.LogCaptureFixture) -> None:
    failures = SendFailures(abort=False)
    failures(failed())
    failures(failed())
    failures.raise_if_ending(None)
    assert (failures.dropped.total(), len(caplog.records)) == (2, 2)


@pytest.mark.parametrize("abort", [True, False])
def test_a_synchronous_producer_fails_as_a_stream_whatever_the_flag(
    abort: bool, caplog: pytest.LogCaptureFixture
) -> None:
    failures = SendFailures(abort=abort, synchronous=True)
    failures(failed())
    assert (failures.dropped.total(), caplog.records) == (0, [])
    with pytest.raises(StreamFailure, match="too large") as raised:
        failures.raise_if_ending(None)
    assert not isinstance(raised.value, SendFailure)


def test_a_refused_producer_id_is_not_a_lost_record(caplog: pytest.LogCaptureFixture) -> None:
    failures = SendFailures(abort=True)
    failures(failed(refuses_idempotence=True))
    assert caplog.records == []
    with pytest.raises(IdempotenceRefused):
        failures.raise_if_ending(None)


@pytest.mark.parametrize("abort", [True, False])
def test_a_batch_that_may_be_divided_is_no_lost_record(abort: bool, caplog: pytest.LogCaptureFixture) -> None:
    failures = SendFailures(abort=abort)
    failures(replace(failed(), batch_bytes=262_144))
    assert (failures.dropped.total(), caplog.records) == (0, [])
    with pytest.raises(BatchRefused) as refused:
        failures.raise_if_ending(None)
    assert refused.value.batch_bytes == 262_144


def test_what_no_record_has_told_is_told_at_the_end(caplog: pytest.LogCaptureFixture) -> None:
    """A refused login: the producer is broken before it has sent anything."""
    broken = FailedSend("", None, None, "Authentication failed", "_AUTHENTICATION", True, False)
    with pytest.raises(StreamFailure, match="sending to the target failed: Authentication failed") as raised:
        SendFailures(abort=True).raise_if_ending(broken)
    assert not isinstance(raised.value, SendFailure)
    assert caplog.records == []


@pytest.mark.parametrize("abort", [True, False])
def test_a_target_that_has_lost_the_producer_id_gets_the_records_under_another_one(abort: bool) -> None:
    """As in Java; the records engine ended with 255 when an unclean election had cut the target's log."""
    lost = FailedSend("", None, None, "desynchronized", "OUT_OF_ORDER_SEQUENCE_NUMBER", True, False)
    with pytest.raises(ProducerBroken, match="desynchronized") as raised:
        SendFailures(abort=abort).raise_if_ending(replace(lost, needs_new_producer=True))
    assert raised.value.retriable
