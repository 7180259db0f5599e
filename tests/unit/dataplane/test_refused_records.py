"""When a record that the target refuses counts as set aside, with a target that is a list."""

from __future__ import annotations

import base64
import json
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError, Producer
from hypothesis import given
from hypothesis import settings as settings_of
from hypothesis import strategies as st

from legacy_mm.clients.librdkafka.error_meanings import refuses_the_record
from legacy_mm.clients.librdkafka.property_texts import property_texts
from legacy_mm.clients.librdkafka.sender import FailedSend, Refused
from legacy_mm.config import property_names
from legacy_mm.config.kafka_clients import ProducerSettings
from legacy_mm.config.settings import QuarantineSettings
from legacy_mm.dataplane.refused_records import RefusedRecords
from legacy_mm.errors import HostError
from legacy_mm.handlers.api import TargetRecord
from legacy_mm.handlers.quarantine import read_file
from legacy_mm.model import NO_RECORDS, Columns
from legacy_mm.protocol import error_codes
from tests.unit.protocol.batches import NOW
from tests.unit.source_records import number_of, row, rows, value_of

TOO_LARGE = FailedSend("t", 1, 1, "too large", "MSG_SIZE_TOO_LARGE", False, False, of_the_record=True)
NO_RIGHT = replace(TOO_LARGE, reason="no right", of_the_record=False)


class Target:
    """A sender and its target: a batch for each partition with every flush, refused as a whole for one bad record."""

    def __init__(self, refuses: Callable[[str, bytes], FailedSend | None], partitions: int = 3) -> None:
        self.log: dict[tuple[str, int], list[Any]] = {}
        self.flushes = 0
        self.count = partitions
        self.admit: Refused
        self.properties: Mapping[str, str] = {}
        self.ending: list[FailedSend] = []
        self._refuses = refuses
        self._queue: list[tuple[tuple[str, int], bytes, Any, Any]] = []

    def make(self, settings: ProducerSettings, admit: Refused) -> Any:
        self.properties, self.admit = property_texts(settings), admit
        return self

    def partitions(self, topic: str) -> int:
        return self.count

    def send(self, records: Columns) -> int:
        self._queue += [(("copy", number_of(each)), value_of(each), each, each) for each in records.rows()]
        return len(records)

    def send_outgoing(self, records: Sequence[Any], begin: int, origins: Sequence[Any]) -> int:
        self._queue += [((each[0], 0), each[2], each, origin) for each, origin in zip(records, origins, strict=True)]
        return len(records)

    def flush(self) -> bool:
        self.flushes += 1
        for place in sorted({place for place, *_ in self._queue}):
            batch = [entry for entry in self._queue if entry[0] == place]
            refusal = next(filter(None, (self._refuses(place[0], value) for _, value, *_ in batch)), None)
            if refusal is None:
                self.log.setdefault(place, []).extend(record for _, _, record, _ in batch)
            else:
                self.ending += [refusal for *_, origin in batch if not self.admit(origin, refusal)]
        self._queue = []
        return True


def large(topic: str, value: bytes) -> FailedSend | None:
    return TOO_LARGE if value.startswith(b"bad") and topic != "q" else None


def between(settings: QuarantineSettings, target: Target, properties: Mapping[str, str] = {}) -> RefusedRecords:
    """What is tested, in front of this target."""
    return RefusedRecords(
        settings, property_names.read_producer(properties), {"t": "copy"}, target.make, lambda: False, target.flush
    )


def read(*values: bytes, partitions: int = 1) -> Columns:
    """Records at the source, one partition after the other."""
    return Columns.from_rows([row(value, number, number % partitions, NOW) for number, value in enumerate(values)])


@pytest.fixture
def settings(tmp_path: Path) -> QuarantineSettings:
    return QuarantineSettings(refused=True, topic="q", file=str(tmp_path / "aside"))


def test_both_clients_tell_the_same_refusals() -> None:
    codes = [code for code in range(1, 130) if refuses_the_record(KafkaError(code))]
    assert codes == [code for code in range(1, 130) if error_codes.refuses_the_record(code)] == [10, 18, 32, 87]
    assert not any(error_codes.is_retriable(code) or not error_codes.may_spare_some(code) for code in codes)


@pytest.mark.parametrize(
    "failed", [NO_RIGHT, replace(TOO_LARGE, fatal=True), replace(TOO_LARGE, refuses_idempotence=True)]
)
def test_what_is_not_the_records_fault_counts_as_ever(settings: QuarantineSettings, failed: FailedSend) -> None:
    target = Target(lambda topic, value: failed)
    refused = between(settings, target)
    assert refused.send(read(b"bad", b"1"), 0) == 2
    assert (target.ending, target.log, refused.count) == ([failed, failed], {}, 0)


@settings_of(max_examples=60)
@given(values=st.lists(st.sampled_from([b"good", b"bad"]), max_size=40), partitions=st.integers(1, 3))
def test_invariant_c_only_what_is_refused_is_set_aside_and_the_rest_keeps_its_order(
    tmp_path_factory: pytest.TempPathFactory, values: list[bytes], partitions: int
) -> None:
    target = Target(large)
    asked = QuarantineSettings(refused=True, topic="q", file=str(tmp_path_factory.getbasetemp() / "unused"))
    refused = between(asked, target)
    records = read(*(value + b" %d" % number for number, value in enumerate(values)), partitions=partitions)
    assert refused.send(records, 0) == len(records)
    for number in range(partitions):
        good = [each for each in rows(records) if number_of(each) == number and value_of(each).startswith(b"good")]
        assert target.log.get(("copy", number), []) == good
    bad = [value for value in records.values if value is not None and value.startswith(b"bad")]
    assert sorted(record.value for record in target.log.get(("q", 0), [])) == sorted(bad)
    assert (refused.count, refused.settled, target.ending) == (len(bad), True, [])


def test_what_is_set_aside_says_why_and_whence(settings: QuarantineSettings, caplog: pytest.LogCaptureFixture) -> None:
    target = Target(large)
    refused = between(settings, target)
    source = rows(read(b"0", b"1", b"2"))
    made: Any = TargetRecord("copy", b"k", b"bad")
    assert refused.send_outgoing([made], 0, [source[2]]) == 1
    (record,) = target.log["q", 0]
    assert (record.value, record.timestamp, record.partition) == (b"2", NOW, None), "the source's, not the handler's"
    assert dict(record.headers)["legacy_mm.quarantine.error"] == b"too large"
    assert dict(record.headers)["legacy_mm.quarantine.offset"] == b"2"
    (line,) = caplog.records
    assert line.levelno == logging.WARNING
    assert line.getMessage() == "The target refuses t-0 at offset 2, which goes into the quarantine: too large"


@pytest.mark.parametrize("why", [TOO_LARGE, NO_RIGHT])
def test_what_the_topic_does_not_take_is_in_the_file(settings: QuarantineSettings, why: FailedSend) -> None:
    """Whatever its reason is; the file says why the record was refused at first."""
    target = Target(lambda topic, value: why if topic == "q" else large(topic, value))
    refused = between(settings, target)
    assert refused.send(read(b"bad", b"1"), 0) == 2
    assert list(map(value_of, target.log["copy", 0])) == [b"1"]
    assert (refused.count, target.ending) == (1, [])
    (record,) = read_file(Path(settings.file)).records
    assert (record.topic, record.partition, record.offset, record.value) == ("t", 0, 0, b"bad")
    assert "too large" in base64_of(settings.file)


def base64_of(file: str) -> str:
    """The texts in the headers of a file's only record."""
    headers = json.loads(Path(file).read_text())["headers"]
    return " ".join(base64.b64decode(value).decode() for _, value in headers)


def test_a_file_that_cannot_be_written_is_the_end(settings: QuarantineSettings) -> None:
    refused = between(replace(settings, topic=None, file="/dev/full"), Target(large))
    with pytest.raises(HostError, match="/dev/full cannot be written: No space left"):
        refused.send(read(b"bad"), 0)


def test_a_line_that_is_cut_short_is_the_end(settings: QuarantineSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that becomes full takes the beginning of a line, and says nothing; what it took goes again."""
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, line: write(descriptor, line[:5]))
    refused = between(replace(settings, topic=None), Target(large))
    with pytest.raises(HostError, match="cannot be written: No space left"):
        refused.send(read(b"bad"), 0)
    assert Path(settings.file).read_bytes() == b""


def test_without_time_nothing_is_settled(settings: QuarantineSettings) -> None:
    """Invariant A: the engine reports nothing of it as safe."""
    target = Target(large)
    refused = RefusedRecords(
        settings, property_names.read_producer({}), {"t": "copy"}, target.make, lambda: False, lambda: False
    )
    assert refused.send(read(b"1"), 0) == 1
    assert not refused.settled


@pytest.mark.parametrize(("limit", "sent"), [("1600", [2, 4, 6, 7]), ("100", [1, 2, 3, 4, 5, 6, 7])])
def test_records_under_a_limit_make_one_batch(settings: QuarantineSettings, limit: str, sent: list[int]) -> None:
    """Half of what a batch may have, or a single record; it waits for the flush."""
    target = Target(large)
    refused = between(settings, target, {"message.max.bytes": limit, "linger.ms": "5"})
    records = read(*([bytes(200)] * 7))
    ends = [0]
    while ends[-1] < len(records):
        ends.append(refused.send(records, ends[-1]))
    assert ends[1:] == sent
    assert target.flushes == len(sent)
    assert target.properties["linger.ms"] == "60000"


@pytest.mark.parametrize("seconds", [1, 10, 600])
def test_a_producer_can_be_made_with_any_time_out(settings: QuarantineSettings, seconds: int) -> None:
    """librdkafka refuses a linger that is not below it."""
    target = Target(large)
    between(settings, target, {"message.timeout.ms": str(seconds * 1000)})
    Producer({**target.properties, "bootstrap.servers": "127.0.0.1:1", "log_level": 0})


def test_until_the_partitions_are_known_records_go_alone(settings: QuarantineSettings) -> None:
    """Before, librdkafka keeps them elsewhere, and moves them while it sends."""
    target = Target(large, partitions=0)
    refused = between(settings, target)
    assert refused.send(read(b"1", b"2", b"3"), 0) == 1
    target.count = 3
    assert refused.send(read(b"1", b"2", b"3"), 1) == 3
    assert refused.send(NO_RECORDS, 0) == 0
