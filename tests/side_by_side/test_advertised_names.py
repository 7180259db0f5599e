"""What brokers advertise, with the legacy tool and with ours: names that end with a dot, and brokers of the source."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.cluster import PROXIED, Cluster
from compat.laboratory.security import Stores
from compat.laboratory.tools import java_driver, our_driver
from legacy_mm.audit.cluster_access import create_topic, end_offsets, list_topics
from legacy_mm.audit.load import load
from legacy_mm.audit.spawn import QUICK_JVM
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from tests.fixtures.driver_files import driver_file
from tests.fixtures.namespaces import unshared

pytestmark = [pytest.mark.brokers, pytest.mark.side_by_side, pytest.mark.spark]
SECONDS = 60.0
RECORDS = 20
DOTTED = "localhost."
BY_TOOL = pytest.mark.parametrize("which", [pytest.param("old", marks=pytest.mark.slow), "ours"])
Start = Callable[..., ToolProcess]


@pytest.fixture
def consumer(source: Any, group: str) -> dict[str, str]:
    return {"bootstrap.servers": source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"}


@pytest.fixture(scope="module")
def dotted(module_clusters: Callable[..., Cluster], stores: Stores) -> Cluster:
    """Its broker advertises a name with the dot of the root zone, over TLS; its certificate has the name without."""
    protocols = {"PLAINTEXT": "PLAINTEXT", "CONTROLLER": "PLAINTEXT", PROXIED: "SSL"}
    properties = {"listener.security.protocol.map": ",".join(map(":".join, protocols.items()))}
    properties |= {f"listener.name.{PROXIED.lower()}.{key}": text for key, text in stores.broker("broker").items()}
    return module_clusters(advertise=lambda port: (DOTTED, port), properties=properties)


@BY_TOOL
def test_a_name_that_ends_with_a_dot(
    request: pytest.FixtureRequest,
    which: str,
    source: Any,
    dotted: Cluster,
    stores: Stores,
    consumer: dict[str, str],
    topic: str,
    tmp_path: Path,
) -> None:
    """The tool has a hosts file of its own: Java by a property, ours by a mount that only its processes see."""
    load(source.bootstrap, topic, RECORDS, 50, partitions=1)
    create_topic(dotted.bootstrap, topic, 1)
    hosts = hosts_file(tmp_path)
    producer = {"bootstrap.servers": dotted.bootstrap_of(PROXIED), "security.protocol": "SSL", **stores.trust()}
    settings: dict[str, Any] = {"environment": {"KAFKA_OPTS": f"-Djdk.net.hosts.file={hosts}"}}
    if which == "ours":
        settings = {"wrapper": with_hosts(hosts)}
    start: Start = request.getfixturevalue(f"{which.replace('ours', 'our')}_tool")
    tool = start(consumer, producer, "--whitelist", topic, **settings)
    wait_until(lambda: arrived(dotted, topic) == RECORDS, SECONDS, "the copy")
    tool.signal(signal.SIGTERM)
    assert tool.wait(SECONDS) == 143, tool.output()


@pytest.mark.slow
@pytest.mark.parametrize("which", ["theirs", "ours"])
def test_a_name_that_ends_with_a_dot_in_mirror_maker_2_s_file(
    which: str, source: Any, dotted: Cluster, stores: Stores, topic: str, tmp_path: Path
) -> None:
    """The target keeps the workers' topics, too."""
    load(source.bootstrap, topic, RECORDS, 50, partitions=1)
    hosts, alias = hosts_file(tmp_path), f"S{which}"
    tls = {"bootstrap.servers": dotted.bootstrap_of(PROXIED), "security.protocol": "SSL", **stores.trust()}
    lines = {f"T.{name}": text for name, text in tls.items()}
    lines |= {f"{alias}->T.enabled": "true", f"{alias}->T.topics": topic, "sync.topic.acls.enabled": "false"}
    file = driver_file({alias: source, "T": dotted}, **lines)
    if which == "ours":
        tool = our_driver(tmp_path / which, file, wrapper=with_hosts(hosts))
    else:
        tool = java_driver(tmp_path / which, file, jvm=(*QUICK_JVM, f"-Djdk.net.hosts.file={hosts}"))
    with tool:
        copy = f"{alias}.{topic}"
        wait_until(lambda: copy in list_topics(dotted.bootstrap) and arrived(dotted, copy) == RECORDS, SECONDS, copy)
        tool.signal(signal.SIGTERM)
        assert tool.wait(SECONDS) == 143, tool.output()


def hosts_file(folder: Path) -> Path:
    file = folder / "hosts"
    file.write_text(f"127.0.0.1 localhost {DOTTED}\n")
    return file


def with_hosts(file: Path) -> tuple[str, ...]:
    """The words in front of a command that give it this hosts file."""
    return (*unshared("--mount"), "sh", "-c", f'mount --bind {file} /etc/hosts && exec "$@"', "sh")


@BY_TOOL
def test_a_target_that_advertises_the_source(
    request: pytest.FixtureRequest,
    which: str,
    source: Any,
    leading_elsewhere: str,
    consumer: dict[str, str],
    topic: str,
) -> None:
    """Difference: copy-into-itself-ends. The legacy tool copies what it has written, again and again."""
    create_topic(source.bootstrap, topic, 1)
    load(source.bootstrap, topic, RECORDS, 50)
    start: Start = request.getfixturevalue(f"{which.replace('ours', 'our')}_tool")
    consumer["metadata.max.age.ms"] = "1000"
    tool = start(consumer, {"bootstrap.servers": leading_elsewhere}, "--whitelist", topic)
    if which == "ours":
        assert tool.wait(SECONDS) == 255, tool.output()
        assert arrived(source, topic) < 50 * RECORDS
    else:
        wait_until(lambda: arrived(source, topic) >= 50 * RECORDS, SECONDS, "copies of copies")
        assert tool.running()
        tool.kill_tree()


def arrived(cluster: Any, topic: str) -> int:
    return sum(end_offsets(cluster.bootstrap, topic).values())
