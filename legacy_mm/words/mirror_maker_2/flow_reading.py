"""The reading of one flow of the driver's file: its three connectors, what each refuses, what the flow then does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from legacy_mm.base.option import split_list
from legacy_mm.features.naming import policy_names
from legacy_mm.handlers.transforms import Transform
from legacy_mm.policies.pattern_words import dangling
from legacy_mm.policies.topic_naming import DefaultReplicationPolicy
from legacy_mm.words.java_clients.client_properties.rule import invalid
from legacy_mm.words.mirror_maker_2 import transform_properties
from legacy_mm.words.mirror_maker_2.connector_properties import (
    BY_NAME,
    CHECKED,
    CONNECTORS,
    PACKAGE,
    RENAMED,
    WORKER_ROWS,
    ConnectorKind,
    flags_among,
    read,
)
from legacy_mm.words.mirror_maker_2.driver_file import DriverFile, Pair
from legacy_mm.words.mirror_maker_2.file_lines import FileLines

DriverRelease = Literal["3.9", "4"]
FeatureWord = bool | int | str
REFUSED = "connector refused"
OFF: Mapping[ConnectorKind, Mapping[str, str]] = {
    "source": {"enabled": "false"},
    "checkpoint": {"enabled": "false"},
    "heartbeat": {"emit.heartbeats.enabled": "false"},
}
"""The configuration of a connector that is not there."""
DEFAULT_LIST = "default"
_POLICY, _SEPARATOR = "replication.policy.class", "replication.policy.separator"
_HEADER_CONVERTER = "header.converter"
_SYNCS = "emit.offset-syncs.enabled"
CHECKPOINT_SWITCHES: Mapping[str, str] = {
    "emit.checkpoints.enabled": "MirrorCheckpointConnector can't run with emit.checkpoints.enabled set to false",
    _SYNCS: "MirrorCheckpointConnector can't run without offset syncs",
}
"""Switches that a connector of checkpoints, while it is enabled, refuses as false -> Connect's words for it."""
GROUP_LISTS = ("groups", "groups.exclude")
_ENABLED, _INTERVAL = ".enabled", ".interval.seconds"


@dataclass(frozen=True, slots=True)
class ListWords:
    """A list of what is included, and one of what is left out; None: MirrorMaker 2's default list."""

    include: tuple[str, ...]
    exclude: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class PolicyWords:
    """A replication policy: its class without Kafka's package, and what topic `t` becomes."""

    name: str
    separator: str | None
    """None: the file does not say."""
    t_becomes: str | None
    """None: the user's Java class decides."""


@dataclass(frozen=True)
class FlowReading:
    """One flow, as Connect reads the configurations of its connectors."""

    pair: Pair
    properties: Mapping[ConnectorKind, Mapping[str, str]] = field(repr=False)
    """The configuration of each connector; of one that is not there, that it is off."""
    worker: Mapping[str, str] = field(repr=False)
    """The configuration of the worker that runs them."""
    release: DriverRelease = "3.9"
    present: frozenset[ConnectorKind] = frozenset(CONNECTORS)
    """The connectors that are there."""
    lines: FileLines = FileLines()
    """The lines of which all this is made."""
    shares_group: bool = False
    """True: the flows of its worker are in one group, as Connect's are; each flow of a driver's file has its own."""
    missing: str = ""
    """The address of a cluster that its file does not have."""
    places: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    """Key of a driver's file -> the file and the line where it stands."""

    @classmethod
    def of_driver(
        cls, file: DriverFile, pair: Pair, release: DriverRelease = "3.9", flags: Mapping[str, str] = {}
    ) -> FlowReading:
        """Return the flow of a driver's file; `flags` are options for all flows, before the file's lines for all."""
        properties = {connector: file.connector(pair, connector) for connector in CONNECTORS}
        properties["source"] = {**flags_among({**file.properties, **flags}), **properties["source"]}
        lines, missing = file.lines(pair), next(file.without_address(pair), "")
        worker = file.worker(pair)
        places = {name: place for name, place in file.places.items() if name not in flags}
        return cls(pair, properties, worker, release, lines=lines, missing=missing, places=places)

    def place(self, name: str) -> str:
        """Return the file and the line that give a property of the connectors, or a flag; empty: none does."""
        return self.places.get(f"{self.pair.prefix}{name}") or self.places.get(name, "")

    def having(self, connector: ConnectorKind, properties: Mapping[str, str]) -> FlowReading:
        """Return the flow with this configuration of a connector."""
        every = {**self.properties, connector: properties}
        return replace(self, properties=every, present=self.present | {connector})

    def without(self, connector: ConnectorKind) -> FlowReading:
        """Return the flow in which a connector is not there."""
        every = {**self.properties, connector: {**self.properties[connector], **OFF[connector]}}
        return replace(self, properties=every, present=self.present - {connector})

    @property
    def own_flags(self) -> dict[str, str]:
        """The flags of this mirror, which MirrorMaker 2 does not know: those of the source connector."""
        return flags_among(self.properties["source"])

    @cached_property
    def refusals(self) -> Mapping[ConnectorKind, str]:
        """The connectors that Connect refuses -> why; the process stays up, and the others run."""
        found = {connector: self._refusal(connector) for connector in CONNECTORS}
        return {connector: why for connector, why in found.items() if why}

    @cached_property
    def worker_fault(self) -> str:
        """Why the flow's worker does not start; empty if it does. MirrorMaker 2's driver would end."""
        if self.missing:
            return f"{self.missing} is missing: {self.pair} cannot reach the cluster"
        for row in WORKER_ROWS:
            if (text := self.worker.get(row.name)) is not None:
                try:
                    read(row, text)
                except ValueError as error:
                    why = str(invalid(row.name, text, str(error)))
                    return str(self.lines.refusal(row.name, text, why, "target"))
        return ""

    @property
    def copies(self) -> bool:
        """Records are copied: else there are only heartbeats, if anything."""
        return "source" not in self.refusals and bool(self.value("source", "enabled"))

    @cached_property
    def transforms(self) -> tuple[Transform, ...]:
        """The transforms of the records; none where nothing is copied."""
        return transform_properties.read(self.properties["source"]) if self.copies else ()

    @property
    def header_converter(self) -> str:
        """The class with which Connect would write the headers of the records."""
        given = self.text("source", _HEADER_CONVERTER) or self.worker.get(_HEADER_CONVERTER, "").strip()
        return given or "org.apache.kafka.connect.storage.SimpleHeaderConverter"

    @property
    def has_checkpoints(self) -> bool:
        """The connector of checkpoints runs."""
        enabled = "checkpoint" not in self.refusals and self.value("checkpoint", "enabled")
        return bool(enabled) and self._is_on("checkpoint", "emit.checkpoints")

    @property
    def has_heartbeats(self) -> bool:
        """The connector of heartbeats emits them."""
        return "heartbeat" not in self.refusals and self._is_on("heartbeat", "emit.heartbeats")

    @property
    def writing_for_themselves(self) -> tuple[ConnectorKind, ...]:
        """The connectors that write records of their own."""
        writing: dict[ConnectorKind, bool] = {"heartbeat": self.has_heartbeats, "checkpoint": self.has_checkpoints}
        return tuple(connector for connector, writes in writing.items() if writes)

    def text(self, connector: ConnectorKind, name: str) -> str:
        """Return a property of a connector as written, trimmed, or its default."""
        given = self.properties[connector].get(name)
        return BY_NAME[name].default if given is None else given.strip()

    def value(self, connector: ConnectorKind, name: str) -> object:
        """Return a property as its type; raises ValueError where the connector is refused."""
        return read(BY_NAME[name], self.text(connector, name))

    def flag(self, connector: ConnectorKind, name: str) -> str:
        """Return a property as a flag of ours has it: what has a negative interval is off, as in MirrorMaker 2."""
        what = name.removesuffix(_ENABLED).removesuffix(_INTERVAL)
        if f"{what}{_INTERVAL}" not in BY_NAME or not self._is_negative(connector, what):
            return self.text(connector, name)
        return "false" if name.endswith(_ENABLED) else BY_NAME[name].default

    def _is_on(self, connector: ConnectorKind, what: str) -> bool:
        return bool(self.value(connector, f"{what}{_ENABLED}")) and not self._is_negative(connector, what)

    def _is_negative(self, connector: ConnectorKind, what: str) -> bool:
        return int(self.text(connector, f"{what}{_INTERVAL}")) < 0

    def topics(self) -> ListWords:
        """Return the lists of topics."""
        return ListWords(split_list(self.text("source", "topics")), self._excluded("source", "topics.exclude"))

    def groups(self) -> ListWords:
        """Return the lists of consumer groups."""
        return ListWords(split_list(self.text("checkpoint", "groups")), self._excluded("checkpoint", "groups.exclude"))

    def policy(self) -> PolicyWords:
        """Return how topics are called at the target."""
        class_name = self.text("source", _POLICY)
        name = class_name.removeprefix(PACKAGE)
        separator = self.properties["source"].get(_SEPARATOR)
        kept = policy_names.foreign(class_name) != "" or name == policy_names.IDENTITY
        if kept:
            topic: str | None = "t"
        elif name == policy_names.DEFAULT:
            policy = DefaultReplicationPolicy(separator="." if separator is None else separator.strip())
            topic = policy.format_remote_topic(self.text("source", "source.cluster.alias"), "t")
        else:
            topic = None
        return PolicyWords(name, None if separator is None else separator.strip(), topic)

    def config_filter(self) -> dict[str, list[str]]:
        """Return the flags of the filter of topic properties, where the flow sets it."""
        given, excluded = self.properties["source"], self._excluded("source", "config.properties.exclude")
        found = {} if excluded is None else {"config.properties.exclude": [", ".join(excluded)]}
        if "use.defaults.from" in given:
            found["use.defaults.from"] = ["source" if given["use.defaults.from"].strip() == "source" else "target"]
        return found

    def features(self) -> dict[str, FeatureWord]:
        """Return what the flow does beside copying, in the words of `explain --json`."""
        return {
            **(self._copying_features() if self.copies else {}),
            **(self._checkpoint_features() if self._reads_groups else {}),
            **(self._heartbeat_features() if "heartbeat" in self.present else {}),
        }

    @property
    def _reads_groups(self) -> bool:
        return "checkpoint" in self.present and (self.copies or "source" not in self.present)

    def _heartbeat_features(self) -> dict[str, FeatureWord]:
        refused = "heartbeat" in self.refusals
        return {"heartbeats": REFUSED if refused else self._is_on("heartbeat", "emit.heartbeats")}

    def _checkpoint_features(self) -> dict[str, FeatureWord]:
        if "checkpoint" in self.refusals:
            return {"checkpoints": REFUSED, "group_offsets": REFUSED}
        return {
            "checkpoints": self.has_checkpoints,
            "group_offsets": self.has_checkpoints and self._is_on("checkpoint", "sync.group.offsets"),
        }

    def _copying_features(self) -> dict[str, FeatureWord]:
        refreshes = self._is_on("source", "refresh.topics")
        syncs = self.value("source", _SYNCS)
        return {
            "topic_configs": self._is_on("source", "sync.topic.configs"),
            "topic_acls": self._is_on("source", "sync.topic.acls"),
            "refresh_topics": int(str(self.value("source", "refresh.topics.interval.seconds"))) if refreshes else False,
            "offset_syncs": self.text("source", "offset-syncs.topic.location") if syncs else False,
        }

    def _excluded(self, connector: ConnectorKind, name: str) -> tuple[str, ...] | None:
        given = self.properties[connector]
        old = next(old for old, new in RENAMED.items() if new == name)
        for spelling in (name, old) if self.release == "3.9" else (name,):
            if spelling in given:
                return split_list(given[spelling])
        return None

    def _odd_group_list(self) -> str:
        """Return what to say of a list of groups for which the connector of checkpoints fails; empty: it does not."""
        lists = self.groups()
        for name, entries in zip(GROUP_LISTS, (lists.include, lists.exclude or ()), strict=True):
            if why := no_pattern(entries):
                return str(self.lines.refusal(name, self.text("checkpoint", name), why))
        return ""

    def _refusal(self, connector: ConnectorKind) -> str:
        """Return why Connect refuses the connector; empty if it does not."""
        given = self.properties[connector]
        for row in CHECKED:
            if row.belongs_to(connector) and row.name in given:
                try:
                    read(row, given[row.name])
                except ValueError as error:
                    return str(self.lines.refusal(row.name, given[row.name], str(error)))
        if connector == "checkpoint" and self.value(connector, "enabled"):
            for name in CHECKPOINT_SWITCHES:
                if not self.value(connector, name):
                    return f"{name}=false, which Kafka 3.9 and later do not allow for this connector"
            if why := self._odd_group_list():
                return why
        return transform_properties.refusal(given)


def no_pattern(entries: Sequence[str]) -> str:
    """Return what is wrong with the first entry that is no Java pattern; empty: nothing is."""
    bad = dangling(entries)
    return f"{bad} is no Java regular expression: .{bad} was probably meant" if bad else ""
