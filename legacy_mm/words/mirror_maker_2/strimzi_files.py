"""Strimzi's resource `KafkaMirrorMaker2`, in YAML: what its operator writes for a worker and for its connectors.

Source: the operator from 0.45 (resources of v1beta2, v1alpha1) to 1.3 (resources of v1), which turns the older layout
into the newer one. A Secret is named by a reference, which `config_providers` looks up in a folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import yaml

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.words.java_clients.config_providers import DIRECTORY, ENVIRONMENT, FILE, KUBERNETES_SECRET
from legacy_mm.words.mirror_maker_2.connector_properties import BY_NAME, CONNECTORS, PACKAGE, ConnectorKind
from legacy_mm.words.mirror_maker_2.strimzi_logins import SECRETS, security
from legacy_mm.words.mirror_maker_2.strimzi_section import Section

SUFFIXES = (".yaml", ".yml")
ConnectorState = Literal["running", "paused", "stopped"]
_STATES: Mapping[str, ConnectorState] = {"running": "running", "paused": "paused", "stopped": "stopped"}
_KIND, _LIST = "KafkaMirrorMaker2", "List"
_BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
_PROVIDERS: Mapping[str, str] = {
    "strimzienv": ENVIRONMENT,
    "strimzifile": FILE,
    "strimzidir": DIRECTORY,
    SECRETS: KUBERNETES_SECRET,
}
_SECTIONS: Mapping[ConnectorKind, str] = {
    "source": "sourceConnector",
    "heartbeat": "heartbeatConnector",
    "checkpoint": "checkpointConnector",
}
_OF_WORKER: Mapping[str, tuple[str, str]] = {
    "group.id": ("groupId", "mirrormaker2-cluster"),
    "config.storage.topic": ("configStorageTopic", "mirrormaker2-cluster-configs"),
    "offset.storage.topic": ("offsetStorageTopic", "mirrormaker2-cluster-offsets"),
    "status.storage.topic": ("statusStorageTopic", "mirrormaker2-cluster-status"),
}
"""Property -> its field in `spec.target`, and what it is in the older layout, where `config` does not say."""
_PATTERNS: Mapping[str, tuple[str, ...]] = {
    "topics": ("topicsPattern",),
    "topics.exclude": ("topicsExcludePattern", "topicsBlacklistPattern"),
    "groups": ("groupsPattern",),
    "groups.exclude": ("groupsExcludePattern", "groupsBlacklistPattern"),
}
"""Property -> the fields of a mirror that win over the connectors' `config`; the first that is there counts."""
_NOT_OF_WORKER = (
    *_OF_WORKER,
    "ssl.",
    "sasl.",
    "security.",
    "listeners",
    "plugin.path",
    "rest.",
    "bootstrap.servers",
    "consumer.interceptor.classes",
    "producer.interceptor.classes",
)
_OF_WORKER_ALL_THE_SAME = (
    "ssl.endpoint.identification.algorithm",
    "ssl.cipher.suites",
    "ssl.protocol",
    "ssl.enabled.protocols",
)
_NOT_OF_CONNECTOR = ("name", "connector.class", "tasks.max", "connector.plugin.version")
"""Beginnings of the keys that the operator passes on, or does not."""
_CLIENTS = ("", "producer.", "consumer.", "admin.")
_MEANT = ("target", "mirrors", "clusters", "connectCluster", "rack")
_ELSEWHERE: Mapping[str, str] = {
    "replicas": "start the command once for each replica: the processes of a group share the work",
    "jvmOptions": "KAFKA_HEAP_OPTS and KAFKA_OPTS hold the options of Java",
    "jmxOptions": "JMX_PORT opens Java's port of beans",
    "logging": "KAFKA_LOG4J_OPTS names a file of loggers",
    "metricsConfig": "--metrics.port NUMBER opens a port with metrics",
    "tracing": "records are not traced",
    "externalConfiguration": "its variables and files are those of this process",
}
"""Fields of `spec` without effect here -> what takes their place."""
_OF_PODS = ("version", "image", "resources", "livenessProbe", "readinessProbe", "clientRackInitImage", "template")
_OF_OPERATOR = ("autoRestart", "listOffsets", "alterOffsets", "version")
"""Fields of a connector that only tell the operator what to do."""


@dataclass(frozen=True, slots=True)
class WrittenConnector:
    """A connector as the operator gives it to Connect."""

    properties: Mapping[str, str] = field(repr=False)
    state: ConnectorState

    @property
    def name(self) -> str:
        """The name, which tells the flow and the kind."""
        return self.properties["name"]


@dataclass(frozen=True, slots=True)
class WrittenWorker:
    """A resource: the properties of its worker, and its connectors."""

    path: str
    properties: Mapping[str, str] = field(repr=False)
    connectors: Sequence[WrittenConnector]
    said: Sequence[str]
    """Sentences about what has no effect here."""


def is_resource(path: str) -> bool:
    """Return True for the name of a file with Strimzi's resources."""
    return path.endswith(SUFFIXES)


def load(path: str) -> list[WrittenWorker]:
    """Read the resources of a file, of one or more documents; raises ConfigurationError."""
    try:
        documents = list(yaml.safe_load_all(Path(path).read_text(encoding="utf-8")))
    except OSError as error:
        raise ConfigurationError(f"{path}: {error.strerror}") from error
    except yaml.MarkedYAMLError as error:
        raise ConfigurationError(f"{path} is not YAML: {_fault(error)}") from None
    except (yaml.YAMLError, ValueError):
        raise ConfigurationError(f"{path} is not YAML: it holds characters that no YAML has") from None
    resources = [each for each in _items(documents) if each.get("kind") == _KIND]
    if not resources:
        raise ConfigurationError(f"{path} has no resource of kind {_KIND}: name a file with one")
    return [_worker(path, each) for each in resources]


def _fault(error: yaml.MarkedYAMLError) -> str:
    """Return what is wrong, and where, without the text itself, which may hold a secret."""
    places = (error.context, error.context_mark), (error.problem, error.problem_mark)
    said = [text if mark is None else f"{text}, line {mark.line + 1}" for text, mark in places if text]
    return "; ".join(said)


def _items(documents: Sequence[object]) -> Iterator[Mapping[str, Any]]:
    for each in documents:
        if isinstance(each, dict) and each.get("kind") == _LIST:
            yield from _items(each.get("items") or ())
        elif isinstance(each, dict):
            yield each


def _worker(path: str, resource: Mapping[str, Any]) -> WrittenWorker:
    whole = Section(resource, path)
    metadata, spec = whole.section("metadata"), whole.required("spec")
    namespace = (metadata and metadata.optional("namespace")) or "default"
    said = list(_without_effect(path, spec))
    target, sources = _clusters(spec)
    rack = _rack(path, spec, said)
    properties = _worker_properties(target, namespace, rack, said)
    connectors = []
    for mirror in spec.sections("mirrors"):
        source = _source(mirror, sources, target)
        clusters = {
            **_prefixed("target.cluster.", _cluster_properties(target, namespace)),
            **_prefixed("source.cluster.", _cluster_properties(source, namespace)),
        }
        flow = f"{source.text('alias')}->{target.text('alias')}"
        for kind, name in _SECTIONS.items():
            if (section := mirror.section(name)) is not None:
                said += _of_operator(section)
                own = _connector_properties(section, said)
                over = {**_patterns(mirror, kind), **_prefixed("consumer.", rack)}
                naming = {"name": f"{flow}.{CONNECTORS[kind]}", "connector.class": PACKAGE + CONNECTORS[kind]}
                connectors.append(WrittenConnector({**clusters, **own, **over, **naming}, _state(section)))
    if not connectors:
        raise ConfigurationError(f"{spec.place}.mirrors has no connector: Strimzi would run none")
    return WrittenWorker(path, properties, connectors, tuple(dict.fromkeys(said)))


def _clusters(spec: Section) -> tuple[Section, dict[str, Section]]:
    """Return the target of a resource, and in the older layout its clusters by their aliases."""
    clusters = {each.text("alias"): each for each in spec.sections("clusters")}
    if (target := spec.section("target")) is not None:
        return target, clusters
    alias = spec.text("connectCluster") if clusters else spec.text("target")
    if alias not in clusters:
        raise ConfigurationError(f"{spec.place}.connectCluster={alias} is not in {spec.place}.clusters: add it there")
    return clusters[alias], clusters


def _source(mirror: Section, clusters: Mapping[str, Section], target: Section) -> Section:
    to = mirror.optional("targetCluster")
    if to is not None and to != target.text("alias"):
        raise ConfigurationError(
            f"{mirror.place}.targetCluster={to} is not the target {target.text('alias')}: write a resource for each "
            "target"
        )
    if (source := mirror.section("source")) is not None:
        return source
    alias = mirror.text("sourceCluster")
    if alias not in clusters:
        raise ConfigurationError(f"{mirror.place}.sourceCluster={alias} is not in spec.clusters: add it there")
    return clusters[alias]


def _worker_properties(target: Section, namespace: str, rack: Mapping[str, str], said: list[str]) -> dict[str, str]:
    config = target.config()
    named = {
        name: target.optional(of_target) or config.get(name, default)
        for name, (of_target, default) in _OF_WORKER.items()
    }
    converters = dict.fromkeys(("key.converter", "value.converter", "header.converter"), _BYTES)
    of_login = security(target, namespace)
    own, dropped = {}, []
    for name, text in config.items():
        if name.lower().startswith(_NOT_OF_WORKER) and name not in _OF_WORKER_ALL_THE_SAME:
            dropped += [] if name in named and not target.optional(_OF_WORKER[name][0]) else [name]
        else:
            own[name] = text
    if dropped:
        said.append(f"{target.place}.config: {', '.join(dropped)}: Strimzi passes them to no worker, and neither do we")
    providers = {f"config.providers.{name}.class": text for name, text in _PROVIDERS.items()}
    listed = own.pop("config.providers", "")
    if not listed:
        listed, own = "file", {"config.providers.file.class": FILE, **own}
    return {
        "bootstrap.servers": target.text("bootstrapServers"),
        **named,
        **{f"{client}{name}": text for client in _CLIENTS for name, text in of_login.items()},
        **_prefixed("consumer.", rack),
        **converters,
        **own,
        "config.providers": ",".join((listed, *_PROVIDERS)),
        **providers,
    }


def _cluster_properties(cluster: Section, namespace: str) -> dict[str, str]:
    named = {"alias": cluster.text("alias"), "bootstrap.servers": cluster.text("bootstrapServers")}
    own = {name: text for name, text in cluster.config().items() if name not in _OF_WORKER}
    return {**named, **security(cluster, namespace), **own}


def _connector_properties(section: Section, said: list[str]) -> dict[str, str]:
    config = section.config()
    if dropped := [name for name in config if name.lower() in _NOT_OF_CONNECTOR]:
        said.append(f"{section.place}.config: {', '.join(dropped)}: Strimzi passes them to no connector")
    tasks = section.optional("tasksMax")
    kept = {name: text for name, text in config.items() if name not in dropped}
    return kept if tasks is None else {**kept, "tasks.max": tasks}


def _patterns(mirror: Section, kind: ConnectorKind) -> dict[str, str]:
    """Return what a connector reads of the patterns; the operator gives all of them to each."""
    found = {name: mirror.optional(*fields) for name, fields in _PATTERNS.items() if BY_NAME[name].belongs_to(kind)}
    return {name: text for name, text in found.items() if text is not None}


def _state(section: Section) -> ConnectorState:
    given = section.optional("state")
    if given is None:
        return "paused" if section.optional("pause") == "true" else "running"
    if (state := _STATES.get(given.lower())) is None:
        raise ConfigurationError(f"{section.place}.state={given} is not possible: choose {', '.join(_STATES)}")
    return state


def _rack(path: str, spec: Section, said: list[str]) -> dict[str, str]:
    """Return the rack of the consumers, where a variable of the environment has it."""
    if (rack := spec.section("rack")) is None:
        return {}
    if variable := rack.optional("envVarName"):
        return {"client.rack": f"${{strimzienv:{variable}}}"}
    said.append(
        f"{path}: spec.rack: nobody asks Kubernetes for the zone of a node here; write consumer.client.rack=ZONE into "
        "the config of the source connector"
    )
    return {}


def _prefixed(prefix: str, properties: Mapping[str, str]) -> dict[str, str]:
    return {f"{prefix}{name}": text for name, text in properties.items()}


def _without_effect(path: str, spec: Section) -> Iterator[str]:
    """Yield a sentence for each field that has no effect here."""
    given = [name for name, value in spec.given.items() if value is not None and name not in _MEANT]
    if of_pods := [f"spec.{name}" for name in given if name in _OF_PODS]:
        yield f"{path}: {', '.join(of_pods)}: for pods, and without effect here"
    for name in given:
        if name in _ELSEWHERE and (name != "replicas" or spec.given[name] != 1):
            yield f"{path}: spec.{name} has no effect here: {_ELSEWHERE[name]}"
    if unknown := [f"spec.{name}" for name in given if name not in (*_OF_PODS, *_ELSEWHERE)]:
        yield f"{path}: {', '.join(unknown)}: Strimzi has no such field, and nothing reads it here"


def _of_operator(section: Section) -> Iterator[str]:
    if given := [name for name in _OF_OPERATOR if section.given.get(name) is not None]:
        yield f"{section.place}: {', '.join(given)}: for Strimzi's operator, and without effect here"
