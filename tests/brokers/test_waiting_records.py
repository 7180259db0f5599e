"""A refused record holds its partition up and nothing else, copies nothing again, and goes on once it is taken."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from confluent_kafka import Producer

from compat.laboratory.topic_state import override
from legacy_mm.audit.cluster_access import create_topic, end_offsets, read_all
from legacy_mm.audit.record_comparison import same_records
from legacy_mm.audit.waiting import wait_until
from legacy_mm.clock import epoch_ms
from legacy_mm.control_channel.frames import Progress
from legacy_mm.dataplane import waiting_records
from legacy_mm.model import TopicPartition
from tests.fixtures.copying import PATIENCE, Copying, Start

pytestmark = pytest.mark.brokers
RECORDS, BAD, PARTITIONS = 60, 21, 2
LARGE = 1_500_000
"""More than our client's `max.request.size`."""


@pytest.fixture
def name(topic: Callable[[], str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> str:
    monkeypatch.setattr(waiting_records, "_FIRST_PAUSE", 0.2)
    caplog.set_level(logging.INFO, "legacy_mm")
    return topic()


def write(source: Any, target: Any, name: str, bad: dict[str, Any], limits: Mapping[str, str]) -> None:
    """The same records in each partition, one of partition 0 otherwise; the target has these limits."""
    anything = {"max.message.bytes": "5000000", "message.timestamp.after.max.ms": str(2**63 - 1)}
    create_topic(source.bootstrap, name, PARTITIONS, config=anything)
    create_topic(target.bootstrap, name, PARTITIONS, config=dict(limits))
    writer = Producer({"bootstrap.servers": source.bootstrap, "linger.ms": 200, "message.max.bytes": 5_000_000})
    for number in range(RECORDS):
        for partition in range(PARTITIONS):
            odd = bad if (number, partition) == (BAD, 0) else {}
            writer.produce(name, partition=partition, **{"value": b"%d" % number, **odd})
    assert writer.flush(30) == 0


def start(start_copying: Start, source: Any, target: Any, name: str) -> Copying:
    return start_copying(
        source.bootstrap, target.bootstrap, name, PARTITIONS, keeps_partition=[name], waits_on_refusal=True
    )


def ends(target: Any, name: str) -> list[int]:
    return [end for _, end in sorted(end_offsets(target.bootstrap, name).items())]


KINDS: Mapping[str, tuple[dict[str, Any], dict[str, str], dict[str, str], str]] = {
    "from the future": (
        {"value": b"x", "timestamp": epoch_ms() + 7_200_000},
        {"message.timestamp.after.max.ms": "3600000"},
        {"message.timestamp.after.max.ms": "9223372036854775807"},
        "message.timestamp.after.max.ms",
    ),
    "too large": (
        {"value": bytes(LARGE)},
        {"max.message.bytes": "1000000"},
        {"max.message.bytes": "5000000"},
        "raise max.message.bytes of the topic at the target",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_it_waits_alone_and_goes_on_in_order(
    source: Any, target: Any, name: str, start_copying: Start, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    bad, limits, mended, remedy = KINDS[kind]
    write(source, target, name, bad, limits)
    copying = start(start_copying, source, target, name)
    wait_until(lambda: copying.over() or ends(target, name) == [BAD, RECORDS], PATIENCE, "all that can be copied")
    assert copying.error is None
    line = f"The target does not take {name}-0 at offset {BAD}, a record of 20"
    wait_until(lambda: caplog.text.count(line) > 2, PATIENCE, "several tries")
    assert remedy in caplog.text
    assert ends(target, name) == [BAD, RECORDS], "nothing is copied again, or past it"
    assert any(f"{name}-0 waits at offset {BAD}" in why for why in copying.of(Progress)[-1].unwritable.values())
    override(target.bootstrap, name, mended)
    copying.wait_safe(2 * RECORDS)
    assert f"The target has {name}-0 at offset {BAD} now" in caplog.text
    assert copying.stop() == {}
    assert same_records(read_all(source.bootstrap, name), read_all(target.bootstrap, name)) == []
    assert copying.dropped() == 0


def test_a_stop_does_not_wait_for_it_and_the_next_job_begins_at_it(
    source: Any, target: Any, name: str, start_copying: Start
) -> None:
    """At most one batch of the source comes twice, which is of this partition."""
    bad, limits, mended, _ = KINDS["too large"]
    write(source, target, name, bad, limits)
    copying = start(start_copying, source, target, name)
    wait_until(lambda: copying.over() or ends(target, name) == [BAD, RECORDS], PATIENCE, "all that can be copied")
    assert copying.error is None
    held, other = (TopicPartition(name, number) for number in range(PARTITIONS))
    wait_until(lambda: copying.safe.get(other) == RECORDS, PATIENCE, "the other partition to be safe")
    copying.stop(PATIENCE)
    assert copying.error is None
    assert copying.safe.get(held, 0) <= BAD
    override(target.bootstrap, name, mended)
    again = start_copying(
        source.bootstrap,
        target.bootstrap,
        name,
        PARTITIONS,
        begin={**dict.fromkeys(copying.config.offsets, 0), **copying.safe},
        keeps_partition=[name],
        waits_on_refusal=True,
    )
    wait_until(lambda: ends(target, name)[0] >= RECORDS, PATIENCE, "the rest")
    assert again.stop() == {}
    values = [each.value for each in read_all(target.bootstrap, name) if each.partition == 0]
    assert (
        values[-(RECORDS - BAD) :]
        == [each.value for each in read_all(source.bootstrap, name) if each.partition == 0][BAD:]
    )
    assert ends(target, name)[1] == RECORDS
