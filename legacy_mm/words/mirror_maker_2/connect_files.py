"""Files of Kafka Connect, and of Strimzi: a worker's properties, and MirrorMaker 2's connectors; flows out.

Connectors with the same aliases and the same source are one flow.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.redaction import known_secrets
from legacy_mm.words.java_clients import config_providers, properties_file
from legacy_mm.words.java_clients.client_properties.apply import Hide
from legacy_mm.words.java_clients.config_providers import Resolved
from legacy_mm.words.mirror_maker_2 import strimzi_files
from legacy_mm.words.mirror_maker_2.connect_line import ConnectLine
from legacy_mm.words.mirror_maker_2.connector_properties import (
    BY_NAME,
    CONNECTORS,
    CONVERTER_FAMILIES,
    FLOW_PREFIXES,
    OF_SOURCE_CONNECTORS,
    OPEN_FAMILIES,
    ConnectorKind,
    flags_among,
    is_client_name,
    is_own_flag,
    kind_of,
)
from legacy_mm.words.mirror_maker_2.driver_file import PROVIDERS, Pair
from legacy_mm.words.mirror_maker_2.file_lines import FileLines, Place
from legacy_mm.words.mirror_maker_2.flow_reading import OFF, FlowReading
from legacy_mm.words.mirror_maker_2.left_out import rest_remarks
from legacy_mm.words.mirror_maker_2.strimzi_files import ConnectorState, WrittenWorker
from legacy_mm.words.options.option_catalogue import OwnOptions

_CLASS, _NAME = "connector.class", "name"
_NO_OPTIONS = OwnOptions()
_ALIASES = ("source.cluster.alias", "target.cluster.alias")


@dataclass(frozen=True, slots=True)
class ConnectorFile:
    """One connector as its file has it, references looked up."""

    path: str
    kind: ConnectorKind
    properties: Mapping[str, str] = field(repr=False)
    kept: tuple[str, ...] = ()
    """Sentences about references that nobody looks up."""
    written: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The configuration with its references."""
    state: ConnectorState = "running"
    """The state that its file wants; one that does not run has no part in a flow."""

    @property
    def name(self) -> str:
        """The name of the connector: its own, or that of its class."""
        return self.properties.get(_NAME, "").strip() or CONNECTORS[self.kind]

    @property
    def pair(self) -> Pair:
        """The flow of which it is."""
        return Pair(*(self.properties.get(alias, BY_NAME[alias].default).strip() for alias in _ALIASES))

    @property
    def key(self) -> tuple[str, ...]:
        """The aliases and the source that connectors of one flow have in common."""
        given = self.properties
        return tuple(given.get(name, "").strip() for name in (*_ALIASES, "source.cluster.bootstrap.servers"))

    @property
    def unknown(self) -> tuple[str, ...]:
        """The keys that no connector of MirrorMaker 2 and no client gets."""
        return tuple(key for key in self.properties if not _is_known(key))

    @property
    def of_others(self) -> tuple[str, ...]:
        """The keys of another connector of MirrorMaker 2."""
        rows = (BY_NAME[key] for key in self.properties if key in BY_NAME)
        return tuple(row.name for row in rows if not row.belongs_to(self.kind))


@dataclass(frozen=True, slots=True)
class ConnectFiles:
    """A worker's properties and its connectors, references looked up."""

    worker: Mapping[str, str] = field(repr=False)
    connectors: Sequence[ConnectorFile]
    kept: tuple[str, ...]
    """Sentences about references that nobody looks up."""
    said: tuple[str, ...] = ()
    """Sentences about what has no effect here."""
    beside: Sequence[ConnectFiles] = ()
    """Further workers of the same command, each with its connectors."""
    secrets_dir: str | None = None
    """The folder of the Secrets to which a changed connector may refer; see `Provider`."""
    distributed: bool = False
    """True: the connectors are those of the worker's topic of configurations, which nobody has read yet."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences for the start: what has no effect, references that nobody looks up, ports that are not opened."""
        own = (*self.said, *self.kept, *rest_remarks(self.worker), *map(_idle, self._not_running))
        return (*own, *(text for each in self.beside for text in each.remarks))

    @property
    def all_connectors(self) -> tuple[ConnectorFile, ...]:
        """The connectors of all workers."""
        return (*self.connectors, *(connector for each in self.beside for connector in each.all_connectors))

    def with_flags(self, flags: Mapping[str, str]) -> ConnectFiles:
        """Return these files with options for all flows, as lines of their workers."""
        return replace(self, worker={**self.worker, **flags}, beside=[each.with_flags(flags) for each in self.beside])

    def flows(self, options: OwnOptions = _NO_OPTIONS) -> list[FlowReading]:
        """Return the flows; raises ConfigurationError for two connectors of one kind in a flow, or if none runs.

        Where `options` open the admin port, or the connectors come later, those that are not to run are flows, too.
        """
        workers = (self, *self.beside)
        found = [reading for each in workers for reading in flows_of(each.worker, each.running)]
        has_port = options.admin_port is not None
        if not found and (self.distributed or (has_port and (self.all_connectors or options.admin_actions))):
            return [reading for each in workers for reading in flows_of(each.worker, each.connectors)]
        if not found and not self.all_connectors:
            raise ConfigurationError(
                "no connector is named: name the file of one, or let them come by --admin.port NUMBER, with "
                "--admin.actions true"
            )
        if not found:
            said = "; ".join(map(_idle, self.all_connectors))
            raise ConfigurationError(f"nothing would run: {said}; with --admin.port it starts, and they can be resumed")
        return found

    @property
    def running(self) -> list[ConnectorFile]:
        """The connectors that are to run."""
        return [each for each in self.connectors if each.state == "running"]

    @property
    def _not_running(self) -> list[ConnectorFile]:
        return [each for each in self.connectors if each.state != "running"]


def _idle(connector: ConnectorFile) -> str:
    return f"{connector.path} is {connector.state} by its file, and does not run"


def load(line: ConnectLine, hide: Hide = lambda secrets: None, *, needs_secrets: bool = True) -> ConnectFiles:
    """Read the files of a command line; raises ConfigurationError. `hide` takes secrets as soon as they are known.

    Without `needs_secrets` a Secret whose folder nobody names stays a reference.
    """
    named = line.secrets_dir if line.secrets_dir or not needs_secrets else None
    if line.resources:
        first, *beside = [
            _of_resource(each, hide, named) for path in line.resources for each in strimzi_files.load(path)
        ]
        return replace(first, beside=beside, secrets_dir=named)
    worker = load_worker(line.worker, hide, named)
    connectors = [load_connector(path, worker.properties, hide, named) for path in line.connectors]
    kept = (*_notes(line.worker, worker), *(note for each in connectors for note in each.kept))
    return ConnectFiles(worker.properties, connectors, kept, secrets_dir=named, distributed=line.distributed)


def _of_resource(resource: WrittenWorker, hide: Hide, secrets_dir: str | None) -> ConnectFiles:
    worker = _resolved_worker(resource.properties, hide, secrets_dir)
    connectors = [
        replace(
            connector_of(f"{resource.path} {each.name}", each.properties, worker.properties, hide, secrets_dir),
            state=each.state,
        )
        for each in resource.connectors
    ]
    kept = (*_notes(resource.path, worker), *(note for each in connectors for note in each.kept))
    return ConnectFiles(worker.properties, connectors, kept, tuple(resource.said))


def load_worker(path: str, hide: Hide = lambda secrets: None, secrets_dir: str | None = None) -> Resolved:
    """Read a worker's properties; raises ConfigurationError with Java's words. `secrets_dir`: see `Provider`."""
    return _resolved_worker(properties_file.load(path).properties, hide, secrets_dir)


def _resolved_worker(written: Mapping[str, str], hide: Hide, secrets_dir: str | None) -> Resolved:
    providers = config_providers.declared(written, trims=True, secrets_dir=secrets_dir)
    return _hidden(config_providers.resolve(written, providers), hide)


def load_connector(
    path: str, worker: Mapping[str, str], hide: Hide = lambda secrets: None, secrets_dir: str | None = None
) -> ConnectorFile:
    """Read the file of a connector; raises ConfigurationError."""
    given = _json(path) if path.endswith(".json") else dict(properties_file.load(path).properties)
    return connector_of(path, given, worker, hide, secrets_dir)


def connector_of(
    path: str,
    given: Mapping[str, str],
    worker: Mapping[str, str],
    hide: Hide = lambda secrets: None,
    secrets_dir: str | None = None,
) -> ConnectorFile:
    """Return a connector, whose references the worker's providers look up, or its own; raises ConfigurationError.

    `path` is where the configuration is from.
    """
    read = _hidden(looked_up(given, worker, secrets_dir), hide)
    properties = read.properties
    class_name = properties.get(_CLASS, "").strip()
    if (kind := kind_of(class_name)) is None:
        possible = ", ".join(CONNECTORS.values())
        raise ConfigurationError(
            f"{path}: {_CLASS}={class_name} is not a connector of MirrorMaker 2: possible are {possible}"
        )
    return ConnectorFile(path, kind, properties, tuple(_notes(path, read)), given)


def looked_up(given: Mapping[str, str], worker: Mapping[str, str], secrets_dir: str | None) -> Resolved:
    """Look up the references of a connector's configuration; raises ConfigurationError."""
    providers = {
        **config_providers.declared(given, secrets_dir=secrets_dir),
        **config_providers.declared(worker, trims=True, secrets_dir=secrets_dir),
    }
    return config_providers.resolve(given, providers)


def _hidden(read: Resolved, hide: Hide) -> Resolved:
    """Hide the secrets before an error can quote them."""
    hide(read.secrets.union(known_secrets(read.properties)))
    return read


def _notes(path: str, read: Resolved) -> Iterator[str]:
    """Yield a sentence for each reference that nobody looks up, and one for all Secrets without a folder."""
    yield from (f"{path}: {each.reason}" for each in read.kept if not each.secret)
    if secrets := dict.fromkeys(each.secret for each in read.kept if each.secret):
        yield (
            f"{path}: no --secrets.dir names the folder that has a folder for each Secret, and without it the start is "
            f"refused: {', '.join(secrets)}"
        )


def flows_of(worker: Mapping[str, str], connectors: Sequence[ConnectorFile]) -> list[FlowReading]:
    """Return the flows of a worker's connectors; raises ConfigurationError for two connectors of one kind in a flow."""
    grouped: dict[tuple[str, ...], dict[ConnectorKind, ConnectorFile]] = {}
    for each in connectors:
        flow = grouped.setdefault(each.key, {})
        if each.kind in flow:
            raise ConfigurationError(
                f"{flow[each.kind].path} and {each.path} are both a {CONNECTORS[each.kind]} of one flow: give each "
                "flow aliases of its own"
            )
        flow[each.kind] = each
    return [_reading(worker, flow) for flow in grouped.values()]


def _reading(worker: Mapping[str, str], flow: Mapping[ConnectorKind, ConnectorFile]) -> FlowReading:
    of_one = next(iter(flow.values()))
    first, pair = of_one.properties, of_one.pair
    shared = {name: text for name, text in first.items() if name in _ALIASES or name.startswith("replication.policy")}
    clusters = {name: text for name, text in first.items() if ".cluster." in name}
    properties = {
        kind: flow[kind].properties if kind in flow else {**shared, **clusters, **OFF[kind]} for kind in CONNECTORS
    }
    properties["source"] = {**flags_among(worker), **properties["source"]}
    own = [Place(f"{each.path}: ", each.properties) for each in flow.values()]
    lines = FileLines(own, general=(Place("the worker's ", worker),))
    return FlowReading(pair, properties, worker, present=frozenset(flow), lines=lines, shares_group=True)


def _json(path: str) -> dict[str, str]:
    """Read the body of a request to Connect: a configuration, or a name with one. Raise ConfigurationError."""
    try:
        body = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise ConfigurationError(f"{path} is not JSON: {error}") from error
    config = body.get("config", body) if isinstance(body, dict) else None
    if not isinstance(config, dict):
        raise ConfigurationError(f"{path} has no configuration of a connector: write an object with {_CLASS}")
    named = {_NAME: body[_NAME]} if "config" in body and _NAME in body else {}
    return {key: text if isinstance(text, str) else json.dumps(text) for key, text in {**named, **config}.items()}


def _is_known(key: str) -> bool:
    known = key in BY_NAME or key in OF_SOURCE_CONNECTORS or is_own_flag(key) or is_client_name(key)
    return known or key.startswith((*FLOW_PREFIXES, *OPEN_FAMILIES, *CONVERTER_FAMILIES, PROVIDERS))
