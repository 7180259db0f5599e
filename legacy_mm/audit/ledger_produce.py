"""Write records and keep a ledger of those that were acknowledged. Rule: a refusal is counted, not fatal.

Keys repeat, every seventh record has none, and headers come in four shapes, so that a copy that mixes anything up
between neighbours is found out.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from confluent_kafka import Producer

from legacy_mm.audit.ledger import Ledger, LedgerEntry, checksum
from legacy_mm.audit.load import DIFFERENT_KEYS, DIFFERENT_VALUES, FLUSH_TIMEOUT, text_values
from legacy_mm.audit.record_comparison import ObservedHeaders

_HEADERS: tuple[ObservedHeaders, ...] = (
    (),
    (("trace", b"1"),),
    (("twice", b"first"), ("twice", b"second")),
    (("null", None), ("empty", b"")),
)
_KEYLESS = 7
_POLL_RECORDS = 1_000
_SETTINGS: Mapping[str, Any] = {
    "log_level": 0,
    "partitioner": "murmur2_random",
    "linger.ms": 20,
    "batch.size": 131_072,
    "message.max.bytes": 10_000_000,
    "queue.buffering.max.messages": 1_000_000,
    "enable.idempotence": True,
}


@dataclass(frozen=True, slots=True)
class Workload:
    """Number and kind of the records to write."""

    records: int
    size: int = 100
    """Bytes of a value, at least its identity."""
    rate: float = 0.0
    """Records a second; 0 is as fast as it goes."""
    headers: bool = True
    """Off for topics whose records are older than headers (before 0.11)."""
    seed: int = 7
    age_ms: int = 0
    """Age of the records by their timestamps."""
    unique_keys: bool = False
    """Every record has a key, and none comes twice: for a topic whose compaction must not take any."""
    transaction: Literal["", "commit", "abort"] = ""
    """End of the transaction of the records; none by default. Records of an aborted one are acknowledged, too."""


def produce(ledger: Ledger, connection: Mapping[str, Any], work: Workload) -> int:
    """Write to the ledger's topic; how many records were refused. TimeoutError when some have no answer."""
    own_id = {"transactional.id": f"{ledger.topic}-{ledger.run}"} if work.transaction else {}
    writer = Producer({**_SETTINGS, **own_id, **connection})
    if work.transaction:
        writer.init_transactions(FLUSH_TIMEOUT)
        writer.begin_transaction()
    refused: list[int] = []
    texts = text_values(max(0, work.size - len(ledger.identity(10**6))), seed=work.seed)
    for number, sequence in enumerate(_paced(ledger.reserve(work.records), work.rate)):
        _send(writer, ledger, refused, sequence, texts[sequence % DIFFERENT_VALUES], work)
        if number % _POLL_RECORDS == 0 or work.rate:
            writer.poll(0)
    if left := writer.flush(FLUSH_TIMEOUT):
        raise TimeoutError(f"{left} records were neither acknowledged nor refused within {FLUSH_TIMEOUT:g} s")
    if work.transaction == "commit":
        writer.commit_transaction(FLUSH_TIMEOUT)
    elif work.transaction == "abort":
        writer.abort_transaction(FLUSH_TIMEOUT)
    return len(refused)


def _send(writer: Producer, ledger: Ledger, refused: list[int], sequence: int, text: bytes, work: Workload) -> None:
    key = _key(sequence, work)
    value = ledger.identity(sequence) + text
    headers = _HEADERS[sequence % len(_HEADERS)] if work.headers else ()
    timestamp = time.time_ns() // 1_000_000 - work.age_ms
    on_delivery = partial(_settled, ledger, refused, sequence, checksum(key, value), timestamp, headers)
    while True:
        try:
            writer.produce(ledger.topic, value, key, -1, on_delivery, None, timestamp, list(headers))
            return
        except BufferError:  # the queue is full: let it drain
            writer.poll(0.1)


def _key(sequence: int, work: Workload) -> bytes | None:
    if work.unique_keys:
        return b"key-%08d" % sequence
    return None if sequence % _KEYLESS == 0 else b"key-%08d" % (sequence % DIFFERENT_KEYS)


def _settled(
    ledger: Ledger,
    refused: list[int],
    sequence: int,
    checked: int,
    timestamp: int,
    headers: ObservedHeaders,
    error: object,
    message: Any,
) -> None:
    if error is not None:
        refused.append(sequence)
    else:
        ledger.note(LedgerEntry(sequence, message.partition(), message.offset(), checked, timestamp, headers))


def _paced(sequences: range, rate: float) -> Iterator[int]:
    start = time.monotonic()
    for number, sequence in enumerate(sequences):
        if rate and (early := start + number / rate - time.monotonic()) > 0:
            time.sleep(early)
        yield sequence
