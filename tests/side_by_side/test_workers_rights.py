"""A principal with exactly the rights of MirrorMaker 2 runs both, and ours says which right is missing, and on what."""

from __future__ import annotations

import signal
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from compat.laboratory.cluster import Cluster
from compat.laboratory.security import USER, login, login_listener
from compat.laboratory.tools import java_driver
from compat.laboratory.topic_state import AUTHORIZER, Right, allow, take_away
from legacy_mm.audit.cluster_access import commit, committed, end_offsets, list_topics
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from tests.fixtures.driver_files import driver_file
from tests.fixtures.warm_mirrors import WarmMirror

pytestmark = [pytest.mark.brokers, pytest.mark.side_by_side, pytest.mark.spark]
SECONDS = 120.0
LISTENER, PRINCIPAL = "LOGIN", f"User:{USER}"
READER = "reader"
Driver = Callable[..., ToolProcess | WarmMirror]


@dataclass(frozen=True)
class Scene:
    """One flow, and what its principal may do."""

    source: Cluster
    target: Cluster
    alias: str
    topic: str

    @property
    def copy(self) -> str:
        return f"{self.alias}.{self.topic}"

    @property
    def offsets(self) -> str:
        return f"mm2-offsets.{self.alias}.internal"

    @property
    def group(self) -> str:
        return f"{self.alias}-mm2"

    @property
    def file(self) -> dict[str, str]:
        """A file with checkpoints, group offsets, heartbeats and topic properties; rules are not copied."""
        security = {"security.protocol": "SASL_PLAINTEXT", **login("PLAIN")}
        clusters = {self.alias: self.source, "t": self.target}
        return {
            **driver_file(clusters, **{f"{self.alias}->t.enabled": "true", "topics": self.topic, "groups": READER}),
            **{f"{name}.bootstrap.servers": each.bootstrap_of(LISTENER) for name, each in clusters.items()},
            **{f"{name}.{key}": text for name in clusters for key, text in security.items()},
            f"t->{self.alias}.emit.heartbeats.enabled": "false",
            "sync.group.offsets.enabled": "true",
            "sync.topic.acls.enabled": "false",
        }

    @property
    def source_rights(self) -> list[Right]:
        """What MirrorMaker 2 needs there."""
        syncs = "mm2-offset-syncs.t.internal"
        return [
            *(("TOPIC", self.topic, each) for each in ("READ", "DESCRIBE_CONFIGS")),
            *(("TOPIC", syncs, each) for each in ("CREATE", "READ", "WRITE")),
            ("GROUP", READER, "DESCRIBE"),
        ]

    @property
    def target_rights(self) -> list[Right]:
        """What MirrorMaker 2 needs there."""
        workers = [f"mm2-{name}.{self.alias}.internal" for name in ("configs", "offsets", "status")]
        own = [*workers, f"{self.alias}.checkpoints.internal"]
        return [
            *(("TOPIC", self.copy, each) for each in ("CREATE", "WRITE", "READ", "ALTER", "ALTER_CONFIGS")),
            *(("TOPIC", topic, each) for topic in own for each in ("CREATE", "READ", "WRITE")),
            *(("TOPIC", "heartbeats", each) for each in ("CREATE", "WRITE")),
            *(("GROUP", group, "READ") for group in (self.group, READER)),
        ]

    def write(self, count: int) -> None:
        """Write records to the source."""
        load(self.source.bootstrap, self.topic, count, 100, partitions=4)

    def arrived(self) -> int:
        """The records at the target."""
        there = self.copy in list_topics(self.target.bootstrap)
        return sum(end_offsets(self.target.bootstrap, self.copy).values()) if there else 0

    def wait_arrived(self, count: int) -> None:
        """Wait for so many."""
        wait_until(lambda: self.arrived() >= count, SECONDS, f"{count} records in {self.copy}")


@pytest.fixture(scope="module")
def clusters(module_clusters: Callable[..., Cluster]) -> tuple[Cluster, Cluster]:
    """Whoever logs in may do what is allowed by name, and nothing else."""
    properties = {**AUTHORIZER, "allow.everyone.if.no.acl.found": "false", **login_listener(LISTENER)}
    source, target = (module_clusters(properties=properties, listeners={LISTENER: "SASL_PLAINTEXT"}) for _ in range(2))
    return source, target


@pytest.fixture
def scene(clusters: tuple[Cluster, Cluster], topic: str) -> Scene:
    found = Scene(*clusters, f"s{uuid.uuid4().hex[:8]}", topic)
    allow(found.source.bootstrap, PRINCIPAL, found.source_rights)
    allow(found.target.bootstrap, PRINCIPAL, found.target_rights)
    return found


def stop(tool: ToolProcess | WarmMirror) -> None:
    tool.signal(signal.SIGTERM)
    tool.wait(SECONDS)


def test_both_run_with_the_rights_of_mirror_maker_2(scene: Scene, tmp_path: Path, warm_driver: Driver) -> None:
    """There and back: every record once; checkpoints, group offsets and heartbeats, too."""
    java: Driver = partial(java_driver, tmp_path / "java")
    for turn, driver in enumerate((java, warm_driver, java), 1):
        scene.write(200)
        ends = end_offsets(scene.source.bootstrap, scene.topic)
        commit(scene.source.bootstrap, READER, {(scene.topic, number): end for number, end in ends.items()})
        with driver(scene.file) as tool:
            scene.wait_arrived(turn * 200)
            wait_until(lambda: group_at_target(scene) >= turn * 200 - 100, SECONDS, "the group")  # noqa: B023
            stop(tool)
        if driver is warm_driver:
            refused = [line for line in tool.output().splitlines() if "AUTHORIZATION_FAILED" in line]
            assert all("INFO" in line and "mm2-offset-map.t.internal" in line for line in refused), refused
    assert scene.arrived() == 600
    assert end_offsets(scene.target.bootstrap, "heartbeats")[0] > 0


def group_at_target(scene: Scene) -> int:
    return sum(committed(scene.target.bootstrap, READER, [scene.copy]).values())


@dataclass(frozen=True)
class Missing:
    """A right that is taken away, and what is said."""

    kind: str
    name: str
    operations: tuple[str, ...]
    says: str
    at: str = "target"
    instead: str = ""
    """The operation that is left, so that the topic is still seen."""


MISSING = {
    "the group": Missing("GROUP", "group", ("READ",), "needs the right Read on group {name}: kafka-acls.sh --add"),
    "writing positions": Missing(
        "TOPIC", "offsets", ("WRITE",), "needs the right Write on topic {name} at the target: kafka-acls.sh --add"
    ),
    "reading positions": Missing(
        "TOPIC", "offsets", ("READ",), "needs the right Read on topic {name} at the target: kafka-acls.sh --add"
    ),
    "seeing positions": Missing(
        "TOPIC", "offsets", ("CREATE", "READ", "WRITE"), "needs the rights Read and Write on topic {name} at the target"
    ),
    "reading records": Missing(
        "TOPIC", "topic", ("READ",), "needs the right Read on topic {name} at the source: ", "source", "DESCRIBE"
    ),
    "writing records": Missing("TOPIC", "copy", ("WRITE",), "into topic {name}: TOPIC_AUTHORIZATION_FAILED: "),
    "creating the copy": Missing("TOPIC", "copy", ("CREATE",), "needs the right Create on topic {name}: kafka-acls.sh"),
    "creating positions": Missing("TOPIC", "offsets", ("CREATE",), "needs the right Create on topic {name}: kafka-acl"),
}
FIRST = ("creating the copy", "creating positions")
"""Only a first start needs them."""


@pytest.mark.parametrize("case", MISSING)
def test_a_missing_right_is_named_and_nothing_is_lost(scene: Scene, warm_driver: Driver, case: str) -> None:
    """Nothing is at the target while it is missing, and every record once when it is back."""
    missing = MISSING[case]
    cluster, name = getattr(scene, missing.at), getattr(scene, missing.name)
    rights: list[Right] = [(missing.kind, name, each) for each in missing.operations]
    before = 0
    if case not in FIRST:
        before = 100
        scene.write(before)
        with warm_driver(scene.file) as tool:
            scene.wait_arrived(before)
            stop(tool)
    scene.write(100)
    if missing.instead:
        allow(cluster.bootstrap, PRINCIPAL, [(missing.kind, name, missing.instead)])
    take_away(cluster.bootstrap, PRINCIPAL, rights)
    topics = set(list_topics(scene.target.bootstrap))
    with warm_driver(scene.file) as tool:
        tool.wait_for_output(missing.says.format(name=name), SECONDS)
        assert scene.arrived() == before
        if case not in FIRST:
            assert set(list_topics(scene.target.bootstrap)) == topics
        allow(cluster.bootstrap, PRINCIPAL, rights)
        scene.wait_arrived(before + 100)
        stop(tool)
    assert scene.arrived() == before + 100
