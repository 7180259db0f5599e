"""Finds the log4j configuration that the environment names, and reads it.

It is the one that Java was given, where the last `-D` of a name won; otherwise that of the Kafka installation that this
tool replaces, as its script had it. As with log4j, a file that is missing or broken does not stop the mirror: one line
reports it, and logging goes to the console.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import yaml

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.logs import log4j_1, log4j_2
from legacy_mm.logs.log4j_found import Found, NotUnderstood, lookup
from legacy_mm.words.java_clients import properties_file
from legacy_mm.words.java_clients.system_properties import system_properties
from legacy_mm.words.legacy_tool.environment import java_words, kafka_home

_LOCATIONS = ("log4j.configuration", "log4j.configurationFile", "log4j2.configurationFile")
"""The first one given counts: the legacy tool had log4j 1."""
TOOLS_FILES = ("tools-log4j.properties",)
CONNECT_FILES = ("connect-log4j.properties", "connect-log4j2.yaml")
"""Files that the start scripts of an installation name: of its tools; of Kafka Connect, up to 3.9 and from 4.0 on."""


def read(environment: Mapping[str, str], words: Sequence[str] = (), usual_files: Sequence[str] = TOOLS_FILES) -> Found:
    """Return the log settings from the environment and the Java options before the class name.

    `usual_files` are the names of the installation's own file, where the environment names none.
    """
    home = kafka_home(environment)
    logs = environment.get("LOG_DIR") or str(Path(home or sys.prefix) / "logs")
    system = {"kafka.logs.dir": logs} | system_properties(java_words(environment, words))
    location = next((system[name] for name in _LOCATIONS if system.get(name)), None)
    if location is None and home and not environment.get("KAFKA_LOG4J_OPTS"):
        location = _usual_file(Path(home), usual_files)
    if location is None:
        return Found()
    try:
        return _read_file(_path(location), system, environment)
    except OSError as error:
        why = error.strerror or str(error)
    except (ValueError, ElementTree.ParseError, yaml.YAMLError, ConfigurationError) as error:
        why = str(error)
    return Found(problems=(f"Could not read the log4j configuration {location}: {why}; logging to the console",))


def _usual_file(home: Path, names: Sequence[str]) -> str | None:
    """Return the file that an installation's start script names, Apache's or Confluent's."""
    folders = (home / "config", home.parent / "etc" / "kafka", home / "etc" / "kafka")
    files = (folder / name for folder in folders for name in names)
    return next((str(file) for file in files if file.is_file()), None)


def _path(location: str) -> Path:
    """Return the path of a `file:` URL, or of a plain path."""
    first = location.split(",")[0]
    return Path(unquote(urlsplit(first).path)) if first.startswith("file:") else Path(first)


def _read_file(path: Path, system: Mapping[str, str], environment: Mapping[str, str]) -> Found:
    content, suffix = path.read_bytes(), path.suffix.lower()
    if suffix == ".xml":
        root = ElementTree.fromstring(content)
        if _is_version2(root):
            return log4j_2.read(log4j_2.from_xml(root), lambda own: lookup(system, environment, own))
        return log4j_1.read_xml(root, lookup(system, environment, {}))
    if suffix in (".json", ".jsn", ".yaml", ".yml"):
        document = json.loads(content) if suffix.startswith(".j") else yaml.safe_load(content)
        found = log4j_2.from_mapping("document", document if isinstance(document, dict) else {}).children(
            "configuration"
        )
        if not found:
            raise NotUnderstood("it has no Configuration")
        return log4j_2.read(found[0], lambda own: lookup(system, environment, own))
    properties = properties_file.loads(content)
    if log4j_1.is_version1(properties):
        return log4j_1.read_properties(properties, lookup(system, environment, properties))
    return log4j_2.read(log4j_2.from_properties(properties), lambda own: lookup(system, environment, own))


def _is_version2(root: ElementTree.Element) -> bool:
    """Return True if appenders are in a group of their own, which they are not in log4j 1."""
    return any(part.tag.rpartition("}")[2].lower() in ("appenders", "loggers") for part in root)
