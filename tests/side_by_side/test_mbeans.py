"""The MBeans that dashboards query: ours against the real tool's, read by a JMX client from both (contract 6.5)."""

from __future__ import annotations

import signal
from collections import defaultdict
from dataclasses import dataclass

import pytest

from legacy_mm.audit.cluster_access import create_topic, end_offsets
from legacy_mm.audit.load import load
from legacy_mm.audit.waiting import wait_until
from tests.fixtures.jmx import MBeans, family, java_pid, read_mbeans
from tests.side_by_side.conftest import Side

pytestmark = pytest.mark.side_by_side
SECONDS = 60.0
RECORDS = 3_000
KEYED, REFUSED = ".keyed", 4
"""A topic whose copy is compacted, so that it takes no record without a key."""


@dataclass(frozen=True)
class Seen:
    """What both tools showed once they had copied, committed and counted everything; G stands for the group."""

    old: MBeans
    ours: MBeans
    topic: str


@pytest.fixture
def topic(topic: str) -> str:
    """Dots become underscores in the consumer's beans, not in the producer's."""
    return f"mbeans.{topic}"


@pytest.fixture
def seen(old: Side, ours: Side, topic: str, group: str) -> Seen:
    """A group with a colon in its name, so that Kafka's clients quote their ids."""
    for cluster in (old.source, old.target, ours.target):
        create_topic(cluster.bootstrap, topic, partitions=2)
    load(old.source.bootstrap, topic, RECORDS, 100)
    for cluster in (old.target, ours.target):
        create_topic(cluster.bootstrap, f"{topic}{KEYED}", config={"cleanup.policy": "compact"})
    load(old.source.bootstrap, f"{topic}{KEYED}", REFUSED, 100, keyed=False)
    return Seen(beans(old, f"{group}:old", topic), beans(ours, f"{group}:ours", topic), topic)


def beans(side: Side, group: str, topic: str) -> MBeans:
    """Run one side until its beans tell that all is done, stop it, and return them."""
    words = ("--whitelist", f"{topic},{topic}{KEYED}", "--abort.on.send.failure", "false")
    tool = side.mirror(group, *words, "--offset.commit.interval.ms", "1000")

    def shown() -> MBeans:
        return {bean.replace(group, "G"): attributes for bean, attributes in read_mbeans(java_pid(tool)).items()}

    # before, its JVM may be too young to be asked: an attach then fails
    arrived = lambda: sum(end_offsets(side.target.bootstrap, topic).values()) > 0  # noqa: E731
    wait_until(arrived, SECONDS, f"first records of the {side.name} tool")
    everything = f"everything copied, committed and counted by the {side.name} tool"
    wait_until(lambda: finished(shown(), topic), SECONDS, everything)
    found = shown()  # again, because a reader lists the beans first and reads their values a little later
    tool.signal(signal.SIGTERM)
    assert tool.wait(SECONDS) == 143, tool.output()
    return found


def finished(beans: MBeans, topic: str) -> bool:
    """Whether the numbers of sending, fetching and committing have come to their end."""
    sent = "kafka.producer:type=producer-topic-metrics,client-id=producer-1,topic="
    expected = {
        (f"{sent}{topic}", "record-send-total"): RECORDS,
        (f"{sent}{topic}{KEYED}", "record-error-total"): REFUSED,
        ('kafka.consumer:type=consumer-fetch-manager-metrics,client-id="G-0"', "records-consumed-total"): (
            RECORDS + REFUSED
        ),
    }
    commits = beans.get('kafka.consumer:type=consumer-coordinator-metrics,client-id="G-0"', {})
    return (
        all(bean in beans and beans[bean][name].number == number for (bean, name), number in expected.items())
        and commits["commit-total"].number > 0
    )


def attributes(beans: MBeans) -> dict[str, set[str]]:
    """Attributes by family of beans."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for bean, shown in beans.items():
        found[family(bean)] |= shown.keys()
    return found


def test_beans_of_both(seen: Seen) -> None:
    """Difference: mbeans-with-a-source. Every attribute that a scraper may name is there, with the same types."""
    assert set(seen.ours) <= set(seen.old)
    for bean, shown in seen.ours.items():
        for name, attribute in shown.items():
            theirs = seen.old[bean].get(name)
            assert theirs is not None, f"{bean} has no {name}"
            assert (attribute.declared, attribute.java_class) == (theirs.declared, theirs.java_class), (bean, name)
    assert attributes(seen.ours) == attributes(seen.old)

    keyed = f"kafka.producer:type=producer-topic-metrics,client-id=producer-1,topic={seen.topic}{KEYED}"
    assert seen.ours[keyed]["record-error-rate"].number > 0
    names = {"records-consumed-total", "records-lag", "record-send-total", "record-error-total", "assigned-partitions"}
    for bean, shown in seen.ours.items():
        for name in names & shown.keys():
            assert shown[name].number == seen.old[bean][name].number, (bean, name)
    dropped = "kafka.tools:type=MirrorMaker,name=MirrorMaker-numDroppedMessages"
    assert seen.ours[dropped]["Value"].text == seen.old[dropped]["Value"].text == str(REFUSED)
