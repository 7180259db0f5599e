"""A consumer that goes on at the target cluster where its group stood at the source: translate, assign, seek, commit.

    python failover.py --target localhost:9093 --source-alias west --group orders-app

It needs confluent-kafka, and `legacy_mm.client` to read the checkpoints that a mirror, or MirrorMaker 2, has written.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from legacy_mm.client import RemoteClusterUtils

PATIENCE_SECONDS = 30.0


def fail_over(target: dict[str, str], source_alias: str, group: str) -> Consumer:
    """A consumer that has been given its partitions and stands where the group stood."""
    offsets = RemoteClusterUtils.translate_offsets(target, source_alias, group, timeout=PATIENCE_SECONDS)
    if not offsets:
        raise SystemExit(f"there is no checkpoint of group {group} from {source_alias}")
    translated = [TopicPartition(*place, found.offset, found.metadata) for place, found in offsets.items()]
    consumer = Consumer({**target, "group.id": group, "enable.auto.commit": False, "auto.offset.reset": "earliest"})
    committed = consumer.committed(translated, timeout=PATIENCE_SECONDS)  # it may have been here before
    starts = [
        there if there.offset > place.offset else place for place, there in zip(translated, committed, strict=True)
    ]
    consumer.assign(starts)  # assign and seek in one
    consumer.commit(offsets=starts, asynchronous=False)
    return consumer


def records(consumer: Consumer) -> Iterator[Message]:
    """What comes."""
    while True:
        message = consumer.poll(1.0)
        if message is None:
            continue
        if message.error():
            raise KafkaException(message.error())
        yield message


def main() -> None:
    """Print one JSON line for each record."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--target", required=True, help="bootstrap servers")
    parser.add_argument("--source-alias", required=True, help="source.cluster.alias of the mirror")
    parser.add_argument("--group", required=True)
    parser.add_argument("--records", type=int, help="end after so many")
    options = parser.parse_args()
    consumer = fail_over({"bootstrap.servers": options.target}, options.source_alias, options.group)
    try:
        for number, message in enumerate(records(consumer), start=1):
            value = None if message.value() is None else message.value().decode(errors="replace")
            place = {"topic": message.topic(), "partition": message.partition(), "offset": message.offset()}
            print(json.dumps({**place, "value": value}), flush=True)
            last = number == options.records
            consumer.commit(message, asynchronous=not last)
            if last:
                return
    finally:
        consumer.close()


if __name__ == "__main__":
    main()
