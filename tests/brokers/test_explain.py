"""`legacy-mm explain` asks a real source and leaves nothing behind."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from legacy_mm.audit.cluster_access import committed, create_topic, end_offsets, list_topics, members
from legacy_mm.audit.java_files import write_properties
from legacy_mm.audit.load import load
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import epoch_ms, iso_time
from tests.fixtures.driver_files import driver_file
from tests.fixtures.tools import Run
from tests.fixtures.warm_mirrors import WarmMirror

pytestmark = [pytest.mark.brokers, pytest.mark.spark]
SECONDS = 30.0


class Explain:
    """Writes the files of a mirror between two clusters and explains its command line."""

    def __init__(self, folder: Path, source: Any, target: Any, *, group: str, run: Run) -> None:
        self._folder, self._run = folder, run
        self._consumer = f"bootstrap.servers={source.bootstrap}\ngroup.id={group}\n"
        self._producer = f"bootstrap.servers={target.bootstrap}\n"

    def __call__(self, pattern: str, consumer: str = "", *more: str) -> tuple[int, dict[str, Any]]:
        (self._folder / "c.properties").write_text(self._consumer + consumer)
        (self._folder / "p.properties").write_text(self._producer)
        words = ("--consumer.config", "c.properties", "--producer.config", "p.properties", "--whitelist", pattern)
        with contextlib.chdir(self._folder):
            code, document, errors = self._run("explain", "--json", "--", *words, *more)
        assert not errors
        return code, json.loads(document)


@pytest.fixture
def explain(tmp_path: Path, source: Any, target: Any, group: str, run: Run) -> Explain:
    return Explain(tmp_path, source, target, group=group, run=run)


def starts(document: dict[str, Any]) -> dict[tuple[str, int], int | None]:
    return {(row["topic"], row["partition"]): row["start"] for row in document["topics"]["partitions"]}


def commit(bootstrap: str, group: str, topic: str, offsets: dict[int, int]) -> None:
    client = Consumer({"bootstrap.servers": bootstrap, "group.id": group})
    entries = [TopicPartition(topic, partition, offset) for partition, offset in offsets.items()]
    client.commit(offsets=entries, asynchronous=False)
    client.close()


def test_topics_and_start_offsets(
    source: Any, target: Any, topic: Callable[..., str], group: str, explain: Explain
) -> None:
    """The group's offsets, else the reset policy; afterwards both clusters are as they were."""
    name, other = topic(), topic("other")
    for each in (name, other):
        create_topic(source.bootstrap, each, partitions=3)
        load(source.bootstrap, each, 90, 100, partitions=3)
    commit(source.bootstrap, group, name, {0: 7, 1: 1_000_000})
    before = list_topics(source.bootstrap), list_topics(target.bootstrap)

    code, latest = explain(f"{name[:-3]}(?=.).*")
    assert code == 0
    assert latest["topics"]["answered"]
    ends = {(name, partition): end for partition, end in end_offsets(source.bootstrap, name).items()}
    assert starts(latest) == {(name, 0): 7, (name, 1): ends[name, 1], (name, 2): ends[name, 2]}
    _, new = explain(f"{name},{other}", "", "--new.topics.from", "earliest")
    assert starts(new) == starts(latest) | {(name, 2): 0} | {(other, partition): 0 for partition in range(3)}
    _, first = explain(other, "", "--new.topics.from", "earliest")
    assert set(starts(first).values()) == set(end_offsets(source.bootstrap, other).values())
    now = epoch_ms()
    times = ("--start.from", str(now), f"--start.from.topic.{other}", iso_time(now - 3_600_000))
    _, timed = explain(f"{name},{other}", "", *times)
    assert starts(timed) == starts(latest) | {(other, partition): 0 for partition in range(3)}
    said = {row["partition"]: row["because"] for row in timed["topics"]["partitions"] if row["topic"] == name}
    assert said[2] == f"the group has no offset; start.from is {iso_time(now)}"
    _, earliest = explain(f"{name},{other}", "auto.offset.reset=earliest\n")
    assert starts(earliest)[name, 0] == 7
    assert {start for (_, partition), start in starts(earliest).items() if partition} == {0}
    _, none = explain(name, "auto.offset.reset=none\n")
    assert starts(none) == {(name, 0): 7, (name, 1): None, (name, 2): None}
    because = {row["partition"]: row["because"] for row in none["topics"]["partitions"]}
    assert because[0] == f"committed by the group, {ends[name, 0] - 7} records behind the end"
    assert because[1].startswith("the group's offset 1000000 is not in the log (0 to ")

    assert (list_topics(source.bootstrap), list_topics(target.bootstrap)) == before
    assert members(source.bootstrap, group) == 0
    assert committed(source.bootstrap, group, [name, other]) == {(name, 0): 7, (name, 1): 1_000_000}


def test_what_a_committed_reader_has_before_it(
    source: Any, topic: Callable[..., str], group: str, explain: Explain
) -> None:
    """As its consumer counts it: to the last stable offset. Whoever reads all counts to the end."""
    name, committed_only = topic(), "isolation.level=read_committed\n"
    create_topic(source.bootstrap, name, partitions=1)
    load(source.bootstrap, name, 10, 100, partitions=1)
    producer = Producer({"bootstrap.servers": source.bootstrap, "transactional.id": name})
    producer.init_transactions(SECONDS)
    producer.begin_transaction()
    for _ in range(5):
        producer.produce(name, b"open", partition=0)
    producer.flush(SECONDS)
    open_now = "a transaction is open from offset 10 on"
    assert said(explain(name, committed_only)) == (10, "the group has no offset; auto.offset.reset=latest")
    assert said(explain(name)) == (15, "the group has no offset; auto.offset.reset=latest")
    commit(source.bootstrap, group, name, {0: 4})
    behind = f"committed by the group, 6 records behind the end of what is committed; {open_now}"
    assert said(explain(name, committed_only)) == (4, behind)
    assert said(explain(name)) == (4, "committed by the group, 11 records behind the end")
    commit(source.bootstrap, group, name, {0: 12})
    behind = f"committed by the group, 0 records behind the end of what is committed; {open_now}"
    assert said(explain(name, committed_only)) == (12, behind)
    producer.commit_transaction(SECONDS)
    assert said(explain(name, committed_only)) == (12, "committed by the group, 4 records behind the end")


def said(answer: tuple[int, dict[str, Any]]) -> tuple[int, str]:
    (row,) = answer[1]["topics"]["partitions"]
    return row["start"], row["because"]


def test_each_topic_and_its_copy(source: Any, topic: Callable[..., str], explain: Explain) -> None:
    """With a canary, only what it matches has another name."""
    first, second = topic(), topic("other")
    create_topic(source.bootstrap, first, partitions=3)
    create_topic(source.bootstrap, second, partitions=1)
    flags = (
        "--rename.topics=true",
        "--source.cluster.alias=up",
        "--target.cluster.alias=down",
        f"--feature.topics={first}",
    )
    code, document = explain(f"{first}|{second}", "", *flags)
    assert code == 0
    copies = {(row["topic"], row["target"], row["partitions"]) for row in document["topics"]["copies"]}
    assert copies == {(first, f"up.{first}", 3), (second, second, 1)}
    steps = ("--handler.step", f"filter.topic={first}", "--handler.step", r"rename.map=(\p{Alpha}+)(.*)->$1.x$2")
    _, document = explain(f"{first}|{second}", "", *steps)
    renamed = {row["topic"]: row["target"] for row in document["topics"]["copies"]}
    assert renamed[second] == "(filtered out)"
    assert renamed[first].count(".x") == 1
    code, document = explain(first, "", "--handler.step", f"rename.prefix={'p' * 240}")
    assert code == 255
    assert "a name has 249 letters at most" in document["outcome"]


def test_every_source_is_asked(
    source: Any, topic: Callable[..., str], group: str, explain: Explain, tmp_path: Path
) -> None:
    name, old_file = topic(), "zookeeper.connect=zk\nauto.offset.reset=smallest\n"
    load(source.bootstrap, name, 10, 100, partitions=1)
    commit(source.bootstrap, f"{group}-2", name, {0: 7})
    (tmp_path / "second").write_text(f"bootstrap.servers={source.bootstrap}\ngroup.id={group}-2\n{old_file}")
    more = ("--consumer.config", "second", "--new.producer", "--legacy.release", "0.8.2")
    code, document = explain(name, old_file, *more)
    assert code == 0
    assert [(row["topic"], row["start"], row["because"]) for row in document["topics"]["partitions"]] == [
        (name, 0, "source c.properties: the group has no offset; auto.offset.reset=earliest"),
        (name, 7, "source second: committed by the group, 3 records behind the end"),
    ]


def test_a_pattern_that_java_refuses(source: Any, topic: Callable[..., str], explain: Explain) -> None:
    create_topic(source.bootstrap, topic(), partitions=1)
    code, document = explain("*")
    assert code == document["exit_code"] == 255
    first, second = document["outcome"].splitlines()
    assert first == "It would be refused: Invalid expression syntax: *"
    assert second.endswith(".* was probably meant, which is every topic.")


def test_nothing_matches(source: Any, topic: Callable[..., str], explain: Explain) -> None:
    create_topic(source.bootstrap, topic(), partitions=1)
    code, document = explain("no-such-topic")
    found = document["topics"]
    assert (code, found.pop("answered")) == (0, True)
    assert not any(found.values())


@pytest.mark.parametrize("made", [True, False])
def test_other_numbers_of_partitions_at_the_target_are_told(
    source: Any, target: Any, topic: Callable[..., str], explain: Explain, *, made: bool
) -> None:
    """Those of the copy, or those that its brokers would give it (4 in the laboratory)."""
    name = topic()
    create_topic(source.bootstrap, name, partitions=6)
    if made:
        create_topic(target.bootstrap, name, partitions=3)
    _, document = explain(name)
    (row,) = document["topics"]["copies"]
    assert (row["partitions"], row["copy_partitions"]) == (6, 3 if made else 4)
    assert (name in list_topics(target.bootstrap)) is made


def test_topics_that_the_target_cannot_have_are_foreseen(
    source: Any, target: Any, topic: Callable[..., str], explain: Explain
) -> None:
    """Nothing is made for it."""
    good, bad = topic("good"), f"{topic('bad')}.x"
    for name in (good, bad):
        create_topic(source.bootstrap, name, partitions=1)
    create_topic(target.bootstrap, bad.replace(".", "_"), partitions=1)
    before = list_topics(target.bootstrap)
    code, document = explain(f"{good},{bad}")
    (row,) = document["topics"]["impossible"]
    assert (code, row["topic"]) == (0, bad)
    assert row["because"].startswith(f"the name collides with topic {bad.replace('.', '_')}")
    assert list_topics(target.bootstrap) == before


def test_the_clusters_of_mirror_maker_2_s_file_are_asked(
    source: Any,
    target: Any,
    topic: Callable[..., str],
    warm_driver: Callable[..., WarmMirror],
    run: Run,
    tmp_path: Path,
) -> None:
    """Its positions are those of the workers; a cluster that is away takes no flow out, one that is the source does."""
    name = topic()
    load(source.bootstrap, name, 30, 100, partitions=2)
    away = SimpleNamespace(bootstrap="127.0.0.1:1")
    off = ("emit.heartbeats.enabled", "heartbeats.replication.enabled")
    words = {"a->b.enabled": "true", "topics": name, "groups": name, **dict.fromkeys(off, "false")}
    file = driver_file({"a": source, "b": target}, **words)
    more = {"away->b.enabled": "true", "a->same.enabled": "true"}
    all_flows = driver_file({"a": source, "b": target, "away": away, "same": source}, **words, **more)
    properties = write_properties(tmp_path / "mm2.properties", all_flows)

    def explained() -> tuple[dict[str, Any], dict[str, Any]]:
        code, document, _ = run("explain", "--json", "--", "connect-mirror-maker.sh", str(properties))
        assert code == 0
        made = json.loads(document)
        assert made["outcome"] == "It would run without a->same: see what is refused"
        return made, {f"{flow['source']}->{flow['target']}": flow for flow in made["flows"]}

    before = list_topics(source.bootstrap), list_topics(target.bootstrap)
    document, flows = explained()
    assert (list_topics(source.bootstrap), list_topics(target.bootstrap)) == before
    assert flows["a->b"]["found"]["copies"] == [
        {"topic": name, "target": f"a.{name}", "partitions": 2, "copy_partitions": None}
    ]
    assert flows["a->b"]["found"]["impossible"] == []
    assert {(row["start"], row["because"]) for row in flows["a->b"]["found"]["partitions"]} == {
        (0, "no position is stored at the target; auto.offset.reset=earliest")
    }
    assert "a->same" not in str(document["unknown"])
    assert any(text.startswith("away->b: topics and positions: ") for text in document["unknown"])
    assert "are one cluster (" in flows["a->same"]["refused"][0]

    node = warm_driver(file)
    wait_until(lambda: sum(end_offsets(target.bootstrap, f"a.{name}").values()) == 30, SECONDS, "the copy")
    assert node.stop(SECONDS) == 143
    ends = end_offsets(source.bootstrap, name)
    _, flows = explained()
    assert {row["partition"]: (row["start"], row["because"]) for row in flows["a->b"]["found"]["partitions"]} == {
        number: (end, "stored at the target, 0 records behind the end") for number, end in ends.items()
    }
