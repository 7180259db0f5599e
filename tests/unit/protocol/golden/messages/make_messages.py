"""Write the files here anew, with real old brokers.

.venv/bin/python -m tests.unit.protocol.golden.messages.make_messages [JAVA_11]

The path of a Java 11 is needed for the files of 0.8.2.2.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, TopicPartition

from compat.laboratory.jars import kafka_jars
from compat.laboratory.releases import HANDLERS_0_9, HANDLERS_0_10, OLDEST
from compat.laboratory.zookeeper import ZooKeeperCluster
from legacy_mm.audit.cluster_access import create_topic
from legacy_mm.runtime.jvm.java_home import find_java
from tests.unit.protocol.golden.make_golden import rows, text

HERE = Path(__file__).parent
CODECS = ("none", "gzip", "snappy", "lz4")
APPEND_TIME = "append-time"
OLD = {"api.version.request": False, "broker.version.fallback": HANDLERS_0_9}
READ_SECONDS = 10.0


def main() -> None:
    """Write with the Java producer of the release, and keep the broker's own segment files."""
    with tempfile.TemporaryDirectory() as folder:
        oldest = [(OLDEST, OLD | {"broker.version.fallback": OLDEST})] if sys.argv[1:] else []
        for release, client in (*oldest, (HANDLERS_0_9, OLD), (HANDLERS_0_10, {})):
            java = Path(sys.argv[1]) if release == OLDEST else find_java()
            with ZooKeeperCluster(Path(folder) / release, release=release, java=java) as cluster:
                written = {f"{release}-{codec}": codec for codec in CODECS}
                if release == HANDLERS_0_10:
                    config = {"message.timestamp.type": "LogAppendTime"}
                    for codec in ("none", "gzip"):
                        topic = f"{release}-{APPEND_TIME}-{codec}"
                        create_topic(cluster.bootstrap, topic, 1, config=config)
                        written[topic] = codec
                for topic, codec in written.items():
                    write = [str(find_java()), "-cp", f"{kafka_jars(release)}/*", str(HERE / "OldProducer.java")]
                    subprocess.run([*write, cluster.bootstrap, topic, codec], check=True)
                    keep(cluster, topic, 21 if codec == "none" else 22, client)


def keep(cluster: ZooKeeperCluster, topic: str, count: int, client: dict[str, Any]) -> None:
    """`<topic>.log`: what a fetch answers; `<topic>.json`: what a consumer makes of it."""
    folder = cluster.broker.folder / "logs" / f"{topic}-0"
    (HERE / f"{topic}.log").write_bytes(b"".join(path.read_bytes() for path in sorted(folder.glob("*.log"))))
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": "golden", **client})
    consumer.assign([TopicPartition(topic, 0, 0)])
    found = [consumer.poll(READ_SECONDS) for _ in range(count)]
    consumer.close()
    records = [
        [message.offset(), *message.timestamp(), text(message.key()), text(message.value())]
        for message in found
        if message is not None and message.error() is None
    ]
    assert len(records) == count, (topic, found)
    (HERE / f"{topic}.json").write_text(f"[\n{rows(records)}\n]\n", encoding="ascii")


if __name__ == "__main__":
    main()
