"""The MBeans of MirrorMaker 2's driver: ours against the real one's, read by a JMX client and the JMX exporter.

Groups whose names hold signs that JMX quotes are quoted alike. What ours lacks is the beans of clients that it does not
have; docs/how-to/dedicated.md names them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from compat.laboratory.cluster import Cluster
from compat.laboratory.jars import kafka_jars
from compat.laboratory.ports import LOOPBACK
from compat.laboratory.releases import CONNECT, CURRENT
from compat.laboratory.tools import java_driver, our_driver
from legacy_mm.audit.cluster_access import create_topic, end_offsets, list_topics
from legacy_mm.audit.load import load
from legacy_mm.audit.spawn import QUICK_JVM
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import Deadline
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.base.model import CommittedOffset, TopicPartition
from legacy_mm.clients.group.groups import GroupAdmin
from tests.fixtures.driver_files import driver_file
from tests.fixtures.jmx import MBeans, family, java_pid, read_mbeans
from tests.fixtures.scrape import scrape

pytestmark = [pytest.mark.brokers, pytest.mark.side_by_side, pytest.mark.spark]
SECONDS = 120.0
TOPIC, RECORDS = "t.x", 1_000
GROUPS = ("a:b", "a\nb", 'a"b', "a=b", "a*b", "a?b", "a\\b", "a b", "a\tb", "a%b", "a|b", "é", "日本", "😀")
WITH_COMMA = "a,b"
"""MirrorMaker 2 writes its groups into a list with commas, so it takes this one for two that are not there."""
COORDINATOR = 'kafka.connect:type=connect-coordinator-metrics,client-id="S->T"'
_CONSUMED = 'kafka.consumer:type=consumer-fetch-manager-metrics,client-id="S->T|MirrorSourceConnector-0|'
LATE = {
    COORDINATOR,
    *(f'{_CONSUMED}replication-consumer",topic=t_x,partition={each}' for each in range(2)),
    *(
        f"kafka.connect.mirror:type=MirrorSourceConnector,source=S,target=T,topic={place}"
        for place in ("S.heartbeats,partition=0", "S.t.x,partition=0", "S.t.x,partition=1")
    ),
    *(
        f"kafka.producer:type=producer-topic-metrics,client-id=connector-producer-MirrorSourceConnector-0,topic={topic}"
        for topic in ("S.heartbeats", "S.t.x")
    ),
}
"""Beans that are there once there was something to count."""
LOST = '-0|checkpoint-target-admin"'
"""MirrorMaker 2 has two clients of this name; one is closed after the start, and takes the beans of the other along."""
LATENCY = "kafka_connect_mirror_MirrorCheckpointConnector_checkpoint_latency_ms"
REMOVED_BY_4 = {"io-waittime-total", "iotime-total", "bufferpool-wait-time-total"}
OF_TASK = "connector-class connector-type connector-version task-class task-version"
OF_TASK += "".join(f" {each}-converter-class {each}-converter-version" for each in ("key", "value", "header"))
SINCE_4 = {"txn-prepare-time-ns-total", *OF_TASK.split()}
LACKING = (
    r'-(configs|offsets|statuses)"',  # the topics of a worker
    r"\|offset-syncs-",
    "connector-producer-Mirror(Heartbeat|Checkpoint)Connector",
    "source-task-metrics,connector=Mirror(Heartbeat|Checkpoint)Connector",
    r"\|MirrorCheckpointConnector\|",  # the groups are asked for once, by what is its task there
    r"S->T\|MirrorHeartbeatConnector\|",
    'T->S"|T-mm2-T->S-',  # only heartbeats go there: here nothing that needs a worker's group
    '"localhost/',  # a worker's address, which has no port here
    "node-id=node-",  # those of bootstrap, and of the roles above
)
"""Beans of clients that ours does not have, and of other clients' connections."""


@dataclass(frozen=True)
class Seen:
    """What one driver showed; T stands for its target."""

    beans: MBeans
    latencies: list[dict[str, str]]
    """The labels that the JMX exporter makes of the beans of groups."""

    @property
    def groups(self) -> set[str]:
        """The groups' names as the exporter writes them."""
        return {labels["group"] for labels in self.latencies}


def started(alias: str, folder: Path, file: dict[str, str], release: str, agent: str) -> ToolProcess:
    """The real driver of this release, or ours."""
    if alias == "J":
        return java_driver(folder, file, release=release, jvm=(*QUICK_JVM, agent))
    return our_driver(folder, file, environment={"KAFKA_OPTS": agent})


def seen(tool: ToolProcess, alias: str, target: Cluster, groups: Iterable[str], port: int, release: str) -> Seen:
    """What a driver shows once it has copied all records, written all checkpoints, and asked as an admin client."""
    wanted = 2 * len(set(groups))

    def copied() -> bool:
        topics = list_topics(target.bootstrap)
        return f"S.{TOPIC}" in topics and sum(end_offsets(target.bootstrap, f"S.{TOPIC}").values()) >= RECORDS

    def shown() -> MBeans:
        found = read_mbeans(java_pid(tool), classes=kafka_jars(release))
        beans = {named(bean, alias): rows for bean, rows in found.items()}
        asked = [rows["request-total"].number for bean, rows in beans.items() if "admin-client-metrics" in bean]
        done = sum("MirrorCheckpointConnector,source=" in bean for bean in beans) >= wanted and asked and min(asked) > 0
        return beans if done and beans.keys() >= LATE and beans[COORDINATOR]["heartbeat-total"].number > 0 else {}

    wait_until(copied, SECONDS, f"the copy of {alias}")
    beans = wait_until(shown, SECONDS, f"the beans of {alias}")
    return Seen(beans, [dict(labels) for labels in scrape(port)[LATENCY]])


def named(bean: str, alias: str) -> str:
    return (
        bean.replace(f"S->{alias}", "S->T")
        .replace(f"{alias}->S", "T->S")
        .replace(f"target={alias}", "target=T")
        .replace(f'"{alias}-mm2', '"T-mm2')
    )


def attributes(beans: MBeans) -> dict[str, set[str]]:
    """Attributes by family of beans."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for bean, shown in beans.items():
        found[family(bean)] |= shown.keys()
    return found


@pytest.mark.parametrize(
    ("release", "more", "names"),
    [
        pytest.param(CURRENT, REMOVED_BY_4, (), id="4.3"),
        pytest.param(
            CONNECT, SINCE_4, ('kafka.connect:type=app-info,client-id="S->T"', "topic=t.x"), id="3.9",
            marks=pytest.mark.combination,
        ),
    ],
)  # fmt: skip
def test_the_beans_are_those_of_the_real_driver(
    own_clusters: Callable[..., Cluster],
    new_port: Callable[[], int],
    jmx_exporter: Path,
    tmp_path: Path,
    release: str,
    more: set[str],
    names: tuple[str, ...],
) -> None:
    """Their names letter by letter, all attributes, their Java types; the exporter makes the same labels of them."""
    source, targets = own_clusters(), {alias: own_clusters() for alias in ("J", "O")}
    create_topic(source.bootstrap, TOPIC, 2)
    load(source.bootstrap, TOPIC, RECORDS, 100)
    stand = {TopicPartition(TOPIC, each): CommittedOffset(90) for each in range(2)}
    every = (*GROUPS, WITH_COMMA)
    admin = GroupAdmin("source", ConnectionSettings((source.bootstrap,)))
    wait_until(
        lambda: not admin.commit(dict.fromkeys(every, stand), Deadline.after(10)), SECONDS, "the source's groups"
    )
    rules = tmp_path / "rules.yaml"
    rules.write_text('includeObjectNames: ["kafka.connect.mirror:*"]\nrules: [{pattern: ".*"}]\n')
    shown = {}
    for alias, target in targets.items():
        file = driver_file({"S": source, alias: target}, **{
            f"S->{alias}.enabled": "true", "topics": TOPIC, "groups": "(?s).*", "sync.group.offsets.enabled": "true",
            "add.source.alias.to.metrics": "true",
        })  # fmt: skip
        port = new_port()
        agent = f"-javaagent:{jmx_exporter}={LOOPBACK}:{port}:{rules}"
        with started(alias, tmp_path / alias, file, release, agent) as tool:
            groups = GROUPS if alias == "J" else (*GROUPS, WITH_COMMA)
            shown[alias] = seen(tool, alias, target, groups, port, release)
    theirs, ours = shown["J"].beans, shown["O"].beans

    lacking = {family(bean) for bean in theirs} - {family(bean) for bean in ours}
    assert lacking == {"kafka.consumer:type=consumer-coordinator-metrics"}
    wanted, found = attributes(theirs), attributes(ours)
    assert not {each: wanted[each] - found[each] for each in found if wanted[each] - found[each]}
    assert {name for each in found for name in found[each] - wanted[each]} == more
    for bean in ours.keys() & theirs.keys():
        for name in ours[bean].keys() & theirs[bean].keys() - {"connector-type"}:  # an enumeration of Connect's own
            kinds = [(side[bean][name].declared, side[bean][name].java_class) for side in (ours, theirs)]
            assert kinds[0] == kinds[1], (bean, name)

    alone = (f'group="{WITH_COMMA}"', LOST, *names)
    assert [bean for bean in ours.keys() - theirs.keys() if not any(each in bean for each in alone)] == []
    assert [bean for bean in theirs.keys() - ours.keys() if not any(re.search(each, bean) for each in LACKING)] == []
    quoted = '"{}"'.format
    assert shown["J"].groups == {
        *map(quoted, ("a:b", r"a\nb", r"a\"b", "a=b", r"a\*b", r"a\?b", r"a\\b", "a|b", "é", "日本", "😀")),
        "a b", "a\tb", "a%b",
    }  # fmt: skip
    assert shown["O"].groups == shown["J"].groups | {quoted(WITH_COMMA)}
    for name in ("assigned-connectors", "assigned-tasks"):
        assert ours[COORDINATOR][name].number == theirs[COORDINATOR][name].number == 3
