"""Exactly once with the whole mirror: group, driver, Spark and copy tasks."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from compat.laboratory.cluster import Cluster
from compat.laboratory.standalone import SparkStandalone
from legacy_mm.audit.cluster_access import commit, committed, create_topic, delete_topic, list_topics, read_all
from legacy_mm.audit.load import load
from legacy_mm.audit.waiting import wait_until
from tests.fixtures.driver_files import driver_file
from tests.fixtures.exactly_once import COMMITTED, PATIENCE, read_committed
from tests.fixtures.mirrored import PARTITIONS, Mirrored, content
from tests.fixtures.tools import Run
from tests.fixtures.warm_mirrors import WarmMirror

pytestmark = pytest.mark.brokers
OFF = "Exactly once is off here, and it has committed the offsets of"


def test_copy_stop_and_go_on(mirrored: Mirrored, our_tool: Callable[..., Any]) -> None:
    mirrored.start_by = our_tool
    load(mirrored.source.bootstrap, mirrored.topic, 10_000, 100)
    for count in (10_000, 20_000):
        mirrored.run_until(count)
        assert mirrored.differences() == []
        load(mirrored.source.bootstrap, mirrored.topic, 10_000, 100)


@pytest.mark.slow
@pytest.mark.spark
def test_on_a_spark_cluster(mirrored: Mirrored, our_tool: Callable[..., Any], tmp_path: Path) -> None:
    """The worker has the archive alone, and asks the driver for its bundles over TLS."""
    mirrored.start_by = our_tool
    load(mirrored.source.bootstrap, mirrored.topic, 10_000, 100)
    with SparkStandalone(tmp_path / "spark", workers=1) as spark:
        mirror = mirrored.start("--spark.master", spark.master, environment=spark.environment())
        mirrored.wait_committed(10_000)
        mirror.signal(signal.SIGTERM)
        assert mirror.wait(PATIENCE) == 143
    assert mirrored.differences() == []


def test_flows_of_mirror_maker_2_s_file(
    own_clusters: Callable[..., Cluster], warm_driver: Callable[..., WarmMirror]
) -> None:
    """Both directions at once, in one process: each flow has bundles of its own at its target."""
    a, b = own_clusters(), own_clusters()
    for cluster in (a, b):
        create_topic(cluster.bootstrap, "t", 2)
        load(cluster.bootstrap, "t", 2_000, 100)
    file = driver_file(
        {"A": a, "B": b},
        **{"A->B.enabled": "true", "B->A.enabled": "true", "topics": "t"},
        **{"exactly.once": "true", "exactly.once.interval.ms": "300"},
    )
    with warm_driver(file) as node:
        for here, there, alias in ((a, b, "A"), (b, a, "B")):
            copy = f"{alias}.t"

            def seen(here: Cluster = here, there: Cluster = there, copy: str = copy) -> bool:
                if copy not in list_topics(there.bootstrap):
                    return False
                written, copied = read_all(here.bootstrap, "t"), read_all(there.bootstrap, copy, isolation=COMMITTED)
                return list(map(content, written)) == list(map(content, copied))

            wait_until(seen, PATIENCE, f"all of {copy}")
        node.signal(signal.SIGTERM)
        assert node.wait(PATIENCE) == 143
    for cluster in (a, b):
        assert [name for name in list_topics(cluster.bootstrap) if name.startswith("legacy-mm-positions.")]


Command = Callable[..., tuple[int, Any, str]]
"""A command with these words: exit code, what it printed as JSON, and its errors."""

CommandOf = Callable[..., Command]
"""The command `exactly-once` of legacy-mm, or the one that is named, for a flow."""


@pytest.fixture
def command_of(tmp_path: Path, run: Run) -> CommandOf:
    """Return a command, `exactly-once` unless another is named, for a flow."""

    def made(mirrored: Mirrored, command: str = "exactly-once") -> Command:
        line = ["--whitelist", mirrored.topic, "--exactly.once", "true"]
        for name, file in (("consumer", mirrored.reads()), ("producer", mirrored.writes())):
            path = tmp_path / f"{name}.properties"
            path.write_text("".join(f"{key}={value}\n" for key, value in file.items()))
            line += [f"--{name}.config", str(path)]

        def called(*words: str) -> tuple[int, Any, str]:
            code, out, errors = run(command, *words, "--json", "--", *line)
            return code, json.loads(out) if out else None, errors

        return called

    return made


@pytest.fixture
def positions(mirrored: Mirrored, command_of: CommandOf) -> Command:
    return command_of(mirrored)


def test_positions_are_seen_and_changed(mirrored: Mirrored, positions: Command, command_of: CommandOf) -> None:
    """On, off and on again: what another mode has copied meanwhile is noticed, and a person decides."""
    load(mirrored.source.bootstrap, mirrored.topic, 4_000, 100)
    mirrored.run_until(4_000)
    code, found, _ = positions("status")
    assert (code, sum(row["position"] for row in found["partitions"])) == (0, 4_000)
    assert all(row["by_exactly_once"] for row in found["partitions"])
    # off, with the group's offsets as they stand
    code, found, _ = positions("retire")
    assert (code, sum(row["offset"] for row in found["partitions"])) == (0, 4_000)
    load(mirrored.source.bootstrap, mirrored.topic, 4_000, 100)
    assert OFF not in mirrored.run_until(8_000, "--exactly.once", "false")
    assert mirrored.differences() == []
    # on again: retired positions count for nothing, so the group's offsets are adopted
    load(mirrored.source.bootstrap, mirrored.topic, 4_000, 100)
    mirrored.run_until(12_000)
    assert mirrored.differences() == []
    # another mode in between, without retire
    load(mirrored.source.bootstrap, mirrored.topic, 4_000, 100)
    assert OFF in mirrored.run_until(16_000, "--exactly.once", "false")
    assert positions("status")[0] == 2
    at = command_of(mirrored, "explain")()[1]["topics"]["partitions"]
    assert all(row["start"] is None and "somebody copied in another mode since" in row["because"] for row in at)
    refused = mirrored.start()
    assert refused.wait(PATIENCE) == 255
    assert "somebody copied in another mode since, or moved the group; legacy-mm exactly-once adopt" in refused.output()
    assert positions("adopt")[0] == 0
    load(mirrored.source.bootstrap, mirrored.topic, 4_000, 100)
    mirrored.run_until(20_000)
    assert mirrored.differences() == []


def test_the_group_follows_what_a_killed_mirror_has_committed_at_the_target(mirrored: Mirrored) -> None:
    """Also where no record comes any more. Lag monitors look there, and so does another mode after a clean stop."""
    load(mirrored.source.bootstrap, mirrored.topic, 4_000, 100)
    killed = mirrored.start("--offset.commit.interval.ms", "3600000")
    wait_until(lambda: mirrored.differences() == [], PATIENCE, "all copies")
    killed.kill_tree()
    assert mirrored.committed() == 0
    mirrored.run_until(4_000)
    load(mirrored.source.bootstrap, mirrored.topic, 1_000, 100)
    mirrored.run_until(5_000, "--exactly.once", "false")
    assert mirrored.differences() == []


def test_positions_beside_a_mirror(mirrored: Mirrored, positions: Command) -> None:
    """A running mirror keeps them as they are, and `move` and `--to` belong together."""
    load(mirrored.source.bootstrap, mirrored.topic, 1_000, 100)
    mirror = mirrored.start()
    mirrored.wait_committed(1_000)
    for words in (("adopt",), ("retire",), ("move", "--to", f"{mirrored.topic}:0:0")):
        code, _, errors = positions(*words)
        assert code == 1
        assert f"group {mirrored.group} is Stable: stop its members first" in errors
    mirror.signal(signal.SIGTERM)
    assert mirror.wait(PATIENCE) == 143
    for words in (("move",), ("adopt", "--to", f"{mirrored.topic}:0:0")):
        code, _, errors = positions(*words)
        assert code != 0
        assert "--to and move belong together" in errors


def test_a_start_does_not_wait_for_what_a_killed_owner_left_open(mirrored: Mirrored, positions: Command) -> None:
    """A transaction in the partition that has the flow's record, too; its own bundle alone waits for its end."""
    load(mirrored.source.bootstrap, mirrored.topic, 1_000, 100)
    mirrored.run_until(1_000)
    place = positions("status")[1]["positions_topic"]
    left = Producer(
        {
            "bootstrap.servers": mirrored.target.bootstrap,
            "log_level": 0,
            "transactional.id": f"left-{mirrored.topic}",
            "transaction.timeout.ms": 600_000,
        }
    )
    left.init_transactions(PATIENCE)
    left.begin_transaction()
    left.produce(place, b"left open", partition=0)
    assert left.flush(PATIENCE) == 0
    load(mirrored.source.bootstrap, mirrored.topic, 1_000, 100)
    mirrored.run_until(2_000)
    left.abort_transaction(PATIENCE)
    assert mirrored.differences() == []


def test_the_positions_topic_is_lost(mirrored: Mirrored, positions: Command) -> None:
    """The mirror does not start; `adopt` makes the topic anew, with the group's offsets in it."""
    load(mirrored.source.bootstrap, mirrored.topic, 2_000, 100)
    mirrored.run_until(2_000)
    topic = positions("status")[1]["positions_topic"]
    delete_topic(mirrored.target.bootstrap, topic)
    code, found, _ = positions("adopt")
    assert (code, sum(row["offset"] for row in found["partitions"])) == (0, 2_000)
    assert positions("status")[0] == 0
    load(mirrored.source.bootstrap, mirrored.topic, 2_000, 100)
    mirrored.run_until(4_000)
    assert mirrored.differences() == []


@pytest.mark.parametrize(
    ("reset", "options"), [("latest", ("--new.topics.from", "earliest")), ("none", ())], ids=["latest", "none"]
)
def test_the_group_s_offsets_have_expired(
    mirrored: Mirrored, reset: str, options: Sequence[str], command_of: CommandOf
) -> None:
    """The mirror goes on at its positions: `--new.topics.from` does not take this for the group's first start."""
    load(mirrored.source.bootstrap, mirrored.topic, 1_000, 100)
    mirrored.run_until(1_000)
    admin = AdminClient({"bootstrap.servers": mirrored.source.bootstrap, "log_level": 0})
    admin.delete_consumer_groups([mirrored.group])[mirrored.group].result(PATIENCE)
    load(mirrored.source.bootstrap, mirrored.topic, 1_000, 100)
    mirrored.reset = reset
    at = command_of(mirrored, "explain")()[1]["topics"]["partitions"]
    assert all("the position at the target, " in row["because"] for row in at)
    assert sum(row["start"] for row in at) == 1_000
    mirrored.run_until(2_000, *options)
    assert mirrored.differences() == []


def test_without_a_reset_a_person_says_where_to_begin(mirrored: Mirrored, command_of: CommandOf) -> None:
    load(mirrored.source.bootstrap, mirrored.topic, 1_000, 100)
    mirrored.reset = "none"
    refused = mirrored.start()
    assert refused.wait(PATIENCE) == 255
    assert f"no reset policy for partitions: [{mirrored.topic}-" in refused.output()
    assert "legacy-mm exactly-once move sets the position" in refused.output()
    places = [word for number in range(PARTITIONS) for word in ("--to", f"{mirrored.topic}:{number}:0")]
    assert command_of(mirrored)("move", *places)[0] == 0
    mirrored.run_until(1_000)
    assert mirrored.differences() == []


def test_the_source_is_replaced(
    mirrored: Mirrored, source_39: Cluster, our_mirror: Callable[..., Any], command_of: CommandOf
) -> None:
    """Another cluster under the same alias, where the group has no offsets: a person sets each position."""
    load(mirrored.source.bootstrap, mirrored.topic, 1_000, 100)
    mirrored.run_until(1_000)
    create_topic(source_39.bootstrap, mirrored.topic, 4)
    load(source_39.bootstrap, mirrored.topic, 600, 100)
    other = Mirrored(source_39, mirrored.target, mirrored.topic, mirrored.group, our_mirror)
    refused = other.start()
    assert refused.wait(PATIENCE) == 255
    assert "exactly once cannot begin: positions topic " in refused.output()
    (before,) = set(re.findall(r"legacy-mm exactly-once adopt --replaced (\S+) takes", refused.output()))
    positions = command_of(other)
    assert positions("adopt", "--replaced", before)[:2] == (0, {"action": "adopt", "partitions": [], "replaced": ""})
    code, found, _ = positions("status")
    assert code == 2
    assert all("legacy-mm exactly-once move sets the position" in row["doubt"] for row in found["partitions"])
    places = [word for number in range(PARTITIONS) for word in ("--to", f"{mirrored.topic}:{number}:0")]
    code, found, _ = positions("move", "--replaced", before, *places[:2])
    assert (code, found["replaced"]) == (0, before)
    refused = other.start()
    assert refused.wait(PATIENCE) == 255
    assert "if the cluster was replaced, legacy-mm exactly-once move sets the position" in refused.output()
    assert positions("move", *places)[0] == 0
    assert positions("status")[0] == 0
    other.run_until(600)
    seen = read_committed(mirrored.target.bootstrap, mirrored.topic)
    assert sorted(map(content, seen)) == sorted(
        content(each)
        for cluster in (mirrored.source, source_39)
        for each in read_all(cluster.bootstrap, mirrored.topic)
    )


def test_positions_of_a_living_source_are_left_to_it(
    mirrored: Mirrored, source_39: Cluster, our_mirror: Callable[..., Any], command_of: CommandOf
) -> None:
    """The command line of a second mirror whose source has the same alias: nothing is written at any cluster."""
    load(mirrored.source.bootstrap, mirrored.topic, 1_000, 100)
    mirrored.run_until(1_000)
    create_topic(source_39.bootstrap, mirrored.topic, PARTITIONS)
    load(source_39.bootstrap, mirrored.topic, 2_000, 100)
    other = Mirrored(source_39, mirrored.target, mirrored.topic, mirrored.group, our_mirror)
    known = command_of(mirrored)("status")[1]
    offsets = {(mirrored.topic, number): 7 for number in range(PARTITIONS)}
    for held in ({}, offsets):
        if held:
            commit(source_39.bootstrap, mirrored.group, held)
        for words in (("retire",), ("adopt",), ("move", "--to", f"{mirrored.topic}:0:0")):
            code, _, errors = command_of(other)(*words)
            assert code == 1
            assert "nothing was changed: positions topic legacy-mm-positions." in errors
            assert "give this source another source.cluster.alias, or, if the cluster was replaced, " in errors
        assert committed(source_39.bootstrap, mirrored.group, [mirrored.topic]) == held
    assert "give this source another source.cluster.alias" in str(command_of(other, "explain")()[1]["outcome"])
    assert command_of(mirrored)("status")[:2] == (0, known)
    load(mirrored.source.bootstrap, mirrored.topic, 1_000, 100)
    mirrored.run_until(2_000)
    assert mirrored.differences() == []


def test_positions_of_a_topic_that_was_made_anew_are_not_retired(mirrored: Mirrored, positions: Command) -> None:
    load(mirrored.source.bootstrap, mirrored.topic, 1_000, 100)
    mirrored.run_until(1_000)
    delete_topic(mirrored.source.bootstrap, mirrored.topic)
    create_topic(mirrored.source.bootstrap, mirrored.topic, PARTITIONS)
    load(mirrored.source.bootstrap, mirrored.topic, 2_000, 100)
    before = mirrored.committed()
    code, _, errors = positions("retire")
    assert code == 1
    assert re.search(
        r" \(and 3 more\): its position \d+ is of a topic with id .* made anew; .*; nothing was changed", errors
    )
    assert mirrored.committed() == before
    places = [word for number in range(PARTITIONS) for word in ("--to", f"{mirrored.topic}:{number}:0")]
    assert positions("move", *places)[0] == 0
    assert positions("retire")[0] == 0
    assert mirrored.committed() == 0


def test_a_reset_to_the_offset_that_was_adopted_is_noticed(mirrored: Mirrored) -> None:
    """Though the group's offset is committed only with the stop, as by default."""
    offsets = {(mirrored.topic, number): 0 for number in range(PARTITIONS)}
    commit(mirrored.source.bootstrap, mirrored.group, offsets)
    load(mirrored.source.bootstrap, mirrored.topic, 5_000, 100)
    mirror = mirrored.start("--offset.commit.interval.ms", "60000")
    wait_until(lambda: mirrored.differences() == [], PATIENCE, "all copies")
    mirror.signal(signal.SIGTERM)
    assert mirror.wait(PATIENCE) == 143
    assert mirrored.committed() == 5_000
    commit(mirrored.source.bootstrap, mirrored.group, offsets)
    refused = mirrored.start()
    assert refused.wait(PATIENCE) == 255
    assert "somebody copied in another mode since, or moved the group; legacy-mm exactly-once adopt" in refused.output()


def test_a_target_that_allows_shorter_transactions_only(
    mirrored: Mirrored, own_clusters: Callable[..., Cluster], command_of: CommandOf
) -> None:
    """The mirror, `plan` and `explain` say so, with both numbers, before anything is made there."""
    mirrored.target = target = own_clusters(properties={"transaction.max.timeout.ms": "30000"})
    create_topic(target.bootstrap, mirrored.topic, PARTITIONS)
    load(mirrored.source.bootstrap, mirrored.topic, 1_000, 100)
    why = "exactly.once.transaction.timeout.ms=60000 is above transaction.max.timeout.ms=30000 of the target's brokers"
    refused = mirrored.start()
    assert refused.wait(PATIENCE) == 255
    assert why in refused.output()
    document = command_of(mirrored, "explain")()[1]
    assert why in document["outcome"] and document["exit_code"] == 255
    code, planned, _ = command_of(mirrored, "plan")()
    assert why in json.dumps(planned)
    assert "positions" not in json.dumps(planned)
    assert not [name for name in list_topics(target.bootstrap) if name.startswith("legacy-mm-positions.")]
    mirrored.run_until(1_000, "--exactly.once.transaction.timeout.ms", "20000")
    assert mirrored.differences() == []


@pytest.mark.parametrize("options", [(), ("--exactly.once", "false")], ids=["exactly once", "at least once"])
def test_a_source_that_allows_shorter_sessions_only(
    mirrored: Mirrored, our_mirror: Callable[..., Any], options: Sequence[str]
) -> None:
    """The legacy tool ends with 255, too, and with the broker's sentence; the numbers are ours."""
    reads = mirrored.reads() | {"session.timeout.ms": "3600000", "heartbeat.interval.ms": "3000"}
    words = options or ("--exactly.once", "true")
    refused = our_mirror(reads, mirrored.writes(), "--whitelist", mirrored.topic, *words)
    assert refused.wait(PATIENCE) == 255
    assert (
        "session.timeout.ms=3600000 of the consumer is above group.max.session.timeout.ms=1800000" in refused.output()
    )
    assert not [name for name in list_topics(mirrored.target.bootstrap) if mirrored.group in name]
