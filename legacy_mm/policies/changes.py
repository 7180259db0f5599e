"""Changes at the target cluster, as values: found by an inspection, printed by `plan`, made by the applier.

`Inspection` is what a duty brings back from both clusters. JSON is what a saved plan holds: `change` says which one it
is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.policies.acl_rules import AclRule
from legacy_mm.policies.quota_entities import Entity, entity_text, limit_text

BROKER_DEFAULT = -1
"""A replication factor: as the brokers have it."""


@dataclass(frozen=True, slots=True)
class CreateTopic:
    """A topic that is missing."""

    topic: str
    partitions: int
    replication_factor: int
    configs: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The change in one line."""
        copies = "of the brokers" if self.replication_factor == BROKER_DEFAULT else str(self.replication_factor)
        line = f"create topic {self.topic}: partitions {self.partitions}, replication factor {copies}"
        return ", ".join([line, *(f"{name}={value}" for name, value in sorted(self.configs.items()))])

    @property
    def metadata_records(self) -> int:
        """Return the number of records a KRaft controller writes for it."""
        return 1 + self.partitions + len(self.configs)


@dataclass(frozen=True, slots=True)
class AddPartitions:
    """A topic with too few partitions."""

    topic: str
    old: int
    new: int

    @property
    def text(self) -> str:
        """The change in one line."""
        return f"add partitions to topic {self.topic}: from {self.old} to {self.new}"

    @property
    def metadata_records(self) -> int:
        """Return the number of records a KRaft controller writes for it."""
        return self.new - self.old


@dataclass(frozen=True, slots=True)
class SetConfig:
    """A property that a topic must have."""

    topic: str
    name: str
    old: str | None
    """None: the topic has no value of its own."""
    new: str

    @property
    def text(self) -> str:
        """The change in one line."""
        before = "not set" if self.old is None else self.old
        return f"set {self.name} of topic {self.topic}: from {before} to {self.new}"


@dataclass(frozen=True, slots=True)
class DeleteConfig:
    """A property that a topic must not have: the target's own default is to hold."""

    topic: str
    name: str
    old: str

    @property
    def text(self) -> str:
        """The change in one line."""
        return f"remove {self.name} of topic {self.topic}: it is {self.old}"


@dataclass(frozen=True, slots=True)
class CreateAcl:
    """A rule that is missing."""

    rule: AclRule

    @property
    def text(self) -> str:
        """The change in one line."""
        return f"add rule {self.rule.text}"


@dataclass(frozen=True, slots=True)
class DeleteAcl:
    """A rule of ours that the source has no more."""

    rule: AclRule

    @property
    def text(self) -> str:
        """The change in one line."""
        return f"remove rule {self.rule.text}"


@dataclass(frozen=True, slots=True)
class SetQuota:
    """A limit of a client."""

    entity: Entity
    name: str
    old: float | None
    """None: it has no such limit of its own."""
    new: float

    @property
    def text(self) -> str:
        """The change in one line."""
        before = "not set" if self.old is None else limit_text(self.old)
        return f"set {self.name} of {entity_text(self.entity)}: from {before} to {limit_text(self.new)}"


Alteration = SetConfig | DeleteConfig
Change = CreateTopic | AddPartitions | Alteration | CreateAcl | DeleteAcl | SetQuota
_KINDS: Mapping[str, type[Change]] = {
    "create-topic": CreateTopic,
    "add-partitions": AddPartitions,
    "set-config": SetConfig,
    "delete-config": DeleteConfig,
    "create-acl": CreateAcl,
    "delete-acl": DeleteAcl,
    "set-quota": SetQuota,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


@dataclass(frozen=True, slots=True)
class Inspection:
    """The findings of a duty: changes, problems it cannot solve, and notes."""

    changes: tuple[Change, ...] = ()
    troubles: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unfinished: bool = False
    """Something was not told that may be told soon."""


@dataclass(frozen=True, slots=True)
class ChangeOutcome:
    """The result of a change."""

    change: Change
    error: str = ""
    """Kafka's words; empty: it is done."""
    already: bool = False
    """Somebody else had done it meanwhile."""


def by_topic(changes: Sequence[Alteration]) -> dict[str, list[Alteration]]:
    """Group the changes of properties by topic."""
    found: defaultdict[str, list[Alteration]] = defaultdict(list)
    for change in changes:
        found[change.topic].append(change)
    return dict(found)


def by_entity(changes: Sequence[SetQuota]) -> dict[Entity, list[SetQuota]]:
    """Group limits by whose they are."""
    found: defaultdict[Entity, list[SetQuota]] = defaultdict(list)
    for change in changes:
        found[change.entity].append(change)
    return dict(found)


def to_json(change: Change) -> dict[str, Any]:
    """Return the JSON form of a saved plan."""
    return {"change": _NAMES[type(change)], **asdict(change)}


def from_json(document: Mapping[str, Any]) -> Change:
    """Return the change that was saved; raise ConfigurationError when it is none."""
    fields = dict(document)
    try:
        kind = _KINDS[fields.pop("change")]
        if "rule" in fields:
            fields["rule"] = AclRule(**fields["rule"])
        if "entity" in fields:
            fields["entity"] = tuple((what, name) for what, name in fields["entity"])
        return kind(**fields)
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigurationError(f"this is no change: {document!r}") from error
