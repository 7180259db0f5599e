"""Odd values of MirrorMaker 2's file that people reported, on the real MirrorMaker 2 and on ours: what each leaves.

Many flows of one source in one process, each with one odd value.
"""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import Producer

from compat.laboratory.cluster import Cluster
from compat.laboratory.ports import LOOPBACK
from compat.laboratory.tools import java_driver, our_driver
from compat.laboratory.topic_state import AUTHORIZER, add_rules, rules
from legacy_mm.audit.cluster_access import create_topic, end_offsets, list_topics, read_all
from legacy_mm.audit.load import load
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import epoch_ms
from legacy_mm.protocol.mirror_records import Heartbeat
from tests.fixtures.driver_files import driver_file

pytestmark = [pytest.mark.brokers, pytest.mark.side_by_side, pytest.mark.spark, pytest.mark.slow]
SECONDS = 120.0
RECORDS = 30
CONVERTERS = "org.apache.kafka.connect"
UNFIT = '"plain",plain #old,plain good,no-such-topic'
"""Entries that match no topic."""
ALIASES = ("eu", "json", "bare", "comment", "late", "store", "beats", "never", "star")
NEVER = ("refresh.topics", "sync.topic.configs", "sync.topic.acls", "emit.heartbeats", "refresh.groups")
"""What a negative interval turns off."""
ENDED = "Task is being killed and will not recover until manually restarted"
WAITS = "The target does not take bad-0 at offset 0"
REFUSED = "Failed to configure MirrorSourceConnector connector for comment->T"


@pytest.fixture(scope="module")
def source(module_clusters: Callable[..., Cluster]) -> Cluster:
    """Topics with names of all kinds."""
    made = module_clusters(properties=AUTHORIZER)
    anything = {"message.timestamp.after.max.ms": str(2**63 - 1)}
    for name in ("eu.orders", "dev.eu.x", "T.back", "dev.T.x", "json", "plain", "good", "bad"):
        create_topic(made.bootstrap, name, 1, config=anything)
    for name in ("eu.orders", "dev.eu.x", "T.back", "dev.T.x", "plain", "good"):
        load(made.bootstrap, name, RECORDS, 50, partitions=1)
    writer = Producer({"bootstrap.servers": made.bootstrap})
    writer.produce("json", key=b"k", value=b"\x00v")
    writer.produce("bad", value=b"of the future", timestamp=epoch_ms() + 7_200_000)
    assert writer.flush(30) == 0
    add_rules(made.bootstrap, [("*", "LITERAL", "User:x", "*", "READ", "ALLOW")])
    return made


def file_of(source: Cluster, target: Cluster, port: int) -> dict[str, str]:
    """A flow for each value that concerns a whole connector; values of a list share one."""
    to_json = f"{CONVERTERS}.json.JsonConverter"
    flows: dict[str, dict[str, str]] = {
        "eu": {"topics": f"{UNFIT},eu[.]orders,dev[.]eu[.]x,T[.]back,dev[.]T[.]x"},
        "json": {
            "topics": "json",
            "key.converter": f"{CONVERTERS}.storage.StringConverter",
            "value.converter": to_json,
        },
        "bare": {"topics": "json", "value.converter": to_json, "value.converter.schemas.enable": "false"},
        "comment": {"topics": "plain", "refresh.topics.interval.seconds": "60  # comment"},
        "late": {"topics": "good,bad", "sync.topic.configs.enabled": "false"},
        "store": {"topics": "plain"},
        "star": {"topics": "json", "groups": "*", "emit.checkpoints.enabled": "true"},
        "never": {"topics": "json", **{f"{what}.interval.seconds": "-1" for what in NEVER}},
    }
    lines = {f"{alias}->T.{key}": text for alias, own in flows.items() for key, text in own.items()}
    lines |= {f"{alias}->T.enabled": "true" for alias in flows}
    lines |= {"eu->T.emit.heartbeats.enabled": "true"}
    lines |= {"store.security.protocol": "SSL", "store.ssl.truststore.location": "/nowhere"}
    clusters = {**dict.fromkeys([*flows, "beats"], source), "T": target}
    more = {
        "T->beats.emit.heartbeats.enabled": "true",
        "emit.heartbeats.enabled": "false",
        "emit.heartbeats.interval.seconds": "1",
        "emit.checkpoints.enabled": "false",
        "sync.topic.acls.interval.seconds": "2",
        "offset-syncs.topic.location": "target",
        "dedicated.mode.enable.internal.rest": "true",
        "listeners": f"http://{LOOPBACK}:{port}",
    }
    return driver_file(clusters, **lines, **more)


def arrived(cluster: Cluster, topic: str) -> int:
    return sum(end_offsets(cluster.bootstrap, topic).values()) if topic in list_topics(cluster.bootstrap) else 0


@pytest.mark.parametrize("which", ["theirs", "ours"])
def test_each_flow_has_an_odd_value(
    source: Cluster,
    own_clusters: Callable[..., Cluster],
    new_port: Callable[[], int],
    tmp_path: Path,
    which: str,
) -> None:
    """Names with aliases, unfit entries, converters, a comment behind a value, a store that is not there, a refused
    record, heartbeats of two flows, a port, a rule for every topic, and a list of groups that is none.
    """
    target, port = own_clusters(properties=AUTHORIZER), new_port()
    create_topic(target.bootstrap, "late.bad", 1, config={"message.timestamp.after.max.ms": "3600000"})
    create_topic(target.bootstrap, "heartbeats", 1)  # not compacted, as brokers make it
    ours = which == "ours"
    before = arrived(source, "good"), arrived(source, "eu.orders")
    driver = our_driver if ours else java_driver
    with driver(tmp_path / which, file_of(source, target, port)) as tool:
        for copy, count in (
            ("eu.eu.orders", before[1]),
            ("eu.dev.eu.x", RECORDS),
            ("json.json", 1),
            ("bare.json", 1),
            ("never.json", 1),
            ("star.json", 1),
        ):
            wait_until(lambda: arrived(target, copy) == count, SECONDS, copy)  # noqa: B023
        tool.wait_for_output(WAITS if ours else ENDED, SECONDS)
        for topic in ("good", "eu.orders"):
            load(source.bootstrap, topic, RECORDS, 50, partitions=1, seed=2)
        wait_until(lambda: arrived(target, "eu.eu.orders") == before[1] + RECORDS, SECONDS, "what comes later")
        if ours:
            wait_until(lambda: arrived(target, "late.good") == before[0] + RECORDS, SECONDS, "the neighbour")
        else:
            assert arrived(target, "late.good") <= before[0]
        assert arrived(target, "late.bad") == 0
        assert opens(port) is not ours
        tool.signal(signal.SIGTERM)
        assert tool.wait(SECONDS) == 143, tool.output()
    copies = {name for name in list_topics(target.bootstrap) if name.split(".")[0] in ALIASES}
    assert copies - {f"{alias}.heartbeats" for alias in ALIASES} == {
        *("eu.eu.orders", "eu.dev.eu.x", "json.json", "bare.json", "never.json", "star.json", "late.good", "late.bad")
    }
    json, bare = (pairs(target, f"{each}.json") for each in ("json", "bare"))
    if ours:
        assert json == bare == [(b"k", b"\x00v")]
    else:
        ((key, value),) = json
        assert (key or b"").startswith(b"[B@")
        assert value == b'{"schema":{"type":"bytes","optional":false},"payload":"AHY="}'
        assert bare == [(b"k", b'"AHY="')]
    assert [beats(source), beats(target)] == [{("T", "beats")}, {("eu", "T")}]
    assert not rules(target.bootstrap)
    assert REFUSED in tool.output()


def pairs(cluster: Cluster, topic: str) -> list[tuple[bytes | None, bytes | None]]:
    """The keys and values of a topic."""
    return [(row.key, row.value) for row in read_all(cluster.bootstrap, topic)]


def beats(cluster: Cluster) -> set[tuple[str, str]]:
    """The flows whose heartbeats are there."""
    found = (Heartbeat.decode(row.key, row.value) for row in read_all(cluster.bootstrap, "heartbeats"))
    return {(each.source, each.target) for each in found}


def opens(port: int) -> bool:
    """Whether somebody listens there."""
    with socket.socket() as probe:
        return probe.connect_ex((LOOPBACK, port)) == 0


PAIRS = {
    "dotted": ("dc1.prod", "dc2.prod", "."),
    "dashed": ("e1-prod", "e2-prod", "-"),
    "mixed": ("left", "right.prod", "."),
    "once": ("f1.prod", "f2.prod", "."),
}
"""Topic -> the aliases of both clusters, and the separator; of all but `once` the copies are mirrored, too."""
GROWING = ("dotted", "dashed")


def circles(one: Cluster, other: Cluster, suffix: str) -> dict[str, str]:
    """Flows in both directions for each pair of aliases."""
    clusters: dict[str, Cluster] = {}
    lines: dict[str, str] = {}
    for topic, (a, b, separator) in PAIRS.items():
        clusters |= {a: one, b: other}
        for there, back in ((a, b), (b, a)):
            lines |= {
                f"{there}->{back}.enabled": "true",
                f"{there}->{back}.topics": f"{'' if topic == 'once' else '.*'}{topic}-{suffix}",
                f"{there}->{back}.replication.policy.separator": separator,
            }
    off = ("emit.heartbeats.enabled", "heartbeats.replication.enabled", "emit.checkpoints.enabled")
    return driver_file(clusters, **lines, **dict.fromkeys(off, "false"))


@pytest.mark.parametrize("which", ["theirs", "ours"])
def test_aliases_that_hold_the_separator(tmp_path: Path, pair: tuple[Cluster, Cluster], which: str) -> None:
    """MirrorMaker 2 makes a topic more at each look, and ours refuses these flows; what does not go round is alike."""
    one, other = pair
    for topic in PAIRS:
        for cluster in pair:
            load(cluster.bootstrap, f"{topic}-{which}", RECORDS, 50, partitions=1)
    driver = our_driver if which == "ours" else java_driver
    with driver(tmp_path / which, circles(one, other, which)) as tool:
        for topic in ("mixed", "once"):
            for number, cluster in enumerate(pair):
                copy = f"{PAIRS[topic][1 - number]}.{topic}-{which}"
                wait_until(lambda: arrived(cluster, copy) == RECORDS, SECONDS, copy)  # noqa: B023
        wait_until(lambda: arrived(other, f"left.right.prod.mixed-{which}") == RECORDS, SECONDS, "one round")
        for topic in GROWING if which == "theirs" else ():
            grown = name_after(topic, 4)
            wait_until(lambda: grown in list_topics(one.bootstrap), SECONDS, grown)  # noqa: B023
        tool.signal(signal.SIGTERM)
        assert tool.wait(SECONDS) == 143, tool.output()
    for topic, (a, b, _) in PAIRS.items():
        name = f"{topic}-{which}"
        left, right = ({each for each in list_topics(cluster.bootstrap) if each.endswith(name)} for cluster in pair)
        if topic == "once":
            assert (left, right) == ({name, f"{b}.{name}"}, {name, f"{a}.{name}"})
        elif topic == "mixed":
            assert (left, right) == ({name, f"{b}.{name}"}, {name, f"{a}.{name}", f"{a}.{b}.{name}"})
        elif which == "ours":
            assert (left, right) == ({name}, {name})


@pytest.fixture(scope="module")
def pair(module_clusters: Callable[..., Cluster]) -> tuple[Cluster, Cluster]:
    """Two clusters, each the source of the other."""
    return module_clusters(), module_clusters()


def name_after(topic: str, rounds: int) -> str:
    """The name of a topic of the first cluster after so many copies by MirrorMaker 2."""
    (a, b, separator), name = PAIRS[topic], f"{topic}-theirs"
    for number in range(rounds):
        name = f"{(a, b)[number % 2]}{separator}{name}"
    return name
