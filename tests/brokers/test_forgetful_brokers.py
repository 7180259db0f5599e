"""Brokers forget an idempotent producer by the timestamps of its records. Answers are lost; nothing is doubled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from compat.laboratory.broker import Broker
from compat.laboratory.cluster import Cluster as Brokers
from compat.laboratory.releases import CURRENT, OLD
from compat.laboratory.topic_state import AUTHORIZER, Rule, add_rules, remove_rules
from compat.laboratory.zookeeper import ZooKeeperCluster
from legacy_mm.audit.cluster_access import create_topic, read_all
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import epoch_ms
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.net.connection_errors import ClusterUnreachable, ConnectionLost
from legacy_mm.clients.net.traffic import Traffic
from legacy_mm.clients.produce.append_options import options_from
from legacy_mm.clients.produce.appender import BatchAppender
from legacy_mm.clients.produce.broker_sender import BrokerSender
from legacy_mm.protocol.compression import Codec
from legacy_mm.protocol.single_record import SingleRecord, batch_of
from tests.fixtures import client_settings

pytestmark = pytest.mark.brokers
WEEK_MS = 7 * 24 * 3_600_000
FORGETFUL = {
    "producer.id.expiration.ms": "3600000",
    "producer.id.expiration.check.interval.ms": "200",
    "transactional.id.expiration.ms": "3600000",  # the same for releases before 3.4
}
KEEPS_RULES = {**AUTHORIZER, "super.users": "User:nobody"}
AUTHORIZER_2_8 = "kafka.security.authorizer.AclAuthorizer"
SECONDS, BATCHES = 60.0, 30


@pytest.fixture(
    params=[CURRENT, pytest.param(OLD, marks=pytest.mark.slow), pytest.param("2.8.2", marks=pytest.mark.slow)],
    scope="module",
)
def forgetful(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A cluster of one broker that remembers a producer for an hour."""
    properties = FORGETFUL | KEEPS_RULES
    if request.param == "2.8.2":
        properties["authorizer.class.name"] = AUTHORIZER_2_8
    made: Any = ZooKeeperCluster if request.param == "2.8.2" else Brokers
    with made(tmp_path_factory.mktemp("forgetful"), release=request.param, properties=properties) as cluster:
        yield cluster


class Losses:
    """Loses the answers to Produce requests while it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.on = False
        self.count = 0
        settle = BrokerSender._settle

        def maybe(channel: BrokerSender, request: Any, *rest: Any) -> None:
            if not self.on:
                settle(channel, request, *rest)
                return
            self.count += 1
            for entry in request.entries:
                with channel._owner.lock:
                    channel._owner.failed(entry, None)

        monkeypatch.setattr(BrokerSender, "_settle", maybe)


@pytest.fixture
def losses(monkeypatch: pytest.MonkeyPatch) -> Losses:
    return Losses(monkeypatch)


@pytest.fixture
def appender(forgetful: Any) -> Iterator[BatchAppender]:
    properties = {"bootstrap.servers": forgetful.bootstrap, "enable.idempotence": "true"}
    cluster = Cluster(client_settings.read_connection(properties), 5.0)
    appender = BatchAppender(
        cluster, options_from(client_settings.read_producer(properties)), Traffic("producer", print)
    )

    def started() -> bool:
        with suppress(ConnectionLost, ClusterUnreachable):
            appender.start()
            return True
        return False

    wait_until(started, SECONDS, "a producer id")
    cluster.metadata.keep_fresh(print)
    yield appender
    appender.purge()
    cluster.close()


def settled(appender: BatchAppender) -> bool:
    appender.poll()
    assert not appender.take_refused()
    return appender.wait_empty(0.05)


def append(appender: BatchAppender, place: TopicPartition, number: int, age_ms: int = WEEK_MS) -> None:
    record = SingleRecord(epoch_ms() - age_ms, b"%d" % number, b"v", ())
    appender.append(place, batch_of([record], Codec.NONE), number)


@pytest.mark.parametrize("age_ms", [0, WEEK_MS], ids=["young", "old"])
def test_what_arrived_without_an_answer_is_there_once(
    appender: BatchAppender, losses: Losses, forgetful: Any, topic: Callable[[], str], age_ms: int
) -> None:
    """Each of some batches loses its answer, and the broker ends cleanly: what it then reads leaves out the expired."""
    name = topic()
    place = TopicPartition(name, 0)
    create_topic(forgetful.bootstrap, name, partitions=1)
    appender.cluster.metadata.watch([name])
    broker: Broker = forgetful.broker if isinstance(forgetful, ZooKeeperCluster) else forgetful.brokers[0]
    append(appender, place, 0, age_ms)
    wait_until(lambda: settled(appender), SECONDS, "the first batch")
    losses.on = True
    for number in range(1, BATCHES):
        append(appender, place, number, age_ms)
    wait_until(lambda: losses.count, SECONDS, "an answer to lose")
    broker.terminate()
    losses.on = False
    broker.restart()
    wait_until(lambda: settled(appender), SECONDS, "all batches")
    assert [record.key for record in read_all(forgetful.bootstrap, name)] == [b"%d" % n for n in range(BATCHES)]
    told = [(number, offset) for number, offset in appender.take_acknowledged() if offset >= 0]
    assert all(number == offset for number, offset in told)
    assert (0, 0) in told


def test_who_may_not_read_the_log_sends_again_and_says_so_once(
    appender: BatchAppender, losses: Losses, forgetful: Any, topic: Callable[[], str], caplog: pytest.LogCaptureFixture
) -> None:
    """The right to write is enough to copy: nothing is lost, and nothing waits for ever."""
    name = topic()
    place = TopicPartition(name, 0)
    create_topic(forgetful.bootstrap, name, partitions=1)
    may_write: Rule = (name, "LITERAL", "User:ANONYMOUS", "*", "WRITE", "ALLOW")
    add_rules(forgetful.bootstrap, [may_write])
    appender.cluster.metadata.watch([name])
    for number in range(3):
        append(appender, place, number)
        wait_until(lambda: settled(appender), SECONDS, "a batch")
        losses.count, losses.on = 0, True
        append(appender, place, number)
        wait_until(lambda: losses.count, SECONDS, "an answer to lose")
        losses.on = False
        wait_until(lambda: settled(appender), SECONDS, "the batch after its answer was lost")
    remove_rules(forgetful.bootstrap, [may_write])
    keys = [int(record.key or b"") for record in read_all(forgetful.bootstrap, name)]
    assert keys == sorted(keys)
    assert {number: keys.count(number) >= 2 for number in range(3)} == dict.fromkeys(range(3), True)
    assert len([text for text in caplog.messages if "the log cannot be read" in text]) == 1
