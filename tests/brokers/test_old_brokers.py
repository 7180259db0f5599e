"""The main job from and to brokers of old releases and their ZooKeepers: nothing lost, nothing doubled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from compat.laboratory.releases import WITH_ZOOKEEPER
from compat.laboratory.zookeeper import ZooKeeperCluster
from legacy_mm.audit.cluster_access import committed, create_topic, end_offsets, log_starts, read_all
from legacy_mm.audit.java_files import write_properties
from legacy_mm.audit.load import Loaded, finish, load, load_kinds
from legacy_mm.audit.record_comparison import same_records
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import epoch_ms
from legacy_mm.handlers.api import Record
from legacy_mm.handlers.quarantine import QuarantineFile, read_file
from tests.fixtures.copying import Start
from tests.fixtures.tools import Run

pytestmark = [pytest.mark.brokers, pytest.mark.spark, pytest.mark.slow]
StartTool = Callable[..., ToolProcess]
COPIED, STOPPED = 240.0, 60.0
UNKNOWN_KINDS = {
    "2.8.2": {"compacted"},
    "1.1.1": {"compacted", "codec-zstd"},
    "0.11.0.3": {"compacted", "codec-zstd"},
    "0.10.2.2": {"compacted", "codec-zstd", "transactions", "headers"},
}
"""Kinds of records that came later; compaction takes minutes and is the same everywhere."""
NOW = epoch_ms()
WITHOUT_IDEMPOTENCE = "The target refuses an idempotent producer"
OF_BROKERS = {
    "message.max.bytes": "1048588",  # the default since 2.4
    "log.retention.check.interval.ms": "500",
}


class Job:
    """A mirror of some topics from one cluster to another, and the check of what it did."""

    def __init__(
        self, source: Any, target: Any, kinds: list[Loaded], group: str, start: StartTool, **producer: str
    ) -> None:
        """`producer`: of its file, with _ for a dot."""
        self._producer = {name.replace("_", "."): text for name, text in producer.items()}
        self.source, self.target, self.kinds, self.group = source.bootstrap, target.bootstrap, kinds, group
        self._start = start
        for kind in kinds:
            create_topic(self.target, kind.topic, partitions=kind.partitions)

    def run(self, *options: str) -> str:
        """Copy what is there, and stop; what the tool said."""
        wanted = {kind.topic: len(read_all(self.source, kind.topic)) for kind in self.kinds}
        tool = self.start(*options)

        def copied() -> bool:
            assert tool.running(), tool.output()
            return all(sum(end_offsets(self.target, topic).values()) >= count for topic, count in wanted.items())

        wait_until(copied, COPIED, f"{sum(wanted.values())} records")
        assert tool.stop(STOPPED) == 143
        return tool.output()

    def start(self, *options: str) -> ToolProcess:
        """Only start it."""
        return self._start(
            {"bootstrap.servers": self.source, "group.id": self.group, "auto.offset.reset": "earliest"},
            {"bootstrap.servers": self.target, **self._producer},
            *("--whitelist", ",".join(kind.topic for kind in self.kinds), *options),
            log_level="INFO",
        )

    def check(self) -> None:
        """Equal records, none doubled; all of them committed in the group at the source."""
        for kind in self.kinds:
            records = read_all(self.source, kind.topic)
            copies = read_all(self.target, kind.topic)
            assert same_records(records, copies, target_partitions=kind.partitions) == [], kind.topic
            ends: dict[tuple[str, int], int] = {}
            for record in records:
                place = (kind.topic, record.partition)
                ends[place] = max(ends.get(place, 0), record.offset + 1)
            assert committed(self.source, self.group, [kind.topic]) == ends

    def twice(self, *, idempotent: bool = True) -> tuple[str, str]:
        """Copy, check, write more, copy again with the same group, check; what both runs said."""
        first = self.run()
        self.check()
        more = self.kinds[0]
        load(self.source, more.topic, 700, 100, partitions=more.partitions, idempotent=idempotent)
        second = self.run()
        self.check()
        return first, second


@pytest.fixture(scope="module", params=WITH_ZOOKEEPER)
def old(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooKeeperCluster]:
    with ZooKeeperCluster(tmp_path_factory.mktemp("old"), release=request.param, properties=OF_BROKERS) as cluster:
        yield cluster


def test_from_an_old_broker(
    old: ZooKeeperCluster, target: Any, topic: Any, group: str, our_mirror: StartTool, supported: Callable[..., None]
) -> None:
    release = old.release.version
    kinds = load_kinds(old.bootstrap, topic("from"), without=UNKNOWN_KINDS[release])
    outputs = Job(old, target, kinds, group, our_mirror).twice(idempotent=release != "0.10.2.2")
    for output in outputs:
        assert WITHOUT_IDEMPOTENCE not in output
    supported(f"broker {release}", "as source")


def test_to_an_old_broker(
    old: ZooKeeperCluster, source: Any, topic: Any, group: str, our_mirror: StartTool, supported: Callable[..., None]
) -> None:
    release = old.release.version
    kinds = load_kinds(source.bootstrap, topic("to"), without=UNKNOWN_KINDS[release])
    outputs = Job(source, old, kinds, group, our_mirror).twice()
    for output in outputs:
        assert output.count(WITHOUT_IDEMPOTENCE) == (release == "0.10.2.2")
    supported(f"broker {release}", "as target")


KEEP = """
from legacy_mm.handlers.api import MessageHandler


class Keep(MessageHandler):
    def handle(self, record):
        return [record.to(record.topic)]
"""


@pytest.mark.parametrize("is_source", [True, False], ids=["from", "to"])
def test_with_a_handler(
    old: ZooKeeperCluster,
    source: Any,
    target: Any,
    topic: Any,
    group: str,
    our_mirror: StartTool,
    tmp_path: Path,
    is_source: bool,
) -> None:
    script = tmp_path / "keep.py"
    script.write_text(KEEP)
    read_from, written_to = (old, target) if is_source else (source, old)
    release = old.release.version
    prefix = topic("handled")
    kinds = load_kinds(read_from.bootstrap, prefix, without=UNKNOWN_KINDS[release])
    job = Job(read_from, written_to, kinds, group, our_mirror)
    job.run("--message.handler", f"{script}:Keep")
    job.check()


@pytest.mark.parametrize("old", ["0.10.2.2"], indirect=True)
def test_records_that_are_there_before_the_answer_are_none_of_its_victims(
    old: ZooKeeperCluster, source: Any, topic: Any, group: str, our_mirror: StartTool
) -> None:
    """The producer asks for its id while records are queued."""
    kind = load(source.bootstrap, topic(), 50_000, 100)
    job = Job(source, old, [kind], group, our_mirror)
    assert job.run().count(WITHOUT_IDEMPOTENCE) == 1
    job.check()


@pytest.mark.parametrize("old", ["1.1.1"], indirect=True)
def test_a_codec_that_the_target_is_too_old_for(
    old: ZooKeeperCluster, source: Any, topic: Any, group: str, our_mirror: StartTool
) -> None:
    """The legacy tool would have written it uncompressed as well."""
    kind = load(source.bootstrap, topic(), 1_000, 100, codec="zstd")
    job = Job(source, old, [kind], group, our_mirror)
    job.run()
    job.check()


def test_a_codec_that_the_target_does_not_take_yet(
    source: Any, topic: Any, group: str, our_mirror: StartTool, tmp_path: Path
) -> None:
    """In a rolling upgrade across 2.1: the batches are taken, and zstd is refused."""
    kind = load(source.bootstrap, topic(), 10_000, 100, codec="zstd")
    properties = {"inter.broker.protocol.version": "2.0"}
    with ZooKeeperCluster(tmp_path, release="2.8.2", properties=properties) as target:
        job = Job(source, target, [kind], group, our_mirror)
        job.run()
        job.check()


def wait_removed(cluster: ZooKeeperCluster, name: str, before: int) -> None:
    wait_until(lambda: log_starts(cluster.bootstrap, name) == {0: before}, COPIED, "retention")


@pytest.mark.parametrize("old", ["1.1.1", "0.11.0.3"], indirect=True)
def test_a_producer_that_the_target_forgets_doubles_nothing(
    old: ZooKeeperCluster, source: Any, topic: Any, start_copying: Start
) -> None:
    """A backlog that is older than the target keeps it: retention removes all of it, and the producer with it."""
    name, waves, size = topic(), 5, 100
    create_topic(source.bootstrap, name, partitions=1)
    create_topic(old.bootstrap, name, partitions=1, config={"retention.ms": "60000"})
    copying = start_copying(source.bootstrap, old.bootstrap, name, 1)
    writer = Producer({"bootstrap.servers": source.bootstrap})
    for wave in range(size, waves * size + 1, size):
        for number in range(size):
            writer.produce(name, b"%d" % number, timestamp=NOW - 3_600_000)
        finish(writer)
        copying.wait_safe(wave)
        wait_removed(old, name, wave)
    assert copying.stop() == {}
    assert end_offsets(old.bootstrap, name) == {0: waves * size}


@pytest.mark.parametrize("old", ["0.11.0.3"], indirect=True)
def test_headers_arrive_without_idempotence(
    old: ZooKeeperCluster, source: Any, topic: Any, group: str, our_mirror: StartTool
) -> None:
    kind = load(source.bootstrap, topic(), 300, 100, headers=(("trace", b"1"),))
    job = Job(source, old, [kind], group, our_mirror, enable_idempotence="false")
    job.run()
    job.check()


@pytest.mark.parametrize("old", ["0.10.2.2"], indirect=True)
@pytest.mark.parametrize("idempotence", ["true", "false"])
def test_headers_are_not_lost_in_silence(
    old: ZooKeeperCluster, source: Any, topic: Any, group: str, our_mirror: StartTool, idempotence: str
) -> None:
    """As in the legacy tool, whose producer refuses them: 255, and nothing is committed."""
    name = topic()
    load(source.bootstrap, name, 300, 100, headers=(("trace", b"1"),))
    create_topic(old.bootstrap, name)
    tool = our_mirror(
        {"bootstrap.servers": source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"},
        {"bootstrap.servers": old.bootstrap, **({"enable.idempotence": "false"} if idempotence == "false" else {})},
        *("--whitelist", name),
    )
    assert tool.wait(COPIED) == 255
    assert "Magic v1 does not support record headers" in tool.output()
    assert sum(end_offsets(old.bootstrap, name).values()) == 0
    assert committed(source.bootstrap, group, [name]) == {}


@pytest.mark.parametrize("old", ["0.10.2.2"], indirect=True)
def test_the_old_tool_ends_where_ours_goes_on(
    old: ZooKeeperCluster, source: Any, topic: Any, group: str, old_tool: StartTool
) -> None:
    name = topic()
    load(source.bootstrap, name, 300, 100)
    create_topic(old.bootstrap, name)
    tool = old_tool(
        {"bootstrap.servers": source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"},
        {"bootstrap.servers": old.bootstrap},
        *("--whitelist", name),
    )
    assert tool.wait(COPIED) == 255
    assert "The broker must be version 0.11 or later" in tool.output()
    assert sum(end_offsets(old.bootstrap, name).values()) == 0


@pytest.mark.parametrize("old", ["1.1.1"], indirect=True)
def test_a_record_that_lacks_its_key_is_set_aside(
    old: ZooKeeperCluster, source: Any, topic: Any, group: str, our_mirror: StartTool, tmp_path: Path
) -> None:
    """Such a broker calls it damaged, as if it might fare better the next time."""
    name, file = topic(), tmp_path / "aside.jsonl"
    create_topic(source.bootstrap, name, partitions=1)
    create_topic(old.bootstrap, name, partitions=1, config={"cleanup.policy": "compact"})
    writer = Producer({"bootstrap.servers": source.bootstrap, "linger.ms": 200})
    for number in range(300):
        writer.produce(name, b"%d" % number, None if number in (0, 77) else b"k")
    assert writer.flush(30) == 0
    tool = our_mirror(
        {"bootstrap.servers": source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"},
        {"bootstrap.servers": old.bootstrap},
        *("--whitelist", name, "--send.on.error", "quarantine", "--quarantine.file", str(file)),
    )
    wait_until(lambda: sum(end_offsets(old.bootstrap, name).values()) == 298, COPIED, "the others")
    assert tool.stop(STOPPED) == 143
    assert [record.offset for record in read_file(file).records] == [0, 77]
    assert committed(source.bootstrap, group, [name]) == {(name, 0): 300}
    assert f"{name}-0 did not take a batch, which is tried again: CORRUPT_MESSAGE" in tool.output()


@pytest.mark.parametrize("old", ["0.10.2.2"], indirect=True)
def test_redrive_goes_on_without_producer_ids(old: ZooKeeperCluster, topic: Any, run: Run, tmp_path: Path) -> None:
    """More than a chunk, in their order."""
    name, file = topic(), tmp_path / "aside.jsonl"
    create_topic(old.bootstrap, name, partitions=1)
    for number in range(150):
        QuarantineFile(str(file)).put(Record(name, 0, number, 1, NOW + number, b"k", b"%d" % number, ()), "too large")
    consumer = write_properties(tmp_path / "consumer", {"bootstrap.servers": "127.0.0.1:1", "group.id": "g"})
    producer = {"bootstrap.servers": old.bootstrap}
    line = ("--consumer.config", str(consumer), "--whitelist", name, "--send.on.error", "quarantine")
    wanted = write_properties(tmp_path / "wanted", producer | {"enable.idempotence": "true"})
    code, _, error = run("redrive", str(file), "--", *line, "--producer.config", str(wanted))
    assert (code, "the target refuses an idempotent producer: " in error) == (255, True), error
    left = write_properties(tmp_path / "left", producer)
    code, told, error = run("redrive", str(file), "--", *line, "--producer.config", str(left))
    assert (code, "150 records redriven, 150 sent" in told) == (0, True), error
    assert [record.value for record in read_all(old.bootstrap, name)] == [b"%d" % number for number in range(150)]
