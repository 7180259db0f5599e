"""The old tool's message handler and rebalance listener, and where their jars are, as settings."""

from __future__ import annotations

import os
from pathlib import Path

from legacy_mm.compat.steps import Start
from legacy_mm.config.catalogue import OwnOptions
from legacy_mm.config.feature_settings import IDENTITY, LEGACY, FeatureSettings
from legacy_mm.config.settings import HandlerSettings, ListenerSettings, QuarantineSettings
from legacy_mm.config.validate import runs_on_cluster
from legacy_mm.errors import ConfigurationError

_OLD_KAFKA = {"libs": "kafka_2.*-[0-3].*.jar", "share/java/kafka": "kafka_2.*-[0-7].*.jar"}
"""Where Apache's and Confluent's installations have their jars -> the jar by which a Kafka before 4 is known."""


def handler(start: Start, features: FeatureSettings) -> HandlerSettings | None:
    """What records pass through; raises ConfigurationError when two things are asked for at once."""
    line, options = start.line, start.options
    steps = tuple(options.handler_step)
    if features.detect_loops:
        steps += (f"loop.guard={features.naming.source_alias}>{features.naming.target_alias}",)
    if line.has("message.handler") and steps:
        other = "--handler.step" if options.handler_step else "detect.loops"
        raise ConfigurationError(f"--message.handler and {other} exclude each other: one of them handles records")
    if not line.has("message.handler") and not steps:
        return None
    if (policy := features.naming.policy) not in (LEGACY, IDENTITY):
        raise ConfigurationError(
            f"{policy} and a message handler exclude each other, because both say how topics are called"
        )
    if features.offset_syncs is not None:
        what = "detect.loops=true" if features.detect_loops else "a message handler"
        raise ConfigurationError(
            f"emit.offset-syncs.enabled=true and {what} exclude each other, because only a record that is copied as it "
            "is has an offset of its own at the target"
        )
    return HandlerSettings(
        name=_name(line.value("message.handler") or ""),
        argument=line.value("message.handler.args") if line.has("message.handler.args") else None,
        steps=steps,
        class_path=class_path(start),
        java_options=start.environment.jvm.options,
    )


def quarantine(options: OwnOptions) -> QuarantineSettings:
    """Which records are set aside, and where; a file by its whole path, as a script. Raises ConfigurationError for a
    file that would lie on a worker of a cluster."""
    made = QuarantineSettings(
        failed=options.handler_on_error == "quarantine",
        refused=options.send_on_error == "quarantine",
        topic=options.quarantine_topic,
        file=str(Path(options.quarantine_file).absolute()),
    )
    if made.needs_file and runs_on_cluster(options.spark_master):
        asked = "--send.on.error" if made.refused else "--handler.on.error"
        raise ConfigurationError(
            f"{asked} quarantine is not possible with --spark.master {options.spark_master}: the quarantine file would "
            "be on a worker, and gone with it (--handler.on.error with --quarantine.topic needs no file)"
        )
    return made


def listener(start: Start) -> ListenerSettings | None:
    """Who is told about rebalances."""
    line = start.line
    if not line.has("consumer.rebalance.listener"):
        return None
    return ListenerSettings(
        name=_name(line.value("consumer.rebalance.listener") or ""),
        argument=line.value("rebalance.listener.args") if line.has("rebalance.listener.args") else None,
        class_path=class_path(start),
    )


def class_path(start: Start) -> tuple[str, ...]:
    """CLASSPATH, `--handler.classpath`, the old Kafka's jars; as in Java, `folder/*` means its jars and no word the
    present folder, but for a cluster: what is named travels to its workers."""
    here = "" if runs_on_cluster(start.options.spark_master) else "."
    words = [start.environment.jvm.class_path, start.options.handler_classpath, _libs(start.environment.kafka_home)]
    entries = (entry or here for word in words if word for entry in word.split(os.pathsep))
    return tuple(str(path.absolute()) for entry in filter(None, entries) for path in _expanded(entry))


def _libs(kafka_home: str) -> str:
    """Where the old Kafka had its jars, and people put theirs; those of Kafka 4 do not know the old interfaces."""
    folders = {Path(kafka_home, folder): jar for folder, jar in _OLD_KAFKA.items()} if kafka_home else {}
    return os.pathsep.join(f"{folder}/*" for folder, jar in folders.items() if any(folder.glob(jar)))


def _expanded(entry: str) -> list[Path]:
    folder, star, rest = entry.rpartition("*")
    if not star or rest or not (folder.endswith("/") or not folder):
        return [Path(entry)]
    return sorted(path for path in Path(folder).glob("*") if path.suffix.lower() == ".jar")


def _name(text: str) -> str:
    """A script by its whole path: a copy task may have another folder."""
    path, end, name = text.partition(".py")
    is_script = end and (not name or name.startswith(":"))
    return f"{Path(path + end).absolute()}{name}" if is_script else text
