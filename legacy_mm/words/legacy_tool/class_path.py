"""Class path of the user's Java classes: handlers, listeners, login classes."""

from __future__ import annotations

import os
from pathlib import Path

from legacy_mm.words.legacy_tool.environment import Environment
from legacy_mm.words.legacy_tool.start_scripts import JARS
from legacy_mm.words.options.option_catalogue import OwnOptions
from legacy_mm.words.options.validate import runs_on_cluster

_OLD_KAFKA = dict(zip(JARS, ("kafka_2.*-[0-3].*.jar", "kafka_2.*-[0-7].*.jar"), strict=True))
"""Folders of jars in Apache's and Confluent's installations -> the jar that identifies a Kafka before 4."""


def class_path(environment: Environment, options: OwnOptions) -> tuple[str, ...]:
    """Return the entries of CLASSPATH, `--handler.classpath` and the old Kafka's jars.

    As in Java, `folder/*` means its jars, and an empty word the current folder; not for a cluster, to whose workers all
    named files travel.
    """
    return _entries(environment, options, _libs(environment.kafka_home))


def connect_class_path(environment: Environment, options: OwnOptions) -> tuple[str, ...]:
    """Return the same with the jars of a Kafka of any release: Connect's classes are in all of them."""
    home = environment.kafka_home
    folders = [Path(home, folder) for folder in JARS] if home else []
    return _entries(environment, options, os.pathsep.join(f"{each}/*" for each in folders))


def _entries(environment: Environment, options: OwnOptions, libs: str) -> tuple[str, ...]:
    here = "" if runs_on_cluster(options.spark_master) else "."
    words = [environment.jvm.class_path, options.handler_classpath, libs]
    entries = (entry or here for word in words if word for entry in word.split(os.pathsep))
    return tuple(str(path.absolute()) for entry in filter(None, entries) for path in _expanded(entry))


def _libs(kafka_home: str) -> str:
    """Return the folders of the old Kafka's jars, where users put theirs; jars of Kafka 4 lack the old interfaces."""
    folders = {Path(kafka_home, folder): jar for folder, jar in _OLD_KAFKA.items()} if kafka_home else {}
    return os.pathsep.join(f"{folder}/*" for folder, jar in folders.items() if any(folder.glob(jar)))


def _expanded(entry: str) -> list[Path]:
    folder, star, rest = entry.rpartition("*")
    if not star or rest or not (folder.endswith("/") or not folder):
        return [Path(entry)]
    return sorted(path for path in Path(folder).glob("*") if path.suffix.lower() == ".jar")
