"""`config.providers`: values that a file only names, as `${provider:path:key}`, looked up as Kafka's clients do.

Only for these references Kafka's clients keep blanks around names.

A reference to an undeclared provider stays as it is written. A value that was looked up is a secret.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from legacy_mm.compat import properties_file
from legacy_mm.compat.client_properties.rule import config_exception
from legacy_mm.errors import ConfigurationError, blamed

_PROVIDERS = "config.providers"
_PACKAGE = "org.apache.kafka.common.config.provider."
_REFERENCE = re.compile(r"\$\{([^}]*?):(?:([^}]*?):)?([^}]*?)\}")

Parameters = Mapping[str, str]
AskProvider = Callable[[Parameters, str, str], str | None]


class Resolved(NamedTuple):
    """The properties with what their references stand for."""

    properties: dict[str, str]
    secrets: frozenset[str]


def resolve(properties: Mapping[str, str]) -> Resolved:
    """Look up every reference to a declared provider; raises ConfigurationError where Kafka would."""
    lookups = _declared(properties)
    secrets: set[str] = set()

    def look_up(reference: re.Match[str]) -> str:
        provider, path, key = reference.groups(default="")
        value = lookups[provider](path, key) if provider in lookups else None
        if value is None:
            return reference.group()
        secrets.add(value)
        return value

    if not lookups:
        return Resolved(dict(properties), frozenset())
    resolved = {}
    for name, text in properties.items():
        with blamed(name):
            resolved[name] = _REFERENCE.sub(look_up, text)
    return Resolved(resolved, frozenset(secrets))


def _declared(properties: Mapping[str, str]) -> dict[str, Callable[[str, str], str | None]]:
    declared = {}
    for name in properties.get(_PROVIDERS, "").split(","):
        row = f"{_PROVIDERS}.{name}.class"
        if row in properties:
            with blamed(row):
                declared[name] = _provider(row, properties[row], _parameters(properties, f"{_PROVIDERS}.{name}."))
    return declared


def _parameters(properties: Mapping[str, str], prefix: str) -> dict[str, str]:
    prefix += "param."
    return {name.removeprefix(prefix): text for name, text in properties.items() if name.startswith(prefix)}


def _provider(row: str, class_name: str, parameters: Parameters) -> Callable[[str, str], str | None]:
    lookup = _LOOKUPS.get(class_name)
    if lookup is None:
        raise config_exception(
            f"Invalid value {class_name} for configuration {row}: possible are {', '.join(_LOOKUPS)}"
        )
    _allowed_paths(parameters)
    return lambda path, key: lookup(parameters, path, key)


def _from_file(parameters: Parameters, path: str, key: str) -> str | None:
    if not path or not _is_allowed(parameters, path):
        return None
    try:
        return properties_file.loads(Path(path).read_bytes(), "utf-8").get(key)
    except (OSError, ValueError, ConfigurationError):
        raise config_exception(f"Could not read properties from file {path}") from None


def _from_directory(parameters: Parameters, path: str, key: str) -> str | None:
    file = Path(path, key)
    if not path or file.parent != Path(path) or not _is_allowed(parameters, path) or not file.is_file():
        return None
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        raise config_exception(f"Could not read file {file} for property {key}") from None


def _from_environment(parameters: Parameters, path: str, key: str) -> str | None:
    if path:
        raise config_exception(f"Path is not supported for EnvVarConfigProvider, invalid value '{path}'")
    pattern = parameters.get("allowlist.pattern", ".*")
    try:
        return os.environ.get(key) if re.fullmatch(pattern, key) else None
    except re.error as error:
        raise config_exception(f"allowlist.pattern {pattern} cannot be used: {error}") from None


def _is_allowed(parameters: Parameters, path: str) -> bool:
    allowed = _allowed_paths(parameters)
    asked = Path(os.path.normpath(path))
    return not allowed or any(asked.is_relative_to(folder) for folder in allowed)


def _allowed_paths(parameters: Parameters) -> list[Path]:
    folders = [Path(os.path.normpath(text)) for text in parameters.get("allowed.paths", "").split(",") if text]
    for folder in folders:
        if not folder.is_absolute():
            raise config_exception(f"Path {folder} is not absolute")
        if not folder.exists():
            raise config_exception(f"Path {folder} does not exist")
    return folders


_LOOKUPS: Mapping[str, AskProvider] = {
    _PACKAGE + "FileConfigProvider": _from_file,
    _PACKAGE + "DirectoryConfigProvider": _from_directory,
    _PACKAGE + "EnvVarConfigProvider": _from_environment,
}
