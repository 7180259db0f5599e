"""Source topic -> target topic, as KIP-382's `ReplicationPolicy` asks it. Pure decisions.

`LegacyReplicationPolicy` is the default and keeps every name, as the legacy tool did. The other two, and what all of
them call MirrorMaker 2's own topics, are as in Kafka, oddities included: `A.` is a local topic, `foo.bar` is not.

Leftovers of an earlier naming are told, because nothing removes them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from typing import Literal

Compatibility = Literal["3.9", "4"]

_BROKER_INTERNAL = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})
_HIDDEN = ("__", ".")
_CONNECT = ("-internal", ".internal")
_HEARTBEATS = "heartbeats"


class ReplicationPolicy(ABC):
    """KIP-382's questions about names, with the answers that Java's interface gives by default.

    A policy of the user's derives from this one, or from one of those below.
    """

    def __init__(
        self,
        *,
        source_alias: str | None = None,
        separator: str = ".",
        internal_separator: bool = True,
        compatibility: Compatibility = "3.9",
    ) -> None:
        """Create the policy; `internal_separator` False: the names of MirrorMaker 2's own topics keep their dots."""
        self.source_alias = source_alias
        self.separator = separator
        self.compatibility = compatibility
        self._own_separator = separator if internal_separator else "."

    def configure(self, properties: Mapping[str, str]) -> None:  # noqa: B027 - not every policy has something to read
        """Configure the policy, once, before any question, with all flags as they were given."""

    @abstractmethod
    def format_remote_topic(self, source_cluster_alias: str, topic: str) -> str:
        """Return the name `topic` of that cluster gets at the target; it may itself be a copy."""

    @abstractmethod
    def topic_source(self, topic: str) -> str | None:
        """Return the alias of the cluster a remote topic came from last; None when the name does not tell."""

    @abstractmethod
    def upstream_topic(self, topic: str) -> str | None:
        """Return the topic's name at the cluster it came from; None when it is not a remote topic."""

    def original_topic(self, topic: str) -> str:
        """Return the name at the very first cluster, however many hops away."""
        while (upstream := self.upstream_topic(topic)) is not None and upstream != topic:
            topic = upstream
        return topic

    def heartbeats_topic(self) -> str:
        """Return the topic for heartbeats; no separator changes it."""
        return _HEARTBEATS

    def offset_syncs_topic(self, alias: str) -> str:
        """Return the topic for pairs of offsets: of the target cluster's alias when it lives at the source."""
        return self._own_separator.join(("mm2-offset-syncs", alias, "internal"))

    def checkpoints_topic(self, alias: str) -> str:
        """Return the topic for checkpoints at the target; the alias is the source cluster's."""
        return self._own_separator.join((alias, "checkpoints", "internal"))

    def is_heartbeats_topic(self, topic: str) -> bool:
        """Return True if it holds heartbeats, however many hops away they were written."""
        return self.original_topic(topic) == self.heartbeats_topic()

    def is_checkpoints_topic(self, topic: str) -> bool:
        """Return True if it holds checkpoints."""
        return topic.endswith(self._own_separator.join(("", "checkpoints", "internal")))

    def is_mm2_internal_topic(self, topic: str) -> bool:
        """Return True if MirrorMaker 2 writes it for itself. Until 3.9 the ending alone decides (KIP-1074)."""
        if not topic.endswith(f"{self._own_separator}internal"):
            return False
        return self.compatibility == "3.9" or topic.startswith("mm2") or self.is_checkpoints_topic(topic)

    def is_internal_topic(self, topic: str) -> bool:
        """Return True for topics that are never data."""
        if topic.startswith(_HIDDEN) or self.is_mm2_internal_topic(topic):
            return True
        return self.compatibility == "3.9" and topic.endswith(_CONNECT)


class LegacyReplicationPolicy(ReplicationPolicy):
    """Names are kept, so no name tells where a topic came from (MirrorMaker 1)."""

    def format_remote_topic(self, source_cluster_alias: str, topic: str) -> str:
        """Return the same name."""
        return topic

    def topic_source(self, topic: str) -> str | None:
        """Return None: a kept name says nothing about its origin."""
        return None

    def upstream_topic(self, topic: str) -> str | None:
        """Return the same name: a topic has it upstream, too."""
        return topic

    def is_internal_topic(self, topic: str) -> bool:
        """Return True for broker-internal topics, which `exclude.internal.topics` leaves out."""
        return is_broker_internal(topic)


class DefaultReplicationPolicy(ReplicationPolicy):
    """Copies have the source's alias before their name. Whatever stands before a separator counts as an alias."""

    def format_remote_topic(self, source_cluster_alias: str, topic: str) -> str:
        """Return `alias.topic`."""
        return f"{source_cluster_alias}{self.separator}{topic}"

    def topic_source(self, topic: str) -> str | None:
        """Return the text before the first separator, empty or not; None if nothing comes after it."""
        pieces = _java_split(topic, self.separator)
        return pieces[0] if len(pieces) > 1 else None

    def upstream_topic(self, topic: str) -> str | None:
        """Return the text after the first separator."""
        source = self.topic_source(topic)
        return None if source is None else topic[len(source) + len(self.separator) :]


class IdentityReplicationPolicy(DefaultReplicationPolicy):
    """Names are kept, and every topic counts as a copy; names that end with `heartbeats` get the alias."""

    def format_remote_topic(self, source_cluster_alias: str, topic: str) -> str:
        """Return the same name, heartbeats excepted."""
        return super().format_remote_topic(source_cluster_alias, topic) if _has_prefix(topic) else topic

    def topic_source(self, topic: str) -> str | None:
        """Return the source's alias, as configured, heartbeats excepted."""
        return super().topic_source(topic) if _has_prefix(topic) else self.source_alias

    def upstream_topic(self, topic: str) -> str | None:
        """Return the same name, heartbeats excepted."""
        return super().upstream_topic(topic) if _has_prefix(topic) else topic


def is_broker_internal(topic: str) -> bool:
    """Return True if brokers keep it for themselves; only this counts for the legacy tool's
    `exclude.internal.topics`.
    """
    return topic in _BROKER_INTERNAL


def sources(policy: ReplicationPolicy, topic: str) -> Iterator[str]:
    """Yield aliases of the clusters a topic has come through, the last one first, as far as its name tells."""
    while (source := policy.topic_source(topic)) is not None:
        yield source
        upstream = policy.upstream_topic(topic)
        if upstream is None or upstream == topic:
            return
        topic = upstream


def tells_origin(policy: ReplicationPolicy, topic: str, alias: str) -> bool:
    """Return True if the copy of a topic of this cluster keeps its name, or its name tells the cluster.

    An alias that holds the separator is cut there: who looks for it finds a part of it.
    """
    copy = policy.format_remote_topic(alias, topic)
    return copy == topic or policy.topic_source(copy) == alias


def is_cycle(policy: ReplicationPolicy, topic: str, target_alias: str) -> bool:
    """Return True if a topic of the source has already been at the target. An empty alias is in no name."""
    return target_alias != "" and target_alias in sources(policy, topic)


def has_left(policy: ReplicationPolicy, topic: str, source_alias: str) -> bool:
    """Return True if a topic of the source has left it before, as its name says. An empty alias is in no name."""
    return source_alias != "" and source_alias in _hops(policy, topic)


def _hops(policy: ReplicationPolicy, topic: str) -> Iterator[str]:
    """Yield the aliases that its name really holds."""
    while (upstream := policy.upstream_topic(topic)) is not None and upstream != topic:
        yield policy.topic_source(topic) or ""
        topic = upstream


def _has_prefix(topic: str) -> bool:
    return topic.endswith(_HEARTBEATS)


def _java_split(text: str, separator: str) -> list[str]:
    """Split like `String.split` of a literal: empty pieces at the end are dropped; an empty separator splits
    everywhere.
    """
    pieces = text.split(separator) if separator else list(text)
    while len(pieces) > 1 and not pieces[-1]:
        pieces.pop()
    return pieces


def left_behind(names: Mapping[str, str], target: Collection[str], separator: str) -> Iterator[str]:
    """Yield topics of the target that another naming would have made; `names`: source topic -> its name at the target.

    Nothing shows if a mirror made them, hence the careful words.
    """
    current = frozenset(names.values())
    for found in sorted(frozenset(target) - current):
        topic = found if found in names else _renamed(found, names, separator)
        if topic is not None:
            yield (
                f"topic {found} is named as a copy of {topic} would be under other flags; the copy is called "
                f"{names[topic]} now, and this mirror writes nothing to {found}"
            )


def _renamed(name: str, names: Mapping[str, str], separator: str) -> str | None:
    """Return the source topic whose name comes after an alias."""
    _, here, topic = name.partition(separator)
    return topic if here and topic in names else None
