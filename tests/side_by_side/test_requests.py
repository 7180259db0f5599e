"""Invariant E: with all flags off, the brokers see no kind of request that the legacy tool does not send."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from confluent_kafka import Producer
from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient

from compat.laboratory.cluster import Cluster
from legacy_mm.audit.cluster_access import create_topic, end_offsets
from legacy_mm.audit.waiting import wait_until
from tests.side_by_side.conftest import Side

SECONDS = 60.0
RECORDS = 1_000
OF_THE_TEST = ("rdkafka", "kafka-python-", "legacy_mm-testbed")
"""Client ids; no client of either tool begins so."""
REQUEST = re.compile(r'"clientId":"(?P<client>[^"]*)".*?"requestApiKeyName":"(?P<kind>\w+)"')


@contextmanager
def recorded(cluster: Cluster) -> Iterator[Callable[[], set[str]]]:
    """Kinds of requests that others than this test send meanwhile."""
    log = cluster.brokers[0].log
    begin = log.stat().st_size

    def kinds() -> set[str]:
        with log.open(encoding="utf-8", errors="replace") as file:
            file.seek(begin)
            found = [match for line in file if (match := REQUEST.search(line))]
        return {match["kind"] for match in found if not match["client"].startswith(OF_THE_TEST)}

    _log_requests(cluster, "DEBUG")
    try:
        yield kinds
    finally:
        _log_requests(cluster, "INFO")


def _log_requests(cluster: Cluster, level: str) -> None:
    loggers = {"kafka.request.logger": level}
    admin = KafkaAdminClient(bootstrap_servers=cluster.bootstrap)
    try:
        admin.alter_configs([ConfigResource(ConfigResourceType.BROKER_LOGGER, str(cluster.brokers[0].node), loggers)])
    finally:
        admin.close()


def _requests(side: Side, topic: str, group: str) -> tuple[set[str], set[str]]:
    """Of a whole run, at the source and at the target."""
    with ExitStack() as stack:
        source, target = (stack.enter_context(recorded(cluster)) for cluster in (side.source, side.target))
        often = {"heartbeat.interval.ms": "500"}
        tool = side.mirror(group, "--whitelist", topic, "--offset.commit.interval.ms", "200", consumer=often)
        wait_until(lambda: sum(end_offsets(side.target.bootstrap, topic).values()) == RECORDS, SECONDS, "all records")
        wait_until(lambda: {"OFFSET_COMMIT", "HEARTBEAT"} <= source(), SECONDS, "a commit and a heartbeat")
        tool.signal(signal.SIGTERM)
        assert tool.wait(SECONDS) == 143, tool.output()
        return source(), target()


def test_no_flag_no_request(old: Side, ours: Side, topic: str, group: str) -> None:
    writer = Producer({"bootstrap.servers": ours.source.bootstrap, "log_level": 0})
    create_topic(ours.source.bootstrap, topic, partitions=2)
    for number in range(RECORDS):
        writer.produce(topic, b"%d" % number, b"%d" % number)
    assert writer.flush(30) == 0
    for side in (old, ours):
        create_topic(side.target.bootstrap, topic, partitions=2)
    theirs, mine = (_requests(side, topic, f"{group}-{side.name}") for side in (old, ours))
    assert [kinds - known for kinds, known in zip(mine, theirs, strict=True)] == [set(), set()]
