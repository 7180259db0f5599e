"""Write the golden files anew, with a real broker: `.venv/bin/python -m tests.unit.protocol.golden.make_golden`."""

from __future__ import annotations

import hashlib
import json
import struct
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from confluent_kafka import Producer

from compat.laboratory.cluster import Cluster
from compat.laboratory.jars import kafka_jars
from compat.laboratory.releases import CURRENT
from legacy_mm.audit.cluster_access import create_topic, read_all
from legacy_mm.audit.record_comparison import ObservedRecord
from legacy_mm.audit.waiting import wait_until
from legacy_mm.runtime.jvm.java_home import find_java

HERE = Path(__file__).parent
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
START = 1_700_000_000_000
FLUSH_SECONDS = 60.0
LONG = 200
ABORTED = struct.Struct(">hqqqq")  # an entry of .txnindex: version, producer, first, last, last stable offset
COMPACTED = {
    "cleanup.policy": "compact",
    "segment.ms": "1000",
    "min.cleanable.dirty.ratio": "0.01",
    "delete.retention.ms": "3600000",
}
TOPICS: Mapping[str, Mapping[str, str]] = {
    **{f"java-{codec}": {} for codec in CODECS},
    "java-transactions": {},
    **{f"librdkafka-{codec}": {} for codec in CODECS},
    "log-append-time": {"message.timestamp.type": "LogAppendTime"},
    "compacted": COMPACTED,
}


def main() -> None:
    """Write, read back with librdkafka, and keep the broker's own segment files."""
    with tempfile.TemporaryDirectory() as folder, Cluster(Path(folder)) as cluster:
        for topic, config in TOPICS.items():
            create_topic(cluster.bootstrap, topic, 1, config={"retention.ms": "-1", **config})
        java, jars = str(find_java()), f"{kafka_jars(CURRENT)}/*"
        subprocess.run([java, "-cp", jars, str(HERE / "GoldenProducer.java"), cluster.bootstrap], check=True)
        for codec in CODECS:
            write(cluster.bootstrap, f"librdkafka-{codec}", codec)
        write(cluster.bootstrap, "log-append-time", "zstd")
        write_compacted(cluster.bootstrap)
        for topic in TOPICS:
            keep(cluster, topic)


def write(bootstrap: str, topic: str, codec: str) -> None:
    """Twenty records of every shape, as librdkafka writes them."""
    producer = Producer({"bootstrap.servers": bootstrap, "compression.type": codec, "linger.ms": 1_000})
    for number in range(20):
        producer.produce(
            topic,
            (None, b"", b"value %d " % number * 9)[number % 3],
            (b"", b"key-%d" % number, None)[number % 4 % 3],
            timestamp=START + number * (-7 if number % 5 == 4 else 1_000),
            headers=[("trace", b"x"), ("null", None)] if number % 6 == 1 else [],
        )
    if codec != "none":
        producer.produce(topic, b"0123456789abcdef" * 10_000, b"big", timestamp=START)
    producer.flush(FLUSH_SECONDS)


def write_compacted(bootstrap: str) -> None:
    """Batches out of which the cleaner takes records, tombstones among them."""
    for batch in range(6):
        producer = Producer({"bootstrap.servers": bootstrap, "compression.type": "lz4", "linger.ms": 1_000})
        for number in range(10):
            value = None if number == batch else b"round %d" % batch
            timestamp = START + batch * 10_000 + number
            producer.produce("compacted", value, b"key-%d" % (number * (batch + 1) % 13), timestamp=timestamp)
        producer.flush(FLUSH_SECONDS)
    wait_until(lambda: len(read_all(bootstrap, "compacted")) <= 30, FLUSH_SECONDS, "the cleaner")


def keep(cluster: Cluster, topic: str) -> None:
    """`<topic>.log`: what a fetch answers; `<topic>.json`: what a consumer makes of it."""
    folder = cluster.brokers[0].folder / "logs" / f"{topic}-0"
    log = b"".join(path.read_bytes() for path in sorted(folder.glob("*.log")))
    (HERE / f"{topic}.log").write_bytes(log)
    index = b"".join(path.read_bytes() for path in sorted(folder.glob("*.txnindex")))
    known: dict[str, Any] = {
        "aborted": [[producer, first] for _, producer, first, _, _ in ABORTED.iter_unpack(index)],
        "committed": [r.offset for r in read_all(cluster.bootstrap, topic, isolation="read_committed")],
        "records": [plain(record) for record in read_all(cluster.bootstrap, topic)],
    }
    lines = ",\n".join(f'"{name}": [\n{rows(known[name])}\n]' for name in known)
    (HERE / f"{topic}.json").write_text(f"{{{lines}}}\n", encoding="ascii")


def rows(values: list[Any]) -> str:
    """One line for each."""
    return ",\n".join(json.dumps(value) for value in values)


def plain(record: ObservedRecord) -> list[Any]:
    """Offset, timestamp, key, value, headers; bytes in hexadecimal, long ones as their SHA-256."""
    headers = [[name, text(value)] for name, value in record.headers]
    return [record.offset, record.timestamp, text(record.key), text(record.value), headers]


def text(value: bytes | None) -> str | None:
    """None, hexadecimal, or `sha256:...`."""
    if value is None:
        return None
    return value.hex() if len(value) <= LONG else f"sha256:{hashlib.sha256(value).hexdigest()}"


if __name__ == "__main__":
    main()
