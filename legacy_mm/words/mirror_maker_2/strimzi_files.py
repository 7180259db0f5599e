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
from legacy_mm.words.java_clients.client_properties.known_logins import STRIMZI
from legacy_mm.words.java_clients.config_providers import DIRECTORY, ENVIRONMENT, FILE, KUBERNETES_SECRET
from legacy_mm.words.mirror_maker_2.connector_properties import BY_NAME, CONNECTORS, PACKAGE, ConnectorKind

SUFFIXES = (".yaml", ".yml")
ConnectorState = Literal["running", "paused", "stopped"]
_STATES: Mapping[str, ConnectorState] = {"running": "running", "paused": "paused", "stopped": "stopped"}
_KIND, _LIST = "KafkaMirrorMaker2", "List"
_BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
_SECRETS = "strimzisecrets"
_PROVIDERS: Mapping[str, str] = {
    "strimzienv": ENVIRONMENT,
    "strimzifile": FILE,
    "strimzidir": DIRECTORY,
    _SECRETS: KUBERNETES_SECRET,
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
_OF_CUSTOM_LOGIN = ("ssl.keystore.", "sasl.")
"""Beginnings of the keys that the operator passes on, or does not."""
_LOGIN_MODULES: Mapping[str, tuple[str, str]] = {
    "plain": ("PLAIN", "org.apache.kafka.common.security.plain.PlainLoginModule"),
    "scram-sha-256": ("SCRAM-SHA-256", "org.apache.kafka.common.security.scram.ScramLoginModule"),
    "scram-sha-512": ("SCRAM-SHA-512", "org.apache.kafka.common.security.scram.ScramLoginModule"),
}
_OAUTH_MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
_OAUTH_OPTIONS: Mapping[str, str] = {
    "clientId": "oauth.client.id",
    "username": "oauth.password.grant.username",
    "tokenEndpointUri": "oauth.token.endpoint.uri",
    "scope": "oauth.scope",
    "audience": "oauth.audience",
    "connectTimeoutSeconds": "oauth.connect.timeout.seconds",
    "readTimeoutSeconds": "oauth.read.timeout.seconds",
    "httpRetries": "oauth.http.retries",
    "httpRetryPauseMs": "oauth.http.retry.pause.millis",
    "maxTokenExpirySeconds": "oauth.max.token.expiry.seconds",
    "accessTokenLocation": "oauth.access.token.location",
    "clientAssertionLocation": "oauth.client.assertion.location",
    "clientAssertionType": "oauth.client.assertion.type",
}
_OAUTH_SECRETS: Mapping[str, tuple[str, str]] = {
    "clientSecret": ("oauth.client.secret", "key"),
    "accessToken": ("oauth.access.token", "key"),
    "refreshToken": ("oauth.refresh.token", "key"),
    "clientAssertion": ("oauth.client.assertion", "key"),
    "passwordSecret": ("oauth.password.grant.password", "password"),
}
"""Field of a login of type oauth -> the option of Strimzi's login; of a Secret, also the field with its key."""
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


class _Section:
    """A part of a resource, and its place in the file."""

    def __init__(self, given: object, place: str) -> None:
        if not isinstance(given, dict):
            raise ConfigurationError(f"{place} is not a section with fields: write it as Strimzi's API has it")
        self.given: Mapping[str, Any] = given
        self.place = place

    def section(self, name: str) -> _Section | None:
        """Return a section in it; None if it is not there."""
        given = self.given.get(name)
        return None if given is None else _Section(given, f"{self.place}.{name}")

    def required(self, name: str) -> _Section:
        """Return a section that has to be there."""
        if (found := self.section(name)) is None:
            raise ConfigurationError(f"{self.place}.{name} is missing: Strimzi requires it")
        return found

    def sections(self, name: str) -> list[_Section]:
        """Return the sections of a list; none if it is not there."""
        given = self.given.get(name) or []
        if not isinstance(given, list):
            raise ConfigurationError(f"{self.place}.{name} is not a list")
        return [_Section(each, f"{self.place}.{name}[{number}]") for number, each in enumerate(given)]

    def text(self, name: str) -> str:
        """Return a field that has to be there."""
        if self.given.get(name) is None:
            raise ConfigurationError(f"{self.place}.{name} is missing: Strimzi requires it")
        return self._scalar(name)

    def optional(self, *names: str) -> str | None:
        """Return the first of these fields that is there; None if none is."""
        return next((self._scalar(name) for name in names if self.given.get(name) is not None), None)

    def config(self) -> dict[str, str]:
        """Return the properties of its field `config`."""
        found = self.section("config")
        return {} if found is None else {str(name): found._scalar(name) for name in found.given}

    def _scalar(self, name: str) -> str:
        value = self.given[name]
        if isinstance(value, bool):
            return "true" if value else "false"
        if value is None or isinstance(value, dict | list):
            raise ConfigurationError(f"{self.place}.{name} is no text, number or boolean: write one")
        return str(value)


def _worker(path: str, resource: Mapping[str, Any]) -> WrittenWorker:
    whole = _Section(resource, path)
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


def _clusters(spec: _Section) -> tuple[_Section, dict[str, _Section]]:
    """Return the target of a resource, and in the older layout its clusters by their aliases."""
    clusters = {each.text("alias"): each for each in spec.sections("clusters")}
    if (target := spec.section("target")) is not None:
        return target, clusters
    alias = spec.text("connectCluster") if clusters else spec.text("target")
    if alias not in clusters:
        raise ConfigurationError(f"{spec.place}.connectCluster={alias} is not in {spec.place}.clusters: add it there")
    return clusters[alias], clusters


def _source(mirror: _Section, clusters: Mapping[str, _Section], target: _Section) -> _Section:
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


def _worker_properties(target: _Section, namespace: str, rack: Mapping[str, str], said: list[str]) -> dict[str, str]:
    config = target.config()
    named = {
        name: target.optional(of_target) or config.get(name, default)
        for name, (of_target, default) in _OF_WORKER.items()
    }
    converters = dict.fromkeys(("key.converter", "value.converter", "header.converter"), _BYTES)
    security = _security(target, namespace)
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
        **{f"{client}{name}": text for client in _CLIENTS for name, text in security.items()},
        **_prefixed("consumer.", rack),
        **converters,
        **own,
        "config.providers": ",".join((listed, *_PROVIDERS)),
        **providers,
    }


def _cluster_properties(cluster: _Section, namespace: str) -> dict[str, str]:
    named = {"alias": cluster.text("alias"), "bootstrap.servers": cluster.text("bootstrapServers")}
    own = {name: text for name, text in cluster.config().items() if name not in _OF_WORKER}
    return {**named, **_security(cluster, namespace), **own}


def _connector_properties(section: _Section, said: list[str]) -> dict[str, str]:
    config = section.config()
    if dropped := [name for name in config if name.lower() in _NOT_OF_CONNECTOR]:
        said.append(f"{section.place}.config: {', '.join(dropped)}: Strimzi passes them to no connector")
    tasks = section.optional("tasksMax")
    kept = {name: text for name, text in config.items() if name not in dropped}
    return kept if tasks is None else {**kept, "tasks.max": tasks}


def _patterns(mirror: _Section, kind: ConnectorKind) -> dict[str, str]:
    """Return what a connector reads of the patterns; the operator gives all of them to each."""
    found = {name: mirror.optional(*fields) for name, fields in _PATTERNS.items() if BY_NAME[name].belongs_to(kind)}
    return {name: text for name, text in found.items() if text is not None}


def _state(section: _Section) -> ConnectorState:
    given = section.optional("state")
    if given is None:
        return "paused" if section.optional("pause") == "true" else "running"
    if (state := _STATES.get(given.lower())) is None:
        raise ConfigurationError(f"{section.place}.state={given} is not possible: choose {', '.join(_STATES)}")
    return state


def _security(cluster: _Section, namespace: str) -> dict[str, str]:
    """Return the client properties for TLS and the login of a cluster."""
    tls, login = cluster.section("tls"), cluster.section("authentication")
    found: dict[str, str] = {}
    if tls is not None and (trusted := tls.sections("trustedCertificates")):
        found["ssl.truststore.certificates"] = "\n".join(
            _secret(each, each.optional("certificate", "pattern") or each.text("certificate"), namespace)
            for each in trusted
        )
        found["ssl.truststore.type"] = "PEM"
    uses_sasl = False
    if login is not None:
        uses_sasl, of_login = _login(login, namespace)
        found |= of_login
    encryption = "PLAINTEXT" if tls is None else "SSL"
    return {**found, "security.protocol": f"SASL_{encryption}" if uses_sasl else encryption}


def _login(login: _Section, namespace: str) -> tuple[bool, dict[str, str]]:
    """Return True for SASL, and the properties of a login."""
    kind = login.text("type")
    if kind == "tls":
        store = login.required("certificateAndKey")
        return False, {
            "ssl.keystore.certificate.chain": _secret(store, store.text("certificate"), namespace),
            "ssl.keystore.key": _secret(store, store.text("key"), namespace),
            "ssl.keystore.type": "PEM",
        }
    if kind == "custom":
        own = {name: text for name, text in login.config().items() if name.lower().startswith(_OF_CUSTOM_LOGIN)}
        return login.optional("sasl") == "true", own
    if kind == "oauth":
        return True, _oauth(login, namespace)
    if kind not in _LOGIN_MODULES:
        possible = ", ".join(("tls", *_LOGIN_MODULES, "oauth", "custom"))
        raise ConfigurationError(
            f"{login.place}.type={kind} is not possible: possible are {possible}; with custom, config holds the sasl. "
            "properties of any login that Kafka's clients know"
        )
    mechanism, module = _LOGIN_MODULES[kind]
    password = login.required("passwordSecret")
    words = f'username="{login.text("username")}" password="{_secret(password, password.text("password"), namespace)}"'
    return True, {"sasl.mechanism": mechanism, "sasl.jaas.config": f"{module} required {words};"}


def _oauth(login: _Section, namespace: str) -> dict[str, str]:
    """Return the properties of a token login, whose options are judged where a client's properties are read."""
    if login.sections("tlsTrustedCertificates"):
        raise ConfigurationError(
            f"{login.place}.tlsTrustedCertificates is not possible: write type custom with sasl: true, and in its "
            "config a sasl.jaas.config with the option oauth.ssl.truststore.location"
        )
    options = {option: text for name, option in _OAUTH_OPTIONS.items() if (text := login.optional(name)) is not None}
    for name, (option, key) in _OAUTH_SECRETS.items():
        if (secret := login.section(name)) is not None:
            options[option] = _secret(secret, secret.text(key), namespace)
    if (extensions := login.section("saslExtensions")) is not None:
        options |= {f"oauth.sasl.extension.{name}": extensions.text(name) for name in extensions.given}
    if login.optional("disableTlsHostnameVerification") == "true":
        options["oauth.ssl.endpoint.identification.algorithm"] = ""
    words = " ".join(f'{option}="{text}"' for option, text in options.items())
    return {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.jaas.config": f"{_OAUTH_MODULE} required {words};",
        "sasl.login.callback.handler.class": STRIMZI,
    }


def _secret(named: _Section, key: str, namespace: str) -> str:
    """Return a reference to a key of a Secret."""
    return f"${{{_SECRETS}:{namespace}/{named.text('secretName')}:{key}}}"


def _rack(path: str, spec: _Section, said: list[str]) -> dict[str, str]:
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


def _without_effect(path: str, spec: _Section) -> Iterator[str]:
    """Yield a sentence for each field that has no effect here."""
    given = [name for name, value in spec.given.items() if value is not None and name not in _MEANT]
    if of_pods := [f"spec.{name}" for name in given if name in _OF_PODS]:
        yield f"{path}: {', '.join(of_pods)}: for pods, and without effect here"
    for name in given:
        if name in _ELSEWHERE and (name != "replicas" or spec.given[name] != 1):
            yield f"{path}: spec.{name} has no effect here: {_ELSEWHERE[name]}"
    if unknown := [f"spec.{name}" for name in given if name not in (*_OF_PODS, *_ELSEWHERE)]:
        yield f"{path}: {', '.join(unknown)}: Strimzi has no such field, and nothing reads it here"


def _of_operator(section: _Section) -> Iterator[str]:
    if given := [name for name in _OF_OPERATOR if section.given.get(name) is not None]:
        yield f"{section.place}: {', '.join(given)}: for Strimzi's operator, and without effect here"
