"""Run the real legacy tool, the real MirrorMaker 2, or ours, on given properties. Rule: it sets nothing in secret.

The builders of the legacy tool and of ours take the same arguments, so that one scenario runs on both.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from compat.laboratory.checkout import COMMANDS
from compat.laboratory.jars import kafka_jars
from compat.laboratory.ports import LOOPBACK
from compat.laboratory.releases import CONNECT, CURRENT, OLD, find_release
from legacy_mm.audit.java_files import write_log_configuration, write_properties
from legacy_mm.audit.spawn import QUICK_JVM
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.runtime.jvm.java_home import find_java

LAUNCHER = COMMANDS / "kafka-mirror-maker.sh"
DRIVER_LAUNCHER = COMMANDS / "connect-mirror-maker.sh"
_DRIVER_CLASS = "org.apache.kafka.connect.mirror.MirrorMaker"
STANDARD_JVM = shlex.split(
    "-server -XX:+UseG1GC -XX:MaxGCPauseMillis=20 -XX:InitiatingHeapOccupancyPercent=35 "
    "-XX:+ExplicitGCInvokesConcurrent -XX:MaxInlineLevel=15 -Djava.awt.headless=true"
)
_JMX = (
    "-Dcom.sun.management.jmxremote -Dcom.sun.management.jmxremote.authenticate=false "
    "-Dcom.sun.management.jmxremote.ssl=false"
)

_CLUSTER_OF_WORKERS = {
    "group.id": "workers",
    **{f"{what}.storage.topic": f"workers-{what}" for what in ("config", "offset", "status")},
    **{f"{what}.storage.replication.factor": "1" for what in ("config", "offset", "status")},
    "offset.storage.partitions": "1",
    "status.storage.partitions": "1",
}


class MirrorTool(Protocol):
    """The shape both builders share."""

    def __call__(
        self,
        folder: Path,
        consumer: Mapping[str, str],
        producer: Mapping[str, str],
        *options: str,
        heap: str = ...,
        log_level: str = ...,
        environment: Mapping[str, str] | None = ...,
        classpath: Sequence[Path] = ...,
    ) -> ToolProcess:
        """Start the tool on these two properties files, written to the folder."""


def legacy_mirror_maker(
    folder: Path,
    consumer: Mapping[str, str],
    producer: Mapping[str, str],
    *options: str,
    heap: str = "256M",
    log_level: str = "WARN",
    environment: Mapping[str, str] | None = None,
    classpath: Sequence[Path] = (),
) -> ToolProcess:
    """Start Kafka's MirrorMaker 3.9.1, as its start script would start it and with the variables that it obeys.

    The process is Java itself, as after the script's `exec`.
    """
    variables = _tool_environment(folder, heap, log_level, environment, classpath)
    words = shlex.split(variables["KAFKA_HEAP_OPTS"])
    words += shlex.split(variables.get("KAFKA_JVM_PERFORMANCE_OPTS", shlex.join(STANDARD_JVM)))
    words += shlex.split(variables.get("KAFKA_GC_LOG_OPTS", ""))
    words += shlex.split(variables.get("KAFKA_JMX_OPTS", _JMX))
    if port := variables.get("JMX_PORT"):
        words += [f"-Dcom.sun.management.jmxremote.{name}={port}" for name in ("port", "rmi.port")]
    words += [f"-Dkafka.logs.dir={variables['LOG_DIR']}", *shlex.split(variables["KAFKA_LOG4J_OPTS"])]
    libraries = [variables["CLASSPATH"]] if variables.get("CLASSPATH") else []
    words += ["-cp", ":".join([*libraries, f"{kafka_jars(OLD)}/*"]), *shlex.split(variables.get("KAFKA_OPTS", ""))]
    command = [str(find_java()), *words, "kafka.tools.MirrorMaker", *_files(folder, consumer, producer), *options]
    return ToolProcess(command, folder, variables)


def our_mirror_maker(
    folder: Path,
    consumer: Mapping[str, str],
    producer: Mapping[str, str],
    *options: str,
    heap: str = "256M",
    log_level: str = "WARN",
    environment: Mapping[str, str] | None = None,
    classpath: Sequence[Path] = (),
    launcher: Path = LAUNCHER,
    wrapper: Sequence[str] = (),
) -> ToolProcess:
    """Start this project's command by its script, with the files and variables that the old one gets."""
    variables = _tool_environment(folder, heap, log_level, environment, classpath)
    return ToolProcess([*wrapper, str(launcher), *_files(folder, consumer, producer), *options], folder, variables)


def mirror_maker_2(
    folder: Path,
    source: str,
    target: str,
    topics: str,
    *,
    tasks: int = 1,
    heap: str = "1G",
    properties: Mapping[str, str] | None = None,
    jvm: Sequence[str] = QUICK_JVM,
) -> ToolProcess:
    """Start Kafka's MirrorMaker 2 in dedicated mode, names kept, from the beginning.

    `topics` as its `topics` property, `jvm` as for `java_driver`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    replication = "replication.factor checkpoints.topic.replication.factor heartbeats.topic.replication.factor "
    replication += "offset-syncs.topic.replication.factor offset.storage.replication.factor "
    replication += "status.storage.replication.factor config.storage.replication.factor"
    chosen = {
        "clusters": "src, dst",
        "src.bootstrap.servers": source,
        "dst.bootstrap.servers": target,
        "src->dst.enabled": "true",
        "dst->src.enabled": "false",
        "src->dst.topics": topics,
        "tasks.max": str(tasks),
        "replication.policy.class": "org.apache.kafka.connect.mirror.IdentityReplicationPolicy",
        "emit.heartbeats.enabled": "false",
        "emit.checkpoints.enabled": "false",
        "sync.topic.acls.enabled": "false",
        **dict.fromkeys(replication.split(), "1"),
        **(properties or {}),
    }
    return java_driver(folder, chosen, heap=heap, jvm=jvm)


def java_driver(
    folder: Path,
    properties: Mapping[str, str],
    *words: str,
    heap: str = "1G",
    release: str = CURRENT,
    jvm: Sequence[str] = QUICK_JVM,
) -> ToolProcess:
    """Start the real driver of MirrorMaker 2 on these properties, written to the folder.

    `release`: that of the jars; that of `releases.CONNECT` logs nothing. `jvm`: options for Java; those of Kafka's
    start scripts are STANDARD_JVM, which take twice the CPU in the first half minute.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = write_properties(folder / "mm2.properties", properties)
    return ToolProcess([*_java(folder, heap, release, jvm), _DRIVER_CLASS, str(file), *words], folder)


def our_driver(
    folder: Path,
    properties: Mapping[str, str],
    *words: str,
    environment: Mapping[str, str] | None = None,
    wrapper: Sequence[str] = (),
) -> ToolProcess:
    """Start our connect-mirror-maker.sh on these properties, written to the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    file = write_properties(folder / "mm2.properties", properties)
    return ToolProcess([*wrapper, str(DRIVER_LAUNCHER), str(file), *words], folder, environment)


def checkpoint_connector(
    folder: Path, source: str, target: str, *, rest_port: int, heap: str = "512M", properties: Mapping[str, str]
) -> ToolProcess:
    """Start MirrorMaker 2's checkpoint connector alone, on a standalone worker: no Java has copied the records."""
    connector = {
        "name": "checkpoints",
        "connector.class": "org.apache.kafka.connect.mirror.MirrorCheckpointConnector",
        "tasks.max": "1",
        "source.cluster.bootstrap.servers": source,
        "target.cluster.bootstrap.servers": target,
        "checkpoints.topic.replication.factor": "1",
        **properties,
    }
    return connect_worker(folder, target, connector, rest_port=rest_port, heap=heap)


def connect_worker(
    folder: Path,
    bootstrap: str,
    *connectors: Mapping[str, str],
    rest_port: int,
    distributed: bool = False,
    heap: str = "512M",
    release: str = CURRENT,
    properties: Mapping[str, str] | None = None,
) -> ToolProcess:
    """Start a real worker of Kafka Connect, alone on its cluster, with these connectors (standalone) or without any.

    `release` as for `java_driver`, but the worker of CONNECT logs what the others do, because Connect shows loggers.
    """
    folder.mkdir(parents=True, exist_ok=True)
    bytes_as_they_are = "org.apache.kafka.connect.converters.ByteArrayConverter"
    chosen = {
        "bootstrap.servers": bootstrap,
        "key.converter": bytes_as_they_are,
        "value.converter": bytes_as_they_are,
        "listeners": f"http://{LOOPBACK}:{rest_port}",
        **(_CLUSTER_OF_WORKERS if distributed else {"offset.storage.file.filename": str(folder / "offsets")}),
        **(properties or {}),
    }
    files = [write_properties(folder / "worker.properties", chosen)]
    for number, connector in enumerate(connectors):
        files.append(write_properties(folder / f"connector-{number}.properties", connector))
    logging = [kafka_jars(OLD) / "slf4j-reload4j-1.7.36.jar"] if release == CONNECT else []
    program = f"org.apache.kafka.connect.cli.Connect{'Distributed' if distributed else 'Standalone'}"
    return ToolProcess([*_java(folder, heap, release, classpath=logging), program, *map(str, files)], folder)


def _java(
    folder: Path, heap: str, release: str = CURRENT, jvm: Sequence[str] = QUICK_JVM, classpath: Sequence[Path] = ()
) -> list[str]:
    """Return a JVM command with the jars of a release, behind others; it prints its warnings on stderr."""
    generation = find_release(release).log4j
    log = write_log_configuration(
        folder / f"log4j{generation}.properties", generation=generation, level="WARN", file=None
    )
    jars = ":".join([*map(str, classpath), f"{kafka_jars(release)}/*"])
    return [str(find_java()), f"-Xmx{heap}", "-Djava.awt.headless=true", *jvm, log, "-cp", jars]


def _tool_environment(
    folder: Path, heap: str, log_level: str, environment: Mapping[str, str] | None, classpath: Sequence[Path]
) -> dict[str, str]:
    """Return the variables of kafka-run-class.sh for both tools; a caller's own win."""
    folder.mkdir(parents=True, exist_ok=True)
    log = write_log_configuration(folder / "log4j.properties", generation=1, level=log_level, file=None)
    variables = {"KAFKA_HEAP_OPTS": f"-Xmx{heap}", "KAFKA_LOG4J_OPTS": log, "LOG_DIR": str(folder)}
    if classpath:
        variables["CLASSPATH"] = ":".join(map(str, classpath))
    return variables | dict(environment or {})


def _files(folder: Path, consumer: Mapping[str, str], producer: Mapping[str, str]) -> list[str]:
    read = write_properties(folder / "consumer.properties", consumer)
    written = write_properties(folder / "producer.properties", producer)
    return ["--consumer.config", str(read), "--producer.config", str(written)]
