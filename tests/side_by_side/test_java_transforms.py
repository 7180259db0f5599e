"""Ours in the place of the real MirrorMaker 2, with transforms out of a jar that the file's `plugin.path` names."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import Producer

from compat.laboratory.cluster import Cluster
from compat.laboratory.tools import java_driver, our_driver
from legacy_mm.audit.cluster_access import create_topic, end_offsets, list_topics, read_all
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from tests.fixtures.driver_files import driver_file
from tests.fixtures.transform_jars import plugin_with_a_library, transform_jar

pytestmark = [pytest.mark.brokers, pytest.mark.side_by_side, pytest.mark.spark]
SECONDS = 120.0
STOPPED = 128 + signal.SIGTERM
IDENTITY = "org.apache.kafka.connect.mirror.IdentityReplicationPolicy"
TIME = 1_709_210_096_007
DRIVERS: dict[str, Callable[..., ToolProcess]] = {"J": java_driver, "O": our_driver}
TRANSFORMS = {
    "transforms": "mask, drop, odd, route",
    "transforms.mask.type": "com.acme.Mask",
    "transforms.mask.kept": "2",
    "transforms.mask.predicate": "long",
    "transforms.drop.type": "Filter",
    "transforms.drop.predicate": "marked",
    "transforms.odd.type": "com.acme.Odd",
    "transforms.route.type": "com.acme.Route",
    "transforms.route.predicate": "long",
    "transforms.route.negate": "false",
    "predicates": "long, marked",
    "predicates.long.type": "com.acme.Longer",
    "predicates.long.bytes": "7",
    "predicates.marked.type": "org.apache.kafka.connect.transforms.predicates.HasHeaderKey",
    "predicates.marked.name": "mark",
}


REFUSED = {
    "com.acme.Plain": "transforms.m.type=com.acme.Plain: java.lang.ClassCastException: class com.acme.Plain cannot be",
    "com.acme.Mask": "transforms cannot be made: transforms.m (com.acme.Mask): "
    'org.apache.kafka.common.config.ConfigException: Missing required configuration "kept"',
}
"""A class that is no transform, and one that does not take its settings."""


def file(alias: str, source: Cluster, target: Cluster, plugins: Path, **properties: str) -> dict[str, str]:
    flow = {f"{alias}->B.{name}": text for name, text in {"enabled": "true", "topics": "t", **properties}.items()}
    start = {"emit.heartbeats.enabled": "false", "B.plugin.path": str(plugins), "B.plugin.discovery": "hybrid_warn"}
    return driver_file({alias: source, "B": target}, **start, **flow)


def write(cluster: Cluster, values: list[bytes | None]) -> None:
    """Records of all kinds in two partitions; some say by headers where they go."""
    create_topic(cluster.bootstrap, "t", 2)
    writer = Producer({"bootstrap.servers": cluster.bootstrap})
    headers: list[list[tuple[str, str | bytes | None]]] = [
        [],
        [("kept", b"\xff"), ("kept", None)],
        [("mark", None)],
        [("topic", b"routed"), ("partition", b"0"), ("time", b"5")],
    ]
    for number, value in enumerate(values):
        key = None if number % 3 == 0 else b"k%d" % number
        writer.produce("t", value, key, number % 2, timestamp=TIME + number, headers=headers[number % 4][:])
    writer.flush()


def arrived(cluster: Cluster, topic: str) -> int:
    return sum(end_offsets(cluster.bootstrap, topic).values()) if topic in list_topics(cluster.bootstrap) else 0


def copied(cluster: Cluster, topic: str) -> list[tuple[object, ...]]:
    """The records of a topic; what a header says of the alias is the same for both."""
    records = sorted(read_all(cluster.bootstrap, topic), key=lambda each: (each.partition, each.offset))
    return [
        (each.partition, each.key, each.value, each.timestamp, [
            (name, value and value.replace(b"J ", b"O ")) for name, value in each.headers
        ])
        for each in records
    ]  # fmt: skip


@pytest.fixture(scope="module")
def plugins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plug-in's folder, as `plugin.path` has it."""
    folder = tmp_path_factory.mktemp("plugins")
    return transform_jar(folder / "acme").parent.parent


def test_the_same_records_in_the_same_topics(
    own_clusters: Callable[..., Cluster], plugins: Path, tmp_path: Path
) -> None:
    """What fails is left out by both, as `errors.tolerance=all` wants it, and ours says so."""
    a, b = own_clusters(), own_clusters()
    plain: list[bytes | None] = [b"secret %d" % number for number in range(36)]
    write(a, [*plain, b"throw", b"text", None, b"null", b"refuse", b"map", b"1", b"bytes", b"last", b"last too"])
    seen = {}
    for alias, driver in DRIVERS.items():
        given = file(alias, a, b, plugins, **TRANSFORMS, **{"errors.tolerance": "all"})
        before = arrived(b, "routed")
        with driver(tmp_path / alias, given) as tool:
            wait_until(lambda: arrived(b, f"{alias}.t") == 21, SECONDS, f"t of {alias}")  # noqa: B023
            wait_until(lambda: arrived(b, "routed") >= before + 9, SECONDS, f"routed records of {alias}")  # noqa: B023
            if alias == "O":
                assert "The transforms failed on t-0 at offset 18, a record of 20" in tool.output()
                assert "transforms.odd (com.acme.Odd): java.lang.IllegalStateException: odd" in tool.output()
        seen[alias] = copied(b, f"{alias}.t")
    routed = copied(b, "routed")
    assert seen["J"] == seen["O"]
    assert routed[: len(routed) // 2] == routed[len(routed) // 2 :]
    kinds = {each[2] for each in (*seen["O"], *routed)}
    assert kinds == {b"se******", b"se*******", b"last", b"la******", b"\0\1"}


def test_a_record_on_which_a_transform_fails_ends_the_flow(
    own_clusters: Callable[..., Cluster], plugins: Path, tmp_path: Path
) -> None:
    a, b = own_clusters(), own_clusters()
    write(a, [b"fine", b"fine", b"throw"])
    odd = {"transforms": "odd", "transforms.odd.type": "com.acme.Odd"}
    with java_driver(tmp_path / "J", file("J", a, b, plugins, **odd)) as tool:
        wait_until(lambda: "Tolerance exceeded in error handler" in tool.output(), SECONDS, "the end of Connect's task")
    with our_driver(tmp_path / "O", file("O", a, b, plugins, **odd)) as tool:
        said = (
            "the transforms failed on t-0 at offset 1: transforms.odd (com.acme.Odd): java.lang.IllegalStateException"
        )
        wait_until(lambda: said in tool.output(), SECONDS, "the end of our flow")
        wait_until(lambda: len(copied(b, "O.t")) >= 2, SECONDS, "the records before it, which were on their way")
    assert [each[2] for each in copied(b, "O.t")] == [b"fine", b"fine"]


FLAKY = {
    "transforms": "f",
    "transforms.f.type": "com.acme.Flaky",
    "errors.retry.delay.max.ms": "400",
    "errors.tolerance": "all",
    "errors.log.enable": "true",
    "errors.log.include.messages": "true",
}
LINE = (
    "Error encountered in task MirrorSourceConnector-0. Executing stage 'TRANSFORMATION' with class 'com.acme.Flaky', "
    "where source record is = SourceRecord{sourcePartition={cluster="
)


@pytest.mark.slow
def test_what_may_pass_is_tried_again(own_clusters: Callable[..., Cluster], plugins: Path, tmp_path: Path) -> None:
    """For as long as `errors.retry.timeout` says; then the record is left out, with the words of Connect's own line.

    What a transform holds is closed at the end.
    """
    a, b = own_clusters(), own_clusters()
    write(a, [b"at once", b"2 times", b"1000 times", b"1 times", b"last"])
    seen = {}
    for alias, driver in DRIVERS.items():
        files = tmp_path / f"{alias} files"
        files.mkdir()
        given = {**FLAKY, "transforms.f.files": str(files), "errors.retry.timeout": "2500"}
        with driver(tmp_path / alias, file(alias, a, b, plugins, **given)) as tool:
            wait_until(lambda: arrived(b, f"{alias}.t") == 4, SECONDS, f"t of {alias}")  # noqa: B023
            wait_until(lambda: LINE in tool.output(), SECONDS, f"the line of {alias}")  # noqa: B023
            assert not (files / "closed").exists()
            tool.stop(SECONDS)
            wait_until((files / "closed").exists, SECONDS, "the end of the transform")  # noqa: B023
        seen[alias] = copied(b, f"{alias}.t")
    assert seen["J"] == seen["O"]
    assert [dict(each[4]).get("refused") for each in seen["O"]].count(None) == 2  # type: ignore[call-overload]


@pytest.mark.slow
def test_a_stop_ends_the_tries(own_clusters: Callable[..., Cluster], plugins: Path, tmp_path: Path) -> None:
    """The record is not left out: it is the first of the next start."""
    a, b = own_clusters(), own_clusters()
    write(a, [b"fine", b"", b"1000000 times", b"", b"behind"])
    given = {**FLAKY, "errors.retry.timeout": "-1", "transforms.f.files": str(tmp_path)}
    with our_driver(tmp_path / "O", file("O", a, b, plugins, **given)) as tool:
        wait_until((tmp_path / "refused").exists, SECONDS, "a refusal")
        assert tool.stop(SECONDS) == STOPPED
        assert "which is left out" not in tool.output()
    with our_driver(tmp_path / "again", file("O", a, b, plugins, topics="t")) as tool:
        wait_until(lambda: arrived(b, "O.t") == 5, SECONDS, "the rest")
    values = [each[2] for each in copied(b, "O.t")]
    assert {*values} == {b"", b"1000000 times", b"behind", b"fine"}


@pytest.mark.slow
def test_each_plug_in_has_its_own_release_of_a_library(own_clusters: Callable[..., Cluster], tmp_path: Path) -> None:
    a, b = own_clusters(), own_clusters()
    write(a, [b"v"])
    for name in ("one", "two"):
        plugin_with_a_library(tmp_path / "plugins", name)
    stamps = {"transforms": "one, two", "transforms.one.type": "one.Stamp", "transforms.two.type": "two.Stamp"}
    for alias, driver in DRIVERS.items():
        with driver(tmp_path / alias, file(alias, a, b, tmp_path / "plugins", **stamps)):
            wait_until(lambda: arrived(b, f"{alias}.t") == 1, SECONDS, f"t of {alias}")  # noqa: B023
        assert copied(b, f"{alias}.t")[0][4] == [("one", b"of one"), ("two", b"of two")]


@pytest.mark.slow
def test_a_class_of_a_jar_breaks_no_circle(own_clusters: Callable[..., Cluster], plugins: Path, tmp_path: Path) -> None:
    a, b = own_clusters(), own_clusters()
    write(a, [b"v"])
    mask = {"transforms": "m", "transforms.m.type": "com.acme.Mask", "transforms.m.kept": "1"}
    given = file("A", a, b, plugins, **mask) | {f"B->A.{name}": text for name, text in mask.items()}
    given |= {"B->A.enabled": "true", "A.plugin.path": str(plugins), "replication.policy.class": IDENTITY}
    with our_driver(tmp_path / "A", given) as tool:
        wait_until(lambda: "would come back to A as itself by A->B, B->A" in tool.output(), SECONDS, "the line")
        assert tool.stop(SECONDS) == STOPPED
    assert (arrived(a, "t"), arrived(b, "t")) == (1, 0)


@pytest.mark.slow
def test_what_cannot_be_made(own_clusters: Callable[..., Cluster], plugins: Path, tmp_path: Path) -> None:
    """A class that is no transform, and one that does not take its settings."""
    a, b = own_clusters(), own_clusters()
    write(a, [b"v"])
    for name, said in REFUSED.items():
        given = file("O", a, b, plugins, transforms="m", **{"transforms.m.type": name})
        with our_driver(tmp_path / name, given) as tool:
            wait_until(lambda: said in tool.output(), SECONDS, said)  # noqa: B023
    given = file("O", a, b, plugins, transforms="m", **{"transforms.m.type": "com.acme.Gone"})
    with our_driver(tmp_path / "gone", given) as tool:
        assert tool.wait(SECONDS) == 2
        assert "O->B.transforms.m.type=com.acme.Gone is not possible, because no jar has this class" in tool.output()
        assert str(plugins) in tool.output()
    assert arrived(b, "O.t") == 0
