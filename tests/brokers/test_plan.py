"""`legacy-mm plan` and `apply` between two real clusters: read first, done exactly, refused when the clusters moved."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.cluster import Cluster
from compat.laboratory.topic_state import overrides
from legacy_mm.audit.cluster_access import create_topic, grow_topic, list_topics
from legacy_mm.audit.java_files import write_properties
from legacy_mm.audit.load import load
from tests.fixtures.driver_files import driver_file
from tests.fixtures.offsets import commit
from tests.fixtures.tools import Run

pytestmark = [pytest.mark.brokers, pytest.mark.spark]
FLAGS = ("--topic.creation", "true", "--sync.topic.configs.enabled", "true", "--sync.topic.acls.enabled", "true")


@pytest.fixture
def line(tmp_path: Path, source: Any, target: Any, group: str, topic: Callable[..., str]) -> tuple[str, ...]:
    """The command line of a mirror of one topic, which is not made yet."""
    files = {
        "consumer": f"bootstrap.servers={source.bootstrap}\ngroup.id={group}\n",
        "producer": f"bootstrap.servers={target.bootstrap}\n",
    }
    words = ["kafka-mirror-maker.sh"]
    for side, text in files.items():
        (tmp_path / side).write_text(text)
        words += [f"--{side}.config", str(tmp_path / side)]
    return (*words, "--include", topic())


def test_plan_and_apply(run: Run, line: tuple[str, ...], tmp_path: Path, source: Any, target: Any) -> None:
    name, file = line[-1], str(tmp_path / "plan.json")
    config = {"retention.ms": "1000", "min.insync.replicas": "1"}
    create_topic(source.bootstrap, name, 2, config=config)
    create_topic(target.bootstrap, f"X.{name}", 1)

    code, said, _ = run("plan", "--", *line)
    assert (code, said) == (0, SWITCHED_OFF.format(name=name))
    code, said, _ = run("plan", "--output", file, *FLAGS, "--", *line)
    assert (code, said) == (2, PLANNED.format(name=name))
    assert name not in list_topics(target.bootstrap)
    (flow,) = json.loads(Path(file).read_text())["flows"]
    assert flow["duties"][0]["changes"] == [
        {
            "change": "create-topic",
            "topic": name,
            "partitions": 2,
            "replication_factor": -1,
            "configs": {"retention.ms": "1000"},
        }
    ]

    grow_topic(source.bootstrap, name, 3)
    code, said, refused = run("apply", file, *FLAGS, "--", *line)
    assert (code, said) == (1, "")
    assert refused == REFUSED.format(name=name)
    assert name not in list_topics(target.bootstrap)

    assert run("plan", "--output", file, *FLAGS, "--", *line)[0] == 2
    code, said, _ = run("apply", file, *FLAGS, "--", *line)
    text = f"create topic {name}: partitions 3, replication factor of the brokers, retention.ms=1000"
    assert (code, said) == (0, f"done: {text}\n")
    assert list_topics(target.bootstrap)[name] == 3
    assert overrides(target.bootstrap, name) == {"retention.ms": "1000"}
    code, said, _ = run("plan", "--json", *FLAGS, "--", *line)
    assert code == 0, said


def test_what_the_target_cannot_have_is_foreseen(
    run: Run, line: tuple[str, ...], source: Any, own_clusters: Callable[..., Cluster], tmp_path: Path
) -> None:
    """With no feature on, by a target whose brokers make no topic; with topic.creation by one that refuses it."""
    name = line[-1]
    create_topic(source.bootstrap, name, 1)
    target = own_clusters(properties={"auto.create.topics.enable": "false"})
    (tmp_path / "producer").write_text(f"bootstrap.servers={target.bootstrap}\n")
    code, said, _ = run("plan", "--", *line)
    assert code == 1
    assert f"topic {name}: it is missing, and the brokers make no topic (auto.create.topics.enable=false)" in said
    long = ("--topic.creation", "true", "--source.cluster.alias", "a" * 245)
    policy = ("--replication.policy.class", "org.apache.kafka.connect.mirror.DefaultReplicationPolicy")
    code, said, _ = run("plan", *long, *policy, "--target.cluster.alias", "b", "--", *line)
    assert code == 1
    assert "cannot be created at the target: " in said
    assert name not in list_topics(target.bootstrap)


def test_topics_for_heartbeats(run: Run, line: tuple[str, ...], source: Any, target: Any) -> None:
    """The target's own are nothing that an earlier naming left behind."""
    chain = f"{line[-1]}.heartbeats"
    for cluster in (source, target):
        create_topic(cluster.bootstrap, chain, 2, config={"cleanup.policy": "compact"})
    flags = ("--heartbeats.replication.enabled", "true", "--source.cluster.alias", "west")
    _, said, _ = run("plan", *flags, "--", *line)
    assert [each.strip() for each in said.splitlines() if chain in each] == [
        f"create topic west.{chain}: partitions 2, replication factor of the brokers, cleanup.policy=compact"
    ]


SWITCHED_OFF = """\
source->target:
  no feature that changes anything at the target is switched on
  left behind, and not removed:
    topic X.{name} is named as a copy of {name} would be under other flags; the copy is called {name} now, and this \
mirror writes nothing to X.{name}
"""
PLANNED = """\
source->target:
  topic-creation:
    create topic {name}: partitions 2, replication factor of the brokers, retention.ms=1000
  topic-configs: nothing to do
  topic-acls:
    note: the source has no authorizer, so there are no access rules to copy
  left behind, and not removed:
    topic X.{name} is named as a copy of {name} would be under other flags; the copy is called {name} now, and this \
mirror writes nothing to X.{name}
"""
REFUSED = """\
legacy-mm: the clusters are not as they were when the plan was made; nothing was changed:
  only in the plan: create topic {name}: partitions 2, replication factor of the brokers, retention.ms=1000
  only now: create topic {name}: partitions 3, replication factor of the brokers, retention.ms=1000
"""


def test_exactly_once_shows_the_topic_that_it_makes(run: Run, line: tuple[str, ...], source: Any, target: Any) -> None:
    for cluster in (source, target):
        create_topic(cluster.bootstrap, line[-1], 1)
    flag = ("--exactly.once", "true")
    code, out, _ = run("plan", "--json", *flag, "--", *line)
    (flow,) = json.loads(out)["flows"]
    (found,) = [duty for duty in flow["duties"] if duty["duty"] == "exactly once"]
    (change,) = found["changes"]
    assert (code, change["change"], change["partitions"]) == (2, "create-topic", 24)
    assert change["configs"]["cleanup.policy"] == "compact"
    assert found["notes"] == [
        f"min.insync.replicas=1 at the target for {line[-1]}: what only one broker has is lost with it"
    ]
    assert change["topic"] not in list_topics(target.bootstrap), "a plan makes nothing"


def test_exactly_once_names_the_partition_at_which_the_start_would_stop(
    run: Run, line: tuple[str, ...], source: Any, target: Any, group: str
) -> None:
    """Somebody has moved the group since its offset became the position; `adopt` settles it."""
    name, flag = line[-1], ("--exactly.once", "true")
    for cluster in (source, target):
        create_topic(cluster.bootstrap, name, 2)
    load(source.bootstrap, name, 100, 100, partitions=2)
    commit(source, group, {(name, 0): 20, (name, 1): 20})
    assert run("exactly-once", "adopt", "--", *line)[0] == 0
    assert "exactly once cannot go on" not in run("plan", *flag, "--", *line)[1]
    commit(source, group, {(name, 1): 30})
    code, said, _ = run("plan", *flag, "--", *line)
    assert code == 1, said
    assert f"exactly once cannot go on with {name}-1: " in said
    assert f"cannot go on with {name}-0" not in said
    assert run("exactly-once", "adopt", "--", *line)[0] == 0
    assert "exactly once cannot go on" not in run("plan", *flag, "--", *line)[1]


def test_an_entry_that_matches_nothing_is_named(run: Run, line: tuple[str, ...], source: Any, target: Any) -> None:
    """Beside one that has topics; the plan needs no feature for it."""
    name = line[-1]
    for each in (source, target):
        create_topic(each.bootstrap, name, 1)
    code, said, _ = run("plan", "--", *line[:-1], f"{name}|{name}x.*")
    assert code == 0
    assert f"note: nothing to copy for {name}x.*: no topic of the source" in said
    assert f"for {name}:" not in said


def test_a_flow_of_heartbeats_alone_copies_nothing(
    run: Run, source: Any, target: Any, topic: Callable[..., str], tmp_path: Path
) -> None:
    """No entry of the lists has to match there, no position is missing, and no group is asked for."""
    name = topic("t")
    create_topic(source.bootstrap, name, 1)
    file = driver_file({"west": source, "east": target}, **{"west->east.enabled": "true", "topics": name})
    words = ("--", "connect-mirror-maker.sh", str(write_properties(tmp_path / "mm2", file)))
    copying, beating = run("plan", *words)[1].split("east->west:\n")
    assert f"create topic west.{name}" in copying
    assert "by their names" not in beating
    assert "without a position" not in beating
