"""MirrorMaker 2's driver file: clusters, flows, and the properties that reach each connector and worker.

The rules are those of MirrorMakerConfig (Kafka 3.9): a key of a flow, `A->B.x`, over one of a cluster, `A.x`, over one
of the top level, and each only where the driver hands it on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.option import split_list
from legacy_mm.base.redaction import known_secrets
from legacy_mm.words.mirror_maker_2.connector_properties import (
    BY_NAME,
    CLIENT_FAMILIES,
    CONNECTORS,
    PACKAGE,
    ConnectorKind,
    is_client_name,
    java_boolean,
)
from legacy_mm.words.mirror_maker_2.file_lines import FileLines, Place

CLUSTERS = "clusters"
PROVIDERS = "config.providers"
WORKER_PREFIXES = (
    "offset.storage",
    "config.storage",
    "status.storage",
    "key.converter",
    "value.converter",
    "header.converter",
    "task",
    "worker",
    "replication.policy",
)
"""Beginnings of top-level keys that reach every worker."""
HEARTBEATS = "emit.heartbeats.enabled"
_POLICY = "replication.policy"
_SERVERS = "bootstrap.servers"


@dataclass(frozen=True, slots=True)
class Pair:
    """A flow: the aliases of its source and of its target."""

    source: str
    target: str

    def __str__(self) -> str:
        return f"{self.source}->{self.target}"

    @property
    def prefix(self) -> str:
        """The beginning of its own keys."""
        return f"{self}."


class NoFlows(ConfigurationError):
    """The driver has nothing to run."""


@dataclass(frozen=True, slots=True)
class DriverFile:
    """The properties of one file, as Java reads them, references looked up."""

    properties: Mapping[str, str] = field(repr=False)
    served: Sequence[str] = ()
    """`--clusters`: the targets of this node; empty: all."""
    looked_up: frozenset[str] = field(default=frozenset(), repr=False)
    """Values that references stood for."""
    kept: tuple[str, ...] = ()
    """Sentences about references that nobody looks up."""
    places: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Key -> the file and the line where it stands."""

    @property
    def secrets(self) -> frozenset[str]:
        """Values that no line may show."""
        return self.looked_up.union(known_secrets(self.properties))

    @property
    def clusters(self) -> tuple[str, ...]:
        """The aliases, each once; raises ConfigurationError without any."""
        if CLUSTERS not in self.properties:
            raise ConfigurationError(
                f'org.apache.kafka.common.config.ConfigException: Missing required configuration "{CLUSTERS}" which '
                "has no default value."
            )
        return tuple(dict.fromkeys(split_list(self.properties[CLUSTERS])))

    def pairs(self) -> list[Pair]:
        """Return the flows that this node has a herder for; raises ConfigurationError if there is none.

        A flow that is off has one, too, where heartbeats are on.
        """
        found = [pair for pair in self.all_pairs() if not self.served or pair.target in self.served]
        if not found:
            raise NoFlows("java.lang.IllegalArgumentException: No source->target replication flows.")
        return found

    def all_pairs(self) -> list[Pair]:
        """Return the flows of all nodes that run this file."""
        aliases = self.clusters
        pairs = [Pair(source, target) for source in aliases for target in aliases if source != target]
        return [pair for pair in pairs if self.enabled(pair) or self._has_heartbeats(pair)]

    def aliases_or_none(self) -> tuple[str, ...]:
        """Return the aliases, none where the file names none."""
        return self.clusters if CLUSTERS in self.properties else ()

    def pairs_or_none(self, *, all_nodes: bool = False) -> list[Pair]:
        """Return `pairs`, or `all_pairs`; none where the driver would end."""
        try:
            return self.all_pairs() if all_nodes else self.pairs()
        except ConfigurationError:
            return []

    def enabled(self, pair: Pair) -> bool:
        """Return what the driver reads of `A->B.enabled`, blanks and all."""
        return java_boolean(self.properties.get(f"{pair.prefix}enabled"))

    def _has_heartbeats(self, pair: Pair) -> bool:
        own, top = f"{pair.prefix}{HEARTBEATS}", self.properties.get(HEARTBEATS, "true")
        return java_boolean(self.properties.get(own, top))

    def cluster(self, alias: str) -> dict[str, str]:
        """Return the properties of a cluster: its own, and the top level's connection and security.

        Connection and security also stand there for each kind of client, as `producer.x`.
        """
        found = self._stripped(f"{alias}.")
        top = {name: text for name, text in self.properties.items() if is_client_name(name)}
        for names in (dict(found), top):
            for name, text in names.items():
                if is_client_name(name):
                    for client in CLIENT_FAMILIES:
                        found.setdefault(f"{client}.{name}", text)
                    found.setdefault(name, text)
        return found

    def worker(self, pair: Pair) -> dict[str, str]:
        """Return the properties of the flow's Connect worker, with the driver's own defaults."""
        found = self.cluster(pair.target)
        for prefix in (*WORKER_PREFIXES, PROVIDERS):
            found |= {name: text for name, text in self.properties.items() if name.startswith(prefix)}
        defaults = {
            "client.id": str(pair),
            "group.id": f"{pair.source}-mm2",
            "offset.storage.topic": f"mm2-offsets.{pair.source}.internal",
            "status.storage.topic": f"mm2-status.{pair.source}.internal",
            "config.storage.topic": f"mm2-configs.{pair.source}.internal",
            "header.converter": "org.apache.kafka.connect.converters.ByteArrayConverter",
        }
        return {**defaults, **found}

    def connector(self, pair: Pair, connector: ConnectorKind) -> dict[str, str]:
        """Return the configuration that the driver gives to one of the flow's connectors."""
        found = {
            name: text
            for name, text in self.properties.items()
            if name in BY_NAME or is_client_name(name) or name.startswith((PROVIDERS, _POLICY))
        }
        for side, alias in (("source", pair.source), ("target", pair.target)):
            for name, text in self.cluster(alias).items():
                kind = name.partition(".")[0]
                found[f"{side}.{name}" if kind in CLIENT_FAMILIES else f"{side}.cluster.{name}"] = text
        found.setdefault("name", CONNECTORS[connector])
        found.setdefault("connector.class", f"{PACKAGE}{CONNECTORS[connector]}")
        found.setdefault("source.cluster.alias", pair.source)
        found.setdefault("target.cluster.alias", pair.target)
        found |= self._stripped(pair.prefix)
        found.setdefault("enabled", "false")
        return found

    def without_address(self, pair: Pair) -> Iterator[str]:
        """Yield the addresses of the flow's clusters that are missing, by their keys."""
        for alias in (pair.source, pair.target):
            if not self.cluster(alias).get(_SERVERS, "").strip():
                yield f"{alias}.{_SERVERS}"

    def lines(self, pair: Pair) -> FileLines:
        """Return the lines that the flow reads."""
        aliases = tuple(f"{alias}." for alias in self.clusters)
        rest = {name: text for name, text in self.properties.items() if "->" not in name}
        general = {name: text for name, text in rest.items() if not name.startswith(aliases)}
        own, source, target = (
            (Place(prefix, self._stripped(prefix)),) for prefix in (pair.prefix, f"{pair.source}.", f"{pair.target}.")
        )
        return FileLines(own, source, target, (Place("", general),))

    def _stripped(self, prefix: str) -> dict[str, str]:
        return {name.removeprefix(prefix): text for name, text in self.properties.items() if name.startswith(prefix)}
