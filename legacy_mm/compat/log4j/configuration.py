"""Which log4j configuration the environment names, and what it says.

The variables are those that `kafka-run-class.sh` gave to Java, where the last `-D` of a name won. As log4j did, a
file that is missing or broken does not stop the mirror: one line says so, and logging goes to the console.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import yaml

from legacy_mm.compat import properties_file
from legacy_mm.compat.log4j import version1, version2
from legacy_mm.compat.log4j.found import Found, NotUnderstood, lookup
from legacy_mm.errors import ConfigurationError

_VARIABLES = ("KAFKA_JVM_PERFORMANCE_OPTS", "KAFKA_LOG4J_OPTS", "KAFKA_OPTS")
"""In the order of Java's command line."""
_LOCATIONS = ("log4j.configuration", "log4j.configurationFile", "log4j2.configurationFile")
"""The first one given counts: the old tool had log4j 1."""


def read(environment: Mapping[str, str]) -> Found:
    """How to log, as far as the environment says so."""
    system = system_properties(environment)
    location = next((system[name] for name in _LOCATIONS if system.get(name)), None)
    if location is None:
        return Found()
    try:
        return _read_file(_path(location), system, environment)
    except OSError as error:
        why = error.strerror or str(error)
    except (ValueError, ElementTree.ParseError, yaml.YAMLError, ConfigurationError) as error:
        why = str(error)
    return Found(problems=(f"Could not read the log4j configuration {location}: {why}; logging to the console",))


def system_properties(environment: Mapping[str, str]) -> dict[str, str]:
    """Java's system properties, as far as they come from the variables; `kafka.logs.dir` is always there."""
    found = {"kafka.logs.dir": environment.get("LOG_DIR") or str(Path(sys.prefix) / "logs")}
    for word in " ".join(environment.get(name, "") for name in _VARIABLES).split():
        if word.startswith("-D"):
            name, _, value = word.removeprefix("-D").partition("=")
            found[name] = value
    return found


def _path(location: str) -> Path:
    """A `file:` URL, or a plain path."""
    first = location.split(",")[0]
    return Path(unquote(urlsplit(first).path)) if first.startswith("file:") else Path(first)


def _read_file(path: Path, system: Mapping[str, str], environment: Mapping[str, str]) -> Found:
    content, suffix = path.read_bytes(), path.suffix.lower()
    if suffix == ".xml":
        root = ElementTree.fromstring(content)
        if _is_version2(root):
            return version2.read(version2.from_xml(root), lambda own: lookup(system, environment, own))
        return version1.read_xml(root, lookup(system, environment, {}))
    if suffix in (".json", ".jsn", ".yaml", ".yml"):
        document = json.loads(content) if suffix.startswith(".j") else yaml.safe_load(content)
        found = version2.from_mapping("document", document if isinstance(document, dict) else {}).of("configuration")
        if not found:
            raise NotUnderstood("it has no Configuration")
        return version2.read(found[0], lambda own: lookup(system, environment, own))
    properties = properties_file.loads(content)
    if version1.is_version1(properties):
        return version1.read_properties(properties, lookup(system, environment, properties))
    return version2.read(version2.from_properties(properties), lambda own: lookup(system, environment, own))


def _is_version2(root: ElementTree.Element) -> bool:
    """Appenders stand in a group of their own, which they do not in log4j 1."""
    return any(part.tag.rpartition("}")[2].lower() in ("appenders", "loggers") for part in root)
