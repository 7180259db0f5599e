"""The frames of the control channel survive the wire and refuse what is not a frame."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from legacy_mm.base.errors import ChannelError, FailureKind
from legacy_mm.base.model import TopicPartition
from legacy_mm.base.reports import Frame, Gap, Measured, Portion, Progress, Started, Statistics, TransactionTotals
from legacy_mm.base.settings import ExactlyOnceSettings, HandlerSettings, MarkedOffset, QuarantineSettings
from legacy_mm.runtime.channel.frames import (
    BEAT_INTERVAL,
    LEASE_TIMEOUT,
    LENGTH,
    Copied,
    Failure,
    Hello,
    Lease,
    MarkAsked,
    Marked,
    OwnershipAsked,
    OwnershipConfirmed,
    Share,
    Stopped,
    TaskConfig,
    Ticket,
    decode,
    encode,
)
from tests.fixtures import client_settings

TICKET = Ticket("127.0.0.1", 1, b"secret-key", "", "a->b", 3, 7, 11)
OFFSETS = {TopicPartition("orders", 0): 5, TopicPartition("o.2", 11): 1 << 40}
CONFIG = TaskConfig(
    OFFSETS,
    {"orders": "orders"},
    client_settings.read_consumer({"sasl.password": "geheim"}),
    client_settings.read_producer({"x": "y"}),
    5.0,
    60.0,
    True,
    False,
    False,
)

ONCE = ExactlyOnceSettings("g", "source", "target", generation=3, group_offsets=[MarkedOffset("t", 1, 7, "mark")])
HANDLER = HandlerSettings("a.py:B", "argument", steps=["keep.partition"], class_path=["a.jar"], java_options=["-Xmx1g"])


@pytest.mark.parametrize(
    "frame",
    [
        CONFIG,
        replace(CONFIG, handler=HANDLER, quarantine=QuarantineSettings(refused=True, topic="q")),
        replace(CONFIG, exactly_once=ONCE),
        OwnershipAsked([3]),
        OwnershipConfirmed([3, 4]),
        MarkAsked(OFFSETS),
        Marked(OFFSETS),
        Progress(OFFSETS, 10, {}, False, transactions=TransactionTotals(5, 1, 2, 3, 0.5, 0.7)),
        Share(HANDLER),
        Share(),
        Hello(11, "ab", 42, 4711, "host"),
        Progress(OFFSETS, 10, {"t": 2}, True),
        Gap("orders", 1, 5, 10, 20, "deleted"),
        Statistics("consumer", [Measured("partition", "orders-0", {"a": 1}, {"b": 0.5}, {}, {"c": 2.0})]),
        Copied([Portion("orders", 1, 5, 9, 3, 1 << 40)], {"MESSAGE_TOO_LARGE": 2}),
        Started(OFFSETS, {TopicPartition("orders", 0): 2}),
        Failure(FailureKind.CORRUPT_RECORDS, "torn", True),
        Stopped({}),
        Lease(),
    ],
    ids=lambda frame: type(frame).__name__,
)
def test_a_frame_survives_the_wire(frame: Frame) -> None:
    data = encode(frame, TICKET)
    assert LENGTH.unpack(data[:4])[0] == len(data) - 4
    assert decode(data[4:], TICKET) == frame


def test_a_frame_says_flow_stream_and_generation() -> None:
    body = json.loads(encode(Lease(), TICKET)[4:])
    assert (body["flow"], body["stream"], body["generation"]) == ("a->b", 3, 7)


def test_a_frame_of_another_generation_is_refused() -> None:
    other = Ticket("127.0.0.1", 1, b"", "", "a->b", 3, 8, 12)
    with pytest.raises(ChannelError, match="stream 3"):
        decode(encode(Lease(), other)[4:], TICKET)


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b"[]", b'{"frame":"Nothing"}', b'{"frame":"Stop"}', b"\xff\xfe", b'{"frame":"Progress","offsets":[1]}'],
)
def test_what_is_no_frame_is_refused(text: bytes) -> None:
    with pytest.raises(ChannelError):
        decode(text)


def test_a_lease_outlasts_a_beat_that_comes_late() -> None:
    assert LEASE_TIMEOUT >= 3 * BEAT_INTERVAL


def test_no_secret_in_what_is_printed() -> None:
    """Invariant G."""
    assert "geheim" not in repr(CONFIG)
    assert "secret-key" not in repr(TICKET)
