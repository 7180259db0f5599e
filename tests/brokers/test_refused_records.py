"""Records that the target refuses for their own sake are set aside, and nothing else is."""

from __future__ import annotations

import logging
import signal
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from legacy_mm.audit.cluster_access import create_topic, partition_of, read_all
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import epoch_ms
from legacy_mm.base.reports import Progress
from legacy_mm.base.settings import QuarantineSettings
from legacy_mm.dataplane.routes import Placed
from legacy_mm.handlers.api import Record
from legacy_mm.handlers.quarantine import QuarantineFile, read_file, released
from tests.fixtures.copying import Copying, Start
from tests.fixtures.tools import Run

pytestmark = pytest.mark.brokers
NOW = epoch_ms()
DAY_MS = 86_400_000
"""A limit of age that the rest keeps, however long after `NOW` their test runs."""
OLD = NOW - 2 * DAY_MS
REFUSED = range(7, 300, 50)
RECORDS = 300


@pytest.fixture
def name(topic: Callable[[], str]) -> str:
    return topic()


def write(bootstrap: str, topic: str, odd: Callable[[int], dict[str, Any]]) -> list[bytes]:
    """RECORDS records of one partition, those of REFUSED otherwise than the rest; the values of the rest."""
    create_topic(bootstrap, topic, partitions=1, config={"max.message.bytes": "5000000"})
    writer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 200, "message.max.bytes": 5_000_000})
    for number in range(RECORDS):
        record: dict[str, Any] = {"value": b"%d" % number, "key": b"k", "timestamp": NOW + number}
        writer.produce(topic, headers=[("h", b"x")], **record | (odd(number) if number in REFUSED else {}))
    assert writer.flush(30) == 0
    return [b"%d" % number for number in range(RECORDS) if number not in REFUSED]


def too_large(number: int) -> dict[str, Any]:
    return {"value": b"%d" % number + bytes(200_000)}


def far_too_large(number: int) -> dict[str, Any]:
    return {"value": b"%d" % number + bytes(1_500_000)}


def too_old(number: int) -> dict[str, Any]:
    return {"timestamp": OLD + number}


def without_a_key(number: int) -> dict[str, Any]:
    return {"key": None}


def quarantined(start: Start, source: Any, target: Any, name: str, **where: Any) -> Copying:
    """A mirror with the flag, after it has come to the end."""
    settings = QuarantineSettings(refused=True, **where)
    copying = start(source.bootstrap, target.bootstrap, name, 1, quarantine=settings)
    copying.wait_safe(RECORDS)
    assert copying.stop() == {}
    assert copying.of(Progress)[-1].quarantined == len(REFUSED)
    assert copying.dropped() == 0
    return copying


def offsets(records: Iterable[Record]) -> list[int]:
    return [record.offset for record in records]


def topic_of_quarantine(bootstrap: str, topic: str) -> list[Record]:
    """What it holds, as it was at the source."""
    return [
        released(Record(topic, each.partition, each.offset, 1, each.timestamp or 0, each.key, each.value, each.headers))
        for each in read_all(bootstrap, topic)
    ]


@pytest.mark.parametrize(
    ("odd", "config"),
    [
        (too_large, {"max.message.bytes": "100000"}),
        (too_old, {"message.timestamp.before.max.ms": str(DAY_MS)}),
        (without_a_key, {"cleanup.policy": "compact"}),
    ],
    ids=["too large", "too old", "no key for a compacted topic"],
)
def test_what_is_refused_is_in_the_quarantine_and_the_rest_in_order(
    source: Any,
    target: Any,
    name: str,
    start_copying: Start,
    odd: Any,
    config: dict[str, str],
    caplog: pytest.LogCaptureFixture,
    halved: list[Placed],
) -> None:
    """Invariants A and C. Where the broker names the records, nothing is halved to find them."""
    rest = write(source.bootstrap, name, odd)
    create_topic(target.bootstrap, name, partitions=1, config=config)
    create_topic(target.bootstrap, f"{name}-aside", partitions=3)
    quarantined(start_copying, source, target, name, topic=f"{name}-aside")
    assert bool(halved) == (odd is too_large)
    assert [record.value for record in read_all(target.bootstrap, name)] == rest
    aside = sorted(topic_of_quarantine(target.bootstrap, f"{name}-aside"), key=lambda record: record.offset)
    assert offsets(aside) == list(REFUSED)
    for record, number in zip(aside, REFUSED, strict=True):
        expected = {"value": b"%d" % number, "key": b"k", "timestamp": NOW + number} | odd(number)
        assert (record.topic, record.partition, record.headers) == (name, 0, (("h", b"x"),))
        assert {"value": record.value, "key": record.key, "timestamp": record.timestamp} == expected
    told = [
        line.getMessage() for line in caplog.records if line.levelno >= logging.WARNING and name in line.getMessage()
    ]
    assert [line.split(", a record")[0] for line in told] == [
        f"The target refuses {name}-0 at offset {number}" for number in REFUSED
    ]


@pytest.mark.parametrize("odd", [too_large, far_too_large], ids=["by the broker", "by max.request.size"])
def test_what_the_topic_does_not_take_is_in_the_file(
    source: Any, target: Any, name: str, start_copying: Start, odd: Any, tmp_path: Path
) -> None:
    rest = write(source.bootstrap, name, odd)
    for topic in (name, f"{name}-aside"):
        create_topic(target.bootstrap, topic, partitions=1, config={"max.message.bytes": "100000"})
    file = tmp_path / "aside.jsonl"
    quarantined(start_copying, source, target, name, topic=f"{name}-aside", file=str(file))
    assert [record.value for record in read_all(target.bootstrap, name)] == rest
    assert read_all(target.bootstrap, f"{name}-aside") == []
    found = read_file(file).records
    assert offsets(found) == list(REFUSED)
    assert [record.value for record in found] == [odd(number)["value"] for number in REFUSED]


def test_a_topic_that_cannot_be_gives_way_to_the_file(
    source: Any, target: Any, name: str, start_copying: Start, tmp_path: Path
) -> None:
    write(source.bootstrap, name, too_old)
    create_topic(target.bootstrap, name, partitions=1, config={"message.timestamp.before.max.ms": str(DAY_MS)})
    file = tmp_path / "aside.jsonl"
    quarantined(start_copying, source, target, name, topic="no topic's name", file=str(file))
    assert offsets(read_file(file).records) == list(REFUSED)


def test_without_a_topic_the_file_takes_them(
    source: Any, target: Any, name: str, start_copying: Start, tmp_path: Path
) -> None:
    rest = write(source.bootstrap, name, too_old)
    create_topic(target.bootstrap, name, partitions=1, config={"message.timestamp.before.max.ms": str(DAY_MS)})
    file = tmp_path / "aside.jsonl"
    quarantined(start_copying, source, target, name, file=str(file))
    assert [record.value for record in read_all(target.bootstrap, name)] == rest
    assert [(record.offset, record.timestamp) for record in read_file(file).records] == [(n, OLD + n) for n in REFUSED]


def test_a_quarantine_with_the_limit_of_the_copy_is_told_beforehand_and_afterwards(
    source: Any,
    target: Any,
    name: str,
    group: str,
    run: Run,
    our_mirror: Callable[..., ToolProcess],
    tmp_path: Path,
) -> None:
    """A record from the future: by `plan`, at the start, when it comes, and when the topic is redriven."""
    create_topic(source.bootstrap, name, 1, config={"message.timestamp.after.max.ms": str(2**63 - 1)})
    for topic in (name, f"{name}-aside"):
        create_topic(target.bootstrap, topic, 1, config={"message.timestamp.after.max.ms": "3600000"})
    writer = Producer({"bootstrap.servers": source.bootstrap})
    for number in range(5):
        writer.produce(name, b"%d" % number, b"k", timestamp=epoch_ms() + (86_400_000 if number == 3 else 0))
    assert writer.flush(30) == 0
    file = tmp_path / "aside.jsonl"
    words = ("--send.on.error", "quarantine", "--quarantine.topic", f"{name}-aside", "--quarantine.file", str(file))
    read = {"bootstrap.servers": source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"}
    tool = our_mirror(read, {"bootstrap.servers": target.bootstrap}, "--whitelist", name, *words)
    wait_until(file.exists, 60, "the file of the quarantine")
    tool.signal(signal.SIGTERM)
    assert tool.wait(30) == 143
    said = tool.output()
    limit = "records dated more than 3600000 ms ahead of the brokers' clock are refused"
    assert f"topic {name}-aside, the quarantine, at the target: {limit}" in said
    (refused,) = [line for line in said.splitlines() if f"The target refuses {name}-0 at offset 3, a record of" in line]
    assert "with offset" not in refused
    assert "to mend it raise message.timestamp.after.max.ms or message.timestamp.before.max.ms" in refused
    assert f"of topic {name}-aside at the target" in said, "the line about the file"
    code, planned, _ = run("plan", "--", *tool.command[1:])
    assert code == 0
    assert f"note: {name} at the target: {limit} (message.timestamp.after.max.ms=3600000)" in planned
    assert f"note: topic {name}-aside, the quarantine, at the target: {limit}" in planned
    code, told, _ = run("redrive", "--", *tool.command[1:])
    assert (code, f"1 records are in {file}, because the topic did not take them" in told) == (0, True), told


RENAMED = ("--rename.topics", "true", "--target.cluster.alias", "east")


@pytest.mark.parametrize(
    ("flags", "arrives", "partition"),
    [
        ((), "{}", partition_of(b"k", 6)),
        ((*RENAMED, "--source.cluster.alias", "west"), "west.{}", partition_of(b"k", 6)),
        (("--preserve.partitions", "true"), "{}", 5),
        (("--preserve.partitions", "true", "--feature.topics", "other"), "{}", partition_of(b"k", 6)),
    ],
    ids=["plain", "renamed", "in place", "not in the canary"],
)
def test_redrive_sends_where_the_mirror_does(
    target: Any, name: str, run: Run, tmp_path: Path, flags: tuple[str, ...], arrives: str, partition: int
) -> None:
    create_topic(target.bootstrap, arrives.format(name), partitions=6)
    file = tmp_path / "aside.jsonl"
    QuarantineFile(str(file)).put(Record(name, 5, 7, 1, NOW, b"k", b"v", (("h", b"x"),)), "too large")
    consumer, producer = tmp_path / "consumer", tmp_path / "producer"
    consumer.write_text("bootstrap.servers=127.0.0.1:1\ngroup.id=g\n")
    producer.write_text(f"bootstrap.servers={target.bootstrap}\n")
    line = ("--consumer.config", str(consumer), "--producer.config", str(producer), "--whitelist", name, *flags)
    assert run("redrive", str(file), "--", *line)[0] == 1, "nothing says that records were set aside without a handler"
    code, told, error = run("redrive", str(file), "--", *line, "--send.on.error", "quarantine")
    assert (code, "1 records redriven, 1 sent" in told) == (0, True), error
    (record,) = read_all(target.bootstrap, arrives.format(name))
    assert (record.partition, record.key, record.value, record.headers) == (partition, b"k", b"v", (("h", b"x"),))
