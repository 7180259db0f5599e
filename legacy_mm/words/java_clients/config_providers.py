"""`config.providers`: values that a file only names, as `${provider:path:key}`, looked up as Kafka's clients do.

A reference that nobody looks up stays as it is written. A value that was looked up is a secret. A provider's class and
its parameters are judged where a reference needs them: files declare providers that nothing refers to.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from legacy_mm.base.errors import ConfigurationError, blamed
from legacy_mm.base.option import split_list
from legacy_mm.words.java_clients import properties_file
from legacy_mm.words.java_clients.client_properties.rule import config_exception

_PROVIDERS = "config.providers"
_PACKAGE = "org.apache.kafka.common.config.provider."
FILE, DIRECTORY, ENVIRONMENT = (f"{_PACKAGE}{kind}ConfigProvider" for kind in ("File", "Directory", "EnvVar"))
KUBERNETES_SECRET = "io.strimzi.kafka.KubernetesSecretConfigProvider"
_KUBERNETES = (KUBERNETES_SECRET, "io.strimzi.kafka.KubernetesConfigMapConfigProvider")
"""Strimzi's, which ask Kubernetes. Here a folder has a folder for each Secret or ConfigMap, as a pod mounts them."""
_OLDER_MOUNTS = "mm2-*/*/"
"""The folders below /opt/kafka for which Strimzi's operator up to 1.0 mounted Secrets: one for each use and alias."""
_SECRET_NAME, _SECRET_KEY = re.compile(r"[A-Za-z0-9][-.A-Za-z0-9]*"), re.compile(r"[-._A-Za-z0-9*?!\[\]]+")
"""Names of Kubernetes; a key may be a pattern."""
_REFERENCE = re.compile(r"\$\{([^}]*?):(?:([^}]*?):)?([^}]*?)\}")

Parameters = Mapping[str, str]
AskProvider = Callable[[Parameters, str, str], str | None]


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider as a file declares it."""

    row: str
    """The property with its class."""
    class_name: str | None
    """None: the file has no such property."""
    parameters: Parameters = field(repr=False)
    secrets_dir: str | None = None
    """The folder that stands for Kubernetes; empty: the user names none; None: the command has no option for it."""

    @property
    def is_without_folder(self) -> bool:
        """True for a provider of Kubernetes whose folder the user does not name."""
        return self.class_name in _KUBERNETES and self.secrets_dir == ""

    def value(self, path: str, key: str, asked_by: str) -> str | None:
        """Return the value that a property refers to, None if there is none; raises ConfigurationError."""
        if self.class_name is None or self.is_without_folder:
            return None
        if self.class_name in _KUBERNETES and self.secrets_dir is not None:
            return _from_secret(self.secrets_dir, path, key)
        if self.class_name in _KUBERNETES:
            raise config_exception(
                f"{asked_by} refers to Kubernetes by {self.class_name}, and no folder stands for it: give legacy-mm "
                "connect --secrets.dir FOLDER, which has a folder for each Secret; elsewhere bring the value as a file "
                "or as an environment variable, and refer to that"
            )
        if (lookup := _LOOKUPS.get(self.class_name)) is None:
            possible = ", ".join(name for name in _LOOKUPS if name.startswith(_PACKAGE))
            raise config_exception(
                f"Invalid value {self.class_name} for configuration {self.row}, to which {asked_by} refers: possible "
                f"are {possible}. Bring the value as a file or as an environment variable, and refer to that"
            )
        return lookup(self.parameters, path, key)


Providers = Mapping[str, Provider]


def is_reference(value: str) -> bool:
    """Return True for a value that is one reference and nothing else."""
    return _REFERENCE.fullmatch(value.strip()) is not None


class KeptReference(NamedTuple):
    """A reference that nobody looks up, without what may be a secret."""

    property_name: str
    reason: str
    """A sentence without its full stop."""
    secret: str = ""
    """The Secret of Kubernetes whose folder nobody names."""


class Resolved(NamedTuple):
    """The properties with what their references stand for."""

    properties: dict[str, str]
    secrets: frozenset[str]
    kept: tuple[KeptReference, ...]


def declared(
    properties: Mapping[str, str], *, trims: bool = False, secrets_dir: str | None = None
) -> dict[str, Provider]:
    """Return the providers that a file declares; `trims`: blanks in their list are none of their names.

    MirrorMaker 2's driver and Connect's worker trim the list. A client does not. `secrets_dir`: see `Provider`.
    """
    listed = properties.get(_PROVIDERS, "")
    names = split_list(listed) if trims else listed.split(",")
    return {name: _provider(properties, f"{_PROVIDERS}.{name}.", secrets_dir) for name in names if name}


def resolve(properties: Mapping[str, str], providers: Providers | None = None) -> Resolved:
    """Look up every reference to one of these providers, or else to those that the properties declare for a client.

    Raises ConfigurationError where Kafka would.
    """
    known = declared(properties) if providers is None else providers
    secrets: set[str] = set()
    kept: dict[KeptReference, None] = {}
    resolved = {}
    for name, text in properties.items():

        def look_up(reference: re.Match[str], asked_by: str = name) -> str:
            provider, path, key = reference.groups(default="")
            value = known[provider].value(path, key, asked_by) if provider in known else None
            if value is None:
                secret = _secret_name(path) if provider in known and known[provider].is_without_folder else ""
                kept.update(dict.fromkeys(_kept(provider, asked_by, known, properties, secret)))
                return reference.group()
            secrets.add(value)
            return value

        with blamed(name):
            resolved[name] = _REFERENCE.sub(look_up, text)
    return Resolved(resolved, frozenset(secrets), tuple(kept))


def _kept(
    provider: str, asked_by: str, known: Providers, properties: Mapping[str, str], secret: str
) -> Iterator[KeptReference]:
    """Yield what to say of a reference; nothing for one of a provider itself, or of a client with its own providers."""
    row = f"{_PROVIDERS}.{provider}.class"
    if asked_by.startswith(_PROVIDERS) or any(name.endswith(f".{row}") for name in properties):
        return
    # text of an unknown provider may be a part of a password
    shown = f"${{{provider}:...}}"
    if secret:
        why = f"no --secrets.dir names the folder with a folder for {secret}"
    elif provider in known:
        why = "its provider has no value for it" if known[provider].class_name is not None else f"{row} is missing"
    elif provider in map(str.strip, known):
        why = f"blanks in {_PROVIDERS} are parts of the names, so leave them out"
    elif row in properties:
        why = f"{_PROVIDERS} does not list {provider}"
    else:
        shown, why = "${...}", f"{_PROVIDERS} names no such provider, so declare it there"
    yield KeptReference(asked_by, f"{asked_by} holds {shown}, which stays as it is written: {why}", secret)


def _provider(properties: Mapping[str, str], prefix: str, secrets_dir: str | None) -> Provider:
    row, of_parameters = f"{prefix}class", f"{prefix}param."
    parameters = {
        name.removeprefix(of_parameters): text for name, text in properties.items() if name.startswith(of_parameters)
    }
    return Provider(row, properties.get(row), parameters, secrets_dir)


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


def _secret_name(path: str) -> str:
    """Return the name behind the namespace."""
    return path.partition("/")[2] or path


def _from_secret(secrets_dir: str, path: str, key: str) -> str:
    """Return a key of the Secret that a `path` of NAMESPACE/SECRET names, or all keys of a pattern in their order."""
    name, folder = _secret_name(path), Path(secrets_dir)
    if not _SECRET_NAME.fullmatch(name) or not _SECRET_KEY.fullmatch(key):
        raise config_exception(f"{path}:{key} names no key of a Secret: write NAMESPACE/SECRET:KEY")
    files = [
        file
        for place in (folder / name, *sorted(folder.glob(f"{_OLDER_MOUNTS}{name}")))
        for file in sorted(place.glob(key))
        if file.is_file()
    ]
    if not files:
        raise config_exception(f"--secrets.dir has no {folder / name / key}: mount the Secret {name} there as a folder")
    try:
        return "\n".join(dict.fromkeys(file.read_text(encoding="utf-8", errors="replace") for file in files))
    except OSError as error:
        raise config_exception(f"Could not read the Secret {folder / name}: {error.strerror}") from None


def _is_allowed(parameters: Parameters, path: str) -> bool:
    allowed = _allowed_paths(parameters)
    wanted = Path(os.path.normpath(path))
    return not allowed or any(wanted.is_relative_to(folder) for folder in allowed)


def _allowed_paths(parameters: Parameters) -> list[Path]:
    folders = [Path(os.path.normpath(text)) for text in parameters.get("allowed.paths", "").split(",") if text]
    for folder in folders:
        if not folder.is_absolute():
            raise config_exception(f"Path {folder} is not absolute")
        if not folder.exists():
            raise config_exception(f"Path {folder} does not exist")
    return folders


_LOOKUPS: Mapping[str, AskProvider] = {
    FILE: _from_file,
    DIRECTORY: _from_directory,
    ENVIRONMENT: _from_environment,
    "io.strimzi.kafka.EnvVarConfigProvider": _from_environment,
}
