"""What a sender makes of a producer that can send no more; librdkafka is the real one, without a broker."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import confluent_kafka
import pytest
from confluent_kafka import KafkaError, Message

from legacy_mm.audit.waiting import wait_until
from legacy_mm.clients.librdkafka.sender import FailedSend, RecordSender
from legacy_mm.config import property_names
from legacy_mm.control_channel.frames import UNKNOWN
from legacy_mm.model import NO_RECORDS, Columns
from tests.unit.source_records import Row, row

DENIED, OUT_OF_ORDER = KafkaError.CLUSTER_AUTHORIZATION_FAILED, KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER
AFTER_THE_HEAD_OF_AN_OBJECT = 16
"""Where confluent-kafka's clients keep librdkafka's handle."""


@pytest.fixture
def failed() -> list[FailedSend]:
    return []


@pytest.fixture
def sender(failed: list[FailedSend]) -> Iterator[RecordSender]:
    properties = {"bootstrap.servers": "127.0.0.1:1", "enable.idempotence": "true"}
    made = RecordSender(property_names.read_producer(properties), {"t": "t"}, failed.append, print, lambda _: None)
    yield made
    made.purge()


def deny(sender: RecordSender, code: int = DENIED) -> None:
    """As a broker that gives no producer id, or will have no more under it."""
    (found,) = Path(confluent_kafka.__file__).parents[1].glob("confluent_kafka.libs/librdkafka*")
    library = ctypes.CDLL(str(found))
    handle = ctypes.c_void_p.from_address(id(sender._producer) + AFTER_THE_HEAD_OF_AN_OBJECT)
    assert library.rd_kafka_test_fatal_error(handle, ctypes.c_int(code), b"denied") == 0


RECORD = row(b"v")
RECORDS = Columns.from_rows([RECORD])


@pytest.mark.parametrize(
    "ask",
    [
        lambda sender: sender.send(NO_RECORDS),
        lambda sender: sender.send(RECORDS),
        lambda sender: sender.send_outgoing([("t", b"k", b"v", (), None, 99)]),
        lambda sender: sender.flush(0.01),
    ],
    ids=["idle", "record", "outgoing", "flush"],
)
def test_what_ends_the_producer_is_no_failure_of_a_record(
    sender: RecordSender, failed: list[FailedSend], ask: Callable[[RecordSender], int]
) -> None:
    """confluent-kafka raises it where librdkafka is asked for news, and says only that it is so where records come."""
    deny(sender)
    assert ask(sender) == 0
    broken = sender.fatal()
    assert broken is not None
    assert (broken.code, broken.refuses_idempotence, failed) == ("CLUSTER_AUTHORIZATION_FAILED", True, [])


def test_what_ends_the_producer_is_known_though_records_fail_with_it(
    sender: RecordSender, failed: list[FailedSend]
) -> None:
    """confluent-kafka tells of them while it raises, which Python takes amiss."""
    assert sender.send(RECORDS) == 1
    deny(sender)
    sender.purge()
    assert not sender.flush(1.0)
    broken = sender.fatal()
    assert broken is not None
    assert (broken.code, broken.refuses_idempotence) == ("CLUSTER_AUTHORIZATION_FAILED", True)


@pytest.mark.parametrize(("code", "another"), [(DENIED, False), (OUT_OF_ORDER, True)])
def test_a_producer_id_that_the_target_has_lost_is_told_from_one_that_it_refuses(
    sender: RecordSender, code: int, another: bool
) -> None:
    deny(sender, code)
    assert not sender.flush(0.01)
    broken = sender.fatal()
    assert broken is not None
    assert broken.needs_new_producer is another


def test_a_record_that_failed_and_may_have_arrived_has_no_known_place() -> None:
    """Where offsets are translated it is no hole."""
    told: list[tuple[Row, str, int]] = []
    properties = {"bootstrap.servers": "127.0.0.1:1", "message.timeout.ms": "10", "linger.ms": "0"}
    ignored = (lambda _: None,) * 3
    sender = RecordSender(
        property_names.read_producer(properties), {"t": "t"}, *ignored, ["t"], lambda *delivered: told.append(delivered)
    )
    assert sender.send(RECORDS) == 1
    assert sender.send_outgoing([("other", b"k", b"v", (), 0, 7)], 0, [RECORD], are_rows=True) == 1
    wait_until(lambda: sender.flush(0.1), 20, "the time-out")
    assert told == [(RECORD, "t", UNKNOWN), (RECORD, "other", UNKNOWN)]


@pytest.mark.parametrize(
    ("batch", "size", "told"),
    [
        ({"batch.size": "16384"}, 16_383 - len(b"k"), 16_384),
        ({"batch.size": "16384"}, 16_384, 0),
        ({"batch.size": "1024"}, 9, 0),
        ({"batch.num.messages": "1"}, 9, 0),
    ],
    ids=["shared", "alone", "hardly shared", "one in a batch"],
)
def test_a_record_may_be_refused_for_what_shares_its_batch(
    failed: list[FailedSend], batch: Mapping[str, str], size: int, told: int
) -> None:
    properties = {"bootstrap.servers": "127.0.0.1:1", **batch}
    sender = RecordSender(property_names.read_producer(properties), {"t": "t"}, failed.append, print, lambda _: None)
    record = Message(topic="t", partition=0, offset=7, key=b"k", value=bytes(size))
    sender._on_delivery(KafkaError(KafkaError.MSG_SIZE_TOO_LARGE), record)
    assert [each.batch_bytes for each in failed] == [told]


@pytest.mark.parametrize(
    ("name", "flaw"),
    [("\ud800", "surrogates not allowed"), ("a\udcff", "surrogates not allowed"), ("a\0b", "holds a NUL")],
)
def test_a_header_name_that_librdkafka_would_crash_on_or_cut_off_is_an_error(
    sender: RecordSender, name: str, flaw: str
) -> None:
    with pytest.raises(ValueError, match=flaw):
        sender.send_outgoing([("t", b"k", b"v", ((name, b"x"),), None, 99)])
