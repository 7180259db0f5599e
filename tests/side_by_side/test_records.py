"""What a record becomes at the target, on the real legacy tool and on ours (contract 4.2).

Equal means: same multiset of key, value, headers and timestamp per topic; same partition for every keyed record; same
order per source partition and key; null keys spread.
"""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable, Iterator

import pytest

from compat.laboratory.cluster import Cluster
from compat.laboratory.jars import kafka_jars
from compat.laboratory.releases import OLD
from legacy_mm.audit.cluster_access import create_topic, delete_topic, end_offsets, list_topics, read_all
from legacy_mm.audit.load import Loaded, load, load_kinds
from legacy_mm.audit.record_comparison import ObservedRecord, same_records
from legacy_mm.audit.spawn import QUICK_JVM
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.runtime.jvm.java_home import find_java
from tests.fixtures.java_programs import java_command
from tests.side_by_side.conftest import Side

pytestmark = pytest.mark.side_by_side
OURS = "our_mirror"
CODECS = ["zstd", *(pytest.param(name, marks=pytest.mark.slow) for name in ("gzip", "snappy", "lz4"))]
CODECS_OF_JAVA = ("none", "gzip", "snappy", "lz4", "zstd")
COPIED = 120.0
PARTITIONS = 4


@pytest.fixture(scope="module")
def kinds(source: Cluster) -> Iterator[list[Loaded]]:
    """Topics of every kind at the source: codecs, nulls, headers, transactions, compaction, log-append time ..."""
    by_java = [load_by_java(source.bootstrap, codec) for codec in CODECS_OF_JAVA]
    yield [*load_kinds(source.bootstrap, "kinds."), *by_java]


def load_by_java(bootstrap: str, codec: str) -> Loaded:
    """As Java's console producer writes it: frames of its own, with headers and null values."""
    topic, count = f"kinds.-java-{codec}", 500
    create_topic(bootstrap, topic, partitions=PARTITIONS)
    values = ["none" if number % 7 == 0 else f"value-{number} " * 20 for number in range(count)]
    lines = [f"trace:{number},empty:\tkey-{number % 50}\t{value}\n" for number, value in enumerate(values)]
    words = ["--bootstrap-server", bootstrap, "--topic", topic, "--compression-codec", codec]
    for setting in ("parse.key=true", "parse.headers=true", "null.marker=none"):
        words += ["--property", setting]
    command = [str(find_java()), *QUICK_JVM, "-cp", f"{kafka_jars(OLD)}/*", "kafka.tools.ConsoleProducer", *words]
    subprocess.run(command, check=True, capture_output=True, timeout=60, text=True, input="".join(lines))
    assert sum(end_offsets(bootstrap, topic).values()) == count
    return Loaded(topic, f"written by Java, {codec}", count, count, PARTITIONS)


def arrived(cluster: Cluster, topic: str) -> int:
    """How many records a target topic holds; a mirror writes no control records."""
    return sum(end_offsets(cluster.bootstrap, topic).values())


def wait_for(cluster: Cluster, topic: str, count: int) -> None:
    """Until a target topic holds this many records."""
    wait_until(lambda: arrived(cluster, topic) >= count, COPIED, f"{count} records of {topic}")


def stop(tool: ToolProcess) -> None:
    """A clean stop, with the old exit code."""
    tool.signal(signal.SIGTERM)
    assert tool.wait(60) == 143, tool.output()


def assert_equal(side: Side, topic: str, records: list[ObservedRecord], partitions: int) -> None:
    """The target holds exactly these records, in the right places and order."""
    copied = read_all(side.target.bootstrap, topic)
    assert same_records(records, copied, target_partitions=partitions) == [], topic


@pytest.mark.parametrize("isolation", [pytest.param("read_uncommitted", marks=pytest.mark.slow), "read_committed"])
def test_every_kind_of_record(side: Side, kinds: list[Loaded], group: str, isolation: str) -> None:
    """Aborted records are copied under read_uncommitted, the default, and left out under read_committed."""
    existing = list_topics(side.target.bootstrap)
    for kind in kinds:
        if kind.topic in existing:
            delete_topic(side.target.bootstrap, kind.topic)
        create_topic(side.target.bootstrap, kind.topic, partitions=kind.partitions)
    sources = {kind.topic: read_all(side.source.bootstrap, kind.topic, isolation=isolation) for kind in kinds}
    tool = side.mirror(group, "--whitelist", r"kinds\..*", consumer={"isolation.level": isolation})
    for topic, records in sources.items():
        wait_for(side.target, topic, len(records))
    stop(tool)
    for kind in kinds:
        assert_equal(side, kind.topic, sources[kind.topic], kind.partitions)


def test_null_keys_leave_no_partition_empty(side: Side, topic: str, group: str) -> None:
    """The legacy tool stays with one partition for a batch of 16 KiB, so it needs many batches to meet all eight."""
    records = {"old": 40_000, "ours": 1_001}[side.name]
    for cluster in (side.source, side.target):
        create_topic(cluster.bootstrap, topic, partitions=8)
    load(side.source.bootstrap, topic, records, 100, keyed=False)
    tool = side.mirror(group, "--whitelist", topic)
    wait_for(side.target, topic, records)
    stop(tool)
    copied = read_all(side.target.bootstrap, topic)
    assert len(copied) == records
    assert {record.partition for record in copied} == set(range(8))


def test_the_target_has_other_partitions(side: Side, topic: str, group: str) -> None:
    """Keys decide, by the target's partition count; the source partition is not kept."""
    create_topic(side.source.bootstrap, topic, partitions=3)
    create_topic(side.target.bootstrap, topic, partitions=7)
    load(side.source.bootstrap, topic, 3000, 50)
    tool = side.mirror(group, "--whitelist", topic)
    wait_for(side.target, topic, 3000)
    stop(tool)
    assert_equal(side, topic, read_all(side.source.bootstrap, topic), 7)


def test_a_missing_target_topic_is_created_as_the_broker_allows(side: Side, topic: str, group: str) -> None:
    create_topic(side.source.bootstrap, topic, partitions=2)
    load(side.source.bootstrap, topic, 500, 50)
    tool = side.mirror(group, "--whitelist", topic)
    wait_until(
        lambda: topic in list_topics(side.target.bootstrap) and arrived(side.target, topic) >= 500,
        COPIED,
        "500 records in a new topic",
    )
    stop(tool)
    assert list_topics(side.target.bootstrap)[topic] == 4, "the broker's num.partitions"


@pytest.mark.parametrize("codec", CODECS)
def test_the_producer_file_s_codec(side: Side, topic: str, group: str, codec: str) -> None:
    for cluster in (side.source, side.target):
        create_topic(cluster.bootstrap, topic)
    load(side.source.bootstrap, topic, 2000, 200, codec="lz4")
    tool = side.mirror(group, "--whitelist", topic, producer={"compression.type": codec})
    wait_for(side.target, topic, 2000)
    stop(tool)
    assert_equal(side, topic, read_all(side.source.bootstrap, topic), PARTITIONS)


def test_records_up_to_max_request_size(side: Side, topic: str, group: str) -> None:
    for cluster in (side.source, side.target):
        create_topic(cluster.bootstrap, topic, config={"max.message.bytes": "9000000"})
    load(side.source.bootstrap, topic, 8, 3_000_000, keyed=True)
    tool = side.mirror(group, "--whitelist", topic, producer={"max.request.size": "4000000"})
    wait_for(side.target, topic, 8)
    stop(tool)
    assert_equal(side, topic, read_all(side.source.bootstrap, topic), PARTITIONS)


ZERO = """
import java.util.Properties;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.serialization.ByteArraySerializer;
public class Zero {
  public static void main(String[] a) throws Exception {
    Properties p = new Properties();
    p.put("bootstrap.servers", a[0]);
    KafkaProducer out = new KafkaProducer(p, new ByteArraySerializer(), new ByteArraySerializer());
    for (int i = 0; i < 10; i++)
      out.send(new ProducerRecord(a[1], (Integer) null, Long.valueOf(0), ("k" + i).getBytes(), new byte[3])).get();
    out.close();
  }
}
"""


def test_timestamp_zero(side: Side, topic: str, group: str) -> None:
    """librdkafka could not send it."""
    for cluster in (side.source, side.target):
        create_topic(cluster.bootstrap, topic, config={"retention.ms": "-1"})
    command = [*java_command("Zero", ZERO, kafka_jars(OLD)), side.source.bootstrap, topic]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    tool = side.mirror(group, "--whitelist", topic)
    wait_for(side.target, topic, 10)
    stop(tool)
    assert {record.timestamp for record in read_all(side.target.bootstrap, topic)} == {0}


PATTERNS = [
    ("{0}-x,{0}-y.*", {"-x", "-y", "-yy"}),
    ("'{0}-x, {0}-y'", {"-x", "-y"}),
    pytest.param("{0}-[xy]", {"-x", "-y"}, marks=pytest.mark.slow),
    ("(?!.*yy){0}-.*", {"-x", "-y", "-z"}),
    pytest.param(r"{0}\-\w", {"-x", "-y", "-z"}, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("pattern", "expected"), PATTERNS)
def test_topic_patterns_mean_the_same(side: Side, topic: str, group: str, pattern: str, expected: set[str]) -> None:
    """Comma lists, quotes, blanks, classes and look-ahead; the whole name must match.

    The topic's own name ends with hexadecimal digits at random, which the suffixes cannot be taken for.
    """
    for suffix in ("-x", "-y", "-yy", "-z"):
        create_topic(side.source.bootstrap, topic + suffix, partitions=1)
        load(side.source.bootstrap, topic + suffix, 10, 20)
    tool = side.mirror(group, "--whitelist", pattern.format(topic))
    copied: Callable[[], set[str]] = lambda: {  # noqa: E731
        name.removeprefix(topic) for name in list_topics(side.target.bootstrap) if name.startswith(topic)
    }
    wait_until(lambda: copied() >= expected, COPIED, f"{expected} at the target")
    stop(tool)
    assert copied() == expected
